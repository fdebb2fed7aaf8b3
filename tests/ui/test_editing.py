"""The Protocol page, edited: what is typed, what cannot be a plan, what is applied and undone."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.models import revise
from replicalab.scenarios import load_scenario
from replicalab.ui.address import to_query
from replicalab.ui.workspace import Workspace
from tests.ui.reading import (
    NEGOTIATION,
    PROTOCOL,
    SCENARIOS,
    alerts,
    can_press,
    choose,
    chosen,
    dimension,
    go,
    number,
    press,
    query_of,
    said,
    status,
    type_number,
    type_text,
    visit,
    where,
)

REFERENCE: Final = load_scenario("fin_momentum").reference_protocol
SERVER, TERMINAL = REFERENCE.required_equipment
EXTRACT: Final = "vendor-approved extract on the research server"


# --- Numbers ---


@pytest.mark.parametrize(
    ("field", "value", "colour", "verdict", "rows"),
    [
        (
            *("Sample size", 300, "pass", "Feasible"),
            {"budget": ["passes Budget", "3,850 / 5,100 credits", "", "+1,250"]},
        ),
        (
            *("Duration (days)", 11, "fail", "Not feasible"),
            {"schedule": ["fails Schedule", "11 / 10 days", "", "−1"]},
        ),
        ("Sample size", 75, "caution", "Feasible, below the floor", {}),
        ("Sample size", 0, "fail", "Not approved", {}),
        ("Duration (days)", 0, "fail", "Not approved", {}),
        ("Sample size", 4, "caution", "Not approved", {}),
        (
            *("Sample size", 1_000_000, "fail", "Not feasible"),
            {"budget": ["fails Budget", "10,000,850 / 5,100 credits", "", "−9,995,750"]},
        ),
    ],
)
def test_number_moves_verdict_header_and_rows(
    field: str, value: int, colour: str, verdict: str, rows: dict[str, list[str]]
) -> None:
    app = type_number(visit(PROTOCOL, lab="easy"), field, value)
    assert number(app, field).value == value
    assert status(app) == colour
    assert where(app).endswith(f"· easy lab · {verdict}")
    for name, cells in rows.items():
        assert dimension(app, name) == cells


@pytest.mark.parametrize(
    ("field", "kept", "value"), [("Sample size", 420, -5), ("Duration (days)", 8, 1_000_001)]
)
def test_number_that_cannot_be_planned_is_said_beside_its_field_and_the_plan_keeps_its_own(
    field: str, kept: int, value: int
) -> None:
    app = visit(PROTOCOL)
    before = query_of(app)
    type_number(app, field, value)
    name = field.removesuffix(" (days)")
    problem = f"{name} cannot be {value:,}, so the plan keeps {kept}. Type 0 to 1,000,000."
    assert problem in said(app)
    assert query_of(app) == before
    assert problem not in said(type_number(app, field, 7))


# --- Texts ---


@pytest.mark.parametrize("field", ["Technique", "Rationale"])
def test_empty_text_is_said_until_the_plan_is_shown_again_and_keeps_it(field: str) -> None:
    app, kept = visit(PROTOCOL), getattr(REFERENCE, field.lower())
    before = query_of(app)
    for blank in ("", "   "):
        type_text(app, field, blank)
        assert any(f"{field} is empty, so the plan keeps “{kept}”." in a.text for a in alerts(app))
        assert query_of(app) == before
    go(go(app, SCENARIOS), PROTOCOL)
    assert next(area for area in app.text_area if area.label == field).value == kept
    assert "is empty" not in said(app)


def test_rationale_with_a_forbidden_phrase_is_reported_and_one_that_denies_it_passes() -> None:
    app = visit(PROTOCOL, lab="easy")
    type_text(app, "Rationale", "An offline backtest; later we route orders to a broker.")
    assert dimension(app, "policy")[:2] == ["fails Policy", "1 breach"]
    assert status(app) == "caution"
    assert where(app).endswith("· Not approved")
    type_text(app, "Rationale", "An offline backtest with no live trading.")
    assert dimension(app, "policy")[0] == "passes Policy"


# --- Lists ---


def offered(lab: str, label: str) -> list[str]:
    """Return what a list offers in a lab."""
    app = visit(PROTOCOL, lab=lab)
    return list(next(field for field in app.multiselect if field.label == label).options)


def test_list_offers_missing_items_and_substitutes_with_where_they_stand() -> None:
    assert offered("medium", "Equipment") == [SERVER, f"{TERMINAL} (booked until day 10)", EXTRACT]
    assert "CRSP daily returns file 1990–2024 (out of stock)" in offered("hard", "Reagents")


def test_lists_take_a_substitute_an_unknown_item_and_nothing() -> None:
    app = choose(visit(PROTOCOL), "Equipment", SERVER, EXTRACT)
    assert dimension(app, "equipment")[:2] == ["passes Equipment", "2 needed, 2 free"]
    choose(app, "Equipment", SERVER, "quantum abacus")
    assert "'quantum abacus' is not in this lab's inventory" in said(app)
    choose(app, "Controls")
    assert dimension(app, "budget")[1] == "4,950 / 3,700 credits"
    go(type_number(go(app, PROTOCOL), "Sample size", 150), NEGOTIATION)
    go(app, PROTOCOL)
    assert chosen(app, "Equipment") == [SERVER, "quantum abacus"]
    assert chosen(app, "Controls") == []


@pytest.mark.parametrize(
    ("label", "told"),
    [
        ("   ", "has an entry without a name"),
        ("\u0085", "has an entry without a name"),
        ("x" * 301, "Controls has an entry of 301 characters; at most 300 fit"),
    ],
)
def test_label_that_cannot_be_in_a_plan_is_said_and_not_taken(label: str, told: str) -> None:
    app = visit(PROTOCOL)
    choose(app, "Controls", *REFERENCE.controls, label)
    assert told in said(app)
    assert "plan" not in query_of(app)


def test_label_listed_twice_is_said_beside_its_list_and_kept_until_it_is_edited() -> None:
    twice = [*REFERENCE.controls, REFERENCE.controls[0]]
    plan = revise(REFERENCE, controls=twice)
    app = visit(PROTOCOL, **to_query(Workspace().changed(plan=plan)))
    note = f"The plan lists '{twice[0]}' more than once; any change here lists each once."
    assert note in said(app)
    costs = dimension(app, "budget")[1]
    choose(app, "Controls", *REFERENCE.controls[:-1])
    assert note not in said(app)
    assert dimension(app, "budget")[1] != costs


# --- Undo, redo, reset ---


def test_undo_and_redo_walk_the_edits_one_by_one_and_a_new_one_clears_redo() -> None:
    app = visit(PROTOCOL)
    buttons = ("Undo", "Redo", "Reset")
    assert [can_press(app, label) for label in buttons] == [False, False, False]
    for samples in (200, 100):
        type_number(app, "Sample size", samples)
    for label, samples in (("Undo", 200), ("Undo", 420), ("Redo", 200), ("Redo", 100)):
        assert number(press(app, label), "Sample size").value == samples
        assert can_press(app, label) == (samples == 200)
    press(app, "Undo")
    type_number(app, "Duration (days)", 5)
    assert not can_press(app, "Redo")
    assert number(press(app, "Undo"), "Duration (days)").value == 8


def test_undo_brings_back_each_kind_of_field() -> None:
    app = choose(visit(PROTOCOL), "Controls", "size terciles")
    press(type_text(app, "Technique", "another way"), "Undo")
    assert app.text_area[0].value == REFERENCE.technique
    assert chosen(press(app, "Undo"), "Controls") == REFERENCE.controls


def test_reset_shows_the_reference_and_undo_brings_the_plan_back() -> None:
    app = press(type_number(visit(PROTOCOL), "Sample size", 7), "Reset")
    assert number(app, "Sample size").value == 420
    assert "plan" not in query_of(app)
    press(app, "Undo")
    assert number(app, "Sample size").value == 7
    type_number(app, "Sample size", 420)
    assert not can_press(app, "Reset")
    assert "plan" not in query_of(app)
