"""One workspace for all pages: across them, in its address, back in the browser, and undone."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.limits import MOST_PAGE_ROUNDS
from replicalab.models import revise
from replicalab.negotiation import ScientistKind
from replicalab.scenarios import Difficulty, LabOverrides, load_scenario
from replicalab.ui import state
from replicalab.ui.workspace import Workspace, to_query
from tests.ui.acting import can_press, choose, chosen, number, pick, press, run, type_number, undo
from tests.ui.pages import COMPARE, LETTERS, LIBRARY, NEGOTIATION, PAGES, PROTOCOL, SCENARIOS, STUDY
from tests.ui.reading import alerts, dimension, links, said, where
from tests.ui.walking import go, query_of, visit

REFERENCE: Final = load_scenario("fin_momentum").reference_protocol
FULL: Final = to_query(
    Workspace().changed(
        study="ml_resnet_cifar10",
        lab=Difficulty.HARD,
        seed=42,
        plan=revise(load_scenario("ml_resnet_cifar10").reference_protocol, sample_size=8),
        max_rounds=7,
        round_number=2,
        scientist=ScientistKind.BASELINE,
    )
)
"""A link that sets everything to something that is not the default."""
CANNOT: Final = "Not everything could be opened."
TOO_LONG: Final = "This page is too long for a link"


# --- study, lab and seed ----------------------------------------------------------------------


def test_another_lab_and_seed_keep_the_plan_and_undo_brings_them_back() -> None:
    app = go(type_number(visit(PROTOCOL), "Sample size", 150), STUDY)
    type_number(pick(app, "Lab", "easy"), "Seed", 7)
    assert "· easy lab, seed 7 ·" in where(app)
    assert query_of(app)["seed"] == "7"
    type_number(app, "Seed", 0)
    assert number(go(app, PROTOCOL), "Sample size").value == 150
    assert dimension(app, "budget")[1] == "2,350 / 5,100 credits"
    for lab in ("easy lab, seed 7", "easy lab", "medium lab"):
        undo(app)
        assert f"· {lab} ·" in where(app)
    assert number(app, "Sample size").value == 150


def test_another_study_shows_its_reference_and_undo_brings_the_old_plan_back() -> None:
    app = go(type_number(visit(PROTOCOL), "Sample size", 150), SCENARIOS)
    app.button(key="open_ml_resnet_cifar10").click()
    assert where(run(app)).startswith("ResNet depth · medium lab")
    assert "samples" not in query_of(app)
    assert number(go(app, PROTOCOL), "Sample size").value == 12
    assert not can_press(app, "Undo"), "there it stays within the study"
    assert where(undo(go(app, COMPARE))).startswith("Momentum returns")
    assert number(go(app, PROTOCOL), "Sample size").value == 150


# --- the address ------------------------------------------------------------------------------


def test_full_link_opens_the_same_on_every_page() -> None:
    app = visit(PROTOCOL, **FULL)
    assert number(app, "Sample size").value == 8
    assert not can_press(app, "Undo")
    assert CANNOT not in said(app)
    for page in PAGES:
        go(app, page)
        judged = "" if page in {NEGOTIATION, COMPARE, LIBRARY} else " · "
        assert where(app).startswith(f"ResNet depth · hard lab, seed 42{judged}")
        assert query_of(app) == FULL
        assert links(app) == [FULL] * len(PAGES)
    go(app, NEGOTIATION)
    assert number(app, "Rounds at most").value == 7
    assert "Round 3 of" in said(app)


def test_address_holds_the_workspace_from_the_first_visit_and_the_plan_while_it_is_edited() -> None:
    app = visit(PROTOCOL)
    assert query_of(app) == to_query(Workspace())
    type_number(app, "Sample size", 150)
    assert query_of(app)["samples"] == "150"
    assert query_of(undo(app)) == to_query(Workspace())


def test_link_that_is_garbage_gives_one_calm_message_on_every_page_until_it_is_dismissed() -> None:
    app = visit(PROTOCOL, seed="![](https://evil.example)<b>x</b>")
    for page in PAGES:
        [message] = [alert.text for alert in alerts(go(app, page)) if CANNOT in alert.text]
        assert message.splitlines()[1].startswith("- The link cannot be read: seed ")
        assert query_of(app) == to_query(Workspace())
    press(app, "Dismiss")
    assert CANNOT not in said(app)


def test_plan_that_is_too_long_for_an_address_is_left_out_of_it_and_the_page_says_so() -> None:
    app = choose(visit(PROTOCOL, study="fin_momentum"), "Controls", *LETTERS[:40])
    assert "more" in query_of(app)
    assert TOO_LONG not in said(app)
    choose(app, "Controls", *LETTERS)
    assert len(urlencode(query_of(app))) < 200
    assert query_of(app)["study"] == "fin_momentum"
    for page in PAGES:
        assert said(go(app, page)).count(TOO_LONG) == 1
        assert all(len(way.proto.query_string) < 200 for way in app.get("page_link"))
    assert chosen(go(app, PROTOCOL), "Controls") == LETTERS
    choose(app, "Controls", *LETTERS[:40])
    assert "more" in query_of(app)
    assert TOO_LONG not in said(app)


# --- back in the browser ----------------------------------------------------------------------


def arrive(app: AppTest, query: Mapping[str, str]) -> AppTest:
    """Show an older address, as the browser's Back does, and return the app."""
    app.query_params.clear()
    for key, value in query.items():
        app.query_params[key] = value
    return run(app)


def test_back_opens_the_older_plan_or_says_that_it_was_cut_and_undo_returns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(state, "_SETTLED_AFTER", -1.0)
    app = type_number(visit(PROTOCOL), "Sample size", 200)
    before = query_of(app)
    arrive(type_number(app, "Sample size", 100), before)
    assert number(app, "Sample size").value == 200
    assert query_of(app) == before
    arrive(app, {"study": "fin_momentum", "more": "eNq"})
    assert CANNOT in said(app)
    for samples in (200, 100):
        assert number(undo(app), "Sample size").value == samples


@pytest.mark.parametrize(("settled", "typed"), [(-1.0, True), (1e9, False)])
def test_edit_wins_over_the_address_that_the_browser_still_shows_and_one_too_soon_is_not_back(
    monkeypatch: pytest.MonkeyPatch, settled: float, typed: bool
) -> None:
    monkeypatch.setattr(state, "_SETTLED_AFTER", settled)
    app = visit(PROTOCOL)
    before = query_of(app)
    type_number(app, "Sample size", 200)
    if typed:
        number(app, "Sample size").set_value(100)
    assert number(arrive(app, before), "Sample size").value == (100 if typed else 200)


# --- the history ------------------------------------------------------------------------------


def test_history_forgets_the_oldest_step_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "_REMEMBERED", 3)
    app, other = type_number(visit(PROTOCOL), "Sample size", 420), visit(PROTOCOL)
    assert not can_press(app, "Undo"), "the same value is no step"
    for samples in (10, 20, 30, 40, 50):
        type_number(app, "Sample size", samples)
    seen = [number(undo(app), "Sample size").value for _ in range(3)]
    assert seen == [40, 30, 20]
    assert not can_press(app, "Undo")
    assert number(run(other), "Sample size").value == 420, "another visitor has another plan"


def test_undone_step_keeps_the_players_and_brings_the_lab_back() -> None:
    before = Workspace().changed(seed=4, lab=Difficulty.HARD, own_lab=LabOverrides(budget=2700))
    before = before.changed(round_number=4)
    players = {"max_rounds": 7, "scientist": "person", "lab_manager": "least_loss"}
    record = {"presenting": 3, "survey": True}
    now = Workspace().changed(**players, **record, round_number=2, recording="one_run")
    assert before.stepped_from(now) == before.changed(round_number=0, **players, **record)


@pytest.mark.parametrize(
    ("name", "value"),
    [("round_number", MOST_PAGE_ROUNDS), ("max_rounds", MOST_PAGE_ROUNDS + 1), ("seed", 1_000_000)],
)
def test_workspace_shows_no_more_than_it_can(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=name):
        Workspace().changed(**{name: value})
