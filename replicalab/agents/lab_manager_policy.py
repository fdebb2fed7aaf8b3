"""The Lab Manager: it checks a plan, looks for a better one, and answers in words.

No model is called here; the same plan in the same lab always gets the same answer. The fixes
stand in `suggestions`; every name that the document gives this module can be imported from it.
Source: docs/contract.md, Lab Manager.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from pydantic import TypeAdapter

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
from replicalab.lexicon import count_text, lines_text
from replicalab.models import (
    DIMENSIONS,
    FIELD_LABELS,
    LAB_DIMENSIONS,
    LabManagerAction,
    LabManagerActionType,
    NonEmptyText,
    Protocol,
)
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

ExplanationRenderer = Callable[
    [LabManagerActionType, FeasibilityCheckResult, AlternativeSuggestion | None], str
]
_EXPLANATION: Final = TypeAdapter[str](NonEmptyText)
_OPENINGS: Final = {
    LabManagerActionType.REPORT_FEASIBILITY: "The lab can run this plan, but I do not approve it:",
    LabManagerActionType.SUGGEST_ALTERNATIVE: "The lab cannot run this plan as it stands:",
    LabManagerActionType.REJECT: "I reject this plan:",
}


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
    explanation = _explanation(action_type, check_result, suggestion)
    if explanation_renderer is not None:
        with suppress(Exception):  # a foreign renderer may fail in any way
            text = explanation_renderer(action_type, check_result, suggestion)
            explanation = _EXPLANATION.validate_python(text, strict=True)
    suggests = action_type is LabManagerActionType.SUGGEST_ALTERNATIVE
    offer = suggestion.revised_protocol if suggestion and suggests else None
    return LabManagerAction(
        action_type=action_type,
        feasible=check_result.lab_feasible,
        **{f"{dimension}_ok": check_result.check(dimension).ok for dimension in LAB_DIMENSIONS},
        suggested_technique=offer.technique if offer else "",
        suggested_sample_size=offer.sample_size if offer else 0,
        suggested_controls=offer.controls if offer else [],
        explanation=explanation,
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
    check: FeasibilityCheckResult,
    suggestion: AlternativeSuggestion | None,
) -> str:
    """Return the verdict, each failing reason, and what changes would do, if any are known."""
    if action_type is LabManagerActionType.ACCEPT:
        return f"I accept: all seven dimensions pass. The plan {_need(check)}."
    lines = [_OPENINGS[action_type]]
    lines += [f"- {name}: {why}" for name in DIMENSIONS for why in check.check(name).reasons]
    if action_type is LabManagerActionType.REPORT_FEASIBILITY:
        return lines_text(lines)
    if suggestion is None or not suggestion.applied_changes:
        return lines_text([*lines, "I see no change that would help."])
    rejects = action_type is LabManagerActionType.REJECT
    lines.append("These changes alone are not enough:" if rejects else "I offer instead:")
    lines += [
        f"- {FIELD_LABELS[change.field].lower()}: {change.original} → {change.revised}. "
        f"{change.reason} What is lost: {change.tradeoff}"
        for change in suggestion.applied_changes
    ]
    outcome = f"still failing: {', '.join(suggestion.remaining_failures)}."
    if suggestion.post_check.feasible:
        outcome = "all seven dimensions pass."
    plan = f"That plan {_need(suggestion.post_check)}; {outcome}"
    return lines_text([*lines, outcome.capitalize() if rejects else plan])


def _need(check: FeasibilityCheckResult) -> str:
    staff = count_text(check.required_staff, "staff unit")
    return f"costs {count_text(check.estimated_cost, 'credit')} and needs {staff}"
