"""The Trade-offs page: region, frontier, points, loading, sliders."""

import re
from typing import Final

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element

from replicalab.assessment import assess
from replicalab.facts.frontier_facts import extra_facts, standing_verdict
from replicalab.facts.region_facts import point_facts
from replicalab.planner import PlanAnalysis, plan_to_draw
from replicalab.scenarios import load_scenario
from replicalab.ui.study_page import reference_options
from tests.factories import with_means
from tests.golden import assert_golden, new_lines
from tests.ui.acting import can_press, number, pick, press, pull, run, type_number, undo
from tests.ui.pages import PROTOCOL, TRADE_OFFS
from tests.ui.reading import page_text, panel_tables, where
from tests.ui.walking import go, query_of, unfolded, visit

LOADED: Final = "Loaded. 420 → 261 months, 8 → 5 days, other equipment."
FRONTIER: Final = "frontier"
FITS: Final = "Feasible, all analysed: up to"


def opened(study: str = "fin_momentum", lab: str = "medium") -> AppTest:
    return visit(TRADE_OFFS, study=study, lab=lab)


def options_for(study: str = "fin_momentum", lab: str = "medium") -> PlanAnalysis:
    return reference_options(load_scenario(study, lab))


def point_at(days: int, samples: int) -> AppTest:
    return type_number(type_number(opened(), "Point: days", days), "Point: samples", samples)


def charts(app: AppTest) -> list[str]:
    return [chart.proto.spec for chart in app.get("plotly_chart")]


def frontier(app: AppTest) -> AppTest:
    return pick(app, "Show", FRONTIER)


def table_of(app: AppTest, first: str) -> list[list[str]]:
    return next(table for table in panel_tables(app) if table[0][0] == first)


def test_first_visit_shows_one_chart() -> None:
    app = opened()
    [chart] = charts(app)
    assert f"{FITS} 300 months, 3 to 6 days" in chart
    region = page_text(unfolded(app))
    [chart] = charts(frontier(app))
    assert "Evidence for credits: better plans" in chart
    texts = {"region": region, "frontier": page_text(app)}
    assert_golden("pages/tradeoffs", new_lines(texts))


def test_chart_is_redrawn_for_its_layers_only() -> None:
    app = opened()
    before = charts(app)
    spots = [point_at_cross(type_number(app, "Point: samples", n)) for n in (100, 110)]
    assert charts(app) == before
    assert None not in spots
    assert spots[0] != spots[1]
    assert point_at_cross(type_number(app, "Point: samples", 5000)) is None
    for is_drawn in (True, False):
        switch(app, "Samples that cannot count")
        assert ("60 months a day" in charts(app)[0]) is is_drawn
    pick(app, "Effect assumed", "halved (0.0885)")
    assert "Effect: halved (0.0885) | 0.39" in page_text(app)


def test_region_of_other_items_says_so() -> None:
    app, options = opened("eco_reef_fish"), options_for("eco_reef_fish")
    yours = options.yours
    plan = plan_to_draw(options).at(yours.counts.days, yours.counts.samples)
    assert f">your plan* {yours.evidence.number}</span>" in over_chart(app)
    assert f"Your plan, items in the chart | {plan.evidence.text}" in page_text(app)
    assert "no 'side-swap of currents'" in page_text(app)
    switch(app, "The least-loss plan’s items")
    assert number(app, "Point: samples").value == options.least.plan.sample_size
    press(app, "Load this point")
    assert where(app).endswith("· Feasible, misses the target, lacks a control")


def point_at_cross(app: AppTest) -> str | None:
    match = re.search(r"<b .*?✕</b>", over_chart(app))
    return match and match[0]


def over_chart(app: AppTest) -> str:
    panels = (str(item.proto.body) for item in app.get("html") if isinstance(item, Element))
    return next(panel for panel in panels if "rl over" in panel)


def switch(app: AppTest, label: str) -> AppTest:
    toggle = next(item for item in app.toggle if item.label == label)
    toggle.set_value(not toggle.value)
    return run(app)


def test_typed_point_is_loaded_and_undone() -> None:
    app = point_at(5, 261)
    plan = plan_to_draw(options_for()).at(5, 261)
    assert all(fact.shown in page_text(app) for fact in point_facts(plan))
    press(app, "Load this point")
    assert where(app).endswith("medium lab · Feasible, misses the target")
    assert not can_press(app, "Load this point")
    assert LOADED in page_text(go(go(app, PROTOCOL), TRADE_OFFS))
    assert LOADED not in page_text(undo(app))
    assert number(go(app, PROTOCOL), "Sample size").value == 420


def test_assumed_effect_outlasts_another_page() -> None:
    app = unfolded(point_at(8, 161))
    assert '"floor 0.50"' in charts(app)[0]
    assert "power 0.76" in table_of(app, "Plan")[1]
    pick(app, "Effect", 2)
    assert "power 0.44" in table_of(app, "Plan")[1]
    go(go(app, PROTOCOL), TRADE_OFFS)
    assert '"floor 0.50"' not in charts(app)[0]  # at half the effect no sample reaches it
    assert number(app, "Point: samples").value == 161


def test_lab_without_evidence_is_explained() -> None:
    app = opened("bio_jq1_myeloma", "hard")
    assert "No plan that fits with these items and controls has evidence" in charts(app)[0]
    assert not frontier(app).get("plotly_chart")
    assert standing_verdict(options_for("bio_jq1_myeloma", "hard")).text in page_text(app)


def test_sliders_move_the_lab_of_every_page() -> None:
    app, pack = opened(), load_scenario("fin_momentum", "medium")
    pull(app, "Budget, credits", 3600)
    assert "Your lab: 3,600 credits instead of 3,700." in page_text(app)
    supposed = assess(pack.reference_protocol, with_means(pack, budget=3600))
    for fact in extra_facts(PlanAnalysis(supposed)):
        assert " ".join(f"{fact.label} | {fact.shown}".split()) in page_text(app)
    pull(pull(app, "Budget, credits", 5000), "Days", 9)
    assert "5,000 credits instead of 3,700, 9 days instead of 6" in page_text(app)
    press(app, "Load this point")
    undo(undo(go(app, PROTOCOL)))
    assert query_of(app)["budget"] == "5000", "a point that is loaded leaves the sliders"
    pull(go(app, TRADE_OFFS), "Staff units", 5)
    press(app, "Use the study’s lab")
    assert "Your lab:" not in page_text(app)
    values = {"Budget, credits": 3700, "Days": 6, "Staff units": 4}
    assert {slider.label: slider.value for slider in app.slider} == values
    assert not {"budget", "days", "staff"} & set(query_of(app))


def ends(app: AppTest) -> dict[str, float]:
    return {slider.label: slider.max for slider in app.slider}


def test_slider_pulled_to_its_end_goes_on() -> None:
    app = opened()
    for label in ("Budget, credits", "Days", "Staff units"):
        end = ends(app)[label]
        pull(app, label, int(end))
        assert ends(app)[label] > end
    assert all(end <= 10**9 for end in ends(visit(TRADE_OFFS, budget="1000000000")).values())
