"""The Lab Manager: it checks a plan, looks for a better one, and answers.

No model is called here; the same plan in the same lab always gets the same answer. The fixes
stand in `suggestions`, the words of the answer in `explanations`; every name that the document
gives this module can be imported from it. Source: docs/contract.md, Lab Manager.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from pydantic import TypeAdapter

from replicalab.agents.explanations import built_in_explanation
from replicalab.agents.suggestions import (
    AlternativeSuggestion,
    SuggestionChange,
    suggest_alternative,
)
from replicalab.assessment import DimensionCheck, FeasibilityCheckResult, assess
from replicalab.assessment.dimensions import (
    _build_protocol_check,
    _check_budget,
    _check_equipment,
    _check_policy,
    _check_reagents,
    _check_schedule,
    _check_staff,
)
from replicalab.models import LabManagerAction, LabManagerActionType, NonEmptyText, Protocol
from replicalab.scenarios import Pack

__all__ = [
    "AlternativeSuggestion",
    "DimensionCheck",
    "ExplanationRenderer",
    "FeasibilityCheckResult",
    "SuggestionChange",
    "_build_protocol_check",
    "_check_budget",
    "_check_equipment",
    "_check_policy",
    "_check_reagents",
    "_check_schedule",
    "_check_staff",
    "check_feasibility",
    "compose_lab_manager_response",
    "suggest_alternative",
]

_EXPLANATION: Final = TypeAdapter[str](NonEmptyText)

ExplanationRenderer = Callable[
    [LabManagerActionType, FeasibilityCheckResult, AlternativeSuggestion | None], str
]


def check_feasibility(protocol: Protocol, scenario: Pack) -> FeasibilityCheckResult:
    """Return the seven checks of a plan in a lab; neither is changed, nothing is raised."""
    return assess(protocol, scenario).check


def _estimate_protocol_cost(protocol: Protocol, scenario: Pack) -> float:
    """Return what a plan costs in a lab, in credits: the document's name of `Assessment.cost`."""
    return assess(protocol, scenario).cost


def _estimate_staff_load(protocol: Protocol, scenario: Pack) -> int:
    """Return how many staff units a plan needs: the document's name of `Assessment.staff`."""
    return assess(protocol, scenario).staff


def compose_lab_manager_response(
    check_result: FeasibilityCheckResult,
    suggestion: AlternativeSuggestion | None = None,
    explanation_renderer: ExplanationRenderer | None = None,
) -> LabManagerAction:
    """Return the Lab Manager's answer; a renderer may reword it but never moves the verdict.

    A renderer that raises, or returns anything but a non-blank string, falls back to the
    built-in explanation.
    """
    action_type = _select_lab_manager_action_type(check_result, suggestion)
    offer = None
    if action_type is LabManagerActionType.SUGGEST_ALTERNATIVE and suggestion is not None:
        offer = suggestion.revised_protocol
    return LabManagerAction(
        action_type=action_type,
        feasible=check_result.lab_feasible,
        budget_ok=check_result.budget_ok,
        equipment_ok=check_result.equipment_ok,
        reagents_ok=check_result.reagents_ok,
        schedule_ok=check_result.schedule_ok,
        staff_ok=check_result.staff_ok,
        suggested_technique=offer.technique if offer else "",
        suggested_sample_size=offer.sample_size if offer else 0,
        suggested_controls=offer.controls if offer else [],
        explanation=_explanation(action_type, check_result, suggestion, explanation_renderer),
    )


def _select_lab_manager_action_type(
    check_result: FeasibilityCheckResult, suggestion: AlternativeSuggestion | None
) -> LabManagerActionType:
    """Return what the Lab Manager answers to a checked plan."""
    if check_result.feasible:
        return LabManagerActionType.ACCEPT
    if check_result.lab_feasible:
        return LabManagerActionType.REPORT_FEASIBILITY
    if suggestion and suggestion.improved and suggestion.post_check.lab_feasible:
        return LabManagerActionType.SUGGEST_ALTERNATIVE
    return LabManagerActionType.REJECT


answer_type = _select_lab_manager_action_type
"""The same for other rooms, which call no private name."""


def _explanation(
    action_type: LabManagerActionType,
    check_result: FeasibilityCheckResult,
    suggestion: AlternativeSuggestion | None,
    renderer: ExplanationRenderer | None,
) -> str:
    if renderer is not None:
        with suppress(Exception):  # a foreign renderer may fail in any way
            text = renderer(action_type, check_result, suggestion)
            return _EXPLANATION.validate_python(text, strict=True)
    return built_in_explanation(action_type, check_result, suggestion)
