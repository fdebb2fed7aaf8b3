"""The workspace: what each way of moving to another study, lab, plan or round keeps."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.errors import ScenarioError
from replicalab.negotiation import LabManagerKind, ScientistKind
from replicalab.scenarios import Difficulty, load_scenario
from replicalab.ui.workspace import MOST_ROUNDS, Workspace, supposed_lab
from tests.factories import make_protocol

HARD: Final = Difficulty.HARD
PLAN: Final = make_protocol()


def test_workspace_opens_its_pack_and_its_plan() -> None:
    workspace = Workspace(scenario_id="math_four_colour", difficulty=HARD, seed=3)
    assert workspace.pack() == load_scenario("math_four_colour", "hard", 3)
    assert workspace.plan() == workspace.pack().reference_protocol
    assert workspace.with_plan(PLAN).plan() == PLAN


def test_workspace_of_an_unknown_study_says_so() -> None:
    with pytest.raises(ScenarioError, match="zebra"):
        Workspace(scenario_id="zebra").pack()


def test_workspace_keeps_no_plan_that_is_the_reference_protocol() -> None:
    workspace = Workspace()
    reference = workspace.pack().reference_protocol
    assert workspace.with_plan(PLAN).with_plan(reference) == workspace
    assert workspace.with_plan(PLAN).with_plan(None) == workspace


def test_workspace_with_another_study_starts_over_in_the_same_lab() -> None:
    workspace = Workspace(difficulty=HARD, seed=3, protocol=PLAN, max_rounds=7, round_number=2)
    assert workspace.with_study("math_four_colour") == Workspace(
        scenario_id="math_four_colour", difficulty=HARD, seed=3, max_rounds=7
    )


def test_workspace_in_another_lab_keeps_the_plan() -> None:
    workspace = Workspace(protocol=PLAN, round_number=2).with_lab("hard", 9)
    assert workspace == Workspace(difficulty=HARD, seed=9, protocol=PLAN)


def test_levers_belong_to_one_lab() -> None:
    pulled = Workspace(seed=3).with_levers(budget=2700, days=9)
    assert pulled.levers == {"budget": 2700, "days": 9}
    assert pulled.with_plan(PLAN).levers == pulled.levers
    for elsewhere in (pulled.with_study("math_four_colour"), pulled.with_lab("hard", 3)):
        assert elsewhere.levers == {}
    assert pulled.with_levers() == Workspace(seed=3)


def test_levers_are_taken_over_in_the_same_lab_only() -> None:
    pulled = Workspace(seed=3, days=9)
    assert Workspace(seed=3, protocol=PLAN).with_levers_of(pulled).days == 9
    assert Workspace(seed=4, staff=2).with_levers_of(pulled) == Workspace(seed=4, staff=2)


def test_supposed_lab_differs_by_the_levers_alone() -> None:
    pack = load_scenario("fin_momentum", "medium")
    found = supposed_lab(pack, {"budget": 2700, "staff": 5})
    assert (found.lab.budget, found.lab.days, found.lab.staff) == (
        2700.0,
        6,
        5,
    )
    assert supposed_lab(pack, {}) is pack
    assert supposed_lab(pack, {"days": 6}) is pack


def test_workspace_moves_between_rounds() -> None:
    workspace = Workspace().with_rounds(7).at_round(3)
    assert (workspace.max_rounds, workspace.round_number) == (7, 3)
    assert workspace.with_rounds(2) == Workspace(max_rounds=2)
    with pytest.raises(ValueError, match="round_number"):
        workspace.at_round(MOST_ROUNDS)


def test_recording_stays_only_with_its_study_lab_and_plan() -> None:
    workspace = Workspace(recording="one_run", round_number=2)
    for other in (
        workspace.with_study("psy_stroop"),
        workspace.with_lab("hard", 0),
        workspace.with_plan(PLAN),
        workspace.with_players(ScientistKind.PERSON, LabManagerKind.REFERENCE),
    ):
        assert (other.recording, other.round_number) == (None, 0)
    assert workspace.at_round(1).recording == "one_run"


def test_players_stay_with_another_study_lab_and_plan() -> None:
    workspace = Workspace().with_players(ScientistKind.PERSON, LabManagerKind.LEAST_LOSS)
    for other in (
        workspace.with_study("psy_stroop"),
        workspace.with_lab("hard", 0),
        workspace.with_plan(PLAN),
    ):
        assert (other.scientist, other.lab_manager) == ("person", "least_loss")
