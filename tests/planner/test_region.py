"""Regions: arrays of plans judged as single ones are, the limits' lines, the plan they are for."""

from collections.abc import Iterable
from math import nan
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.assessment import Counts, assess, counts_of, lab_limits
from replicalab.limits import LARGEST_PLANNED
from replicalab.models import Protocol
from replicalab.planner import PlanToDraw, RegionLimit, plan_to_draw
from replicalab.planner.region import Region, Span, grid_for, numeric_checks, region
from replicalab.scenarios import Bounds, CostModel, Pack, StaffModel
from tests import factories
from tests.planner.small_labs import shipped
from tests.strategies import itemised_protocols, protocols, studied_packs


def columns(plans: list[Protocol], pack: Pack) -> Counts:
    countses = (counts_of(plan, pack) for plan in plans)
    return Counts(*(np.array(column) for column in zip(*countses, strict=True)))


def drawn(study: str, lab: str) -> Region:
    options = shipped(study, lab)
    return Region(plan_to_draw(options), *grid_for([options.yours, options.least.after]))


def assert_checked(found: Region, rows: Iterable[int], columns: Iterable[int]) -> None:
    for row, column in zip(rows, columns, strict=True):
        plan = found.drawn.at(int(found.days[column]), int(found.samples[row]))
        assert found.feasible[row, column] == plan.feasible
        assert found.checks.needs["budget"][row, column] == plan.cost
        if plan.evidence.void_reason:
            assert np.isnan(found.evidence[row, column])
        else:
            assert found.evidence[row, column] == pytest.approx(plan.evidence.value, abs=1e-12)


@given(studied_packs(), st.lists(itemised_protocols() | protocols(), min_size=1, max_size=20))
def test_arrays_give_what_the_single_check_gives(pack: Pack, plans: list[Protocol]) -> None:
    fits = numeric_checks(columns(plans, pack), pack)
    for place, protocol in enumerate(plans):
        plan = assess(protocol, pack)
        for amount in lab_limits():
            assert fits.needs[amount][place] == plan.slack[amount].used
            assert fits.within[amount][place] == plan.slack[amount].ok
        if not PlanToDraw(plan).failing and Bounds.EVIDENCE not in {e.number for e in pack.limits}:
            assert fits.all_ok[place] == plan.feasible


@given(studied_packs(), itemised_protocols())
def test_region_of_any_plan_matches_the_check(pack: Pack, plan: Protocol) -> None:
    result = Region(PlanToDraw(assess(plan, pack)), np.arange(0, 25, 3), np.arange(0, 100, 7))
    assert_checked(result, (0, 3, 5, 14, 1), (0, 2, 7, 8, 1))


STATED: Final = {
    "samples": {"bounds": "samples", "comparator": ">=", "quantity": 21.0},
    "most samples": {"bounds": "samples", "comparator": "<=", "quantity": 70.0},
    "samples per condition": {
        "bounds": "samples_per_condition", "conditions": 2, "comparator": ">=", "quantity": 11.0
    },
    "days": {"bounds": "days", "comparator": ">=", "quantity": 6.0},
    "most days": {"bounds": "days", "comparator": "<=", "quantity": 9.0},
    "evidence": {"bounds": "evidence", "comparator": ">=", "quantity": 0.6},
    "no evidence": {"bounds": "evidence", "comparator": ">=", "quantity": 0.0},
}  # fmt: skip


def test_study_is_a_line_only_if_strictest() -> None:
    def has_line(stated: str) -> bool:
        pack = factories.make_pack(constraints=[factories.make_constraint(**STATED[stated])])
        plan = PlanToDraw(assess(factories.make_protocol(), pack))
        return RegionLimit.STUDY in Region(plan, np.arange(0, 13), np.arange(0, 90, 5)).lines

    assert set(filter(has_line, STATED)) == {"most samples", "days", "most days"}


def test_lines_of_the_momentum_study_by_hand() -> None:
    # 3,700 credits less 4 × 25 for controls, 2 × 100 and 2 × 75 for items leave 3,250; 50 a day, 10
    # a sample that is 320 in one day. 60 a day and 420 months in all can count; days 3 to 6.
    result = drawn("fin_momentum", "medium")
    beyond = int(result.samples[-1]) + 1
    lines = {limit: line.tolist() for limit, line in result.lines.items()}
    assert result.days.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert lines[RegionLimit.BUDGET] == [320, 315, 310, 305, 300, 295, 290, 285, 280]
    assert lines[RegionLimit.SCHEDULE] == [*[beyond] * 6, -1, -1, -1]
    assert lines[RegionLimit.ENDPOINT] == [-1, -1, *[beyond] * 7]
    assert lines[RegionLimit.THROUGHPUT][:5] == [60, 120, 180, 240, 300]
    assert lines[RegionLimit.POPULATION] == [420] * 9
    assert result.most_useful.tolist() == [-1, -1, 180, 240, 300, 295, -1, -1, -1]


def test_levels_match_published_sample_sizes() -> None:
    # Two groups, d = 0.5, alpha 0.05, power 0.80: 64 per group (Cohen 1988, table 2.4.1).
    design = factories.make_design(effect_planning=0.5, alpha=0.05, target=0.8, floor=0.5)
    plan = PlanToDraw(assess(factories.make_protocol(), factories.make_pack(design=design)))
    grid = np.arange(1, 4), np.arange(0, 200)
    target, floor = Region(plan, *grid).levels
    assert (target.label, floor.label) == ("target 0.80", "floor 0.50")
    assert target.samples in (127, 128)
    assert floor.samples < target.samples
    for level, bound in ((target, 0.8), (floor, 0.5)):
        assert plan.at(5, level.samples - 1).evidence.value < bound
        assert plan.at(5, level.samples).evidence.value >= bound
    halved, _ = Region(plan, *grid, effect=0.25).levels
    assert 3.9 * target.samples < halved.samples < 4 * target.samples


def test_target_that_is_the_floor_is_one_level() -> None:
    [level] = drawn("math_four_colour", "easy").levels
    assert level.label == "target 100 %"


def assert_every_plan_matches(found: Region) -> None:
    days, samples, pack = found.days, found.samples, found.drawn.plan.pack
    existing = [[found.drawn.at(int(d), int(n)) for d in days] for n in samples]
    fits = np.array([[plan.feasible for plan in row] for row in existing])
    usable = np.array([[plan.evidence.usable for plan in row] for row in existing])
    worth = [
        [nan if e.void_reason else e.value for e in (p.evidence for p in row)] for row in existing
    ]
    useful = fits & (days >= pack.min_days) & (usable == samples[:, None])
    np.testing.assert_array_equal(found.feasible, fits)
    np.testing.assert_allclose(found.evidence, worth, atol=1e-12)
    if Bounds.EVIDENCE not in {limit.number for limit in pack.limits}:
        np.testing.assert_array_equal(found.checks.all_ok, fits)
    for inside, values, span in (
        (fits, found.most_feasible, found.span(useful=False)),
        (useful, found.most_useful, found.span(useful=True)),
    ):
        expected = [max(samples[column], default=-1) for column in inside.T]
        assert values.tolist() == expected
        lengths = days[inside.any(axis=0)]
        assert span == (Span(max(expected), lengths[0], lengths[-1]) if len(lengths) else None)


OTHERS: Final = [
    {},
    {"bounds": "samples", "comparator": ">=", "quantity": 4.0},
    {"bounds": "samples", "comparator": "<=", "quantity": 6.0},
    {
        "bounds": "samples_per_condition", "conditions": 2, "comparator": ">=", "quantity": 2.0
    },
    {"bounds": "days", "comparator": ">=", "quantity": 2.0},
    {"bounds": "days", "comparator": "<=", "quantity": 3.0},
    {"bounds": "evidence", "comparator": ">=", "quantity": 0.5},
    {"bounds": "evidence", "comparator": ">=", "quantity": 1.5},
]  # fmt: skip


@pytest.mark.parametrize("stated", OTHERS)
@pytest.mark.parametrize(
    ("exist", "rate", "min_days", "staff"),
    [(None, 2, 2, 3), (5, None, 1, 3), (3, 3, 1, 3), (None, None, 1, 1), (None, 3, 2, 2)],
)
def test_region_and_span_match_every_plan(
    stated: dict[str, Any], exist: int | None, rate: int | None, min_days: int, staff: int
) -> None:
    # One person, one more for more than 3 samples, one more for more than 2 days.
    # A sample costs 1 and a day 2 of 12 credits; with an effect of 3, six samples are a power of
    # more than one half.
    pack = factories.make_pack(
        constraints=[factories.make_constraint(unit=None, **stated)] if stated else [],
        design=factories.make_design(effect_planning=3.0, population_max=exist),
        cost_model=CostModel(
            per_sample=1, per_day=2, per_control=0, per_equipment_item=0, per_reagent=0
        ),
        samples_per_day=factories.make_throughput(value=rate) if rate else None,
        staff_model=StaffModel(base=1, sample_threshold=3, day_threshold=2),
        staff=staff,
        min_days=min_days,
        budget=12.0,
        days=4,
    )
    plan = PlanToDraw(assess(factories.make_protocol(controls=[factories.CONTROLS[0]]), pack))
    assert_every_plan_matches(Region(plan, np.arange(0, 7), np.arange(0, 13)))


def test_span_ends_at_what_can_be_planned() -> None:
    free = {"cost_model": CostModel(per_sample=0, per_day=0), "days": 10**9, "min_days": 1}
    pack = factories.make_pack(constraints=[], **free)
    result = Region(
        PlanToDraw(assess(factories.make_protocol(), pack)), np.arange(1, 4), np.arange(0, 31)
    )
    assert result.span(useful=True) == Span(LARGEST_PLANNED, 1, LARGEST_PLANNED)
    assert result.most_feasible.tolist() == [31] * 3
    assert result.deep.most_feasible.tolist() == [LARGEST_PLANNED] * 3
    assert result.deep.samples[0] == 0
    assert result.deep.days.tolist() == [1, 2, 3]


def test_plan_that_nothing_repairs_spans_nothing() -> None:
    result = drawn("chem_suzuki_ppb", "hard")
    assert result.drawn.failing
    assert (result.span(useful=False), result.span(useful=True)) == (None, None)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_grid_is_evenly_spaced_and_holds_plans(samples: int, days: int) -> None:
    near, other = (
        assess(factories.make_protocol(sample_size=n, duration_days=d), factories.make_pack())
        for n, d in ((70, 9), (samples, days))
    )
    for first, second in ((near, other), (other, near)):
        grid = grid_for([first, second])
        for line, limit, place in zip(grid, (60, 120), ("days", "samples"), strict=True):
            steps = np.diff(line)
            assert 2 <= len(line) <= limit
            assert (steps == steps[0]).all()
            assert steps[0] >= 1
            for plan in (near, second):
                assert line[0] <= getattr(plan.counts, place) <= line[-1]


def test_small_region_is_drawn_closer() -> None:
    options, result = shipped("math_four_colour", "hard"), drawn("math_four_colour", "hard")
    plans = {"your plan": options.yours}
    assert result.most_feasible.max() == 20
    assert result.outside(plans) == []
    nearer = region(result.drawn, [options.yours, options.least.after])
    assert nearer.samples[-1] == 27, "20 and a quarter more, and 2"
    assert nearer.samples[0] == 0
    assert nearer.days.tolist() == result.days.tolist()
    assert nearer.outside(plans) == [("your plan", 633), ("target 100 %", 633)]


@pytest.mark.parametrize(("study", "lab"), [("fin_momentum", "hard"), ("chem_suzuki_ppb", "hard")])
def test_readable_region_is_drawn_as_it_is(study: str, lab: str) -> None:
    options, result = shipped(study, lab), drawn(study, lab)
    as_it_is = region(result.drawn, [options.yours, options.least.after])
    np.testing.assert_array_equal(as_it_is.samples, result.samples)
