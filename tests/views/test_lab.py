"""The lab in words: its name, and what of it is one's own."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.scenarios import (
    EvidenceAssumptions,
    ItemState,
    LabOverrides,
    OwnItem,
    Pack,
    load_scenario,
)
from replicalab.views.lab import any_lab_text, lab_text, own_text, own_values

WRITTEN: Final = load_scenario("fin_momentum", "medium")
TERMINAL: Final = OwnItem(
    label="licensed-data terminal", category="equipment", state=ItemState.AVAILABLE, price=400.0
)


def own(**said: object) -> Pack:
    return WRITTEN.with_own(LabOverrides.model_validate(said), EvidenceAssumptions())


@pytest.mark.parametrize(
    ("pack", "text"),
    [
        (WRITTEN, "medium lab"),
        (load_scenario("fin_momentum", "hard", 3), "hard lab, seed 3"),
        (own(days=9), "medium lab, 1 change"),
        (own(days=9, rates={"per_day": 4.0}, items=(TERMINAL,)), "medium lab, 4 changes"),
        (own(name="Ours", days=9), "Ours"),
    ],
)
def test_lab_is_called_by_its_name_or_by_how_much_is_changed(pack: Pack, text: str) -> None:
    assert lab_text(pack) == text


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({}, ""),
        ({"days": 6}, ""),
        ({"budget": 5000, "days": 9}, "5,000 credits instead of 3,700, 9 days instead of 6"),
        ({"staff": 1, "start_day": 4}, "start day 4 instead of 1, 1 staff unit instead of 4"),
        ({"rates": {"per_day": 4.0}}, "a day 4 instead of 50"),
        (
            {"items": (TERMINAL,)},
            "licensed-data terminal available instead of booked until day 10, "
            "licensed-data terminal 400 credits instead of 100",
        ),
    ],
)
def test_what_is_ones_own_is_told_beside_the_studys(said: dict[str, object], text: str) -> None:
    assert own_text(WRITTEN, own(**said)) == (f"Your lab: {text}." if text else "")


def test_item_that_the_study_lacks_is_told_with_where_it_stands() -> None:
    mug = OwnItem(label="mug", category="reagent", state=ItemState.AVAILABLE)
    found = own_values(WRITTEN, own(items=(mug,)))
    assert [(each.label, each.yours) for each in found] == [("mug", "available")]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({}, "Each study in its own hard lab, seed 3, as written: say above what yours has."),
        ({"days": 40}, "Your lab: 40 days;"),
        ({"budget": 1, "days": 1, "staff": 2}, "Your lab: 1 credit, 1 day and 2 staff units;"),
        ({"budget": 3000, "start_day": 4}, "Your lab: 3,000 credits and work from day 4;"),
        ({"days": 9, "steps": {"base": 0}}, "Your lab: 9 days and 1 other change;"),
        (
            {"name": "Ours", "rates": {"per_day": 4.0, "per_sample": 0.0}},
            "Your lab (Ours): 2 changes;",
        ),
    ],
)
def test_lab_of_all_studies_is_what_is_said_and_the_rest_each_studys_own(
    said: dict[str, object], text: str
) -> None:
    told = any_lab_text(LabOverrides.model_validate(said), "hard", 3)
    rest = " the rest is each study’s own, of its hard lab, seed 3."
    assert told == (f"{text}{rest}" if said else text)
