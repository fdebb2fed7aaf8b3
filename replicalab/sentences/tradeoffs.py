"""Trade-offs in sentences: the region, its limits, what is supposed and what is loaded."""

from __future__ import annotations

from collections.abc import Sequence

from replicalab.agents.suggestions import DROPPED
from replicalab.lexicon import amount_text, count_text, joined, label_key
from replicalab.models import Protocol
from replicalab.planner import LeastLoss
from replicalab.scenarios import Pack
from replicalab.sentences.verdicts import failing_text
from replicalab.tradeoffs import Constraint, Worded


def limit_labels(scenario: Pack) -> dict[Constraint, str]:
    """Return the short label of each constraint's line, with its number."""
    lab, design = scenario.lab, scenario.design
    labels = {
        Constraint.BUDGET: f"budget {amount_text(lab.budget)}",
        Constraint.SCHEDULE: f"limit {count_text(lab.days, 'day')}",
        Constraint.STAFF: f"staff limit {lab.staff}",
        Constraint.ENDPOINT: f"under {count_text(scenario.min_days, 'day')}: no evidence",
    }
    if scenario.samples_per_day is not None:
        per_day = scenario.samples_per_day.value
        count = "counts" if per_day == 1 else "count"
        labels[Constraint.THROUGHPUT] = f"at most {amount_text(per_day)} a day {count}"
    if design.population_max is not None:
        exist = "exists" if design.population_max == 1 else "exist"
        labels[Constraint.POPULATION] = f"only {amount_text(design.population_max)} {exist}"
    return labels


def limit_meanings(scenario: Pack) -> dict[Constraint, str]:
    """Return what each constraint allows, in a sentence's words."""
    lab, design = scenario.lab, scenario.design
    meanings = {
        Constraint.BUDGET: f"{amount_text(lab.budget)} credits remain",
        Constraint.SCHEDULE: f"at most {count_text(lab.days, 'day')}",
        Constraint.STAFF: f"at most {count_text(lab.staff, 'staff unit')}",
        Constraint.ENDPOINT: f"at least {count_text(scenario.min_days, 'day')}, or no evidence",
    }
    if scenario.samples_per_day is not None:
        per_day = amount_text(scenario.samples_per_day.value)
        meanings[Constraint.THROUGHPUT] = f"{per_day} samples a day can count"
    if design.population_max is not None:
        meanings[Constraint.POPULATION] = f"{amount_text(design.population_max)} samples exist"
    return meanings


def region_title(days: Sequence[int], useful: Sequence[int], feasible: Sequence[int]) -> str:
    """Return what the region's chart shows, in a few words.

    Args:
        days: the numbers of days that are shown.
        useful: the largest sample that fits and counts on each of them, -1 for none.
        feasible: the largest that fits, -1 for none.
    """
    if max(useful) >= 0:
        open_ = [day for day, most in zip(days, useful, strict=True) if most >= 0]
        last = count_text(open_[-1], "day")
        span = last if len(open_) == 1 else f"{open_[0]} to {last}"
        return f"What fits: up to {amount_text(max(useful))} samples, {span}"
    if max(feasible) >= 0:
        return "Whatever fits here yields no evidence"
    return "No days and samples fit this lab"


def outside_text(outside: Sequence[tuple[str, int]]) -> str | None:
    """Return what lies outside the region's chart, each with its samples, None for nothing."""
    if not outside:
        return None
    named = [f"{name} ({count_text(samples, 'sample')})" for name, samples in outside]
    return f"Outside the chart: {', '.join(named)}."


def do_not_run_text(least: LeastLoss, scenario: Pack) -> str | None:
    """Return that the study should not be run here, None when some plan has evidence."""
    if not least.price.evidence.void:
        return None
    needs, has = scenario.min_days, scenario.lab.days
    if needs > has:
        days = count_text(needs, "day")
        return f"Do not run this here: the endpoint needs {days}, the lab has {has}."
    return "Do not run this here: no plan that fits has any evidence."


def loaded_text(before: Protocol, after: Protocol) -> str:
    """Return what a load brought into the editor: its numbers, and the items that changed."""
    parts = [count_text(after.sample_size, "sample"), count_text(after.duration_days, "day")]
    come, gone = _items(before, after), _items(after, before)
    parts += [f"with {joined(come)}"] if come else []
    parts += [f"without {joined(gone)}"] if gone else []
    return f"Loaded: {', '.join(parts)}."


def _items(before: Protocol, after: Protocol) -> list[str]:
    """Return the items and controls of the one plan that the other does not have, quoted."""
    fields = ("required_equipment", "required_reagents", "controls")
    found = []
    for field in fields:
        known = set(map(label_key, getattr(before, field)))
        found += [f"'{item}'" for item in getattr(after, field) if label_key(item) not in known]
    return found


def worded_text(found: Worded) -> str | None:
    """Return how the plan of the region differs from the plan itself, None when it does not."""
    if found.changes:
        return f"The region is drawn for the plan with {_made(found)}."
    if found.failing:
        return (
            f"No point here is feasible: {failing_text(list(found.failing))} whatever the days "
            "and samples. The lines show what the numbers alone would allow."
        )
    return None


def apart_text(least: Worded) -> str:
    """Return why the least-loss plan may fit where the region of the plan does not."""
    return (
        f"The least-loss plan is not a point of this region: it has {_made(least)}. So it may fit "
        "where this region is hatched; below you can draw the region for it."
    )


def _made(found: Worded) -> str:
    parts = [
        f"no '{change.original}'" if change.revised == DROPPED
        else f"'{change.revised}' for '{change.original}'"
        for change in found.changes
    ]  # fmt: skip
    return " and ".join(parts) or "the items as planned"


def supposed_text(real: Pack, supposed: Pack) -> str | None:
    """Return what is supposed of the lab, None when it is shown as it is."""
    moved = [
        f"{count(now)} instead of {amount_text(was)}"
        for count, was, now in zip(
            (_credits, _days, _people), _means(real), _means(supposed), strict=True
        )
        if was != now
    ]
    if not moved:
        return None
    return f"A supposed lab: {', '.join(moved)}. The other pages keep the real lab."


def _means(scenario: Pack) -> tuple[float, float, float]:
    lab = scenario.lab
    return lab.budget, lab.days, lab.staff


def _credits(amount: float) -> str:
    return count_text(amount, "credit")


def _days(number: float) -> str:
    return count_text(int(number), "day")


def _people(number: float) -> str:
    return count_text(int(number), "staff unit")
