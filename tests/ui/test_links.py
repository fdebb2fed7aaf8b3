"""One workspace for all pages: it survives page switches, and its address opens it again."""

from __future__ import annotations

from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.models import Protocol, revise
from replicalab.scenarios import Difficulty, list_scenarios, load_scenario
from replicalab.ui.address import encode_plan, to_query
from replicalab.ui.workspace import Workspace
from tests.ui.reading import (
    NEGOTIATION,
    PAGES,
    PROTOCOL,
    SCENARIOS,
    alerts,
    can_press,
    go,
    number,
    open_lab,
    press,
    query_of,
    run,
    said,
    tile,
    type_number,
    visit,
    where,
)

REFERENCE: Final = load_scenario("fin_momentum").reference_protocol
RESNET: Final = revise(load_scenario("ml_resnet_cifar10").reference_protocol, sample_size=8)
FULL: Final = to_query(
    Workspace(
        scenario_id="ml_resnet_cifar10",
        difficulty=Difficulty.HARD,
        seed=42,
        protocol=RESNET,
        max_rounds=7,
        round_number=2,
    )
)
"""A link that sets everything to something that is not the default."""
SHIPPED: Final = {study.scenario_id for study in list_scenarios()}
CANNOT: Final = "Not everything could be opened."


def open_study(app: AppTest, scenario_id: str) -> AppTest:
    """Press the Open button of a study's card and return the app."""
    app.button(key=f"open_{scenario_id}").click()
    return run(app)


# --- Study, lab and seed ---


def test_another_lab_keeps_the_plan_and_undo_brings_the_lab_back() -> None:
    app = go(type_number(visit(PROTOCOL), "Sample size", 150), SCENARIOS)
    go(open_lab(app, "hard"), PROTOCOL)
    assert number(app, "Sample size").value == 150
    assert "· hard lab ·" in where(app)
    press(app, "Undo")
    assert "· medium lab ·" in where(app)
    assert number(app, "Sample size").value == 150


def test_another_seed_keeps_the_plan_and_is_said_in_the_header() -> None:
    app = go(type_number(visit(PROTOCOL), "Sample size", 150), SCENARIOS)
    type_number(app, "Seed", 7)
    assert "medium lab, seed 7 ·" in where(app)
    assert query_of(app)["seed"] == "7"
    assert number(go(app, PROTOCOL), "Sample size").value == 150


def test_seed_moves_the_lab_and_0_is_the_lab_as_written() -> None:
    app = visit()
    written = [metric.value for metric in app.metric]
    type_number(app, "Seed", 7)
    assert [metric.value for metric in app.metric] != written
    type_number(app, "Seed", 0)
    assert [metric.value for metric in app.metric] == written


def test_another_study_shows_its_reference_and_undo_brings_the_old_plan_back() -> None:
    app = go(type_number(visit(PROTOCOL), "Sample size", 150), SCENARIOS)
    open_study(app, "ml_resnet_cifar10")
    assert where(app).startswith("Deep Residual Learning for Image Recognition · medium lab")
    assert "plan" not in query_of(app)
    go(app, PROTOCOL)
    assert number(app, "Sample size").value == 12
    press(app, "Undo")
    assert where(app).startswith("Returns to Buying Winners and Selling Losers")
    assert number(app, "Sample size").value == 150


def test_gallery_offers_every_study_but_the_open_one() -> None:
    app = open_study(visit(), "math_four_colour")
    closed = [button.key for button in app.button if button.disabled]
    assert closed == ["open_math_four_colour"]


# --- Across pages ---


def test_workspace_survives_a_walk_over_all_pages() -> None:
    app = visit(PROTOCOL, **FULL)
    for page in (*PAGES, *PAGES):
        go(app, page)
        assert where(app).startswith(
            "Deep Residual Learning for Image Recognition · hard lab, seed 42 · "
        )
        assert query_of(app) == FULL


def test_history_survives_a_page_switch() -> None:
    app = type_number(visit(PROTOCOL), "Sample size", 150)
    go(go(app, NEGOTIATION), PROTOCOL)
    assert can_press(app, "Undo")
    assert number(press(app, "Undo"), "Sample size").value == 300


def test_fields_show_the_plan_again_after_a_page_switch() -> None:
    app = press(visit(PROTOCOL), "Apply all changes")
    go(go(app, SCENARIOS), PROTOCOL)
    assert (number(app, "Sample size").value, number(app, "Duration (days)").value) == (150, 6)


def test_navigation_links_carry_the_workspace() -> None:
    app = visit(PROTOCOL, **FULL)
    links = [link.proto.query_string for link in app.get("page_link")[:3]]
    for query in links:
        assert dict(part.split("=", 1) for part in query.split("&")) == FULL


# --- The address ---


def test_address_holds_the_workspace_from_the_first_visit_on() -> None:
    query = query_of(visit())
    del query["v"]
    assert query == {
        "study": "fin_momentum",
        "lab": "medium",
        "seed": "0",
        "rounds": "5",
        "round": "1",
    }


def test_address_gains_and_loses_the_plan_with_the_edit() -> None:
    app = type_number(visit(PROTOCOL), "Sample size", 150)
    assert query_of(app)["plan"] == encode_plan(revise(REFERENCE, sample_size=150))
    assert "plan" not in query_of(press(app, "Undo"))


def test_full_link_restores_study_lab_seed_plan_rounds_and_round() -> None:
    app = visit(PROTOCOL, **FULL)
    assert where(app).startswith(
        "Deep Residual Learning for Image Recognition · hard lab, seed 42 · "
    )
    assert number(app, "Sample size").value == 8
    go(app, NEGOTIATION)
    assert number(app, "Rounds at most").value == 7
    assert "Round 3 of" in said(app)
    assert CANNOT not in said(app)


def test_address_of_an_edited_plan_opens_it_for_somebody_else() -> None:
    mine = press(type_number(visit(PROTOCOL), "Duration (days)", 6), "Apply all changes")
    theirs = visit(PROTOCOL, **query_of(mine))
    for dimension in ("budget", "schedule", "equipment"):
        assert tile(theirs, dimension) == tile(mine, dimension)
    assert query_of(theirs) == query_of(mine)


def test_opened_link_has_nothing_to_undo() -> None:
    assert not can_press(visit(PROTOCOL, **FULL), "Undo")


# --- Links that were cut or bent ---


def cut_plan(length: int) -> AppTest:
    """Return the Protocol page of a link whose plan was cut to that length."""
    return visit(PROTOCOL, study="fin_momentum", plan=encode_plan(REFERENCE)[:length])


@pytest.mark.parametrize("length", [0, 1, 2, 150, -1])
def test_cut_plan_shows_the_reference_and_says_so(length: int) -> None:
    app = cut_plan(length)
    assert CANNOT in said(app)
    assert "the link is incomplete or was changed on its way; copy it again in full." in said(app)
    assert number(app, "Sample size").value == 300


def test_whole_plan_gives_no_message() -> None:
    assert CANNOT not in said(cut_plan(len(encode_plan(REFERENCE))))


def test_message_about_a_link_stays_until_it_is_dismissed() -> None:
    app = go(cut_plan(9), SCENARIOS)
    assert CANNOT in said(app)
    press(app, "Dismiss")
    assert CANNOT not in said(app)


def test_bad_link_is_replaced_by_what_is_shown() -> None:
    assert query_of(cut_plan(9)) == query_of(visit())


KEYS: Final = ("study", "lab", "seed", "rounds", "round", "plan")
GARBAGE: Final = ("", " ", "-1", "1.5", "9" * 400, "٣", "![](https://evil.example)<b>x</b>")


@pytest.mark.parametrize("file", PAGES)
@pytest.mark.parametrize("key", KEYS)
def test_garbage_in_a_key_gives_a_calm_message_on_each_page(key: str, file: str) -> None:
    app = visit(file, **{key: GARBAGE[-1]})
    messages = [alert.text for alert in alerts(app) if CANNOT in alert.text]
    assert len(messages) == 1
    assert messages[0].splitlines()[1].startswith(f"- {key}")
    assert query_of(app) == query_of(visit())


def test_each_unusable_part_has_its_own_line_and_the_rest_is_opened() -> None:
    app = visit(NEGOTIATION, **{**FULL, "seed": "x", "plan": "x"})
    message = next(alert.text for alert in alerts(app) if CANNOT in alert.text)
    assert [line.split(" ")[1].rstrip(":") for line in message.splitlines()[1:]] == ["seed", "plan"]
    assert where(app).startswith("Deep Residual Learning for Image Recognition · hard lab · ")
    assert number(app, "Rounds at most").value == 7


def test_round_beyond_the_last_one_shows_the_last_one() -> None:
    app = visit(NEGOTIATION, lab="easy", round="9")
    assert "Round 1 of 1" in said(app)


@pytest.mark.parametrize("samples", [1_000_001, 10**15, 10**18])
def test_plan_with_an_oversized_number_shows_the_reference_and_says_so(samples: int) -> None:
    huge = Protocol.model_construct(**{**dict(REFERENCE), "sample_size": samples})
    app = visit(PROTOCOL, plan=encode_plan(huge))
    assert CANNOT in said(app)
    assert any(name in said(app) for name in ("sample_size is", "Sample size is"))
    assert number(app, "Sample size").value == 300


def test_plan_of_no_samples_opens_and_is_checked() -> None:
    app = visit(PROTOCOL, plan=encode_plan(revise(REFERENCE, sample_size=0)))
    assert number(app, "Sample size").value == 0
    assert "no samples are planned" in alerts(app)[0].text
