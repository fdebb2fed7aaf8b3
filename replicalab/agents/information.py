"""What the Lab Manager answers to a question: the lab's own data, never the hidden reference."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from replicalab.lexicon import amount_text, count_text, label_key
from replicalab.scenarios import ItemStatus, Pack, ResourceCategory

Topic = Callable[[Pack], str]


def answer_questions(questions: Sequence[str], scenario: Pack) -> str:
    """Return the answer: what each question names, or the whole lab when it names nothing."""
    asked = " ".join(label_key(question) for question in questions)
    named = [label for label in _labels(scenario) if label_key(label) in asked]
    for label in sorted(named, key=len, reverse=True):  # a name may hold a topic's word
        asked = asked.replace(label_key(label), " ")
    lines = [_item(label, scenario) for label in named]
    lines += [topic(scenario) for words, topic in _TOPICS if words.search(asked)]
    return "\n".join(lines or [topic(scenario) for _, topic in _TOPICS])


def _labels(scenario: Pack) -> list[str]:
    return [r.label for r in scenario.resources if r.category is not ResourceCategory.PERSONNEL]


def _item(label: str, scenario: Pack) -> str:
    resource = next(r for r in scenario.resources if r.label == label)
    status = scenario.inventory.status(label, resource.category.value)
    until = scenario.inventory.booked_until(label)
    booked = f" until day {until}" if until is not None and status is ItemStatus.BOOKED else ""
    options = [f"'{option}'" for option in scenario.inventory.alternatives(label)]
    instead = f"; may be replaced by {' or '.join(options)}" if options else ""
    return f"'{label}' is {status}{booked}{instead}."


def _budget(scenario: Pack) -> str:
    return f"Budget: {amount_text(scenario.lab.budget)} credits remain."


def _days(scenario: Pack) -> str:
    return f"Time: at most {count_text(scenario.lab.days, 'day')}."


def _staff(scenario: Pack) -> str:
    return f"Staff: {count_text(scenario.lab.staff, 'staff unit')}."


def _equipment(scenario: Pack) -> str:
    return _listed("Equipment", ResourceCategory.EQUIPMENT, scenario)


def _reagents(scenario: Pack) -> str:
    return _listed("Reagents", ResourceCategory.REAGENT, scenario)


def _listed(title: str, category: ResourceCategory, scenario: Pack) -> str:
    items = [_item(r.label, scenario) for r in scenario.resources if r.category is category]
    return f"{title}: {' '.join(items) or 'none.'}"


def _restrictions(scenario: Pack) -> str:
    return f"Restrictions: {' '.join(r.restriction for r in scenario.policy_rules) or 'none.'}"


_TOPICS: Final[tuple[tuple[re.Pattern[str], Topic], ...]] = (
    (re.compile(r"\b(?:budget|credit|cost|money|afford)"), _budget),
    (re.compile(r"\b(?:days?\b|time|long|schedule|deadline|calendar)"), _days),
    (re.compile(r"\b(?:staff|people|person|hands|who\b)"), _staff),
    (re.compile(r"\b(?:equipment|instrument|device|machine|booked)"), _equipment),
    (re.compile(r"\b(?:reagent|stock|material|suppl|consumable)"), _reagents),
    (re.compile(r"\b(?:polic|restrict|safe|allowed|rules?\b|forbidden)"), _restrictions),
)
