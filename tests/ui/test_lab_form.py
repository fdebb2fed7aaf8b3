"""Your lab: the drawer that says what differs from the study's lab, on every page."""

from typing import Any, Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.library import EntryKind, Library
from replicalab.scenarios import LabOverrides, OwnItem, lab_json, load_scenario, read_lab
from replicalab.scenarios.writing import study_yaml
from replicalab.ui.lab.items import row_key
from replicalab.ui.library.shelf import owner, shelf
from tests.ui.acting import choose, chosen, labels, press, pull, run, slider
from tests.ui.pages import PAGES, PROTOCOL, TRADE_OFFS
from tests.ui.reading import in_drawer, said, where
from tests.ui.test_own_study import using
from tests.ui.visitors import Browsers, full_disk
from tests.ui.walking import go, query_of, show, unopened, visit

TABS: Final = "lab_part"
MUG: Final[dict[str, Any]] = {"category": "reagent", "price": 3.0}
TERMINAL: Final = "licensed-data terminal"
TAKEN_BACK: Final = "equipment · 100 credits · the study’s: booked until day 10"


def drawer(tab: str = "Means", page: str = PROTOCOL, **query: str) -> AppTest:
    """Return a page with the drawer open at a part."""
    return at(unopened(page, **query), tab)


def number(app: AppTest, label: str) -> Any:
    """Return the drawer's number of that label: the last one on the page."""
    return [entry for entry in app.number_input if entry.label == label][-1]


def fill(app: AppTest, label: str, value: float | None) -> AppTest:
    """Type a number into the drawer, which stays open."""
    number(app, label).set_value(value)
    return again(app)


def again(app: AppTest) -> AppTest:
    """Run the page with the drawer open; the harness knows no fragment's run."""
    app.session_state["lab_is_open"] = True
    return run(app)


def at(app: AppTest, tab: str) -> AppTest:
    """Look at a part of the drawer."""
    app.session_state[TABS] = tab
    return again(app)


def test_drawer_opens_from_every_page_with_what_the_lab_has() -> None:
    app = visit()
    for page in PAGES:
        press(go(app, page), "Your lab")
        result = [number(app, label).value for label in ("Budget, credits", "Days", "Start day")]
        assert result == [3700, 6, 1]
        assert "Back to the study’s lab" not in labels(app)


def test_number_that_is_typed_is_the_labs_and_taken_back_one_by_one_and_all_at_once() -> None:
    app = fill(drawer(), "Days", 9)
    assert "8 / 9 days" in said(app)
    assert "medium lab, 1 change" in said(app)
    assert query_of(app)["days"] == "9"
    press(app, "Undo: change to the lab")
    assert "days" not in query_of(app)
    app = fill(fill(again(app), "Days", 9), "Staff units", 2)
    press(again(app), "The study’s: 6")
    assert {"days", "staff"} & set(query_of(app)) == {"staff"}
    app = fill(fill(again(app), "Days", 7), "Days", 6)
    assert "days" not in query_of(app), "what is typed is the study’s again"
    press(again(app), "Back to the study’s lab")
    assert "staff" not in query_of(app)


def test_number_that_cannot_be_is_said_stays_and_is_not_taken() -> None:
    app = drawer()
    before = query_of(app)
    for tab, label, value, text, minimum in (
        ("Means", "Days", -5, "-5, so the lab keeps 6", 1),
        ("Means", "Days", 0, "0, so the lab keeps 6", 1),
        ("Means", "Staff units", 10**9 + 1, "1,000,000,001, so the lab keeps 4", 1),
        ("Rates and staff", "A sample, credits", -0.5, "-0.50, so the lab keeps 10", 0),
    ):
        fill(at(app, tab), label, value)
        assert f"{label} cannot be {text}. Type {minimum} to 1,000,000,000." in in_drawer(app)
        assert number(app, label).value == value
        assert query_of(app) == before


@pytest.mark.parametrize(("written", "shown"), [(3700.5, 3700), (0.5, 1)])
def test_budget_that_is_not_whole_is_told_and_typed_whole(written: float, shown: int) -> None:
    study = load_scenario("fin_momentum").study
    labs = study.labs.model_copy(update={"medium": study.labs.medium.with_means(budget=written)})
    mine = study.model_copy(update={"scenario_id": "mine", "labs": labs})
    app = again(press(go(using(study_yaml(mine)), PROTOCOL), "Your lab"))
    assert number(app, "Budget, credits").value == shown
    assert f"The study’s: {written:,.2f}" in in_drawer(app)
    assert "cannot be" not in in_drawer(app)
    assert "budget" not in query_of(app)
    assert query_of(fill(app, "Budget, credits", 2700))["budget"] == "2700"
    assert query_of(fill(app, "Budget, credits", shown))["budget"] == str(shown)
    assert f"The study’s: {written:,.2f}" in labels(app)


def test_rates_and_staff_steps_are_the_labs_own() -> None:
    app = fill(drawer("Rates and staff"), "A day, credits", 20.5)
    app = fill(app, "Staff unit above … samples", 500)
    assert "8 × 20.5" in said(app)
    assert "1 + 1 for more than 2 controls + 1 for more than 5 days = 3 of 4 staff units" in said(
        app
    )
    again_opened = visit(PROTOCOL, **query_of(app))
    assert "8 × 20.5" in said(again_opened)


def item(label: str, app: AppTest | None = None) -> AppTest:
    """Return the drawer with an item chosen."""
    app = at(app, "Items") if app else drawer("Items")
    app.selectbox(key="lab_item").set_value(label)
    return again(app)


def test_item_is_where_it_is_said_to_stand_and_taken_back_and_its_numbers_are_within_bounds() -> (
    None
):
    app = item(TERMINAL)
    for label, name in (("Price, credits", "Price"), ("Booked until day", "Booked until day")):
        text = f"{name} cannot be -1, so the item keeps its value. Type 0 to 1,000,000,000."
        assert text in in_drawer(fill(app, label, -1))
        assert "own_lab" not in query_of(app)
    item(TERMINAL, app)
    standing = next(selectbox for selectbox in app.selectbox if selectbox.label == "Availability")
    standing.set_value("available")
    again(app)
    assert "2 needed, 2 free" in said(app)
    assert (
        f"{TERMINAL} available equipment · 100 credits · the study’s: booked until day 10"
        in in_drawer(app)
    )
    press(app, "The study’s: booked until day 10")
    assert "2 needed, 1 free" in said(app)
    assert "own_lab" not in query_of(app)


def test_item_that_the_study_lacks_is_added_by_its_name_and_forgotten() -> None:
    app = item("Another item …")
    for name in ("", "  ", "another item …"):
        app.text_input(key="lab_another_name").set_value(name)
        app.session_state["lab_is_open"] = True
        press(app, "Add it")
        assert "It has no name yet. Type one of at most 300 characters." in in_drawer(app)
        assert "own_lab" not in query_of(app)
    item("Another item …", app)
    app.text_input(key="lab_another_name").set_value("  mug ")
    app.radio(key="lab_another_kind").set_value("reagent")
    press(app, "Add it")
    app = at(app, "Items")
    assert "mug available material · " in in_drawer(app)
    assert app.selectbox(key="lab_item").value == "mug"
    press(app, "The study’s: not in this lab's inventory")
    assert "mug available" not in in_drawer(at(app, "Items"))


def fields_of(app: AppTest) -> set[str]:
    """Return the labels of the choices and the texts on the page and in the drawer."""
    return {entry.label for entry in [*app.selectbox, *app.text_input]}


def test_row_of_an_item_opens_on_a_click_for_what_may_be_stated_of_it() -> None:
    app = drawer("Items")
    assert f"{TERMINAL} booked until day 10 equipment · 100 credits" in in_drawer(app)
    assert "Availability" not in fields_of(app)
    app.session_state[row_key(TERMINAL)] = True
    again(app)
    next(selectbox for selectbox in app.selectbox if selectbox.label == "Availability").set_value(
        "available"
    )
    again(app)
    assert (
        f"{TERMINAL} available equipment · 100 credits · the study’s: booked until day 10"
        in in_drawer(app)
    )
    assert app.selectbox(key="lab_item").value is None


def test_item_that_the_plan_names_is_offered_and_need_not_be_typed_again() -> None:
    app = visit(PROTOCOL)
    names = chosen(app, "Equipment")
    choose(app, "Equipment", *names, "eye tracker")
    choose(app, "Materials and data", *chosen(app, "Materials and data"), "consent forms")
    assert "not in this lab's inventory" in said(app)
    for label, row in (("eye tracker", "equipment"), ("consent forms", "material")):
        item(label, app)
        assert f"{label} not in this lab's inventory {row} · " in in_drawer(app)
        field = next(selectbox for selectbox in app.selectbox if selectbox.label == "Availability")
        field.set_value("available")
        again(app)
        assert f"{label} available {row} · " in in_drawer(app)
        app.session_state[row_key(label)] = False
    assert "not in this lab's inventory" not in said(app)


def test_items_beyond_the_rows_are_picked_by_name() -> None:
    overrides = LabOverrides(items=tuple(OwnItem(label=f"mug {n}", **MUG) for n in range(60)))
    app = hand_over(drawer(), "lab.json", lab_json(overrides))
    text = in_drawer(at(app, "Items"))
    assert "27 more: pick them by name above." in text
    assert "mug 59" not in text
    assert "mug 59 available material · 3 credits" in in_drawer(item("mug 59", app))


def test_item_beyond_the_most_is_told_and_one_of_them_can_be_taken_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("replicalab.ui.lab.items.MOST_OWN_ITEMS", 2)
    overrides = LabOverrides(items=tuple(OwnItem(label=f"mug {n}", **MUG) for n in range(2)))
    app = hand_over(drawer(), "lab.json", lab_json(overrides))
    for label in (TERMINAL, "Another item …"):
        item(label, app)
        assert "200 items are yours already" in in_drawer(app)
        assert not {"Availability", "Its name"} & fields_of(app)
        app.session_state[row_key(label)] = False
    press(item("mug 1", app), "The study’s: not in this lab's inventory")
    assert "200 items are yours already" not in in_drawer(item(label, app))


def test_lab_that_is_kept_goes_along_to_another_study_and_is_used_again() -> None:
    app = at(fill(drawer(), "Days", 9), "Save")
    app.text_input(key="lab_name").set_value("Ours")
    press(at(app, "Save"), "Save this lab")
    assert "Ours · in use" in in_drawer(at(app, "Save"))
    assert "Momentum returns · Ours" in said(app)
    press(again(app), "Back to the study’s lab")
    assert "Momentum returns · medium lab" in said(app)
    press(at(app, "Save"), "Use")
    assert query_of(app)["days"] == "9"
    assert query_of(app)["budget"] == "3700"
    press(at(app, "Save"), "Forget")
    assert "Ours · in use" not in in_drawer(at(app, "Save"))
    assert query_of(app)["days"] == "9"


def test_drawer_and_levers_move_the_same_lab() -> None:
    app = fill(drawer(page=TRADE_OFFS), "Days", 9)
    assert slider(app, "Days").value == 9
    app.session_state["lab_is_open"] = True
    assert number(pull(app, "Days", 10), "Days").value in (9, 10)
    assert query_of(app)["days"] == "10"


def hand_over(app: AppTest, name: str, data: str) -> AppTest:
    """Hand a file over in the drawer."""
    app = at(app, "Save")
    app.file_uploader[0].set_value((name, data.encode(), "text/csv"))
    app.session_state["lab_is_open"] = True
    return show(app, "Save", TABS)


def test_lab_file_of_another_study_is_taken() -> None:
    overrides = LabOverrides(name="Ours", days=8, items=(OwnItem(label="mug", **MUG),))
    app = hand_over(drawer(), "lab.json", lab_json(overrides))
    assert "The lab of lab.json is in use." in in_drawer(app)
    assert "Momentum returns · Ours" in said(app)
    assert query_of(app)["days"] == "8"
    assert "Ours says nothing of " in in_drawer(at(app, "Items"))


# --- in the library ---------------------------------------------------------------------------


def keep_as(app: AppTest, name: str) -> AppTest:
    """Keep the lab under a name."""
    next(field for field in app.text_input if field.label == "Name of this lab").set_value(name)
    return press(at(app, "Save"), "Save this lab")


def test_lab_that_was_kept_is_there_in_another_tab_and_its_changes_are_versions(
    browsers: Browsers,
) -> None:
    app = keep_as(at(fill(drawer(), "Days", 9), "Save"), "Ours")
    other = drawer("Save", study="psy_stroop")
    assert "Ours" in in_drawer(other)
    press(at(other, "Save"), "Use")
    assert "Ours" in where(go(other, TRADE_OFFS))
    fill(at(app, "Means"), "Days", 10)
    press(at(app, "Save"), "Save this lab")
    whose = owner()
    [entry] = shelf().entries(whose, EntryKind.LAB)
    days = (read_lab(shelf().read(whose, entry.id, n).content.encode()).days for n in (1, 2))
    assert list(days) == [9, 10]
    browsers.use()
    assert "Ours" not in in_drawer(drawer("Save"))


@pytest.mark.usefixtures("browsers")
def test_drawer_says_why_a_lab_cannot_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    app = drawer("Save")
    monkeypatch.setattr(Library, "keep", full_disk)
    assert "the disk is full" in in_drawer(at(keep_as(app, "Ours"), "Save"))
    assert shelf().entries(owner()) == []
