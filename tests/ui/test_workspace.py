"""The workspace: what a step of undo brings back of it, and what it can show."""

from __future__ import annotations

import pytest

from replicalab.scenarios import Difficulty, LabOverrides
from replicalab.ui.workspace import MOST_ROUNDS, Workspace


def test_undone_step_keeps_the_players_and_brings_the_lab_back() -> None:
    before = Workspace().changed(seed=4, lab=Difficulty.HARD, own_lab=LabOverrides(budget=2700))
    before = before.changed(round_number=4)
    players = {"max_rounds": 7, "scientist": "person", "lab_manager": "least_loss"}
    shown = {"presenting": 3, "survey": True}
    now = Workspace().changed(**players, **shown, round_number=2, recording="one_run")
    assert before.stepped_from(now) == before.changed(round_number=0, **players, **shown)


@pytest.mark.parametrize(
    ("name", "value"),
    [("round_number", MOST_ROUNDS), ("max_rounds", MOST_ROUNDS + 1), ("seed", 1_000_000)],
)
def test_workspace_shows_no_more_than_it_can(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=name):
        Workspace().changed(**{name: value})
