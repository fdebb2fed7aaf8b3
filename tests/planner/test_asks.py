"""What a lab would have to add: each ask is enough, one unit less is not, and none is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from typing import Final

import pytest

from replicalab.agents import FeasibilityCheckResult, check_feasibility
from replicalab.assessment import assess
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner import Ask, asks, asks_text, granted, least_loss
from replicalab.scenarios import Bounds, EvidenceTier, Pack, hard_range
from tests.factories import (
    CONTROLS,
    EQUIPMENT,
    REAGENTS,
    make_design,
    make_pack,
    make_policy_rule,
    make_protocol,
    make_substitution,
)
from tests.planner.brute_force import can_count, reaches, sound
from tests.planner.small_labs import small_labs

LABS: Final = 300
TIERS: Final = (EvidenceTier.MEETS_TARGET, EvidenceTier.ABOVE_FLOOR)
CHAMBER, METER = EQUIPMENT
PLATES, BROTH = REAGENTS


def _less(found: tuple[Ask, ...]) -> Iterator[tuple[Ask, ...]]:
    """Yield the asks with one of them a unit smaller, or without the item."""
    for ask in found:
        others = tuple(each for each in found if each is not ask)
        if ask.item is not None:
            yield others
        else:
            unit = 0.01 if ask.dimension is Dimension.BUDGET else 1
            yield (*others, replace(ask, needs=max(ask.has, ask.needs - unit)))


def _troubles(check: FeasibilityCheckResult) -> int:
    """Return how many reasons there are against a plan."""
    return sum(len(check.check(dimension).reasons) for dimension in Dimension)


def test_granting_what_a_plan_asks_for_makes_it_feasible_and_nothing_less_does() -> None:
    possible = 0
    for plan, pack in small_labs(0, LABS):
        relief = asks(plan, pack).run
        assert relief.plan == plan
        after = check_feasibility(plan, granted(relief.asks, pack))
        assert tuple(after.failing) == relief.left
        assert after.feasible == relief.possible
        possible += relief.possible and bool(relief.asks)
        for fewer in _less(relief.asks):
            assert _troubles(check_feasibility(plan, granted(fewer, pack))) > _troubles(after)
    assert possible > LABS / 4


def test_what_no_lab_can_add_is_left() -> None:
    plan = make_protocol(sample_size=2, required_equipment=["crystal ball"])
    relief = asks(plan, make_pack()).run
    assert relief.left == (Dimension.PROTOCOL, Dimension.EQUIPMENT)
    assert relief.asks == ()


def test_target_is_reached_with_the_fewest_samples() -> None:
    reached = 0
    for plan, pack in small_labs(0, LABS):
        if hard_range(pack.limits, Bounds.DAYS)[1] < inf:
            continue  # the study allows too few days for any number of samples
        relief = asks(plan, pack).target
        low, most = len(plan.controls) + 1, int(min(can_count(10**6, pack), 400))
        sizes = (
            n
            for n in range(low, most + 1)
            if reaches(plan, n, TIERS[0], pack)
            and sound(plan, n, pack, {Bounds.SAMPLES, Bounds.EVIDENCE})
        )
        first = next(sizes, None)
        assert (relief.plan.sample_size if relief else None) == first
        if relief is None:
            continue
        reached += 1
        days = range(1, relief.plan.duration_days + 1)
        timed = (revise(relief.plan, duration_days=d) for d in days)
        worth = [assess(each, pack).evidence.tier is TIERS[0] for each in timed]
        if not pack.limits:
            assert worth == [False] * (len(worth) - 1) + [True]
        kept = {"sample_size": plan.sample_size, "duration_days": plan.duration_days}
        assert revise(relief.plan, **kept) == plan
        assert assess(relief.plan, pack).evidence.tier is TIERS[0]
        after = check_feasibility(relief.plan, granted(relief.asks, pack))
        assert tuple(after.failing) == relief.left
        for fewer in _less(relief.asks):
            check = check_feasibility(relief.plan, granted(fewer, pack))
            assert _troubles(check) > _troubles(after)
    assert reached > LABS / 2


# --- single asks ------------------------------------------------------------------------------


def _reached(plan: Protocol, pack: Pack, tier: EvidenceTier) -> bool:
    found = least_loss(plan, pack)
    tiers = list(EvidenceTier)
    return found.after.check.feasible and tiers.index(found.after.evidence.tier) <= tiers.index(
        tier
    )


def _levers(plan: Protocol, pack: Pack) -> dict[tuple[str, str | None], Ask]:
    """Return every single thing that a lab could add, more of it than anyone could need."""
    lab = pack.lab
    found = [
        Ask(Dimension.BUDGET, lab.budget, 1e9),
        Ask(Dimension.SCHEDULE, lab.days, 10**7),
        Ask(Dimension.STAFF, lab.staff, 100),
        *(
            Ask(
                Dimension.EQUIPMENT if r.category.value == "equipment" else Dimension.REAGENTS,
                0, 1, r.label,
            )
            for r in pack.resources
            if not r.available
        ),
    ]  # fmt: skip
    return {(ask.dimension, ask.item and ask.item.casefold()): ask for ask in found}


@pytest.mark.parametrize("tier", TIERS)
def test_single_asks_are_each_enough_and_all_that_are(tier: EvidenceTier) -> None:
    found = 0
    for seed, (plan, pack) in enumerate(small_labs(0, LABS)):
        every = asks(plan, pack)
        singles = every.alone_target if tier is TIERS[0] else every.alone_floor
        alone = tuple(single.ask for single in singles)
        if _reached(plan, pack, tier):
            assert alone == ()
            continue
        found += len(alone)
        for ask in alone:
            assert (seed, ask, _reached(plan, granted((ask,), pack), tier)) == (seed, ask, True)
            for less in _less((ask,)):
                assert not _reached(plan, granted(less, pack), tier)
        assert [ask.share for ask in alone] == sorted(ask.share for ask in alone)
        listed = {(ask.dimension, ask.item and ask.item.casefold()) for ask in alone}
        for lever, ask in _levers(plan, pack).items():
            if lever not in listed:
                reached = _reached(plan, granted((ask,), pack), tier)
                assert (seed, lever, reached) == (seed, lever, False)
    assert found > LABS / 30


def test_a_missing_alternative_is_asked_for_where_its_release_is_enough() -> None:
    swap = make_substitution(original=CHAMBER, alternative=METER)
    pack = make_pack(booked={CHAMBER: 9, METER: 3}, allowed_substitutions=[swap])
    found = asks(make_protocol(required_equipment=[CHAMBER]), pack)
    assert [single.ask.item for single in found.alone_target] == [CHAMBER, METER]
    assert [ask.item for ask in found.run.asks] == [CHAMBER]


def test_a_missing_alternative_to_a_forbidden_item_is_asked_for() -> None:
    swap = make_substitution(original=CHAMBER, alternative=METER)
    rule = make_policy_rule(forbidden_phrases=[CHAMBER])
    pack = make_pack(booked={METER: 3}, allowed_substitutions=[swap], policy_rules=[rule])
    found = asks(make_protocol(required_equipment=[CHAMBER]), pack)
    assert [single.ask.item for single in found.alone_target] == [METER]
    assert found.run.left == (Dimension.POLICY,)


def test_target_is_none_where_the_population_leaves_no_room_beside_the_controls() -> None:
    design = make_design(kind="paired", effect_planning=50.0, population_max=3)
    plan = make_protocol(controls=[*CONTROLS, "third"])
    found = asks(plan, make_pack(design=design))
    assert found.target is None


# --- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (Ask(Dimension.BUDGET, 100, 110), "10 more credits"),
        (Ask(Dimension.BUDGET, 0.1 + 0.2, 1.3), "1 more credit"),
        (Ask(Dimension.BUDGET, 0.0, 1234.5), "1,234.50 more credits"),
        (Ask(Dimension.SCHEDULE, 3, 4), "1 more day"),
        (Ask(Dimension.STAFF, 1, 3), "2 more staff units"),
        (Ask(Dimension.EQUIPMENT, 0, 1, CHAMBER), "'growth chamber' released"),
        (Ask(Dimension.REAGENTS, 0, 1, PLATES), "'agar plates' restocked"),
    ],
)
def test_ask_reads(ask: Ask, text: str) -> None:
    assert ask.text == text


def test_asks_text_joins_with_commas_and_one_and() -> None:
    day, unit = Ask(Dimension.SCHEDULE, 3, 4), Ask(Dimension.STAFF, 1, 2)
    item = Ask(Dimension.EQUIPMENT, 0, 1, CHAMBER)
    assert asks_text(()) == ""
    assert asks_text((day,)) == "1 more day"
    assert asks_text((day, unit)) == "1 more day and 1 more staff unit"
    assert asks_text((day, unit, item)) == (
        "1 more day, 1 more staff unit and 'growth chamber' released"
    )


def test_share_of_nothing_is_one() -> None:
    assert Ask(Dimension.STAFF, 0, 3).share == 1
    assert Ask(Dimension.BUDGET, 200, 300).share == 0.5
