"""A plan as a file: it comes back as it left, and a file that holds something else is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from replicalab.errors import ScenarioError
from replicalab.models import Protocol, too_large
from replicalab.scenarios import plan_json, read_plan
from tests.factories import make_protocol
from tests.strategies import protocols


@given(protocols())
def test_plan_comes_back_as_it_left(plan: Protocol) -> None:
    data = plan_json(plan).encode()
    if too_large(plan):
        with pytest.raises(ScenarioError, match="at most"):
            read_plan(data)
    else:
        assert read_plan(data) == plan


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"sample_size": -1}, "sample_size: -1 is not allowed"),
        ({"sample_size": 1.5}, "sample_size: 1.5 is not allowed"),
        ({"sample_size": 1_000_001}, "Sample size is 1,000,001; at most 1,000,000"),
        ({"controls": "one"}, "controls: 'one' is not allowed"),
        ({"technique": " "}, "technique: "),
        ({"cost": 3}, "cost: unknown key"),
    ],
)
def test_plan_with_a_fault_is_refused_by_its_place(change: dict[str, object], told: str) -> None:
    data = json.dumps({**make_protocol().model_dump(), **change}).encode()
    with pytest.raises(ScenarioError, match=r"^mine: ") as found:
        read_plan(data, "mine")
    assert told in str(found.value)


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'"x"', b"\xff", b"[" * 100_000, b"{}" * 10**6])
def test_file_that_holds_no_plan_is_refused(data: bytes) -> None:
    with pytest.raises(ScenarioError):
        read_plan(data)
