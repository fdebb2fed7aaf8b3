"""A whole negotiation: begun, carried on turn by turn, or played to its end by rule.

Every function takes a trace and returns a new one; the trace of an unfinished negotiation has
no ending yet.
"""

from __future__ import annotations

from replicalab.models import ScientistAction
from replicalab.negotiation.players import choose_turn
from replicalab.negotiation.records import AUTOMATIC, Round, Setup, State, Trace, Turn
from replicalab.negotiation.rounds import outcome_of, scenario_digest, start, step
from replicalab.scenarios import Pack


def begin(setup: Setup, scenario: Pack) -> Trace:
    """Return a negotiation before its first round."""
    return trace_of(setup, start(setup), [], scenario)


def trace_of(setup: Setup, state: State, rounds: list[Round], scenario: Pack) -> Trace:
    """Return the trace of a negotiation that stands in a state after some rounds."""
    return Trace(
        setup=setup,
        scenario_digest=scenario_digest(scenario),
        rounds=rounds,
        ending=state.ending,
        outcome=outcome_of(state.ending, rounds[-1], scenario) if state.ending else None,
    )


def state_of(trace: Trace, scenario: Pack) -> State:
    """Return where a negotiation stands after its last round."""
    return state_after(trace, len(trace.rounds), scenario)


def state_after(trace: Trace, count: int, scenario: Pack) -> State:
    """Return where a negotiation stood after so many of its rounds."""
    state = start(trace.setup)
    for saved in trace.rounds[:count]:
        state, _ = take(state, saved.turn, trace.setup, scenario)
    return state


def take(state: State, turn: Turn, setup: Setup, scenario: Pack) -> tuple[State, Round]:
    """Return the state after a turn and its answer, and the round."""
    return step(
        state,
        turn.action,
        scenario,
        setup.lab_manager,
        reason=turn.reason,
        attempts=turn.attempts,
    )


def play_turn(trace: Trace, turn: Turn, scenario: Pack) -> Trace:
    """Return the negotiation after one more round.

    Raises:
        NegotiationError: it has already ended.
    """
    state, done = take(state_of(trace, scenario), turn, trace.setup, scenario)
    return trace_of(trace.setup, state, [*trace.rounds, done], scenario)


def play_action(trace: Trace, action: ScientistAction | None, scenario: Pack) -> Trace:
    """Return the negotiation after one more round, in which the Scientist acts so."""
    return play_turn(trace, Turn(action=action), scenario)


def negotiate(setup: Setup, scenario: Pack) -> Trace:
    """Return the negotiation as far as rules carry it: to its end, or to a person's first choice.

    Raises:
        NegotiationError: the opening has no samples.
    """
    return play_on(setup, start(setup), [], scenario)


def play_on(setup: Setup, state: State, rounds: list[Round], scenario: Pack) -> Trace:
    """Return the negotiation that goes on by rule from a state after the rounds played."""
    while state.ending is None and _by_rule(setup, state):
        turn = choose_turn(setup, state, scenario)
        state, done = take(state, turn, setup, scenario)
        rounds = [*rounds, done]
    return trace_of(setup, state, rounds, scenario)


def _by_rule(setup: Setup, state: State) -> bool:
    opens = setup.opening is not None and not state.history
    return opens or setup.scientist in AUTOMATIC
