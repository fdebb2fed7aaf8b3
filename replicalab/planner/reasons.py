"""Why the least-loss plan changes what it changes: the sentences that stand in its changes.

Each is true of the numbers that the search found; nothing here is searched again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from replicalab.agents.suggestions import SuggestionChange, change_of
from replicalab.assessment import (
    Assessment,
    assess,
    counts_of,
    credits_needed,
    staff,
)
from replicalab.assessment.phrases import asked_text, days_text
from replicalab.lexicon import amount_text, capitalised, count_text, joined, label_key
from replicalab.models import DIMENSIONS, Dimension, Protocol, revise
from replicalab.planner.limits import (
    TIER_RANK,
    CountLimits,
    EvidenceCurve,
    as_loss,
    fewest,
    most_counted,
    shortfall,
)
from replicalab.scenarios import Bounds, Pack, StudyLimit

if TYPE_CHECKING:
    from replicalab.planner.least_loss import Candidate
    from replicalab.planner.variants import PlanVariant


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
            changes.append(change_of(field, before, after, *texts(plan, found, pack)))
    return changes


def _days_texts(plan: Protocol, found: Candidate, pack: Pack) -> tuple[str, str]:
    before, days = plan.duration_days, found.days
    if days > before:
        reason = _more_days_reason(plan, found, pack)
        tradeoff = "Nothing of the evidence; the lab is in use for longer."
    else:
        reason = _fewer_days_reason(plan, found, pack)
        tradeoff = f"{count_text(before - days, 'day')} fewer to run and to repeat what fails."
        if most_counted(days, pack) < min(plan.sample_size, most_counted(before, pack)):
            tradeoff = f"{tradeoff} {_most_text(days, pack)}"
    if days < pack.min_days:
        tradeoff = f"Below {count_text(pack.min_days, 'day')} the study's endpoint is lost."
    return reason, tradeoff


def _more_days_reason(plan: Protocol, found: Candidate, pack: Pack) -> str:
    before, limits = plan.duration_days, CountLimits(pack, found.given_up)
    least = limits.days[0]
    wishes = _kept_now(Bounds.DAYS, before, found.days, pack)
    if asked := [wish for wish in wishes if wish.least == found.days > least]:
        return f"{_asked_text(asked)}."
    if before < 1 and (found.days == 1 or least == pack.min_days == 1):
        return "A plan takes at least 1 day."
    if before < least <= pack.min_days <= found.days:
        return f"The study's endpoint needs {count_text(pack.min_days, 'day')}."
    if before < least > 1:
        return f"The study asks for {count_text(least, 'day')} at least."
    if found.days < pack.min_days:
        most = f"Of the study's {count_text(pack.min_days, 'day')} as many as"
        longer = counts_of(plan, pack)._replace(samples=found.samples, days=found.days + 1)
        return f"{most} {'its wishes allow' if limits.allows(longer) else 'fit'}."
    return _most_text(before, pack)


def _kept_now(number: Bounds, before: int, after: int, pack: Pack) -> list[StudyLimit]:
    """Return the wishes on a number that are kept, and were broken before."""
    return [
        limit
        for limit in pack.limits
        if not limit.hard
        and limit.number is number
        and limit.allows(after)
        and not limit.allows(before)
    ]


def _asked_text(wishes: Iterable[StudyLimit]) -> str:
    return "; ".join(asked_text(wish) for wish in wishes)


def _most_text(days: int, pack: Pack) -> str:
    most = count_text(most_counted(days, pack), "sample")
    return f"In {count_text(days, 'day')} no more than {most} can count."


def _fewer_days_reason(plan: Protocol, found: Candidate, pack: Pack) -> str:
    before, limit, limits = (
        plan.duration_days,
        pack.lab.days_left,
        CountLimits(pack, found.given_up),
    )
    counts = counts_of(plan, pack)._replace(samples=found.samples, days=min(before, limit))
    if limits.days[1] < min(limit, before):
        return f"The study allows {count_text(limits.days[1], 'day')} at most."
    given = f"The lab has {days_text(pack.lab)}"
    wishes = _kept_now(Bounds.DAYS, min(before, limit), found.days, pack)
    if wishes:
        limit = int(min(wish.most for wish in wishes))
        given = _asked_text([wish for wish in wishes if wish.most == limit])
        counts = counts._replace(days=limit)
    if limits.affords(counts):
        are = "is" if found.days == 1 else "are"
        return f"{given}; {found.days} {are} enough." if found.days < limit else f"{given}."
    fewer = fewest(
        lambda less: limits.affords(counts._replace(days=counts.days - less)),
        1,
        counts.days - found.days,
    )
    longer = counts._replace(days=counts.days - fewer + 1)
    over = credits_needed(longer, pack) > pack.lab.budget
    scarce = pack.lab.currency if over and Dimension.BUDGET not in found.given_up else "hands"
    leave = "leaves" if fewer == 1 else "leave"
    why = f"{fewer} fewer {leave} {scarce} for the samples"
    if counts.days - fewer > found.days:
        why += f"; {found.days} {'is' if found.days == 1 else 'are'} enough"
    return f"{given}; {why}." if before > limit else f"{why}."


def _samples_texts(plan: Protocol, found: Candidate, pack: Pack) -> tuple[str, str]:
    before, samples, factor = plan.sample_size, found.samples, found.variant.factor
    worth = EvidenceCurve(pack, max(before, samples), CountLimits(pack).endpoint_lost)
    if samples > before:
        paid = "; the cost rises." if _is_paid(plan, found, pack) else "."
        return _more_samples_reason(found, worth), f"Nothing of the evidence{paid}"
    can = most_counted(found.days, pack)
    now, then = (worth.value(min(number, can), factor) for number in (samples, before))
    lost = "the evidence is no weaker for it"
    if as_loss(now, pack) > as_loss(then, pack):
        lost = "weaker evidence" + (", which meets the target" if not shortfall(now, pack) else "")
    fewer = f"{count_text(before - samples, 'sample')} fewer: {lost}."
    return _fewer_samples_reason(before, found, worth), fewer


def _is_paid(plan: Protocol, found: Candidate, pack: Pack) -> bool:
    """Return whether more samples cost more: each, or a staff unit more that they take."""
    counts = counts_of(plan, pack)._replace(days=found.days)
    people = (
        staff(counts._replace(samples=n), pack.staff_model)
        for n in (plan.sample_size, found.samples)
    )
    staff_paid = pack.cost_model.per_staff_day and len({*people}) > 1
    return bool(pack.cost_model.per_sample or staff_paid)


def _fewer_samples_reason(before: int, found: Candidate, worth: EvidenceCurve) -> str:
    samples, pack = found.samples, worth.pack
    wishes = _kept_now(Bounds.SAMPLES, before, samples, pack)
    if at_most := [wish for wish in wishes if wish.most == samples]:
        return f"{_asked_text(at_most)}."
    asked = f"{_asked_text(wishes)}. " if wishes else ""
    return f"{asked}{_no_fewer_reason(before, found, worth)}"


def _no_fewer_reason(before: int, found: Candidate, worth: EvidenceCurve) -> str:
    """Return why so many samples stay of those that were planned."""
    samples, factor = found.samples, found.variant.factor
    if (reached := _reached_text(samples, factor, worth)) is not None:
        return reached
    if samples == found.most_as_good:
        return f"{capitalised(_most_fit_text(found, worth.pack))}."
    if worth.tier(min(samples, found.most), factor) == 0:
        return _asking_text(found, worth) or _constraints_text(samples)
    return f"The evidence is the same as with {amount_text(min(found.most or before, before))}."


def _more_samples_reason(found: Candidate, worth: EvidenceCurve) -> str:
    samples, factor = found.samples, found.variant.factor
    if (reached := _reached_text(samples, factor, worth)) is not None:
        return reached
    if samples == 1:
        return "A plan takes at least 1 sample."
    if asking := _asking_text(found, worth):
        return asking
    more = f"Short of {_bound_text(0, worth.pack)} more samples show more"
    if samples == found.most_as_good:
        return f"{more}; {_most_fit_text(found, worth.pack)}."
    return f"{more}, up to {amount_text(samples)}."


def _most_fit_text(found: Candidate, pack: Pack) -> str:
    """Return that no more samples fit and count; of a plan that does not fit, what holds still."""
    most = f"no more than {count_text(found.samples, 'sample')}"
    apart = joined([dimension for dimension in DIMENSIONS if dimension in found.given_up])
    if apart and most_counted(CountLimits(pack, found.given_up).days[1], pack) == found.samples:
        return f"{most} can count"
    fit = f"{most} fit and count{f', {apart} apart' if apart else ''}"
    wished = found.samples < found.most_at_all
    return f"{fit}, unless more of the study's wishes are broken" if wished else fit


def _reached_text(samples: int, factor: float, worth: EvidenceCurve) -> str | None:
    """Return which bound so many samples reach and fewer do not, None if there is none."""
    tier = worth.tier(samples, factor)
    if tier < worth.tier(samples - 1, factor):
        return f"It takes {count_text(samples, 'sample')} to reach {_bound_text(tier, worth.pack)}."
    return None


def _bound_text(tier: int, pack: Pack) -> str:
    """Return what a plan of tier 0 or 1 reaches, and whose it is where it is the study's own."""
    bound = ("target", "floor")[tier]
    return f"the {bound}" if bound in pack.question.asked else f"the study's {bound}"


def _asking_text(found: Candidate, worth: EvidenceCurve) -> str | None:
    """Return what allows no fewer samples: the controls, or the study; None if nothing does."""
    samples, factor, controls = found.samples, found.variant.factor, found.variant.controls
    sound = CountLimits(worth.pack, found.given_up).fewest_samples(controls)
    if samples in (sound, worth.allowed(factor)):
        if samples != controls + 1:
            return _constraints_text(samples)
        counted = count_text(samples, "sample")
        return f"Fewer than {counted} leave no experimental sample beside the controls."
    if wishes := _kept_now(Bounds.SAMPLES, samples - 1, samples, worth.pack):
        return f"{_asked_text(wishes)}."
    values = [worth.value(number, factor) for number in (samples - 1, samples)]
    for wish in worth.pack.limits:
        on_evidence = not wish.hard and wish.number is Bounds.EVIDENCE
        if on_evidence and [*map(wish.allows, values)] == [False, True]:
            return f"{asked_text(wish)}; it takes {count_text(samples, 'sample')}."
    return None


def _constraints_text(samples: int) -> str:
    return f"The study's own constraints ask for {count_text(samples, 'sample')}."


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
    """Return which holds with the control: less evidence, a check that fails, or a higher cost."""
    # The plan gives up the least fidelity for its tier and its failing dimensions, so with a
    # control more it has either fewer samples that count and reach no such tier, or a failing
    # dimension more.
    pack, factor, samples = plan.pack, plan.evidence_factor, plan.counts.samples
    limits = CountLimits(pack)
    kept = assess(revise(plan.plan, controls=[*plan.plan.controls, label]), pack)
    failing = [dimension for dimension in kept.failing if dimension not in plan.failing]
    most = limits.most_that_count(kept.counts, samples)
    if most is not None and Dimension.POLICY not in failing:
        worth, tier = (
            EvidenceCurve(pack, samples, limits.endpoint_lost),
            TIER_RANK[plan.evidence.tier],
        )
        allowed = worth.allowed(factor)
        if allowed is not None and allowed <= most and worth.tier(most, factor) > tier:
            fit = f"With it no more than {count_text(most, 'sample')} fit and count"
            return f"{fit}, short of {_bound_text(tier, pack)}."
    if failing:
        return f"With it the plan fails on {joined(failing)}."
    return f"With it the plan costs {pack.lab.money(kept.cost - plan.cost)} more."


# --- the wishes -----------------------------------------------------------------------------


def with_wishes(
    changes: Iterable[SuggestionChange], plan: Assessment, gentler: PlanVariant, *, exact: bool
) -> tuple[SuggestionChange, ...]:
    """Return the changes, each with what it keeps of the study's wishes where it is made for that.

    Args:
        changes: that led to the plan, the best of all.
        plan: the plan.
        gentler: how the best plan is worded if no wish counts; it loses less fidelity.
        exact: whether every plan was searched.
    """
    anyhow = {(label_key(swap.item.label), swap.alternative) for swap in gentler.swaps}
    rows = [row for row in plan.substitutions if row.fidelity_loss]
    swapped = {(label_key(row.original), row.alternative) for row in rows} - anyhow
    dropped = {label_key(control.name) for control in plan.dropped} - gentler.dropped
    text, found = _keeping_text(plan, exact=exact), list[SuggestionChange]()
    for change in changes:
        key, reason = label_key(change.original), change.reason
        if change.field == "controls" and key in dropped:
            reason = text
        elif change.field != "controls" and (key, change.revised) in swapped:
            reason = f"{reason} {text}"
        found.append(change.model_copy(update={"reason": reason}))
    return tuple(found)


def _keeping_text(plan: Assessment, *, exact: bool) -> str:
    """Return that no plan as good in checks and evidence keeps as much with less fidelity lost."""
    # Of a single wish that is known by name: plans that break none are before those that break it.
    wishes, tier = [limit for limit in plan.pack.limits if not limit.hard], plan.evidence.tier
    passing = "fails as few dimensions" if plan.failing else "passes all seven dimensions"
    reaches = f"reaches {_bound_text(TIER_RANK[tier], plan.pack)}" if TIER_RANK[tier] < 2 else ""
    which = joined([*filter(None, [passing, reaches]), "loses less fidelity"])
    keeps = "breaks so few of the study's wishes"
    if len(wishes) == 1:
        keeps = f"keeps '{wishes[0].constraint.label}', which should be {wishes[0].text}"
    return f"No revision{'' if exact else ' was found'} that {which} {keeps}."
