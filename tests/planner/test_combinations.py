"""What it would take, whole: equal to every combination of means times every plan, one by one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations as sets_of
from typing import Any, Final, NamedTuple

import pytest
from pydantic import ValidationError

from replicalab.assessment import assess
from replicalab.models import Dimension, Protocol
from replicalab.planner import (
    Combination,
    Goal,
    MeansPrices,
    PlanAnalysis,
    additions_text,
    combinations,
    variants,
)
from replicalab.planner.least_loss import least_loss_of
from replicalab.scenarios import EvidenceTier, Pack
from tests.factories import (
    CONTROLS,
    EQUIPMENT,
    REAGENTS,
    change_pack,
    make_control,
    make_design,
    make_pack,
    make_protocol,
    make_substitution,
    make_throughput,
)
from tests.planner.brute_force import Tried, enough, key, missing, ranked, tried, variants_of
from tests.planner.small_labs import opened
from tests.tiers import batches

LABS: Final = 50
SHORT: Final = 4
MOST_TRIED: Final = 100_000
"""So many plans of a lab are tried one by one; labs with more are left out."""
BATCHES: Final = pytest.mark.parametrize("first", batches(LABS, short=SHORT, long=10))
CHAMBER = EQUIPMENT[0]
TARGET, FLOOR, _ = EvidenceTier
TIERS: Final = {Goal.TARGET: {TARGET}, Goal.FLOOR: {TARGET, FLOOR}}


class Means(NamedTuple):
    """How much of each mean is taken: three amounts, days of waiting, keys of items."""

    credits: float
    days: int
    staff: int
    waits: int
    items: frozenset[str]

    def beats(self, other: Means) -> bool:
        """Return whether less of one mean is taken, and no more of any."""
        amounts = zip(self[:4], other[:4], strict=True)
        return self != other and self.items <= other.items and all(a <= b for a, b in amounts)


def _smallest(found: Iterable[Means]) -> set[Means]:
    kept: list[Means] = []
    for one in sorted(
        found, key=lambda each: (*each[:4], len(each.items))
    ):  # none beats an earlier
        if not any(other.beats(one) for other in kept):
            kept.append(one)
    return {*kept}


def _means(one: Combination) -> Means:
    """Return a combination that was found as it is written here."""
    more = {ask.dimension: ask.more for ask in one.asks if ask.item is None}
    return Means(
        more.get(Dimension.BUDGET, 0.0),
        int(more.get(Dimension.SCHEDULE, 0)),
        int(more.get(Dimension.STAFF, 0)),
        one.waits,
        frozenset(key(item) for item in one.items),
    )


# --- every combination of means, and every plan -----------------------------------------------


def _days_left(pack: Pack) -> int:
    return len(range(pack.lab.start_day, pack.lab.days + 1))


def _with(pack: Pack, means: Means) -> Pack:
    """Return the lab with these means, written into its fields."""
    lab, start = pack.lab, pack.lab.start_day + means.waits
    return change_pack(
        pack,
        budget=round(lab.budget + means.credits, 6),
        staff=lab.staff + means.staff,
        start_day=start,
        days=start - 1 + max(0, _days_left(pack) - means.waits + means.days),
        booked={i: day for i, day in lab.booked.items() if key(i) not in means.items},
        out_of_stock=[i for i in lab.out_of_stock if key(i) not in means.items],
    )


def _useful(plan: Protocol, pack: Pack) -> set[str]:
    """Return the keys of the items that the plan lists or that may come in place of one."""
    listed = {key(item) for item in (*plan.required_equipment, *plan.required_reagents)}
    rows = pack.allowed_substitutions
    return listed | {key(row.alternative) for row in rows if key(row.original) in listed}


def _free(plan: Protocol, pack: Pack) -> Iterator[tuple[int, frozenset[str], frozenset[str]]]:
    """Yield every wait, up to the end of the last booking, with every set of released items.

    And what useful items the lab lacks then.
    """
    start, useful = pack.lab.start_day, _useful(plan, pack)
    for day in range(start, max([start, *(until + 1 for until in pack.lab.booked.values())]) + 1):
        lacking = missing(change_pack(pack, start_day=day)) & useful
        for size in range(len(lacking) + 1):
            for some in sets_of(sorted(lacking), size):
                yield day - start, frozenset(some), frozenset(lacking.difference(some))


def _enough_days(plan: Protocol, pack: Pack) -> int:
    """Return so many days that no plan worth trying takes more."""
    least = max([pack.min_days, *(int(c.quantity or 0) for c in pack.study.constraints)])
    samples = max(enough(worded, pack) for worded in variants_of(plan, pack))
    samples = max(samples, plan.sample_size, len(plan.controls) + 1)
    rate = pack.samples_per_day
    return least if rate is None else max(least, -(-samples // rate.value))


@cache
def _endless(seed: int, lacking: frozenset[str]) -> Pack:
    """Return a lab that lacks these items and nothing else."""
    plan, pack = opened(seed).yours.plan, opened(seed).yours.pack
    there = change_pack(
        pack, budget=1e9, staff=10**9, start_day=1, booked={}, out_of_stock=[*lacking]
    )
    return change_pack(there, days=_enough_days(plan, there))


@cache
def _passing(seed: int, lacking: frozenset[str]) -> tuple[Tried, ...]:
    """Return every plan that passes there."""
    plans = tried(opened(seed).yours.plan, _endless(seed, lacking))
    return tuple(plan for plan in plans if not plan.failing)


def _amounts(seed: int, lacking: frozenset[str], goal: Goal) -> set[Means]:
    """Return the least that plans which reach a goal take of the amounts, with these lacking."""
    if goal is Goal.PLAN:
        there = change_pack(_endless(seed, lacking), days=10**6)
        now = assess(opened(seed).yours.plan, there)
        taken = [(now.cost, now.plan.duration_days, now.staff)] if now.feasible else []
    else:
        tiers = {[*EvidenceTier].index(tier) for tier in TIERS[goal]}
        plans = (plan for plan in _passing(seed, lacking) if plan.tier in tiers)
        taken = [(plan.credits, plan.days, plan.staff) for plan in plans]
    return _smallest(Means(*amounts, 0, frozenset()) for amounts in {*taken})


def _all(seed: int, goal: Goal) -> set[Means]:
    """Return every combination that reaches a goal and of which no smaller one does."""
    yours, found = opened(seed).yours, set[Means]()
    lab, left = yours.pack.lab, _days_left(yours.pack)
    for wait, items, lacking in _free(yours.plan, yours.pack):
        for cost, days, people, *_ in _amounts(seed, lacking, goal):
            credits = max(0.0, round(cost - lab.budget, 6))
            later, more = max(0, days - (left - wait)), max(0, people - lab.staff)
            found.add(Means(credits, later, more, wait, items))
    return _smallest(found)


def _plans(seed: int) -> int:
    """Return how many plans `_all` tries, about."""
    yours, there = opened(seed).yours, _endless(seed, frozenset())
    lists = {lacking for *_, lacking in _free(yours.plan, yours.pack)}
    worded = [*variants_of(yours.plan, there)]
    samples = max(yours.plan.sample_size, *(enough(each, there) for each in worded))
    return len(lists) * there.lab.days * samples * len(worded)


@BATCHES
def test_combinations_are_all_the_smallest_of_means_times_plans(first: int) -> None:
    """Every goal of a lab in one test: what is counted for one is kept for the others."""
    several = Counter[Goal]()
    for seed in range(first, first + LABS):
        if _plans(seed) > MOST_TRIED:
            continue
        for goal in Goal:
            found = opened(seed).combinations(goal)
            assert found.exact
            means = [_means(one) for one in found.found]
            assert len({*means}) == len(means)
            assert {*means} == _all(seed, goal), (seed, goal)
            several[goal] += len(means) > 1
    assert all(several[goal] for goal in Goal)


@pytest.mark.parametrize("goal", Goal)
def test_combination_buys_the_best_plan_of_the_lab_with_it(goal: Goal) -> None:
    waits = 0
    for seed in range(LABS):
        yours = opened(seed).yours
        for one in opened(seed).combinations(goal).found:
            there = _with(yours.pack, _means(one))
            after = assess(one.plan.plan, there)
            assert after.feasible, seed
            assert (one.plan.cost, one.plan.counts, one.plan.failing) == (
                after.cost,
                after.counts,
                after.failing,
            )
            waits += one.waits > 0
            listed = {
                key(i) for i in (*after.plan.required_equipment, *after.plan.required_reagents)
            }
            now = missing(yours.pack) & listed
            assert {*map(key, one.free)} == now - {*map(key, one.items)}
            if goal is Goal.PLAN:
                assert one.plan.plan == yours.plan
            else:
                assert after.evidence.tier in TIERS[goal]
                assert ranked(after, yours.plan)[:4] == _best(yours.plan, there)
    assert waits > LABS / 20


def _best(plan: Protocol, there: Pack) -> tuple[float, ...]:
    """Return what the best of all plans in a lab gives up, the Lab Manager's among them."""
    options = PlanAnalysis(assess(plan, there))
    theirs = [ranked(each, plan) for each in (options.yours, options.offered)]
    return min([*theirs, *(each.rank for each in tried(plan, there))])[:4]


# --- the order --------------------------------------------------------------------------------


def _booked(**lab: Any) -> PlanAnalysis:
    """Return a plan whose chamber is booked to day 9, with nothing to take its place.

    40 samples, 5 days, 2 controls, 2 pieces of equipment and 2 reagents cost 1,050 credits.
    """
    pack = make_pack(booked={CHAMBER: 9}, allowed_substitutions=[], **lab)
    return PlanAnalysis(assess(make_protocol(), pack))


def _texts(found: Iterable[Combination]) -> list[tuple[int, str]]:
    return [(one.start_day, additions_text(one.asks)) for one in found]


WAIT: Final = (10, "950 more credits and 4 more days")
RELEASE: Final = (1, "950 more credits and 'growth chamber' released")


@pytest.mark.parametrize(
    ("prices", "order", "worth"),
    [
        ({}, [RELEASE, WAIT], [None, None]),  # two kinds of means before three
        ({"staff": 5.0}, [RELEASE, WAIT], [None, None]),
        ({"day": 10.0, "item": 100.0}, [WAIT, RELEASE], [990.0, 1050.0]),
        ({"day": 30.0, "item": 100.0}, [RELEASE, WAIT], [1050.0, 1070.0]),
        ({"day": 10.0, "staff": 5.0, "item": 100.0}, [WAIT, RELEASE], [990.0, 1050.0]),
        ({"day": 10.0}, [WAIT, RELEASE], [990.0, None]),
        ({"item": 0.0}, [RELEASE, WAIT], [950.0, None]),
    ],
)
def test_combinations_are_ranked_by_price_where_it_is_known_else_by_kinds_of_means(
    prices: dict[str, float], order: list[tuple[int, str]], worth: list[float | None]
) -> None:
    given = MeansPrices(**prices)
    ranking = _booked(budget=100.0, days=10).combinations(Goal.PLAN).ranked(given)
    assert _texts(ranking) == order
    assert [one.price(given) for one in ranking] == worth


def test_a_wait_stands_beside_a_release_where_neither_is_the_smaller() -> None:
    found = _booked(budget=100.0, days=40).combinations(Goal.PLAN).found
    assert _texts(found) == [
        (10, "950 more credits"),
        (1, "950 more credits and 'growth chamber' released"),
    ]
    assert [one.free for one in found] == [(CHAMBER,), ()]


def test_what_costs_nothing_comes_before_what_costs_little() -> None:
    found = _rigid(booked={CHAMBER: 9}, days=10).combinations(Goal.PLAN)
    ranking = found.ranked(MeansPrices(day=0.1, item=0.0))
    assert _texts(ranking) == [(1, "'growth chamber' released"), (10, "4 more days")]


def test_an_item_that_is_booked_on_the_first_day_is_not_free() -> None:
    meter = EQUIPMENT[1]
    found = _rigid(booked={CHAMBER: 9, meter: 10}, days=40).combinations(Goal.PLAN).found
    assert {(one.start_day, one.items, one.free) for one in found} == {
        (1, EQUIPMENT, ()),
        (10, (meter,), (CHAMBER,)),
        (11, (), EQUIPMENT),
    }


def test_credits_alone_are_those_without_a_wait_or_an_item() -> None:
    alone = _rigid(budget=100.0).combinations(Goal.PLAN).by_money
    assert alone is not None
    assert additions_text(alone.asks) == "950 more credits"
    assert _booked(budget=100.0, days=40).combinations(Goal.PLAN).by_money is None


def test_a_wait_of_one_day_is_a_kind_of_means() -> None:
    found = _rigid(booked={CHAMBER: 1}, budget=1050.0).combinations(Goal.PLAN)
    assert _texts(found.found) == [(2, ""), (1, "'growth chamber' released")]
    assert [one.kinds for one in found.found] == [1, 1]
    assert not found.reached


@pytest.mark.parametrize("price", [-1.0, math.nan, math.inf, 1e10])
@pytest.mark.parametrize("name", ["day", "staff", "item"])
def test_a_price_that_is_none_is_refused(name: str, price: float) -> None:
    with pytest.raises(ValidationError):
        MeansPrices(**{name: price})


# --- the ends ---------------------------------------------------------------------------------


@pytest.mark.parametrize("goal", Goal)
def test_a_goal_that_is_reached_takes_nothing(goal: Goal) -> None:
    found = PlanAnalysis(assess(make_protocol(sample_size=60), make_pack())).combinations(goal)
    assert [(one.kinds, one.asks, one.waits) for one in found.found] == [(0, (), 0)]
    assert found.reached


@pytest.mark.parametrize("goal", Goal)
def test_what_no_means_repair_is_reached_by_no_combination(goal: Goal) -> None:
    plan = make_protocol(rationale="an open flame keeps the trays warm")
    found = PlanAnalysis(assess(plan, make_pack(budget=1.0))).combinations(goal)
    assert (found.found, found.exact, found.reached) == ((), True, False)


def test_days_are_counted_from_a_start_that_lies_beyond_the_last() -> None:
    late = _booked(start_day=30, days=20).combinations(Goal.PLAN)
    assert _texts(late.found) == [(30, "5 more days")]
    assert late.found[0].plan.feasible
    booked_on = _booked(days=4).combinations(Goal.PLAN)
    assert _texts(booked_on.found) == [
        (1, "1 more day and 'growth chamber' released"),
        (10, "10 more days"),
    ]


def test_a_booking_without_end_and_a_huge_plan_take_huge_means() -> None:
    plan = make_protocol(sample_size=10**6, duration_days=10**6)
    pack = make_pack(booked={CHAMBER: 10**9}, allowed_substitutions=[], constraints=[])
    found = PlanAnalysis(assess(plan, pack)).combinations(Goal.PLAN).found
    assert [(one.start_day, one.plan.feasible) for one in found] == [(1, True), (10**9 + 1, True)]
    assert found[1].more(Dimension.SCHEDULE) == 10**9 + 10**6 - 20


def test_goal_that_a_search_cut_short_misses_is_reached_by_the_smallest_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = _rigid(budget=100.0, booked={CHAMBER: 9}).combinations(Goal.TARGET).found
    least_in_the_lab = least_loss_of(found[0]._yours)  # noqa: SLF001 - what a search would miss
    assert not least_in_the_lab.after.feasible
    monkeypatch.setattr(combinations, "least_loss_of", lambda _plan: least_in_the_lab)
    for one in found:
        assert one.plan.feasible
        assert one.plan.evidence.tier is TARGET
        # No sample, day or credit more than the least.
        assert one.plan.cost == 100.0 + one.more(Dimension.BUDGET)


def _rigid(**lab: Any) -> PlanAnalysis:
    """Return a plan that can be worded in one way alone."""
    controls = [make_control(name=name, droppable=False) for name in CONTROLS]
    pack = make_pack(allowed_substitutions=[], controls=controls, **lab)
    return PlanAnalysis(assess(make_protocol(), pack))


def test_fewer_days_for_more_credits_stand_beside_more_days_for_fewer() -> None:
    # The chamber is dear; on the shelf the effect is less, so that it takes more samples and days.
    shelf = make_substitution(evidence_factor=0.8)
    pack = make_pack(
        allowed_substitutions=[shelf],
        samples_per_day=make_throughput(value=10),
        prices={CHAMBER: 3000.0, shelf.alternative: 0.0},
        budget=500.0,
        days=3,
    )
    found = PlanAnalysis(assess(make_protocol(), pack)).combinations(Goal.TARGET).found
    more = [(one.more(Dimension.BUDGET), one.more(Dimension.SCHEDULE)) for one in found]
    # 42 samples at d = 0.9 and 64 at 0.72 have a power of 0.8.
    assert sorted(days for _, days in more) == [2, 4]
    assert min(more)[1] == 4


def test_plan_that_only_reaches_the_floor_shows_as_much_as_there_is() -> None:
    # 30 trays exist: power 0.66 at d = 0.9, above the floor of 0.5 that fewer reach too.
    found = _rigid(design=make_design(population_max=30)).combinations(Goal.FLOOR).found
    assert [one.plan.evidence.value for one in found] == [pytest.approx(0.6626, abs=1e-4)]


def test_search_of_all_sets_of_items_is_exact_and_one_of_fewer_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lab = {"booked": dict.fromkeys(EQUIPMENT, 9), "out_of_stock": REAGENTS[:1]}
    for most, is_exact in ((8, True), (7, False)):  # three items have eight sets
        monkeypatch.setattr(combinations, "MOST_SETS", most)
        found = _rigid(**lab).combinations(Goal.TARGET)
        assert found.exact is is_exact
        assert [one.items for one in found.found] == [(*EQUIPMENT, *REAGENTS[:1]), REAGENTS[:1]]


def test_search_whose_wordings_are_not_all_known_is_not_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The window shelf comes in the chamber's place, or nothing does.
    for most, is_exact in ((2, True), (1, False)):
        monkeypatch.setattr(variants, "MOST_COMBINATIONS", most)
        plan = PlanAnalysis(assess(make_protocol(), make_pack(booked={CHAMBER: 9})))
        assert plan.combinations(Goal.TARGET).exact is is_exact


def test_search_of_more_wordings_than_so_many_is_not_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    # There is one wording for each of the two sets of the one item that is booked.
    for most, is_exact in ((2, True), (1, False)):
        monkeypatch.setattr(combinations, "MOST_WORDINGS", most)
        assert _rigid(booked={CHAMBER: 9}).combinations(Goal.TARGET).exact is is_exact
