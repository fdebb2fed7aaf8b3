"""A Scientist that weighs the evidence of every offer, and gives its reason in numbers.

It takes an offer that meets the target. Short of the target it puts the planner's best plan
forward, or takes the offer where nothing in this lab is better. Where no plan of this lab reaches
the floor it asks once for the cheapest relief, and then walks away. The planner's best passes all
seven dimensions, so the Lab Manager accepts it: after its opening it acts at most three times.
Source: the behaviour contract, section 8.
"""

from __future__ import annotations

from replicalab.agents import check_feasibility
from replicalab.evidence import Evidence, planned_evidence
from replicalab.models import (
    ACCEPT_ACTION,
    Protocol,
    Role,
    ScientistActionType,
    plan_action,
)
from replicalab.negotiation.prospects import Prospect, none_exists_text, prospect
from replicalab.negotiation.records import State, Turn
from replicalab.negotiation.reliefs import question, relief_for
from replicalab.negotiation.wording import fails_text, placed_text, size_text
from replicalab.planner import Rank, rank
from replicalab.scenarios import EvidenceTier, Pack


def evidence_aware_turn(state: State, scenario: Pack) -> Turn:
    """Return what the evidence-aware Scientist does."""
    if state.plan is None and not _is_last(state):
        evidence = planned_evidence(scenario.reference_protocol, scenario)
        if evidence.tier is not EvidenceTier.BELOW_FLOOR and not _has_asked(state):
            return _reference_opening(evidence, scenario)
    if state.offer is not None and _is_good(state.offer, scenario):
        evidence = planned_evidence(state.offer, scenario)
        return Turn(action=ACCEPT_ACTION, reason=f"The offer has {placed_text(evidence)}.")
    found = prospect(state.plan, scenario)
    if not found.exists:
        return _ask_or_leave(state, found, scenario)
    if state.plan is None:
        return _best_opening(found)
    return _take_or_counter(state, state.plan, found, scenario)


def _is_last(state: State) -> bool:
    return state.round_number + 1 >= state.max_rounds


def _has_asked(state: State) -> bool:
    asking = ScientistActionType.REQUEST_INFO.value
    return any(e.role is Role.SCIENTIST and e.action_type == asking for e in state.history)


# --- opening --------------------------------------------------------------------------------


def _reference_opening(evidence: Evidence, scenario: Pack) -> Turn:
    return Turn(
        action=plan_action(ScientistActionType.PROPOSE_PROTOCOL, scenario.reference_protocol),
        reason=f"It opens with the reference protocol: {placed_text(evidence)}.",
    )


def _best_opening(found: Prospect) -> Turn:
    """Return the opening that leaves no room: the best that this lab can run, at once."""
    best = found.best
    return Turn(
        action=plan_action(ScientistActionType.PROPOSE_PROTOCOL, best.plan),
        reason=f"It opens with the best that this lab can run of the reference protocol: "
        f"{size_text(best.plan)}, {placed_text(best.price.evidence)}.",
    )


# --- between floor and target ---------------------------------------------------------------


def _is_good(offer: Protocol, scenario: Pack) -> bool:
    """Return whether an offer can run and meets the target."""
    evidence = planned_evidence(offer, scenario)
    feasible = check_feasibility(offer, scenario).feasible
    return feasible and evidence.tier is EvidenceTier.MEETS_TARGET


def _take_or_counter(state: State, plan: Protocol, found: Prospect, scenario: Pack) -> Turn:
    """Return the acceptance of what stands where nothing is better, else the planner's best."""
    standing = state.offer or plan
    name = "The offer" if state.offer else "The plan"
    check = check_feasibility(standing, scenario)
    stands, best = rank(standing, check, plan, scenario), found.best.rank
    has = f"{name} has {placed_text(planned_evidence(standing, scenario))}"
    if stands[:4] <= best[:4]:
        reason = f"{has}; no plan with this method gives up less in this lab."
        return Turn(action=ACCEPT_ACTION, reason=reason)
    if check.failing:
        has = f"{has}, but {fails_text([dimension.value for dimension in check.failing])}"
    better = placed_text(found.best.price.evidence)
    return Turn(
        action=plan_action(ScientistActionType.REVISE_PROTOCOL, found.best.plan),
        reason=f"{has}{_loss(stands, best)}. In the same lab a plan of "
        f"{size_text(found.best.plan)} reaches {better}{_loss(best, stands)}.",
    )


def _loss(mine: Rank, other: Rank) -> str:
    """Return the fidelity given up, where that is a difference between the two plans."""
    return "" if mine.loss == other.loss else f", at a fidelity loss of {mine.loss}"


# --- below the floor ------------------------------------------------------------------------


def _ask_or_leave(state: State, found: Prospect, scenario: Pack) -> Turn:
    """Return the one question for relief, or the end: answered, too late, or nothing to ask for."""
    proof = none_exists_text(found, scenario)
    proof = f"{proof[0].upper()}{proof[1:]}."
    relief = relief_for(found.base, scenario)
    finding = f"{proof} {relief.text}"
    if _has_asked(state):
        return Turn(action=None, reason=f"The lab adds nothing to what it has. {finding}")
    if _is_last(state) or not relief.asks:
        return Turn(action=None, reason=finding)
    return Turn(action=question(relief.asks), reason=finding)
