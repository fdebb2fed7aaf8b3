"""The session behind the pages: Back in the browser, the history, and the workspace."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.scenarios import Difficulty, LabOverrides
from replicalab.ui import state
from replicalab.ui.workspace import MOST_ROUNDS, Workspace
from tests.ui.reading import (
    PAGES,
    PROTOCOL,
    SCENARIOS,
    can_press,
    choose,
    chosen,
    go,
    number,
    press,
    query_of,
    run,
    said,
    type_number,
    visit,
)

TOO_LONG: Final = "This plan is too long for an address"


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every address that the browser shows counts as one that it will not change by itself."""
    monkeypatch.setattr(state, "_SETTLED_AFTER", -1.0)


def arrive(app: AppTest, query: Mapping[str, str]) -> AppTest:
    """Show an older address, as the browser's Back does, and return the app."""
    app.query_params.clear()
    for key, value in query.items():
        app.query_params[key] = value
    return run(app)


@pytest.mark.usefixtures("settled")
def test_back_opens_the_older_plan_or_says_that_it_was_cut_and_undo_returns() -> None:
    app = type_number(visit(PROTOCOL), "Sample size", 200)
    before = query_of(app)
    arrive(type_number(app, "Sample size", 100), before)
    assert number(app, "Sample size").value == 200
    assert query_of(app) == before
    arrive(app, {"study": "fin_momentum", "plan": "eNq"})
    assert "Not everything could be opened." in said(app)
    for samples in (200, 100):
        assert number(press(app, "Undo"), "Sample size").value == samples


@pytest.mark.usefixtures("settled")
def test_edit_wins_over_the_address_that_the_browser_still_shows() -> None:
    app = visit(PROTOCOL)
    before = query_of(app)
    type_number(app, "Sample size", 200)
    number(app, "Sample size").set_value(100)
    arrive(app, before)
    assert number(app, "Sample size").value == 100


def test_older_address_right_after_an_edit_is_not_taken_for_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(state, "_SETTLED_AFTER", 1e9)
    app = visit(PROTOCOL)
    before = query_of(app)
    type_number(app, "Sample size", 200)
    arrive(app, before)
    assert number(app, "Sample size").value == 200


@pytest.mark.usefixtures("settled")
def test_plan_that_is_too_long_for_an_address_is_left_out_of_it_and_the_page_says_so() -> None:
    """Digits at random take four fifths of their length in an address, and 19,000 too much."""
    chance = random.Random(1)
    letters = [f"{chance.randrange(16**200):0200x}" for _ in range(95)]
    app = choose(visit(PROTOCOL, study="fin_momentum"), "Controls", *letters[:40])
    assert "plan" in query_of(app)
    assert TOO_LONG not in said(app)
    choose(app, "Controls", *letters)
    assert len(urlencode(query_of(app))) < 200
    assert query_of(app)["study"] == "fin_momentum"
    for page in PAGES:
        assert said(go(app, page)).count(TOO_LONG) == 1
        for way in app.get("page_link"):
            assert len(way.proto.query_string) < 200
        assert chosen(go(app, PROTOCOL), "Controls") == letters
    choose(app, "Controls", *letters[:40])
    assert "plan" in query_of(app)
    assert TOO_LONG not in said(app)


def test_history_forgets_the_oldest_step_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "_REMEMBERED", 3)
    app = type_number(visit(PROTOCOL), "Sample size", 420)
    assert not can_press(app, "Undo"), "the same value is no step"
    for samples in (10, 20, 30, 40, 50):
        type_number(app, "Sample size", samples)
    seen = [number(press(app, "Undo"), "Sample size").value for _ in range(3)]
    assert seen == [40, 30, 20]
    assert not can_press(app, "Undo")


def test_two_visitors_do_not_share_a_plan() -> None:
    mine, theirs = visit(PROTOCOL), visit(PROTOCOL)
    type_number(mine, "Sample size", 150)
    go(go(theirs, SCENARIOS), PROTOCOL)
    assert number(theirs, "Sample size").value == 420


# --- the workspace: what undo brings back of it, and what it can show --------------------------


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
