"""The Protocol page, edited: what is typed, what cannot be a plan, what is applied and undone."""

from typing import Final

from replicalab.models import revise
from replicalab.scenarios import load_scenario
from replicalab.ui.workspace import Workspace, to_query
from tests.ui.acting import (
    can_press,
    choose,
    choose_more,
    chosen,
    labels,
    number,
    press,
    type_number,
    type_text,
    undo,
)
from tests.ui.pages import PROTOCOL, SCENARIOS
from tests.ui.reading import alerts, dimension, said, status, where
from tests.ui.walking import go, query_of, visit

REFERENCE: Final = load_scenario("fin_momentum").reference_protocol
SERVER, TERMINAL = REFERENCE.required_equipment
EXTRACT: Final = "vendor-approved extract on the research server"


# --- numbers and texts ------------------------------------------------------------------------


def test_number_moves_verdict_header_and_rows() -> None:
    app = visit(PROTOCOL, lab="easy")
    for field, value, colour, verdict, row in (
        ("Sample size", 300, "caution", "Feasible", ["passes Budget", "3,850 / 5,100", "+1,250"]),
        ("Duration (days)", 11, "fail", "Not feasible", ["fails Schedule", "11 / 10", "−1"]),
        ("Duration (days)", 0, "fail", "Not approved", []),
        ("Duration (days)", 8, "caution", "Feasible", ["passes Schedule", "8 / 10", "+2"]),
        ("Sample size", 75, "caution", "Feasible, below the floor", []),
        ("Sample size", 4, "caution", "Not approved", []),
        ("Sample size", 0, "fail", "Not approved", []),
        (*("Sample size", 1_000_000, "fail", "Not feasible"),
         ["fails Budget", "10,000,850 / 5,100", "−9,995,750"]),
    ):  # fmt: skip
        type_number(app, field, value)
        assert number(app, field).value == value
        assert (status(app), where(app).split(" · ")[-1]) == (colour, verdict), (field, value)
        if row:
            name, used, _, slack = dimension(app, row[0].split()[1])
            assert [name, used.rpartition(" ")[0], slack] == row


def test_number_that_cannot_be_planned_is_said_and_the_plan_keeps_its_own() -> None:
    app = visit(PROTOCOL)
    before = query_of(app)
    for field, saved, value in (("Sample size", 420, -5), ("Duration (days)", 8, 1_000_001)):
        name = field.removesuffix(" (days)")
        problem = f"{name} cannot be {value:,}, so the plan keeps {saved}. Type 0 to 1,000,000."
        assert problem in said(type_number(app, field, value))
        assert number(app, field).value == value
        assert query_of(app) == before
        assert problem not in said(type_number(app, field, saved))


def test_empty_text_is_said_until_the_plan_is_shown_again_and_keeps_it() -> None:
    app = visit(PROTOCOL)
    before = query_of(app)
    for field, blank in (("Technique", ""), ("Rationale", "   ")):
        kept = getattr(REFERENCE, field.lower())
        type_text(app, field, blank)
        assert any(f"{field} is empty, so the plan keeps “{kept}”." in a.text for a in alerts(app))
        assert query_of(app) == before
    go(go(app, SCENARIOS), PROTOCOL)
    assert app.text_area[0].value == REFERENCE.technique
    assert "is empty" not in said(app)


def test_rationale_with_a_forbidden_phrase_is_reported_and_one_that_denies_it_passes() -> None:
    app = visit(PROTOCOL, lab="easy")
    type_text(app, "Rationale", "An offline backtest; later we route orders to a broker.")
    assert dimension(app, "policy")[:2] == ["fails Policy", "1 breach"]
    assert status(app) == "caution"
    assert where(app).endswith("· Not approved")
    type_text(app, "Rationale", "An offline backtest with no live trading.")
    assert dimension(app, "policy")[0] == "passes Policy"


# --- lists ------------------------------------------------------------------------------------


def test_lists_offer_and_take_what_is_missing_a_substitute_an_unknown_item_and_nothing() -> None:
    app = visit(PROTOCOL)
    options = {field.label: list(field.options) for field in app.multiselect}
    assert options["Equipment"] == [SERVER, f"{TERMINAL} (booked until day 10)", EXTRACT]
    choose(app, "Equipment", SERVER, EXTRACT)
    assert dimension(app, "equipment")[:2] == ["passes Equipment", "2 needed, 2 free"]
    choose(app, "Equipment", SERVER, "quantum abacus")
    assert "'quantum abacus' is not in this lab's inventory" in said(app)
    choose(app, "Controls")
    assert dimension(app, "budget")[1] == "4,950 / 3,700 credits"
    go(go(app, SCENARIOS), PROTOCOL)
    assert chosen(app, "Equipment") == [SERVER, "quantum abacus"]
    assert chosen(app, "Controls") == []


def test_label_that_cannot_be_in_a_plan_is_said_and_not_taken() -> None:
    app = visit(PROTOCOL)
    for label, text in (
        ("   ", "has an entry without a name"),
        ("\u0085", "has an entry without a name"),
        ("x" * 301, "Controls has an entry of 301 characters; at most 300 fit"),
    ):
        choose(app, "Controls", *REFERENCE.controls, label)
        assert text in said(app)
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


# --- undo, redo, reset ------------------------------------------------------------------------


def test_undo_and_redo_walk_the_edits_one_by_one_and_a_new_one_clears_redo() -> None:
    app = visit(PROTOCOL)
    assert not can_press(app, "Undo")
    assert "Redo" not in labels(app)
    for samples in (200, 100):
        type_number(app, "Sample size", samples)
    for label, samples in (
        ("Undo: 200 → 100 months", 200),
        ("Undo: 420 → 200 months", 420),
        ("Redo", 200),
        ("Redo", 100),
    ):
        assert number(press(app, label), "Sample size").value == samples
        assert ("Redo" in labels(app)) == (samples == 200 or label.startswith("Undo"))
    undo(app)
    type_number(app, "Duration (days)", 5)
    assert "Redo" not in labels(app)
    assert number(undo(app), "Duration (days)").value == 8


def test_reset_shows_the_reference_and_undo_brings_back_each_kind_of_field() -> None:
    app = type_number(visit(PROTOCOL), "Sample size", 7)
    choose(app, "Controls", "size terciles")
    choose_more(type_text(app, "Technique", "another way"), "Reset the plan")
    assert number(app, "Sample size").value == 420
    assert "plan" not in query_of(app)
    undo(app)
    assert (number(app, "Sample size").value, app.text_area[0].value) == (7, "another way")
    assert undo(app).text_area[0].value == REFERENCE.technique
    assert chosen(app, "Controls") == ["size terciles"]
    assert chosen(undo(app), "Controls") == REFERENCE.controls
    type_number(app, "Sample size", 420)
    assert "plan" not in query_of(app)
