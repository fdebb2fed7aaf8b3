"""What else could be had, in sentences: the region, what beats a plan, what the next step buys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from replicalab.assessment import (
    AMOUNTS,
    DIMENSION_ROWS,
    Assessment,
    AssumedEffect,
    Evidence,
    cautions_title,
)
from replicalab.assessment.phrases import (
    adding_none,
    analysed_text,
    days_text,
    failing_text,
    planned_text,
    size_text,
    wishes_title,
)
from replicalab.lexicon import amount_text, capitalised, count_text, joined, label_key, plural
from replicalab.models import Protocol
from replicalab.planner import (
    Constraint,
    Extra,
    Frontier,
    FrontierPlan,
    Options,
    PlanStep,
    Standing,
    Worded,
    asks_text,
)
from replicalab.planner.region import Region, Span
from replicalab.scenarios import Pack
from replicalab.text.options import (
    do_not_run_text,
    least_days_text,
    none_passes_text,
    proof_text,
    too_short,
)
from replicalab.text.plan import (
    effect_text,
    evidence_text,
    fidelity_move,
    group_text,
    listed,
    loss_parts_text,
    moved_text,
    with_cautions,
)
from replicalab.text.verdicts import Status, Verdict, evidence_sentence

# --- the region -----------------------------------------------------------------------------


_THESE: Final = "these items and controls"
_VOID: Final = ", without which the study is void"


class Limit(NamedTuple):
    """A constraint in words: its line's short label, and what it allows."""

    label: str
    meaning: str


def limit_texts(pack: Pack) -> dict[Constraint, Limit]:
    """Return each constraint of a study in its lab in words, with its number."""
    lab, least = pack.lab, count_text(pack.min_days, "day")
    credits, days = count_text(lab.budget, "credit"), count_text(lab.days_left, "day")
    found = {
        Constraint.BUDGET: Limit(
            f"budget {amount_text(lab.budget)}",
            f"{credits} {'remains' if lab.budget == 1 else 'remain'}",
        ),
        Constraint.SCHEDULE: Limit(f"limit {days}", f"at most {days}"),
        Constraint.STAFF: Limit(f"staff {lab.staff}", f"at most {_staff(lab.staff)}"),
        Constraint.ENDPOINT: Limit(
            f"{'endpoint' if pack.min_days > 1 else 'least'} {least}",
            f"at least {least}, or no evidence",
        ),
    }
    rate, exist = pack.samples_per_day, pack.design.population_max
    if rate is not None:
        count, per_day = "counts" if rate.value == 1 else "count", amount_text(rate.value)
        found[Constraint.THROUGHPUT] = Limit(
            f"{per_day} a day {count}", f"{count_text(rate.value, 'sample')} a day can count"
        )
    if exist is not None:
        verb = "exists" if exist == 1 else "exist"
        found[Constraint.POPULATION] = Limit(
            f"{amount_text(exist)} {verb}", f"{count_text(exist, 'sample')} {verb}"
        )
    held = [limit.text for limit in pack.limits if limit.hard]
    if held:
        found[Constraint.STUDY] = Limit("study's limit", "; ".join(held))
    return found


def _staff(units: int) -> str:
    return count_text(units, "staff unit")


def region_title(found: Region) -> str:
    """Return what fits in the lab, in a few words; the region's chart may end before it.

    The region keeps the plan's items and controls: with others something may fit all the same.
    """
    fits, useful = found.span(useful=False), found.span(useful=True)
    if fits is None:
        return f"With {_THESE} nothing fits this lab"
    if useful is not None:
        counts = " and counts" if fits.samples > useful.samples else ""
        return f"What fits{counts}: {_span_text(useful)}"
    if found.drawn.at(fits.last, found.least).evidence.void:  # the longest: there most can count
        here = "here" if too_short(found.drawn.plan.pack) else f"with {_THESE}"
        return f"Whatever fits {here} yields no evidence"
    return f"What fits, but does not all count: {_span_text(fits)}"


def _span_text(span: Span) -> str:
    last = count_text(span.last, "day")
    days = last if span.first == span.last else f"{amount_text(span.first)} to {last}"
    return f"up to {count_text(span.samples, 'sample')}, {days}"


def means_text(pack: Pack) -> str:
    """Return the amounts of the lab that a chart is drawn for, as the levers have them."""
    lab = pack.lab
    means = _credits(lab.budget), days_text(lab), _staff(lab.staff)
    return f"with {', '.join(means)}"


def shade_text(evidence: Evidence) -> str:
    """Return what the shade of the region's chart means, in either theme."""
    more = "smaller" if evidence.row.scale.lower_is_better else "more"
    return f"deeper blue: {more} {evidence.measure}"


def fillings_text(evidence: Evidence) -> str:
    """Return what each filling of the region's chart means, in either theme."""
    return f"{shade_text(evidence)}; no blue: no evidence; hatched: does not fit"


def own_items_text(drawn: Worded, yours: Assessment, effect: float | None) -> str:
    """Return what the plan shows with its own items and with those that the region is drawn for.

    Empty where that is the same.
    """
    own = yours.evidence_at(effect)
    there = drawn.at(yours.counts.days, yours.counts.samples).evidence_at(effect)
    if own.text == there.text:
        return ""
    return f"* Your plan keeps its own items: {own.text}; with these it would show {there.text}."


def outside_text(outside: Sequence[tuple[str, int]]) -> str:
    """Return what lies outside the region's chart, each with its samples; empty for nothing."""
    named = [f"{name} ({count_text(samples, 'sample')})" for name, samples in outside]
    return f"Outside the chart: {', '.join(named)}." if named else ""


def worded_text(drawn: Worded) -> str:
    """Return how the plan of the region differs from the plan itself, empty when it does not."""
    if drawn.changes:
        return f"The region is drawn for the plan with {_made(drawn)}."
    if drawn.failing:
        return (
            f"No point here is feasible: {failing_text(drawn.failing)} whatever the days "
            "and samples. The lines show what the numbers alone would allow."
        )
    return ""


def drawn_for_text(drawn: Worded, plan: Assessment, name: str) -> str:
    """Return for which plan the region is drawn, and what it shows with other items than its own.

    ``For the agreed plan: 117 samples in 15 days.``
    """
    size = size_text(plan)
    if drawn.failing:
        fails = capitalised(failing_text(drawn.failing))
        return f"For {name}: {size}. {fails} whatever the days and samples."
    if not drawn.changes:
        return f"For {name}: {size}."
    own, there = plan.evidence.text, drawn.at(plan.counts.days, plan.counts.samples).evidence.text
    apart = f"; * with its own items {own}" if own != there else ""
    return f"For {name} with substitutes: {size}, {there}{apart}."


def apart_text(least: Worded) -> str:
    """Return why the least-loss plan may fit where the region of the plan does not."""
    return (
        f"The least-loss plan is not a point of this region: it has {_made(least)}. The switch "
        "above draws its region."
    )


def _made(drawn: Worded) -> str:
    parts = [
        _swap(change.original, None if change.field == "controls" else change.revised)
        for change in drawn.changes
    ]
    return " and ".join(parts) or "the items as planned"


def _swap(old: str, new: str | None = None) -> str:
    return f"no '{old}'" if new is None else f"'{new}' for '{old}'"


def bounds_text(evidence: Evidence) -> str:
    """Return what the marks of a bar of evidence mean."""
    floor, target = evidence.amount(evidence.floor), evidence.amount(evidence.target)
    return f"Marks: floor {floor}, target {target}."


def effect_label(effect: AssumedEffect) -> str:
    """Return an assumed effect with its size: ``halved (0.0885)``."""
    return f"{effect.label} ({effect_text(effect.effect)})"


def one_effect_text(plan: Assessment) -> str:
    """Return what the evidence assumes, where there are no effects to choose from."""
    effect = plan.evidence.row.effect
    if effect is None:
        return "This study’s evidence does not rest on an assumed effect that could be off."
    size = effect_text(plan.pack.design.effect_planning)
    return (
        f"The evidence rests on an assumed {effect.name} of {size}; others are tried on Protocol."
    )


# --- the lab, and what is taken from here ---------------------------------------------------


def no_evidence_text(options: Options) -> str:
    """Return that the study should not be run in this lab, empty when some plan has evidence."""
    least, pack = options.least, options.yours.pack
    if not least.after.evidence.void:
        return ""
    if too_short(pack):
        return do_not_run_text(pack)
    if not least.exact:
        return "The best plan that was found shows nothing; that none is better is not proven."
    after = least.after
    if after.feasible and after.counts.days >= pack.min_days:
        return f"Do not run this here: {after.evidence.void}."
    none = f"{none_passes_text(pack)} all seven dimensions"
    return f"Do not run this here: {none}, and in fewer days nothing is shown."


def loaded_text(before: Protocol, after: Protocol) -> str:
    """Return what a load brought into the editor: its numbers, and the items that changed."""
    parts = [
        count_text(after.sample_size, "sample"),
        count_text(after.duration_days, "day"),
        listed("with ", _items(before, after)),
        listed("without ", _items(after, before)),
    ]
    return f"{', '.join(filter(None, parts))}."


def _items(before: Protocol, after: Protocol) -> list[str]:
    """Return the items and controls of the one plan that the other does not have."""
    found: list[str] = []
    for field in ("required_equipment", "required_reagents", "controls"):
        known = set(map(label_key, getattr(before, field)))
        found += [each for each in getattr(after, field) if label_key(each) not in known]
    return found


def priced_size_text(plan: Assessment | FrontierPlan) -> str:
    """Return a plan in numbers: ``161 samples in 3 days for 2,210 credits``."""
    if not isinstance(plan, FrontierPlan):
        return f"{size_text(plan)} for {_credits(plan.cost)}"
    samples = planned_text(plan.samples, plan.counted)
    return f"{samples} in {count_text(plan.days, 'day')} for {_credits(plan.credits)}"


def fits_text(plan: Assessment) -> str:
    """Return whether a plan fits, in a cell: ``yes, breaks a wish``, ``no: budget, staff``."""
    fits = f"no: {', '.join(plan.failing)}" if plan.failing else "yes"
    return ", ".join(filter(None, (fits, cautions_title(plan))))


def point_lines(plan: Assessment, effect: float | None = None) -> list[str]:
    """Return what fails at a point, its evidence, also at another effect, and what it takes.

    Its samples and days stand above it.
    """
    fails = f"{capitalised(failing_text(plan.failing))}. " if plan.failing else ""
    samples = plan.counts.samples
    groups = group_text(samples, plan.pack.design)
    takes = [
        groups,
        analysed_text(samples, plan.evidence.counted),
        _credits(plan.cost),
        _staff(plan.staff),
    ]
    found = f"{fails}{evidence_sentence(plan.evidence)}"
    if effect is not None:
        found += f" With the effect that is assumed here: {plan.evidence_at(effect).text}."
    return [with_cautions(found, plan), ", ".join(filter(None, takes))]


def _credits(amount: float) -> str:
    return count_text(amount, "credit")


# --- the plans that nothing beats -----------------------------------------------------------


def frontier_title(standing: Verdict) -> str:
    """Return what the frontier's chart shows."""
    unbeaten = standing.status is Status.PASS
    mine = "nothing beats your plan" if unbeaten else "what can be had instead"
    return f"Evidence for credits: {mine}"


def all_outside_text(found: Frontier, evidence: Evidence) -> str:
    """Return that no plan that fits shows enough for the frontier's chart, and what the best does.

    Args:
        found: the plans that nothing beats; not none.
        evidence: that of a plan of the same study.
    """
    scale = evidence.row.scale
    best = (min if scale.lower_is_better else max)(plan.value for plan in found.plans)
    told = f"{evidence.measure} {evidence.amount(best)}"
    return f"No plan that fits lies in the picture: the best has {told}."


def standing_verdict(options: Options) -> Verdict:
    """Return where a plan stands to the plans that nothing beats."""
    yours, found = options.yours, options.frontier
    if not found.plans:
        return _nothing_fits(options)
    better = _better_text(options, found.standing(yours))
    if not yours.feasible:
        text = f"Your plan does not fit this lab: {failing_text(yours.failing)}."
        return Verdict(Status.FAIL, "Does not fit", f"{text} {better or _as_much_text(options)}")
    if better:
        return Verdict(Status.CAUTION, "Beaten", better)
    if yours.evidence.void:
        return Verdict(Status.FAIL, "No evidence", _passes_for_nothing(yours))
    if not found.exact:
        text = (
            "Nothing that was found beats your plan. That is not proven: not every combination of "
            "its many items and controls could be searched."
        )
        return Verdict(Status.CAUTION, "Unbeaten, not proven", with_cautions(text, yours))
    text = (
        f"Nothing{adding_none(yours)} beats your plan: more evidence takes more credits, more "
        "days, or more given up of the study."
    )
    status = Status.CAUTION if yours.dropped else Status.PASS
    return Verdict(status, "Unbeaten", with_cautions(text, yours))


def _passes_for_nothing(plan: Assessment) -> str:
    return f"Your plan passes all seven dimensions and shows nothing: {plan.evidence.void}."


def _better_text(options: Options, standing: Standing) -> str:
    cheaper, stronger, gentler = standing.cheaper, standing.stronger, standing.gentler
    yours, lines = options.yours, []
    if cheaper is not None:
        less = _credits(yours.cost - cheaper.credits)
        lines.append(_rival_text(f"No less evidence can be had for {less} less", cheaper, options))
    if stronger is not None:
        instead = f", instead of {yours.evidence.text}"
        lines.append(_rival_text("For no more credits and days", stronger, options, instead))
    if gentler is not None:
        told = "As much evidence for no more credits, with less given up or in fewer days"
        lines.append(_rival_text(told, gentler, options, f", fidelity loss {gentler.loss}"))
    return " ".join(lines)


def _rival_text(told: str, rival: FrontierPlan, options: Options, more: str = "") -> str:
    """Return what is told of a plan that fits, its numbers, and its cautions."""
    yours = options.yours
    evidence = f"{yours.evidence.measure} {yours.evidence.amount(rival.value)}"
    plan = options.judged(rival.plan(yours.plan, yours.pack))
    return with_cautions(f"{told}: {priced_size_text(rival)}, {evidence}{more}.", plan)


def _as_much_text(options: Options) -> str:
    """Return which plan that fits has as much evidence, at the precision shown, if one has."""
    yours, least, found = options.yours, options.least.after, options.frontier
    evidence = yours.evidence
    if evidence.void:
        return f"Nor would it yield evidence: {evidence.void}."
    if least.feasible and least.evidence.text == evidence.text:
        saved = yours.cost - least.cost
        cost = f"{_credits(abs(saved))} {'less' if saved > 0 else 'more'}"
        cost = cost if saved else "as many credits"
        fits = f"The least-loss plan fits and has {evidence.text} too, for {cost}."
        return with_cautions(fits, least)
    rival = found.as_strong(evidence)
    if rival is None:
        none = "No plan that fits" if found.exact else "No plan that was found to fit"
        return f"{none} has as much evidence as yours."
    loss = f", fidelity loss {rival.loss}" if rival.loss else ""
    return _rival_text("A plan that fits has as much evidence", rival, options, loss)


def _nothing_fits(options: Options) -> Verdict:
    """Return that no plan that fits has evidence, what is proven of that, and what it would take.

    In fewer days than the endpoint needs nothing is shown, so of evidence it holds for any days.
    """
    yours, asks = options.yours, options.asks
    proof = "" if too_short(yours.pack) else proof_text(options.least)
    lines = [proof or "No plan that fits this lab has any evidence."]
    if yours.feasible:
        lines.append(_passes_for_nothing(yours))
    if asks.alone_floor:
        ways = joined([single.ask.text for single in asks.alone_floor], "or")
        lines.append(f"It would take {ways} to reach the floor.")
    elif asks.run.possible and asks.run.asks:
        lines.append(f"To run your plan it would take {asks_text(asks.run.asks)}.")
    return Verdict(Status.FAIL, "Nothing fits", " ".join(lines))


def fidelity_text(plan: Assessment) -> str:
    """Return a plan's fidelity loss as a sum, with its parts if it has two.

    ``fidelity loss 3 in all (substitution 2, dropped control 1)``.
    """
    parts = sum(1 for each in plan.substitutions if each.fidelity_loss) + len(plan.dropped)
    total = f"fidelity loss {plan.fidelity_loss}"
    return f"{total} in all ({loss_parts_text(plan)})" if parts > 1 else total


def given_up_text(plan: Assessment) -> str:
    """Return which substitutions and dropped controls a plan's fidelity loss comes from."""
    parts = [_swap(s.original, s.alternative) for s in plan.substitutions if s.fidelity_loss]
    parts += [f"{_swap(each.name)}{'' if each.droppable else _VOID}" for each in plan.dropped]
    return "; ".join(parts) or "nothing"


def lost_text(plan: Assessment) -> str:
    """Return what a plan gives up and how many of the study's wishes it breaks, in a cell."""
    breaks, given_up = wishes_title(plan.broken_wishes), given_up_text(plan)
    if not breaks:
        return given_up
    return f"{given_up}; {breaks}" if plan.fidelity_loss else breaks


def balance_text(options: Options) -> str:
    """Return the Nash point as what each side gains by agreeing on it."""
    evidence, balanced = options.yours.evidence, options.balanced
    floor = evidence.amount(evidence.floor)
    if balanced is None:
        none = "none that fits" if options.frontier.exact else "none that was found to fit"
        return (
            f"There is no balanced plan: {none} reaches the floor of {floor}, so an "
            "agreement would leave the Scientist with nothing."
        )
    loss, budget = fidelity_text(balanced), balanced.pack.lab.budget
    given_up = f" It gives up some of the study: {loss}." if balanced.fidelity_loss else ""
    told = (
        f"The balanced plan is {priced_size_text(balanced)}. Both sides gain: the Scientist has "
        f"{balanced.evidence.text} against a floor of {floor}, and "
        f"{_credits(budget - balanced.cost)} of {amount_text(budget)} are left over.{given_up}"
    )
    return with_cautions(told, balanced)


# --- more means -----------------------------------------------------------------------------


def extras_lines(options: Options) -> list[str]:
    """Return what the smallest steps beyond the lab's amounts buy, and which amounts buy nothing.

    ``+20 credits: 2 more samples, power 0.69 → 0.70``
    """
    if not any(options.least.rank.given_up):
        met = "No addition is needed: the least-loss plan meets the target and loses no fidelity."
        return [with_cautions(met, options.least.after)]
    bought = {extra.ask.dimension for extra in options.extras}
    rest = [plural(DIMENSION_ROWS[each].noun, 2) for each in AMOUNTS if each not in bought]
    none = [f"No single addition of {joined(rest, 'or')} buys anything."] if rest else []
    return [*map(_extra_text, options.extras), *none]


def _extra_text(extra: Extra) -> str:
    before, after = extra.before.after, extra.after.after
    none = f"no plan{least_days_text(after.pack)} fits"
    none = none if extra.after.exact else "none found that fits"
    if len(after.failing) == len(before.failing):
        step, tier = PlanStep(before, after), after.evidence.tier
        gains = (
            moved_text(before.counts.samples, after.counts.samples, "sample"),
            evidence_text(step) + (f" ({tier})" if tier is not before.evidence.tier else ""),
            fidelity_move(step),
        )
        bought = ", ".join(filter(None, gains)) + ("" if after.feasible else f"; still {none}")
    elif after.feasible:
        breaks = cautions_title(after)
        worth = ", ".join(filter(None, (after.evidence.text, breaks)))
        bought = f"a plan that fits, {priced_size_text(after)}, {worth}"
    else:
        bought = f"still {none}; {failing_text(after.failing)}"
    return f"+{count_text(extra.ask.more, DIMENSION_ROWS[extra.ask.dimension].noun)}: {bought}"
