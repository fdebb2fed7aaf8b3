"""A lab's calendar and money: their fields, and their place on every page."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Any, Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.negotiation.case import Case, on_the_shelf
from replicalab.scenarios import Difficulty, LabOverrides, load_scenario
from replicalab.scenarios.writing import study_yaml
from replicalab.ui import study
from replicalab.ui.stories import stories
from replicalab.ui.workspace import Workspace, from_query, to_query
from tests.ui.acting import press, run
from tests.ui.pages import NEGOTIATION, PAGES, PROTOCOL, SCENARIOS, STUDY, TRADE_OFFS
from tests.ui.reading import in_drawer, page_text
from tests.ui.test_hostile_text import sent
from tests.ui.test_lab_form import again, at, drawer, fill, keep_as, number
from tests.ui.test_own_study import using
from tests.ui.walking import go, query_of, show, visit

OWN: Final = LabOverrides(
    currency="EUR",
    start_date=date(2026, 12, 7),
    weekends=False,
    start_day=3,
    rates={"per_staff_day": 40.0, "overhead_percent": 15.0},
)
# What names the study's own currency next to one's own.
_ITS_OWN: Final = ("EUR instead of credits", "The study’s: credits")


def query(own: LabOverrides = OWN, **more: Any) -> dict[str, str]:
    case = Case(study="fin_momentum", lab=Difficulty.MEDIUM, own_lab=own)
    return to_query(Workspace(case=case, **more))


def unfolded(**asked: str) -> AppTest:
    return unfolded_again(drawer("Means", **asked))


def unfolded_again(app: AppTest) -> AppTest:
    app.session_state["lab_calendar"] = True
    return again(app)


def own_lab(app: AppTest) -> LabOverrides:
    query = {key: text for key, text in query_of(app).items() if key not in ("v", "own", "study")}
    return from_query(query, on_the_shelf).workspace.case.own_lab


def test_calendar_and_money_are_set_and_reset() -> None:
    app = unfolded()
    app.date_input[0].set_value(date(2026, 12, 5))
    app.toggle[-1].set_value(False)
    app = again(app)
    app.text_input[-1].set_value("EUR")
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
    assert "From day 1 (Mon 7 Dec 2026) to day 6 (Mon 14 Dec 2026)" in in_drawer(app)
    press(app, "The study’s: credits")
    press(unfolded_again(app), "The study’s: no date")
    overrides = own_lab(app)
    assert (overrides.currency, overrides.start_date, overrides.weekends) == (None, None, False)
    assert "7,279.50 / 3,700 credits" in page_text(again(app))


@pytest.mark.parametrize("typed", ["US$", "euros and cents", "<b>"])
def test_wrong_currency_stays_and_is_not_taken(typed: str) -> None:
    app = unfolded()
    before = query_of(app)
    app.text_input[-1].set_value(typed)
    again(app)
    assert "is no currency, so the lab keeps credits. Type 1 to 8 letters" in in_drawer(app)
    assert (app.text_input[-1].value, query_of(app)) == (typed, before)


@pytest.mark.parametrize(
    ("label", "value", "bounds"),
    [
        ("A staff unit a day, credits", -1.0, "0 to 1,000,000,000"),
        ("Overhead, %", 1000.5, "0 to 1,000"),
    ],
)
def test_wrong_price_stays_and_is_not_taken(label: str, value: float, bounds: str) -> None:
    app = unfolded()
    before = query_of(app)
    fill(app, label, value)
    assert f"so the lab keeps 0. Type {bounds}." in in_drawer(app)
    assert (number(app, label).value, query_of(app)) == (value, before)


def _walked() -> Iterator[tuple[str, AppTest]]:
    for page in PAGES:
        yield page, visit(page, **query())
    app = visit(STUDY, **query())
    for part in study.PARTS:
        yield part, show(app, part, study.TABS)
    app = visit(TRADE_OFFS, **query())
    app.radio(key="picture").set_value("Evidence for credits")
    app.session_state["as_table"] = True
    yield "the frontier", run(app)
    yield "the survey", visit(SCENARIOS, **query(survey=True))
    yield "a challenge", visit(PROTOCOL, **query(challenge=True))
    for number_shown in range(4):
        yield f"slide {number_shown}", visit(NEGOTIATION, **query(presenting=number_shown))
    for part in ("Means", "Items", "Rates and staff"):
        app = visit(PROTOCOL, **query())
        app.session_state["lab_is_open"] = True
        app.session_state["lab_part"] = part
        app.session_state["lab_calendar"] = True
        yield f"the drawer's {part}", run(app)


def test_every_page_has_currency_and_dates() -> None:
    elsewhere = [*_ITS_OWN, *(t for story in stories() for t in (story.title, story.line))]
    counted = dated = 0
    for place, app in _walked():
        for kind, field, text in sent(app):
            visible = text.replace("\\", "")
            bare = re.sub("|".join(map(re.escape, elsewhere)), "", visible)
            assert not re.search(r"\bcredits?\b", bare, re.IGNORECASE), (place, kind, field, text)
            counted += "EUR" in text
            plain = re.sub(r"<[^>]+>", "", visible)
            for day in re.findall(r"(?:until|from|From|on|to) day \d+(.{0,10})", plain):
                weekdays = (" (Mon ", " (Tue ", " (Wed ", " (Thu ", " (Fri ")
                assert day.startswith(weekdays), (place, kind, field, text)
                dated += 1
    assert (counted > 40, dated > 10) == (True, True)


def test_saved_lab_has_the_currency_of_its_study() -> None:
    written = load_scenario("fin_momentum").study
    medium = written.labs.medium.model_copy(update={"currency": "EUR"})
    labs = written.labs.model_copy(update={"medium": medium})
    mine = written.model_copy(update={"scenario_id": "mine", "labs": labs})
    app = at(again(press(go(using(study_yaml(mine)), PROTOCOL), "Your lab")), "Save")
    keep_as(app, "Ours")
    overrides = own_lab(app)
    assert (overrides.name, overrides.budget, overrides.currency) == ("Ours", 3700, "EUR")
