"""The four fixes in the document's order, and the plan that they lead to.

Source: docs/methods.md, Lab Manager.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from replicalab.assessment import (
    DIMENSION_ROWS,
    Amount,
    Assessment,
    Counts,
    FeasibilityCheckResult,
    amounts,
    assess,
    counted_of,
    counts_of,
)
from replicalab.assessment.fixes import SuggestionChange, apply_changes, change_of
from replicalab.lexicon import capitalised, count_text
from replicalab.models import Flag, Protocol, Record
from replicalab.notebook import Shown
from replicalab.scenarios import Pack

HALVINGS: Final = 10


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
    offer = reference_offer(assess(protocol, scenario))
    if offer is None:
        return None
    return AlternativeSuggestion(
        revised_protocol=offer.after.plan,
        applied_changes=[*offer.changes],
        remaining_failures=[*map(str, offer.after.failing)],
        improved=offer.improved,
        pre_check=check_result,
        post_check=offer.after.check,
    )


def reference_offer(plan: Assessment) -> Offer | None:
    """Return what `suggest_alternative` does for a plan that is judged already."""
    if plan.feasible:
        return None
    after, changes = _fixed(plan)
    return Offer(plan, after, tuple(changes))


# --- the four fixes -------------------------------------------------------------------------


def _fixed(plan: Assessment) -> tuple[Assessment, list[SuggestionChange]]:
    listed = {item.key for item in plan.items}
    changes = [
        change for row in DIMENSION_ROWS.values() if row.fix for change in row.fix(plan, listed)
    ]
    revised = apply_changes(plan.plan, changes)
    if (change := _sample_reduction(counts_of(revised, plan.pack), plan.pack)) is not None:
        changes.append(change)
        revised = apply_changes(revised, [change])
    return plan.revised(revised) if changes else plan, changes


def _sample_reduction(before: Counts, pack: Pack) -> SuggestionChange | None:
    """Return fix 4: halve until the budget fits, and on to where a staff unit is saved.

    Given are the counts after the other fixes.
    """
    sizes, halvings, reasons = [*_halved(before)], 0, list[str]()

    def lacking(amount: Amount, place: int) -> float:
        return amount.lacking(before._replace(samples=sizes[place]), pack)

    for amount in amounts().values():
        if amount.halved is None or lacking(amount, halvings) <= 0:
            continue
        if lacking(amount, -1) > 0:
            break  # the last halving needs least
        reasons.append(amount.halved(lacking(amount, 0), pack.lab))
        halvings = next(n for n in range(len(sizes)) if lacking(amount, n) <= 0)
    if not halvings:
        return None
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
    for _ in range(HALVINGS):
        if samples <= least:
            return
        samples = max(samples // 2, least)
        yield samples
