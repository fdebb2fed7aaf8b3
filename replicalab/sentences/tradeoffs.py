"""Trade-offs in sentences: what fits, what beats a plan, the balance, what more means buy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from replicalab.agents import FeasibilityCheckResult
from replicalab.agents.suggestions import DROPPED
from replicalab.concessions import price
from replicalab.costs import amount_text
from replicalab.evidence import Evidence, planned_evidence
from replicalab.labels import count_text
from replicalab.models import Dimension, Protocol
from replicalab.planner import Frontier, FrontierPlan, LeastLoss, asks, asks_text
from replicalab.scenarios.models import NormalizedScenarioPack
from replicalab.sentences.verdicts import Status, Verdict, failing_text
from replicalab.tradeoffs import Constraint, Extra, Worded

_UNITS: Final = {
    Dimension.BUDGET: "credit",
    Dimension.SCHEDULE: "day",
    Dimension.STAFF: "staff unit",
}


def limit_labels(scenario: NormalizedScenarioPack) -> dict[Constraint, str]:
    """Return the short label of each constraint's line, with its number."""
    lab, design = scenario.lab, scenario.design
    labels = {
        Constraint.BUDGET: f"budget {amount_text(lab.budget_remaining)}",
        Constraint.SCHEDULE: f"limit {count_text(lab.time_limit_days, 'day')}",
        Constraint.STAFF: f"staff {lab.staff_count}",
        Constraint.ENDPOINT: f"endpoint {count_text(scenario.min_days, 'day')}",
    }
    if scenario.samples_per_day is not None:
        labels[Constraint.THROUGHPUT] = f"{amount_text(scenario.samples_per_day.value)} a day"
    if design.population_max is not None:
        labels[Constraint.POPULATION] = f"all {amount_text(design.population_max)}"
    return labels


def limit_meanings(scenario: NormalizedScenarioPack) -> dict[Constraint, str]:
    """Return what each constraint allows, in a sentence's words."""
    lab, design = scenario.lab, scenario.design
    meanings = {
        Constraint.BUDGET: f"{amount_text(lab.budget_remaining)} credits remain",
        Constraint.SCHEDULE: f"at most {count_text(lab.time_limit_days, 'day')}",
        Constraint.STAFF: f"at most {count_text(lab.staff_count, 'staff unit')}",
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


def supposed_text(real: NormalizedScenarioPack, supposed: NormalizedScenarioPack) -> str | None:
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


def _means(scenario: NormalizedScenarioPack) -> tuple[float, float, float]:
    lab = scenario.lab
    return lab.budget_remaining, lab.time_limit_days, lab.staff_count


def _credits(amount: float) -> str:
    return f"{amount_text(amount)} {'credit' if amount == 1 else 'credits'}"


def _days(number: float) -> str:
    return count_text(int(number), "day")


def _people(number: float) -> str:
    return count_text(int(number), "staff unit")


# --- the frontier ---------------------------------------------------------------------------


def priced_size_text(samples: int, days: int, credits: float) -> str:
    """Return a plan in numbers: ``161 samples in 3 days for 2,210 credits``."""
    noun = "sample" if samples == 1 else "samples"
    return f"{amount_text(samples)} {noun} in {count_text(days, 'day')} for {_credits(credits)}"


def standing_verdict(
    plan: Protocol,
    check: FeasibilityCheckResult,
    found: Frontier,
    scenario: NormalizedScenarioPack,
) -> Verdict:
    """Return where a plan stands to the plans that nothing beats."""
    if not found.plans:
        return _nothing_fits(plan, scenario)
    standing, worth = found.standing(plan, scenario), planned_evidence(plan, scenario)
    better = _better_text(plan, standing.cheaper, standing.stronger, scenario)
    if not check.feasible:
        text = f"Your plan does not fit this lab: {failing_text(check.failing)}."
        rest = better or "No plan that fits has as much evidence for as little."
        return Verdict(Status.FAIL, "Does not fit", f"{text} {rest}")
    if better:
        return Verdict(Status.CAUTION, "Beaten", better)
    if worth.void:
        return Verdict(Status.FAIL, "No evidence", f"Your plan yields no evidence: {worth.void}.")
    return Verdict(
        Status.PASS,
        "Unbeaten",
        "Nothing beats your plan: more evidence takes more credits, more days, or more given up "
        "of the study.",
    )


def _better_text(
    plan: Protocol,
    cheaper: FrontierPlan | None,
    stronger: FrontierPlan | None,
    scenario: NormalizedScenarioPack,
) -> str:
    mine = price(plan, scenario)
    lines = []
    if cheaper is not None:
        lines.append(
            f"No less evidence can be had for {_credits(mine.credits - cheaper.credits)} less: "
            f"{_plan_text(cheaper, mine.evidence)}."
        )
    if stronger is not None:
        lines.append(
            f"For no more credits and days: {_plan_text(stronger, mine.evidence)}, instead of "
            f"{mine.evidence.text}."
        )
    return " ".join(lines)


def _plan_text(found: FrontierPlan, evidence: Evidence) -> str:
    size = priced_size_text(found.samples, found.days, found.credits)
    return f"{size}, {evidence.measure} {evidence.amount(found.value)}"


def _nothing_fits(plan: Protocol, scenario: NormalizedScenarioPack) -> Verdict:
    found = asks(plan, scenario)
    text = "No plan that fits this lab has any evidence."
    void = planned_evidence(plan, scenario).void
    if found.alone_floor:
        ways = " or ".join(ask.text for ask in found.alone_floor)
        text += f" It would take {ways} to reach the floor."
    elif found.run.possible and found.run.asks:
        text += f" To run your plan it would take {asks_text(found.run.asks)}."
    elif void:
        text += f" Your plan fits, but {void}."
    return Verdict(Status.FAIL, "Nothing fits", text)


def balance_text(found: FrontierPlan | None, scenario: NormalizedScenarioPack) -> str:
    """Return the Nash point as what each side gains by agreeing on it."""
    design, budget = scenario.design, scenario.lab.budget_remaining
    evidence = planned_evidence(scenario.reference_protocol, scenario)
    floor = evidence.amount(design.floor)
    if found is None:
        return (
            f"There is no balanced plan: none that fits reaches the floor of {floor}, so an "
            "agreement would leave the Scientist with nothing."
        )
    given_up = f" Its fidelity loss is {found.loss}." if found.loss else ""
    size = priced_size_text(found.samples, found.days, found.credits)
    return (
        f"The balanced plan is {size}. Both sides gain: the Scientist has {evidence.measure} "
        f"{evidence.amount(found.value)} against a floor of {floor}, and "
        f"{_credits(budget - found.credits)} of {amount_text(budget)} are "
        f"left over.{given_up}"
    )


# --- more means -----------------------------------------------------------------------------


def extra_text(extra: Extra) -> str:
    """Return what one addition to the lab would buy: ``+1 day: nothing``."""
    unit = _UNITS[extra.dimension] + ("" if extra.more == 1 else "s")
    return f"+{extra.more} {unit}: {_bought(extra.before, extra.after, better=extra.better)}"


def _bought(before: LeastLoss, after: LeastLoss, *, better: bool) -> str:
    if not better:
        return "nothing"
    if after.none_feasible:
        return f"still no plan that fits; {failing_text(after.check.failing)}"
    worth = after.price.evidence
    if before.none_feasible:
        size = priced_size_text(
            after.plan.sample_size, after.plan.duration_days, after.price.credits
        )
        return f"a plan that fits, {size}, {worth.text}"
    return ", ".join(_gains(before, after))


def _gains(before: LeastLoss, after: LeastLoss) -> list[str]:
    samples = after.plan.sample_size - before.plan.sample_size
    old, new = before.price.evidence, after.price.evidence
    found = []
    if samples:
        noun = "sample" if abs(samples) == 1 else "samples"
        found.append(f"{amount_text(abs(samples))} {'more' if samples > 0 else 'fewer'} {noun}")
    found.append(f"{new.text}, unchanged" if old.text == new.text else _moved(old, new))
    if before.price.loss != after.price.loss:
        found.append(f"fidelity loss {before.price.loss} → {after.price.loss}")
    return found


def _moved(old: Evidence, new: Evidence) -> str:
    if old.void or new.void:
        return f"{new.text} instead of {old.text}"
    better = f"{new.measure} {old.amount(old.value)} → {new.amount(new.value)}"
    return f"{better} ({new.tier})" if new.tier is not old.tier else better
