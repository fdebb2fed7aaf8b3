"""The region of days and samples as rows: what fits, its limits, and the chosen point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from replicalab.assessment import Assessment, Evidence
from replicalab.assessment.phrases import failing_text
from replicalab.facts import texts
from replicalab.facts.blocks import Cell, Fold, Status, Table, listing, number_cell, table
from replicalab.facts.fact import Fact, count, money
from replicalab.facts.frontier import swap_text, worth_bar
from replicalab.facts.lab import amounts_text
from replicalab.facts.options import do_not_run_text, none_passes_text, too_short
from replicalab.facts.plan import effect_text, group_text, listed
from replicalab.lexicon import amount_text, capitalised, count_text, label_key
from replicalab.models import Protocol
from replicalab.planner import ORDER, PlanAnalysis, PlanToDraw, RegionLimit
from replicalab.scenarios import Pack

if TYPE_CHECKING:
    from replicalab.planner.region import Region, Span


LINES: Final = {
    RegionLimit.BUDGET: "budget {}",
    RegionLimit.SCHEDULE: "limit {}",
    RegionLimit.STAFF: "{}",
    RegionLimit.ENDPOINT: "endpoint {}",
    RegionLimit.THROUGHPUT: "{}",
    RegionLimit.POPULATION: "population {}",
    RegionLimit.STUDY: "study: {}",
}
"""The label of the line of each limit in a chart."""


def limit_facts(pack: Pack) -> dict[RegionLimit, Fact]:
    """Return each limit of a study in its lab."""
    lab, rate, exist = pack.lab, pack.samples_per_day, pack.design.population_max
    facts = {
        RegionLimit.BUDGET: money("budget", "Budget", lab.budget, lab),
        RegionLimit.SCHEDULE: count("days", "Days", lab.days_left, "day"),
        RegionLimit.STAFF: count("staff", "Staff", lab.staff, "staff unit"),
        RegionLimit.ENDPOINT: count("min_days", "At least", pack.min_days, "day"),
    }
    if rate is not None:
        counted = count("samples_per_day", "Count", rate.value, "sample")
        facts[RegionLimit.THROUGHPUT] = counted._replace(text=f"{counted.text} a day")
    if exist is not None:
        facts[RegionLimit.POPULATION] = count("population", "Population", exist, "sample")
    if text := "; ".join(limit.text for limit in pack.limits if limit.hard):
        facts[RegionLimit.STUDY] = Fact("study", "Study", text)
    return facts


def region_title(found: Region) -> str:
    """Return what fits in the lab with the plan's items; the region's chart may end before it."""
    fits, useful = found.span(useful=False), found.span(useful=True)
    if fits is None:
        return texts.REGION_NOTHING
    if useful is not None:
        title = texts.REGION_COUNTS if fits.samples > useful.samples else texts.REGION_ALL
        return title.format(span=_span_text(useful))
    # Most samples count on the longest day that fits.
    if found.drawn.at(fits.last, found.least).evidence.void_reason:
        where = "here" if too_short(found.drawn.plan.pack) else "with these items and controls"
        return texts.REGION_VOID.format(where=where)
    return texts.REGION_LOSES.format(span=_span_text(fits))


def _span_text(span: Span) -> str:
    days = count_text(span.last, "day")
    if span.first != span.last:
        days = f"{amount_text(span.first)} to {days}"
    return texts.REGION_SPAN.format(samples=count_text(span.samples, "sample"), days=days)


def means_text(pack: Pack) -> str:
    """Return the amounts of the lab that a chart is drawn for."""
    return f"with {amounts_text(pack.lab)}"


def keeps_own_items(drawn: PlanToDraw, yours: Assessment, effect: float | None) -> bool:
    """Return whether the plan's own items show something else than those of the region."""
    evidence = drawn.at(yours.counts.days, yours.counts.samples).evidence_at(effect)
    return yours.evidence_at(effect).text != evidence.text


def region_facts(
    drawn: PlanToDraw,
    yours: Assessment,
    effect: float | None,
    outside: Sequence[tuple[str, int]],
    least: PlanToDraw | None = None,
) -> Iterator[Fact]:
    """Yield for which plan the region is drawn, and what is not in it.

    Args:
        drawn: the plan that the region is drawn for.
        yours: the plan itself.
        effect: the effect assumed, None for the planning effect.
        outside: the name and samples of the plans outside the chart.
        least: the least-loss plan if it is not a point of this region.
    """
    if drawn.changes:
        yield Fact("items", "Items in the chart", _items_text(drawn))
    elif drawn.failing:
        fails = failing_text(drawn.plan, drawn.failing)
        yield Fact(
            "fails", "At every point", fails, status=Status.FAIL, note=texts.REGION_FAILS
        )  # fmt: skip
    if keeps_own_items(drawn, yours, effect):
        evidence = drawn.at(yours.counts.days, yours.counts.samples).evidence_at(effect)
        custom = yours.evidence_at(effect)
        yield Fact("own_items", "* Your plan, own items", custom.text)
        yield Fact("these_items", "Your plan, items in the chart", evidence.text)
    if least is not None:
        yield Fact("least_loss", "Least loss, not in the chart", _items_text(least))
    for name, samples in outside:
        yield count("outside", f"Outside the chart: {name}", samples, "sample")


def _items_text(drawn: PlanToDraw) -> str:
    swaps = [
        swap_text(change.original, None if change.field == "controls" else change.revised)
        for change in drawn.changes
    ]
    return "; ".join(swaps) or "as planned"


def shade_text(evidence: Evidence) -> str:
    """Return what the shade of the region's chart means."""
    better = "smaller" if evidence.row.scale.lower_is_better else "higher"
    return texts.REGION_SHADE.format(better=better, measure=evidence.measure)


def reading_fold(evidence: Evidence, *, lost: bool) -> Fold:
    """Return how to read the chart of the region."""
    shades = capitalised(shade_text(evidence))
    lines = [shades, texts.REGION_FILLINGS, texts.REGION_CLICK, texts.REGION_STAR]
    lines += [texts.REGION_LOST, ORDER] if lost else [ORDER]
    return Fold("How to read this", (listing(lines),))


# --- the chosen point, and what is taken from here ------------------------------------------


def no_evidence_text(options: PlanAnalysis) -> str:
    """Return that the study should not be run in this lab, empty when some plan has evidence."""
    loss, pack = options.least, options.yours.pack
    if not loss.after.evidence.void_reason:
        return ""
    if too_short(pack):
        return do_not_run_text(pack)
    if not loss.exact:
        return texts.NOT_PROVEN_BEST
    reason = texts.NOTHING_IN_FEWER.format(none=none_passes_text(pack))
    if loss.after.feasible and loss.after.counts.days >= pack.min_days:
        reason = loss.after.evidence.void_reason
    return texts.DO_NOT_RUN.format(reason=reason)


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
    result: list[str] = []
    for field in ("required_equipment", "required_reagents", "controls"):
        names = set(map(label_key, getattr(before, field)))
        result += [item for item in getattr(after, field) if label_key(item) not in names]
    return result


def point_facts(plan: Assessment, effect: float | None = None) -> Iterator[Fact]:
    """Yield the evidence of the plan at a point, also at another effect, and what it takes."""
    evidence, lab = plan.evidence, plan.pack.lab
    yield Fact("evidence", evidence.title, evidence.number, note=str(evidence.tier))
    if effect is not None:
        existing = plan.evidence_at(effect)
        yield Fact("evidence_at_effect", "At the effect assumed here", existing.number)
    if groups := group_text(plan.counts.samples, plan.pack.design):
        yield Fact("groups", "Groups", groups)
    if evidence.analysed < plan.counts.samples:
        yield count("analysed", "Analysed", evidence.analysed, "sample")
    yield money("cost", "Cost", plan.cost, lab)
    yield count("staff", "Staff", plan.staff, "staff unit")


def one_effect_text(plan: Assessment) -> str:
    """Return what the evidence assumes if there are no effects to choose from."""
    effect = plan.evidence.row.effect
    if effect is None:
        return texts.EFFECT_NOT_ASSUMED
    size = effect_text(plan.pack.design.effect_planning)
    return texts.EFFECT_ALONE.format(effect=effect.name, size=size)


# --- its table --------------------------------------------------------------------------------


def region_table(
    caption: str, region: Region, drawn: PlanToDraw, effect: float | None = None
) -> Table:
    """Return the most samples that fit and count on each day, with their evidence."""
    names = ("Days", "Most fit", "and count", "Evidence")
    return table(caption, names, _columns(region, drawn, effect), kind="plain")


def _columns(region: Region, drawn: PlanToDraw, effect: float | None) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each run of days with the same numbers.

    Between days that are further apart nothing is known, so each has its own.
    """
    deep = region.deep
    pair = deep.most_feasible.tolist(), deep.most_useful.tolist()
    columns = zip(deep.days.tolist(), *pair, strict=True)
    apart = deep.days[1] - deep.days[0] > 1
    for (_, fits, useful), alike in groupby(columns, key=lambda row: (apart and row[0], *row[1:])):
        first, *_, last = [day for day, *_ in alike] * 2
        span = number_cell(first) if first == last else Cell(f"{first:,}–{last:,}")
        counts = (Cell("none") if limit < 0 else number_cell(limit) for limit in (fits, useful))
        worth = Cell("–") if useful < 0 else _worth(drawn.at(first, useful).evidence_at(effect))
        yield (span, *counts, worth)


def _worth(evidence: Evidence) -> Cell:
    return Cell(evidence.text, bar=worth_bar(evidence, evidence.value))
