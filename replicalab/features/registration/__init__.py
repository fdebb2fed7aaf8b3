"""Registration: the forms of registries, answered by ReplicaLab, the study's file and the author.

A question without an answer reads "not given". A likely answer is a proposal, which counts once
the author confirms it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple

from replicalab.documents import Report
from replicalab.facts import blocks, documents
from replicalab.facts.blocks import (
    NOT_GIVEN,
    Cell,
    Document,
    Sentence,
    Status,
    Table,
    listing,
    part,
)
from replicalab.facts.lab import lab_text
from replicalab.facts.verdicts import plan_size, plan_verdict
from replicalab.features.registration.answers import (
    HINTS,
    PROPOSED,
    ROWS,
    Proposal,
    Registered,
    known,
)
from replicalab.lexicon import capitalised, ended, is_given, joined, lines_text
from replicalab.registration import QUESTIONS, Finder, Question, Registration

# --- the forms --------------------------------------------------------------------------------


class FormItem(NamedTuple):
    """An item of a form: its id, its question, and whether the form requires it."""

    id: str
    question: Question
    required: bool = False


class Profile(NamedTuple):
    """A form.

    Attributes:
        key: its name in files: the registry's, if it is one's form.
        title: its name for people.
        link: address of the form; empty if it is no registry's.
        sections: items by the title of their section, in order.
    """

    key: str
    title: str
    link: str
    sections: Mapping[str, tuple[FormItem, ...]]

    @property
    def items(self) -> Iterator[FormItem]:
        """All items, in their order."""
        for items in self.sections.values():
            yield from items


SIDES: Final[Mapping[str, Sequence[str]]] = ROWS["sides"]
"""Questions for the original, for the replication, and how alike they are, by part."""
_SIDE_BY_SIDE: Final = "Original and replication"  # the section that asks them
_CHOSEN: Final = ("decision", "refused")  # how the plan was chosen


def _profile(key: str) -> Profile:
    row = ROWS["forms"][key]
    required, number, sections = row.get("required", "").split(), row.get("first", 0), {}
    for title, names in row["sections"].items():
        items = []
        for name in names.split():
            item = f"{row['prefix']}{number}" if "prefix" in row else name
            items.append(FormItem(item, QUESTIONS[name], name in required))
            number += 1
        sections[title] = tuple(items)
    return Profile(key, row["title"], row["link"], sections)


PROFILES: Final = {key: _profile(key) for key in ROWS["forms"]}  # by key

# --- a form filled in ---------------------------------------------------------------------------


class FormAnswer(NamedTuple):
    """An item of a form, answered or not.

    Attributes:
        item: the item.
        found: the answers, each with its source.
        proposal: a likely answer, to be confirmed.
        hint: a fact about a question without an answer; may be empty.
    """

    item: FormItem
    found: tuple[tuple[Finder, str], ...]
    proposal: Proposal | None = None
    hint: str = ""

    @property
    def is_given(self) -> bool:
        """Whether it has an answer."""
        return bool(self.found)

    @property
    def text(self) -> str:
        """The answers as one text; empty without any."""
        return "\n\n".join(text for _, text in self.found)


def answers_of(profile: Profile, registered: Registered) -> tuple[FormAnswer, ...]:
    """Return every item of a form, in its order."""
    return tuple(_answer(item, registered) for item in profile.items)


def _answer(item: FormItem, registered: Registered) -> FormAnswer:
    key = item.question.key
    custom = registered.said.answer(key)
    texts = known(key, registered)
    if custom:
        # An author's answer replaces the study file's and joins ReplicaLab's.
        texts = [(who, text) for who, text in texts if who is Finder.CORE]
        texts.append((Finder.AUTHOR, custom))
    proposed = PROPOSED[key](registered.plan) if key in PROPOSED and not custom else None
    hint = HINTS[key](registered.plan) if key in HINTS and not texts else ""
    return FormAnswer(item, tuple(texts), proposed, hint)


def left_text(answers: Sequence[FormAnswer]) -> str:
    """Return how many items are answered, and how many required ones are not."""
    missing = [answer for answer in answers if not answer.is_given]
    required = sum(answer.item.required for answer in missing)
    must = f"; {required} required ones are not" if required else ""
    return f"{len(answers) - len(missing)} of {len(answers)} items are answered{must}."


# --- the document -----------------------------------------------------------------------------


def section(report: Report) -> Document:
    """Return the form of a report's kind, filled in."""
    registered = Registered(report.shown, report.answers, report.run)
    return registration(PROFILES[report.kind], registered, on=report.on)


def registration(profile: Profile, registered: Registered, *, on: date) -> Document:
    """Return a form with its answers, their sources, and a list of the open questions.

    A form that does not ask how the plan was chosen has an extra part for it.
    """
    answers = answers_of(profile, registered)
    plan, author = registered.plan, registered.said
    by_key = {answer.item.question.key: answer for answer in answers}
    missing = [_label(answer.item) for answer in answers if not answer.is_given]
    proposed = [answer for answer in answers if answer.proposal and not answer.is_given]
    chosen = [_answer(FormItem(key, QUESTIONS[key]), registered) for key in _CHOSEN]
    unasked = [
        answer for answer in chosen if answer.is_given and answer.item.question.key not in by_key
    ]
    parts = [
        part(
            "What is registered",
            documents.verdict_sentence(plan_verdict(plan)),
            Sentence(f"{capitalised(plan_size(plan))}."),
            Sentence(left_text(answers)),
            Sentence(profile.link, "The form:") if profile.link else None,
        ),
        *(
            part(title, *_tables(title, [item.question.key for item in items], by_key))
            for title, items in profile.sections.items()
        ),
        part("How the plan was chosen", _table("How the plan was chosen", unasked)),
        part("Not given", listing(f"{label}." for label in missing)),
        part("Proposed, and no answer before you confirm it", listing(map(_proposed, proposed))),
    ]
    return Document(
        title=author.title or plan.pack.paper.title,
        about=" · ".join((profile.title, lab_text(plan.pack), documents.day_text(on))),
        parts=tuple(part for part in parts if part.blocks),
        foot=documents.origin_lines(plan),
        on=on,
        authors=author.authors,
        values=registry_values(answers, author),
    )


def _tables(
    title: str, keys: Sequence[str], answers: Mapping[str, FormAnswer]
) -> Iterator[Table | None]:
    """Yield a section's tables: original and replication side by side, then item by item."""
    beside = [[cell.split() for cell in cells] for cells in SIDES.values()]
    if title == _SIDE_BY_SIDE:
        rows = [
            (Cell(name), *(_answered(answers[key] for key in cell) for cell in cells))
            for name, cells in zip(SIDES, beside, strict=True)
        ]
        columns = ("Part", "Original", "Replication", "How alike")
        yield blocks.table("Side by side", columns, rows)
        texts = {key for cells in beside for cell in cells for key in cell}
        keys = [key for key in keys if key not in texts]
    yield _table(title, [answers[key] for key in keys])


def _answered(answers: Iterable[FormAnswer]) -> Cell:
    """Return answers with their sources as a cell."""
    texts = [f"{text} ({who})" for answer in answers for who, text in answer.found]
    if texts:
        return Cell(lines_text(texts))
    return Cell(capitalised(NOT_GIVEN), status=Status.CAUTION)


def _table(title: str, answers: Sequence[FormAnswer]) -> Table | None:
    if not answers:
        return None
    columns = ("Item", "Answer", "Who says so")
    return blocks.table(f"{title}, item by item", columns, [_row(answer) for answer in answers])


def _label(item: FormItem) -> str:
    return f"{item.question.label} (required)" if item.required else item.question.label


def _proposed(answer: FormAnswer) -> str:
    likely, why = answer.proposal or ("", "")
    return f"{_label(answer.item)}: {ended(likely)} Why: {why}."


def _row(answer: FormAnswer) -> tuple[Cell, ...]:
    names = f". What is known: {answer.hint}" if answer.hint else ""
    text = answer.text or f"{capitalised(NOT_GIVEN)}{names}"
    who = joined(list(dict.fromkeys(str(who) for who, _ in answer.found)))
    status = None if answer.is_given else Status.CAUTION
    return blocks.row(_label(answer.item), Cell(text, status=status), who)


def registry_values(answers: Iterable[FormAnswer], author: Registration) -> dict[str, object]:
    """Return a form's answers by the form's own ids; None without an answer.

    An item with options has the chosen ones: a list if it takes several.
    """
    values: dict[str, object] = {}
    for answer in answers:
        question = answer.item.question
        chosen = list(author.choices.get(question.key, ()))
        if question.options:
            values[answer.item.id] = chosen if question.several else next(iter(chosen), None)
        else:
            values[answer.item.id] = answer.text or None
    return values
