"""The workspace: what each way of moving to another study, lab, plan or round keeps."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.errors import ScenarioError
from replicalab.negotiation import LabManagerKind, ScientistKind
from replicalab.scenarios import Difficulty, load_scenario
from replicalab.ui.workspace import MOST_ROUNDS, Workspace, supposed_lab
from tests.factories import make_protocol

PLAN: Final = make_protocol()
FULL: Final = Workspace(
    difficulty=Difficulty.HARD,
    seed=3,
    protocol=PLAN,
    max_rounds=7,
    round_number=2,
    budget=2700,
    days=9,
    scientist=ScientistKind.PERSON,
    lab_manager=LabManagerKind.LEAST_LOSS,
    recording="one_run",
)
LEFT: Final = {"recording": None, "round_number": 0}
REAL_LAB: Final = {"budget": None, "days": None}


def test_workspace_opens_its_pack_and_its_plan() -> None:
    workspace = Workspace(scenario_id="math_four_colour", difficulty=Difficulty.HARD, seed=3)
    assert workspace.pack() == load_scenario("math_four_colour", "hard", 3)
    assert workspace.plan() == workspace.pack().reference_protocol
    assert workspace.with_plan(PLAN).plan() == PLAN
    with pytest.raises(ScenarioError, match="zebra"):
        Workspace(scenario_id="zebra").pack()


def test_workspace_keeps_no_plan_that_is_the_reference_protocol() -> None:
    workspace = Workspace()
    reference = workspace.pack().reference_protocol
    assert workspace.with_plan(PLAN).with_plan(reference) == workspace
    assert workspace.with_plan(PLAN).with_plan(None) == workspace


@pytest.mark.parametrize(
    ("moved", "changes"),
    [
        (
            FULL.with_study("math_four_colour"),
            {"scenario_id": "math_four_colour", "protocol": None, **LEFT, **REAL_LAB},
        ),
        (FULL.with_lab("easy", 9), {"difficulty": "easy", "seed": 9, **LEFT, **REAL_LAB}),
        (
            FULL.with_plan(make_protocol(sample_size=7)),
            {"protocol": make_protocol(sample_size=7), **LEFT},
        ),
    ],
    ids=["study", "lab", "plan"],
)
def test_workspace_that_moves_keeps_all_else(moved: Workspace, changes: dict[str, object]) -> None:
    assert moved == FULL.changed(**changes)


@pytest.mark.parametrize("same_lab", [True, False])
def test_undone_step_keeps_the_talks_and_levers_only_in_the_same_lab(same_lab: bool) -> None:
    before = Workspace(seed=3 if same_lab else 4, difficulty=Difficulty.HARD, round_number=4)
    now = FULL.changed(presenting=3)
    assert before.stepped_from(now) == before.changed(
        round_number=0,
        max_rounds=7,
        scientist="person",
        lab_manager="least_loss",
        presenting=3,
        **(now.levers if same_lab else {}),
    )


def test_supposed_lab_differs_by_the_levers_alone() -> None:
    pack = load_scenario("fin_momentum", "medium")
    assert FULL.levers == {"budget": 2700, "days": 9}
    lab = supposed_lab(pack, {"budget": 2700, "staff": 5}).lab
    assert (lab.budget, lab.days, lab.staff) == (2700.0, 6, 5)
    assert supposed_lab(pack, {}) is pack
    assert supposed_lab(pack, {"days": 6}) is pack


def test_workspace_has_no_round_beyond_the_most() -> None:
    with pytest.raises(ValueError, match="round_number"):
        Workspace().changed(round_number=MOST_ROUNDS)
