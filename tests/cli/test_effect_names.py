"""The effect to plan at by its name, and the original among the facts."""

from __future__ import annotations

import pytest

from tests.cli.asking import Asking


@pytest.mark.parametrize("name", ["safeguard", "Safeguard", " safeguard "])
def test_effect_is_taken_by_its_name(ask: Asking, name: str) -> None:
    said = ask(f"check fin_momentum --effect '{name}' --json")
    # Of t 3.07 from 300 months; by scipy's noncentral t 0.128126.
    assert said.data["question"]["effect"] == pytest.approx(0.128126, abs=1e-6)
    assert said.data["evidence"]["effect"] == said.data["question"]["effect"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("check psy_stroop --effect safeguard", "psy_stroop has none; write a number, or halved"),
        ("check math_four_colour --effect shrunken", "leave it out for math_four_colour"),
        ("check fin_momentum --effect safegard", "'safegard' is no number"),
        ("check fin_momentum --effect ''", "'' is no number"),
        ("check fin_momentum --effect nan", "or as-published, halved, safeguard"),
        ("check fin_momentum --effect 1e308", "out of range"),
        (f"check fin_momentum --effect {'x' * 5000}", "is no number"),
    ],
)
def test_effect_that_no_study_has_is_refused(ask: Asking, line: str, words: str) -> None:
    said = ask(line)
    assert said.code == 2
    assert words in said.err


def test_facts_hold_the_original_and_each_effect(ask: Asking) -> None:
    found = ask("check fin_overreaction --json").data["original"]
    assert found["reported"]["numbers"] == {"t": 2.2}
    # p of a t of 2.2 at 30 degrees of freedom, by scipy.
    assert found["estimate"]["z"] == pytest.approx(2.2)
    assert found["estimate"]["p"] == pytest.approx(0.035648, abs=1e-6)
    labels = [each["label"] for each in found["effects"]]
    assert labels[-3:] == ["safeguard", "small telescopes", "shrunken"]
    assert found["missing"] == []
    assert "original" not in ask("check psy_stroop --json").data
