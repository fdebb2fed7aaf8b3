"""Units and arms by options: what they change, and what is said of values that cannot be."""

from __future__ import annotations

import pytest

from tests.cli.asking import Asking

FISH = "check eco_reef_fish --lab easy"
TANKS = f"{FISH} --unit tank --unit-samples 16"


def test_units_and_arms_are_in_the_answer(ask: Asking) -> None:
    said = ask(f"{TANKS} --unit-icc 0.1 --arm-share 0.25 --json").data
    assert said["question"]["units"]["icc"] == 0.1
    assert said["arms"] == {
        "share": 0.25,
        "samples": [32, 96],
    }
    units = said["units"]
    assert units["number"] == [2, 6]
    assert [each["icc"] for each in units["by_correlation"]] == [0.01, 0.05, 0.1]
    assert said["evidence"]["value"] == units["by_correlation"][-1]["power"]


def test_units_stand_with_the_basis_and_the_caution(ask: Asking) -> None:
    given = ask(f"{TANKS} --unit-icc 0.1").out
    assert "8 tanks of 16 (4 + 4) with an intraclass correlation of 0.1" in given
    unknown = ask(TANKS).out
    assert "no intraclass correlation is given" in unknown
    few = ask(f"{FISH} --unit tank --unit-samples 64").out
    assert "Has 1 tank in an arm, and with fewer than 2 nothing tells tank from treatment." in few


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("--unit-samples 0 --unit x", "--unit-samples '0' is out of range; write 1 to 1,000,"),
        ("--unit x --unit-samples 1e308", "--unit-samples '1e+308' is out of range"),
        ("--unit x --unit-samples 2 --unit-icc 1.1", "--unit-icc '1.1' is out of"),
        ("--unit x --unit-samples nan", "'nan' is no number"),
        ("--arm-share 0", "--arm-share '0' is out of range; write from 0.05 to 0.95"),
    ],
)
def test_option_that_cannot_be_names_itself_its_value_and_the_remedy(
    ask: Asking, options: str, problem: str
) -> None:
    said = ask(f"{FISH} {options}")
    assert said.code == 2
    assert problem in said.err


def test_option_of_a_kind_without_arms_is_refused(ask: Asking) -> None:
    said = ask("check math_four_colour --arm-share 0.3")
    assert said.code == 2
    assert said.err == (
        "--arm-share '0.3' plays no part in a coverage design, which has no two arms; leave it out "
        "for math_four_colour\n"
    )
