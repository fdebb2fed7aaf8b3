"""Every combination on Protocol: closed it costs nothing, open it is what the core finds."""

from __future__ import annotations

from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.assessment import assess
from replicalab.models import revise
from replicalab.planner import Aim, Goal, MeansPrices, PlanAnalysis
from replicalab.scenarios import load_scenario
from replicalab.ui.cards import reference_options
from replicalab.ui.protocol.combinations import PLACE
from replicalab.views.combinations import combinations_panel
from tests.ui.acting import number, pick, run, type_number
from tests.ui.pages import PROTOCOL, TRADE_OFFS
from tests.ui.reading import alerts, heard, said
from tests.ui.walking import go, visit
from tests.views.reading import tree

STUDY: Final = "eco_reef_fish"
OPTIONS: Final = reference_options(load_scenario(STUDY, "hard"))
DAY, ITEM, PEOPLE = "a day", "an item released or restocked", "a staff unit"


def opened() -> AppTest:
    """Return Protocol of a study in its hard lab, with the place open."""
    app = visit(PROTOCOL, study=STUDY, lab="hard")
    app.session_state[PLACE] = True
    return run(app)


def told(goal: Goal, **prices: float) -> str:
    return heard(tree(combinations_panel(OPTIONS, Aim(goal, MeansPrices(**prices)))))


def test_closed_place_searches_nothing_and_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        pytest.fail("searched for what nobody sees")

    monkeypatch.setattr("replicalab.planner.options.combinations_of", never)
    app = type_number(visit(PROTOCOL, study=STUDY, lab="hard"), "Sample size", 100)
    assert not [field for field in app.number_input if field.label.startswith("Price")]
    assert "What is to be reached" not in [field.label for field in app.radio]


def test_open_place_tells_what_reaches_the_goal_that_is_chosen() -> None:
    app = opened()
    for goal in (Goal.TARGET, Goal.FLOOR, Goal.PLAN):
        pick(app, "What is to be reached", goal)
        assert told(goal) in said(app)
    pick(app, "What is to be reached", Goal.FLOOR)
    type_number(app, "Sample size", 60)
    smaller = PlanAnalysis(assess(revise(OPTIONS.yours.plan, sample_size=60), OPTIONS.yours.pack))
    assert heard(tree(combinations_panel(smaller, Aim(Goal.FLOOR)))) in said(app)
    back = go(go(app, TRADE_OFFS), PROTOCOL)
    back.session_state[PLACE] = True
    assert heard(tree(combinations_panel(smaller, Aim(Goal.FLOOR)))) in said(run(back))


def test_combinations_are_ranked_by_the_prices_that_are_typed() -> None:
    app = pick(opened(), "What is to be reached", Goal.FLOOR)
    before = said(app)
    for what, price in ((DAY, 20), (PEOPLE, 100), (ITEM, 0)):
        type_number(app, f"Price of {what}", price)
    assert told(Goal.FLOOR, day=20.0, staff=100.0, item=0.0) in said(app)
    for what in (DAY, PEOPLE, ITEM):
        number(app, f"Price of {what}").set_value(None)
    assert said(run(app)) == before


@pytest.mark.parametrize(("price", "shown"), [(-1, "-1"), (1e10, "10,000,000,000")])
def test_price_that_cannot_be_is_named_and_the_others_stand(price: float, shown: str) -> None:
    app = pick(opened(), "What is to be reached", Goal.FLOOR)
    type_number(app, f"Price of {DAY}", 20)
    number(app, f"Price of {ITEM}").set_value(price)
    [(_, alert)] = alerts(run(app))
    assert f"Price of {ITEM} cannot be {shown}, so it is not weighed." in alert
    assert "Type 0 to 1,000,000,000." in alert
    assert told(Goal.FLOOR, day=20.0) in said(app)
