"""The most robust plan over three worlds against every plan of small labs, tried one by one."""

from collections.abc import Sequence
from math import isfinite
from random import Random
from typing import Any, Final

import pytest

from replicalab.assessment import Assessment, assess
from replicalab.features.break_even import robust_plan, values_in
from replicalab.features.break_even.assumptions import Assumption
from replicalab.models import Protocol
from replicalab.negotiation.score import Robust
from replicalab.scenarios import Pack
from tests.features.test_break_even import changed
from tests.planner.brute_force import Place, Tried, ranked, tried
from tests.planner.small_labs import analysed, small_lab
from tests.tiers import batches

TERMS: Final = 11
ROUNDING: Final = 1e-9


def pack_of(plan: Assessment, values: dict[str, Assumption]) -> Pack:
    """Return a world through the changes that a visitor makes."""
    for key, row in values.items():
        plan = changed(plan, key, row.now)
    return plan.pack


def regret(mine: Place, best: Place) -> float:
    for place, (value, least) in enumerate(zip(mine, best, strict=True)):
        if value != least:
            gap = float(value - least)
            return TERMS - 1 - place + (gap / (1 + gap) if isfinite(gap) else 1.0)
    return 0.0


class ByHand:
    """The regrets of plans in some worlds, from the ranks of all plans."""

    def __init__(self, original: Protocol, packs: Sequence[Pack]) -> None:
        self.original, self.packs = original, packs
        self.grids = [{self.key(one): self.of(one) for one in tried(original, p)} for p in packs]
        self.best = []
        for pack, grid in zip(packs, self.grids, strict=True):
            options = analysed(original, pack)
            theirs = [self.seen(options.yours), self.seen(options.offered)]
            self.best.append(min([*theirs, *grid.values()]))

    @staticmethod
    def key(one: Tried) -> tuple[str, int, int]:
        return repr(one.worded), one.samples, one.days

    @staticmethod
    def of(one: Tried) -> tuple[Place, bool]:
        return one.rank, bool(one.failing) or one.void

    def seen(self, plan: Assessment) -> tuple[Place, bool]:
        is_void = plan.evidence.void_reason is not None
        return ranked(plan, self.original), bool(plan.failing) or is_void

    def place(self, plan: Protocol, one: Tried | None = None) -> list[float]:
        regrets = []
        for pack, grid, (best, none_passes) in zip(self.packs, self.grids, self.best, strict=True):
            known = grid.get(self.key(one)) if one else None
            mine, is_lost = known or self.seen(assess(plan, pack))
            lost = 0.0 if none_passes else float(TERMS)
            regrets.append(lost if none_passes or is_lost else regret(mine, best))
        return sorted(regrets, reverse=True)


def assert_best(robust: Robust, original: Protocol, plans: dict[Any, Tried], hand: ByHand) -> None:
    mine = hand.place(robust.plan.plan)
    assert robust.exact
    assert sorted(robust.regrets(robust.plan).values(), reverse=True) == pytest.approx(mine)
    for one in plans.values():
        place = hand.place(one.plan(), one)
        assert [round(r, 9) for r in mine] <= [round(r, 9) for r in place], one


def check(plan: Assessment, **given: Any) -> Robust:
    robust = robust_plan(plan, **given)
    packs = [pack_of(plan, world) for world in values_in(robust).values()]
    hand = ByHand(plan.plan, packs)
    plans = {hand.key(one): one for pack in packs for one in tried(plan.plan, pack)}
    assert_best(robust, plan.plan, plans, hand)
    return robust


@pytest.mark.parametrize("seeds", batches(5, quick=12, long=60))
def test_robust_plan_is_best_in_small_labs(seeds: range) -> None:
    for seed in seeds:
        chance = Random(f"worlds {seed}")
        plan = assess(*small_lab(seed))
        given: Any = {
            name: {key: chance.randint(1, 5) for key in ("days", "staff") if chance.random() < 0.3}
            for name in ("hopeful", "grim")
        }
        check(plan, **given)
