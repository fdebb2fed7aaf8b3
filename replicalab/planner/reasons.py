"""Why the least-loss plan changes what it changes: the sentences that stand in its changes.

Each is true of the numbers that the search found; nothing here is searched again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from replicalab.agents.suggestions import DROPPED, SuggestionChange
from replicalab.assessment import Assessment, Counts, counts_of, credits_needed, staff, violations
from replicalab.lexicon import amount_text, count_text, joined, label_key, words_of
from replicalab.models import Dimension, Protocol
from replicalab.planner.limits import BELOW_FLOOR, TIER_RANK, Limits, Worth, most_counted
from replicalab.scenarios import Pack

if TYPE_CHECKING:
    from replicalab.planner.least_loss import Candidate

_BOUNDS: Final = ("target", "floor")
"""What a plan of tier 0 or 1 reaches."""


# --- the numbers ----------------------------------------------------------------------------


def number_changes(plan: Protocol, found: Candidate, pack: Pack) -> list[SuggestionChange]:
    """Return the changes that give a worded plan the days and samples found, the days first."""
    return [*_days_change(plan, found, pack), *_samples_change(plan, found, pack)]


def _change(field: str, before: int, after: int, reason: str, tradeoff: str) -> SuggestionChange:
    return SuggestionChange(
        field=field, original=str(before), revised=str(after), reason=reason, tradeoff=tradeoff
    )


def _days_change(plan: Protocol, found: Candidate, pack: Pack) -> Iterator[SuggestionChange]:
    before, days = plan.duration_days, found.days
    if days == before:
        return
    if days > before:
        reason = _more_days_reason(before, found, pack)
        tradeoff = "Nothing of the evidence; the lab is in use for longer."
    else:
        reason = _fewer_days_reason(plan, found, pack)
        tradeoff = f"{count_text(before - days, 'day')} fewer to run and to repeat what fails."
        if most_counted(days, pack) < min(plan.sample_size, most_counted(before, pack)):
            tradeoff = f"{tradeoff} {_most_text(days, pack)}"
    if days < pack.min_days:
        tradeoff = f"Below {pack.min_days} days the study's endpoint is lost."
    yield _change("duration_days", before, days, reason, tradeoff)


def _more_days_reason(before: int, found: Candidate, pack: Pack) -> str:
    least = found.limits(pack).days[0]
    if before < pack.min_days <= found.days:
        return f"The study's endpoint needs {count_text(pack.min_days, 'day')}."
    if before < least > pack.min_days:
        return f"The study asks for {count_text(least, 'day')} at least."
    if before < 1:
        return "A plan takes at least 1 day."
    return _most_text(before, pack)


def _most_text(days: int, pack: Pack) -> str:
    most = count_text(most_counted(days, pack), "sample")
    return f"In {count_text(days, 'day')} no more than {most} can count."


def _fewer_days_reason(plan: Protocol, found: Candidate, pack: Pack) -> str:
    before, limit = plan.duration_days, pack.lab.days
    counts = counts_of(plan)._replace(samples=found.samples, days=min(before, limit))
    limits = found.limits(pack)
    if limits.days[1] < min(limit, before):
        return f"The study allows {count_text(limits.days[1], 'day')} at most."
    given = f"The lab has {count_text(limit, 'day')}"
    if limits.affords(counts):
        return f"{given}; {found.days} are enough." if found.days < limit else f"{given}."
    over = credits_needed(counts, pack.cost_model) > pack.lab.budget
    scarce = "credits" if over and not limits.over_budget else "hands"
    fewer = f"{counts.days - found.days} fewer leave {scarce} for the samples."
    return f"{given}; {fewer}" if before > limit else fewer


def _samples_change(plan: Protocol, found: Candidate, pack: Pack) -> Iterator[SuggestionChange]:
    before, samples = plan.sample_size, found.samples
    if samples == before:
        return
    worth = Worth(pack, max(before, samples), Limits(pack).endpoint_lost)
    if samples > before:
        reason = _more_samples_reason(plan, found, worth)
        tradeoff = "Nothing of the evidence"
        tradeoff += "; the cost rises." if pack.cost_model.per_sample else "."
    else:
        reason = _fewer_samples_reason(before, found)
        factor = found.wording.factor
        counted = min(before, most_counted(found.days, pack))
        weaker = worth.shortfall(samples, factor) > worth.shortfall(counted, factor)
        lost = "weaker evidence" if weaker else "the evidence is no weaker for it"
        tradeoff = f"{count_text(before - samples, 'sample')} fewer: {lost}."
    yield _change("sample_size", before, samples, reason, tradeoff)


def _fewer_samples_reason(before: int, found: Candidate) -> str:
    if found.samples == found.most:
        return f"No more than {count_text(found.most, 'sample')} fit."
    return f"The evidence is the same as with {amount_text(min(found.most, before))}."


def _more_samples_reason(plan: Protocol, found: Candidate, worth: Worth) -> str:
    samples, asked = found.samples, worth.pack.reference_protocol.sample_size
    counted, factor = count_text(samples, "sample"), found.wording.factor
    tier = worth.tier(samples, factor)
    if tier < BELOW_FLOOR and tier < worth.tier(samples - 1, factor):
        return f"It takes {counted} to reach the study's {_BOUNDS[tier]}."
    if samples == 1:
        return "A plan takes at least 1 sample."
    if samples == asked:
        return f"The study asks for {counted}."
    if samples == len(plan.controls) + 1:
        return f"Fewer than {counted} leave no experimental sample beside the controls."
    constrained = worth.pack.limits and samples in (
        found.limits(worth.pack).fewest_samples(len(plan.controls)),
        worth.allowed(factor),
    )
    if constrained:
        return f"The study's own constraints ask for {counted}."
    fits = samples == found.most
    most = f"The study asks for {amount_text(asked)}; no more than {counted} fit."
    same = f"The evidence is the same as with {amount_text(min(found.most, asked))}."
    return most if fits else same


# --- the controls ---------------------------------------------------------------------------


def with_reasons(
    changes: Iterable[SuggestionChange], plan: Assessment
) -> tuple[SuggestionChange, ...]:
    """Return the changes that led to a plan, each dropped control with the reason why it goes."""
    kept = set(map(label_key, plan.plan.controls))
    return tuple(
        change.model_copy(update={"reason": _dropping_reason(change.original, plan)})
        if change.field == "controls"
        and change.revised == DROPPED
        and label_key(change.original) not in kept
        else change
        for change in changes
    )


def _dropping_reason(label: str, plan: Assessment) -> str:
    """Return which holds with the control: less evidence, a check that fails, or a higher cost.

    The plan gives up the least fidelity for its tier and its failing dimensions, so with a control
    more it has either fewer samples that reach no such tier, or a failing dimension more.
    """
    pack, tier = plan.pack, TIER_RANK[plan.evidence.tier]
    counts = plan.counts._replace(controls=plan.counts.controls + 1)
    limits = Limits(pack)
    most = limits.most_that_fit(counts, limits.most_samples(limits.days[1]))
    worth = Worth(pack, plan.counts.samples, limits.endpoint_lost)
    if most is not None and most < plan.counts.samples:
        fitting = counts._replace(samples=most, days=limits.fewest_days(most))
        weaker = worth.tier(most, plan.evidence_factor) > tier
        if weaker and not _fails_more(label, fitting, plan):
            return (
                f"With it no more than {count_text(most, 'sample')} fit, short of the study's "
                f"{_BOUNDS[tier]}."
            )
    if failing := _fails_more(label, counts, plan):
        return f"With it the plan fails on {joined(failing)}."
    more = credits_needed(counts, pack.cost_model) - plan.cost
    return f"With it the plan costs {amount_text(more)} credits more."


def _fails_more(label: str, counts: Counts, plan: Assessment) -> list[str]:
    """Return the dimensions that a plan with these counts and that control fails in addition."""
    lab = plan.pack.lab
    fails = {
        Dimension.PROTOCOL: counts.controls >= counts.samples,
        Dimension.BUDGET: credits_needed(counts, lab.cost_model) > lab.budget,
        Dimension.STAFF: staff(counts, lab.staff_model) > lab.staff,
        Dimension.POLICY: bool(
            violations([("controls", label)], words_of(label), plan.pack.policy_rules)
        ),
    }
    return [d.value for d, failing in fails.items() if failing and d not in plan.failing]
