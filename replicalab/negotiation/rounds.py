"""The negotiation itself: a pure step from state to state, and its outcome.

One round = the Scientist acts, the Lab Manager answers. ``accept`` takes the Lab Manager's
standing offer, or the plan on the table when there is none. An offer stands until the Lab Manager
answers the next plan. Same inputs, equal trace. Source: the behaviour contract, section 8.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from replicalab.agents.information import answer_questions
from replicalab.agents.lab_manager_policy import (
    AlternativeSuggestion,
    FeasibilityCheckResult,
    check_feasibility,
    compose_lab_manager_response,
    suggest_alternative,
)
from replicalab.errors import NegotiationError
from replicalab.evidence import planned_evidence
from replicalab.models import (
    ConversationEntry,
    LabManagerAction,
    LabManagerActionType,
    Protocol,
    Role,
    ScientistAction,
    ScientistActionType,
    ScientistObservation,
)
from replicalab.negotiation.recording import Attempt
from replicalab.negotiation.records import (
    Ending,
    LabManagerKind,
    Outcome,
    Round,
    ScientistKind,
    Setup,
    State,
    Turn,
)
from replicalab.negotiation.wording import scientist_message
from replicalab.planner import suggest_least_loss
from replicalab.scenarios import MAX_ROUNDS, EvidenceTier, Pack, PackKey

SuggestionPolicy = Callable[[Protocol, FeasibilityCheckResult, Pack], AlternativeSuggestion | None]
"""How a Lab Manager looks for another plan."""

LAB_MANAGERS: Final[dict[LabManagerKind, SuggestionPolicy]] = {
    LabManagerKind.REFERENCE: suggest_alternative,
    LabManagerKind.LEAST_LOSS: suggest_least_loss,
}


def setup_for(
    scenario: Pack,
    opening: Protocol | None = None,
    max_rounds: int = MAX_ROUNDS,
    scientist: ScientistKind = ScientistKind.BASELINE,
    lab_manager: LabManagerKind = LabManagerKind.REFERENCE,
) -> Setup:
    """Return the setup of a negotiation in this lab.

    Args:
        scenario: the study in its lab.
        opening: the plan that the Scientist proposes first; None lets it choose its own.
        max_rounds: 1 to 50.
        scientist: who plays the Scientist.
        lab_manager: who plays the Lab Manager.
    """
    return Setup(
        scenario_id=scenario.scenario_id,
        difficulty=scenario.difficulty,
        seed=scenario.seed,
        scientist=scientist,
        lab_manager=lab_manager,
        max_rounds=max_rounds,
        opening=opening,
    )


def start(setup: Setup) -> State:
    """Return the state before the first round."""
    return State(round_number=0, max_rounds=setup.max_rounds, history=[])


def observe(state: State, scenario: Pack) -> ScientistObservation:
    """Return what the Scientist sees before it acts."""
    return scenario.scientist_observation.model_copy(
        update={
            "conversation_history": list(state.history),
            "current_protocol": state.plan,
            "round_number": state.round_number,
            "max_rounds": state.max_rounds,
            "suggested_protocol": state.offer,
        }
    )


def step(
    state: State,
    action: ScientistAction | None,
    scenario: Pack,
    lab_manager: LabManagerKind = LabManagerKind.REFERENCE,
    *,
    reason: str = "",
    attempts: tuple[Attempt, ...] = (),
) -> tuple[State, Round]:
    """Return the state after a round, and the round.

    Args:
        state: before the round.
        action: the Scientist's; None walks away.
        scenario: the study in its lab.
        lab_manager: who answers.
        reason: why the Scientist does so.
        attempts: how a language model came to it.

    Raises:
        NegotiationError: the negotiation has already ended.
    """
    if state.ending is not None:
        raise NegotiationError(
            f"round {state.round_number + 1}: the negotiation has ended, {state.ending}; fork it "
            "at a round that was played"
        )
    plan = _plan_after(state, action)
    turn = Turn(action=action, reason=reason, attempts=attempts)
    done = _answer(state.round_number, plan, turn, scenario, lab_manager)
    return _state_after(state, done), done


def _plan_after(state: State, action: ScientistAction | None) -> Protocol | None:
    if action is None:
        return state.plan
    if action.action_type is ScientistActionType.ACCEPT:
        return state.offer or state.plan
    return action.protocol or state.plan


def _answer(
    number: int,
    plan: Protocol | None,
    turn: Turn,
    scenario: Pack,
    lab_manager: LabManagerKind,
) -> Round:
    action = turn.action
    check = check_feasibility(plan, scenario) if plan else None
    suggestion = LAB_MANAGERS[lab_manager](plan, check, scenario) if plan and check else None
    answer = None
    if action is not None:
        said = _information(action, plan, scenario)
        if said is not None:
            answer = _report(said, check)
        elif check is not None:
            answer = compose_lab_manager_response(check, suggestion)
    return Round(
        number=number,
        scientist_action=action,
        lab_manager_action=answer,
        plan=plan,
        check=check,
        suggestion=suggestion,
        reason=turn.reason,
        attempts=turn.attempts,
    )


def _information(action: ScientistAction, plan: Protocol | None, scenario: Pack) -> str | None:
    """Return what to say to a turn that puts no plan forward, None for one that does."""
    if action.action_type is ScientistActionType.REQUEST_INFO:
        return answer_questions(action.questions, scenario)
    if plan is None:
        return "There is no plan to accept yet; propose one."
    return None


def _report(explanation: str, check: FeasibilityCheckResult | None) -> LabManagerAction:
    """Return a report on the plan on the table; with no plan nothing fails yet."""
    return LabManagerAction(
        action_type=LabManagerActionType.REPORT_FEASIBILITY,
        feasible=check.lab_feasible if check else True,
        budget_ok=check.budget_ok if check else True,
        equipment_ok=check.equipment_ok if check else True,
        reagents_ok=check.reagents_ok if check else True,
        schedule_ok=check.schedule_ok if check else True,
        staff_ok=check.staff_ok if check else True,
        suggested_technique="",
        suggested_sample_size=0,
        suggested_controls=[],
        explanation=explanation,
    )


def _state_after(state: State, done: Round) -> State:
    return State(
        round_number=state.round_number + 1,
        max_rounds=state.max_rounds,
        history=[*state.history, *_entries(done)],
        plan=done.plan,
        offer=_offer_after(state, done),
        ending=_ending(state, done),
    )


def _offer_after(state: State, done: Round) -> Protocol | None:
    action, answer = done.scientist_action, done.lab_manager_action
    if action is None or action.action_type is ScientistActionType.REQUEST_INFO:
        return state.offer
    if answer and answer.action_type is LabManagerActionType.SUGGEST_ALTERNATIVE:
        return done.suggestion.revised_protocol if done.suggestion else None
    return None


def _ending(state: State, done: Round) -> Ending | None:
    action, answer = done.scientist_action, done.lab_manager_action
    if action is None:
        return Ending.WALKED_AWAY
    if action.action_type is ScientistActionType.ACCEPT and done.plan is not None:
        return Ending.SCIENTIST_ACCEPTED
    if answer and answer.action_type is LabManagerActionType.ACCEPT:
        return Ending.LAB_MANAGER_ACCEPTED
    return Ending.OUT_OF_ROUNDS if state.round_number + 1 >= state.max_rounds else None


def _entries(done: Round) -> list[ConversationEntry]:
    action, answer = done.scientist_action, done.lab_manager_action
    entries = [
        ConversationEntry(
            role=Role.SCIENTIST if action else Role.SYSTEM,
            message=scientist_message(action, done.reason),
            round_number=done.number,
            action_type=action.action_type.value if action else None,
        )
    ]
    if answer is not None:
        entries.append(
            ConversationEntry(
                role=Role.LAB_MANAGER,
                message=answer.explanation,
                round_number=done.number,
                action_type=answer.action_type.value,
            )
        )
    return entries


def outcome_of(ending: Ending, last: Round, scenario: Pack) -> Outcome:
    """Return how a negotiation that ended so, with that last round, is to be called."""
    accepted = ending in (Ending.SCIENTIST_ACCEPTED, Ending.LAB_MANAGER_ACCEPTED)
    if not accepted or last.plan is None or last.check is None:
        return Outcome.NO_DEAL
    if not last.check.feasible:
        return Outcome.FALSE_AGREEMENT
    tier = planned_evidence(last.plan, scenario).tier
    return Outcome.AGREED_BELOW_FLOOR if tier is EvidenceTier.BELOW_FLOOR else Outcome.AGREED


def scenario_digest(scenario: Pack) -> str:
    """Return a fingerprint of the study in its lab: equal packs, equal digest."""
    return _digest(scenario.key)


@lru_cache(maxsize=512)
def _digest(key: PackKey) -> str:
    return hashlib.sha256(key.pack.model_dump_json().encode()).hexdigest()[:16]
