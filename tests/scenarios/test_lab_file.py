"""A lab of one's own as a file: there and back, and every way a file can be wrong."""

from __future__ import annotations

import json
import random
import tracemalloc
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.errors import ScenarioError
from replicalab.models import LONGEST_LABEL
from replicalab.scenarios import (
    MOST_OWN_ITEMS,
    ItemState,
    LabOverrides,
    OwnItem,
    lab_json,
    read_lab,
)
from replicalab.scenarios.writing import MOST_LAB_BYTES
from tests.golden import assert_golden
from tests.strategies import own_labs

LAB: Final = LabOverrides(
    name="Ours",
    days=30,
    rates={"per_day": 20.5},
    items=(OwnItem(label="flume", category="equipment", state=ItemState.BOOKED, until=9),),
)


def refused(data: bytes | str) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        read_lab(data.encode() if isinstance(data, str) else data)
    return caught.value


@given(own_labs())
def test_lab_survives_its_file(own_lab: LabOverrides) -> None:
    assert read_lab(lab_json(own_lab).encode()) == own_lab


def test_lab_file_holds_what_differs_and_its_format() -> None:
    assert json.loads(lab_json(LabOverrides())) == {"format": 1, "lab": {}}
    assert json.loads(lab_json(LAB)) == {
        "format": 1,
        "lab": {
            "name": "Ours",
            "days": 30,
            "rates": {"per_day": 20.5},
            "items": [{"label": "flume", "category": "equipment", "state": "booked", "until": 9}],
        },
    }


def test_largest_lab_fits_its_file() -> None:
    labels = ["\x01" * (LONGEST_LABEL - 3) + f"{n:03}" for n in range(MOST_OWN_ITEMS)]
    lab = LabOverrides(items=tuple(OwnItem(label=each, category="reagent") for each in labels))
    data = lab_json(lab).encode()
    assert len(data) <= MOST_LAB_BYTES
    assert read_lab(data) == lab


def test_lab_file_with_a_byte_order_mark_is_read() -> None:
    assert read_lab(lab_json(LAB).encode("utf-8-sig")) == LAB


def as_file(lab: Any, version: object = 1) -> str:
    return json.dumps({"format": version, "lab": lab})


WRONG: Final[dict[str, bytes | str]] = {
    "empty": "",
    "no JSON": "name: Ours",
    "cut short": lab_json(LAB)[:60],
    "not UTF-8": lab_json(LAB).encode("utf-16"),
    "a list": "[]",
    "no format": '{"lab": {}}',
    "no lab": '{"format": 1}',
    "newer": as_file({}, 2),
    "no such format": as_file({}, "1"),
    "unknown key": as_file({"budgets": 5}),
    "hostile key": as_file({"<b>\u202e\n" + "x" * 300: 5}),
    "of a study": as_file({"budget": "much", "days": 0, "staff": 1.5}),
    "rate": as_file({"rates": {"per_day": -1, "per_hour": 2}}),
    "steps": as_file({"steps": {"base": 10**10}}),
    "item": as_file({"items": [{"label": "x", "category": "tool", "state": "lost", "price": -1}]}),
    "item twice": as_file({"items": [{"label": "x", "category": "reagent"}] * 2}),
    "201 items": as_file({"items": [{"label": f"{n}", "category": "reagent"} for n in range(201)]}),
    "long name": as_file({"name": "x" * 31}),
    "key twice": '{"format": 1, "lab": {"days": 3, "days": 4}}',
    "no number": '{"format": 1, "lab": {"days": NaN}}',
    "long number": '{"format": 1, "lab": {"days": ' + "9" * 5000 + "}}",
    "deep": '{"lab":' + "[" * 100_000,
    "too large": "{}" + " " * (MOST_LAB_BYTES - 1),
}


def test_each_refusal_of_a_lab_file_says_where_what_and_what_to_do() -> None:
    told = [f"{what}\n{refused(data)}" for what, data in WRONG.items()]
    assert_golden("lab_file_faults", "\n".join(told))
    assert max(map(len, told)) < 1000


def test_of_the_items_of_a_lab_file_the_first_that_is_wrong_is_told() -> None:
    items = [{"label": "mug", "category": "reagent"}, {}, {"label": 7}]
    error = refused(as_file({"days": 0, "items": items}))
    places = [fault.path for fault in error.faults]
    assert places == ["lab.days", "lab.items[1].label", "lab.items[1].category"]
    assert error.more == 0


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_are_no_lab(data: bytes) -> None:
    refused(data)


@given(st.integers(0, 2**32))
def test_edited_lab_file_is_a_lab_or_refused(seed: int) -> None:
    rng, data = random.Random(seed), bytearray(lab_json(LAB).encode())
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data))
        data[at : at + rng.randint(0, 2)] = rng.randbytes(rng.randint(0, 2))
    try:
        found = read_lab(bytes(data))
    except ScenarioError as error:
        told = str(error)
        assert len(told) < 2000
    else:
        assert read_lab(lab_json(found).encode()) == found


@pytest.mark.parametrize("part", ["[],", "{},", '"",', '{"label": 1},'])
def test_largest_lab_file_takes_bounded_memory(part: str) -> None:
    inside = (part * ((MOST_LAB_BYTES - 99) // len(part))).rstrip(",")
    data = f'{{"format": 1, "lab": {{"items": [{inside}]}}}}'.encode()
    tracemalloc.start()
    try:
        refused(data)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 50 * 10**6
