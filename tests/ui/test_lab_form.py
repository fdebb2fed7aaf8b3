"""Your lab: the drawer with the visitor's lab, on every page."""

from typing import Any, Final

from streamlit.testing.v1 import AppTest

from replicalab.library import EntryKind
from replicalab.limits import MOST_OWN_ITEMS
from replicalab.scenarios import LabOverrides, OwnItem, lab_json, read_lab
from replicalab.ui.lab.fields import row_key
from replicalab.ui.library.shelf import owner, shelf
from tests.ui.acting import choose, chosen, labels, press, pull, run, slider
from tests.ui.pages import PAGES, PROTOCOL, TRADE_OFFS
from tests.ui.reading import in_drawer, page_text, where
from tests.ui.visitors import Browsers
from tests.ui.walking import go, query_of, show, unopened, visit

TABS: Final = "lab_part"
TERMINAL: Final = "licensed-data terminal"
ANOTHER: Final = "Another item …"
BOOKED: Final = "The study’s: booked until day 10"


def drawer(tab: str = "Means", page: str = PROTOCOL, **query: str) -> AppTest:
    return at(unopened(page, **query), tab)


def number(app: AppTest, label: str) -> Any:
    return [entry for entry in app.number_input if entry.label == label][-1]


def fill(app: AppTest, label: str, value: float | None) -> AppTest:
    number(app, label).set_value(value)
    return again(app)


def again(app: AppTest) -> AppTest:
    app.session_state["lab_is_open"] = True
    return run(app)


def at(app: AppTest, tab: str) -> AppTest:
    app.session_state[TABS] = tab
    return again(app)


def item(label: str, app: AppTest | None = None) -> AppTest:
    app = at(app, "Items") if app else drawer("Items")
    app.selectbox(key="lab_item").set_value(label)
    return again(app)


def make_available(app: AppTest) -> AppTest:
    [box] = [box for box in app.selectbox if box.label == "Availability"]
    box.set_value("available")
    return again(app)


def hand_over(app: AppTest, own: LabOverrides) -> AppTest:
    app = at(app, "Save")
    app.file_uploader[0].set_value(("lab.json", lab_json(own).encode(), "text/csv"))
    app.session_state["lab_is_open"] = True
    return show(app, "Save", TABS)


def keep_as(app: AppTest, name: str) -> AppTest:
    at(app, "Save").text_input(key="lab_name").set_value(name)
    return press(at(app, "Save"), "Save this lab")


def mugs(number: int) -> LabOverrides:
    items = (OwnItem(label=f"mug {n}", category="reagent", price=3.0) for n in range(number))
    return LabOverrides(name="Ours", days=8, items=tuple(items))


def test_drawer_opens_on_every_page() -> None:
    app = visit()
    for page in PAGES:
        press(go(app, page), "Your lab")
        shown = [number(app, label).value for label in ("Budget, credits", "Days", "Start day")]
        assert shown == [3700, 6, 1]
        assert "Back to the study’s lab" not in labels(app)


def test_typed_numbers_are_the_labs_and_reset() -> None:
    app = fill(drawer(), "Days", 9)
    assert "8 / 9 days" in page_text(app)
    assert "medium lab, 1 change" in page_text(app)
    assert query_of(app)["days"] == "9"
    press(app, "Undo: change to the lab")
    assert "days" not in query_of(app)
    app = fill(fill(again(app), "Days", 9), "Staff units", 2)
    press(again(app), "The study’s: 6")
    assert {"days", "staff"} & set(query_of(app)) == {"staff"}
    app = fill(fill(again(app), "Days", 7), "Days", 6)
    assert "days" not in query_of(app), "the typed value is the study’s"
    press(again(app), "Back to the study’s lab")
    assert "staff" not in query_of(app)


def test_wrong_number_stays_and_is_not_taken() -> None:
    app = drawer()
    before = query_of(app)
    for tab, label, value, text, minimum in (
        ("Means", "Days", 0, "0, so the lab keeps 6", 1),
        ("Means", "Staff units", 10**9 + 1, "1,000,000,001, so the lab keeps 4", 1),
        ("Rates and staff", "A sample, credits", -0.5, "-0.50, so the lab keeps 10", 0),
    ):
        fill(at(app, tab), label, value)
        assert f"{label} cannot be {text}. Type {minimum} to 1,000,000,000." in in_drawer(app)
        assert number(app, label).value == value
        assert query_of(app) == before


def test_rates_and_staff_steps_are_the_labs() -> None:
    app = fill(drawer("Rates and staff"), "A day, credits", 20.5)
    app = fill(app, "Staff unit above … samples", 500)
    steps = "1 + 1 for more than 2 controls + 1 for more than 5 days = 3 of 4 staff units"
    assert steps in page_text(app)
    assert "8 × 20.5" in page_text(visit(PROTOCOL, **query_of(app)))


def test_drawer_and_levers_move_the_same_lab() -> None:
    app = fill(drawer(page=TRADE_OFFS), "Days", 9)
    assert slider(app, "Days").value == 9
    app.session_state["lab_is_open"] = True
    assert query_of(pull(app, "Days", 10))["days"] == "10"


def test_item_has_availability_booking_and_price() -> None:
    app = item(TERMINAL)
    for label, name in (("Price, credits", "Price"), ("Booked until day",) * 2):
        text = f"{name} cannot be -1, so the item keeps its value. Type 0 to 1,000,000,000."
        assert text in in_drawer(fill(app, label, -1))
        assert "own_lab" not in query_of(app)
    make_available(item(TERMINAL, app))
    assert "2 needed, 2 free" in page_text(app)
    row = f"{TERMINAL} available equipment · 100 credits · the study’s: booked until day 10"
    assert row in in_drawer(app)
    press(app, BOOKED)
    assert "2 needed, 1 free" in page_text(app)
    assert "own_lab" not in query_of(app)


def test_item_opens_by_its_row() -> None:
    app = drawer("Items")
    assert f"{TERMINAL} booked until day 10 equipment · 100 credits" in in_drawer(app)
    app.session_state[row_key(TERMINAL)] = True
    assert f"{TERMINAL} available equipment" in in_drawer(make_available(again(app)))
    assert app.selectbox(key="lab_item").value is None


def test_another_item_is_added_and_removed() -> None:
    app = item(ANOTHER)
    for name in ("", "  ", "another item …"):
        app.text_input(key="lab_another_name").set_value(name)
        app.session_state["lab_is_open"] = True
        press(app, "Add it")
        assert "It has no name yet. Type one of at most 300 characters." in in_drawer(app)
        assert "own_lab" not in query_of(app)
    item(ANOTHER, app)
    app.text_input(key="lab_another_name").set_value("  mug ")
    app.radio(key="lab_another_kind").set_value("reagent")
    app = at(press(app, "Add it"), "Items")
    assert "mug available material · " in in_drawer(app)
    assert app.selectbox(key="lab_item").value == "mug"
    press(app, "The study’s: not in this lab's inventory")
    assert "mug available" not in in_drawer(at(app, "Items"))


def test_items_of_the_plan_are_offered() -> None:
    app = visit(PROTOCOL)
    choose(app, "Equipment", *chosen(app, "Equipment"), "eye tracker")
    choose(app, "Materials and data", *chosen(app, "Materials and data"), "consent forms")
    for label, row in (("eye tracker", "equipment"), ("consent forms", "material")):
        item(label, app)
        assert f"{label} not in this lab's inventory {row} · " in in_drawer(app)
        assert f"{label} available {row} · " in in_drawer(make_available(app))
        app.session_state[row_key(label)] = False
    assert "not in this lab's inventory" not in page_text(app)


def test_full_list_of_items_takes_no_more() -> None:
    app = hand_over(drawer(), mugs(MOST_OWN_ITEMS))
    for label in (TERMINAL, ANOTHER):
        item(label, app)
        assert f"{MOST_OWN_ITEMS} items are yours already" in in_drawer(app)
        app.session_state[row_key(label)] = False
    press(item("mug 1", app), "The study’s: not in this lab's inventory")
    assert "items are yours already" not in in_drawer(item(ANOTHER, app))


def test_saved_lab_is_used_again_and_forgotten() -> None:
    app = keep_as(fill(drawer(), "Days", 9), "Ours")
    assert "Ours · in use" in in_drawer(at(app, "Save"))
    press(again(app), "Back to the study’s lab")
    assert "Momentum returns · medium lab" in page_text(app)
    press(at(app, "Save"), "Use")
    assert (query_of(app)["days"], query_of(app)["budget"]) == ("9", "3700")
    press(at(app, "Save"), "Forget")
    assert "Ours · in use" not in in_drawer(at(app, "Save"))
    assert query_of(app)["days"] == "9"


def test_lab_file_of_another_study_is_taken() -> None:
    app = hand_over(drawer(), mugs(1))
    assert "The lab of lab.json is in use." in in_drawer(app)
    assert "Momentum returns · Ours" in page_text(app)
    assert query_of(app)["days"] == "8"


def test_saved_lab_has_versions_and_one_owner(browsers: Browsers) -> None:
    app = keep_as(fill(drawer(), "Days", 9), "Ours")
    other = press(drawer("Save", study="psy_stroop"), "Use")
    assert "Ours" in where(go(other, TRADE_OFFS))
    fill(at(app, "Means"), "Days", 10)
    press(at(app, "Save"), "Save this lab")
    [entry] = shelf().entries(owner(), EntryKind.LAB)
    days = (read_lab(shelf().read(owner(), entry.id, n).content.encode()).days for n in (1, 2))
    assert list(days) == [9, 10]
    browsers.use()
    assert "Ours" not in in_drawer(drawer("Save"))
