"""The same study in a lab of other means; every view of the pack follows the lab."""

from __future__ import annotations

import pytest

from replicalab.scenarios import Difficulty, Pack, list_scenarios, load_scenario
from tests.factories import make_pack, with_means

PACKS = [
    load_scenario(study.scenario_id, level) for study in list_scenarios() for level in Difficulty
]
IN_EVERY_LAB = pytest.mark.parametrize(
    "pack", PACKS, ids=lambda pack: f"{pack.scenario_id}-{pack.difficulty}"
)


@IN_EVERY_LAB
def test_means_that_are_not_named_stay(pack: Pack) -> None:
    assert with_means(pack).lab == pack.lab.model_copy(update={"expected": None})
    assert with_means(pack).study is pack.study


@IN_EVERY_LAB
def test_amounts_change_in_every_view_and_nothing_else_does(pack: Pack) -> None:
    moved = with_means(pack, budget=777, days=9, staff=4)
    seen, before = moved.lab_manager_observation, pack.lab_manager_observation
    amounts = {
        "budget_total": 777.0,
        "budget_remaining": 777.0,
        "time_limit_days": 9,
        "staff_count": 4,
    }
    assert seen == before.model_copy(update=amounts)
    assert {c.key: c.quantity for c in moved.constraints[-3:]} == {
        "budget": 777,
        "time_limit": 9,
        "staff": 4,
    }
    assert moved.constraints[:-3] == pack.constraints[:-3]
    assert moved.resources[-1].quantity == 4
    assert moved.resources[:-1] == pack.resources[:-1]
    assert moved.expected is None


@IN_EVERY_LAB
def test_released_item_is_free_and_the_others_stay_missing(pack: Pack) -> None:
    missing = [*pack.lab.booked, *pack.lab.out_of_stock]
    for item in missing:
        moved = with_means(pack, released=[item.upper()])
        seen = moved.lab_manager_observation
        assert item in [*seen.equipment_available, *seen.reagents_in_stock]
        still = [*seen.equipment_booked, *seen.reagents_out_of_stock]
        assert still == [each for each in missing if each != item]
        assert [r.label for r in moved.resources if not r.available] == still
        assert moved.inventory.booked_until(item) is None


def test_lab_that_is_asked_for_more_may_be_larger_than_a_file_may_name() -> None:
    assert with_means(make_pack(), budget=1e15, staff=10**9 + 4).lab.budget == 1e15
