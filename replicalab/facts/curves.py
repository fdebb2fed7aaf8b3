"""Titles, assumptions and tables of the curves of power analysis."""

from typing import Final

from replicalab import lexicon
from replicalab.assessment import samples_text, scale_of
from replicalab.facts.blocks import Panel, panel
from replicalab.facts.options import unreached_text
from replicalab.facts.plan import counting_text, effect_label, effect_text
from replicalab.facts.verdicts import evidence_status
from replicalab.limits import LARGEST_PLANNED
from replicalab.planner.curves import Curves, Point, TargetLimit, why_unreached

_ROWS: Final = 12  # points of a curve in its table, without those with a name


def samples_title(curves: Curves) -> str:
    """Return the samples for the target, and the most that the lab can pay and staff."""
    needed, largest, evidence = curves.needed(), curves.largest, curves.plan.evidence
    target = evidence.text_of(evidence.amount(evidence.target))
    days = lexicon.count_text(curves.plan.counts.days, "day")
    afford = f"you can afford {'none' if largest is None else lexicon.amount_text(largest)}"
    if needed is None:
        return f"No sample reaches {target} in {days}; {afford}"
    needs = f"{target} needs {lexicon.amount_text(needed)} samples"
    return f"{lexicon.capitalised(needs)}; in {days} {afford}"


def samples_panel(curves: Curves) -> Panel:
    """Return the evidence over the samples, with the plan's point on it.

    Dotted is the floor, solid the target, upright the most samples that fit the lab.
    """
    plan, limit, fits = curves.plan, curves.most_samples, curves.largest
    worst, best = scale_of([plan.evidence, *curves.of_samples.values()])

    def up(value: float) -> float:
        return min(1.0, max(0.0, (value - worst) / (best - worst)))

    shows = plan.evidence.void_reason is None
    return panel(
        "curve",
        title=samples_title(curves),
        label=f"{plan.evidence.title} over samples. {effect_title(curves)}.",
        points=[(point.x / limit, up(point.y)) for point in curves.over_samples],
        target=up(plan.evidence.target),
        floor=up(plan.evidence.floor),
        fits=fits / limit if fits is not None and fits <= limit else None,
        at=(min(1.0, plan.counts.samples / limit), up(plan.evidence.value)) if shows else None,
        status=evidence_status(plan.evidence),
    )


def fit_text(largest: int | None) -> str:
    """Return the samples that budget and staff allow: ``175 affordable``, ``none affordable``."""
    return f"{'none' if largest is None else lexicon.amount_text(largest)} affordable"


def able_text(most: int) -> str:
    """Return the samples that can count: ``160 can count``."""
    return f"{lexicon.amount_text(most)} can count"


def effect_title(curves: Curves) -> str:
    """Return the plan's samples and their evidence."""
    return f"{samples_text(curves.plan)}: {curves.plan.evidence.text}"


def assumed_text(curves: Curves) -> str:
    """Return the days and the effect of the curves."""
    effect, assumed = curves.plan.evidence.row.effect, "no effect is assumed"
    if effect and curves.effects:
        assumed = f"at an assumed {effect.name} of {effect_text(curves.effects[0].effect)}"
    return f"planned for {lexicon.count_text(curves.plan.counts.days, 'day')}, {assumed}"


def level_text(curves: Curves) -> str:
    """Return the alpha and the dropout of the curves; empty for neither."""
    design, row = curves.plan.pack.design, curves.plan.evidence.row
    level = row.level_of(design.sides)
    parts = [f"alpha {design.alpha:g}, {level}"] if design.alpha and row.uses("alpha") else []
    parts += [f"{lexicon.percent_text(design.dropout)} dropout"] if design.dropout else []
    return f"{lexicon.capitalised('; '.join(parts))}." if parts else ""


def bound_text(curves: Curves) -> str:
    """Return the limits of the curves: too few days, samples that cannot count; empty if none."""
    plan, number = curves.plan, curves.most_counted
    days, lines = plan.counts.days, list[str]()
    if days < plan.pack.min_days:
        lines.append(f"{lexicon.capitalised(plan.evidence.void_reason or '')}.")
    elif number is not None and (number <= curves.most_samples or curves.needed() is None):
        samples = lexicon.count_text(number, "sample")
        lines.append(f"No more than {samples} can count: {counting_text(plan)}.")
    if curves.in_more_days is not None:
        needed, longer = curves.in_more_days
        size, time = lexicon.count_text(needed, "sample"), lexicon.count_text(longer, "day")
        lines.append(f"{size} in {time} would reach the target.")
    elif (why := why_unreached(plan)) and why.limit is not TargetLimit.POPULATION:
        lines.append(unreached_text(plan))
    return " ".join(lines)


def outside_text(curves: Curves) -> str:
    """Return the effects at which no sample size reaches the target; empty for none."""
    lost = [
        effect_label(effect) for effect in curves.effects if curves.needed(effect.effect) is None
    ]
    if not lost:
        return ""
    most = lexicon.amount_text(curves.most_counted or LARGEST_PLANNED)
    effects = lexicon.joined(lost, "or")
    return f"No sample size up to {most} reaches the target at the effect {effects}."


def samples_rows(curves: Curves) -> list[tuple[str, ...]]:
    """Return planned samples, analysed ones, evidence and name; named rows first."""
    plan, limit = curves.plan, curves.most_counted
    named = {
        "your plan": plan.counts.samples,
        "for the target": curves.needed(),
        "the most that budget and staff allow": curves.largest,
    }
    if limit is not None and limit <= curves.most_samples:
        named[f"the most that can count: {counting_text(plan)}"] = limit
    sizes = [(size, name) for name, size in named.items() if size is not None]
    sizes += [(int(point.x), "") for point in _some(curves.over_samples)]
    rows = list[tuple[str, ...]]()
    for size, name in sizes:
        evidence = curves.at(size)
        samples = lexicon.amount_text(size), lexicon.amount_text(evidence.analysed)
        rows.append((*samples, evidence.number, name))
    return rows


def effect_rows(curves: Curves) -> list[tuple[str, ...]]:
    """Return effects, the evidence of the plan's samples, the samples for the target, and names."""
    rows, samples = list[tuple[str, ...]](), curves.plan.counts.samples
    points = [("", point.x) for point in _some(curves.over_effects)]
    for label, effect in [*curves.effects, *points]:
        needed = curves.needed(effect)
        takes = "none" if needed is None else lexicon.amount_text(needed)
        rows.append((effect_text(effect), curves.at(samples, effect).number, takes, label))
    return rows


def _some(points: tuple[Point, ...]) -> tuple[Point, ...]:
    return points[:: max(1, -(-len(points) // _ROWS))]
