"""A whole negotiation: begun, carried on turn by turn, forked, or played to its end by rule.

Every function takes a negotiation and returns a new one; no round is ever played again.
"""

from __future__ import annotations

from dataclasses import replace

from replicalab.errors import NegotiationError
from replicalab.lexicon import count_text
from replicalab.models import Protocol, ScientistAction, ScientistActionType, plan_action
from replicalab.negotiation.players import choose, follows_a_rule
from replicalab.negotiation.records import (
    By,
    LabManagerKind,
    Negotiation,
    ScientistKind,
    Setup,
    State,
    Turn,
)
from replicalab.negotiation.step import step
from replicalab.scenarios import MAX_ROUNDS, Pack


def setup_for(
    pack: Pack,
    opening: Protocol | None = None,
    max_rounds: int = MAX_ROUNDS,
    *,
    scientist: ScientistKind,
    lab_manager: LabManagerKind,
) -> Setup:
    """Return the setup of a negotiation in this lab.

    Args:
        pack: the study in its lab.
        opening: the plan that the Scientist proposes first; None lets it choose its own.
        max_rounds: 1 to 50.
        scientist: who plays the Scientist.
        lab_manager: who plays the Lab Manager.
    """
    return Setup(
        scenario_id=pack.scenario_id,
        difficulty=pack.difficulty,
        seed=pack.seed,
        scientist=scientist,
        lab_manager=lab_manager,
        max_rounds=max_rounds,
        opening=opening,
    )


def begin(setup: Setup, pack: Pack) -> Negotiation:
    """Return a negotiation before its first round."""
    return Negotiation(setup, pack)


def play(negotiation: Negotiation, turn: Turn, reason: str = "") -> Negotiation:
    """Return the negotiation after one more round.

    Args:
        negotiation: as far as it has gone.
        turn: what the Scientist does.
        reason: why, where a rule says it.

    Raises:
        NegotiationError: it has already ended.
    """
    done = step(
        negotiation.state,
        turn,
        negotiation.pack,
        negotiation.setup.lab_manager,
        before=negotiation.rounds[-1] if negotiation.rounds else negotiation.setup,
        reason=reason,
    )
    return replace(negotiation, rounds=(*negotiation.rounds, done))


def play_rule(negotiation: Negotiation) -> Negotiation:
    """Return the negotiation after the round that its rule chooses.

    Raises:
        NegotiationError: no rule chooses it, its opening has no samples, or it has ended.
    """
    choice = choose(negotiation.setup, negotiation.state, negotiation.pack)
    return play(negotiation, Turn(action=choice.action, by=By.RULE), choice.reason)


def play_on(negotiation: Negotiation) -> Negotiation:
    """Return the negotiation as far as rules carry it: to its end, or to somebody's choice."""
    while negotiation.ending is None and follows_a_rule(negotiation.setup, negotiation.state):
        negotiation = play_rule(negotiation)
    return negotiation


def negotiate(setup: Setup, pack: Pack) -> Negotiation:
    """Return the negotiation as far as rules carry it: to its end, or to somebody's first choice.

    Raises:
        NegotiationError: the opening has no samples.
    """
    return play_on(begin(setup, pack))


def fork(negotiation: Negotiation, number: int, protocol: Protocol) -> Negotiation:
    """Return the negotiation that follows when the Scientist puts ``protocol`` forward instead.

    Rounds before ``number`` (0-based) are kept; from there a Scientist that follows a rule goes on
    by it, and the negotiation of any other waits for its next turn.

    Raises:
        NegotiationError: no such round, or a plan without samples.
    """
    most = len(negotiation.rounds)
    if not 0 <= number < most:
        raise NegotiationError(
            f"round {number + 1}: the negotiation has {count_text(most, 'round')}; choose one from "
            f"1 to {most}"
        )
    if protocol.sample_size < 1:
        raise NegotiationError("forked plan: sample_size is 0; plan at least 1 sample")
    setup = negotiation.setup.model_copy(update={"forked_at": number})
    kept = replace(negotiation, setup=setup, rounds=negotiation.rounds[:number])
    action = put_forward(kept.state, protocol)
    return play_on(play(kept, Turn(action=action, by=By.FORK)))


def put_forward(state: State, protocol: Protocol) -> ScientistAction:
    """Return the action that puts a plan forward by hand: proposed first, and then revised."""
    if state.plan is None:
        return plan_action(ScientistActionType.PROPOSE_PROTOCOL, protocol)
    return plan_action(ScientistActionType.REVISE_PROTOCOL, protocol)
