"""The four fixes in the document's order, and the plan that they lead to.

Source: docs/methods.md, Lab Manager.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from replicalab.assessment import (
    Assessment,
    Counts,
    FeasibilityCheckResult,
    Item,
    assess,
    counted_of,
    counts_of,
    credits_needed,
    staff,
)
from replicalab.assessment.phrases import days_text
from replicalab.lexicon import capitalised, count_text, label_key
from replicalab.models import (
    LIST_FIELDS,
    Flag,
    NonEmptyText,
    Protocol,
    Record,
)
from replicalab.notebook import Shown
from replicalab.scenarios import Pack

MAX_HALVINGS: Final = 10
DROPPED: Final = "dropped"  # The revised value of a change that drops a control


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
class Offer(Shown):
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


def suggest_alternative(
    protocol: Protocol, check_result: FeasibilityCheckResult, scenario: Pack
) -> AlternativeSuggestion | None:
    """Return the plan after the four fixes in the document's order, None if already feasible."""
    if check_result.feasible:
        return None
    after, changes = _fixed(assess(protocol, scenario))
    return AlternativeSuggestion(
        revised_protocol=after.plan,
        applied_changes=changes,
        remaining_failures=[dimension.value for dimension in after.failing],
        improved=set(after.failing) < set(check_result.failing),
        pre_check=check_result,
        post_check=after.check,
    )


def reference_offer(plan: Assessment) -> Offer | None:
    """Return what `suggest_alternative` does for a plan that is judged already."""
    if plan.feasible:
        return None
    after, changes = _fixed(plan)
    return Offer(plan, after, tuple(changes))


def apply_changes(protocol: Protocol, changes: Iterable[SuggestionChange]) -> Protocol:
    """Return the plan with some of a suggestion's changes applied, in their order.

    A change whose original item is no longer in the plan does nothing.
    """
    fields = protocol.model_dump()
    for change in changes:
        name, value = change.field, change.revised
        if name not in LIST_FIELDS:
            fields[name] = int(value)
        elif change.original in (items := fields[name]):
            at = items.index(change.original)
            items[at : at + 1] = [] if name == "controls" and value == DROPPED else [value]
    return Protocol.model_validate(fields)


def change_of(field: str, before: object, after: object, why: str, lost: str) -> SuggestionChange:
    """Return a change that was worked out here: what of the plan, the reason and the tradeoff."""
    return SuggestionChange(
        field=field, original=str(before), revised=str(after), reason=why, tradeoff=lost
    )


def substitution(
    item: Item, alternative: str, pack: Pack, cause: str | None = None
) -> SuggestionChange:
    """Return the change that puts an allowed alternative in the place of an item.

    Its reason is the item's status in the lab, unless there is another cause.
    """
    allowed = pack.study.swaps[item.key, alternative]
    cause = cause or f"'{item.label}' is {item.status_text}"
    lost = capitalised(allowed.tradeoff.removesuffix("."))
    why = f"{cause}; allowed {allowed.condition}."
    return change_of(item.field, item.label, alternative, why, f"{lost}.")


# --- the four fixes -------------------------------------------------------------------------


def _fixed(plan: Assessment) -> tuple[Assessment, list[SuggestionChange]]:
    changes = [*_substitutions(plan), *_duration_clamp(plan)]
    revised = apply_changes(plan.plan, changes)
    if (change := _sample_reduction(counts_of(revised, plan.pack), plan.pack)) is not None:
        changes.append(change)
        revised = apply_changes(revised, [change])
    return plan.revised(revised) if changes else plan, changes


def _substitutions(plan: Assessment) -> Iterator[SuggestionChange]:
    """Yield fixes 1 and 2: equipment, then reagents."""
    replaceable = {(item.field, item.label): item for item in plan.missing_items if item.options}
    listed = {item.key for item in plan.items}
    for field in dict.fromkeys([field for field, _ in replaceable]):
        for label in getattr(plan.plan, field):  # one that is listed twice is replaced twice
            if (item := replaceable.get((field, label))) is None:
                continue
            for alternative in item.options:
                if (key := label_key(alternative)) not in listed:
                    listed.add(key)
                    yield substitution(item, alternative, plan.pack)
                    break


def _duration_clamp(plan: Assessment) -> Iterator[SuggestionChange]:
    """Yield fix 3: no longer than the lab's limit; nothing where it leaves no day at all."""
    days, limit, least = plan.counts.days, plan.pack.lab.days_left, plan.pack.min_days
    if days > limit > 0:
        lost = f"{count_text(days - limit, 'day')} fewer to run and to repeat what fails."
        if limit < least:
            lost = f"Below {count_text(least, 'day')} the study's endpoint is lost."
        yield change_of(
            "duration_days", days, limit, f"The lab has {days_text(plan.pack.lab)}.", lost
        )


def _sample_reduction(before: Counts, pack: Pack) -> SuggestionChange | None:
    """Return fix 4: halve until the budget fits, and on to where a staff unit is saved.

    Given are the counts after the other fixes.
    """
    lab, people = pack.lab, pack.staff_model
    sizes, others = list(_halved(before)), before[1:]

    def over_budget(samples: int) -> float:
        return credits_needed(Counts(samples, *others), pack) - lab.budget

    def is_staffed(samples: int) -> bool:
        return int(staff(Counts(samples, *others), people)) <= lab.staff

    # Fewer samples never need more, so what the last halving does not save, none does.
    fits, over = 0, over_budget(before.samples)
    if over > 0:
        if over_budget(sizes[-1]) > 0:
            return None
        fits = next(n for n, samples in enumerate(sizes) if n and over_budget(samples) <= 0)
    halvings = fits
    if not is_staffed(sizes[fits]) and is_staffed(sizes[-1]):
        enough = people.sample_threshold
        halvings = next(n for n in range(fits, len(sizes)) if sizes[n] <= enough)
    if not halvings:
        return None
    reasons = []
    if over > 0:
        reasons.append(f"the budget is {lab.money(over)} short")
    if halvings > fits:
        most = count_text(people.sample_threshold, "sample")
        reasons.append(f"at {most} or fewer the plan needs one staff unit less")
    times = {1: "once", 2: "twice"}.get(halvings, f"{halvings} times")
    samples = sizes[halvings]
    return change_of(
        "sample_size",
        before.samples,
        samples,
        f"{capitalised('; '.join(reasons))}; the sample is halved {times}.",
        f"{count_text(before.samples - samples, 'sample')} fewer: {_lost(samples, before, pack)}.",
    )


def _lost(samples: int, before: Counts, pack: Pack) -> str:
    """Return what fewer samples lose of the evidence; nothing where as many can count."""
    rate, exist = pack.samples_per_day, pack.design.population_max
    able = int(before.samples if rate is None else min(before.samples, rate.value * before.days))
    able = able if exist is None else min(able, exist)
    counted = counted_of(pack.design, able)
    if before.days < pack.min_days or not counted:
        return "there is no evidence to lose"
    if counted_of(pack.design, samples) < counted:
        return "weaker evidence"
    return "the evidence is no weaker for it"


def _halved(counts: Counts) -> Iterator[int]:
    """Yield the samples, then halved ever again; they stay above the controls."""
    samples, least = counts.samples, counts.controls + 1
    yield samples
    for _ in range(MAX_HALVINGS):
        if samples <= least:
            return
        samples = max(samples // 2, least)
        yield samples
