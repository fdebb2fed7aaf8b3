"""The same study in a lab of other means: what is asked for changes, and nothing else does."""

from __future__ import annotations

import pytest

from replicalab.agents import check_feasibility
from replicalab.scenarios import Difficulty, NormalizedScenarioPack, list_scenarios, load_scenario
from replicalab.scenarios.inventory import ItemStatus
from replicalab.scenarios.levers import with_means
from tests.factories import (
    EQUIPMENT,
    REAGENTS,
    make_lab_manager_observation,
    make_pack,
    make_pack_in_lab,
    make_protocol,
)

CHAMBER, METER = EQUIPMENT
PLATES, BROTH = REAGENTS
MEANS = {"constraints", "resources", "lab_manager_observation", "expected"}
PACKS = [
    load_scenario(study.scenario_id, difficulty)
    for study in list_scenarios()
    for difficulty in Difficulty
]
IN_EVERY_LAB = pytest.mark.parametrize(
    "pack", PACKS, ids=lambda pack: f"{pack.scenario_id}-{pack.difficulty}"
)


def _rest(pack: NormalizedScenarioPack) -> dict[str, object]:
    return {name: getattr(pack, name) for name in type(pack).model_fields if name not in MEANS}


@IN_EVERY_LAB
def test_means_that_are_not_named_stay(pack: NormalizedScenarioPack) -> None:
    same = with_means(pack)
    assert _rest(same) == _rest(pack)
    assert same.constraints == pack.constraints
    assert same.resources == pack.resources
    assert same.lab == pack.lab
    assert same.expected is None  # what its author worked out holds for the lab as it is


@IN_EVERY_LAB
def test_amounts_change_in_the_lab_and_in_its_constraints_alone(
    pack: NormalizedScenarioPack,
) -> None:
    before = pack.model_dump()
    richer = with_means(pack, budget=12345.0, days=77, staff=9)
    lab = richer.lab
    assert (lab.budget_remaining, lab.time_limit_days, lab.staff_count) == (12345.0, 77, 9)
    bounds = {c.key: c.quantity for c in richer.constraints}
    assert (bounds["budget"], bounds["time_limit"], bounds["staff"]) == (12345.0, 77, 9)
    own = ("budget", "time_limit", "staff")
    assert [c for c in richer.constraints if c.key not in own] == [
        c for c in pack.constraints if c.key not in own
    ]
    people = [r.quantity for r in richer.resources if r.category.value == "personnel"]
    assert people == [9]
    assert [r for r in richer.resources if r.category.value != "personnel"] == [
        r for r in pack.resources if r.category.value != "personnel"
    ]
    assert _rest(richer) == _rest(pack)
    assert pack.model_dump() == before


@IN_EVERY_LAB
def test_released_items_are_free_and_the_others_stay_missing(pack: NormalizedScenarioPack) -> None:
    lab = pack.lab
    for item in [*lab.equipment_booked, *lab.reagents_out_of_stock]:
        freed = with_means(pack, released=[f"  {item.upper()} "])
        assert sorted(freed.lab.equipment_available + freed.lab.equipment_booked) == sorted(
            lab.equipment_available + lab.equipment_booked
        )
        assert sorted(freed.lab.reagents_in_stock + freed.lab.reagents_out_of_stock) == sorted(
            lab.reagents_in_stock + lab.reagents_out_of_stock
        )
        missing = {r.label for r in freed.resources if not r.available}
        assert missing == {r.label for r in pack.resources if not r.available} - {item}
        assert missing == {*freed.lab.equipment_booked, *freed.lab.reagents_out_of_stock}
        assert all(r.booked_until_day is None for r in freed.resources if r.label == item)
        assert freed.lab.budget_remaining == lab.budget_remaining
        assert _rest(freed) == _rest(pack)


def test_released_item_passes_the_check_again() -> None:
    pack = make_pack_in_lab(booked={CHAMBER: 9}, out_of_stock=[PLATES], allowed_substitutions=[])
    freed = with_means(pack, released=[CHAMBER, PLATES])
    assert not check_feasibility(make_protocol(), pack).feasible
    assert check_feasibility(make_protocol(), freed).feasible
    assert freed.inventory.status(CHAMBER, "equipment") is ItemStatus.AVAILABLE
    assert freed.inventory.booked_until(CHAMBER) is None


def test_what_is_spent_stays_spent() -> None:
    lab = make_lab_manager_observation(budget_total=500.0, budget_remaining=300.0)
    richer = with_means(make_pack(lab_manager_observation=lab), budget=350.0)
    assert (richer.lab.budget_total, richer.lab.budget_remaining) == (550.0, 350.0)


def test_means_may_shrink_to_nothing() -> None:
    poor = with_means(make_pack(), budget=0, days=0, staff=0)
    assert (poor.lab.budget_remaining, poor.lab.time_limit_days, poor.lab.staff_count) == (0, 0, 0)


def test_releasing_an_item_that_is_not_missing_changes_nothing() -> None:
    pack = make_pack_in_lab(booked={CHAMBER: 9})
    same = with_means(pack, released=[METER, "crystal ball"])
    assert (same.resources, same.lab) == (pack.resources, pack.lab)
