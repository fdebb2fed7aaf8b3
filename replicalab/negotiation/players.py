"""Who plays the Scientist: the document's baseline, and one that weighs the evidence.

Each is a rule: asked again in the same state, it acts in the same way and gives the same reason.
A person, or a language model, chooses outside of this package and hands its turn in. Source: the
behaviour contract, section 8.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from replicalab.agents.scientist_policy import build_baseline_scientist_action
from replicalab.errors import NegotiationError
from replicalab.models import (
    Protocol,
    ScientistAction,
    ScientistActionType,
    plan_action,
)
from replicalab.negotiation.evidence_aware import evidence_aware_turn
from replicalab.negotiation.records import AUTOMATIC, ScientistKind, Setup, State, Turn
from replicalab.negotiation.rounds import observe
from replicalab.scenarios import Pack

Player = Callable[[State, Pack], Turn]
"""Chooses what the Scientist does next."""


BY_HAND: Final = "A plan put forward by hand."
"""The reason of the turn in which a negotiation was forked."""
FOR_THE_MODEL: Final = "A person acted for the model in this round."
"""The reason of a turn that a person took after a model gave no valid action."""


def choose_turn(setup: Setup, state: State, scenario: Pack) -> Turn:
    """Return the Scientist's next turn: the opening first, then what its rule says.

    Raises:
        NegotiationError: the opening has no samples, or the Scientist follows no rule.
    """
    if state.plan is None and setup.opening is not None and not state.history:
        return opening_turn(setup.opening)
    if setup.scientist not in AUTOMATIC:
        raise NegotiationError(
            f"the Scientist is played by a {setup.scientist}, who follows no rule; hand in a turn"
        )
    return _PLAYERS[setup.scientist](state, scenario)


def opening_turn(plan: Protocol) -> Turn:
    """Return the turn that proposes a plan.

    Raises:
        NegotiationError: the plan has no samples.
    """
    if plan.sample_size < 1:
        raise NegotiationError(
            "the plan has a sample size of 0; a proposal needs at least 1 sample"
        )
    action = plan_action(ScientistActionType.PROPOSE_PROTOCOL, plan)
    return Turn(action=action, reason="The opening plan, as it was given.")


def baseline_turn(state: State, scenario: Pack) -> Turn:
    """Return what the document's baseline does, and the rule that it follows."""
    action = build_baseline_scientist_action(observe(state, scenario))
    return Turn(action=action, reason=_baseline_rule(action, state))


def _baseline_rule(action: ScientistAction, state: State) -> str:
    if action.action_type is ScientistActionType.PROPOSE_PROTOCOL:
        return "Its own opening: the default plan of the paper's field."
    if action.action_type is ScientistActionType.REVISE_PROTOCOL:
        return (
            "The last answer names something that stands in the way, so it halves the sample and "
            "takes a day off."
        )
    if state.round_number >= max(1, state.max_rounds - 1):
        return "It is the last round, so it accepts."
    return "The last answer names nothing that stands in the way, so it accepts."


_PLAYERS: Final[dict[ScientistKind, Player]] = {
    ScientistKind.BASELINE: baseline_turn,
    ScientistKind.EVIDENCE_AWARE: evidence_aware_turn,
}
