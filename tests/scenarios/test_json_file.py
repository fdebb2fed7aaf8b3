"""A JSON file from elsewhere: what no file of any kind holds is refused before it is read."""

from __future__ import annotations

import json
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.documents import detect_kind
from replicalab.errors import ScenarioError, TraceError
from replicalab.negotiation import load
from replicalab.scenarios import read_lab, read_plan, reading
from replicalab.scenarios.reading import MOST_JSON_LISTS, MOST_JSON_VALUES, too_many

ROW: Final = {
    "outcome": "no_deal", "rounds": 3, "samples": 100, "days": 4, "credits": 1600.0,
    "evidence": 0.9999999999999996, "tier": "meets target", "wishes_broken": 0, "job": 2,
    "seed": 19,
}  # fmt: skip
"""What one negotiation of a batch came to, the smallest thing that any file has many of."""
ITEM: Final = {"label": "mug", "category": "reagent", "price": 1.0}
"""What is said of an item of a lab, which each job of a batch may have anew."""
LISTS: Final = "more than 150,000 lists and blocks"
VALUES: Final = "more than 500,000 values"


def lists(held: object) -> int:
    """Count lists and blocks."""
    if not isinstance(held, list | dict):
        return 0
    return 1 + sum(map(lists, held.values() if isinstance(held, dict) else held))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[" * MOST_JSON_LISTS, ""),
        ("[" * (MOST_JSON_LISTS + 1), LISTS),
        ('{"a":' * (MOST_JSON_LISTS + 1), LISTS),
        ("[" + "1," * MOST_JSON_VALUES + "1]", ""),
        ("[" + "1," * (MOST_JSON_VALUES + 1) + "1]", VALUES),
        (json.dumps({"results": [ROW] * (5 * 2**20 // len(json.dumps(ROW)))}), ""),
        (json.dumps({"jobs": [ITEM] * (5 * 2**20 // len(json.dumps(ITEM)))}), ""),
    ],
)
def test_more_than_any_file_holds_is_counted(text: str, told: str) -> None:
    assert too_many(text) == told


JSON: Final = st.recursive(
    st.none() | st.integers() | st.text('a[{,"\\]'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('[,"\\'), inner),
)


@given(JSON, st.integers(0, 6), st.booleans())
def test_lists_of_any_json_are_counted(held: object, most: int, ascii_only: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "MOST_JSON_LISTS", most)
        told = too_many(json.dumps(held, ensure_ascii=ascii_only))
    assert told or lists(held) <= most


def test_what_can_be_no_file_of_ours_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "from_json", lambda *_, **__: pytest.fail("it was read"))
    for text, told in (
        ("[" + "[]," * 1_700_000 + "[]]", f"the file holds {LISTS}; shorten it"),
        ('{"setup":[' + "[]," * 1_700_000 + "[]]}", f"the file holds {LISTS}; shorten it"),
    ):
        with pytest.raises(ScenarioError, match=told):
            detect_kind(text.encode(), "x.json")


def test_file_is_named_for_what_it_is_however_large_and_has_the_bound_of_its_kind() -> None:
    data = json.dumps({"input_hash": "x", "study": "x" * 600_000}).encode()
    for read in (read_plan, read_lab):
        with pytest.raises(ScenarioError, match="the file holds a bundle, no"):
            read(data)
    with pytest.raises(ScenarioError, match="has 160001 bytes, more than the 160000 allowed"):
        read_plan(b'{"sample_size": 1}' + b" " * (160_001 - 18))
    with pytest.raises(TraceError, match=f"the file holds {LISTS}"):
        load('{"setup":[' + "[]," * 160_000 + "[]]}")
