"""What the Scientist is told: the system prompt, and the text of one turn.

Source: docs/contract.md, Scientist. Text from a study file or from a model always stands
behind a bullet on one line of its own, so that it cannot pass for a section.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from replicalab.lexicon import one_line
from replicalab.models import (
    PROTOCOL_FIELDS,
    Protocol,
    ScientistActionType,
    ScientistObservation,
)
from replicalab.scenarios import (
    AllowedSubstitution,
    Pack,
    ScenarioConstraint,
)

FIELD_FORMS: Final = {
    "action_type": "one of the action_type values",
    "sample_size": "whole number, 0 or more",
    "controls": "list of strings",
    "technique": "string",
    "duration_days": "whole number, 0 or more",
    "required_equipment": "list of strings",
    "required_reagents": "list of strings",
    "questions": "list of strings",
    "rationale": "string",
}
"""The keys of a ScientistAction, in its order, and the form of each value."""
_FIELDS: Final = tuple(f"- {name}: {form}" for name, form in FIELD_FORMS.items())

_ROLE: Final = "You are the Scientist agent in ReplicaLab."
_JOB: Final = (
    "Your job: negotiate with the Lab Manager the strongest plan that the lab can run.\n"
    "Keep what the conclusion rests on; give up first what costs it least."
)
_CONTRACT: Final = (
    "Answer with exactly one JSON object and nothing else: no prose, no code fence.",
    "It has all of these keys and no extra keys:",
)
_REQUIREMENTS: Final = (
    "propose_protocol and revise_protocol: sample_size 1 or more, a technique and a rationale; "
    "controls, required_equipment and required_reagents may be []; questions is [].",
    'request_info: one question or more; every other field empty: 0, "" or [].',
    "accept, which takes the Lab Manager's standing offer or, without one, the current protocol: "
    'every other field empty: 0, "" or [].',
)
_NO_HISTORY: Final = "No conversation history yet"
_CLOSING: Final = (
    "Respond with exactly one JSON object that is a valid ScientistAction, and nothing else."
)


def build_scientist_system_prompt(scenario: Pack) -> str:
    """Return the system prompt: eleven sections, of the study and this lab, in a fixed order.

    The hidden reference is never part of it.
    """
    return "\n\n".join(
        (
            _ROLE,
            _JOB,
            f"Domain ID: {scenario.domain_id}",
            _section("Task summary", [scenario.task_summary]),
            _section("Success criteria", scenario.success_criteria),
            _section("Constraints", map(_constraint, scenario.constraints)),
            _section("Available resources", _resources(scenario)),
            _section("Allowed substitutions", map(_substitution, scenario.allowed_substitutions)),
            "\n".join(("Output contract:", *_CONTRACT, *_FIELDS)),
            _section("Allowed action_type values", ScientistActionType),
            _section("Action-specific field requirements", _REQUIREMENTS),
        )
    )


def format_scientist_observation(obs: ScientistObservation) -> str:
    """Return the user message of one turn: six sections, in a fixed order."""
    paper = (
        f"Title: {obs.paper_title}",
        f"Hypothesis: {obs.paper_hypothesis}",
        f"Method: {obs.paper_method}",
        f"Key finding: {obs.paper_key_finding}",
        f"Goal: {obs.experiment_goal}",
    )
    history = [
        f"Round {e.round_number}, {e.role}, {e.action_type or 'no action'}: {e.message}"
        for e in obs.conversation_history
    ]
    values = ", ".join(ScientistActionType)
    return "\n\n".join(
        (
            f"Round {obs.round_number} of {obs.max_rounds}",
            _section("Paper", paper),
            _section("Conversation history", history) if history else _NO_HISTORY,
            "\n".join(_table(obs.current_protocol, obs.suggested_protocol)),
            "\n".join(("ScientistAction schema:", *_FIELDS, f"action_type values: {values}")),
            _CLOSING,
        )
    )


def _table(current: Protocol | None, offer: Protocol | None) -> Iterator[str]:
    """Yield what is on the table: the current plan, the standing offer, and what accept takes."""
    if current is None:
        yield "No protocol has been proposed yet"
    else:
        yield _section("Current protocol", _plan(current))
    if offer is not None:
        yield _section("The Lab Manager's standing offer", _plan(offer))
        yield "accept takes this offer."
    elif current is not None:
        yield "accept takes the current protocol."


def _plan(protocol: Protocol) -> Iterator[str]:
    """Yield a line per field, its value written as in JSON."""
    for name in PROTOCOL_FIELDS:
        yield f"{name}: {json.dumps(getattr(protocol, name), ensure_ascii=False)}"


def _section(title: str, items: Iterable[str]) -> str:
    """Return a titled list, each item on one line; a list without items says ``none``."""
    lines = [f"- {one_line(item)}" for item in items]
    return "\n".join((f"{title}:", *(lines or ["- none"])))


def _amount(quantity: float, unit: str | None) -> str:
    return f"{quantity:z.12g} {unit or ''}".rstrip()


def _constraint(constraint: ScenarioConstraint) -> str:
    strength = "hard" if constraint.hard else "soft"
    text = f"[{strength}] {constraint.label}"
    if constraint.quantity is not None:
        text += f" {constraint.comparator} {_amount(constraint.quantity, constraint.unit)}"
    return f"{text} ({constraint.details})" if constraint.details else text


def _resources(scenario: Pack) -> Iterator[str]:
    """Yield a line per item that the study needs or the lab has, and one for the staff."""
    for category, labels in (("equipment", scenario.equipment), ("reagent", scenario.reagents)):
        for label in labels:
            yield f"{label} ({category}): {scenario.inventory.item(label, category).status_text}"
    yield f"lab staff (personnel), {_amount(scenario.lab.staff, 'staff units')}: available"


def _substitution(substitution: AllowedSubstitution) -> str:
    return (
        f"{substitution.original} → {substitution.alternative}"
        f" (condition: {substitution.condition}; tradeoff: {substitution.tradeoff})"
    )
