"""Registration: the forms of registries, answered by ReplicaLab, the study's file and the author.

Nothing is invented: a question that none of the three answers is not given, and what only looks
likely is a proposal, which does not count until the author confirms it.
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
    """An item of a form: its id there, what it asks, and whether the form insists on it."""

    id: str
    question: Question
    required: bool = False


class Profile(NamedTuple):
    """A form.

    Attributes:
        key: its name in files, where a registry has one the registry's.
        title: its name for people.
        link: where the form stands; empty where it is nobody's.
        sections: its items by the title of their section, in its order.
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
"""Of each part the questions for the original, for the replication, and how alike they are."""
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
        found: what answers it, and who: each alone; empty where nobody does.
        proposal: what looks likely; no answer.
        hint: what is known where nobody answers, and is no answer; empty for nothing.
    """

    item: FormItem
    found: tuple[tuple[Finder, str], ...]
    proposal: Proposal | None = None
    hint: str = ""

    @property
    def is_given(self) -> bool:
        """Whether anybody answers it."""
        return bool(self.found)

    @property
    def text(self) -> str:
        """The answer as a form takes it; empty where there is none."""
        return "\n\n".join(text for _, text in self.found)


def answers_of(profile: Profile, registered: Registered) -> tuple[FormAnswer, ...]:
    """Return every item of a form, in its order."""
    return tuple(_answer(item, registered) for item in profile.items)


def _answer(item: FormItem, registered: Registered) -> FormAnswer:
    key, said = item.question.key, registered.said.answer(item.question.key)
    found = known(key, registered)
    if said:
        # The author's words take the place of the file's; what was worked out stays.
        found = [(who, text) for who, text in found if who is Finder.CORE]
        found.append((Finder.AUTHOR, said))
    proposed = PROPOSED[key](registered.plan) if key in PROPOSED and not said else None
    hint = HINTS[key](registered.plan) if key in HINTS and not found else ""
    return FormAnswer(item, tuple(found), proposed, hint)


def left_text(answers: Sequence[FormAnswer]) -> str:
    """Return how many items are answered, and how many required ones are not."""
    left = [answer for answer in answers if not answer.is_given]
    required = sum(answer.item.required for answer in left)
    must = f"; {required} required ones are not" if required else ""
    return f"{len(answers) - len(left)} of {len(answers)} items are answered{must}."


# --- the document -----------------------------------------------------------------------------


def section(report: Report) -> Document:
    """Return the form of a report's kind, filled in."""
    registered = Registered(report.shown, report.answers, report.run)
    return registration(PROFILES[report.kind], registered, on=report.on)


def registration(profile: Profile, registered: Registered, *, on: date) -> Document:
    """Return a form filled in, with who answers each item, and a list of what nobody answers.

    How the plan was chosen stands in a part of its own where the form does not ask for it.
    """
    answers = answers_of(profile, registered)
    plan, said = registered.plan, registered.said
    by_key = {answer.item.question.key: answer for answer in answers}
    left = [_label(answer.item) for answer in answers if not answer.is_given]
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
        part("Not given", listing(f"{label}." for label in left)),
        part("Proposed, and no answer before you confirm it", listing(map(_proposed, proposed))),
    ]
    return Document(
        title=said.title or plan.pack.paper.title,
        about=" · ".join((profile.title, lab_text(plan.pack), documents.day_text(on))),
        parts=tuple(part for part in parts if part.blocks),
        foot=documents.origin_lines(plan),
        on=on,
        authors=said.authors,
        values=registry_values(answers, said),
    )


def _tables(
    title: str, keys: Sequence[str], answers: Mapping[str, FormAnswer]
) -> Iterator[Table | None]:
    """Yield a section's items; of the original and the replication the parts side by side first."""
    beside = [[cell.split() for cell in cells] for cells in SIDES.values()]
    if title == _SIDE_BY_SIDE:
        rows = [
            (Cell(name), *(_answered(answers[key] for key in cell) for cell in cells))
            for name, cells in zip(SIDES, beside, strict=True)
        ]
        columns = ("Part", "Original", "Replication", "How alike")
        yield blocks.table("Side by side", columns, rows)
        shown = {key for cells in beside for cell in cells for key in cell}
        keys = [key for key in keys if key not in shown]
    yield _table(title, [answers[key] for key in keys])


def _answered(answers: Iterable[FormAnswer]) -> Cell:
    """Return answers in a cell, each with who gives it, or that nobody does."""
    given = [f"{text} ({who})" for each in answers for who, text in each.found]
    if given:
        return Cell(lines_text(given))
    return Cell(capitalised(NOT_GIVEN), status=Status.CAUTION)


def _table(title: str, answers: Sequence[FormAnswer]) -> Table | None:
    if not answers:
        return None
    columns = ("Item", "Answer", "Who says so")
    return blocks.table(f"{title}, item by item", columns, [_row(each) for each in answers])


def _label(item: FormItem) -> str:
    return f"{item.question.label} (required)" if item.required else item.question.label


def _proposed(answer: FormAnswer) -> str:
    likely, why = answer.proposal or ("", "")
    return f"{_label(answer.item)}: {ended(likely)} Why: {why}."


def _row(answer: FormAnswer) -> tuple[Cell, ...]:
    known = f". What is known: {answer.hint}" if answer.hint else ""
    text = answer.text or f"{capitalised(NOT_GIVEN)}{known}"
    who = joined(list(dict.fromkeys(str(who) for who, _ in answer.found)))
    status = None if answer.is_given else Status.CAUTION
    return blocks.row(_label(answer.item), Cell(text, status=status), who)


def registry_values(answers: Iterable[FormAnswer], said: Registration) -> dict[str, object]:
    """Return a form's answers by the form's own ids, for a file; null where nobody answers.

    An item with options holds those that are chosen; several are a list.
    """
    values: dict[str, object] = {}
    for answer in answers:
        question = answer.item.question
        chosen = list(said.choices.get(question.key, ()))
        if question.options:
            values[answer.item.id] = chosen if question.several else next(iter(chosen), None)
        else:
            values[answer.item.id] = answer.text or None
    return values
