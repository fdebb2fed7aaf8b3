"""What the Scientist is given to read: the system prompt, and the text of one turn.

Source: docs/methods.md, Scientist. Text from a study file or from a model always stands
behind a bullet on one line of its own, so that it cannot pass for a section.
"""

import json
from collections.abc import Iterator
from typing import Final

from replicalab import models
from replicalab.lexicon import lines_text, measured_text, section
from replicalab.models import PROTOCOL_FIELDS, Protocol, ScientistActionType, ScientistObservation
from replicalab.scenarios import Pack

_OTHER_FORMS: Final = {
    "action_type": "one of the action_type values",
    "questions": models.LIST_OF_TEXTS,
}
FIELD_FORMS: Final = {
    name: _OTHER_FORMS.get(name) or models.PROTOCOL_ROWS[name].form
    for name in models.ScientistAction.model_fields
}
"""The keys of a ScientistAction, in its order, and the form of each value."""
_FIELDS: Final = tuple(f"- {name}: {form}" for name, form in FIELD_FORMS.items())

_OPENING: Final = """\
You are the Scientist agent in ReplicaLab.

Your job: negotiate with the Lab Manager the strongest plan that the lab can run.
Keep what the conclusion rests on; give up first what costs it least."""
_RULES: Final = "\n".join(
    (
        "Output contract:",
        "Answer with exactly one JSON object and nothing else: no prose, no code fence.",
        "It has all of these keys and no extra keys:",
        *_FIELDS,
        "",
        "Allowed action_type values:",
        *(f"- {value}" for value in ScientistActionType),
        "",
        "Action-specific field requirements:",
        "- propose_protocol and revise_protocol: sample_size 1 or more, a technique and a "
        "rationale; controls, required_equipment and required_reagents may be []; questions is [].",
        '- request_info: one question or more; every other field empty: 0, "" or [].',
        "- accept, which takes the Lab Manager's standing offer or, without one, the current "
        'protocol: every other field empty: 0, "" or [].',
    )
)
_NO_HISTORY: Final = "No conversation history yet"
_SCHEMA: Final = "\n".join(
    (
        "ScientistAction schema:",
        *_FIELDS,
        f"action_type values: {', '.join(ScientistActionType)}",
        "",
        "Respond with exactly one JSON object that is a valid ScientistAction, and nothing else.",
    )
)


def build_scientist_system_prompt(scenario: Pack) -> str:
    """Return the system prompt: eleven sections, of the study and this lab, in a fixed order.

    The hidden reference is never part of it.
    """
    summary, constraints, substitutions = scenario.study.agent_texts
    means = [(label, measured_text(amount, unit)) for label, amount, unit in scenario.means]
    limits = "\n".join([*constraints, *[f"- [hard] {label} <= {has}" for label, has in means]])
    resources = lines_text(
        [f"- {i.label} ({i.category}): {i.status_text}" for i in scenario.inventory.listed]
        + [f"- lab staff (personnel), {means[-1][1]}: available"]
    )
    return (
        f"{_OPENING}\n\n{summary}\n\nConstraints:\n{limits}\n\n"
        f"Available resources:\n{resources}\n{substitutions}\n\n{_RULES}"
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
    lines = (
        f"Round {obs.round_number} of {obs.max_rounds}",
        *section("Paper", paper),
        *(section("Conversation history", history) if history else ["", _NO_HISTORY]),
        *_table(obs.current_protocol, obs.suggested_protocol),
    )
    return f"{lines_text(lines)}\n\n{_SCHEMA}"


def _table(current: Protocol | None, offer: Protocol | None) -> Iterator[str]:
    """Yield what is on the table: the current plan, the standing offer, and what accept takes."""
    if current is None:
        yield from ("", "No protocol has been proposed yet")
    else:
        yield from section("Current protocol", _plan(current))
    if offer is not None:
        yield from section("The Lab Manager's standing offer", _plan(offer))[1:]
        yield "accept takes this offer."
    elif current is not None:
        yield "accept takes the current protocol."


def _plan(protocol: Protocol) -> list[str]:
    """Return a line per field, its value written as in JSON."""
    return [
        f"{name}: {json.dumps(getattr(protocol, name), ensure_ascii=False)}"
        for name in PROTOCOL_FIELDS
    ]
