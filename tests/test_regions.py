"""Regions: arrays of plans judged as single ones are, the limits' lines, what more means buy."""

from __future__ import annotations

import random
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.agents import FeasibilityCheckResult, check_feasibility
from replicalab.costs import Counts, counts_of
from replicalab.evidence import planned_evidence
from replicalab.models import DIMENSIONS, Dimension, Protocol, revise
from replicalab.planner import largest_sample, least_loss
from replicalab.regions import Region, grid_for, plans_fit, region, zoomed
from replicalab.scenarios import Difficulty, Pack, list_scenarios, load_scenario
from replicalab.tradeoffs import (
    Constraint,
    as_least_loss,
    extras,
    worded,
    wording_failing,
)
from tests.factories import make_design, make_pack, make_protocol
from tests.strategies import itemised_protocols, protocols, studied_packs

PLACES: Final = [(study.scenario_id, lab) for study in list_scenarios() for lab in Difficulty]


def columns(plans: list[Protocol]) -> Counts:
    """Return the counts of many plans as arrays."""
    return Counts(*(np.array(column) for column in zip(*map(counts_of, plans), strict=True)))


def numbers_ok(check: FeasibilityCheckResult) -> bool:
    """Return whether nothing fails but for items and wording."""
    by_wording = {Dimension.EQUIPMENT, Dimension.REAGENTS, Dimension.POLICY}
    return not set(check.failing) - by_wording


def drawn(study: str, lab: str) -> tuple[Pack, Protocol, Region]:
    """Return a study in a lab, its plan with usable items, and that plan's region."""
    pack = load_scenario(study, lab)
    plan = worded(pack.reference_protocol, pack).plan
    days, samples = grid_for([plan, least_loss(plan, pack).plan], pack)
    return pack, plan, region(plan, pack, days, samples)


# --- arrays judge as the single check does ---


@given(studied_packs(), st.lists(itemised_protocols() | protocols(), min_size=1, max_size=20))
def test_arrays_give_what_the_single_check_gives(pack: Pack, plans: list[Protocol]) -> None:
    fits = plans_fit(columns(plans), pack)
    for place, plan in enumerate(plans):
        check = check_feasibility(plan, pack)
        assert fits.credits[place] == check.estimated_cost
        assert fits.staff[place] == check.required_staff
        assert fits.budget_ok[place] == check.budget_ok
        assert fits.schedule_ok[place] == check.schedule_ok
        assert fits.staff_ok[place] == check.staff_ok
        if not wording_failing(plan, pack):
            assert fits.all_ok[place] == check.feasible


@given(studied_packs(), itemised_protocols())
def test_sample_counts_on_arrays_as_the_evidence_counts_it(pack: Pack, plan: Protocol) -> None:
    fits = plans_fit(columns([plan]), pack)
    counted = planned_evidence(plan, pack).counted
    assert fits.counts_ok[0] == (counted == plan.sample_size)
    assert fits.endpoint_ok[0] == (plan.duration_days >= pack.min_days)


@pytest.mark.parametrize(("study", "lab"), PLACES)
def test_region_is_what_the_check_and_the_evidence_say_at_each_point(study: str, lab: str) -> None:
    pack, plan, found = drawn(study, lab)
    rng = random.Random(f"{study} {lab}")
    for _ in range(40):
        row, column = rng.randrange(len(found.samples)), rng.randrange(len(found.days))
        there = revise(
            plan,
            sample_size=int(found.samples[row]),
            duration_days=int(found.days[column]),
        )
        check, evidence = check_feasibility(there, pack), planned_evidence(there, pack)
        assert found.feasible[row, column] == check.feasible
        assert found.fits.credits[row, column] == check.estimated_cost
        if evidence.void:
            assert np.isnan(found.evidence[row, column])
        else:
            assert found.evidence[row, column] == pytest.approx(evidence.value, abs=1e-12)


@given(studied_packs(), itemised_protocols())
def test_region_of_any_plan_is_what_the_check_says(pack: Pack, plan: Protocol) -> None:
    days, samples = np.arange(0, 25, 3), np.arange(0, 100, 7)
    found = region(plan, pack, days, samples)
    for row, column in ((0, 0), (3, 2), (5, 7), (14, 8), (1, 1)):
        there = revise(plan, sample_size=int(samples[row]), duration_days=int(days[column]))
        assert found.feasible[row, column] == check_feasibility(there, pack).feasible


# --- lines ---


def line_of(found: Region, constraint: Constraint) -> list[int]:
    [edge] = [edge for edge in found.edges if edge.constraint is constraint]
    return [int(n) for n in edge.most]


def test_lines_of_the_momentum_study_are_those_worked_out_by_hand() -> None:
    # 2,600 credits less 4 × 25 for controls, 2 × 100 and 2 × 75 for items leave 2,150; 50 a day, 10
    # a sample that is 210 in one day. 60 a day and 300 months in all can count; days 3 to 6.
    _, _, found = drawn("fin_momentum", "medium")
    beyond = int(found.samples[-1]) + 1
    assert list(found.days) == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert line_of(found, Constraint.BUDGET) == [210, 205, 200, 195, 190, 185, 180, 175, 170]
    assert line_of(found, Constraint.SCHEDULE) == [*[beyond] * 6, -1, -1, -1]
    assert line_of(found, Constraint.ENDPOINT) == [-1, -1, *[beyond] * 7]
    assert line_of(found, Constraint.THROUGHPUT)[:5] == [60, 120, 180, 240, 300]
    assert line_of(found, Constraint.POPULATION) == [300] * 9
    assert list(found.most_useful) == [-1, -1, 180, 195, 190, 185, -1, -1, -1]


@pytest.mark.parametrize(("study", "lab"), PLACES)
def test_most_useful_sample_of_each_day_is_the_planners_largest(study: str, lab: str) -> None:
    pack, plan, found = drawn(study, lab)
    for days, most in zip(found.days, found.most_useful, strict=True):
        there = revise(plan, duration_days=int(days))
        open_ = not found.failing and pack.min_days <= days <= pack.lab.days
        largest = largest_sample(there, pack) if open_ else None
        expected = -1 if largest is None else min(largest, int(found.samples[-1]) + 1)
        assert int(most) == expected, days


def test_fewest_samples_for_target_and_floor_are_the_published_ones() -> None:
    # Two groups, d = 0.5, alpha 0.05, power 0.80: 64 per group (Cohen 1988, table 2.4.1).
    design = make_design(effect_planning=0.5, alpha=0.05, target=0.8, floor=0.5)
    pack = make_pack(design=design)
    found = region(make_protocol(), pack, np.arange(1, 4), np.arange(0, 200))
    assert found.to_target is not None
    assert found.to_floor is not None
    assert found.to_target in (127, 128)
    assert found.to_floor < found.to_target


@pytest.mark.parametrize(("study", "lab"), PLACES)
def test_grid_shows_the_plans_and_stays_small(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    plans = [pack.reference_protocol, least_loss(pack.reference_protocol, pack).plan]
    days, samples = grid_for(plans, pack)
    assert len(days) <= 60
    assert len(samples) <= 120
    for plan in plans:
        assert days[0] <= plan.duration_days <= days[-1]
        assert samples[0] <= plan.sample_size <= samples[-1]


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_grid_of_any_plan_is_evenly_spaced_and_small(samples: int, days: int) -> None:
    pack = load_scenario("fin_momentum", "medium")
    plan = make_protocol(sample_size=samples, duration_days=days)
    for line, most in zip(grid_for([plan], pack), (60, 120), strict=True):
        steps = np.diff(line)
        assert 2 <= len(line) <= most
        assert (steps == steps[0]).all()
        assert steps[0] >= 1


# --- wording ---


def test_plan_is_drawn_with_its_booked_item_replaced() -> None:
    pack = load_scenario("fin_momentum", "medium")
    found = worded(pack.reference_protocol, pack)
    assert [change.original for change in found.changes] == ["licensed-data terminal"]
    assert wording_failing(found.plan, pack) == found.failing == ()
    assert found.plan.sample_size == pack.reference_protocol.sample_size


def test_plan_that_nothing_repairs_is_drawn_as_it_is_with_what_fails() -> None:
    pack = load_scenario("chem_suzuki_ppb", "hard")
    found = worded(pack.reference_protocol, pack)
    assert found.plan == pack.reference_protocol
    assert Dimension.REAGENTS in found.failing
    region_ = region(found.plan, pack, np.arange(1, 9), np.arange(0, 30))
    assert not region_.feasible.any()
    assert (region_.most_feasible == -1).all()


@pytest.mark.parametrize(("study", "lab"), PLACES)
def test_drawn_plan_fails_only_what_the_wording_decides(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    found = worded(pack.reference_protocol, pack)
    assert set(found.failing) <= set(DIMENSIONS) - {Dimension.BUDGET, Dimension.SCHEDULE}
    assert found.failing == wording_failing(found.plan, pack)


def test_least_loss_plan_that_drops_a_control_can_be_drawn_instead() -> None:
    pack = load_scenario("eco_reef_fish", "medium")
    plan = pack.reference_protocol
    found = as_least_loss(least_loss(plan, pack), worded(plan, pack), pack)
    assert found is not None
    assert len(found.plan.controls) < len(plan.controls)
    pack = load_scenario("fin_momentum", "medium")
    plan = pack.reference_protocol
    assert as_least_loss(least_loss(plan, pack), worded(plan, pack), pack) is None


# --- more means ---


def test_hundred_credits_buy_ten_samples_at_ten_credits_each() -> None:
    pack = load_scenario("fin_momentum", "medium")
    budget, days, staff = extras(pack.reference_protocol, pack)
    assert budget.after.plan.sample_size - budget.before.plan.sample_size == 10
    assert (budget.better, days.better, staff.better) == (True, False, False)


@pytest.mark.parametrize(("study", "lab"), PLACES)
def test_addition_never_makes_the_least_loss_plan_worse(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    for extra in extras(pack.reference_protocol, pack):
        assert extra.after.rank[:4] <= extra.before.rank[:4]


# --- close up ---


def test_region_too_small_to_be_seen_is_drawn_close_up() -> None:
    pack, plan, found = drawn("math_four_colour", "hard")
    nearer = zoomed(found)
    assert found.most_feasible.max() == 20
    assert nearer is not None
    assert nearer[-1] == pytest.approx(80, abs=2)
    assert zoomed(region(plan, pack, found.days, nearer)) is None


@pytest.mark.parametrize(
    ("study", "lab"), [("fin_momentum", "medium"), ("chem_suzuki_ppb", "hard")]
)
def test_region_that_can_be_seen_or_is_empty_is_drawn_as_it_is(study: str, lab: str) -> None:
    assert zoomed(drawn(study, lab)[2]) is None
