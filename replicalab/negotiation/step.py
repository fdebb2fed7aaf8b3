"""One round: the Scientist acts, the Lab Manager answers. A pure step from state to state.

``accept`` takes the Lab Manager's standing offer, or the plan on the table when there is none. An
offer stands until the Lab Manager answers the next plan. Source: docs/contract.md, Negotiation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from replicalab.agents.information import answer_questions
from replicalab.agents.lab_manager_policy import compose_lab_manager_response
from replicalab.agents.suggestions import Offer
from replicalab.assessment import Assessment, assess
from replicalab.errors import NegotiationError
from replicalab.lexicon import count_text
from replicalab.models import (
    LAB_DIMENSIONS,
    ConversationEntry,
    LabManagerAction,
    LabManagerActionType,
    Role,
    ScientistAction,
    ScientistActionType,
)
from replicalab.negotiation.asking import ModelAnswer, hear
from replicalab.negotiation.records import (
    By,
    Ending,
    LabManagerKind,
    Round,
    Setup,
    State,
    Turn,
)
from replicalab.planner import Options, least_loss_offer
from replicalab.scenarios import Pack

BY_HAND: Final = "A plan put forward by hand."
"""The reason of the turn in which a negotiation was forked."""
FOR_THE_MODEL: Final = "A person acted for the model in this round."
"""The reason of a turn that a person took after a model gave no valid action."""


def _least_loss(options: Options) -> Offer | None:
    return None if options.yours.feasible else least_loss_offer(options.yours, options.least)


LAB_MANAGERS: Final[dict[LabManagerKind, Callable[[Options], Offer | None]]] = {
    LabManagerKind.REFERENCE: lambda options: options.offer,
    LabManagerKind.LEAST_LOSS: _least_loss,
}
"""How each Lab Manager looks for another plan."""


def step(
    state: State,
    turn: Turn,
    pack: Pack,
    lab_manager: LabManagerKind,
    *,
    before: Round | Setup,
    reason: str = "",
) -> Round:
    """Return the round that a turn makes; where it leads is its ``after``.

    Args:
        state: before the round.
        turn: the Scientist's.
        pack: the study in its lab.
        lab_manager: who answers.
        before: the round before, or the setup.
        reason: why the Scientist does so, where a rule says it.

    Raises:
        NegotiationError: the negotiation has already ended.
    """
    if state.ending is not None:
        raise NegotiationError(
            f"round {state.round_number + 1}: the negotiation has ended, {state.ending}; fork it "
            "at a round that was played"
        )
    heard = hear(turn.outputs, state, pack)
    reason = reason or _reason(turn, heard)
    options = _on_the_table(state, turn.action, pack)
    offer = _offer(turn.action, options, lab_manager)
    answer = _answer(turn.action, options, offer, pack)
    plan = options.yours if options else None
    after = State(
        round_number=state.round_number + 1,
        max_rounds=state.max_rounds,
        history=(*state.history, *_entries(state.round_number, turn.action, answer, reason)),
        options=options,
        offer=_standing(state, turn.action, answer, offer),
        ending=_ending(state, turn.action, answer, plan),
    )
    return Round(
        number=state.round_number,
        turn=turn,
        reason=reason,
        attempts=heard.attempts,
        plan=plan,
        offer=offer,
        answer=answer,
        after=after,
        before=before,
    )


# --- the Scientist's turn -------------------------------------------------------------------


def _reason(turn: Turn, heard: ModelAnswer) -> str:
    """Return why the Scientist does so where no rule says it; empty where a person gave none."""
    if turn.by is By.FORK:
        return BY_HAND
    if turn.by is By.PERSON:
        return FOR_THE_MODEL if turn.outputs else ""
    if turn.by is By.RULE:
        return ""
    tried = len(heard.attempts)
    if turn.action is None:
        return heard.failure or ""
    if tried == 1:
        return "The model's own choice, valid at the first attempt."
    return f"The model's own choice, valid at attempt {tried} after {tried - 1} corrected."


def _on_the_table(state: State, action: ScientistAction | None, pack: Pack) -> Options | None:
    """Return the plan on the table after a turn; one that is judged already is not judged again."""
    if action is None or action.action_type is ScientistActionType.REQUEST_INFO:
        return state.options
    plan = action.protocol
    if state.offer is not None and (plan is None or plan == state.offer.plan):
        return Options(state.offer)
    if plan is None or (state.plan is not None and plan == state.plan.plan):
        return state.options
    return Options(assess(plan, pack))


# --- the Lab Manager's answer ---------------------------------------------------------------


def _offer(
    action: ScientistAction | None, options: Options | None, lab_manager: LabManagerKind
) -> Offer | None:
    if options is None or action is None or asks_only(action):
        return None
    return LAB_MANAGERS[lab_manager](options)


def asks_only(action: ScientistAction) -> bool:
    """Return whether an action only asks."""
    return action.action_type is ScientistActionType.REQUEST_INFO


def _answer(
    action: ScientistAction | None, options: Options | None, offer: Offer | None, pack: Pack
) -> LabManagerAction | None:
    if action is None:
        return None
    plan = options.yours if options else None
    if asks_only(action):
        return _report(answer_questions(action.questions, pack), plan)
    if plan is None:
        return _report("There is no plan to accept yet; propose one.", None)
    return compose_lab_manager_response(plan.check, offer.suggestion if offer else None)


def _report(explanation: str, plan: Assessment | None) -> LabManagerAction:
    """Return a report on the plan on the table; with no plan nothing fails yet."""
    flags = {f"{d}_ok": plan is None or plan.check.check(d).ok for d in LAB_DIMENSIONS}
    return LabManagerAction(
        action_type=LabManagerActionType.REPORT_FEASIBILITY,
        feasible=all(flags.values()),
        **flags,
        suggested_technique="",
        suggested_sample_size=0,
        suggested_controls=[],
        explanation=explanation,
    )


# --- where it leads -------------------------------------------------------------------------


def _standing(
    state: State,
    action: ScientistAction | None,
    answer: LabManagerAction | None,
    offer: Offer | None,
) -> Assessment | None:
    """Return the offer that stands after the round."""
    if action is None or asks_only(action):
        return state.offer
    suggests = answer and answer.action_type is LabManagerActionType.SUGGEST_ALTERNATIVE
    return offer.after if offer and suggests else None


def _ending(
    state: State,
    action: ScientistAction | None,
    answer: LabManagerAction | None,
    plan: Assessment | None,
) -> Ending | None:
    if action is None:
        return Ending.WALKED_AWAY
    if action.action_type is ScientistActionType.ACCEPT and plan is not None:
        return Ending.SCIENTIST_ACCEPTED
    if answer and answer.action_type is LabManagerActionType.ACCEPT:
        return Ending.LAB_MANAGER_ACCEPTED
    return Ending.OUT_OF_ROUNDS if state.is_last else None


def _entries(
    number: int, action: ScientistAction | None, answer: LabManagerAction | None, reason: str
) -> Iterator[ConversationEntry]:
    yield ConversationEntry(
        role=Role.SCIENTIST if action else Role.SYSTEM,
        message=_said(action, reason),
        round_number=number,
        action_type=action.action_type.value if action else None,
    )
    if answer is not None:
        yield ConversationEntry(
            role=Role.LAB_MANAGER,
            message=answer.explanation,
            round_number=number,
            action_type=answer.action_type.value,
        )


def _said(action: ScientistAction | None, reason: str) -> str:
    """Return a turn of the Scientist as a line of conversation."""
    if action is None:
        return f"The Scientist walks away. {reason}".rstrip()
    if action.action_type is ScientistActionType.ACCEPT:
        return "I accept."
    if asks_only(action):
        return " ".join(action.questions)
    lists = (
        ("controls", action.controls),
        ("equipment", action.required_equipment),
        ("reagents", action.required_reagents),
    )
    parts = [f"{name}: {', '.join(labels) or 'none'}" for name, labels in lists]
    return (
        f"{count_text(action.sample_size, 'sample')} in "
        f"{count_text(action.duration_days, 'day')}, {action.technique}; "
        f"{'; '.join(parts)}. {action.rationale}"
    )
