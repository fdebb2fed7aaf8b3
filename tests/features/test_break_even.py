"""Break-evens against a fine scan of every assumption, through the changes that a visitor makes."""

from typing import Any, Final

import pytest

from replicalab import break_evens, load
from replicalab.assessment import Assessment, assess
from replicalab.facts.verdicts import verdict_of
from replicalab.features.break_even import BreakEven, sentence
from replicalab.models import revise
from replicalab.scenarios import EvidenceAssumptions, LabOverrides
from replicalab.scenarios.overrides import ItemState, OwnItem
from tests.planner.small_labs import shipped, small_lab
from tests.tiers import FEW_LABS, batches

_POINTS: Final = 60
_ROUNDING: Final = 1e-9


def changed(plan: Assessment, key: str, value: float) -> Assessment:
    pack, design = plan.pack, plan.pack.design
    kind, _, item = key.partition(" of ")
    if kind in ("effect", "dropout"):
        return in_study(plan, EvidenceAssumptions.model_validate({kind: float(value)}))
    if kind == "icc":
        assert design.units
        units = design.units.model_copy(update={"icc": float(value)})
        return in_study(plan, EvidenceAssumptions(units=units))
    if kind in ("price", "booking") and item != "sample":
        [label, category] = next((i.label, i.category) for i in plan.items if i.key == item)
        states: dict[str, Any] = {"price": float(value)}
        if kind == "booking":
            states = {"state": ItemState.BOOKED, "until": int(value)}
        own = OwnItem.model_validate({"label": label, "category": category, **states})
        lab = LabOverrides(items=(own,)).over(pack.lab, pack.study)
    elif kind == "price":
        lab = LabOverrides(rates={"per_sample": float(value)}).over(pack.lab, pack.study)
    else:
        means = {
            "delay": {"start_day": pack.lab.start_day + int(value)},
            "budget": {"budget": max(0.01, value)},
        }
        lab = pack.lab.with_means(**means.get(kind, {kind: int(value)}))  # type: ignore[arg-type]
    return assess(plan.plan, pack.in_lab(lab))


def in_study(plan: Assessment, question: EvidenceAssumptions) -> Assessment:
    study = plan.pack.study
    asked = study.model_copy(update={"design": question.over(study.design)})
    return assess(plan.plan, plan.pack.model_copy(update={"study": asked}))


def scanned(row: BreakEven, is_passing: bool) -> list[float]:
    """Return values from the present one to the end, denser near the break-even."""
    assumption = row.assumption
    now, end = assumption.now, assumption.ends[is_passing]
    values = {now + (end - now) * place / _POINTS for place in range(_POINTS + 1)}
    if row.to is not None:
        values |= {now + (row.to - now) * share for share in (0.9, 0.999, 1.001, 1.1)}
    if assumption.key in ("days", "staff", "delay") or assumption.key.startswith("booking"):
        least = 0 if assumption.key == "delay" else 1
        values = {float(max(least, round(value))) for value in values}
    low, high = sorted((now, end))
    inside = [value for value in values if low <= value <= high]
    if assumption.key == "dropout":
        inside = [value for value in inside if value < 1]
    return sorted(inside, key=lambda value: abs(value - now))


def assert_matches_scan(plan: Assessment) -> None:
    now, is_passing = verdict_of(plan), plan.passes
    for row in break_evens(plan):
        key, start = row.assumption.key, row.assumption.now
        same = 0.0
        first = abs(row.assumption.ends[is_passing] - start)
        for value in scanned(row, is_passing):
            if verdict_of(changed(plan, key, value)) != now:
                assert row.to is not None, key
                first = abs(value - start)
                break
            same = abs(value - start)
        if row.to is not None:
            assert same - _ROUNDING <= abs(row.to - start) <= first + _ROUNDING, key


@pytest.mark.parametrize(("study", "lab"), FEW_LABS)
def test_break_evens_match_a_fine_scan(study: str, lab: str) -> None:
    analysis = shipped(study, lab)
    for plan in (analysis.yours, analysis.least.after):
        assert_matches_scan(plan)


@pytest.mark.parametrize("seeds", batches(5, quick=4, long=100))
def test_break_evens_match_in_small_labs(seeds: range) -> None:
    for seed in seeds:
        assert_matches_scan(assess(*small_lab(seed)))


def test_sentence_names_effect_nearest_and_lost() -> None:
    plan = assess_in("easy")
    assert sentence(plan, break_evens(plan)) == (
        "The plan still holds with an effect of 0.283, 5.8 % less money or 10 % more for a "
        "participant. It does not survive the loss of one staff unit."
    )


def test_failing_plan_names_all_that_it_needs() -> None:
    plan = assess_in("medium")
    assert sentence(plan, break_evens(plan)) == (
        "The plan does not pass. To run this plan unchanged: 600 more credits, 1 more day and "
        "'voice-key booth' released."
    )


@pytest.mark.parametrize(("samples", "text"), [(4, "fits the lab"), (40, "holds")])
def test_plan_below_the_floor_only_fits(samples: int, text: str) -> None:
    pack = load("psy_stroop", "easy")
    plan = assess(revise(pack.reference_protocol, sample_size=samples), pack)
    assert sentence(plan, break_evens(plan)).startswith(f"The plan still {text} with ")


def test_cost_is_the_break_even_of_the_budget() -> None:
    plan = assess_in("easy")
    [row] = [row for row in break_evens(plan) if row.assumption.key == "budget"]
    assert row.to == pytest.approx(plan.cost, rel=1e-12)
    assert row.shown == plan.cost
    assert row.change == "budget fails"


def test_margin_too_small_to_show_is_lost() -> None:
    plan = assess_in("easy")
    [row] = [row for row in break_evens(plan) if row.assumption.key == "effect"]
    near = row._replace(to=row.assumption.now * 0.9996, shown=row.assumption.now)
    assert row.change == "power below target, above floor"
    assert sentence(plan, [near]) == "The plan does not survive a smaller effect."


def assess_in(lab: str) -> Assessment:
    pack = load("psy_stroop", lab)
    return assess(pack.reference_protocol, pack)
