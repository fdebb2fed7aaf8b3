"""A Scientist that weighs the evidence of every offer, and gives its reason in numbers.

It takes an offer that meets the target. Short of the target it puts the planner's best plan
forward, or takes the offer where nothing in this lab is better. Where no plan of this lab reaches
the floor it asks once for the cheapest relief, and then walks away. Source: the behaviour
contract, section 8.
"""

from __future__ import annotations

from replicalab.agents import check_feasibility
from replicalab.costs import amount_text
from replicalab.evidence import Evidence, planned_evidence
from replicalab.labels import count_text
from replicalab.models import (
    ACCEPT_ACTION,
    Protocol,
    Role,
    ScientistAction,
    ScientistActionType,
    plan_action,
)
from replicalab.negotiation.records import State, Turn
from replicalab.planner import Asks, LeastLoss, asks, asks_text, least_loss, rank
from replicalab.scenarios.models import EvidenceTier, NormalizedScenarioPack


def evidence_aware_turn(state: State, scenario: NormalizedScenarioPack) -> Turn:
    """Return what the evidence-aware Scientist does."""
    if state.plan is None:
        return _opening(scenario)
    if state.offer is not None and _is_good(state.offer, scenario):
        return _take(planned_evidence(state.offer, scenario))
    best = least_loss(state.plan, scenario)
    if best.none_above_floor:
        return _ask_or_leave(state, state.plan, best, scenario)
    return _take_or_counter(state, state.plan, best, scenario)


def _opening(scenario: NormalizedScenarioPack) -> Turn:
    plan = scenario.reference_protocol
    evidence = planned_evidence(plan, scenario)
    return Turn(
        action=plan_action(ScientistActionType.PROPOSE_PROTOCOL, plan),
        reason=f"It opens with the reference protocol: {evidence.text}, {evidence.tier}.",
    )


def _is_good(offer: Protocol, scenario: NormalizedScenarioPack) -> bool:
    """Return whether an offer can run and meets the target."""
    evidence = planned_evidence(offer, scenario)
    feasible = check_feasibility(offer, scenario).feasible
    return feasible and evidence.tier is EvidenceTier.MEETS_TARGET


def _take(evidence: Evidence) -> Turn:
    target = evidence.amount(evidence.target)
    return Turn(
        action=ACCEPT_ACTION,
        reason=f"The offer has {evidence.text}, which meets the target of {target}.",
    )


def _take_or_counter(
    state: State, plan: Protocol, best: LeastLoss, scenario: NormalizedScenarioPack
) -> Turn:
    standing = state.offer or plan
    check = check_feasibility(standing, scenario)
    if rank(standing, check, plan, scenario)[:4] <= best.rank[:4]:
        what = "The offer" if state.offer else "The plan"
        has = _placed(planned_evidence(standing, scenario))
        return Turn(action=ACCEPT_ACTION, reason=f"{what} has {has}; no plan here gives up less.")
    return Turn(
        action=plan_action(ScientistActionType.REVISE_PROTOCOL, best.plan),
        reason=f"{_why_not(state, plan, scenario)} In the same lab {_size(best)} reach "
        f"{_placed(best.price.evidence)}.",
    )


def _why_not(state: State, plan: Protocol, scenario: NormalizedScenarioPack) -> str:
    if state.offer is not None:
        return f"The offer has {_placed(planned_evidence(state.offer, scenario))}."
    failing = ", ".join(check_feasibility(plan, scenario).failing)
    return f"The plan has {_placed(planned_evidence(plan, scenario))}, but fails: {failing}."


def _placed(evidence: Evidence) -> str:
    """Return evidence and where it stands: ``power 0.58, above the floor of 0.50``."""
    target, floor = evidence.amount(evidence.target), evidence.amount(evidence.floor)
    where = {
        EvidenceTier.MEETS_TARGET: f"which meets the target of {target}",
        EvidenceTier.ABOVE_FLOOR: f"short of the target of {target}, above the floor of {floor}",
        EvidenceTier.BELOW_FLOOR: f"below the floor of {floor}",
    }[evidence.tier]
    return f"{evidence.text}, {where}"


def _size(best: LeastLoss) -> str:
    samples = amount_text(best.plan.sample_size)
    noun = "sample" if best.plan.sample_size == 1 else "samples"
    return f"{samples} {noun} in {count_text(best.plan.duration_days, 'day')}"


def _ask_or_leave(
    state: State, plan: Protocol, best: LeastLoss, scenario: NormalizedScenarioPack
) -> Turn:
    found = asks(plan, scenario)
    finding = f"{_proof(best)} {_relief(found)}"
    asked = any(
        entry.role is Role.SCIENTIST and entry.action_type == ScientistActionType.REQUEST_INFO.value
        for entry in state.history
    )
    if asked or state.round_number + 1 >= state.max_rounds:
        return Turn(action=None, reason=finding)
    return Turn(action=_question(found), reason=finding)


def _proof(best: LeastLoss) -> str:
    if best.none_feasible:
        return f"No plan passes in this lab: {', '.join(best.check.failing)} would still fail."
    floor = best.price.evidence.amount(best.price.evidence.floor)
    return (
        f"No plan above the floor of {floor} exists in this lab; the best has "
        f"{best.price.evidence.text}."
    )


def _relief(found: Asks) -> str:
    if found.alone_floor:
        return f"What would open it: {found.alone_floor[0].text}."
    if found.target and found.target.possible:
        return f"To reach the target it would take {asks_text(found.target.asks)}."
    if found.run.possible and found.run.asks:
        return f"To run the plan as it is would take {asks_text(found.run.asks)}."
    return "Nothing that the lab could add would change that."


def _question(found: Asks) -> ScientistAction:
    if found.alone_floor:
        wanted = found.alone_floor[0].text
    else:
        relief = found.target if found.target and found.target.possible else found.run
        wanted = asks_text(relief.asks) or "anything at all"
    empty = {**ACCEPT_ACTION.model_dump(), "action_type": ScientistActionType.REQUEST_INFO}
    return ScientistAction.model_validate({**empty, "questions": [f"Could the lab give {wanted}?"]})
