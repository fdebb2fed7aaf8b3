"""A negotiation kept: saved, loaded, verified by replay, and forked at any round.

Source: the behaviour contract, section 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from replicalab.errors import NegotiationError, TraceError
from replicalab.lexicon import count_text
from replicalab.models import (
    Count,
    NonEmptyText,
    Protocol,
    Record,
    ScientistAction,
    ScientistActionType,
    plan_action,
)
from replicalab.negotiation.games import play_on, state_after, take
from replicalab.negotiation.loading import list_fault, loaded
from replicalab.negotiation.players import BY_HAND, FOR_THE_MODEL, choose_turn
from replicalab.negotiation.recorded import try_again
from replicalab.negotiation.records import AUTOMATIC, Round, ScientistKind, State, Trace, Turn
from replicalab.negotiation.rounds import outcome_of, scenario_digest, start
from replicalab.scenarios import Pack

_NO_TURN: Final = Turn(action=None, reason="the model gave no valid action")


def save_trace(trace: Trace) -> str:
    """Return the trace as JSON text; `load_trace` gives an equal one back."""
    return trace.model_dump_json(indent=1)


def load_trace(text: str) -> Trace:
    """Return the trace that was saved.

    Raises:
        TraceError: the text is no saved trace, or too long for one, or lists more than a plan can
            need; the message names the first place at fault.
    """
    trace = loaded(Trace, text)
    for place, plan in _plans(trace):
        fault = list_fault(plan)
        if fault:
            raise TraceError(f"{place}.{fault}")
    return trace


def _plans(trace: Trace) -> Iterator[tuple[str, Protocol | ScientistAction]]:
    """Yield the plans that a replay would have checked again, with their places in the file."""
    if trace.setup.opening is not None:
        yield "setup.opening", trace.setup.opening
    for number, done in enumerate(trace.rounds):
        if done.scientist_action is not None:
            yield f"rounds.{number}.scientist_action", done.scientist_action


class Difference(Record):
    """Where a replay parts from the saved trace; ``round_number`` None means the lab itself."""

    round_number: Count | None
    message: NonEmptyText


def replay_differences(trace: Trace, scenario: Pack) -> list[Difference]:
    """Return what a replay finds different, empty when every round is identical.

    The Scientist's recorded actions are played again. Where it follows a rule it is asked again
    too, and a model's recorded outputs are read again, against the prompts of today. A reason is
    what the application writes itself. Only the round of a fork may part from the rule, and
    before it the rounds of earlier forks, which say so.
    """
    amiss = _amiss_as_a_whole(trace, scenario)
    if amiss:
        return [Difference(round_number=None, message=amiss)]
    state = start(trace.setup)
    for number, saved in enumerate(trace.rounds):
        if state.ending is not None:
            return [_differs(number, f"the negotiation had ended: {state.ending}")]
        try:
            turn = _replayed_turn(trace, state, saved, scenario)
        except NegotiationError as error:
            return [_differs(number, str(error))]
        if saved.turn != turn:
            return [_differs(number, _turn_difference(saved.turn, turn))]
        state, again = take(state, turn, trace.setup, scenario)
        if again != saved:
            return [_differs(number, "the Lab Manager answers differently")]
    return _end_differences(trace, state, scenario)


def _amiss_as_a_whole(trace: Trace, scenario: Pack) -> str:
    """Return what no single round can be blamed for; empty where nothing is amiss."""
    if not _same_lab(trace, scenario):
        return "The study or its lab has changed."
    forked, played = trace.setup.forked_at, len(trace.rounds)
    if forked is not None and forked >= played:
        return f"It says that round {forked + 1} was forked, and has {count_text(played, 'round')}."
    return ""


def _same_lab(trace: Trace, scenario: Pack) -> bool:
    named = (trace.setup.scenario_id, trace.setup.difficulty, trace.setup.seed)
    found = (scenario.scenario_id, scenario.difficulty, scenario.seed)
    return named == found and trace.scenario_digest == scenario_digest(scenario)


def _replayed_turn(trace: Trace, state: State, saved: Round, scenario: Pack) -> Turn:
    """Return the turn that the saved one must equal."""
    if _forked_here(trace, state, saved):
        return _turn_by_hand(saved, state)
    opens = trace.setup.opening is not None and not state.history
    if opens or trace.setup.scientist in AUTOMATIC:
        return choose_turn(trace.setup, state, scenario)
    if saved.attempts and trace.setup.scientist is ScientistKind.MODEL:
        return _models_turn(saved, state, scenario)
    return Turn(action=saved.scientist_action)


def _forked_here(trace: Trace, state: State, saved: Round) -> bool:
    """Return whether a plan was put forward by hand: at the fork, or at one that came before."""
    forked = trace.setup.forked_at
    if forked is None or state.round_number > forked:
        return False
    return state.round_number == forked or saved.reason == BY_HAND


def _turn_by_hand(saved: Round, state: State) -> Turn:
    action = saved.scientist_action
    if action is None or action.protocol is None:
        return _NO_TURN
    return Turn(action=plan_action(_putting_forward(state), action.protocol), reason=BY_HAND)


def _putting_forward(state: State) -> ScientistActionType:
    if state.plan is None:
        return ScientistActionType.PROPOSE_PROTOCOL
    return ScientistActionType.REVISE_PROTOCOL


def _models_turn(saved: Round, state: State, scenario: Pack) -> Turn:
    """Return the model's turn, or what was done after it gave no valid action."""
    again = try_again(saved.attempts, state, scenario)
    if again.turn is not None:
        return again.turn
    if saved.reason == FOR_THE_MODEL:
        return saved.turn.model_copy(update={"attempts": again.attempts})
    if saved.scientist_action is not None:
        return _NO_TURN
    return Turn(action=None, reason=again.failure or "", attempts=again.attempts)


def _turn_difference(saved: Turn, again: Turn) -> str:
    if again == _NO_TURN:
        wanted = "the model's outputs hold no valid action"
        return wanted if saved.attempts else "no plan was put forward by hand"
    told = [(each.system_prompt, each.observation) for each in saved.attempts]
    if told != [(each.system_prompt, each.observation) for each in again.attempts]:
        return "the model was told something else"
    return "the Scientist acts differently"


def _differs(number: int, what: str) -> Difference:
    return Difference(round_number=number, message=f"Round {number + 1}: {what}.")


def _end_differences(trace: Trace, state: State, scenario: Pack) -> list[Difference]:
    last = len(trace.rounds) - 1
    if state.ending != trace.ending:
        return [_differs(max(last, 0), f"the ending is not '{trace.ending}'")]
    if trace.ending is None:
        return []
    if outcome_of(trace.ending, trace.rounds[last], scenario) != trace.outcome:
        return [_differs(max(last, 0), f"the outcome is not '{trace.outcome}'")]
    return []


def state_before(trace: Trace, round_number: int, scenario: Pack) -> State:
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


def fork(trace: Trace, round_number: int, protocol: Protocol, scenario: Pack) -> Trace:
    """Return the negotiation that follows when the Scientist puts ``protocol`` forward instead.

    Rounds before ``round_number`` (0-based) are kept; from there a Scientist that follows a rule
    goes on by it, and the negotiation of any other waits for its next turn.

    Raises:
        NegotiationError: no such round, another study or lab, or a plan without samples.
    """
    state = state_before(trace, round_number, scenario)
    if protocol.sample_size < 1:
        raise NegotiationError("forked plan: sample_size is 0; plan at least 1 sample")
    setup = trace.setup.model_copy(update={"forked_at": round_number})
    turn = Turn(action=plan_action(_putting_forward(state), protocol), reason=BY_HAND)
    state, done = take(state, turn, setup, scenario)
    return play_on(setup, state, [*trace.rounds[:round_number], done], scenario)
