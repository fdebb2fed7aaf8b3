"""The workspace: what each way of moving to another study, lab, plan or round keeps."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.errors import ScenarioError
from replicalab.negotiation import LabManagerKind, ScientistKind
from replicalab.scenarios import Difficulty, OwnLab, Question, load_scenario
from replicalab.ui.own_studies import find
from replicalab.ui.workspace import MOST_ROUNDS, Workspace
from tests.factories import make_protocol

PLAN: Final = make_protocol()
FULL: Final = Workspace(
    difficulty=Difficulty.HARD,
    seed=3,
    protocol=PLAN,
    max_rounds=7,
    round_number=2,
    own_lab=OwnLab(budget=2700, days=9),
    question=Question(alpha=0.01),
    scientist=ScientistKind.PERSON,
    lab_manager=LabManagerKind.LEAST_LOSS,
    recording="one_run",
)
LEFT: Final = {"recording": None, "round_number": 0}
AS_WRITTEN: Final = {"own_lab": OwnLab()}
NAMED: Final = OwnLab(name="Ours", budget=2700)


def test_workspace_opens_its_pack_and_its_plan() -> None:
    workspace = Workspace(scenario_id="math_four_colour", difficulty=Difficulty.HARD, seed=3)
    assert workspace.pack(find) == load_scenario("math_four_colour", "hard", 3)
    assert workspace.plan(find) == workspace.pack(find).reference_protocol
    assert workspace.with_plan(PLAN, find).plan(find) == PLAN
    with pytest.raises(ScenarioError, match="zebra"):
        Workspace(scenario_id="zebra").pack(find)


def test_workspace_keeps_no_plan_that_is_the_reference_protocol() -> None:
    workspace = Workspace()
    reference = workspace.pack(find).reference_protocol
    assert workspace.with_plan(PLAN, find).with_plan(reference, find) == workspace
    assert workspace.with_plan(PLAN, find).with_plan(None, find) == workspace


@pytest.mark.parametrize(
    ("moved", "changes"),
    [
        (
            FULL.with_study("math_four_colour"),
            {"scenario_id": "math_four_colour", "protocol": None, "question": Question(), **LEFT}
            | AS_WRITTEN,
        ),
        (
            FULL.changed(own_lab=NAMED).with_study("math_four_colour"),
            {"scenario_id": "math_four_colour", "protocol": None, "question": Question(), **LEFT}
            | {"own_lab": NAMED},
        ),
        (FULL.with_lab("easy", 9), {"difficulty": "easy", "seed": 9, **LEFT, **AS_WRITTEN}),
        (FULL.with_own(own_lab=NAMED), {"own_lab": NAMED, **LEFT}),
        (
            FULL.with_plan(make_protocol(sample_size=7), find),
            {"protocol": make_protocol(sample_size=7), **LEFT},
        ),
    ],
    ids=["study", "study in a named lab", "lab", "own lab", "plan"],
)
def test_workspace_that_moves_keeps_all_else(moved: Workspace, changes: dict[str, object]) -> None:
    assert moved == FULL.changed(**changes)


def test_undone_step_keeps_the_players_and_brings_the_lab_back() -> None:
    before = Workspace(seed=4, difficulty=Difficulty.HARD, round_number=4, own_lab=NAMED)
    shown = {"presenting": 3, "survey": True}
    assert before.stepped_from(FULL.changed(**shown)) == before.changed(
        round_number=0, max_rounds=7, scientist="person", lab_manager="least_loss", **shown
    )


def test_workspace_says_its_own_of_the_lab_that_is_written() -> None:
    work = Workspace(own_lab=OwnLab(budget=2700, staff=5), question=Question(target=0.9))
    written, pack = work.written(find), work.pack(find)
    assert written == load_scenario("fin_momentum", "medium")
    assert (pack.lab.budget, pack.lab.days, pack.lab.staff) == (2700.0, 6, 5)
    assert (pack.design.target, pack.design.floor) == (0.9, written.design.floor)
    assert Workspace().pack(find) == written


def test_question_that_the_study_cannot_be_asked_is_named() -> None:
    with pytest.raises(ScenarioError, match="floor <= target"):
        Workspace(question=Question(target=0.2)).pack(find)


def test_workspace_has_no_round_beyond_the_most() -> None:
    with pytest.raises(ValueError, match="round_number"):
        Workspace().changed(round_number=MOST_ROUNDS)
