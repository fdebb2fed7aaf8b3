"""A lab of one's own: what is said of it stands, and what is not stands as in the study."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given

from replicalab.lexicon import label_key
from replicalab.scenarios import (
    Difficulty,
    EvidenceAssumptions,
    ItemState,
    ItemStatus,
    LabOverrides,
    OwnItem,
    Pack,
    list_scenarios,
    load_scenario,
)
from tests.factories import EQUIPMENT, REAGENTS, make_pack
from tests.strategies import own_packs

CHAMBER, METER = EQUIPMENT
PLATES, BROTH = REAGENTS

OWN: Final = LabOverrides(
    name="Bench 4",
    start_day=5,
    items=(
        OwnItem(label=CHAMBER, category="equipment", state=ItemState.BOOKED, until=4),
        OwnItem(label=METER, category="equipment", state=ItemState.OUT_OF_STOCK),
        OwnItem(label=BROTH, category="reagent", state=ItemState.BOOKED, until=5, price=3.0),
        OwnItem(label="centrifuge", category="equipment", price=400.0),
        OwnItem(label="dry ice", category="reagent", state=ItemState.OUT_OF_STOCK),
    ),
)


@pytest.mark.parametrize("study", [study.scenario_id for study in list_scenarios()])
def test_lab_of_which_nothing_is_said_is_the_studys(study: str) -> None:
    pack = load_scenario(study, Difficulty.HARD)
    assert pack.with_own(LabOverrides(), EvidenceAssumptions()) == pack
    assert (pack.lab.days_left, pack.unspoken) == (pack.lab.days, [])
    assert pack.lab.cost_model.rate("equipment") == pack.price("anything", "equipment")


def test_items_stand_where_they_are_said_to_stand() -> None:
    inventory = make_pack().with_own(OWN, EvidenceAssumptions()).inventory
    for label, category, status, until in (
        (CHAMBER, "equipment", ItemStatus.AVAILABLE, None),
        (METER, "equipment", ItemStatus.OUT_OF_STOCK, None),
        ("Centrifuge", "equipment", ItemStatus.AVAILABLE, None),
        ("dry ice", "equipment", ItemStatus.UNKNOWN, None),
        (PLATES, "reagent", ItemStatus.AVAILABLE, None),
        (BROTH, "reagent", ItemStatus.BOOKED, 5),
        ("dry ice", "reagent", ItemStatus.OUT_OF_STOCK, None),
    ):
        found = inventory.status(label, category), inventory.booked_until(label)
        assert found == (status, until), label


def test_own_items_are_in_the_views_of_the_lab() -> None:
    pack = make_pack().with_own(OWN, EvidenceAssumptions())
    assert [(each.label, each.available) for each in pack.resources] == [
        (CHAMBER, True),
        (METER, False),
        ("centrifuge", True),
        (PLATES, True),
        (BROTH, False),
        ("dry ice", False),
        ("lab staff", True),
    ]
    seen = pack.lab_manager_observation
    assert (seen.equipment_available, seen.equipment_booked) == ([CHAMBER, "centrifuge"], [METER])
    assert (seen.reagents_in_stock, seen.reagents_out_of_stock) == ([PLATES], [BROTH, "dry ice"])
    assert seen.time_limit_days == 16
    assert [each.quantity for each in pack.constraints if each.key == "time_limit"] == [16]


def test_price_is_the_items_own_or_its_rate() -> None:
    pack = make_pack().with_own(OWN, EvidenceAssumptions())
    rows = ((BROTH.upper(), "reagent"), ("centrifuge", "equipment"), (METER, "equipment"))
    assert [pack.price(*row) for row in rows] == [3.0, 400.0, 100.0]
    # A lab with a name says of which of the study's items it says nothing.
    assert pack.unspoken == [PLATES]
    unnamed = OWN.model_copy(update={"name": None})
    assert make_pack().with_own(unnamed, EvidenceAssumptions()).unspoken == []


def test_item_that_is_booked_without_an_end_is_not_free_on_any_day() -> None:
    item = OwnItem(label=CHAMBER, category="equipment", state=ItemState.BOOKED)
    pack = make_pack(days=20).with_own(LabOverrides(days=50, items=(item,)), EvidenceAssumptions())
    assert pack.inventory.booked_until(CHAMBER) == 50


def test_replacement_that_is_an_item_of_the_lab_is_not_offered_beside_it_again() -> None:
    item = OwnItem(label="Window shelf", category="equipment", price=5.0)
    before = make_pack()
    after = before.with_own(LabOverrides(items=(item,)), EvidenceAssumptions())
    found = [pack.inventory.usable_alternatives("equipment") for pack in (before, after)]
    assert found == [["window shelf"], []]
    assert [each.label for each in after.resources][2] == "Window shelf"
    assert after.inventory.alternatives(CHAMBER) == ("window shelf",)


@given(own_packs())
def test_what_is_said_of_any_lab_stands(pack: Pack) -> None:
    own, lab, written = pack.own_lab, pack.lab, pack.study.labs.at(pack.difficulty)
    assert lab.days_left == len(range(lab.start_day, lab.days + 1))
    assert lab.start_day == (own.start_day or written.start_day)
    categories = {label_key(r.label): r.category.value for r in pack.resources}
    for item in own.items:
        category = categories[label_key(item.label)]
        assert category == item.category
        if item.price is not None:
            assert pack.price(item.label, category) == item.price
        status = pack.inventory.status(item.label, category)
        if item.state is ItemState.BOOKED:
            until = lab.days if item.until is None else item.until
            booked = until >= lab.start_day
            assert status is (ItemStatus.BOOKED if booked else ItemStatus.AVAILABLE)
        elif item.state is not None:
            assert status.value == item.state.value
    assert Pack.model_validate_json(pack.model_dump_json()) == pack
