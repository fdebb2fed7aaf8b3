"""The levers of the Trade-offs page: a supposed lab, its link, its reset."""

from __future__ import annotations

from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.assessment import assess
from replicalab.planner import options_of
from replicalab.scenarios import load_scenario
from replicalab.text.tradeoffs import extra_text, supposed_text
from tests.factories import with_means
from tests.ui.reading import (
    PROTOCOL,
    go,
    press,
    query_of,
    run,
    said,
    visit,
    where,
)

TRADE_OFFS: Final = "pages/3_Trade-offs.py"


def opened(study: str, lab: str) -> AppTest:
    """Return the page on a study in a lab."""
    return visit(TRADE_OFFS, study=study, lab=lab)


def pull(app: AppTest, label: str, value: int) -> AppTest:
    """Move a lever and return the app."""
    next(slider for slider in app.slider if slider.label == label).set_value(value)
    return run(app)


def region_of(app: AppTest) -> str:
    return str(app.get("plotly_chart")[0].proto.spec)


def test_lever_moves_the_region_and_says_that_the_lab_is_supposed() -> None:
    app, pack = opened("fin_momentum", "medium"), load_scenario("fin_momentum", "medium")
    pull(app, "Budget, credits", 3600)
    supposed = with_means(pack, budget=3600)
    assert supposed_text(pack, supposed) in said(app)
    assert "What fits: up to 290 samples, 3 to 6 days" in region_of(app)
    for extra in options_of(assess(pack.reference_protocol, supposed)).extras:
        assert extra_text(extra) in said(app)
    assert query_of(app)["budget"] == "3600"


def test_other_pages_keep_the_real_lab() -> None:
    app = opened("fin_momentum", "medium")
    pull(app, "Budget, credits", 5000)
    pull(app, "Days", 9)
    assert where(app).endswith("· Not feasible")
    go(app, PROTOCOL)
    assert "3,850 / 2,600 credits" in said(app)
    go(app, TRADE_OFFS)
    assert "5,000 credits instead of 2,600, 9 days instead of 6" in said(app)


def test_reset_brings_the_real_lab_back_and_cleans_the_address() -> None:
    app = opened("fin_momentum", "medium")
    pull(app, "Days", 9)
    pull(app, "Staff units", 5)
    press(app, "Reset to the real lab")
    assert "A supposed lab" not in said(app)
    assert {slider.label: slider.value for slider in app.slider} == {
        "Budget, credits": 2600,
        "Days": 6,
        "Staff units": 4,
    }
    assert not {"budget", "days", "staff"} & set(query_of(app))


def test_lever_back_at_the_labs_own_value_is_no_supposing() -> None:
    app = opened("fin_momentum", "medium")
    pull(app, "Days", 9)
    pull(app, "Days", 6)
    assert "A supposed lab" not in said(app)
    assert "days" not in query_of(app)


def test_copied_link_opens_the_supposed_lab() -> None:
    app = opened("psy_stroop", "medium")
    pull(app, "Budget, credits", 1500)
    again = visit(TRADE_OFFS, **query_of(app))
    assert "A supposed lab: 1,500 credits instead of 1,000" in said(again)
    assert region_of(again) == region_of(app)


def test_levers_stay_when_a_point_is_loaded_and_undone() -> None:
    app = opened("fin_momentum", "medium")
    pull(app, "Days", 9)
    press(app, "Load this point into the editor")
    press(go(app, PROTOCOL), "Undo")
    assert "9 days instead of 6" in said(go(app, TRADE_OFFS))


@pytest.mark.parametrize("means", [{"budget": "1"}, {"budget": "999999999"}, {"days": "999999"}])
def test_extreme_levers_from_an_address_are_shown(means: dict[str, str]) -> None:
    assert "A supposed lab" in said(visit(TRADE_OFFS, **means))
