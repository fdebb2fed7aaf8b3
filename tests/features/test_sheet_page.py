"""A lab's own list of items: its columns are chosen, its cells corrected, its items taken."""

from typing import Final

from streamlit.testing.v1 import AppTest

from replicalab.scenarios import ItemState, LabOverrides
from tests.ui.acting import can_press, labels, press, undo
from tests.ui.reading import in_drawer
from tests.ui.test_lab_form import again, at, drawer
from tests.ui.walking import show

HAND_OVER: Final = "Open a list of items (CSV or Excel)"
HEAD: Final = "name,kind,state,until,price\n"


def hand_over(app: AppTest, name: str, data: bytes) -> AppTest:
    app = at(app, "Save")
    uploader = next(field for field in app.file_uploader if field.label == HAND_OVER)
    uploader.set_value((name, data, "text/csv"))
    app.session_state["lab_is_open"] = True
    return show(app, "Save", "lab_part")


def choose(app: AppTest, label: str, heading: str) -> AppTest:
    next(field for field in app.selectbox if field.label == label).set_value(heading)
    return again(app)


def own_lab(app: AppTest) -> LabOverrides:
    lab: LabOverrides = app.session_state["state"].workspace.case.own_lab
    return lab


def take(app: AppTest, label: str) -> AppTest:
    app.session_state["lab_is_open"] = True
    app.session_state["lab_part"] = "Save"
    return press(app, label)


def test_columns_of_another_list_are_chosen() -> None:
    data = b"Thing;Type;Now;Cost\nmug;Equipment;booked;4\nagar;reagent;available;2,5\n"
    app = hand_over(drawer(), "a.csv", data)
    assert own_lab(app) == LabOverrides()
    assert "Choose a column for: Item." in in_drawer(app)
    assert not can_press(app, "Take 0 items")
    for label, heading in (
        ("Item", "Thing"),
        ("Equipment or material", "Type"),
        ("State", "Now"),
        ("Price", "Cost"),
    ):
        app = choose(app, label, heading)
    app = take(app, "Take 2 items")
    mug, agar = own_lab(app).items
    assert (mug.label, mug.category, mug.state, mug.price) == ("mug", "equipment", "booked", 4)
    assert (agar.label, agar.state, agar.price) == ("agar", ItemState.AVAILABLE, 2.5)
    assert "2 items read from a.csv, 2 of them unlike the study’s lab." in in_drawer(app)
    assert "Take nothing" not in labels(again(app))
    undo(app)
    assert own_lab(app) == LabOverrides()


def test_equal_headings_and_one_kind_for_all() -> None:
    app = hand_over(drawer(), "a.csv", b"NAME,Shelf,state\nmug,3,booked\n")
    app = choose(app, "Equipment or material", "all are material")
    app = take(app, "Take 1 item")
    [item] = own_lab(app).items
    assert (item.label, item.category, item.state) == ("mug", "reagent", "booked")


def test_wrong_cells_name_row_and_column() -> None:
    app = hand_over(drawer(), "a.csv", f"{HEAD}mug,reagent,gone,,-5\n".encode())
    assert "a.csv: row 2, state: 'gone' is not allowed" in in_drawer(app)
    assert not can_press(app, "Take 0 items")
    app = press(again(app), "Take nothing")
    assert "Take nothing" not in labels(again(app))


def test_choices_survive_another_tab_and_a_refused_file() -> None:
    app = hand_over(drawer(), "a.csv", b"Thing,kind\nmug,reagent\n")
    app = choose(app, "Item", "Thing")
    at(app, "Items")
    app = at(app, "Save")
    assert "Take 1 item" in labels(app)
    app = hand_over(app, "b.xlsx", b"PK")
    assert "b.xlsx: the workbook is damaged" in in_drawer(app)
    assert "Take 1 item" in labels(again(app))
    app = hand_over(app, "c.csv", f"{HEAD}cup,reagent,,,\npan,reagent,,,\n".encode())
    assert "Take 2 items" in labels(again(app)), "another file replaces the first"
