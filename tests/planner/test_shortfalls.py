"""Additions to a lab: each is enough, one unit less is not, and the list is complete."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from math import inf
from typing import Final

import pytest

from replicalab import planner
from replicalab.assessment import Assessment, assess
from replicalab.lexicon import label_key
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner.shortfalls import with_additions
from replicalab.scenarios import Bounds, EvidenceTier, Pack, hard_range
from tests import factories
from tests.planner.brute_force import Place, can_count, evidence_of, missing, ranked, sound, tried
from tests.planner.small_labs import analysed, opened
from tests.tiers import batches

BATCHES: Final = pytest.mark.parametrize("seeds", batches(100, quick=40, long=2))
TARGET, FLOOR, _ = EvidenceTier
CHAMBER, METER = factories.EQUIPMENT


def _less(found: tuple[planner.Addition, ...]) -> Iterator[tuple[planner.Addition, ...]]:
    for ask in found:
        others = tuple(addition for addition in found if addition is not ask)
        if ask.item is not None:
            yield others
        else:
            unit = 0.01 if ask.dimension is Dimension.BUDGET else 1
            yield (*others, replace(ask, needs=max(ask.has, ask.needs - unit)))


def _troubles(plan: Assessment) -> int:
    return sum(len(plan.check.check(dimension).reasons) for dimension in Dimension)


def _assert_enough_and_no_more(relief: planner.Shortfall, there: Assessment) -> None:
    after = assess(there.plan, with_additions(relief.asks, there.pack))
    assert tuple(after.failing) == relief.failing
    assert after.feasible == relief.possible
    for fewer in _less(relief.asks):
        less = assess(there.plan, with_additions(fewer, there.pack))
        assert _troubles(less) > _troubles(after)


@BATCHES
def test_shortfall_is_enough_and_minimal(seeds: range) -> None:
    possible = 0
    for seed in seeds:
        yours, relief = opened(seed).yours, opened(seed).asks.run
        assert relief.plan == yours.plan
        _assert_enough_and_no_more(relief, yours)
        possible += relief.possible and bool(relief.asks)
    assert possible > len(seeds) / 4


def test_released_item_may_replace_another() -> None:
    # The chamber may replace the plates, so that a free one passes as a reagent too.
    swap = factories.make_substitution(original=factories.REAGENTS[0], alternative=CHAMBER)
    pack = factories.make_pack(booked={CHAMBER: 9}, allowed_substitutions=[swap])
    relief = analysed(factories.make_protocol(required_reagents=[CHAMBER]), pack).asks.run
    assert [ask.item for ask in relief.asks] == [CHAMBER]
    assert relief.failing == ()


@BATCHES
def test_target_is_reached_with_the_fewest_samples(seeds: range) -> None:
    reached = 0
    for seed in seeds:
        plan, pack, relief = (
            opened(seed).yours.plan,
            opened(seed).yours.pack,
            opened(seed).asks.target,
        )
        if hard_range(pack.limits, Bounds.DAYS)[1] < inf:
            continue  # the study allows too few days for any number of samples
        low = len(plan.controls) + 1
        limit = max(int(min(can_count(10**6, pack), 400)), low, 18)  # two conditions of 9 at most
        sizes = (
            n
            for n in range(low, limit + 1)
            if evidence_of(plan, n, pack).tier is TARGET
            and sound(plan, n, pack, {Bounds.SAMPLES, Bounds.EVIDENCE})
        )
        first = next(sizes, None)
        assert (relief.plan.sample_size if relief else None) == first
        if relief is None:
            continue
        reached += 1
        existing = assess(relief.plan, pack)
        days = range(1, relief.plan.duration_days + 1)
        worth = [assess(revise(existing.plan, duration_days=d), pack).evidence.tier for d in days]
        if not pack.limits:
            assert [tier is TARGET for tier in worth] == [False] * (len(worth) - 1) + [True]
        record = {"sample_size": plan.sample_size, "duration_days": plan.duration_days}
        assert revise(relief.plan, **record) == plan
        assert existing.evidence.tier is TARGET
        _assert_enough_and_no_more(relief, existing)
    assert reached > len(seeds) / 2


def _additions(yours: Assessment) -> list[planner.Addition]:
    lab = yours.pack.lab
    items = {"equipment": Dimension.EQUIPMENT, "reagent": Dimension.REAGENTS}
    return [
        planner.Addition(Dimension.BUDGET, lab.budget, 1e9),
        planner.Addition(Dimension.SCHEDULE, lab.days_left, 10**7),
        planner.Addition(Dimension.STAFF, lab.staff, 100),
        *(
            planner.Addition(items[r.category.value], 0, 1, r.label)
            for r in yours.pack.resources
            if not r.available
        ),
    ]


def _slider(ask: planner.Addition) -> tuple[str, str | None]:
    return ask.dimension, ask.item and ask.item.casefold()


@cache
def _best(seed: int, *added: planner.Addition) -> tuple[bool, EvidenceTier]:
    yours = opened(seed).yours
    after = analysed(yours.plan, with_additions(added, yours.pack)).least.after
    return after.feasible, after.evidence.tier


@BATCHES
def test_single_additions_are_complete_and_minimal(seeds: range) -> None:
    record = dict.fromkeys((TARGET, FLOOR), 0)
    for seed in seeds:
        options = opened(seed)
        for tier, enough in ((TARGET, {TARGET}), (FLOOR, {TARGET, FLOOR})):
            reaching = {(True, item) for item in enough}
            singles = options.asks.alone_target if tier is TARGET else options.asks.alone_floor
            alone = [single.ask for single in singles]
            if _best(seed) in reaching:
                assert alone == []
                continue
            record[tier] += len(alone)
            assert [ask.share for ask in alone] == sorted(ask.share for ask in alone)
            for ask in alone:
                assert _best(seed, ask) in reaching, (seed, ask)
                assert not any(_best(seed, *less) in reaching for less in _less((ask,)))
            if tier is FLOOR:
                assert {single.ask for single in options.asks.singles} >= {*alone}
            listed = set(map(_slider, alone))
            for ask in _additions(options.yours):
                assert _slider(ask) in listed or _best(seed, ask) not in reaching, (seed, ask)
    assert min(record.values()) > len(seeds) / 30


def test_dropping_a_control_asks_for_less() -> None:
    yours = planner.leanest(
        assess(factories.make_protocol(sample_size=60, duration_days=3), factories.make_pack())
    )
    assert yours is not None  # the plan of the target that costs least; its second control costs 25
    [single] = analysed(yours.plan, factories.make_pack(budget=yours.cost - 30)).asks.alone_target
    assert (single.ask.dimension, single.ask.more) == (Dimension.BUDGET, 30 - 25)
    assert [control.name for control in single.dropped] == [factories.CONTROLS[1]]
    assert single.to_keep is not None
    assert (single.to_keep.dimension, single.to_keep.more) == (Dimension.BUDGET, 30)


def _later_starts(yours: Assessment) -> dict[int, planner.LeastLoss]:
    """Return the least-loss plan of every later start that buys more than all before it.

    A start is worth it on a day on which nothing becomes free too, were it to buy anything.
    """
    lab, losses = yours.pack.lab, dict[int, planner.LeastLoss]()
    best = analysed(yours.plan, yours.pack).least.rank.given_up
    for start in range(lab.start_day + 1, lab.days + 1):
        pack = factories.change_pack(yours.pack, start_day=start)
        loss = analysed(yours.plan, pack).least
        if loss.rank.given_up < best and not loss.after.evidence.void_reason:
            losses[start], best = loss, loss.rank.given_up
    return losses


def _best_of_all(plan: Protocol, there: Pack) -> Place:
    options = analysed(plan, there)
    theirs = [ranked(item, plan) for item in (options.yours, options.offered)]
    return min([*theirs, *(entry.rank for entry in tried(plan, there))])[:6]


@BATCHES
def test_waits_match_trying_every_start(seeds: range) -> None:
    bought = 0
    for seed in seeds:
        options = opened(seed)
        yours, waits = options.yours, options.asks.waits
        expected = _later_starts(yours)
        assert {wait.start_day: wait.least for wait in waits} == expected, seed
        ranks = [wait.least.rank.given_up for wait in waits]
        assert ranks == sorted(ranks)
        for wait in waits:
            pack = factories.change_pack(yours.pack, start_day=wait.start_day)
            assert wait.items
            assert not missing(pack) & {*map(label_key, wait.items)}
            assert missing(yours.pack) >= {*map(label_key, wait.items)}
            assert wait.least.rank.given_up == _best_of_all(yours.plan, pack)
        bought += len(waits)
    assert bought > len(seeds) / 30
