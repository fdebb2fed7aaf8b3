"""Your lab: the drawer with its items, calendar and money, on every page."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Any, Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab import scenarios
from replicalab.library import EntryKind
from replicalab.negotiation.case import Case
from replicalab.scenarios.writing import study_yaml
from replicalab.ui import study_page
from replicalab.ui.library_page.shelf import owner, shelf
from replicalab.ui.workspace import Workspace, stories, to_query
from tests.ui.acting import choose, chosen, labels, press, run
from tests.ui.pages import NEGOTIATION, PAGES, PROTOCOL, SCENARIOS, STUDY, TRADE_OFFS
from tests.ui.reading import in_drawer, page_text, where
from tests.ui.test_hostile_text import sent
from tests.ui.test_own_study import using
from tests.ui.visitors import Browsers
from tests.ui.walking import go, query_of, show, unopened, visit

TABS: Final = "lab_part"
TERMINAL: Final = "licensed-data terminal"
ANOTHER: Final = "Another item …"
BOOKED: Final = "Reset to booked until day 10"


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
    app = at(app or unopened(PROTOCOL), "Items")
    app.selectbox(key="lab_item").set_value(label)
    return again(app)


def make_available(app: AppTest) -> AppTest:
    [box] = [box for box in app.selectbox if box.label == "Availability"]
    box.set_value("available")
    return again(app)


def keep_as(app: AppTest, name: str) -> AppTest:
    at(app, "Save").text_input(key="lab_name").set_value(name)
    return press(at(app, "Save"), "Save this lab")


def test_drawer_opens_on_every_page() -> None:
    app = visit()
    for page in PAGES:
        press(go(app, page), "Your lab")
        values = [number(app, label).value for label in ("Budget, credits", "Days", "Start day")]
        assert values == [3700, 6, 1]
        assert "Use the study’s lab" not in labels(app)


def test_typed_numbers_are_the_labs_and_reset() -> None:
    app = fill(drawer(), "Days", 9)
    assert "8 / 9 days" in page_text(app)
    assert "medium lab, 1 change" in page_text(app)
    assert "days" not in query_of(press(app, "Undo: change to the lab"))
    app = fill(fill(again(app), "Days", 9), "Staff units", 2)
    press(again(app), "Reset to 6")
    assert {"days", "staff"} & set(query_of(app)) == {"staff"}
    app = fill(fill(again(app), "Days", 7), "Days", 6)
    assert "days" not in query_of(app), "the typed value is the study’s"
    press(again(app), "Use the study’s lab")
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


def test_item_has_availability_booking_and_price() -> None:
    app = fill(item(TERMINAL), "Price, credits", -1)
    text = "Price cannot be -1, so the item keeps its value. Type 0 to 1,000,000,000."
    assert text in in_drawer(app)
    assert "own_lab" not in query_of(app)
    make_available(item(TERMINAL, app))
    assert "2 needed, 2 free" in page_text(app)
    row = f"{TERMINAL} available equipment · 100 credits · the study’s: booked until day 10"
    assert row in in_drawer(app)
    press(app, BOOKED)
    assert "2 needed, 1 free" in page_text(app)


def name_another(app: AppTest, name: str) -> AppTest:
    item(ANOTHER, app).text_input(key="lab_another_name").set_value(name)
    app.radio(key="lab_another_kind").set_value("reagent")
    app.session_state["lab_is_open"] = True
    return press(app, "Add it")


def test_another_item_is_added_and_removed() -> None:
    app = name_another(visit(PROTOCOL), "another item …")
    assert "It has no name yet. Type one of at most 300 characters." in in_drawer(app)
    app = at(name_another(app, "  mug "), "Items")
    assert "mug available material · " in in_drawer(app)
    press(app, "Reset to not in this lab's inventory")
    assert "mug available" not in in_drawer(at(app, "Items"))


def test_items_of_the_plan_are_offered() -> None:
    app = visit(PROTOCOL)
    choose(app, "Equipment", *chosen(app, "Equipment"), "eye tracker")
    item("eye tracker", app)
    assert "eye tracker not in this lab's inventory equipment · " in in_drawer(app)
    assert "eye tracker available equipment · " in in_drawer(make_available(app))
    assert "not in this lab's inventory" not in page_text(app)


def test_lab_file_of_another_study_is_taken() -> None:
    mug = scenarios.OwnItem(label="mug", category="reagent", price=3.0)
    lab = scenarios.lab_json(scenarios.LabOverrides(name="Ours", days=8, items=(mug,)))
    app = drawer("Save")
    app.file_uploader[0].set_value(("lab.json", lab.encode(), "text/csv"))
    assert "The lab of lab.json is in use." in in_drawer(at(app, "Save"))
    assert "Momentum returns · Ours" in page_text(app)
    assert query_of(app)["days"] == "8"


def test_saved_lab_is_used_changed_and_forgotten(browsers: Browsers) -> None:
    app = keep_as(fill(drawer(), "Days", 9), "Ours")
    assert "Ours · in use" in in_drawer(at(app, "Save"))
    other = press(drawer("Save", study="psy_stroop"), "Use")
    assert "Ours" in where(other)
    assert (query_of(other)["days"], query_of(other)["budget"]) == ("9", "3700")
    keep_as(fill(at(app, "Means"), "Days", 10), "Ours")
    [entry] = shelf().entries(owner(), EntryKind.LAB)
    assert entry.version == 2
    press(at(app, "Save"), "Forget")
    assert "Ours · in use" not in in_drawer(at(app, "Save"))
    assert query_of(app)["days"] == "10"
    keep_as(app, "Theirs")
    browsers.use()
    assert "Theirs" not in in_drawer(drawer("Save"))


OWN: Final = scenarios.LabOverrides(
    currency="EUR",
    start_date=date(2026, 12, 7),
    weekends=False,
    start_day=3,
    rates={"per_staff_day": 40.0, "overhead_percent": 15.0},
)


def query(own: scenarios.LabOverrides = OWN, **more: Any) -> dict[str, str]:
    case = Case(study="fin_momentum", lab=scenarios.Difficulty.MEDIUM, own_lab=own)
    return to_query(Workspace(case=case, **more))


def unfolded(app: AppTest) -> AppTest:
    app.session_state["lab_calendar"] = True
    return again(app)


def own_lab(app: AppTest) -> scenarios.LabOverrides:
    overrides: scenarios.LabOverrides = app.session_state["state"].workspace.case.own_lab
    return overrides


def test_calendar_and_money_are_set_and_reset() -> None:
    app = unfolded(drawer())
    app.date_input[0].set_value(date(2026, 12, 5))
    app.toggle[-1].set_value(False)
    again(app).text_input[-1].set_value("EUR")
    app = fill(fill(again(app), "A staff unit a day, EUR", 40.0), "Overhead, %", 15.0)
    overrides = own_lab(app)
    assert (overrides.currency, overrides.start_date, overrides.weekends) == (
        "EUR",
        date(2026, 12, 5),
        False,
    )
    assert overrides.rates == {"per_staff_day": 40.0, "overhead_percent": 15.0}
    # 5,050 as written; 4 people for 8 days at 40 are 1,280 more, and 15 % on 6,330 are 949.50.
    assert "7,279.50 / 3,700 EUR" in page_text(app)
    assert "8 / 6 days (to Wed 16 Dec 2026)" in page_text(app)
    press(app, "Reset to credits")
    press(unfolded(app), "Reset to no date")
    overrides = own_lab(app)
    assert (overrides.currency, overrides.start_date, overrides.weekends) == (None, None, False)


@pytest.mark.parametrize("typed", ["US$", "euros and cents", "<b>"])
def test_wrong_currency_stays_and_is_not_taken(typed: str) -> None:
    app = unfolded(drawer())
    before = query_of(app)
    app.text_input[-1].set_value(typed)
    assert "is no currency, so the lab keeps credits. Type 1 to 8 letters" in in_drawer(again(app))
    assert (app.text_input[-1].value, query_of(app)) == (typed, before)


def _walked() -> Iterator[tuple[str, AppTest]]:
    for page in PAGES:
        yield page, visit(page, **query())
    app = visit(STUDY, **query())
    for part in study_page.PARTS:
        yield part, show(app, part, study_page.TABS)
    app = visit(TRADE_OFFS, **query())
    app.radio(key="picture").set_value("frontier")
    app.session_state["as_table"] = True
    yield "the frontier", run(app)
    yield "the survey", visit(SCENARIOS, **query(survey=True))
    yield "a challenge", visit(PROTOCOL, **query(challenge=True))
    for number_shown in range(4):
        yield f"slide {number_shown}", visit(NEGOTIATION, **query(presenting=number_shown))
    for part in ("Means", "Items", "Rates and staff"):
        yield f"the drawer's {part}", unfolded(drawer(part, **query()))


@pytest.mark.long
def test_every_page_has_currency_and_dates() -> None:
    elsewhere = ["EUR instead of credits", "Reset to credits"]
    elsewhere += [text for story in stories() for text in (story.title, story.line)]
    counted = dated = 0
    for place, app in _walked():
        for kind, field, text in sent(app):
            visible = text.replace("\\", "")
            bare = re.sub("|".join(map(re.escape, elsewhere)), "", visible)
            assert not re.search(r"\bcredits?\b", bare, re.IGNORECASE), (place, kind, field, text)
            counted += "EUR" in text
            plain = re.sub(r"<[^>]+>", "", visible)
            for day in re.findall(r"(?:until|from|From|on|to) day \d+(.{0,10})", plain):
                assert re.match(r" \((Mon|Tue|Wed|Thu|Fri) ", day), (place, kind, field, text)
                dated += 1
    assert (counted > 40, dated > 10) == (True, True)


def test_saved_lab_has_the_currency_of_its_study() -> None:
    written = scenarios.load_scenario("fin_momentum").study
    medium = written.labs.medium.model_copy(update={"currency": "EUR"})
    labs = written.labs.model_copy(update={"medium": medium})
    mine = written.model_copy(update={"scenario_id": "mine", "labs": labs})
    overrides = own_lab(keep_as(go(using(study_yaml(mine)), PROTOCOL), "Ours"))
    assert (overrides.name, overrides.budget, overrides.currency) == ("Ours", 3700, "EUR")
