"""Critique: what a reviewer would ask of a plan, where each question stands, and its remedy.

An author's answer counts as one, whatever it says: it is quoted, and the reader judges it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple

from replicalab.assessment import Assessment
from replicalab.documents import Report
from replicalab.facts.blocks import Cell, Column, Part, Sentence, Status, Table, part, table
from replicalab.features.critique.rules import CONDITIONS, RULES, Outcome, Review
from replicalab.lexicon import capitalised, count_text
from replicalab.registration import QUESTIONS as FORM
from replicalab.registration import Finder, Registration

QUESTIONS: Final[Mapping[str, Mapping[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("questions.toml").read_text(encoding="utf-8")
)
"""The rows of questions.toml, by key."""
TITLE: Final = "What a reviewer would ask"
PROTOCOL: Final = "Protocol"


class Standing(StrEnum):
    """Where a question stands, in the order in which questions are listed."""

    CONCERN = "concern"
    UNSAID = "unsaid"
    ANSWERED = "answered"


class Place(NamedTuple):
    """Where something is mended: a page or a drawer, and the field there."""

    page: str
    field: str

    def __str__(self) -> str:
        """Return it for people: ``Protocol: Controls``."""
        return f"{self.page}: {self.field}"


class Remark(NamedTuple):
    """A question of a reviewer, judged.

    Attributes:
        key: the question's name in files.
        asks: the question.
        standing: where it stands.
        text: what is known.
        finder: who says so, or None.
        place: where it is mended.
    """

    key: str
    asks: str
    standing: Standing
    text: str
    finder: Finder | None
    place: Place


def critique(plan: Assessment, said: Registration | None = None) -> tuple[Remark, ...]:
    """Return what a reviewer would ask of a plan: concerns first, then what nobody said.

    Args:
        plan: the plan in its lab.
        said: what its author answers on registration forms.
    """
    review = Review(plan, said or Registration())
    remarks = [
        _remark(key, row, review)
        for key, row in QUESTIONS.items()
        if CONDITIONS[row.get("when", "always")](review)
    ]
    return tuple(sorted(remarks, key=lambda remark: [*Standing].index(remark.standing)))


def _remark(key: str, row: Mapping[str, Any], review: Review) -> Remark:
    outcome = RULES[key](review) if key in RULES else Outcome("not_on_form")
    forms: Sequence[str] = row.get("forms", ())
    line, refused = review.answers(*forms), row.get("refused", {})
    if any(option in review.said.choices.get(form, ()) for form, option in refused.items()):
        outcome = Outcome("refused", {"said": line}, Finder.AUTHOR)
    elif line and not outcome.firm:
        outcome = Outcome("said", {**outcome.values, "said": line}, Finder.AUTHOR)
    standing, template = _texts(row).get(outcome.name) or _DEFAULTS[outcome.name]
    finder = None if standing is Standing.UNSAID else outcome.finder or Finder.CORE
    field = FORM[forms[0]].label if forms else row["field"]
    page = row.get("page", "Share, Registration" if forms else PROTOCOL)
    place = Place(page, review.pack.study.term(field))
    text = template.format_map(outcome.values).strip()
    return Remark(key, row["asks"], standing, text, finder, place)


def _texts(row: Mapping[str, Any]) -> dict[str, tuple[Standing, str]]:
    """Return standing and text of each outcome of a question."""
    return {
        name: (standing, text)
        for standing in Standing
        for name, text in row.get(standing, {}).items()
    }


_DEFAULTS: Final = {
    "said": (Standing.ANSWERED, "{said}"),
    "not_on_form": (Standing.UNSAID, "No answer on the form."),
}
"""Standing and text of outcomes that all questions of forms share."""

# --- what is shown ----------------------------------------------------------------------------

_CAPTIONS: Final = {
    Standing.CONCERN: "It raises a concern",
    Standing.UNSAID: "Nobody said",
    Standing.ANSWERED: "It is answered",
}
_REMEDY: Final = "Where to mend it"
_SIGNS: Final = {Standing.CONCERN: Status.CAUTION, Standing.ANSWERED: Status.PASS}


def summary_text(remarks: Sequence[Remark]) -> str:
    """Return how many questions stand where: ``9 questions: 2 concerns, 4 unsaid, 3 answered.``."""
    concerns, unsaid, answered = (
        sum(remark.standing is standing for remark in remarks) for standing in Standing
    )
    concern = count_text(concerns, "concern")
    return (
        f"{count_text(len(remarks), 'question')}: {concern}, {unsaid} unsaid, {answered} answered."
    )


def critique_blocks(
    remarks: Sequence[Remark], link: Callable[[Place], str] | None = None
) -> list[Sentence | Table]:
    """Return the questions as a table for each standing.

    Args:
        remarks: in their order.
        link: address of a place on a page; a page shows who says what below the question.
    """
    blocks: list[Sentence | Table] = [Sentence(summary_text(remarks))]
    for standing, caption in _CAPTIONS.items():
        rows = [_row(remark, link) for remark in remarks if remark.standing is standing]
        if link:
            title = f"{caption} ({len(rows)})"
            columns = [Column(title), Column(_REMEDY, "quiet")]
            blocks.append(table(title, columns, rows, kind="asked"))
        else:
            who = ["Who says so"] if standing is not Standing.UNSAID else []
            blocks.append(table(caption, ["Question", "What is known", *who, _REMEDY], rows))
    return blocks


def _row(remark: Remark, link: Callable[[Place], str] | None) -> list[Cell | str]:
    sign, place, finder = _SIGNS.get(remark.standing), str(remark.place), remark.finder or ""
    if link:
        note = capitalised(": ".join(filter(None, (finder, remark.text))))
        return [Cell(remark.asks, status=sign, note=note), Cell(place, link=link(remark.place))]
    return [Cell(remark.asks, status=sign), remark.text, *([finder] if finder else []), place]


def section(report: Report) -> list[Part]:
    """Return the questions as a part of the report."""
    return [part(TITLE, *critique_blocks(critique(report.shown.yours, report.answers)))]
