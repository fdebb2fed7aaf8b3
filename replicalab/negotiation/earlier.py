"""What earlier versions saved, read as a transcript: traces and cassettes, both of format 1.

Only the decisions and numbers of an old file are read. Its prose is made anew by every replay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from replicalab.agents.parsing import ScientistOutputParseError, parse_scientist_output
from replicalab.errors import NegotiationError, TraceError
from replicalab.models import (
    DIMENSIONS,
    Count,
    Credits,
    Dimension,
    Flag,
    LabManagerActionType,
    NonEmptyText,
    Protocol,
    ScientistAction,
    ScientistActionType,
    Text,
)
from replicalab.negotiation.attempts import MOST_OUTPUTS, Output, Seconds, told_digest
from replicalab.negotiation.players import propose
from replicalab.negotiation.records import (
    AUTOMATIC,
    MOST_ROUNDS,
    By,
    Digest,
    Ending,
    Facts,
    Outcome,
    Setup,
    Turn,
)
from replicalab.negotiation.step import BY_HAND, FOR_THE_MODEL
from replicalab.negotiation.transcript import (
    FORMAT,
    Made,
    ModelSettings,
    Recording,
    SavedTurn,
    Transcript,
)
from replicalab.scenarios import Identifier


def converted(data: Mapping[str, object]) -> Transcript:
    """Return the transcript of a trace or a cassette that an earlier version saved.

    Raises:
        TraceError: a round has another number than its place, or an output is no action.
        pydantic.ValidationError: it is neither.
    """
    if "turns" in data:
        return _of_cassette(_Cassette.model_validate(data))
    return _of_trace(_Trace.model_validate(data))


class _Read(BaseModel):
    """Base of what is read of an old file; what else stands in it is passed over."""

    model_config = ConfigDict(frozen=True)


# --- traces ---------------------------------------------------------------------------------


class _Usage(_Read):
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    seconds: Seconds
    finish_reason: str | None = None


class _Attempt(_Read):
    system_prompt: str
    observation: str
    raw_output: str | None
    failure: str | None
    usage: _Usage

    @property
    def output(self) -> Output:
        failure = (self.failure or "") if self.raw_output is None else None
        return Output(text=self.raw_output, failure=failure, **dict(self.usage))


class _DimensionCheck(_Read):
    ok: Flag


class _Check(_Read):
    protocol: _DimensionCheck
    budget: _DimensionCheck
    equipment: _DimensionCheck
    reagents: _DimensionCheck
    schedule: _DimensionCheck
    staff: _DimensionCheck
    policy: _DimensionCheck
    estimated_cost: Credits
    required_staff: Count

    @property
    def failing(self) -> tuple[Dimension, ...]:
        return tuple(each for each in DIMENSIONS if not getattr(self, each).ok)


class _Answer(_Read):
    action_type: LabManagerActionType


class _Suggestion(_Read):
    revised_protocol: Protocol


class _Round(_Read):
    number: Count
    scientist_action: ScientistAction | None
    lab_manager_action: _Answer | None
    plan: Protocol | None
    check: _Check | None
    suggestion: _Suggestion | None
    reason: str = ""
    attempts: Annotated[tuple[_Attempt, ...], Field(max_length=MOST_OUTPUTS)] = ()

    @property
    def facts(self) -> Facts:
        """What was decided; an offer only where a plan was answered."""
        action, check = self.scientist_action, self.check
        asks = action is None or action.action_type is ScientistActionType.REQUEST_INFO
        return Facts(
            failing=check.failing if check else (),
            cost=check.estimated_cost if check else None,
            staff=check.required_staff if check else None,
            answer=self.lab_manager_action.action_type if self.lab_manager_action else None,
            offer=self.suggestion.revised_protocol if self.suggestion and not asks else None,
        )

    def chosen_by(self, setup: Setup) -> By:
        """Return who chose the turn, by what the round says of it."""
        forked = setup.forked_at
        by_hand = self.number == forked or self.reason == BY_HAND
        if forked is not None and self.number <= forked and by_hand:
            return By.FORK
        if self.attempts:
            return By.PERSON if self.reason == FOR_THE_MODEL else By.MODEL
        opens = setup.opening is not None and self.number == 0
        return By.RULE if opens or setup.scientist in AUTOMATIC else By.PERSON


class _Trace(_Read):
    setup: Setup
    rounds: Annotated[tuple[_Round, ...], Field(max_length=MOST_ROUNDS)]
    ending: Ending | None
    outcome: Outcome | None


def _of_trace(trace: _Trace) -> Transcript:
    return Transcript(
        format=FORMAT,
        setup=trace.setup,
        turns=tuple(_turns(trace)),
        ending=trace.ending,
        outcome=trace.outcome,
    )


def _turns(trace: _Trace) -> Iterator[SavedTurn]:
    """Yield the turns, each with the digest that its own facts come to."""
    digest = trace.setup.digest
    for number, done in enumerate(trace.rounds):
        if done.number != number:
            raise TraceError(
                f"rounds.{number}.number is {done.number}, must be {number}; load a file that was "
                "saved here and not edited since"
            )
        turn = Turn(
            action=done.scientist_action,
            by=done.chosen_by(trace.setup),
            outputs=tuple(attempt.output for attempt in done.attempts),
        )
        digest = done.facts.digest(digest, turn, done.plan)
        first = done.attempts[0] if done.attempts else None
        told = told_digest(first.system_prompt, first.observation) if first else None
        yield SavedTurn(**dict(turn), facts=done.facts, told=told, digest=digest)


# --- cassettes ------------------------------------------------------------------------------


class _Cassette(_Read):
    format: Literal[1]
    key: Identifier
    title: NonEmptyText
    made: Made
    note: Text = ""
    settings: ModelSettings
    setup: Setup
    turns: Annotated[
        tuple[Annotated[tuple[Output, ...], Field(min_length=1, max_length=MOST_OUTPUTS)], ...],
        Field(min_length=1, max_length=MOST_ROUNDS),
    ]
    prompts: tuple[Digest, ...] | None = None


def _of_cassette(cassette: _Cassette) -> Transcript:
    prompts = cassette.prompts or (None,) * len(cassette.turns)
    if len(prompts) != len(cassette.turns):
        raise TraceError(
            f"prompts has {len(prompts)} entries for {len(cassette.turns)} turns; give one for each"
        )
    turns = [
        SavedTurn(action=_action(outputs, number), by=By.MODEL, outputs=outputs, told=told)
        for number, (outputs, told) in enumerate(zip(cassette.turns, prompts, strict=True))
    ]
    if cassette.setup.opening is not None:
        try:
            turns.insert(0, SavedTurn(action=propose(cassette.setup.opening), by=By.RULE))
        except NegotiationError as error:
            raise TraceError(f"setup.opening: {error}") from error
    return Transcript(
        format=FORMAT,
        setup=cassette.setup,
        recording=Recording(**{name: getattr(cassette, name) for name in Recording.model_fields}),
        turns=tuple(turns),
    )


def _action(outputs: tuple[Output, ...], number: int) -> ScientistAction:
    """Return the action that a turn's last output spells."""
    try:
        return parse_scientist_output(outputs[-1].text or "")
    except ScientistOutputParseError as error:
        raise TraceError(
            f"turns.{number}: its last output is no valid action: {error}; end each turn with one"
        ) from error
