"""The region of days and samples in words: what fits, its limits, and the chosen point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from replicalab.assessment import Assessment, Evidence
from replicalab.assessment.phrases import analysed_text, failing_text, size_text
from replicalab.facts.blocks import Cell, Table, number_cell, table
from replicalab.facts.frontier import swap_text, worth_bar
from replicalab.facts.lab import amounts_text
from replicalab.facts.options import do_not_run_text, none_passes_text, too_short
from replicalab.facts.plan import effect_text, group_text, listed, with_cautions
from replicalab.facts.verdicts import evidence_sentence
from replicalab.lexicon import amount_text, capitalised, count_text, label_key
from replicalab.models import Protocol
from replicalab.planner import PlanAnalysis, PlanToDraw, RegionLimit
from replicalab.scenarios import Pack

if TYPE_CHECKING:
    from replicalab.planner.region import Region, Span

_THESE: Final = "these items and controls"


class LimitText(NamedTuple):
    """A constraint in words: its line's short label, and what it allows."""

    label: str
    meaning: str


def limit_texts(pack: Pack) -> dict[RegionLimit, LimitText]:
    """Return each constraint of a study in its lab in words, with its number."""
    lab, least = pack.lab, count_text(pack.min_days, "day")
    credits, days = lab.money(lab.budget), count_text(lab.days_left, "day")
    found = {
        RegionLimit.BUDGET: LimitText(
            f"budget {amount_text(lab.budget)}",
            f"{credits} {'remains' if lab.budget == 1 else 'remain'}",
        ),
        RegionLimit.SCHEDULE: LimitText(f"limit {days}", f"at most {days}"),
        RegionLimit.STAFF: LimitText(
            f"staff {lab.staff}", f"at most {count_text(lab.staff, 'staff unit')}"
        ),
        RegionLimit.ENDPOINT: LimitText(
            f"{'endpoint' if pack.min_days > 1 else 'least'} {least}",
            f"at least {least}, or no evidence",
        ),
    }
    rate, exist = pack.samples_per_day, pack.design.population_max
    if rate is not None:
        count, per_day = "counts" if rate.value == 1 else "count", amount_text(rate.value)
        found[RegionLimit.THROUGHPUT] = LimitText(
            f"{per_day} a day {count}", f"{count_text(rate.value, 'sample')} a day can count"
        )
    if exist is not None:
        verb = "exists" if exist == 1 else "exist"
        found[RegionLimit.POPULATION] = LimitText(
            f"{amount_text(exist)} {verb}", f"{count_text(exist, 'sample')} {verb}"
        )
    held = [limit.text for limit in pack.limits if limit.hard]
    if held:
        found[RegionLimit.STUDY] = LimitText("study's limit", "; ".join(held))
    return found


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
    if found.drawn.at(
        fits.last, found.least
    ).evidence.void_reason:  # the longest: there most can count
        here = "here" if too_short(found.drawn.plan.pack) else f"with {_THESE}"
        return f"Whatever fits {here} yields no evidence"
    return f"What fits, but does not all count: {_span_text(fits)}"


def _span_text(span: Span) -> str:
    last = count_text(span.last, "day")
    days = last if span.first == span.last else f"{amount_text(span.first)} to {last}"
    return f"up to {count_text(span.samples, 'sample')}, {days}"


def means_text(pack: Pack) -> str:
    """Return the amounts of the lab that a chart is drawn for, as the levers have them."""
    return f"with {amounts_text(pack.lab)}"


def shade_text(evidence: Evidence) -> str:
    """Return what the shade of the region's chart means, in either theme."""
    more = "smaller" if evidence.row.scale.lower_is_better else "higher"
    return f"deeper blue: {more} {evidence.measure}"


def fillings_text(evidence: Evidence) -> str:
    """Return what each filling of the region's chart means, in either theme."""
    return f"{shade_text(evidence)}; no blue: no evidence; hatched: does not fit"


def own_items_text(drawn: PlanToDraw, yours: Assessment, effect: float | None) -> str:
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


def worded_text(drawn: PlanToDraw) -> str:
    """Return how the plan of the region differs from the plan itself, empty when it does not."""
    if drawn.changes:
        return f"The region is drawn for the plan with {_made(drawn)}."
    if drawn.failing:
        fails = failing_text(drawn.plan, drawn.failing)
        return (
            f"No point here is feasible: {fails} whatever the days and samples. "
            "The lines show what the numbers alone would allow."
        )
    return ""


def drawn_for_text(drawn: PlanToDraw, plan: Assessment, name: str) -> str:
    """Return for which plan the region is drawn, and what it shows with other items than its own.

    ``For the agreed plan: 117 samples in 15 days.``
    """
    size = size_text(plan)
    if drawn.failing:
        fails = capitalised(failing_text(drawn.plan, drawn.failing))
        return f"For {name}: {size}. {fails} whatever the days and samples."
    if not drawn.changes:
        return f"For {name}: {size}."
    own, there = plan.evidence.text, drawn.at(plan.counts.days, plan.counts.samples).evidence.text
    apart = f"; * with its own items {own}" if own != there else ""
    return f"For {name} with substitutes: {size}, {there}{apart}."


def apart_text(least: PlanToDraw) -> str:
    """Return why the least-loss plan may fit where the region of the plan does not."""
    return (
        f"The least-loss plan is not a point of this region: it has {_made(least)}. The switch "
        "above draws its region."
    )


def _made(drawn: PlanToDraw) -> str:
    parts = [
        swap_text(change.original, None if change.field == "controls" else change.revised)
        for change in drawn.changes
    ]
    return " and ".join(parts) or "the items as planned"


# --- the chosen point, and what is taken from here ------------------------------------------


def no_evidence_text(options: PlanAnalysis) -> str:
    """Return that the study should not be run in this lab, empty when some plan has evidence."""
    least, pack = options.least, options.yours.pack
    if not least.after.evidence.void_reason:
        return ""
    if too_short(pack):
        return do_not_run_text(pack)
    if not least.exact:
        return "The best plan that was found shows nothing; that none is better is not proven."
    after = least.after
    if after.feasible and after.counts.days >= pack.min_days:
        return f"Do not run this here: {after.evidence.void_reason}."
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


def point_lines(plan: Assessment, effect: float | None = None) -> list[str]:
    """Return what fails at a point, its evidence, also at another effect, and what it takes.

    Its samples and days stand above it.
    """
    fails = f"{capitalised(failing_text(plan))}. " if plan.failing else ""
    samples = plan.counts.samples
    groups = group_text(samples, plan.pack.design)
    takes = [
        groups,
        analysed_text(samples, plan.evidence.analysed),
        plan.pack.lab.money(plan.cost),
        count_text(plan.staff, "staff unit"),
    ]
    found = f"{fails}{evidence_sentence(plan.evidence)}"
    if effect is not None:
        found += f" With the effect that is assumed here: {plan.evidence_at(effect).text}."
    return [with_cautions(found, plan), ", ".join(filter(None, takes))]


def one_effect_text(plan: Assessment) -> str:
    """Return what the evidence assumes, where there are no effects to choose from."""
    effect = plan.evidence.row.effect
    if effect is None:
        return "This study’s evidence does not rest on an assumed effect that could be off."
    size = effect_text(plan.pack.design.effect_planning)
    return (
        f"The evidence rests on an assumed {effect.name} of {size}; others are tried on Protocol."
    )


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
    most = deep.most_feasible.tolist(), deep.most_useful.tolist()
    columns = zip(deep.days.tolist(), *most, strict=True)
    apart = deep.days[1] - deep.days[0] > 1
    for (_, fits, useful), alike in groupby(columns, key=lambda row: (apart and row[0], *row[1:])):
        first, *_, last = [day for day, *_ in alike] * 2
        span = number_cell(first) if first == last else Cell(f"{first:,}–{last:,}")
        counts = (Cell("none") if most < 0 else number_cell(most) for most in (fits, useful))
        worth = Cell("–") if useful < 0 else _worth(drawn.at(first, useful).evidence_at(effect))
        yield (span, *counts, worth)


def _worth(evidence: Evidence) -> Cell:
    return Cell(evidence.text, bar=worth_bar(evidence, evidence.value))
