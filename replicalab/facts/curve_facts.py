"""The curves of power analysis, and the original study: titles, numbers and tables."""

from typing import Final

from replicalab import assessment, lexicon
from replicalab.assessment.effects import PLANNED, YOURS, original_interval
from replicalab.designs import KINDS, Estimate
from replicalab.designs.originals import doubt_of, effect_of
from replicalab.facts import blocks, texts
from replicalab.facts.blocks import Cell, Column, Group, Heading, Panel, Sentence, Table
from replicalab.facts.change_facts import unreached_text
from replicalab.facts.plan_facts import counting_text, effect_text
from replicalab.facts.verdicts import evidence_status, value_of
from replicalab.planner.curves import Curves, Point, TargetLimit
from replicalab.scenarios import Confidence, Design, Original

_ROWS: Final = 12  # points of a curve in its table, without those with a name
TITLE: Final = "The original"
CONFIDENCE: Final = {
    Confidence.VERIFIED: "verified",
    Confidence.RECALLED: "recalled, not found again",
    Confidence.DERIVED: "derived from verified numbers",
    Confidence.PLANNING_VALUE: "planning value",
}
_TINY_P: Final = 1e-4


def samples_title(curves: Curves) -> str:
    """Return the samples for the target, and the most that the lab can pay and staff."""
    needed, largest, evidence = curves.needed, curves.largest, curves.plan.evidence
    target = evidence.text_of(evidence.format(evidence.target))
    days = curves.plan.days_text
    fits = "none" if largest is None else lexicon.amount_text(largest)
    if needed is None:
        return texts.NONE_REACHES_HERE.format(target=target, days=days, fits=fits)
    target, noun = lexicon.capitalised(target), curves.plan.pack.design.sample_noun
    needs = lexicon.count_text(needed, noun)
    return texts.SAMPLES_REACH.format(target=target, needed=needs, days=days, fits=fits)


def samples_panel(curves: Curves) -> Panel:
    """Return the evidence over the samples, with the plan's point and the bounds."""
    plan, limit, fits = curves.plan, curves.most_samples, curves.largest
    worst, best = assessment.scale_of([plan.evidence, *curves.of_samples.values()])

    def up(value: float) -> float:
        return min(1.0, max(0.0, (value - worst) / (best - worst)))

    shows = plan.evidence.void_reason is None
    return blocks.panel(
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


def usable_text(most: int) -> str:
    """Return the samples that can be analysed: ``160 at most analysed``."""
    return f"{lexicon.amount_text(most)} at most analysed"


def effect_title(curves: Curves) -> str:
    """Return the plan's samples and their evidence."""
    return f"{curves.plan.samples_text}: {curves.plan.evidence.text}"


def assumed_text(curves: Curves) -> str:
    """Return the days and the effect of the curves."""
    effect = curves.plan.evidence.row.effect
    days = curves.plan.days_text
    if effect is None or not curves.effects:
        return texts.CURVES_WITHOUT_EFFECT.format(days=days)
    size = effect_text(curves.effects[0].effect)
    return texts.CURVES_ASSUME.format(days=days, effect=effect.name, size=size)


def bound_text(curves: Curves) -> str:
    """Return the limits of the curves: too few days, samples that cannot count; empty if none."""
    plan, number = curves.plan, curves.most_counted
    days, lines, noun = plan.counts.days, list[str](), plan.pack.design.sample_noun
    if days < plan.pack.min_days:
        lines.append(f"{lexicon.capitalised(plan.evidence.void_reason or '')}.")
    elif number is not None and (number <= curves.most_samples or curves.needed is None):
        samples = lexicon.count_text(number, noun)
        lines.append(texts.NO_MORE_COUNT.format(samples=samples, limit=counting_text(plan)))
    if curves.in_more_days is not None:
        needed, longer = curves.in_more_days
        size, time = lexicon.count_text(needed, noun), lexicon.count_text(longer, "day")
        lines.append(texts.WOULD_REACH.format(samples=size, days=time))
    elif (why := curves.why_unreached) and why.limit is not TargetLimit.POPULATION:
        lines.append(unreached_text(plan))
    return " ".join(lines)


def samples_rows(curves: Curves) -> list[tuple[Cell, ...]]:
    """Return planned samples, analysed ones, evidence and name; named rows first."""
    plan, limit = curves.plan, curves.most_counted
    named = {
        "your plan": plan.counts.samples,
        "for the target": curves.needed,
        "the most that budget and staff allow": curves.largest,
    }
    if limit is not None and limit <= curves.most_samples:
        named[f"the most that can be analysed: {counting_text(plan)}"] = limit
    sizes = [(size, name) for name, size in named.items() if size is not None]
    sizes += [(int(point.x), "") for point in _some(curves.over_samples)]
    rows = []
    for size, name in sizes:
        evidence = curves.at(size)
        shown = Cell(evidence.number, value_of(evidence))
        rows.append(
            blocks.row(blocks.number_cell(size), blocks.number_cell(evidence.analysed), shown, name)
        )
    return rows


def effect_rows(curves: Curves) -> list[tuple[Cell, ...]]:
    """Return effects, the evidence of the plan's samples, the samples for the target, and names."""
    rows, samples = [], curves.plan.counts.samples
    points = [("", point.x) for point in _some(curves.over_effects)]
    for label, effect in [*curves.effects, *points]:
        needed = curves.needed_at(effect)
        takes = "none" if needed is None else lexicon.amount_text(needed)
        worth = curves.at(samples, effect).number
        rows.append(blocks.row(effect_text(effect), worth, takes, label))
    return rows


def _some(points: tuple[Point, ...]) -> tuple[Point, ...]:
    return points[:: max(1, -(-len(points) // _ROWS))]


def original_panel(curves: Curves) -> Group | None:
    """Return `original_blocks` under a heading, or None."""
    parts = original_blocks(curves)
    return blocks.group(Heading(TITLE, 2, part=True), *parts) if parts else None


def original_blocks(curves: Curves) -> list[Sentence | Table]:
    """Return the original's numbers and each effect to plan with; empty without an original."""
    design, planned = _written(curves), curves.plan.pack.design
    if design.original is None:
        return []
    return [
        Sentence(reported_text(design, design.original)),
        *([] if planned.row.effect is None else [effects_table(curves)]),
        Sentence(fits_text(curves)),
        *(Sentence(text, quiet=True) for text in _not_offered(design)),
        Sentence(source_text(design.original), "Source:", quiet=True),
    ]


def _written(curves: Curves) -> Design:
    return curves.written or curves.plan.pack.design


def reported_text(design: Design, original: Original) -> str:
    """Return the reported numbers, their test, and any contradiction between them."""
    kind, estimate = KINDS[design.kind], assessment.original_estimate(design)
    name = kind.effect.name if kind.effect else ""
    numbers = [f"{key} = {lexicon.exact_text(value)}" for key, value in original.numbers.items()]
    se = "" if original.se is None else f"standard error {lexicon.exact_text(original.se)}"
    parts = (
        f"{lexicon.capitalised(name)} {effect_text(effect_of(kind, original))}",
        f"from {', '.join(numbers)}" if numbers else "",
        se,
        interval_text(original),
        counts_text(original),
        "tested one-sided" if original.sides == 1 else "",
    )
    test = f": {estimate_text(estimate)}" if estimate else ""
    reported = lexicon.ended(f"{', '.join(filter(None, parts))}{test}")
    return f"{reported} {doubt_of(kind, original)}".strip()


def choices_texts(design: Design) -> list[str]:
    """Return an original's numbers, and the effects to plan with that follow from them."""
    if design.original is None:
        return []
    effects = ", ".join(
        f"{choice.label} {effect_text(effect)}"
        for choice, effect in assessment.offered_effects(design)
    )
    offered = texts.EFFECTS_OFFERED.format(effects=effects) if effects else ""
    return [reported_text(design, design.original), offered, *_not_offered(design)]


def _not_offered(design: Design) -> list[str]:
    missing = assessment.missing_choices(design)
    return [f"{lexicon.capitalised(name)} is not offered: {why}." for name, why in missing]


def interval_text(original: Original) -> str:
    """Return the reported interval, or an empty text."""
    if original.low is None or original.high is None:
        return ""
    low, high = map(lexicon.exact_text, (original.low, original.high))
    return f"{lexicon.percent_text(original.level)} interval {low} to {high}"


def counts_text(original: Original) -> str:
    """Return the reported samples and events; empty if none."""
    n1, n2, n, events = original.n1, original.n2, original.n, original.events
    counts = [] if n is None else [f"n = {lexicon.amount_text(n)}"]
    if n1 is not None and n2 is not None:
        n1_text, n2_text = map(lexicon.amount_text, (n1, n2))
        counts = [texts.TWO_GROUPS.format(n1=n1_text, n2=n2_text)]
    counts += [] if events is None else [lexicon.count_text(events, "event")]
    return ", ".join(counts)


def worked_out_interval_text(design: Design) -> str:
    """Return the 95 % interval from an estimate and its standard error; empty without them."""
    if (ends := original_interval(design)) is None:
        return ""
    low, high = map(effect_text, ends)
    return texts.WORKED_OUT_INTERVAL.format(low=low, high=high)


def estimate_text(estimate: Estimate) -> str:
    """Return the t or z of an estimate and its two-sided p."""
    p, z = f"two-sided p {p_text(estimate.p)}", _statistic(estimate.z)
    if estimate.t is None or estimate.df is None:
        return f"z = {z}, {p}"
    t = _statistic(estimate.t)
    test = f"t = {t} ({estimate.df:,} df), {p}"
    return test if t == z else f"{test}; by its standard error z = {z}"


def _statistic(value: float) -> str:
    return f"{value:z.3g}".replace("-", "\u2212")


def p_text(p: float) -> str:
    """Return a p with its sign: ``= 0.036``, ``< 0.0001``."""
    return f"< {_TINY_P:.4f}" if p < _TINY_P else f"= {p:.2g}"


def source_text(original: Original) -> str:
    """Return the source of the original's numbers, with its confidence and place."""
    where = f"; {original.where}" if original.where else ""
    sure = CONFIDENCE[Confidence(original.confidence)]
    return f"{original.source} ({sure}{where})."


def effects_table(curves: Curves) -> Table:
    """Return each effect to plan with: its size, the samples it takes, and the plan's evidence."""
    plan, written = curves.plan, _written(curves)
    planned, value = written.effect_planning, plan.pack.design.effect_planning
    effects: list[tuple[str, float | None, str]] = []
    is_yours = value != planned or "effect" in plan.pack.asked
    if is_yours:
        effects.append((YOURS, value, "The effect that is asked here."))
    if not is_yours or value != planned:
        effects.append((PLANNED, planned, "The effect that the study plans with."))
    for choice, size in assessment.offered_effects(written):
        source = f" {choice.source}." if choice.source else ""
        effects.append((choice.label, size, f"{choice.meaning}{source}"))
    rows, below = [], []
    for label, effect, meaning in effects:
        if effect is not None:
            needed = curves.needed_anywhere(effect)
            evidence = curves.at(plan.counts.samples, effect)
            takes = Cell("none" if needed is None else lexicon.amount_text(needed), needed)
            worth = Cell(evidence.number, value_of(evidence), evidence_status(evidence))
            shown = Cell(effect_text(effect), effect)
            rows.append(blocks.row(lexicon.capitalised(label), shown, takes, worth))
            below.append((meaning,))
    columns = [
        Column("Effect"),
        *(Column(name, "number") for name in ("Size", "Takes", "Your plan")),
    ]
    return blocks.table("Which effect to plan with", columns, rows, below=below)


def fits_text(curves: Curves) -> str:
    """Return the meaning of the table's column of samples, and the samples that the lab allows."""
    limit, evidence = curves.most_counted, curves.plan.evidence
    counted = "" if limit is None else f"; at most {lexicon.amount_text(limit)} can be analysed"
    largest = "none" if curves.largest is None else lexicon.amount_text(curves.largest)
    fits = f"This lab can afford {largest}{counted}."
    if evidence.row.effect is None:  # no table
        return fits
    target = evidence.text_of(evidence.format(evidence.target))
    return texts.TAKES.format(target=target, fits=fits)
