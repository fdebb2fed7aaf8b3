"""The four fixes in the document's order, and the plan that they lead to.

Source: docs/contract.md, Lab Manager.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Final

from replicalab.assessment import (
    Assessment,
    Counts,
    FeasibilityCheckResult,
    Item,
    assess,
    counts_of,
    credits_needed,
    staff,
)
from replicalab.assessment.phrases import days_text
from replicalab.lexicon import capitalised, count_text, label_key, same_label
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


@dataclass(frozen=True)
class Offer:
    """A revised plan as the Lab Manager's answer to one that is not feasible.

    Attributes:
        changes: that lead from ``before`` to ``after``, in their order.
    """

    before: Assessment
    after: Assessment
    changes: tuple[SuggestionChange, ...]

    @property
    def improved(self) -> bool:
        """Whether the revised plan fails less, and nothing else."""
        return set(self.after.failing) < set(self.before.failing)

    @cached_property
    def suggestion(self) -> AlternativeSuggestion:
        """The document's form of it."""
        return _suggestion(self.before.check, self.after, self.changes)


def suggest_alternative(
    protocol: Protocol, check_result: FeasibilityCheckResult, scenario: Pack
) -> AlternativeSuggestion | None:
    """Return the plan after the four fixes in the document's order, None if already feasible."""
    if check_result.feasible:
        return None
    return _suggestion(check_result, *_fixed(assess(protocol, scenario)))


def reference_offer(plan: Assessment) -> Offer | None:
    """Return what `suggest_alternative` does for a plan that is judged already."""
    return None if plan.feasible else Offer(plan, *_fixed(plan))


def _suggestion(
    before: FeasibilityCheckResult, after: Assessment, changes: Iterable[SuggestionChange]
) -> AlternativeSuggestion:
    return AlternativeSuggestion.trusted(
        {
            "revised_protocol": after.plan,
            "applied_changes": list(changes),
            "remaining_failures": [dimension.value for dimension in after.failing],
            "improved": set(after.failing) < set(before.failing),
            "pre_check": before,
            "post_check": after.check,
        }
    )


def apply_changes(protocol: Protocol, changes: Iterable[SuggestionChange]) -> Protocol:
    """Return the plan with some of a suggestion's changes applied, in their order.

    A change whose original item is no longer in the plan does nothing.
    """
    fields: dict[str, Any] = {}
    for change in changes:
        if change.field not in _LISTS:
            fields[change.field] = int(change.revised)
            continue
        items = fields.setdefault(change.field, list(getattr(protocol, change.field)))
        if change.original in items:
            at = items.index(change.original)
            dropped = change.field == "controls" and change.revised == DROPPED
            items[at : at + 1] = [] if dropped else [change.revised]
    return revise(protocol, **fields) if fields else protocol


def substitution(
    item: Item, alternative: str, pack: Pack, cause: str | None = None
) -> SuggestionChange:
    """Return the change that puts an allowed alternative in the place of an item.

    Its reason is the item's status in the lab, unless there is another cause.
    """
    allowed = next(
        row
        for row in pack.allowed_substitutions
        if same_label(row.original, item.label) and row.alternative == alternative
    )
    cause = cause or f"'{item.label}' is {item.status_text}"
    return SuggestionChange(
        field=item.field,
        original=item.label,
        revised=alternative,
        reason=f"{cause}; allowed {allowed.condition}.",
        tradeoff=f"{capitalised(allowed.tradeoff.removesuffix('.'))}.",
    )


# --- the four fixes -------------------------------------------------------------------------


def _fixed(plan: Assessment) -> tuple[Assessment, tuple[SuggestionChange, ...]]:
    """Return the plan after every fix, and the changes that lead there."""
    changes = (*_substitutions(plan), *_duration_clamp(plan))
    clamped = counts_of(apply_changes(plan.plan, changes), plan.pack)
    changes = (*changes, *_sample_reduction(clamped, plan.pack))
    return (plan.revised(apply_changes(plan.plan, changes)) if changes else plan), changes


def _substitutions(plan: Assessment) -> Iterator[SuggestionChange]:
    """Yield fixes 1 and 2: equipment, then reagents."""
    listed = {label_key(item.label) for item in plan.items}
    items = {(item.field, item.label): item for item in plan.items}
    for field in ("required_equipment", "required_reagents"):
        for label in getattr(plan.plan, field):  # one that is listed twice is replaced twice
            item = items[field, label]
            free = (each for each in item.options if label_key(each) not in listed)
            if (alternative := next(free, None)) is not None:
                listed.add(label_key(alternative))
                yield substitution(item, alternative, plan.pack)


def _duration_clamp(plan: Assessment) -> Iterator[SuggestionChange]:
    """Yield fix 3: no longer than the lab's limit; nothing where it leaves no day at all."""
    days, limit, least = plan.counts.days, plan.pack.lab.days_left, plan.pack.min_days
    if days > limit > 0:
        yield SuggestionChange(
            field="duration_days",
            original=str(days),
            revised=str(limit),
            reason=f"The lab has {days_text(plan.pack.lab)}.",
            tradeoff=f"Below {count_text(least, 'day')} the study's endpoint is lost."
            if limit < least
            else f"{count_text(days - limit, 'day')} fewer to run and to repeat what fails.",
        )


def _sample_reduction(before: Counts, pack: Pack) -> Iterator[SuggestionChange]:
    """Yield fix 4: halve until the budget fits, and on to where a staff unit is saved.

    Given are the counts after the other fixes.
    """
    lab = pack.lab
    affordable = (
        (times, counts)
        for times, counts in enumerate(_halved(before))
        if credits_needed(counts, pack.cost_model) <= lab.budget
    )
    first = next(affordable, None)
    if first is None:
        return
    manned = (
        each for each in chain([first], affordable) if staff(each[1], pack.staff_model) <= lab.staff
    )
    halvings, revised = next(manned, first)
    if not halvings:
        return
    reasons = []
    if (over := credits_needed(before, pack.cost_model) - lab.budget) > 0:
        reasons.append(f"the budget is {count_text(over, 'credit')} short")
    if halvings > first[0]:
        most = count_text(pack.staff_model.sample_threshold, "sample")
        reasons.append(f"at {most} or fewer the plan needs one staff unit less")
    times = {1: "once", 2: "twice"}.get(halvings, f"{halvings} times")
    yield SuggestionChange(
        field="sample_size",
        original=str(before.samples),
        revised=str(revised.samples),
        reason=f"{capitalised('; '.join(reasons))}; the sample is halved {times}.",
        tradeoff=f"{count_text(before.samples - revised.samples, 'sample')} fewer: weaker "
        "evidence.",
    )


def _halved(counts: Counts) -> Iterator[Counts]:
    """Yield the counts, then with the sample halved ever again; it stays above the controls."""
    floor = counts.controls + 1
    yield counts
    for _ in range(MAX_HALVINGS):
        if counts.samples <= floor:
            return
        counts = counts._replace(samples=max(counts.samples // 2, floor))
        yield counts
