"""The plans that nothing beats, held against every feasible plan of small labs."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import pytest

from replicalab.assessment import Assessment, assess
from replicalab.models import revise
from replicalab.planner import Frontier, FrontierPlan, PlanAnalysis, Standing, frontier
from replicalab.planner.limits import as_loss
from replicalab.scenarios import CostModel, EvidenceTier
from tests.factories import CONTROLS, make_design, make_pack, make_protocol, make_throughput
from tests.planner.brute_force import can_count, days_of, variants_of
from tests.planner.small_labs import opened
from tests.tiers import batches

LABS: Final = 80
_MOST: Final = 45

Four = tuple[float, float, float, float]
"""Cost, days, what is short of the evidence, loss: lower is better in each."""


def _four(plan: Assessment) -> Four:
    sign = 1 if plan.pack.design.kind == "precision" else -1
    short = round(sign * plan.evidence.value, 12)
    return plan.cost, plan.counts.days, short, plan.fidelity_loss


def _feasible(yours: Assessment) -> dict[Four, Assessment] | None:
    """Return every feasible plan with evidence by its four, None if there are too many to try."""
    plans: dict[Four, Assessment] = {}
    pack = yours.pack
    if len(days_of(pack)) == 0 or days_of(pack)[0] < pack.min_days:
        return plans
    for worded in variants_of(yours.plan, pack):
        for days in days_of(pack):
            for samples in range(1, _MOST + 2):
                plan = assess(revise(worded, sample_size=samples, duration_days=days), pack)
                if plan.cost > pack.lab.budget or not plan.feasible or plan.evidence.void_reason:
                    continue
                if samples > _MOST and can_count(days, pack) >= samples:
                    return None
                plans[_four(plan)] = plan
    return plans


def _unbeaten(fours: set[Four]) -> set[Four]:
    rows: set[Four] = set()
    for four in sorted(fours):
        if not any(all(a <= b for a, b in zip(other, four, strict=True)) for other in rows):
            rows.add(four)
    return rows


Tried = list[tuple[PlanAnalysis, dict[Four, Assessment]]]


@pytest.fixture(scope="module")
def tried() -> Tried:
    """Every lab with all that was tried in it, without those in which that is too much."""
    labs = ((opened(seed), _feasible(opened(seed).yours)) for seed in range(LABS))
    pairs = [(options, plans) for options, plans in labs if plans is not None]
    assert len(pairs) > LABS * 0.8
    return pairs


def test_frontier_matches_trying_every_plan(tried: Tried) -> None:
    for options, plans in tried:
        _assert_every_unbeaten(options, plans)
        _assert_lines(options.frontier)
    assert sum(len(options.frontier.plans) > 1 for options, _ in tried) > LABS / 10


@pytest.mark.parametrize("first", batches(LABS, short=0, long=5))
def test_frontier_matches_every_plan_in_many_labs(first: int) -> None:
    for seed in range(first, first + LABS):
        if (plans := _feasible(opened(seed).yours)) is not None:
            _assert_every_unbeaten(opened(seed), plans)


def _assert_every_unbeaten(options: PlanAnalysis, plans: dict[Four, Assessment]) -> None:
    pack, result = options.yours.pack, options.frontier
    assert pack.design.lower_is_better == (pack.design.kind == "precision")
    wholes = [assess(plan.plan(options.yours.plan), pack) for plan in result.plans]
    fours = [_four(whole) for whole in wholes]
    assert set(fours) == _unbeaten(set(plans))
    assert len(set(fours)) == len(fours)
    assert [plan.credits for plan in result.plans] == sorted(four[0] for four in fours)
    for plan, whole in zip(result.plans, wholes, strict=True):
        assert whole.feasible
        assert (plan.samples, plan.days) == whole.counts[:2]
        assert (plan.credits, plan.loss) == (whole.cost, whole.fidelity_loss)
        assert plan.value == pytest.approx(whole.evidence.value, abs=1e-12)
        assert plan.tier is whole.evidence.tier


def test_standing_says_what_beats_a_plan(tried: Tried) -> None:
    beaten = 0
    for options, plans in tried:
        result, best = options.frontier, _unbeaten(set(plans))
        for four, plan in list(plans.items())[:40]:
            standing = result.standing(plan)
            assert standing.unbeaten == (four in best)
            beaten += not standing.unbeaten
            _assert_standing(standing, four, result)
    assert beaten > LABS


def _assert_standing(standing: Standing, four: Four, found: Frontier) -> None:
    rivals = [
        (plan.credits, _short(plan, found))
        for plan in found.plans
        if all(a <= b for a, b in zip(_of(plan, found), four, strict=True))
    ]
    minimum, limit = min(cost for cost, _ in rivals), min(short for _, short in rivals)
    assert (standing.cheaper and standing.cheaper.credits) == (
        minimum if minimum < four[0] else None
    )
    assert (standing.stronger and _short(standing.stronger, found)) == (
        limit if limit < four[2] else None
    )
    if standing.gentler is not None:
        gentler = _of(standing.gentler, found)
        assert (gentler[0], gentler[2]) == (four[0], four[2])
        assert gentler[3] < four[3] or gentler[1] < four[1]


def _short(each: FrontierPlan, found: Frontier) -> float:
    return round(each.value if found.pack.design.lower_is_better else -each.value, 12)


def _of(each: FrontierPlan, found: Frontier) -> Four:
    return each.credits, each.days, _short(each, found), each.loss


# --- the balanced plan ------------------------------------------------------------------------


def test_nash_point_has_the_largest_product(tried: Tried) -> None:
    points = 0
    for options, _ in tried:
        result, pack = options.frontier, options.yours.pack
        point = result.balanced
        above = [p for p in result.plans if p.tier is not EvidenceTier.BELOW_FLOOR]
        assert (point is None) == (not above)
        if point is None:
            continue
        points += 1
        assert point in above
        products = [
            abs(p.value - pack.design.floor) / (1 + p.loss)
            * (pack.lab.budget - p.credits)
            for p in above
        ]  # fmt: skip
        assert products[above.index(point)] == max(products)
    assert points > LABS / 12


# --- large labs -------------------------------------------------------------------------------


@pytest.mark.parametrize(("per_sample", "value"), [(0.0, 7), (10.0, None)])
def test_frontier_of_a_large_lab_is_unbeaten(per_sample: float, value: int | None) -> None:
    # So many sizes fit that they cannot all be looked at.
    pack = make_pack(
        budget=500_000.0,
        days=6000,
        design=make_design(effect_planning=0.02),
        cost_model=CostModel(per_sample=per_sample, per_day=10.0),
        samples_per_day=make_throughput(value=value) if value else None,
    )
    plan = make_protocol(controls=[CONTROLS[0]])
    result = frontier(pack, plan)
    assert result.plans
    for item in result.plans[:: max(1, len(result.plans) // 50)]:
        for samples in range(max(2, item.samples - 8), item.samples + 9):
            for days in {item.days, max(pack.min_days, item.days - 1)}:
                rival = assess(revise(plan, sample_size=samples, duration_days=days), pack)
                if rival.feasible:
                    theirs, mine = _four(rival), _of(item, result)
                    same = theirs == mine
                    assert same or not all(a <= b for a, b in zip(theirs, mine, strict=True))


@pytest.mark.parametrize("value", [None, 7])
def test_free_samples_stop_at_the_staff_step(value: int | None) -> None:
    # Up to 20 samples take a person; of those that take two the most are best.
    pack = make_pack(
        budget=5000.0,
        days=4,
        min_days=1,
        controls=[],
        allowed_substitutions=[],
        design=make_design(effect_planning=0.3, population_max=40),
        cost_model=CostModel(per_sample=0.0, per_staff_day=50.0, overhead_percent=10.0),
        samples_per_day=make_throughput(value=value) if value else None,
    )
    options = PlanAnalysis(assess(make_protocol(controls=[]), pack))
    plans = _feasible(options.yours)
    assert plans is not None
    _assert_every_unbeaten(options, plans)
    assert 20 in [plan.samples for plan in options.frontier.plans]


# --- as lines, and as a short list ------------------------------------------------------------


def _assert_lines(found: Frontier) -> None:
    """Check that the lines rise, and leave out only plans that save days."""
    assert {line.loss for line in found.lines} == {plan.loss for plan in found.plans}
    for line in found.lines:
        for before, after in pairwise(line.plans):
            assert after.credits > before.credits
            assert as_loss(after.value, found.pack) < as_loss(before.value, found.pack)
    drawn = [plan for line in found.lines for plan in line.plans]
    for plan in (plan for plan in found.plans if plan not in drawn):
        assert any(
            rival.loss == plan.loss
            and rival.credits <= plan.credits
            and as_loss(rival.value, found.pack) <= as_loss(plan.value, found.pack)
            and rival.days > plan.days
            for rival in drawn
        )
