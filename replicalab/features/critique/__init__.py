"""Critique: a reviewer's questions about a plan, judged, each with the place of its remedy.

An author's answer counts, whatever its content: it is quoted for the reader to judge.
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
TITLE: Final = "Reviewer’s questions"
PROTOCOL: Final = "Protocol"
_REMEDY: Final = "Remedy"


class Standing(StrEnum):
    """The result of a question, in the order of their lists."""

    CONCERN = "concern"
    UNSAID = "unsaid"
    ANSWERED = "answered"


_CAPTIONS: Final = dict(zip(Standing, ("Concerns", "Not answered", "Answered"), strict=True))
_SIGNS: Final = {Standing.CONCERN: Status.CAUTION, Standing.ANSWERED: Status.PASS}
_DEFAULTS: Final = {
    "answer": (Standing.ANSWERED, "{answer}"),
    "not_on_form": (Standing.UNSAID, "No answer on the form."),
}
"""Standing and text of the outcomes that all questions share."""


class Place(NamedTuple):
    """The page or drawer of a remedy, and the field there."""

    page: str
    field: str

    def __str__(self) -> str:
        """Return it for people: ``Protocol: Controls``."""
        return f"{self.page}: {self.field}"


class Remark(NamedTuple):
    """A question, judged; without a source if it is not answered."""

    key: str
    question: str
    standing: Standing
    text: str
    source: Finder | None
    place: Place


def critique(plan: Assessment, author: Registration | None = None) -> tuple[Remark, ...]:
    """Return a reviewer's questions about a plan: concerns first, then those not answered."""
    review = Review(plan, author or Registration())
    remarks = [
        _remark(key, row, review)
        for key, row in QUESTIONS.items()
        if CONDITIONS[row.get("when", "always")](review)
    ]
    return tuple(sorted(remarks, key=lambda remark: [*Standing].index(remark.standing)))


def _remark(key: str, row: Mapping[str, Any], review: Review) -> Remark:
    outcome = RULES[key](review) if key in RULES else Outcome("not_on_form")
    forms: Sequence[str] = row.get("forms", ())
    answer, refused = review.answers(*forms), row.get("refused", {})
    if any(option in review.author.choices.get(form, ()) for form, option in refused.items()):
        outcome = Outcome("refused", {"answer": answer}, Finder.AUTHOR)
    elif answer and not outcome.firm:
        outcome = Outcome("answer", {**outcome.values, "answer": answer}, Finder.AUTHOR)
    texts = {name: (kind, text) for kind in Standing for name, text in row.get(kind, {}).items()}
    standing, template = (_DEFAULTS | texts)[outcome.name]
    source = None if standing is Standing.UNSAID else outcome.source
    field = FORM[forms[0]].label if forms else row["field"]
    page = row.get("page", "Share, Registration" if forms else PROTOCOL)
    place = Place(page, review.pack.study.term(field))
    text = template.format_map(outcome.values).strip()
    return Remark(key, row["asks"], standing, text, source, place)


def critique_blocks(
    remarks: Sequence[Remark], link: Callable[[Place], str] | None = None
) -> list[Sentence | Table]:
    """Return a table for each standing; with links to places, answers are below the questions."""
    rows = {kind: [_row(r, link) for r in remarks if r.standing is kind] for kind in Standing}
    concerns, unanswered, answered = map(len, rows.values())
    count = f"{count_text(len(remarks), 'question')}: {count_text(concerns, 'concern')}"
    blocks: list[Sentence | Table] = [
        Sentence(f"{count}, {unanswered} not answered, {answered} answered.")
    ]
    for standing, caption in _CAPTIONS.items():
        listed = rows[standing]
        if link:
            columns = [Column(f"{caption} ({len(listed)})"), Column(_REMEDY, "quiet")]
            blocks.append(table(columns[0].name, columns, listed, kind="asked"))
        else:
            source = [] if standing is Standing.UNSAID else ["Source"]
            blocks.append(table(caption, ["Question", "Answer", *source, _REMEDY], listed))
    return blocks


def _row(remark: Remark, link: Callable[[Place], str] | None) -> list[Cell | str]:
    sign, place, source = _SIGNS.get(remark.standing), str(remark.place), remark.source or ""
    if link:
        note = capitalised(": ".join(filter(None, (source, remark.text))))
        return [Cell(remark.question, status=sign, note=note), Cell(place, link=link(remark.place))]
    return [Cell(remark.question, status=sign), remark.text, *filter(None, [source]), place]


def section(report: Report) -> list[Part]:
    """Return the questions as a part of the report."""
    return [part(TITLE, *critique_blocks(critique(report.shown.yours, report.answers)))]
