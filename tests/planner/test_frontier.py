"""The plans that nothing beats, held against every feasible plan of small labs."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.agents import check_feasibility
from replicalab.assessment import assess
from replicalab.models import Protocol, revise
from replicalab.planner import Frontier, FrontierPlan, Standing, frontier
from replicalab.scenarios import (
    CostModel,
    DesignKind,
    Difficulty,
    EvidenceTier,
    Pack,
    list_scenarios,
    load_scenario,
)
from tests.factories import (
    CONTROLS,
    make_design,
    make_pack,
    make_protocol,
    make_throughput,
)
from tests.planner.brute_force import can_count, days_of, wordings
from tests.planner.small_labs import SmallLab, small_labs

LABS: Final = 250
_MOST: Final = 45

Four = tuple[float, float, float, float]
"""Cost, days, what is short of the evidence, loss: lower is better in each."""


def _four(plan: Protocol, pack: Pack) -> Four:
    priced = assess(plan, pack)
    sign = 1 if pack.design.kind is DesignKind.PRECISION else -1
    short = round(sign * priced.evidence.value, 12)
    return priced.cost, plan.duration_days, short, priced.fidelity_loss


def _feasible(lab: SmallLab) -> dict[Four, Protocol] | None:
    """Return every feasible plan with evidence by its four, None if there are too many to try."""
    found: dict[Four, Protocol] = {}
    if lab.pack.lab.days < lab.pack.min_days:
        return found
    for worded in wordings(*lab):
        for days in days_of(lab.pack):
            most = min(can_count(days, lab.pack), _MOST + 1)
            for samples in range(1, int(most) + 1):
                plan = revise(worded, sample_size=samples, duration_days=days)
                if not check_feasibility(plan, lab.pack).feasible:
                    continue
                if samples > _MOST:
                    return None
                found[_four(plan, lab.pack)] = plan
    return found


def _unbeaten(fours: set[Four]) -> set[Four]:
    kept: set[Four] = set()
    for four in sorted(fours):
        if not any(all(a <= b for a, b in zip(other, four, strict=True)) for other in kept):
            kept.add(four)
    return kept


@pytest.fixture(scope="module")
def tried() -> list[tuple[SmallLab, dict[Four, Protocol], Frontier]]:
    found = []
    for lab in small_labs(0, LABS):
        plans = _feasible(lab)
        if plans is not None:
            found.append((lab, plans, frontier(lab.pack, lab.plan)))
    assert len(found) > LABS * 0.8
    return found


Tried = list[tuple[SmallLab, dict[Four, Protocol], Frontier]]


def test_frontier_is_every_plan_that_none_of_all_tried_beats(tried: Tried) -> None:
    for (plan, pack), plans, found in tried:
        fours = [_four(each.plan(plan, pack), pack) for each in found.plans]
        assert set(fours) == _unbeaten(set(plans))
        assert len(set(fours)) == len(fours)
        assert [each.credits for each in found.plans] == sorted(f[0] for f in fours)
    assert sum(len(found.plans) > 1 for _, _, found in tried) > LABS / 10


def test_frontier_plans_are_feasible_and_are_what_they_say(tried: Tried) -> None:
    for (plan, pack), _, found in tried:
        assert found.pack.design.lower_is_better == (pack.design.kind is DesignKind.PRECISION)
        for each in found.plans:
            whole = each.plan(plan, pack)
            assert check_feasibility(whole, pack).feasible
            priced = assess(whole, pack)
            assert (each.samples, each.days) == (whole.sample_size, whole.duration_days)
            assert (each.credits, each.loss) == (priced.cost, priced.fidelity_loss)
            assert each.value == pytest.approx(priced.evidence.value, abs=1e-12)
            assert each.tier is priced.evidence.tier


def test_standing_says_what_beats_a_plan(tried: Tried) -> None:
    beaten = 0
    for (_, pack), plans, found in tried:
        best = _unbeaten(set(plans))
        for four, plan in list(plans.items())[:40]:
            standing = found.standing(assess(plan, pack))
            assert standing.unbeaten == (four in best)
            beaten += not standing.unbeaten
            _assert_standing(standing, four, found)
    assert beaten > LABS


def _assert_standing(standing: Standing, four: Four, found: Frontier) -> None:
    rivals = [
        (each.credits, _short(each, found))
        for each in found.plans
        if all(a <= b for a, b in zip(_of(each, found), four, strict=True))
    ]
    least, most = min(cost for cost, _ in rivals), min(short for _, short in rivals)
    assert (standing.cheaper and standing.cheaper.credits) == (least if least < four[0] else None)
    assert (standing.stronger and _short(standing.stronger, found)) == (
        most if most < four[2] else None
    )
    if standing.gentler is not None:
        gentler = _of(standing.gentler, found)
        assert (gentler[0], gentler[2]) == (four[0], four[2])
        assert gentler[3] < four[3] or gentler[1] < four[1]


def _short(each: FrontierPlan, found: Frontier) -> float:
    return round(each.value if found.pack.design.lower_is_better else -each.value, 12)


def _of(each: FrontierPlan, found: Frontier) -> Four:
    return each.credits, each.days, _short(each, found), each.loss


def test_standing_of_a_slower_plan_at_no_more_cost_is_beaten() -> None:
    pack = make_pack(cost_model=CostModel(per_day=0.0))
    plan = make_protocol()
    slow = frontier(pack, plan).standing(assess(plan, pack))
    assert (slow.cheaper, slow.stronger) == (None, None)
    assert slow.gentler is not None
    assert slow.gentler.days == 3
    quick = revise(plan, duration_days=3)
    assert frontier(pack, plan).standing(assess(quick, pack)).unbeaten


# --- the balanced plan ------------------------------------------------------------------------


def test_nash_point_has_the_largest_product_of_what_both_gain(tried: Tried) -> None:
    points = 0
    for (_, pack), _, found in tried:
        point = found.balanced
        above = [p for p in found.plans if p.tier is not EvidenceTier.BELOW_FLOOR]
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
    assert points > LABS / 10


# --- shipped studies --------------------------------------------------------------------------


@pytest.mark.parametrize("study", [study.scenario_id for study in list_scenarios()])
@pytest.mark.parametrize("difficulty", Difficulty)
def test_frontier_of_a_shipped_lab_holds_feasible_plans_that_do_not_beat_each_other(
    study: str, difficulty: Difficulty
) -> None:
    pack = load_scenario(study, difficulty)
    found = frontier(pack, pack.reference_protocol)
    fours = [_of(each, found) for each in found.plans]
    assert _unbeaten(set(fours)) == set(fours)
    for each in found.plans[:: max(1, len(found.plans) // 20)]:
        whole = each.plan(pack.reference_protocol, pack)
        assert check_feasibility(whole, pack).feasible
        assert assess(whole, pack).evidence.void is None
        assert found.standing(assess(whole, pack)).unbeaten


@pytest.mark.parametrize("per_sample", [0.0, 10.0])
@pytest.mark.parametrize("value", [None, 7])
def test_frontier_of_a_large_lab_holds_plans_that_no_size_beats(
    per_sample: float, value: int | None
) -> None:
    # So many sizes fit that they cannot all be looked at.
    pack = make_pack(
        budget=500_000.0,
        days=6000,
        design=make_design(effect_planning=0.02),
        cost_model=CostModel(per_sample=per_sample, per_day=10.0),
        samples_per_day=make_throughput(value=value) if value else None,
    )
    plan = make_protocol(controls=[CONTROLS[0]])
    found = frontier(pack, plan)
    assert found.plans
    for each in found.plans[:: max(1, len(found.plans) // 50)]:
        for samples in range(max(2, each.samples - 8), each.samples + 9):
            for days in {each.days, max(pack.min_days, each.days - 1)}:
                rival = revise(plan, sample_size=samples, duration_days=days)
                if check_feasibility(rival, pack).feasible:
                    theirs, mine = _four(rival, pack), _of(each, found)
                    same = theirs == mine
                    assert same or not all(a <= b for a, b in zip(theirs, mine, strict=True))
