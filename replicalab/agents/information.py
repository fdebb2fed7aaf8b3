"""What the Lab Manager answers to a question: the lab's own data, never the hidden reference."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from replicalab.assessment.phrases import days_text
from replicalab.lexicon import count_text, label_key, lines_text, quoted
from replicalab.scenarios import Pack, ResourceCategory, ScenarioResource


def answer_questions(questions: Sequence[str], scenario: Pack) -> str:
    """Return the answer: what each question names, or the whole lab when it names nothing."""
    asked = " ".join(label_key(question) for question in questions)
    items = [r for r in scenario.resources if r.category is not ResourceCategory.PERSONNEL]
    named = [item for item in items if label_key(item.label) in asked]
    for item in sorted(named, key=lambda item: len(item.label), reverse=True):
        asked = asked.replace(label_key(item.label), " ")  # a name may hold a topic's word
    lines = [_item(item, scenario) for item in named]
    lines += [answer(scenario) for words, answer in _TOPICS if re.search(rf"\b(?:{words})", asked)]
    return lines_text(lines or [answer(scenario) for _, answer in _TOPICS])


def _item(item: ScenarioResource, scenario: Pack) -> str:
    text = f"'{item.label}' is {scenario.inventory.status(item.label, item.category.value)}"
    if item.booked_until_day is not None:
        text += f" until day {item.booked_until_day}"
    if options := quoted(scenario.inventory.alternatives(item.label)):
        text += f"; may be replaced by {' or '.join(options)}"
    return f"{text}."


def _listed(category: ResourceCategory, scenario: Pack) -> str:
    items = [_item(item, scenario) for item in scenario.resources if item.category is category]
    title = "Equipment" if category is ResourceCategory.EQUIPMENT else "Reagents"
    return f"{title}: {' '.join(items) or 'none.'}"


def _budget(scenario: Pack) -> str:
    credits = scenario.lab.budget
    return f"Budget: {count_text(credits, 'credit')} {'remains' if credits == 1 else 'remain'}."


def _restrictions(scenario: Pack) -> str:
    return f"Restrictions: {' '.join(r.restriction for r in scenario.policy_rules) or 'none.'}"


# The words that begin a topic's question, and what is answered to it.
_TOPICS: Final[tuple[tuple[str, Callable[[Pack], str]], ...]] = (
    ("budget|credit|cost|money|afford", _budget),
    (
        r"days?\b|time|long|schedule|deadline|calendar",
        lambda pack: f"Time: at most {days_text(pack.lab)}.",
    ),
    (
        r"staff|people|person|hands|who\b",
        lambda pack: f"Staff: {count_text(pack.lab.staff, 'staff unit')}.",
    ),
    ("equipment|instrument|device|machine|booked", partial(_listed, ResourceCategory.EQUIPMENT)),
    ("reagent|stock|material|suppl|consumable", partial(_listed, ResourceCategory.REAGENT)),
    (r"polic|restrict|safe|allowed|rules?\b|forbidden", _restrictions),
)
