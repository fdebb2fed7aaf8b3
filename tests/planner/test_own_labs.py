"""What start days and own prices leave as it is: the same lab, said otherwise."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.assessment import assess
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import Pack
from tests.factories import change_pack
from tests.planner.small_labs import opened, shipped
from tests.tiers import EVERY_LAB

LABS: Final = 60
LATER: Final = 7


def answers(options: PlanAnalysis) -> tuple[object, ...]:
    """Return what the planner finds, but for the words that name a lab's days and prices."""
    asks = options.asks
    return (
        options.least.rank,
        options.least.plan,
        [each and (each.plan, each.asks, each.left) for each in (asks.run, asks.target)],
        [(single.ask, single.least.plan) for single in asks.singles],
        options.binding,
        [(extra.ask, extra.after.plan) for extra in options.extras],
        [plan[:6] for plan in options.frontier.plans],
    )


def at_its_rates(pack: Pack) -> Pack:
    """Return the study in its lab, every item at an own price that is its rate."""
    items = {item: pack.category_of(item) for item in pack.known_items}
    rates = pack.cost_model
    prices = {
        item: rates.per_equipment_item if category == "equipment" else rates.per_reagent
        for item, category in items.items()
    }
    return change_pack(pack, prices=prices)


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
def test_own_prices_that_are_the_rates_change_nothing(study: str, lab: str) -> None:
    before = shipped(study, lab)
    after = PlanAnalysis(assess(before.yours.plan, at_its_rates(before.yours.pack)))
    assert answers(after) == answers(before)


def test_lab_in_which_every_day_is_later_has_the_same_plans_and_waits() -> None:
    waits = 0
    for seed in range(LABS):
        before = opened(seed)
        lab = before.yours.pack.lab
        later = change_pack(
            before.yours.pack,
            start_day=lab.start_day + LATER,
            days=lab.days + LATER,
            booked={item: day + LATER for item, day in lab.booked.items()},
        )
        after = PlanAnalysis(assess(before.yours.plan, later))
        assert answers(after) == answers(before), seed
        assert [(each.start_day - LATER, each.days_left) for each in after.asks.waits] == [
            (each.start_day, each.days_left) for each in before.asks.waits
        ]
        waits += len(after.asks.waits)
    assert waits
