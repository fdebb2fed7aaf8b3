"""The Lab Manager's answer in words, built from the checks and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from replicalab.lexicon import amount_text, count_text
from replicalab.models import DIMENSIONS, FIELD_LABELS, LabManagerActionType

if TYPE_CHECKING:
    from replicalab.agents.suggestions import AlternativeSuggestion
    from replicalab.assessment import FeasibilityCheckResult


def built_in_explanation(
    action_type: LabManagerActionType,
    check: FeasibilityCheckResult,
    suggestion: AlternativeSuggestion | None,
) -> str:
    """Return the explanation: the verdict, each failing reason, and the offer if there is one."""
    if action_type is LabManagerActionType.ACCEPT:
        return f"I accept: all seven dimensions pass. The plan {_need(check)}."
    lines = [_opening(action_type), *_reasons(check)]
    if action_type is LabManagerActionType.SUGGEST_ALTERNATIVE and suggestion is not None:
        lines += ["I offer instead:", *_changes(suggestion), _after(suggestion)]
    elif action_type is LabManagerActionType.REJECT:
        lines += _partial(suggestion)
    return "\n".join(lines)


def _opening(action_type: LabManagerActionType) -> str:
    return {
        LabManagerActionType.REPORT_FEASIBILITY: (
            "The lab can run this plan, but I do not approve it:"
        ),
        LabManagerActionType.SUGGEST_ALTERNATIVE: "The lab cannot run this plan as it stands:",
        LabManagerActionType.REJECT: "I reject this plan:",
    }[action_type]


def _need(check: FeasibilityCheckResult) -> str:
    staff = count_text(check.required_staff, "staff unit")
    return f"costs {amount_text(check.estimated_cost)} credits and needs {staff}"


def _reasons(check: FeasibilityCheckResult) -> list[str]:
    return [
        f"- {dimension}: {reason}"
        for dimension in DIMENSIONS
        for reason in check.check(dimension).reasons
    ]


def _changes(suggestion: AlternativeSuggestion) -> list[str]:
    return [
        f"- {FIELD_LABELS[change.field].lower()}: {change.original} → {change.revised}. "
        f"{change.reason} What is lost: {change.tradeoff}"
        for change in suggestion.applied_changes
    ]


def _after(suggestion: AlternativeSuggestion) -> str:
    check = suggestion.post_check
    if check.feasible:
        return f"That plan {_need(check)}; all seven dimensions pass."
    return f"That plan {_need(check)}; {_still_failing(suggestion)}"


def _still_failing(suggestion: AlternativeSuggestion) -> str:
    return f"still failing: {', '.join(suggestion.remaining_failures)}."


def _partial(suggestion: AlternativeSuggestion | None) -> list[str]:
    if suggestion is None or not suggestion.applied_changes:
        return ["I see no change that would help."]
    return [
        "These changes alone are not enough:",
        *_changes(suggestion),
        _still_failing(suggestion).capitalize(),
    ]
