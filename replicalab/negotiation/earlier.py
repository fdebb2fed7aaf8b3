"""What earlier versions saved, read as a transcript: traces and cassettes, both of format 1.

Only the decisions and numbers of an old file are read. Its prose is made anew by every replay.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasPath, BaseModel, Field

from replicalab.agents.parsing import ScientistOutputParseError, parse_scientist_output
from replicalab.errors import TraceError
from replicalab.models import DIMENSIONS, ScientistActionType
from replicalab.negotiation.attempts import MOST_OUTPUTS, Output, told_digest
from replicalab.negotiation.players import propose
from replicalab.negotiation.records import AUTOMATIC, MOST_ROUNDS, By, Setup
from replicalab.negotiation.step import BY_HAND, FOR_THE_MODEL
from replicalab.negotiation.transcript import FORMAT, Recording

Data = dict[str, Any]


def converted(data: Data) -> Data:
    """Return the fields of the transcript that an earlier version's trace or cassette makes.

    Raises:
        TraceError: a round has another number than its place, or an output is no action.
        NegotiationError: the opening has no samples.
        pydantic.ValidationError: it is neither.
    """
    if "turns" in data:
        return _of_cassette(data)
    trace = _Trace.model_validate(data)
    turns = [_of_round(done, at, trace.setup) for at, done in enumerate(trace.rounds)]
    ended = {"ending": trace.ending, "outcome": trace.outcome}
    return {"format": FORMAT, "setup": trace.setup, "turns": turns, **ended}


def _at(*path: str) -> Any:
    return Field(default=None, validation_alias=AliasPath(*path))


# --- traces ---------------------------------------------------------------------------------


class _Attempt(BaseModel):
    """One attempt of a model."""

    system_prompt: str
    observation: str
    text: str | None = Field(validation_alias="raw_output")
    failure: str | None
    usage: Data


class _Round(BaseModel):
    """One round; what else stood in it is passed over."""

    number: int
    action: Data | None = Field(validation_alias="scientist_action")
    plan: Data | None
    checked: Data | None = Field(validation_alias="check")
    answer: object = _at("lab_manager_action", "action_type")
    offer: object = _at("suggestion", "revised_protocol")
    reason: str = ""
    attempts: Annotated[list[_Attempt], Field(max_length=MOST_OUTPUTS)] = []


class _Trace(BaseModel):
    """A whole negotiation."""

    setup: Setup
    rounds: Annotated[list[_Round], Field(max_length=MOST_ROUNDS)]
    ending: str | None
    outcome: str | None


def _of_round(done: _Round, place: int, setup: Setup) -> Data:
    """Return a turn with the facts that its round states; an offer only answers a plan."""
    if done.number != place:
        raise TraceError(f"rounds.{place}.number is {done.number}; number the rounds from 0 on")
    check, first = done.checked or {}, done.attempts[0] if done.attempts else None
    asks = done.action is None or done.action.get("action_type") == ScientistActionType.REQUEST_INFO
    failing = [d for d in DIMENSIONS if check and not _passes(check.get(d))]
    return {
        "action": done.action,
        "by": _chosen_by(done, setup),
        "outputs": [
            {"text": each.text, "failure": each.failure, **each.usage} for each in done.attempts
        ],
        "facts": {
            "plan": done.plan,
            "failing": failing,
            "cost": check.get("estimated_cost"),
            "staff": check.get("required_staff"),
            "answer": done.answer,
            "offer": None if asks else done.offer,
        },
        "told": told_digest(first.system_prompt, first.observation) if first else None,
    }


def _passes(checked: object) -> bool:
    return isinstance(checked, dict) and checked.get("ok") is True


def _chosen_by(done: _Round, setup: Setup) -> By:
    """Return who chose a turn, by what its round says of it."""
    if done.reason == BY_HAND:
        return By.FORK
    if (setup.opening is not None and done.number == 0) or setup.scientist in AUTOMATIC:
        return By.RULE
    told = done.attempts or done.reason  # a person gave no reason but when acting for a model
    return By.MODEL if told and done.reason != FOR_THE_MODEL else By.PERSON


# --- cassettes ------------------------------------------------------------------------------


class _Cassette(BaseModel):
    """A recorded model: what it said in each of its turns, and what it was told."""

    setup: Setup
    turns: Annotated[list[Annotated[list[Output], Field(min_length=1)]], Field(min_length=1)]
    prompts: list[str] | None = None


def _of_cassette(data: Data) -> Data:
    cassette = _Cassette.model_validate(data)
    prompts: list[str | None] = [*(cassette.prompts or (None,) * len(cassette.turns))]
    if len(prompts) != len(cassette.turns):
        raise TraceError(
            f"prompts has {len(prompts)} entries for {len(cassette.turns)} turns; give one for each"
        )
    turns: list[Data] = []
    if cassette.setup.opening is not None:
        turns.append({"action": propose(cassette.setup.opening), "by": By.RULE})
    for number, outputs in enumerate(cassette.turns):
        try:
            action = parse_scientist_output(outputs[-1].text or "")
        except ScientistOutputParseError as error:
            raise TraceError(f"turns.{number}: {error}; end each turn with an action") from error
        turn = {"action": action, "by": By.MODEL, "outputs": outputs, "told": prompts[number]}
        turns.append(turn)
    recording = {name: data[name] for name in Recording.model_fields if name in data}
    return {
        "format": FORMAT, "setup": cassette.setup, "recording": recording, "turns": turns
    }  # fmt: skip
