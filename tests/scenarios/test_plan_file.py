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
    data = plan_json(plan, "psy_stroop").encode()
    if too_large(plan):
        with pytest.raises(ScenarioError, match="at most"):
            read_plan(data)
    else:
        assert read_plan(data) == (plan, "psy_stroop")


def test_plan_of_a_file_that_names_no_study_is_read() -> None:
    plan = make_protocol()
    assert read_plan(plan.model_dump_json().encode()) == (plan, None)


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


@pytest.mark.parametrize(
    ("values", "held"),
    [
        ({"format": 2, "setup": {}, "turns": []}, "a negotiation, no plan"),
        ({"format": 9, "setup": {}}, "a negotiation, no plan"),
        ({"format": 1, "decided": {}, "study": {}}, "a bundle, no plan"),
        ({"format": 1, "study": "psy_stroop"}, "a plan with its study and lab, no plan"),
        ({"format": 1, "lab": {}}, "a lab, no plan"),
        ({"format": 1, "options": [], "chosen": 0}, "a decision, no plan"),
    ],
)
def test_file_of_another_kind_is_named_for_what_it_is(values: object, held: str) -> None:
    with pytest.raises(ScenarioError) as found:
        read_plan(json.dumps(values).encode(), "mine")
    assert str(found.value).startswith(f"mine: the file holds {held}; load a plan that was saved")


def test_plan_of_a_newer_version_is_told_as_one() -> None:
    data = json.dumps({**make_protocol().model_dump(), "format": 2}).encode()
    with pytest.raises(ScenarioError, match=r"format: 2 is of a newer version"):
        read_plan(data)
