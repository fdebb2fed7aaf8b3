"""A lab of one's own by options and by tables: rates, staff steps, items, and their prices."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from replicalab.scenarios import LabOverrides, OwnItem, lab_json
from tests.cli.asking import Asking

STUDY: Final = "psy_stroop"
BOOTH: Final = "voice-key booth"
ITEMS: Final = f"name,kind,state,until,price\n{BOOTH},equipment,booked,9,\n"


def own_lab(ask: Asking, options: str) -> Any:
    """Return what a command takes options for, as JSON."""
    said = ask(f"check {STUDY} {options} --json")
    assert said.err == ""
    return said.data["own_lab"]


def test_cost_follows_the_rates_and_the_price_of_an_item(ask: Asking) -> None:
    """100 samples × 4, 4 days × 50, 2 controls × 25, equipment 100 + 20, 2 reagents × 75."""
    said = ask(f"check {STUDY} --rate per_sample=4 --item '{BOOTH}: 20 credits' --json")
    assert said.data["cost"] == 400 + 200 + 50 + 120 + 150


def test_price_of_an_item_may_be_in_the_currency_of_the_lab(ask: Asking) -> None:
    asked = f"check {STUDY} --rate per_sample=4 --json --currency EUR --item"
    for price in ("20 EUR", "20EUR", "20 credits"):
        assert ask(f"{asked} '{BOOTH}: booked, {price}'").data["cost"] == 920


def test_staff_follows_the_steps(ask: Asking) -> None:
    """One for every plan; one more above 20 samples, or not where that is above 100."""
    assert ask(f"check {STUDY} --json").data["staff"] == 2
    assert ask(f"check {STUDY} --step sample_threshold=100 --json").data["staff"] == 1


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("available", {"state": "available"}),
        ("out of stock", {"state": "out of stock"}),
        ("booked until 12", {"state": "booked", "until": 12}),
        ("Booked  until day 12", {"state": "booked", "until": 12}),
        ("0 credits", {"price": 0.0}),
        ("1 credit, available", {"state": "available", "price": 1.0}),
        ("booked, 1000000000 credits", {"state": "booked", "price": 1e9}),
    ],
)
def test_item_stands_where_the_option_says(
    ask: Asking, said: str, expected: dict[str, object]
) -> None:
    [item] = own_lab(ask, f"--item 'VOICE-KEY  Booth: {said}'")["items"]
    assert item == {"label": BOOTH, "category": "equipment", **expected}


def test_options_stand_in_place_of_the_lab_s_file(ask: Asking) -> None:
    booth = OwnItem.model_validate(
        {"label": BOOTH, "category": "equipment", "state": "booked", "until": 9, "price": 5.0}
    )
    lab = LabOverrides(rates={"per_sample": 2.0, "per_day": 3.0}, items=(booth,))
    Path("lab.json").write_text(lab_json(lab))
    options = f"--rate per_day=1 --item '{BOOTH}: available' --item 'course credit: out of stock'"
    found = own_lab(ask, f"--lab-file lab.json {options}")
    assert found["rates"] == {"per_sample": 2.0, "per_day": 1.0}
    assert found["items"] == [
        {"label": BOOTH, "category": "equipment", "state": "available", "price": 5.0},
        {"label": "course credit", "category": "reagent", "state": "out of stock"},
    ]


def test_options_are_taken_by_every_command_that_takes_a_lab(ask: Asking) -> None:
    option = "--rate per_sample=0.5"
    for line in (
        f"check {STUDY}",
        f"plan {STUDY}",
        f"negotiate {STUDY}",
        f"report {STUDY}",
    ):
        assert ask(f"{line} {option} --json").data["own_lab"] == {"rates": {"per_sample": 0.5}}
    [result] = ask(f"batch {STUDY} --lab hard --workers 1 {option} --json").data["results"]
    assert result["own_lab"] == {"rates": {"per_sample": 0.5}}
    sides = ask(f"compare {STUDY} --lab hard --lab easy {option} --json").data["sides"]
    assert [each["own_lab"]["rates"]["per_sample"] for each in sides] == [0.5, 0.5]


def test_item_of_a_batch_is_one_of_any_of_its_studies(ask: Asking) -> None:
    line = f"batch {STUDY} fin_momentum --lab hard --workers 1"
    assert ask(f"{line} --item '{BOOTH}: available' --json").code == 0
    said = ask(f"{line} --item 'voice key boots: available'")
    assert said.code == 2
    assert f"did you mean '{BOOTH}'?" in said.err


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--rate per_smple=4", "'per_smple' is unknown; did you mean 'per_sample'? known: per_s"),
        ("--rate per_sample", "'per_sample' has no number; write one such as per_sample=4"),
        ("--rate =", "'' is unknown; known: per_sample"),
        *(
            (f"--rate per_sample={value}", f"'{value}' is no number from 0 to 1,000,000,000; write")
            for value in ("", "-1", "nan", "inf", "1000000001", "1e300", "x", "²", "--")
        ),
        *(
            (f"--step base={value}", f"'{value}' is no whole number from 0 to 1,000,000,000; write")
            for value in ("", "-1", "1.5", "nan", "1000000001", "x")
        ),
        (f"--rate per_sample={'9' * 5000}", "999…' is no number"),
        ("--step bass=1", "'bass' is unknown; did you mean 'base'?"),
        ("--step base=1 --step base=2", "--step 'base' is given twice; give it once"),
        (f"--item '{BOOTH}'", f"'{BOOTH}' names no item of 1 to 300 characters; write one such as"),
        ("--item ': booked'", "': booked' names no item"),
        (f"--item '{'x' * 301}: booked'", "names no item of 1 to 300 characters"),
        (f"--item '{BOOTH}:'", "'' is no state and no price; known: available, booked"),
        (f"--item '{BOOTH}: bokked'", "'bokked' is no state and no price; did you mean 'booked'?"),
        (f"--item '{BOOTH}: booked until -1'", "'booked until -1' is no state and no price"),
        (f"--item '{BOOTH}: booked until {'9' * 40}'", "is out of range; a day to"),
        (f"--item '{BOOTH}: 1000000001 credits'", "'1000000001 credits' is out of range"),
        (
            f"--item '{BOOTH}: 5 EUR'",
            f"--item '{BOOTH}': its price is in EUR, the lab's money in credits; write it in "
            "credits, or add --currency EUR",
        ),
        (f"--item '{BOOTH}: 5 eur' --currency EUR", "its price is in eur, the lab's money in EUR"),
        (f"--item '{BOOTH}: 1.2.3 EUR'", "'1.2.3 EUR' is out of range"),
        (f"--item '{BOOTH}: 1.2.3 credits'", "'1.2.3 credits' is out of range"),
        (f"--item '{BOOTH}: nan credits'", "'nan credits' is no state and no price"),
        (f"--item '{BOOTH}: booked, available'", "'booked, available' gives the state twice"),
        (
            f"--item '{BOOTH}: booked' --item '{BOOTH.upper()}: 3 credits'",
            f"--item '{BOOTH}' is given twice; give it once",
        ),
        ("--item 'voice-key boot: booked'", f"is no item of the study; did you mean '{BOOTH}'?"),
    ],
)
def test_option_that_cannot_be_is_told(ask: Asking, option: str, told: str) -> None:
    said = ask(f"check {STUDY} {option}")
    assert (said.code, said.out) == (2, "")
    assert told in said.err
    assert len(said.err) < 700


def test_items_are_read_from_a_table(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("items.CSV").write_text(ITEMS)
    expected = [{"label": BOOTH, "category": "equipment", "state": "booked", "until": 9}]
    assert own_lab(ask, "--lab-file items.CSV")["items"] == expected
    Path("items").write_text(ITEMS)
    assert own_lab(ask, "--lab-file items")["items"] == expected
    both = own_lab(ask, f"--lab-file items.CSV --budget 5 --item '{BOOTH}: available'")
    assert both["budget"] == 5
    assert both["items"] == [{"label": BOOTH, "category": "equipment", "state": "available"}]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("items.csv", "", "items.csv: the file holds no rows; write the items below"),
        ("items.csv", "name,kind\n", "items.csv: row 1: no item stands below this row"),
        ("items.csv", "name,kinds\nx,equipment\n", "row 1, column B: 'kinds' is no column here"),
        ("items.csv", "name,kind,price\nx,reagent,nan\n", "items.csv: row 2, price"),
        ("items.csv", "name,kind\n" + "x,reagent\n" * 201, "the file lists 201 items; keep those"),
        ("items.xlsx", ITEMS, "items.xlsx: the file is no Excel workbook; save it as .xlsx"),
        ("items", "", "items: the file is empty; load a file that was saved as a lab here"),
        ("lab.json", ITEMS, "lab.json: line 1, at 'name,kind,state,until,price' it is not JSON"),
    ],
)
def test_table_that_holds_no_items_is_told(ask: Asking, name: str, text: str, told: str) -> None:
    Path(name).write_text(text)
    said = ask(f"check {STUDY} --lab-file {name}")
    assert (said.code, said.out) == (2, "")
    assert told in said.err


def test_more_items_than_a_lab_takes_are_told(ask: Asking) -> None:
    rows = "".join(f"item {number},reagent\n" for number in range(200))
    Path("items.csv").write_text(f"name,kind\n{rows}")
    said = ask(f"check {STUDY} --lab-file items.csv --item '{BOOTH}: booked'")
    assert (said.code, said.err) == (2, "--item: 201 items are named; keep 200 at most\n")
