"""Who plays the Scientist by rule: the document's baseline, and one that weighs the evidence.

Asked again in the same state, a rule acts in the same way and gives the same reason. A person, or
a language model, chooses outside of this package and hands its turn in. Source: docs/contract.md,
Negotiation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from replicalab.agents.scientist_policy import build_baseline_scientist_action
from replicalab.assessment import assess, failing_text, placed_text, size_text
from replicalab.errors import NegotiationError
from replicalab.lexicon import capitalised
from replicalab.models import (
    ACCEPT_ACTION,
    Protocol,
    Role,
    ScientistAction,
    ScientistActionType,
    plan_action,
)
from replicalab.negotiation.asking import observe
from replicalab.negotiation.prospects import (
    Prospect,
    none_exists_text,
    prospect,
    question,
    relief_for,
)
from replicalab.negotiation.records import AUTOMATIC, ScientistKind, Setup, State
from replicalab.planner import Rank, rank
from replicalab.scenarios import EvidenceTier, Pack


class Choice(NamedTuple):
    """What a rule lets the Scientist do, None for walking away, and why, in numbers."""

    action: ScientistAction | None
    reason: str


def follows_a_rule(setup: Setup, state: State) -> bool:
    """Return whether a rule chooses the next turn: the opening that was given, or a player's."""
    return _opens(setup, state) or setup.scientist in AUTOMATIC


def choose(setup: Setup, state: State, pack: Pack) -> Choice:
    """Return the Scientist's next turn: the opening first, then what its rule says.

    Raises:
        NegotiationError: the opening has no samples, or the Scientist follows no rule.
    """
    if setup.opening is not None and _opens(setup, state):
        return Choice(propose(setup.opening), "The opening plan, as it was given.")
    if setup.scientist not in AUTOMATIC:
        raise NegotiationError(
            f"the Scientist is played by a {setup.scientist}, who follows no rule; hand in a turn"
        )
    return _PLAYERS[setup.scientist](state, pack)


def _opens(setup: Setup, state: State) -> bool:
    return setup.opening is not None and state.round_number == 0


def propose(plan: Protocol) -> ScientistAction:
    """Return the proposal of a plan.

    Raises:
        NegotiationError: the plan has no samples.
    """
    if plan.sample_size < 1:
        raise NegotiationError(
            "the plan has a sample size of 0; a proposal needs at least 1 sample"
        )
    return plan_action(ScientistActionType.PROPOSE_PROTOCOL, plan)


def _baseline(state: State, pack: Pack) -> Choice:
    """Return what the document's baseline does, and the rule that it follows."""
    action = build_baseline_scientist_action(observe(state, pack))
    if action.action_type is ScientistActionType.PROPOSE_PROTOCOL:
        reason = "Its own opening: the default plan of the paper's field."
    elif action.action_type is ScientistActionType.REVISE_PROTOCOL:
        reason = (
            "The last answer names something that stands in the way, so it halves the sample and "
            "takes a day off."
        )
    elif state.round_number and state.is_last:
        reason = "It is the last round, so it accepts."
    else:
        reason = "The last answer names nothing that stands in the way, so it accepts."
    return Choice(action, reason)


# --- the one that weighs the evidence -------------------------------------------------------


def _evidence_aware(state: State, pack: Pack) -> Choice:
    """Return what the evidence-aware Scientist does.

    It takes an offer that meets the target. Short of the target it puts the planner's best plan
    forward, or takes the offer where nothing in this lab is better. Where no plan of this lab
    reaches the floor it asks once for the cheapest relief, and then walks away. The planner's best
    passes all seven dimensions, so the Lab Manager accepts it: after its opening it acts at most
    three times.
    """
    if state.plan is None and not state.is_last and not _has_asked(state):
        reference = assess(pack.reference_protocol, pack)
        if reference.evidence.tier is not EvidenceTier.BELOW_FLOOR:
            placed = placed_text(reference.evidence)
            reason = f"It opens with the reference protocol: {placed}."
            return Choice(propose(reference.plan), reason)
    offer = state.offer
    if offer and offer.feasible and offer.evidence.tier is EvidenceTier.MEETS_TARGET:
        return Choice(ACCEPT_ACTION, f"The offer has {placed_text(offer.evidence)}.")
    found = prospect(state.options, pack)
    if not found.exists:
        return _ask_or_leave(state, found)
    return _take_or_counter(state, found)


def _has_asked(state: State) -> bool:
    asking = ScientistActionType.REQUEST_INFO.value
    return any(e.role is Role.SCIENTIST and e.action_type == asking for e in state.history)


def _take_or_counter(state: State, found: Prospect) -> Choice:
    """Return the acceptance of what stands where nothing is better, else the planner's best."""
    best, plan = found.best, state.plan
    size, reaches = size_text(best.plan), placed_text(best.after.evidence)
    if plan is None:
        text = f"It opens with the best that this lab can run of the reference protocol: {size}"
        return Choice(propose(best.plan), f"{text}, {reaches}.")
    standing = state.offer or plan
    stands = rank(standing, plan.plan)
    has = f"{'The offer' if state.offer else 'The plan'} has {placed_text(standing.evidence)}"
    if stands.given_up <= best.rank.given_up:
        exact = "no plan with this method" if best.exact else "no plan that was found"
        return Choice(ACCEPT_ACTION, f"{has}; {exact} gives up less in this lab.")
    if standing.failing:
        has = f"{has}, but {failing_text(standing.failing)}"
    return Choice(
        plan_action(ScientistActionType.REVISE_PROTOCOL, best.plan),
        f"{has}{_loss(stands, best.rank)}. In the same lab a plan of {size} reaches "
        f"{reaches}{_loss(best.rank, stands)}.",
    )


def _loss(mine: Rank, other: Rank) -> str:
    """Return the fidelity given up, where that is a difference between the two plans."""
    return "" if mine.loss == other.loss else f", at a fidelity loss of {mine.loss}"


def _ask_or_leave(state: State, found: Prospect) -> Choice:
    """Return the one question for relief, or the end: answered, too late, or nothing to ask for."""
    relief = relief_for(found.options)
    finding = f"{capitalised(none_exists_text(found.best))}. {relief.text}"
    if _has_asked(state):
        return Choice(None, f"The lab adds nothing to what it has. {finding}")
    if state.is_last or not relief.asks:
        return Choice(None, finding)
    return Choice(question(relief.asks), finding)


_PLAYERS: Final[dict[ScientistKind, Callable[[State, Pack], Choice]]] = {
    ScientistKind.BASELINE: _baseline,
    ScientistKind.EVIDENCE_AWARE: _evidence_aware,
}
