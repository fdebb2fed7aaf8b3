"""A study, lab, seed and pair of players come to one outcome, wherever they are played."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any, Final

import pytest

import replicalab
from replicalab.assessment import assess
from replicalab.batch import Result, Rule
from replicalab.case import Case
from replicalab.comparison import negotiated
from replicalab.negotiation import LabManagerKind, Negotiation, ScientistKind
from replicalab.scenarios import Difficulty, list_scenarios, load_scenario
from tests.cli.asking import Asking

AWARE: Final = ScientistKind.EVIDENCE_AWARE
RULES: Final[tuple[Rule, ...]] = (ScientistKind.BASELINE, AWARE)
STUDIES: Final = [each.scenario_id for each in list_scenarios()]
REFERENCE: Final = LabManagerKind.REFERENCE

Key = tuple[str, str, str, str]
Came = tuple[str, int, int, int]
"""The outcome, the rounds, and the last plan's samples and days."""


def came(played: Negotiation | None) -> Came:
    assert played is not None
    assert played.outcome is not None
    assert played.final_plan is not None
    counts = played.final_plan.counts
    return played.outcome.value, len(played.rounds), counts.samples, counts.days


def on_the_page(key: Key) -> Came:
    study, lab, scientist, manager = key
    pack = load_scenario(study, lab)
    return came(
        negotiated(
            assess(pack.reference_protocol, pack),
            Case.of(
                pack,
                scientist=ScientistKind(scientist),
                lab_manager=LabManagerKind(manager),
            ),
        )
    )


def by_command(ask: Asking, key: Key) -> Came:
    study, lab, scientist, manager = key
    line = f"{study} --lab {lab} --scientist {scientist} --lab-manager {manager}"
    found = ask(f"negotiate {line} --json").data
    counts = found["final"]["plan"]
    return found["outcome"], len(found["rounds"]), counts["sample_size"], counts["duration_days"]


def in_a_batch(results: Iterable[dict[str, Any]]) -> dict[Key, Came]:
    return {
        (each["study"], each["lab"], each["scientist"], each["lab_manager"]): (
            *(each["outcome"], each["rounds"]),
            *(each["samples"], each["days"]),
        )
        for each in results
    }


def _flat(result: Result) -> dict[str, Any]:
    told = result.model_dump(mode="json")
    return {**told.pop("job"), **told}


@pytest.mark.long
def test_every_lab_comes_to_one_outcome_wherever_it_is_played(ask: Asking) -> None:
    players = [*product(map(str, RULES), map(str, LabManagerKind))]
    keys = [(s, str(lab), *pair) for s, lab, pair in product(STUDIES, Difficulty, players)]
    assert len(keys) == 36 * 4
    page = {key: on_the_page(key) for key in keys}
    assert {key: by_command(ask, key) for key in keys} == page
    many = "--scientist baseline --scientist evidence_aware"
    many = f"{many} --lab-manager reference --lab-manager least_loss"
    assert in_a_batch(ask(f"batch all {many} --workers 1 --json").data["results"]) == page
    found = replicalab.run_batch(STUDIES, scientists=RULES, lab_managers=[*LabManagerKind])
    assert in_a_batch(map(_flat, found)) == page
    talks = {key: came(replicalab.negotiate(replicalab.load(*key[:2]), *key[2:])) for key in keys}
    assert talks == page


@pytest.mark.parametrize(
    ("study", "lab", "scientist", "expected"),
    [
        ("fin_overreaction", "easy", AWARE, ("agreed_below_floor", 1, 28, 5)),
        ("chem_suzuki_ppb", "medium", ScientistKind.BASELINE, ("false_agreement", 5)),
    ],
)
def test_negotiation_opens_with_the_studys_own_plan_where_nothing_is_said(
    ask: Asking, study: str, lab: str, scientist: str, expected: Came
) -> None:
    key = study, lab, str(scientist), str(REFERENCE)
    assert by_command(ask, key)[: len(expected)] == expected
    [result] = ask(f"batch {study} --lab {lab} --scientist {scientist} --json").data["results"]
    assert in_a_batch([result])[key][: len(expected)] == expected
    first = ask(f"negotiate {study} --lab {lab} --scientist {scientist} --json").data["rounds"][0]
    assert first["reason"] == "It opens with the study's own plan."
    n = load_scenario(study, lab).reference_protocol.sample_size
    assert first["plan"]["plan"]["sample_size"] == n
