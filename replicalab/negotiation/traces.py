"""A negotiation kept: saved, loaded, verified by replay, and forked at any round.

Source: the behaviour contract, section 8.
"""

from __future__ import annotations

from pydantic import ValidationError

from replicalab.errors import NegotiationError, TraceError
from replicalab.labels import count_text
from replicalab.models import (
    Count,
    NonEmptyText,
    Protocol,
    Record,
    ScientistActionType,
    plan_action,
)
from replicalab.negotiation.games import play_on, state_after, take
from replicalab.negotiation.players import choose_turn
from replicalab.negotiation.records import AUTOMATIC, Round, State, Trace, Turn
from replicalab.negotiation.rounds import outcome_of, scenario_digest, start
from replicalab.scenarios.models import NormalizedScenarioPack


def save_trace(trace: Trace) -> str:
    """Return the trace as JSON text; `load_trace` gives an equal one back."""
    return trace.model_dump_json(indent=1)


def load_trace(text: str) -> Trace:
    """Return the trace that was saved.

    Raises:
        TraceError: the text is no saved trace; the message names the first place at fault.
    """
    try:
        return Trace.model_validate_json(text)
    except ValidationError as error:
        raise TraceError(
            f"{_first_fault(error)}; load a file that was saved here and not edited since"
        ) from error


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    value = first["input"]
    if not first["loc"]:
        return f"the file: {first['msg']}"
    shown = f" is {value!r}" if isinstance(value, int | float) else ""
    return f"{'.'.join(map(str, first['loc']))}{shown}: {first['msg']}"


class Difference(Record):
    """Where a replay parts from the saved trace; ``round_number`` None means the lab itself."""

    round_number: Count | None
    message: NonEmptyText


def replay_differences(trace: Trace, scenario: NormalizedScenarioPack) -> list[Difference]:
    """Return what a replay finds different, empty when every round is identical.

    The Scientist's recorded actions are played again; where its policy is deterministic it is
    asked again too.
    """
    if not _same_lab(trace, scenario):
        return [Difference(round_number=None, message="The study or its lab has changed.")]
    state = start(trace.setup)
    for number, saved in enumerate(trace.rounds):
        if state.ending is not None:
            return [_differs(number, f"the negotiation had ended: {state.ending}")]
        try:
            turn = _replayed_turn(trace, state, saved, scenario)
        except NegotiationError as error:
            return [_differs(number, str(error))]
        if saved.turn != turn:
            return [_differs(number, "the Scientist acts differently")]
        state, again = take(state, turn, trace.setup, scenario)
        if again != saved:
            return [_differs(number, "the Lab Manager answers differently")]
    return _end_differences(trace, state, scenario)


def _same_lab(trace: Trace, scenario: NormalizedScenarioPack) -> bool:
    named = (trace.setup.scenario_id, trace.setup.difficulty, trace.setup.seed)
    found = (scenario.scenario_id, scenario.difficulty, scenario.seed)
    return named == found and trace.scenario_digest == scenario_digest(scenario)


def _replayed_turn(
    trace: Trace, state: State, saved: Round, scenario: NormalizedScenarioPack
) -> Turn:
    forked = trace.setup.forked_at
    chosen = forked is not None and state.round_number <= forked
    opens = trace.setup.opening is not None and not state.history
    if chosen or (trace.setup.scientist not in AUTOMATIC and not opens):
        return saved.turn
    return choose_turn(trace.setup, state, scenario)


def _differs(number: int, what: str) -> Difference:
    return Difference(round_number=number, message=f"Round {number + 1}: {what}.")


def _end_differences(
    trace: Trace, state: State, scenario: NormalizedScenarioPack
) -> list[Difference]:
    last = len(trace.rounds) - 1
    if state.ending != trace.ending:
        return [_differs(max(last, 0), f"the ending is not '{trace.ending}'")]
    if trace.ending is None:
        return []
    if outcome_of(trace.ending, trace.rounds[last], scenario) != trace.outcome:
        return [_differs(max(last, 0), f"the outcome is not '{trace.outcome}'")]
    return []


def state_before(trace: Trace, round_number: int, scenario: NormalizedScenarioPack) -> State:
    """Return the state before a round of a trace (0-based).

    Raises:
        NegotiationError: the trace has no such round, or is of another study or lab.
    """
    most = len(trace.rounds)
    if not 0 <= round_number < most:
        raise NegotiationError(
            f"round {round_number + 1}: the negotiation has {count_text(most, 'round')}; choose "
            f"one from 1 to {most}"
        )
    if not _same_lab(trace, scenario):
        raise NegotiationError(
            "the study or its lab has changed since this negotiation; start a new one"
        )
    return state_after(trace, round_number, scenario)


def fork(
    trace: Trace, round_number: int, protocol: Protocol, scenario: NormalizedScenarioPack
) -> Trace:
    """Return the negotiation that follows when the Scientist puts ``protocol`` forward instead.

    Rounds before ``round_number`` (0-based) are kept; from there a Scientist that follows a rule
    goes on by it, and the negotiation of any other waits for its next turn.

    Raises:
        NegotiationError: no such round, another study or lab, or a plan without samples.
    """
    state = state_before(trace, round_number, scenario)
    if protocol.sample_size < 1:
        raise NegotiationError("forked plan: sample_size is 0; plan at least 1 sample")
    kind = ScientistActionType.PROPOSE_PROTOCOL
    if state.plan is not None:
        kind = ScientistActionType.REVISE_PROTOCOL
    setup = trace.setup.model_copy(update={"forked_at": round_number})
    turn = Turn(action=plan_action(kind, protocol), reason="A plan put forward by hand.")
    state, done = take(state, turn, setup, scenario)
    return play_on(setup, state, [*trace.rounds[:round_number], done], scenario)
