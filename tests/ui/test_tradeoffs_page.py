"""The Trade-offs page: numbers from the core in every lab, points, levers, loading, undoing."""

from __future__ import annotations

from typing import Final

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from replicalab.agents import check_feasibility
from replicalab.evidence import planned_evidence
from replicalab.lexicon import count_text
from replicalab.models import Protocol
from replicalab.planner import frontier, least_loss, nash_point
from replicalab.scenarios import Difficulty, Pack, list_scenarios, load_scenario
from replicalab.sentences import (
    balance_text,
    extra_text,
    limit_meanings,
    plan_verdict,
    priced_size_text,
    standing_verdict,
)
from replicalab.tradeoffs import extras, worded
from replicalab.ui import point_view
from tests.ui.reading import (
    PROTOCOL,
    Alert,
    alerts,
    can_press,
    go,
    keyed,
    number,
    press,
    run,
    said,
    table,
    texts,
    type_number,
    visit,
    where,
)

LOADED: Final = (
    "Loaded: 161 samples, 3 days, with 'vendor-approved extract on the research server', without "
    "'licensed-data terminal'."
)
TRADE_OFFS: Final = "pages/3_Trade-offs.py"
LABS: Final = [
    pytest.param(study.scenario_id, level.value, id=f"{study.scenario_id}-{level}")
    for study in list_scenarios()
    for level in Difficulty
]


def opened(study: str, lab: str) -> tuple[AppTest, Pack, Protocol]:
    """Return the page on a study in a lab, with its pack and reference protocol."""
    pack = load_scenario(study, lab)
    return visit(TRADE_OFFS, study=study, lab=lab), pack, pack.reference_protocol


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
    assert standing_verdict(plan, check, found, least_loss(plan, pack), pack).text in everything
    assert squeezed(balance_text(nash_point(found, pack), plan, pack)) in everything
    for extra in extras(plan, pack):
        assert extra_text(extra) in everything


@pytest.mark.parametrize(("study", "lab"), LABS)
def test_tables_show_the_marked_plans_and_the_limits_of_the_core(study: str, lab: str) -> None:
    app, pack, plan = opened(study, lab)
    rows = {row[0]: row[1:] for row in table(app, 0)[1:]}
    least = least_loss(plan, pack)
    shown = {"your plan": plan, "least loss": least.plan}
    if least.price.evidence.void:
        del shown["least loss"]
        assert "least loss" not in rows
    for name, marked in shown.items():
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
        assert 0 < len(rows) <= 19  # 15 shared over the lines, 3 of each at least, the balanced one
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
    assert Alert("success", LOADED) in alerts(app)
    go(app, PROTOCOL)
    assert (number(app, "Sample size").value, number(app, "Duration (days)").value) == (161, 3)
    assert number(press(app, "Undo"), "Sample size").value == 300


def test_undo_beside_the_loaded_point_brings_the_plan_back() -> None:
    app, _, plan = opened("fin_momentum", "medium")
    type_number(app, "Point: days", 3)
    type_number(app, "Point: samples", 161)
    press(app, "Load this point into the editor")
    press(app, "Undo")
    assert LOADED not in said(app)
    assert where(app).endswith("· Not feasible")
    assert number(go(app, PROTOCOL), "Sample size").value == plan.sample_size


def test_what_was_loaded_is_said_only_until_the_plan_changes() -> None:
    app, _, _ = opened("fin_momentum", "medium")
    press(app, "Load the balanced plan into the editor")
    assert "Loaded: 161 samples, 3 days" in said(app)
    type_number(go(app, PROTOCOL), "Sample size", 160)
    assert "Loaded:" not in said(go(app, TRADE_OFFS))


def test_point_of_which_only_one_number_was_sent_keeps_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state: dict[str, object] = {"point_days_k": 3, "editor_version": 0}
    monkeypatch.setattr(st, "session_state", state)
    point_view.take_typed(("a study", 0), "k", (8, 300))
    assert state["picked_point"] == (("a study", 0), (3, 300))


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
    assert "Do not run this here: the endpoint needs 22 days, the lab has 14." in said(app)
    assert number(app, "Point: samples").value == 24
    assert '"least loss"' not in charts(app)[0]
    assert table(app, len(app.table) - 1)[0] == ["Effect assumed", "Your plan"]
    assert len(charts(app)) == 1
    assert "Whatever fits here yields no evidence" in charts(app)[0]


def test_small_region_is_drawn_close_up_and_the_rest_named() -> None:
    app, _, _ = opened("math_four_colour", "hard")
    assert "What fits: up to 20 samples" in charts(app)[0]
    assert '"name":"your plan"' not in charts(app)[0].replace(" ", "")
    assert "Outside the chart: your plan (633 samples)" in said(app)


def test_equal_effects_are_offered_once() -> None:
    app, _, _ = opened("psy_stroop", "medium")
    effect = next(r for r in app.radio if r.label == "Effect that the evidence assumes")
    assert effect.options == ["planned (1)", "halved, smallest of interest (0.5)"]
