"""Trade-offs as rows: the region of days and samples, its limits, and the marked plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from replicalab.assessment import DIMENSION_ROWS, Assessment, AssumedEffect, Evidence
from replicalab.assessment.phrases import failing_text
from replicalab.facts import blocks, frontier_facts, lab_facts, plan_facts
from replicalab.facts.blocks import Fact, count, facts_table, money
from replicalab.lexicon import amount_text, capitalised, count_text
from replicalab.planner import ORDER, PlanAnalysis, PlanToDraw, RegionLimit, plan_to_draw
from replicalab.scenarios import Pack

if TYPE_CHECKING:
    from replicalab.planner.region import Region

YOUR_PLAN: Final = "your plan"
OFFER: Final = "Lab Manager's offer"
LEAST_LOSS: Final = "least loss"
BALANCED: Final = "balanced"
CHEAPEST: Final = "cheapest"
STRONGEST: Final = "most evidence"
LAST: Final = "last plan"  # of a negotiation

_LINES: Final[dict[str, str]] = {
    RegionLimit.BUDGET: "budget {}",
    RegionLimit.SCHEDULE: "limit {}",
    RegionLimit.ENDPOINT: "endpoint {}",
    RegionLimit.POPULATION: "population {}",
    RegionLimit.STUDY: "study: {}",
}


def plans_shown(analysis: PlanAnalysis) -> dict[str, Assessment]:
    """Return the marked plans by name, the least-loss plan only if it has evidence."""
    plans, plan = {YOUR_PLAN: analysis.yours}, analysis.least.after
    if analysis.offer is not None:
        plans[OFFER] = analysis.offered
    return plans if plan.evidence.void_reason else {**plans, LEAST_LOSS: plan}


def unbeaten_shown(analysis: PlanAnalysis) -> dict[str, Assessment]:
    """Return the plans marked in the chart of the frontier."""
    plans = {name: plan for name, plan in plans_shown(analysis).items() if name != OFFER}
    plans |= {name.lower(): plan for name, plan in analysis.ends.items()}
    return plans if analysis.balanced is None else {**plans, BALANCED: analysis.balanced}


def points_of(plans: Mapping[str, Assessment], drawn: PlanToDraw) -> dict[str, Assessment]:
    """Return the visitor's plan, and the other plans that are points of a region."""
    return {name: plan for name, plan in plans.items() if name == YOUR_PLAN or drawn.holds(plan)}


def trade_off_blocks(analysis: PlanAnalysis) -> Iterator[blocks.Block]:
    """Yield the region of days and samples, and the Pareto frontier."""
    from replicalab.planner.region import region as region_of  # noqa: PLC0415 - numpy, with the first region

    plans, drawn, yours = plans_shown(analysis), plan_to_draw(analysis), analysis.yours
    field = region_of(drawn, list(plans.values()), None)
    yield blocks.Sentence(f"With {lab_facts.amounts_text(yours.pack.lab)}.")
    if facts := [*region_facts(drawn, yours, None, field.outside(points_of(plans, drawn)))]:
        yield facts_table("The region", facts)
    yield region_table(region_title(field), field, drawn)
    yield facts_table("The limits", limit_facts(yours.pack).values())
    standing = frontier_facts.standing_verdict(analysis)
    yield blocks.Sentence(standing.text, status=standing.status)
    yield frontier_facts.standing_table(analysis)
    if analysis.frontier.plans:
        yield frontier_facts.frontier_table(analysis)


def limit_facts(pack: Pack) -> dict[str, Fact]:
    """Return each limit of a study in its lab, also of amounts that are registered later."""
    lab, rate, exist = pack.lab, pack.samples_per_day, pack.design.population_max
    noun = pack.design.sample_noun
    facts: dict[str, Fact] = {
        RegionLimit.BUDGET: money("budget", "Budget", lab.budget, lab),
        RegionLimit.SCHEDULE: count("days", "Days", lab.days_left, "day"),
        RegionLimit.STAFF: count("staff", "Staff", lab.staff, "staff unit"),
        RegionLimit.ENDPOINT: count("min_days", "At least", pack.min_days, "day"),
    }
    for key, row in DIMENSION_ROWS.items():
        if row.lab_limit is not None and key not in ("budget", "schedule", "staff"):
            facts[key] = count(key, capitalised(key), row.lab_limit.has(lab), row.noun)
    if rate is not None:
        counted = count("samples_per_day", "Throughput", rate.value, noun)
        facts[RegionLimit.THROUGHPUT] = counted._replace(text=f"{counted.text} a day")
    if exist is not None:
        facts[RegionLimit.POPULATION] = count("population", "Population", exist, noun)
    if text := "; ".join(limit.text for limit in pack.limits if limit.hard):
        facts[RegionLimit.STUDY] = Fact("study", "Study", text)
    return facts


def limit_labels(pack: Pack) -> dict[str, str]:
    """Return the label of the line of each limit in a chart."""
    facts = limit_facts(pack)
    return {key: _LINES.get(key, "{}").format(fact.shown) for key, fact in facts.items()}


def region_title(region: Region) -> str:
    """Return the samples and days that fit in the lab, also beyond the region's chart."""
    fits, useful = region.span(useful=False), region.span(useful=True)
    if fits is None:
        return "No plan with these items and controls fits this lab"
    # Most samples count on the longest day that fits.
    if not useful and region.drawn.at(fits.last, region.least).evidence.void_reason:
        return "No plan that fits with these items and controls has evidence"
    span = useful or fits
    days = count_text(span.last, "day")
    if span.first != span.last:
        days = f"{amount_text(span.first)} to {days}"
    are = "Feasible, all analysed" if fits.samples > span.samples else "Feasible"
    are = are if useful else "Feasible, but not all samples are analysed"
    samples = count_text(span.samples, region.drawn.plan.pack.design.sample_noun)
    return f"{are}: up to {samples}, {days}"


def keeps_own_items(drawn: PlanToDraw, yours: Assessment, effect: float | None) -> bool:
    """Return whether the plan's evidence differs with its own items from those of the region."""
    evidence = drawn.at(yours.counts.days, yours.counts.samples).evidence_at(effect)
    return yours.evidence_at(effect).text != evidence.text


def region_facts(
    drawn: PlanToDraw,
    yours: Assessment,
    effect: float | None,
    outside: Sequence[tuple[str, int]],
    least: PlanToDraw | None = None,
) -> Iterator[Fact]:
    """Yield a region's items, the ``least``-loss plan's if others, and the plans ``outside``."""
    if drawn.changes:
        yield Fact("items", "Items in the chart", _items_text(drawn))
    elif drawn.failing:
        fails = failing_text(drawn.plan.pack, drawn.failing)
        note = "The lines show the numbers alone."
        yield Fact("fails", "At every point", fails, status=blocks.Status.FAIL, note=note)
    if keeps_own_items(drawn, yours, effect):
        evidence = drawn.at(yours.counts.days, yours.counts.samples).evidence_at(effect)
        yield Fact("own_items", "* Your plan, own items", yours.evidence_at(effect).text)
        yield Fact("these_items", "Your plan, items in the chart", evidence.text)
    if least is not None:
        yield Fact("least_loss", "Least loss, not in the chart", _items_text(least))
    for name, samples in outside:
        yield count("outside", f"Outside the chart: {name}", samples, yours.pack.design.sample_noun)


def _items_text(drawn: PlanToDraw) -> str:
    swaps = [
        frontier_facts.swap_text(part.original, None if part.field == "controls" else part.revised)
        for part in drawn.changes
    ]
    return "; ".join(swaps) or "as planned"


def shade_text(evidence: Evidence) -> str:
    """Return the meaning of the shade of the region's chart."""
    better = "smaller" if evidence.row.scale.lower_is_better else "higher"
    return f"deeper blue: {better} {evidence.measure}"


def reading_fold(evidence: Evidence, *, lost: bool) -> blocks.Fold:
    """Return how to read the chart of the region."""
    lines = [
        f"{capitalised(shade_text(evidence))}.",
        "No blue: no evidence; hatched: does not fit.",
        "Click to choose a point ✕.",
        "* Your plan keeps its own items, which the chart does not have.",
        *(["Dotted: fits, but samples, or the study’s endpoint, are lost."] if lost else []),
        ORDER,
    ]
    return blocks.Fold("How to read this", (blocks.listing(lines),))


def point_facts(plan: Assessment, effect: AssumedEffect | None = None) -> Iterator[Fact]:
    """Yield the facts of the plan at a point, and its evidence at another effect."""
    yield from plan_facts.plan_facts(plan)
    if effect is not None:
        number = plan.evidence_at(effect.effect).number
        yield Fact("evidence_at_effect", f"Effect: {plan_facts.effect_label(effect)}", number)


def region_table(
    caption: str, region: Region, drawn: PlanToDraw, effect: float | None = None
) -> blocks.Table:
    """Return the most samples that fit and count on each day, with their evidence."""
    deep, rows = region.deep, []
    limits = deep.most_feasible.tolist(), deep.most_useful.tolist()
    columns = zip(deep.days.tolist(), *limits, strict=True)
    # Nothing is known between days that are further apart, so each has its own row.
    apart = deep.days[1] - deep.days[0] > 1
    for (_, fits, useful), alike in groupby(columns, key=lambda row: (apart and row[0], *row[1:])):
        first, *_, last = [day for day, *_ in alike] * 2
        span = blocks.number_cell(first) if first == last else blocks.Cell(f"{first:,}–{last:,}")
        numbers = (blocks.Cell("none") if n < 0 else blocks.number_cell(n) for n in (fits, useful))
        worth = blocks.Cell("–")
        if useful >= 0:
            evidence = drawn.at(first, useful).evidence_at(effect)
            bar = frontier_facts.worth_bar(evidence, evidence.value)
            worth = blocks.Cell(evidence.text, bar=bar)
        rows.append((span, *numbers, worth))
    names = ("Days", "Most samples", "Most analysed", "Evidence")
    return blocks.table(caption, names, rows, kind="plain")
