"""The four fixes in the document's order, and the plan that they lead to.

Source: the agents map, AGT 06, settled by the behaviour contract, section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from replicalab.agents.feasibility import (
    FeasibilityCheckResult,
    check_feasibility,
    item_status_text,
    needs,
    replacements,
)
from replicalab.costs import Counts, counts_of, credits_needed, staff
from replicalab.lexicon import amount_text, count_text, label_key
from replicalab.models import Flag, NonEmptyText, Protocol, Record, revise, wording_of
from replicalab.scenarios import AllowedSubstitution, Pack

MAX_HALVINGS: Final = 10
DROPPED: Final = "dropped"
"""The revised value of a change that drops a control."""


class SuggestionChange(Record):
    """One change: ``original`` and ``revised`` are the item, or the number, as text."""

    field: NonEmptyText
    original: NonEmptyText
    revised: NonEmptyText
    reason: NonEmptyText
    tradeoff: NonEmptyText


class AlternativeSuggestion(Record):
    """A revised plan, its changes, and the checks before and after."""

    revised_protocol: Protocol
    applied_changes: list[SuggestionChange]
    remaining_failures: list[str]
    improved: Flag
    pre_check: FeasibilityCheckResult
    post_check: FeasibilityCheckResult


def suggest_alternative(
    protocol: Protocol, check_result: FeasibilityCheckResult, scenario: Pack
) -> AlternativeSuggestion | None:
    """Return the plan after the four fixes in the document's order, None if already feasible."""
    if check_result.feasible:
        return None
    changes: list[SuggestionChange] = []
    revised = protocol
    for fix in (_substitutions, _duration_clamp, _sample_reduction):
        found = fix(revised, scenario)
        revised = apply_changes(revised, found)
        changes.extend(found)
    after = check_feasibility(revised, scenario)
    newly_failing = set(after.failing) - set(check_result.failing)
    return AlternativeSuggestion(
        revised_protocol=revised,
        applied_changes=changes,
        remaining_failures=[dimension.value for dimension in after.failing],
        improved=len(after.failing) < len(check_result.failing) and not newly_failing,
        pre_check=check_result,
        post_check=after,
    )


def apply_changes(protocol: Protocol, changes: list[SuggestionChange]) -> Protocol:
    """Return the plan with some of a suggestion's changes applied, in their order.

    A change whose original item is no longer in the plan does nothing.
    """
    fields: dict[str, Any] = {}
    for change in changes:
        if change.field in ("controls", "required_equipment", "required_reagents"):
            items = fields.get(change.field, getattr(protocol, change.field))
            fields[change.field] = _with_item_changed(items, change)
        else:
            fields[change.field] = int(change.revised)
    return revise(protocol, **fields) if fields else protocol


def _with_item_changed(items: list[str], change: SuggestionChange) -> list[str]:
    if change.original not in items:
        return items
    at = items.index(change.original)
    dropped = change.field == "controls" and change.revised == DROPPED
    return [*items[:at], *([] if dropped else [change.revised]), *items[at + 1 :]]


def _substitutions(protocol: Protocol, scenario: Pack) -> list[SuggestionChange]:
    """Fixes 1 and 2: equipment, then reagents."""
    wording = wording_of(protocol)
    listed = {label_key(label) for _, _, label in needs(wording)}
    changes = []
    for field, category, label in needs(wording):
        options = replacements(label, category, scenario)
        alternative = next((each for each in options if label_key(each) not in listed), None)
        if alternative is None:
            continue
        listed.add(label_key(alternative))
        changes.append(substitution(field, category, label, alternative, scenario))
    return changes


def substitution(
    field: str, category: str, label: str, alternative: str, scenario: Pack
) -> SuggestionChange:
    """Return the change that puts an allowed alternative in the place of an item."""
    allowed = _allowed(label, alternative, scenario)
    why = f"'{label}' is {item_status_text(label, category, scenario)}"
    return SuggestionChange(
        field=field,
        original=label,
        revised=alternative,
        reason=f"{why}; allowed {allowed.condition}.",
        tradeoff=_sentence(allowed.tradeoff),
    )


def _allowed(label: str, alternative: str, scenario: Pack) -> AllowedSubstitution:
    return next(
        s
        for s in scenario.allowed_substitutions
        if label_key(s.original) == label_key(label) and s.alternative == alternative
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _duration_clamp(protocol: Protocol, scenario: Pack) -> list[SuggestionChange]:
    """Fix 3: no longer than the lab's limit."""
    days, limit = protocol.duration_days, scenario.lab.days
    if days <= limit:
        return []
    tradeoff = f"{count_text(days - limit, 'day')} fewer to run and to repeat what fails."
    if limit < scenario.min_days:
        tradeoff = f"Below {scenario.min_days} days the study's endpoint is lost."
    return [
        SuggestionChange(
            field="duration_days",
            original=str(days),
            revised=str(limit),
            reason=f"The lab has {count_text(limit, 'day')}.",
            tradeoff=tradeoff,
        )
    ]


def _sample_reduction(protocol: Protocol, scenario: Pack) -> list[SuggestionChange]:
    """Fix 4: halve until the budget fits, and on to where a staff unit is saved."""
    counts = counts_of(protocol)
    fits_budget = _halve(counts, lambda plan: _fits_budget(plan, scenario))
    if fits_budget is None:
        return []
    threshold = scenario.staff_model.sample_threshold
    fits_staff = None
    if fits_budget.samples > threshold and not _fits_staff(fits_budget, scenario):
        fits_staff = _halve(counts, lambda plan: _fits_both(plan, scenario))
    revised = fits_staff or fits_budget
    if revised.samples == protocol.sample_size:
        return []
    return [_sample_change(counts, revised, fits_budget, scenario)]


def _fits_budget(plan: Counts, scenario: Pack) -> bool:
    return credits_needed(plan, scenario.cost_model) <= scenario.lab.budget


def _fits_staff(plan: Counts, scenario: Pack) -> bool:
    return int(staff(plan, scenario.staff_model)) <= scenario.lab.staff


def _fits_both(plan: Counts, scenario: Pack) -> bool:
    return _fits_budget(plan, scenario) and _fits_staff(plan, scenario)


def _halve(plan: Counts, fits: Callable[[Counts], bool]) -> Counts | None:
    """Return the first plan that fits while the sample is halved, None if none does."""
    floor = max(1, plan.controls + 1)
    for _ in range(MAX_HALVINGS):
        if fits(plan):
            return plan
        if plan.samples <= floor:
            return None
        plan = plan._replace(samples=max(plan.samples // 2, floor))
    return plan if fits(plan) else None


def _sample_change(
    before: Counts, after: Counts, fits_budget: Counts, scenario: Pack
) -> SuggestionChange:
    reasons = []
    if fits_budget.samples < before.samples:
        over = credits_needed(before, scenario.cost_model) - scenario.lab.budget
        reasons.append(f"The budget is {amount_text(over)} credits short")
    if after.samples < fits_budget.samples:
        threshold = scenario.staff_model.sample_threshold
        reasons.append(f"at {threshold} samples or fewer the plan needs one staff unit less")
    times = _halvings(before.samples, after.samples)
    fewer = count_text(before.samples - after.samples, "sample")
    return SuggestionChange(
        field="sample_size",
        original=str(before.samples),
        revised=str(after.samples),
        reason=_sentence(f"{'; '.join(reasons)}; the sample is halved {times}"),
        tradeoff=f"{fewer} fewer: weaker evidence.",
    )


def _halvings(before: int, after: int) -> str:
    times = 0
    while before > after:
        before //= 2
        times += 1
    return {1: "once", 2: "twice"}.get(times, f"{times} times")
