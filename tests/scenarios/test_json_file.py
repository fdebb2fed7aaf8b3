"""JSON files from elsewhere: files of no kind are refused before they are read."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.documents import detect_kind
from replicalab.errors import ScenarioError, TraceError
from replicalab.limits import MOST_JSON_VALUES
from replicalab.negotiation import load
from replicalab.scenarios import read_lab, read_plan, reading
from replicalab.scenarios.reading import read_json

ROW: Final = {
    "outcome": "no_deal", "rounds": 3, "samples": 100, "days": 4, "credits": 1600.0,
    "evidence": 0.9999999999999996, "tier": "meets target", "wishes_broken": 0, "job": 2,
    "seed": 19,
}  # fmt: skip
"""The result of one negotiation of a batch."""
ITEM: Final = {"label": "mug", "category": "reagent", "price": 1.0}
"""An item of a lab in a job of a batch."""
VALUES: Final = "the file holds more than 500,000 values; shorten it"


def values_in(data: object) -> int:
    if not isinstance(data, list | dict):
        return 1
    return 1 + sum(map(values_in, data.values() if isinstance(data, dict) else data))


@pytest.mark.parametrize(
    "text",
    [
        "[" + "1," * (MOST_JSON_VALUES - 2) + "1]",
        json.dumps([ROW] * (5 * 2**20 // len(json.dumps(ROW)))),
        json.dumps([ITEM] * (5 * 2**20 // len(json.dumps(ITEM)))),
    ],
)
def test_largest_file_is_read(text: str) -> None:
    values = read_json(f'{{"results": {text}}}', "x.json", "batch", "remedy")["results"]
    assert values == json.loads(text)


JSON: Final = st.recursive(
    st.none() | st.integers() | st.text('a[{,"\\]'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('[,"\\'), inner),
)


@given(JSON, st.integers(0, 6), st.booleans())
def test_values_of_any_json_are_counted(data: object, most: int, ascii_only: bool) -> None:
    text = json.dumps({"a": data}, ensure_ascii=ascii_only)
    with pytest.MonkeyPatch.context() as patch, suppress(ScenarioError):
        patch.setattr(reading, "MOST_JSON_VALUES", most)
        read_json(text, "x.json", "plan", "remedy")
        assert values_in(data) <= 2 * most


def test_file_of_too_many_values_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "from_json", lambda *_, **__: pytest.fail("it was read"))
    for text in (
        "[" * (MOST_JSON_VALUES + 1),
        '{"a":' * (MOST_JSON_VALUES + 1),
        "[" + "1," * MOST_JSON_VALUES + "1]",
        '{"setup":[' + "[]," * 1_700_000 + "[]]}",
    ):
        with pytest.raises(ScenarioError, match=VALUES):
            detect_kind(text.encode(), "x.json")


def test_large_file_is_named_for_what_it_is() -> None:
    data = json.dumps({"input_hash": "x", "study": "x" * 600_000}).encode()
    for read in (read_plan, read_lab):
        with pytest.raises(ScenarioError, match="the file holds a bundle, no"):
            read(data)
    with pytest.raises(TraceError, match=VALUES):
        load('{"setup":[' + "[]," * 260_000 + "[]]}")
