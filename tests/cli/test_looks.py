"""Interim looks on the command line: told, given as data, or refused."""

from __future__ import annotations

import json

from tests.cli.asking import Asking


def test_command_tells_looks_and_gives_them_as_data(ask: Asking) -> None:
    asked = "plan eco_reef_fish --lab easy --looks obrien_fleming:2"
    told = ask(asked)
    assert "of 128 samples if the effect is there" in told.out
    data = json.loads(ask(f"{asked} --json").out)
    assert data["question"] == {"looks": {"family": "obrien_fleming", "interim": 2}}
    assert [each["samples"] for each in data["looks"]["analyses"]] == [64, 128, 160]
    assert data["looks"]["fits"] is False
    none = json.loads(ask("plan bio_jq1_myeloma --looks pocock:2 --json").out)
    assert none["looks"] == {"none": "target"}
    assert "looks" not in json.loads(ask("plan eco_reef_fish --lab easy --json").out)


def test_check_tells_looks_once_and_gives_them_as_data(ask: Asking) -> None:
    asked = "check eco_reef_fish --lab easy --looks obrien_fleming:2"
    told = ask(asked).out
    assert told.count("2 interim looks, the plan’s 128 samples have power 0.79") == 1
    assert told.count("On average") == 1
    assert "Planned evidence: power 0.801 without looks" in told
    data = json.loads(ask(f"{asked} --json").out)
    assert data["looked_at"]["worst"]["samples"] == 128
    assert data["evidence"]["looks"] == "without"


def test_portfolio_refuses_a_study_with_looks_by_name_with_a_way_out(ask: Asking) -> None:
    lab = "--budget 2500 --days-available 12 --staff 4"
    found = ask(f"portfolio psy_stroop fin_momentum {lab} --looks pocock:1")
    assert (found.code, found.out) == (2, "")
    assert "interim looks of 'Stroop interference': pocock:1, from your question" in found.err
    assert "leave this study out, or give it no looks" in found.err
    assert ask(f"portfolio psy_stroop {lab} --looks pocock:0").code < 2


def test_command_refuses_looks_that_cannot_be(ask: Asking) -> None:
    for said in ("x:2", "pocock:9", "''", "pocock:0.3,0.31", "hwang_shih_decani:2:1e308"):
        found = ask(f"plan psy_stroop --looks {said}")
        assert (found.code, found.out) == (2, "")
        assert "argument --looks:" in found.err
    found = ask("plan math_four_colour --looks pocock:2")
    assert found.code == 2
    assert "a coverage design has no test to look at on the way; leave them out" in found.err
