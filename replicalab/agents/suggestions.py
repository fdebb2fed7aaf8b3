"""The four fixes in the document's order, and the plan that they lead to.

Source: docs/contract.md, Lab Manager.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from replicalab.assessment import (
    Assessment,
    Counts,
    FeasibilityCheckResult,
    Item,
    assess,
    credits_needed,
    staff,
)
from replicalab.lexicon import amount_text, capitalised, count_text, label_key
from replicalab.models import Flag, NonEmptyText, Protocol, Record, revise
from replicalab.scenarios import Pack

MAX_HALVINGS: Final = 10
DROPPED: Final = "dropped"
"""The revised value of a change that drops a control."""

_LISTS: Final = ("controls", "required_equipment", "required_reagents")


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


class Offer(NamedTuple):
    """A suggestion, with all that is known of the plan that it leads to."""

    suggestion: AlternativeSuggestion
    after: Assessment

    @property
    def changes(self) -> list[SuggestionChange]:
        """The changes that lead to it."""
        return self.suggestion.applied_changes


def suggest_alternative(
    protocol: Protocol, check_result: FeasibilityCheckResult, scenario: Pack
) -> AlternativeSuggestion | None:
    """Return the plan after the four fixes in the document's order, None if already feasible."""
    if check_result.feasible:
        return None
    return offer_of(check_result, *_fixed(assess(protocol, scenario))).suggestion


def reference_offer(plan: Assessment) -> Offer | None:
    """Return what `suggest_alternative` does for a plan that is judged already."""
    return None if plan.feasible else offer_of(plan.check, *_fixed(plan))


def offer_of(
    before: FeasibilityCheckResult, after: Assessment, changes: Iterable[SuggestionChange]
) -> Offer:
    """Return a revised plan in the form of the Lab Manager's suggestion.

    Args:
        before: the check of the plan before the changes.
        after: the revised plan.
        changes: that lead to it.
    """
    newly_failing = set(after.failing) - set(before.failing)
    suggestion = AlternativeSuggestion(
        revised_protocol=after.plan,
        applied_changes=list(changes),
        remaining_failures=[dimension.value for dimension in after.failing],
        improved=len(after.failing) < len(before.failing) and not newly_failing,
        pre_check=before,
        post_check=after.check,
    )
    return Offer(suggestion, after)


def _fixed(plan: Assessment) -> tuple[Assessment, list[SuggestionChange]]:
    """Return the plan after every fix, and the changes that lead there."""
    pack, counts = plan.pack, plan.counts
    in_time = counts._replace(days=min(counts.days, pack.lab.days))
    changes = [
        *_substitutions(plan),
        *_duration_clamp(counts, pack),
        *_sample_reduction(in_time, pack),
    ]
    return (assess(apply_changes(plan.plan, changes), pack) if changes else plan), changes


def apply_changes(protocol: Protocol, changes: Iterable[SuggestionChange]) -> Protocol:
    """Return the plan with some of a suggestion's changes applied, in their order.

    A change whose original item is no longer in the plan does nothing.
    """
    fields: dict[str, Any] = {}
    for change in changes:
        if change.field in _LISTS:
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


def _substitutions(plan: Assessment) -> list[SuggestionChange]:
    """Fixes 1 and 2: equipment, then reagents."""
    listed = {label_key(item.label) for item in plan.items}
    items = {(item.field, item.label): item for item in plan.items}
    changes = []
    for field in ("required_equipment", "required_reagents"):
        for label in getattr(plan.plan, field):  # one that is listed twice is replaced twice
            item = items[field, label]
            free = (each for each in item.options if label_key(each) not in listed)
            if (alternative := next(free, None)) is not None:
                listed.add(label_key(alternative))
                changes.append(substitution(item, alternative, plan.pack))
    return changes


def substitution(
    item: Item, alternative: str, pack: Pack, cause: str | None = None
) -> SuggestionChange:
    """Return the change that puts an allowed alternative in the place of an item.

    Its reason is the item's status in the lab, unless there is another cause.
    """
    allowed = next(
        row
        for row in pack.allowed_substitutions
        if label_key(row.original) == label_key(item.label) and row.alternative == alternative
    )
    cause = cause or f"'{item.label}' is {item.status_text}"
    return SuggestionChange(
        field=item.field,
        original=item.label,
        revised=alternative,
        reason=f"{cause}; allowed {allowed.condition}.",
        tradeoff=_sentence(allowed.tradeoff),
    )


def _sentence(text: str) -> str:
    return f"{capitalised(text)}{'' if text.endswith('.') else '.'}"


def _duration_clamp(counts: Counts, pack: Pack) -> list[SuggestionChange]:
    """Fix 3: no longer than the lab's limit."""
    days, limit, least = counts.days, pack.lab.days, pack.min_days
    if days <= limit:
        return []
    tradeoff = f"{count_text(days - limit, 'day')} fewer to run and to repeat what fails."
    if limit < least:
        tradeoff = f"Below {least} days the study's endpoint is lost."
    return [
        SuggestionChange(
            field="duration_days",
            original=str(days),
            revised=str(limit),
            reason=f"The lab has {count_text(limit, 'day')}.",
            tradeoff=tradeoff,
        )
    ]


def _sample_reduction(counts: Counts, pack: Pack) -> list[SuggestionChange]:
    """Fix 4: halve until the budget fits, and on to where a staff unit is saved."""

    def fits_budget(counts: Counts) -> bool:
        return credits_needed(counts, pack.cost_model) <= pack.lab.budget

    def fits_staff(counts: Counts) -> bool:
        return int(staff(counts, pack.staff_model)) <= pack.lab.staff

    affordable = _halve(counts, fits_budget)
    if affordable is None:
        return []
    manned = None
    if affordable.samples > pack.staff_model.sample_threshold and not fits_staff(affordable):
        manned = _halve(counts, lambda counts: fits_budget(counts) and fits_staff(counts))
    revised = manned or affordable
    if revised.samples == counts.samples:
        return []
    return [_sample_change(counts, revised, affordable, pack)]


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
    before: Counts, after: Counts, affordable: Counts, pack: Pack
) -> SuggestionChange:
    reasons = []
    if affordable.samples < before.samples:
        over = credits_needed(before, pack.cost_model) - pack.lab.budget
        reasons.append(f"The budget is {count_text(over, 'credit')} short")
    if after.samples < affordable.samples:
        threshold = amount_text(pack.staff_model.sample_threshold)
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
