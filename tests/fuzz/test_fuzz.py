"""What a search once found stays mended; and a search finds what is to be found."""

from __future__ import annotations

import json
import random
from itertools import islice

import pytest

from replicalab.errors import ReplicaLabError
from tests.fuzz.__main__ import FOUND, bent, cases, tried
from tests.fuzz.targets import TARGETS, Target

CASES = 60


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_what_was_found_and_some_new_cases_break_nothing(name: str) -> None:
    target = TARGETS[name]
    found = [path.read_bytes() for path in sorted((FOUND / name).glob("*"))]
    seeds = [tried(target, data) for data in target.seeds()]
    assert any(seed.form.startswith("value") for seed in seeds)
    new = [outcome for _, outcome in islice(cases(target, "short"), CASES)]
    assert [
        each for each in (*seeds, *(tried(target, data) for data in found), *new) if each.finding
    ] == []


def strict(data: bytes) -> object:
    """Read a number below ten, with three faults that a search has to find."""
    values = json.loads(data)
    if not isinstance(values, dict) or not isinstance(values.get("n"), int | str):
        raise ReplicaLabError("no number; give one")
    if isinstance(values["n"], str):
        raise ReplicaLabError("")
    while values["n"] == 10**15:
        pass
    return 10 / values["n"]


def test_search_finds_an_exception_an_empty_message_and_a_loop() -> None:
    target = Target(lambda: [b'{"n": 3}'], strict)
    chance = random.Random(1)
    found = {
        tried(target, bent([b'{"n": 3}'], chance), most_seconds=0.05).form for _ in range(2000)
    }
    places = {form.partition(" in ")[0] for form in found}
    assert {"ZeroDivisionError", "JSONDecodeError", "message", "slow"} <= places
