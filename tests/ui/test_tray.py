"""The comparison tray: put there by one button, named in place, loaded by a click, undone."""

from typing import Final

from streamlit.testing.v1 import AppTest

from replicalab.limits import LONGEST_NAME
from replicalab.ui.own_studies import find
from tests.ui.acting import labels, number, press, press_first, run, type_number, type_text
from tests.ui.pages import NEGOTIATION, PROTOCOL
from tests.ui.reading import plain, tray
from tests.ui.walking import go, query_of, visit

ADD: Final = "Add to comparison"


def names(app: AppTest) -> list[str]:
    return [item.name for item in tray(app)]


def line(app: AppTest) -> list[str]:
    """Return the names that the line on the page offers; none where there is no line."""
    return [option for group in app.segmented_control for option in group.options]


def load(app: AppTest, place: int) -> AppTest:
    """Click what stands at that place of the line."""
    app.segmented_control[0].set_value(place)
    return run(app)


def told(app: AppTest) -> str:
    """Return what the page says of the last press, for a moment."""
    [toast] = app.toast
    return plain(toast.value)


def test_plan_is_put_beside_under_a_name_only_once_and_opening_and_adding_are_steps_to_undo() -> (
    None
):
    app = visit(PROTOCOL)
    assert not line(app)
    assert "Remove it" not in labels(app)
    assert told(press(app, ADD)) == "Added as Plan A: see Compare."
    assert told(press(app, ADD)) == "Already in the comparison: Plan A."
    assert line(app) == names(app) == ["Plan A"]
    assert app.segmented_control[0].value == 0
    type_number(app, "Sample size", 100)
    assert app.segmented_control[0].value is None
    load(press(app, ADD), 0)
    assert number(app, "Sample size").value == 420
    for act, texts in (
        ("", ["Plan A", "Plan B"]),
        ("Undo", ["Plan A", "Plan B"]),
        ("Undo", ["Plan A"]),
        ("Redo", ["Plan A", "Plan B"]),
    ):
        assert names(press_first(app, act) if act else app) == texts
        assert number(app, "Sample size").value == (100 if act else 420)


def test_open_case_is_renamed_in_the_tray_or_removed_from_it_and_stays_open() -> None:
    app = type_number(press(visit(PROTOCOL), ADD), "Sample size", 100)
    type_text(press(app, ADD), "Name", "  small\tand   cheap ")
    assert names(app) == ["Plan A", "small and cheap"]
    assert names(type_text(app, "Name", "Plan A")) == ["Plan A", "Plan A 2"]
    for same in ("   ", " Plan A 2 "):
        assert names(type_text(app, "Name", same)) == ["Plan A", "Plan A 2"]
    long = "x" * LONGEST_NAME
    load(type_text(app, "Name", long), 0)
    assert names(type_text(app, "Name", long)) == [f"{long[:-4]} 2", long]
    assert names(press(load(app, 1), "Remove it")) == [f"{long[:-4]} 2"]
    assert number(app, "Sample size").value == 100


def test_four_are_beside_at_most_and_stay_when_the_page_is_loaded_anew() -> None:
    app = visit(PROTOCOL)
    for samples in (10, 20, 30, 40):
        press(type_number(app, "Sample size", samples), ADD)
    press(type_number(app, "Sample size", 50), ADD)
    assert told(app) == "The comparison holds 4, the most; remove one."
    assert names(app) == ["Plan A", "Plan B", "Plan C", "Plan D"]
    load(press(load(app, 1), "Remove it"), 0)
    press(type_number(app, "Sample size", 60), ADD)
    assert names(app) == ["Plan A", "Plan C", "Plan D", "Plan B"]
    again = tray(visit(PROTOCOL, **query_of(app)))
    assert again == tray(app)
    assert [item.case.protocol(find).sample_size for item in again] == [10, 30, 40, 60]


def test_run_played_by_hand_is_kept_beside_with_its_moves() -> None:
    app = type_text(visit(NEGOTIATION, scientist="person"), "Or ask the lab a question", "When?")
    press(app, "Ask")
    moves = app.session_state["state"].workspace.case.moves
    assert len(moves) == 1
    for notice in ("Added as Run A: see Compare.", "Already in the comparison: Run A."):
        assert told(press(app, ADD)) == notice
    [result] = tray(app)
    assert (result.name, result.case.moves, result.is_run) == ("Run A", moves, True)
    assert told(press(go(app, PROTOCOL), ADD)) == "Added as Plan A: see Compare."
    assert [(item.name, item.is_run) for item in tray(app)] == [("Run A", True), ("Plan A", False)]
    assert tray(visit(PROTOCOL, **query_of(app))) == tray(app)
