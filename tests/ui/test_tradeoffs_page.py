"""The Trade-offs page: numbers from the core in every lab, points, levers, loading, undoing."""

from __future__ import annotations

from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.agents import check_feasibility
from replicalab.evidence import planned_evidence
from replicalab.labels import count_text
from replicalab.models import Protocol
from replicalab.planner import frontier, least_loss, nash_point
from replicalab.scenarios import Difficulty, NormalizedScenarioPack, list_scenarios, load_scenario
from replicalab.scenarios.levers import with_means
from replicalab.sentences import (
    balance_text,
    extra_text,
    limit_meanings,
    plan_verdict,
    priced_size_text,
    standing_verdict,
    supposed_text,
)
from replicalab.tradeoffs import extras, worded
from tests.ui.reading import (
    PROTOCOL,
    Alert,
    alerts,
    can_press,
    go,
    keyed,
    number,
    press,
    query_of,
    run,
    said,
    table,
    texts,
    type_number,
    visit,
    where,
)

TRADE_OFFS: Final = "pages/3_Trade-offs.py"
LABS: Final = [
    pytest.param(study.scenario_id, level.value, id=f"{study.scenario_id}-{level}")
    for study in list_scenarios()
    for level in Difficulty
]


def opened(study: str, lab: str) -> tuple[AppTest, NormalizedScenarioPack, Protocol]:
    """Return the page on a study in a lab, with its pack and reference protocol."""
    pack = load_scenario(study, lab)
    return visit(TRADE_OFFS, study=study, lab=lab), pack, pack.reference_protocol


def pull(app: AppTest, label: str, value: int) -> AppTest:
    """Move a lever and return the app."""
    next(slider for slider in app.slider if slider.label == label).set_value(value)
    return run(app)


def charts(app: AppTest) -> list[str]:
    return [chart.proto.spec for chart in app.get("plotly_chart")]


def squeezed(text: str) -> str:
    """Return a text as `plain` leaves it: one line, single spaces."""
    return " ".join(text.split())


# --- every study in every lab ---


@pytest.mark.parametrize(("study", "lab"), LABS)
def test_page_says_what_the_core_says(study: str, lab: str) -> None:
    app, pack, plan = opened(study, lab)
    everything = said(app)
    found = frontier(pack, plan)
    check = check_feasibility(plan, pack)
    assert standing_verdict(plan, check, found, pack).text in everything
    assert squeezed(balance_text(nash_point(found, pack), pack)) in everything
    for extra in extras(plan, pack):
        assert extra_text(extra) in everything


@pytest.mark.parametrize(("study", "lab"), LABS)
def test_tables_show_the_marked_plans_and_the_limits_of_the_core(study: str, lab: str) -> None:
    app, pack, plan = opened(study, lab)
    rows = {row[0]: row[1:] for row in table(app, 0)[1:]}
    for name, marked in (("your plan", plan), ("least loss", least_loss(plan, pack).plan)):
        check = check_feasibility(marked, pack)
        needs, _, fits = rows[name]
        size = priced_size_text(marked.sample_size, marked.duration_days, check.estimated_cost)
        assert needs == f"{size}, {count_text(check.required_staff, 'staff unit')}"
        assert fits.startswith("yes" if check.feasible else "no: ")
    limits = {row[0]: row[1] for row in table(app, 1)[1:]}
    assert limits == {name.value: text for name, text in limit_meanings(pack).items()}


@pytest.mark.parametrize(("study", "lab"), LABS)
def test_frontier_table_lists_feasible_plans_of_the_frontier(study: str, lab: str) -> None:
    app, pack, plan = opened(study, lab)
    best = frontier(pack, plan)
    known = {(priced_size_text(p.samples, p.days, p.credits), str(p.loss)): p for p in best.plans}
    found = [t for t in range(len(app.table)) if "Fidelity loss" in table(app, t)[0]]
    assert bool(found) == bool(best.plans)
    for place in found:
        rows = table(app, place)[1:]
        assert 0 < len(rows) <= 122
        assert {(row[0].removesuffix(" (balanced)"), row[2]) for row in rows} <= set(known)
        balanced = nash_point(best, pack)
        marked = [row[0] for row in rows if row[0].endswith(" (balanced)")]
        assert len(marked) == (balanced is not None)


# --- one study in depth ---


def test_first_visit_shows_region_frontier_and_effects() -> None:
    app, _, _ = opened("fin_momentum", "medium")
    assert len(charts(app)) == 2
    assert "What fits: up to 195 samples, 3 to 6 days" in charts(app)[0]
    assert texts(keyed(app, "extras"))[0].splitlines() == [
        "What one more would buy",
        "- +100 credits: 10 more samples, power 0.69 → 0.71",
        "- +1 day: nothing",
        "- +1 staff unit: nothing",
    ]
    assert table(app, len(app.table) - 1) == [
        ["Effect assumed", "Your plan", "Least-loss plan"],
        ["planned, as published (0.177)", "power 0.86", "power 0.69"],
        ["halved (0.0885)", "power 0.33", "power 0.23"],
        ["smallest of interest (0.09)", "power 0.34", "power 0.24"],
    ]


def test_typed_point_is_judged_loaded_and_undone() -> None:
    app, pack, plan = opened("fin_momentum", "medium")
    type_number(app, "Point: days", 3)
    type_number(app, "Point: samples", 161)
    there = worded(plan, pack).plan.model_copy(update={"sample_size": 161, "duration_days": 3})
    assert "2,210 credits · 3 staff units · power 0.61" in texts(keyed(app, "point_numbers"))
    verdict = plan_verdict(check_feasibility(there, pack), planned_evidence(there, pack))
    assert Alert("success", verdict.text) in alerts(app)
    press(app, "Load this point into the editor")
    assert where(app).endswith("medium lab · Feasible")
    assert not can_press(app, "Load this point into the editor")
    go(app, PROTOCOL)
    assert (number(app, "Sample size").value, number(app, "Duration (days)").value) == (161, 3)
    assert number(press(app, "Undo"), "Sample size").value == 300


def test_balanced_plan_loads_and_then_nothing_beats_it() -> None:
    app, _, _ = opened("fin_momentum", "medium")
    press(app, "Load the balanced plan into the editor")
    assert where(app).endswith("· Feasible")
    assert "Nothing beats your plan" in said(app)
    assert number(go(app, PROTOCOL), "Sample size").value == 161


def test_least_loss_plan_with_fewer_controls_can_have_its_own_region() -> None:
    app, pack, plan = opened("eco_reef_fish", "medium")
    assert "no 'side-swap of currents'" in said(app)
    assert "up to 20 samples" in charts(app)[0]
    next(radio for radio in app.radio if radio.label == "Region drawn for").set_value("least loss")
    run(app)
    assert number(app, "Point: samples").value == least_loss(plan, pack).plan.sample_size
    assert "up to 117 samples" in charts(app)[0]
    press(app, "Load this point into the editor")
    assert where(app).endswith("· Feasible")


def test_assumed_effect_moves_the_contours_of_the_chart() -> None:
    app, _, _ = opened("fin_momentum", "medium")
    assert '"floor 0.50"' in charts(app)[0]
    effect = next(r for r in app.radio if r.label == "Effect that the evidence assumes")
    effect.set_value(1)
    run(app)
    assert '"floor 0.50"' not in charts(app)[0]  # at half the effect no sample reaches it


def test_study_without_an_assumed_effect_says_so() -> None:
    app, _, _ = opened("math_four_colour", "medium")
    assert "does not rest on an assumed effect" in said(app)
    assert not [radio for radio in app.radio if radio.label.startswith("Effect")]


def test_lab_in_which_nothing_yields_evidence_says_what_it_would_take() -> None:
    app, _, _ = opened("bio_jq1_myeloma", "hard")
    assert "No plan that fits this lab has any evidence. To run your plan it would take" in said(
        app
    )
    assert len(charts(app)) == 1
    assert "Whatever fits here yields no evidence" in charts(app)[0]


# --- levers ---


def test_lever_moves_the_region_and_says_that_the_lab_is_supposed() -> None:
    app, pack, plan = opened("fin_momentum", "medium")
    pull(app, "Budget, credits", 3600)
    supposed = with_means(pack, budget=3600)
    assert supposed_text(pack, supposed) == (
        "A supposed lab: 3,600 credits instead of 2,600. The other pages keep the real lab."
    )
    assert "A supposed lab: 3,600 credits instead of 2,600." in said(app)
    assert "What fits: up to 290 samples, 3 to 6 days" in charts(app)[0]
    for extra in extras(plan, supposed):
        assert extra_text(extra) in said(app)
    assert query_of(app)["budget"] == "3600"


def test_other_pages_keep_the_real_lab() -> None:
    app, _, _ = opened("fin_momentum", "medium")
    pull(app, "Budget, credits", 5000)
    pull(app, "Days", 9)
    assert where(app).endswith("· Not feasible")
    go(app, PROTOCOL)
    assert "3,850 / 2,600 credits" in said(app)
    go(app, TRADE_OFFS)
    assert "5,000 credits instead of 2,600, 9 days instead of 6" in said(app)


def test_reset_brings_the_real_lab_back_and_cleans_the_address() -> None:
    app, _, _ = opened("fin_momentum", "medium")
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
    app, _, _ = opened("fin_momentum", "medium")
    pull(app, "Days", 9)
    pull(app, "Days", 6)
    assert "A supposed lab" not in said(app)
    assert "days" not in query_of(app)


def test_copied_link_opens_the_supposed_lab() -> None:
    app, _, _ = opened("psy_stroop", "medium")
    pull(app, "Budget, credits", 1500)
    again = visit(TRADE_OFFS, **query_of(app))
    assert "A supposed lab: 1,500 credits instead of 1,000" in said(again)
    assert charts(again)[0] == charts(app)[0]


def test_levers_stay_when_a_point_is_loaded_and_undone() -> None:
    app, _, _ = opened("fin_momentum", "medium")
    pull(app, "Days", 9)
    press(app, "Load this point into the editor")
    press(go(app, PROTOCOL), "Undo")
    assert "9 days instead of 6" in said(go(app, TRADE_OFFS))


@pytest.mark.parametrize("means", [{"budget": "1"}, {"budget": "999999999"}, {"days": "999999"}])
def test_extreme_levers_from_an_address_are_shown(means: dict[str, str]) -> None:
    assert "A supposed lab" in said(visit(TRADE_OFFS, **means))
