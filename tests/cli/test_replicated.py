"""What counts as replicated, by options: what plans are judged by, and values that cannot be."""

from __future__ import annotations

import pytest

from tests.cli.asking import Asking

STUDY = "check fin_momentum"
CHOSEN = f"{STUDY} --replicated significant,sceptical"


def test_criteria_are_in_the_answer_and_plans_are_judged_by_them_where_that_is_asked(
    ask: Asking,
) -> None:
    by_power = ask(f"{CHOSEN} --json").data
    assert by_power["question"]["replication"]["criteria"] == ["significant", "sceptical"]
    assert by_power["evidence"]["measure"] == "power"
    chosen = f"{CHOSEN} --replication-prior conditional --replication-tau 0.05"
    by_success = ask(f"{chosen} --replication-sides 1 --plan-with success --json").data
    said = by_success["question"]["replication"]
    assert (said["prior"], said["tau"], said["sides"]) == ("conditional", 0.05, 1)
    assert by_success["evidence"]["measure"] == "probability of success"
    assert by_success["evidence"]["value"] != by_power["evidence"]["value"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("--replicated zebra", "--replicated 'zebra' is out of range; write some of significant,"),
        ("--replicated ''", "--replicated '' is out of range; write some of"),
        ("--replication-tau 0.1", "--replicated is missing, and the study has no replication"),
        ("--replicated significant --replication-tau -1", "--replication-tau '-1' is out of range"),
        ("--replicated significant --replication-tau 1e308", "--replication-tau '1e+308' is out"),
        ("--replicated significant --replication-sides 3", "'3' is out of range; write 1 or 2"),
        ("--replicated significant --replication-sides 1.5", "'1.5' is out of range; write 1 or 2"),
        ("--replicated significant --replication-prior x", "write conditional, predictive,"),
        ("--replicated significant --plan-with x", "'x' is out of range; write power or success"),
        ("--replicated equivalence", "equivalence needs a margin; give it on the scale"),
        (
            "--replicated interval,interval",
            "--replicated: 'interval' is chosen twice; choose it once",
        ),
    ],
)
def test_option_that_cannot_be_names_itself_its_value_and_the_remedy(
    ask: Asking, options: str, problem: str
) -> None:
    said = ask(f"{STUDY} {options}")
    assert said.code == 2
    assert problem in said.err


def test_study_without_an_original_in_numbers_says_what_it_lacks(ask: Asking) -> None:
    said = ask("check psy_stroop --replicated significant")
    assert said.code == 2
    assert "the original is not known in numbers" in said.err


@pytest.mark.parametrize("names", ["interval", "prediction,small_telescopes"])
def test_sides_that_play_no_part_are_refused_with_a_remedy(ask: Asking, names: str) -> None:
    said = ask(f"{STUDY} --replicated {names} --replication-sides 1")
    assert said.code == 2
    assert f"--replication-sides 1 plays no part in {names.partition(',')[0]}" in said.err
    assert "let one of significant, sceptical and sceptical_nominal count" in said.err
    assert ask(f"{STUDY} --replicated {names},significant --replication-sides 1").code != 2


@pytest.mark.parametrize("option", ["--effect 0.3", "--effect safeguard", "--effect halved"])
def test_effect_that_plays_no_part_in_success_is_refused_with_a_remedy(
    ask: Asking, option: str
) -> None:
    said = ask(f"{CHOSEN} --plan-with success {option}")
    assert said.code == 2
    assert "plays no part in the probability of success, for plans are made with the" in said.err
    assert "leave it out, or write --plan-with power" in said.err
    assert ask(f"{CHOSEN} --plan-with power {option}").code != 2
