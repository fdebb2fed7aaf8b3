"""The Pareto frontier against every feasible plan of small labs, and of made plans."""

from collections.abc import Sequence
from importlib import import_module
from random import Random
from types import SimpleNamespace
from typing import Any, Final

import pytest

from replicalab.assessment import Assessment, assess, tier_of
from replicalab.models import Protocol, revise
from replicalab.planner import BetterPlans, Frontier, FrontierPlan, PlanAnalysis
from replicalab.planner.variants import PlanVariant
from replicalab.scenarios import CostModel, EvidenceTier, Pack, ScenarioConstraint
from tests.factories import (
    CONTROLS,
    EQUIPMENT,
    make_constraint,
    make_design,
    make_pack,
    make_protocol,
    make_throughput,
)
from tests.planner.brute_force import can_count, days_of, variants_of
from tests.planner.small_labs import analysed, opened
from tests.tiers import batches

_MOST: Final = 45

Four = tuple[float, float, float, float]
"""Cost, days, lacking evidence, loss: lower is better in plan."""


def _four(plan: Assessment) -> Four:
    sign = 1 if plan.pack.design.kind == "precision" else -1
    short = round(sign * plan.evidence.value, 12)
    return plan.cost, plan.counts.days, short, plan.fidelity_loss


def _feasible(yours: Assessment) -> dict[Four, Assessment] | None:
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


@pytest.mark.parametrize("seeds", batches(80, quick=20, long=2))
def test_frontier_matches_trying_every_plan(seeds: range) -> None:
    tried = several = 0
    for seed in seeds:
        options = opened(seed)
        if (plans := _feasible(options.yours)) is not None:
            _assert_every_unbeaten(options, plans)
            tried, several = tried + 1, several + (len(options.frontier.plans) > 1)
    assert tried > len(seeds) * 0.8
    assert several > len(seeds) / 10


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


@pytest.mark.parametrize(("per_sample", "value"), [(0.0, 7), (10.0, None)])
def test_frontier_of_a_large_lab_is_unbeaten(per_sample: float, value: int | None) -> None:
    # Too many sizes fit for all to be searched.
    pack = make_pack(
        budget=500_000.0,
        days=6000,
        design=make_design(effect_planning=0.02),
        cost_model=CostModel(per_sample=per_sample, per_day=10.0),
        samples_per_day=make_throughput(value=value) if value else None,
    )
    plan = make_protocol(controls=[CONTROLS[0]])
    result = analysed(plan, pack).frontier
    assert result.plans
    for item in result.plans[:: max(1, len(result.plans) // 50)]:
        for samples in range(max(2, item.samples - 8), item.samples + 9):
            for days in {item.days, max(pack.min_days, item.days - 1)}:
                rival = assess(revise(plan, sample_size=samples, duration_days=days), pack)
                if rival.feasible:
                    theirs, mine = _four(rival), four(item, pack)
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
    options = analysed(make_protocol(controls=[]), pack)
    plans = _feasible(options.yours)
    assert plans is not None
    _assert_every_unbeaten(options, plans)
    assert 20 in [plan.samples for plan in options.frontier.plans]


FRONTIER: Final = import_module("replicalab.planner.frontier")  # the package has a function so
PACK: Final = make_pack(budget=100.0)  # target 0.8, floor 0.5
HALF_WIDTHS: Final = make_pack(
    budget=100.0, design=make_design(kind="precision", target=0.1, floor=0.6)
)


def made(credits: float, days: int, value: float, loss: int = 0, pack: Pack = PACK) -> FrontierPlan:
    tier = tier_of(pack.design, value)
    return FrontierPlan(1, 1, days, credits, value, tier, loss, PlanVariant())


def four(plan: FrontierPlan, pack: Pack = PACK) -> Four:
    return plan.credits, plan.days, short(plan, pack), plan.loss


def short(plan: FrontierPlan, pack: Pack) -> float:
    return round(plan.value if pack.design.lower_is_better else -plan.value, 12)


def as_good(one: Four, other: Four) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


def points(seed: int, pack: Pack, most: int = 30) -> list[FrontierPlan]:
    rng, few = Random(seed), seed % 3 + 1
    return [
        made(
            rng.choice((10.0, 20.0, 30.0, 40.0, 99.0)[:few]),
            rng.randint(1, 4),
            rng.choice((0.5, 0.8, 0.3, 0.55, 0.7, 0.9)[: 2 * few]),
            rng.randint(0, 3),
            pack,
        )
        for _ in range(rng.randint(1, most))
    ]


def some(seed: int) -> Frontier:
    pack = HALF_WIDTHS if seed % 2 else PACK
    every = {four(plan, pack): plan for plan in points(seed, pack)}
    plans = [plan for one, plan in every.items()
            if not any(as_good(other, one) for other in every if other != one)]  # fmt: skip
    return Frontier(tuple(sorted(plans, key=lambda plan: (plan.credits, plan.days))), pack)


def test_standing_matches_comparing_each_plan() -> None:
    for seed in range(100):
        result = some(seed)
        for point in points(seed + 1000, result.pack):
            assert_standing(result, point)


def assert_standing(found: Frontier, plan: FrontierPlan) -> None:
    pack = found.pack
    value: Any = SimpleNamespace(
        evidence=SimpleNamespace(value=plan.value),
        pack=pack,
        cost=plan.credits,
        counts=SimpleNamespace(days=plan.days),
        fidelity_loss=plan.loss,
    )
    row, standing = four(plan, pack), found.standing(value)
    rivals = [rival for rival in (four(item, pack) for item in found.plans) if as_good(rival, row)]
    cheaper = min(((cost, lacks) for cost, _, lacks, _ in rivals if cost < row[0]), default=None)
    stronger = min(((lacks, cost) for cost, _, lacks, _ in rivals if lacks < row[2]), default=None)
    gentler = min(((loss, days) for _, days, _, loss in rivals
                   if (loss, days) != (row[3], row[1])), default=None)  # fmt: skip
    if cheaper or stronger:
        gentler = None
    assert standing == BetterPlans(standing.cheaper, standing.stronger, standing.gentler)
    assert pick(standing.cheaper, (0, 2), pack) == cheaper
    assert pick(standing.stronger, (2, 0), pack) == stronger
    assert pick(standing.gentler, (3, 1), pack) == gentler
    assert (standing == BetterPlans()) == (not any(rival != row for rival in rivals))


def pick(plan: FrontierPlan | None, places: Sequence[int], pack: Pack) -> tuple[float, ...] | None:
    return None if plan is None else tuple(four(plan, pack)[place] for place in places)


def test_as_strong_matches_comparing_all() -> None:
    for seed in range(100):
        result = some(seed)
        for value in (0.3, 0.5, 0.7, 0.9, 1.5):
            evidence: Any = SimpleNamespace(value=value, format=str)
            wanted = value if result.pack is HALF_WIDTHS else -value
            enough = [four(plan, result.pack) for plan in result.plans
                      if short(plan, result.pack) <= wanted]  # fmt: skip
            pair = min(((loss, cost) for cost, _, _, loss in enough), default=None)
            assert pick(result.as_strong(evidence), (3, 0), result.pack) == pair


def test_balanced_plan_by_hand() -> None:
    # Gain, times the credits left: 0.25 x 40, 0.375 / 2 x 64, 0.25 / 3 x 90, none below the floor.
    plans = [
        made(60.0, 1, 0.75), made(36.0, 1, 0.875, 1), made(10.0, 1, 0.75, 2), made(0.0, 1, 0.25),
    ]  # fmt: skip
    assert Frontier(tuple(plans), PACK).balanced == plans[1]
    assert Frontier(tuple(plans[::2]), PACK).balanced == plans[0]
    assert Frontier(tuple(plans[3:]), PACK).balanced is None
    # Of equal products, 0.125 x 80 and 0.25 x 40, the one with more evidence.
    even = made(20.0, 1, 0.625), plans[0]
    assert Frontier(even, PACK).balanced == plans[0]
    # One on the floor gains nothing, but is a plan to balance.
    floor = made(20.0, 1, 0.5)
    assert floor.tier is EvidenceTier.ABOVE_FLOOR
    assert Frontier((floor,), PACK).balanced == floor


def test_lines_match_comparing_all() -> None:
    for seed in range(100):
        result = some(seed)
        pairs = [(line.loss, [pick(plan, (0, 2), result.pack) for plan in line.plans])
                for line in result.lines]  # fmt: skip
        wanted = []
        for loss in sorted({plan.loss for plan in result.plans}):
            two = {(plan.credits, short(plan, result.pack))
                   for plan in result.plans if plan.loss == loss}  # fmt: skip
            drawn = [
                (cost, lacks)
                for cost, lacks in sorted(two)
                if not any(a <= cost and b <= lacks and (a, b) != (cost, lacks) for a, b in two)
            ]
            wanted.append((loss, drawn))
        assert pairs == wanted


def line(credits: Sequence[float], loss: int = 0) -> list[FrontierPlan]:
    return [made(cost, 1, 0.1 + at / 1000, loss) for at, cost in enumerate(credits)]


def listed(*lines: list[FrontierPlan]) -> list[list[float]]:
    plans = Frontier(tuple(plan for item in lines for plan in item), PACK).listed
    return [[plan.credits for plan in plans if plan.loss == item[0].loss] for item in lines]


def test_listed_plans_are_evenly_spaced() -> None:
    assert Frontier((), PACK).listed == ()
    # 7.14 credits apart, plan the nearest.
    assert listed(line(range(50, 151))) == [
        [50, 57, 64, 71, 79, 86, 93, 100, 107, 114, 121, 129, 136, 143, 150]
    ]
    assert listed(line([*range(14), 100])) == [[*range(14), 100]]  # fifteen are all listed
    assert listed(line([*range(15), 100])) == [[*range(0, 15, 7)[:2], 14, 100]]


def test_listed_plans_are_shared_among_lines() -> None:
    whole = range(101)
    assert listed(line(whole), line(whole, 1)) == [[0, 17, 33, 50, 67, 83, 100]] * 2
    assert listed(*(line(whole, loss) for loss in range(7))) == [[0, 50, 100]] * 7


def sizes(plan: Protocol, pack: Pack) -> dict[int, list[int]]:
    result = analysed(plan, pack).frontier
    losses = sorted({item.loss for item in result.plans})
    return {loss: [e.samples for e in result.plans if e.loss == loss] for loss in losses}


def test_too_many_sizes_are_evenly_spaced(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = make_protocol(controls=[])
    # Of 1,500 credits items and the three days that keep the endpoint leave 1,000: 100 samples.
    pack = make_pack(budget=1500.0, controls=[], allowed_substitutions=[])
    # Two show no more than one: they are one in plan group.
    every = {0: [1, *range(3, 101)]}
    assert sizes(plan, pack) == every
    monkeypatch.setattr(FRONTIER, "MOST_FRONTIER_SIZES", 99)
    assert sizes(plan, pack) == every
    monkeypatch.setattr(FRONTIER, "MOST_FRONTIER_SIZES", 98)
    assert sizes(plan, pack) == {0: [*range(1, 100, 2), 100]}
    monkeypatch.setattr(FRONTIER, "MOST_FRONTIER_SIZES", 2)  # ten at least
    assert sizes(plan, pack) == {0: [*range(1, 92, 10), 100]}


def above_power_of_18() -> ScenarioConstraint:
    powers = [assess(make_protocol(sample_size=n), make_pack()).evidence.value for n in (18, 19)]
    return make_constraint(bounds="evidence", comparator=">=", quantity=sum(powers) / 2)


def test_sizes_begin_at_the_first_useful_sample() -> None:
    plan = make_protocol(controls=[])
    lab = {"budget": 700.0, "controls": [], "allowed_substitutions": []}  # for 20 samples
    # Of one sample dropout of 15 % leaves none, of three two, which show no more than one.
    dropout = make_pack(design=make_design(dropout=0.15), **lab)
    record = {n: n * 85 // 100 for n in range(1, 21)}
    numbers = [n for n in range(2, 21) if record[n] > record[n - 1] and record[n] != 2]
    assert sizes(plan, dropout) == {0: numbers}
    # A bound on the evidence: the power of 18 is below it, that of 19 is not.
    just = above_power_of_18()
    assert sizes(plan, make_pack(constraints=[just], **lab)) == {0: [19, 20]}
    assert sizes(plan, make_pack(constraints=[just], **lab | {"budget": 690.0})) == {0: [19]}
    assert sizes(plan, make_pack(constraints=[just], **lab | {"budget": 689.0})) == {}


def test_no_frontier_without_a_useful_plan() -> None:
    few_days = make_pack(days=2)  # the endpoint needs three
    missing = make_pack(booked={EQUIPMENT[0]: 9}, allowed_substitutions=[])
    for pack in (few_days, missing, make_pack(budget=1.0)):
        assert analysed(make_protocol(), pack).frontier.plans == ()
    # The sample that is paid for drops out.
    lost = make_pack(budget=510.0, controls=[], design=make_design(dropout=0.15))
    assert analysed(make_protocol(controls=[]), lost).frontier.plans == ()
