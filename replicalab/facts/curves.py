"""What the curves of power analysis show, as titles, and their numbers."""

from typing import Final

from replicalab.assessment import samples_text, scale_of
from replicalab.facts import texts
from replicalab.facts.blocks import Panel, panel
from replicalab.facts.options import unreached_text
from replicalab.facts.plan import counting_text, effect_text
from replicalab.facts.verdicts import evidence_status
from replicalab.lexicon import amount_text, capitalised, count_text, joined, percent_text
from replicalab.limits import LARGEST_PLANNED
from replicalab.planner.curves import Curves, Point, TargetLimit, why_unreached

_ROWS: Final = 12  # So many of a curve's points stand in its table, and those that have a name


def samples_title(found: Curves) -> str:
    """Return how many samples reach the target, and how many the lab can pay and staff."""
    needed, fits = found.needed(), fit_text(found.largest)
    days = count_text(found.plan.counts.days, "day")
    text = texts.NONE_REACHES_HERE if needed is None else texts.SAMPLES_REACH
    number = amount_text(needed or 0)
    return text.format(needed=number, target=_target(found), days=days, fits=fits)


def samples_panel(found: Curves) -> Panel:
    """Return the evidence over the samples, where any shows some, with the plan's point on it.

    Dotted is the floor, solid the target, upright the most samples that fit the lab. A page lays
    what moves the point below it.
    """
    plan, limit = found.plan, found.most_samples
    worst, best = scale_of([plan.evidence, *found.of_samples.values()])

    def up(value: float) -> float:
        return min(1.0, max(0.0, (value - worst) / (best - worst)))

    shows = plan.evidence.void_reason is None
    fits = found.largest
    return panel(
        "curve",
        title=samples_title(found),
        label=f"{plan.evidence.title} over samples. {effect_title(found)}.",
        points=[(point.x / limit, up(point.y)) for point in found.over_samples],
        target=up(plan.evidence.target),
        floor=up(plan.evidence.floor),
        fits=fits / limit if fits is not None and fits <= limit else None,
        at=(min(1.0, plan.counts.samples / limit), up(plan.evidence.value)) if shows else None,
        status=evidence_status(plan.evidence),
    )


def fit_text(largest: int | None) -> str:
    """Return how many samples budget and staff allow: ``175 affordable``, ``none affordable``."""
    return f"{'none' if largest is None else amount_text(largest)} affordable"


def able_text(most: int) -> str:
    """Return how many samples can count: ``160 can count``."""
    return f"{amount_text(most)} can count"


def effect_title(found: Curves) -> str:
    """Return what the plan's samples are worth at the effect that is assumed."""
    return f"{samples_text(found.plan)}: {found.plan.evidence.text}"


def needed_title(found: Curves) -> str:
    """Return how many samples reach the target at the effect that is assumed."""
    needed, days = found.needed(), count_text(found.plan.counts.days, "day")
    text = texts.NO_SIZE_REACHES if needed is None else texts.SIZE_REACHES
    return text.format(days=days, target=_target(found), needed=amount_text(needed or 0))


def _target(found: Curves) -> str:
    evidence = found.plan.evidence
    return f"target {evidence.amount(evidence.target)}"


def assumed_text(found: Curves) -> str:
    """Return in which days and at which effect the curves are planned.

    ``planned for 8 days, at an assumed Cohen's d of 0.177``
    """
    effect, days = found.plan.evidence.row.effect, count_text(found.plan.counts.days, "day")
    if effect is None or not found.effects:
        return texts.CURVES_WITHOUT_EFFECT.format(days=days)
    size = effect_text(found.effects[0].effect)
    return texts.CURVES_ASSUME.format(days=days, effect=effect.name, size=size)


def level_text(found: Curves) -> str:
    """Return what else the curves assume: alpha, and what drops out; empty for neither."""
    design, row = found.plan.pack.design, found.plan.evidence.row
    parts = [f"alpha {design.alpha:g}, {row.level}"] if design.alpha and row.uses("alpha") else []
    parts += [f"{percent_text(design.dropout)} dropout"] if design.dropout else []
    return f"{capitalised('; '.join(parts))}." if parts else ""


def bound_text(found: Curves) -> str:
    """Return what keeps the curves down: days too few, samples that cannot count; empty if none."""
    plan, number = found.plan, found.most_counted
    days, lines = plan.counts.days, list[str]()
    if days < plan.pack.min_days:
        lines.append(f"{capitalised(plan.evidence.void_reason or '')}.")
    elif number is not None and (number <= found.most_samples or found.needed() is None):
        limit = counting_text(days, plan.pack)
        lines.append(texts.NO_MORE_COUNT.format(samples=count_text(number, "sample"), limit=limit))
    if found.in_more_days is not None:
        samples, longer = found.in_more_days
        size, time = count_text(samples, "sample"), count_text(longer, "day")
        lines.append(texts.WOULD_REACH.format(samples=size, days=time))
    elif (why := why_unreached(plan)) and why.limit is not TargetLimit.POPULATION:
        lines.append(unreached_text(plan))
    return " ".join(lines)


def outside_text(found: Curves) -> str:
    """Return which effects no sample size reaches the target at; empty for none."""
    lost = [f"{effect.label} ({effect_text(effect.effect)})"
            for effect in found.effects if found.needed(effect.effect) is None]  # fmt: skip
    if not lost:
        return ""
    limit, exist = found.most_counted, found.plan.pack.design.population_max
    text = texts.NO_SIZE_AT if limit in (None, exist) else texts.NO_SIZE_IN_DAYS_AT
    return text.format(
        days=count_text(found.plan.counts.days, "day"),
        most=amount_text(limit or LARGEST_PLANNED),
        effects=joined(lost, "or"),
    )


# --- tables ---------------------------------------------------------------------------------


def samples_rows(found: Curves) -> list[tuple[str, ...]]:
    """Return samples planned, those analysed, and their evidence; what has a name first."""
    plan = found.plan
    named = {
        "your plan": plan.counts.samples,
        "for the target": found.needed(),
        "the most that budget and staff allow": found.largest,
    }
    limit = found.most_counted
    if limit is not None and limit <= found.most_samples:
        named[f"the most that can count: {counting_text(plan.counts.days, plan.pack)}"] = limit
    rows = [(n, name) for name, n in named.items() if n is not None]
    rows += [(int(n), "") for n, _ in _some(found.over_samples)]
    judged = [(n, found.at(n), name) for n, name in rows]
    return [
        (amount_text(n), amount_text(evidence.analysed), evidence.number, name)
        for n, evidence, name in judged
    ]


def effect_rows(found: Curves) -> list[tuple[str, ...]]:
    """Return effects, what the plan's samples are worth at each, and how many the target takes."""
    named = [(label, effect) for label, effect in found.effects]
    named += [("", point.x) for point in _some(found.over_effects)]
    planned = found.plan.counts.samples
    return [
        (
            effect_text(effect),
            found.at(planned, effect).number,
            "none" if (needed := found.needed(effect)) is None else amount_text(needed),
            label,
        )
        for label, effect in named
    ]


def _some(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Return some points, evenly spread."""
    return points[:: max(1, -(-len(points) // _ROWS))]
