"""Why the least-loss plan changes what it changes: the sentences that stand in its changes.

Each is true of the numbers that the search found; nothing here is searched again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from replicalab.agents.suggestions import SuggestionChange
from replicalab.assessment import Assessment, assess, counts_of, credits_needed
from replicalab.assessment.phrases import days_text
from replicalab.lexicon import amount_text, count_text, joined, label_key
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner.limits import TIER_RANK, Limits, Worth, most_counted
from replicalab.scenarios import Pack

if TYPE_CHECKING:
    from replicalab.planner.least_loss import Candidate

_BOUNDS: Final = {0: "target", 1: "floor"}
"""What a plan of tier 0 or 1 reaches."""


# --- the numbers ----------------------------------------------------------------------------


def number_changes(plan: Protocol, found: Candidate, pack: Pack) -> list[SuggestionChange]:
    """Return the changes that give a worded plan the days and samples found, the days first."""
    rows = (
        ("duration_days", plan.duration_days, found.days, _days_texts),
        ("sample_size", plan.sample_size, found.samples, _samples_texts),
    )
    changes = []
    for field, before, after, texts in rows:
        if before != after:
            reason, tradeoff = texts(plan, found, pack)
            changes.append(
                SuggestionChange(
                    field=field,
                    original=str(before),
                    revised=str(after),
                    reason=reason,
                    tradeoff=tradeoff,
                )
            )
    return changes


def _days_texts(plan: Protocol, found: Candidate, pack: Pack) -> tuple[str, str]:
    """Return why the days change, and what is lost by it."""
    before, days = plan.duration_days, found.days
    if days > before:
        reason = _more_days_reason(before, found, pack)
        tradeoff = "Nothing of the evidence; the lab is in use for longer."
    else:
        reason = _fewer_days_reason(plan, found, pack)
        tradeoff = f"{count_text(before - days, 'day')} fewer to run and to repeat what fails."
        if most_counted(days, pack) < min(plan.sample_size, most_counted(before, pack)):
            tradeoff = f"{tradeoff} {_most_text(days, pack)}"
    if days < pack.min_days:
        tradeoff = f"Below {count_text(pack.min_days, 'day')} the study's endpoint is lost."
    return reason, tradeoff


def _more_days_reason(before: int, found: Candidate, pack: Pack) -> str:
    least = Limits(pack, found.given_up).days[0]
    if before < pack.min_days <= found.days:
        return f"The study's endpoint needs {count_text(pack.min_days, 'day')}."
    if before < least > pack.min_days:
        return f"The study asks for {count_text(least, 'day')} at least."
    return "A plan takes at least 1 day." if before < 1 else _most_text(before, pack)


def _most_text(days: int, pack: Pack) -> str:
    most = count_text(most_counted(days, pack), "sample")
    return f"In {count_text(days, 'day')} no more than {most} can count."


def _fewer_days_reason(plan: Protocol, found: Candidate, pack: Pack) -> str:
    before, limit, limits = plan.duration_days, pack.lab.days_left, Limits(pack, found.given_up)
    counts = counts_of(plan, pack)._replace(samples=found.samples, days=min(before, limit))
    if limits.days[1] < min(limit, before):
        return f"The study allows {count_text(limits.days[1], 'day')} at most."
    given = f"The lab has {days_text(pack.lab)}"
    if limits.affords(counts):
        return f"{given}; {found.days} are enough." if found.days < limit else f"{given}."
    over = credits_needed(counts, pack.cost_model) > pack.lab.budget
    scarce = "credits" if over and Dimension.BUDGET not in found.given_up else "hands"
    fewer = f"{counts.days - found.days} fewer leave {scarce} for the samples."
    return f"{given}; {fewer}" if before > limit else fewer


def _samples_texts(plan: Protocol, found: Candidate, pack: Pack) -> tuple[str, str]:
    """Return why the sample changes, and what is lost by it."""
    before, samples, factor = plan.sample_size, found.samples, found.wording.factor
    worth = Worth(pack, max(before, samples), Limits(pack).endpoint_lost)
    if samples > before:
        paid = "; the cost rises." if pack.cost_model.per_sample else "."
        return _more_samples_reason(plan, found, worth), f"Nothing of the evidence{paid}"
    reason = f"The evidence is the same as with {amount_text(min(found.most, before))}."
    if samples == found.most:
        reason = f"No more than {count_text(samples, 'sample')} fit."
    counted = min(before, most_counted(found.days, pack))
    weaker = worth.shortfall(samples, factor) > worth.shortfall(counted, factor)
    lost = "weaker evidence" if weaker else "the evidence is no weaker for it"
    return reason, f"{count_text(before - samples, 'sample')} fewer: {lost}."


def _more_samples_reason(plan: Protocol, found: Candidate, worth: Worth) -> str:
    samples, asked = found.samples, worth.pack.reference_protocol.sample_size
    counted, factor = count_text(samples, "sample"), found.wording.factor
    tier, controls = worth.tier(samples, factor), len(plan.controls)
    least = Limits(worth.pack, found.given_up).fewest_samples(controls)
    constrained = worth.pack.limits and samples in (least, worth.allowed(factor))
    reasons = (
        (
            tier < worth.tier(samples - 1, factor),
            f"It takes {counted} to reach the study's {_BOUNDS.get(tier)}.",
        ),
        (samples == 1, "A plan takes at least 1 sample."),
        (samples == asked, f"The study asks for {counted}."),
        (
            samples == controls + 1,
            f"Fewer than {counted} leave no experimental sample beside the controls.",
        ),
        (constrained, f"The study's own constraints ask for {counted}."),
        (
            samples == found.most,
            f"The study asks for {amount_text(asked)}; no more than {counted} fit.",
        ),
    )
    same = f"The evidence is the same as with {amount_text(min(found.most, asked))}."
    return next((reason for holds, reason in reasons if holds), same)


# --- the controls ---------------------------------------------------------------------------


def with_reasons(
    changes: Iterable[SuggestionChange], plan: Assessment
) -> tuple[SuggestionChange, ...]:
    """Return the changes that led to a plan, each dropped control with the reason why it goes."""
    kept = set(map(label_key, plan.plan.controls))
    return tuple(
        change.model_copy(update={"reason": _dropping_reason(change.original, plan)})
        if change.field == "controls" and label_key(change.original) not in kept
        else change
        for change in changes
    )


def _dropping_reason(label: str, plan: Assessment) -> str:
    """Return which holds with the control: less evidence, a check that fails, or a higher cost.

    The plan gives up the least fidelity for its tier and its failing dimensions, so with a control
    more it has either fewer samples that reach no such tier, or a failing dimension more.
    """
    pack, limits, samples = plan.pack, Limits(plan.pack), plan.counts.samples
    kept = assess(revise(plan.plan, controls=[*plan.plan.controls, label]), pack)
    failing = [dimension for dimension in kept.failing if dimension not in plan.failing]
    most = limits.most_that_fit(kept.counts, limits.most_samples(limits.days[1]))
    if most is not None and most < samples and Dimension.POLICY not in failing:
        tier = TIER_RANK[plan.evidence.tier]
        if Worth(pack, samples, limits.endpoint_lost).tier(most, plan.evidence_factor) > tier:
            fit = f"With it no more than {count_text(most, 'sample')} fit"
            return f"{fit}, short of the study's {_BOUNDS[tier]}."
    if failing:
        return f"With it the plan fails on {joined(failing)}."
    return f"With it the plan costs {count_text(kept.cost - plan.cost, 'credit')} more."
