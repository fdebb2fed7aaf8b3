"""One workspace for all pages: it survives page switches, and its address opens it again."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.models import revise
from replicalab.negotiation import ScientistKind
from replicalab.scenarios import Difficulty, load_scenario
from replicalab.ui.address import encode_plan, to_query
from replicalab.ui.workspace import Workspace
from tests.ui.reading import (
    NEGOTIATION,
    PAGES,
    PROTOCOL,
    SCENARIOS,
    STUDY,
    alerts,
    can_press,
    dimension,
    go,
    number,
    pick,
    press,
    query_of,
    run,
    said,
    type_number,
    visit,
    where,
)

REFERENCE: Final = load_scenario("fin_momentum").reference_protocol
RESNET: Final = revise(load_scenario("ml_resnet_cifar10").reference_protocol, sample_size=8)
FULL: Final = to_query(
    Workspace().changed(
        study="ml_resnet_cifar10",
        lab=Difficulty.HARD,
        seed=42,
        plan=RESNET,
        max_rounds=7,
        round_number=2,
        scientist=ScientistKind.BASELINE,
    )
)
"""A link that sets everything to something that is not the default."""
RESNET_TITLE: Final = "ResNet depth"
CANNOT: Final = "Not everything could be opened."


# --- Study, lab and seed ---


def test_another_lab_and_seed_keep_the_plan_and_undo_brings_them_back() -> None:
    app = go(type_number(visit(PROTOCOL), "Sample size", 150), STUDY)
    type_number(pick(app, "Lab", "easy"), "Seed", 7)
    assert "· easy lab, seed 7 ·" in where(app)
    assert query_of(app)["seed"] == "7"
    type_number(app, "Seed", 0)
    assert number(go(app, PROTOCOL), "Sample size").value == 150
    assert dimension(app, "budget")[1] == "2,350 / 5,100 credits"
    for lab in ("easy lab, seed 7", "easy lab", "medium lab"):
        press(app, "Undo")
        assert f"· {lab} ·" in where(app)
    assert number(app, "Sample size").value == 150


def test_another_study_shows_its_reference_and_undo_brings_the_old_plan_back() -> None:
    app = go(type_number(visit(PROTOCOL), "Sample size", 150), SCENARIOS)
    app.button(key="open_ml_resnet_cifar10").click()
    assert where(run(app)).startswith(f"{RESNET_TITLE} · medium lab")
    assert "plan" not in query_of(app)
    go(app, PROTOCOL)
    assert number(app, "Sample size").value == 12
    press(app, "Undo")
    assert where(app).startswith("Momentum returns")
    assert number(app, "Sample size").value == 150


# --- Across pages ---


def test_full_link_opens_the_same_on_every_page() -> None:
    app = visit(PROTOCOL, **FULL)
    assert number(app, "Sample size").value == 8
    assert not can_press(app, "Undo")
    assert CANNOT not in said(app)
    for page in PAGES:
        go(app, page)
        assert where(app).startswith(f"{RESNET_TITLE} · hard lab, seed 42 · ")
        assert query_of(app) == FULL
        for link in app.get("page_link")[: len(PAGES)]:
            assert dict(part.split("=", 1) for part in link.proto.query_string.split("&")) == FULL
    go(app, NEGOTIATION)
    assert number(app, "Rounds at most").value == 7
    assert "Round 3 of" in said(app)


def test_plan_and_history_survive_a_page_switch() -> None:
    app = press(visit(PROTOCOL), "Apply all")
    go(go(app, NEGOTIATION), PROTOCOL)
    assert (number(app, "Sample size").value, number(app, "Duration (days)").value) == (210, 6)
    assert number(press(app, "Undo"), "Sample size").value == 420


# --- The address ---


def test_address_holds_the_workspace_from_the_first_visit_and_the_plan_while_it_is_edited() -> None:
    app = visit(PROTOCOL)
    assert query_of(app) == to_query(Workspace())
    type_number(app, "Sample size", 150)
    assert query_of(app)["plan"] == encode_plan(revise(REFERENCE, sample_size=150))
    assert query_of(press(app, "Undo")) == to_query(Workspace())


def test_cut_link_shows_the_reference_and_says_so_until_it_is_dismissed() -> None:
    app = visit(PROTOCOL, plan=encode_plan(REFERENCE)[:150])
    assert CANNOT in said(app)
    assert number(app, "Sample size").value == 420
    assert query_of(app) == to_query(Workspace())
    go(app, SCENARIOS)
    assert CANNOT in said(app)
    press(app, "Dismiss")
    assert CANNOT not in said(app)


@pytest.mark.parametrize("file", PAGES)
def test_garbage_in_every_key_gives_one_calm_message_on_each_page(file: str) -> None:
    keys = ("seed", "rounds", "round", "lab", "plan")
    app = visit(file, **dict.fromkeys(keys, "![](https://evil.example)<b>x</b>"))
    [message] = [alert.text for alert in alerts(app) if CANNOT in alert.text]
    lines = message.splitlines()[1:]
    for key, line in zip(keys, lines, strict=True):
        assert line.startswith(f"- {key}")
    assert query_of(app) == to_query(Workspace())
