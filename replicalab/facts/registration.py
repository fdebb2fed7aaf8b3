"""A registration form filled in: what core, study file and author answer, item by item.

Nothing is invented: an item that none of the three answers is not given, and what only looks
likely is a proposal, which does not count until the author confirms it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple

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
from replicalab.facts.registered import HINTS, KNOWN, PROPOSED, Proposal, Registered
from replicalab.facts.verdicts import plan_size, plan_verdict
from replicalab.lexicon import capitalised, ended, is_given, joined, lines_text
from replicalab.registration import (
    QUESTIONS,
    SIDE_BY_SIDE,
    SIDES,
    Finder,
    FormItem,
    Profile,
    Section,
)


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
    known = KNOWN[key](registered) if key in KNOWN else ()
    found = [(who, text) for who, text in known if is_given(text)]
    if said:
        # The author's words take the place of the file's; what was worked out stays.
        found = [(who, text) for who, text in found if who is Finder.CORE]
        found.append((Finder.AUTHOR, said))
    proposed = PROPOSED[key](registered.plan) if key in PROPOSED and not said else None
    hint = HINTS[key](registered.plan) if key in HINTS and not found else ""
    return FormAnswer(item, tuple(found), proposed, hint)


def left_text(answers: Iterable[FormAnswer]) -> str:
    """Return how many items are answered, and how many of those left a form insists on."""
    all_of = list(answers)
    left = [each for each in all_of if not each.is_given]
    if not left:
        return f"All {len(all_of)} items are answered."
    required = sum(each.item.required for each in left)
    must = f", {required} of which the form requires" if required else ""
    found = len(all_of) - len(left)
    verb, other = ("is" if number == 1 else "are" for number in (found, len(left)))
    return f"{found} of {len(all_of)} items {verb} answered; {len(left)} {other} not{must}."


# --- the document -----------------------------------------------------------------------------


def registration(profile: Profile, registered: Registered, *, on: date) -> Document:
    """Return a form filled in, with who answers each item, and a list of what nobody answers.

    How the plan was chosen stands in a part of its own where the form does not ask for it.
    """
    answers = {answer.item.id: answer for answer in answers_of(profile, registered)}
    plan, said = registered.plan, registered.said
    pack = plan.pack
    by_key = {each.item.question.key: each for each in answers.values()}
    left = [_label(each.item) for each in answers.values() if not each.is_given]
    proposed = [each for each in answers.values() if each.proposal and not each.is_given]
    parts = [
        part(
            "What is registered",
            documents.verdict_sentence(plan_verdict(plan)),
            Sentence(f"{capitalised(plan_size(plan))}."),
            Sentence(left_text(answers.values())),
            Sentence(profile.link, "The form:") if profile.link else None,
        ),
        *(part(section.title, *_tables(section, by_key)) for section in profile.sections),
        part(
            "How the plan was chosen",
            _table("How the plan was chosen", _unasked(registered, by_key)),
        ),
        part("Not given", listing(f"{label}." for label in left)),
        part("Proposed, and no answer before you confirm it", listing(map(_proposed, proposed))),
    ]
    return Document(
        title=said.title or pack.paper.title,
        about=" · ".join((profile.title, lab_text(pack), documents.day_text(on))),
        parts=tuple(each for each in parts if each.blocks),
        foot=documents.origin_lines(plan),
        on=on,
        authors=said.authors,
    )


def _tables(section: Section, answers: Mapping[str, FormAnswer]) -> Iterator[Table | None]:
    """Yield a section's items; of the original and the replication the parts side by side first."""
    keys = [item.question.key for item in section.items]
    if section.title == SIDE_BY_SIDE:
        rows = []
        for name, (of, here, alike) in SIDES.items():
            cells = ([answers[key] for key in of], [answers[here]], [answers[alike]])
            rows.append((Cell(name), *map(_answered, cells)))
            keys = [key for key in keys if key not in (*of, here, alike)]
        columns = ("Part", "Original", "Replication", "How alike")
        yield blocks.table("Side by side", columns, rows)
    yield _table(section.title, [answers[key] for key in keys])


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


def _unasked(registered: Registered, asked: Mapping[str, FormAnswer]) -> list[FormAnswer]:
    """Return what is known of how the plan was chosen and the form does not ask."""
    items = [FormItem(key, QUESTIONS[key]) for key in _CHOSEN if key not in asked]
    return [each for each in (_answer(item, registered) for item in items) if each.is_given]


_CHOSEN: Final = ("decision", "refused")


def _label(item: FormItem) -> str:
    return f"{item.question.label} (required)" if item.required else item.question.label


def _proposed(answer: FormAnswer) -> str:
    proposal = answer.proposal
    return (
        f"{_label(answer.item)}: {ended(proposal.answer)} Why: {proposal.why}." if proposal else ""
    )


def _row(answer: FormAnswer) -> tuple[Cell, ...]:
    known = f". What is known: {answer.hint}" if answer.hint else ""
    text = answer.text or f"{capitalised(NOT_GIVEN)}{known}"
    who = joined(list(dict.fromkeys(str(who) for who, _ in answer.found)))
    status = None if answer.is_given else Status.CAUTION
    return blocks.row(_label(answer.item), Cell(text, status=status), who)


def registry_text(profile: Profile, registered: Registered) -> str:
    """Return a form's answers by its own ids, as a JSON file."""
    values = registry_values(profile, registered)
    return json.dumps(values, ensure_ascii=False, indent=1) + "\n"


def registry_values(profile: Profile, registered: Registered) -> dict[str, object]:
    """Return a form's answers by the form's own ids, for a file; null where nobody answers.

    An item with options holds those that are chosen; several are a list.
    """
    values: dict[str, object] = {}
    for answer in answers_of(profile, registered):
        question = answer.item.question
        chosen = list(registered.said.choices.get(question.key, ()))
        if question.options:
            values[answer.item.id] = chosen if question.several else next(iter(chosen), None)
        else:
            values[answer.item.id] = answer.text or None
    return values
