"""A study, lab, seed and pair of players come to one outcome, wherever they are played."""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import pytest

import replicalab
from replicalab.assessment import assess
from replicalab.negotiation import (
    AUTOMATIC,
    RULED_LAB_MANAGERS,
    LabManagerKind,
    Negotiation,
    ScientistKind,
)
from replicalab.negotiation.case import Case
from replicalab.negotiation.comparison import negotiated
from replicalab.scenarios import Difficulty, list_scenarios, load_scenario
from tests.cli.asking import Asking
from tests.tiers import one_in

RULES: Final = sorted(AUTOMATIC)
STUDIES: Final = [scenario.scenario_id for scenario in list_scenarios()]

Came = tuple[str, int, int, int]  # the outcome, the rounds, and the last plan's samples and days


def came(played: Negotiation | None) -> Came:
    assert played is not None
    assert played.outcome is not None
    assert played.final_plan is not None
    counts = played.final_plan.counts
    return played.outcome.value, len(played.rounds), counts.samples, counts.days


@pytest.mark.parametrize(
    ("study", "lab", "scientist", "manager"),
    one_in(71, product(STUDIES, Difficulty, RULES, RULED_LAB_MANAGERS)),
)
def test_every_interface_plays_one_outcome(
    ask: Asking, study: str, lab: Difficulty, scientist: ScientistKind, manager: LabManagerKind
) -> None:
    pack = load_scenario(study, lab)
    case = Case.of(pack, scientist=scientist, lab_manager=manager)
    page = came(negotiated(assess(pack.reference_protocol, pack), case))
    line = f"{study} --lab {lab} --scientist {scientist} --lab-manager {manager}"
    result: Any = ask(f"negotiate {line} --json").data
    counts = result["final"]["plan"]
    ends = counts["sample_size"], counts["duration_days"]
    assert (result["outcome"], len(result["rounds"]), *ends) == page
    [row] = ask(f"batch {line} --workers 1 --json").data["results"]
    assert (row["outcome"], row["rounds"], row["samples"], row["days"]) == page
    assert came(replicalab.negotiate(replicalab.load(study, lab), scientist, manager)) == page
    # Where nothing else is said, it opens with the study's own plan.
    first = result["rounds"][0]
    assert first["reason"] == "It opens with the study's own plan."
    assert first["plan"]["plan"]["sample_size"] == pack.reference_protocol.sample_size
