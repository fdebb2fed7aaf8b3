"""The Protocol page: what to do, the meter, the ticked changes, the least loss, what it takes."""

from __future__ import annotations

import json
from itertools import product
from typing import Any, Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.agents import check_feasibility
from replicalab.agents.suggestions import apply_changes
from replicalab.concessions import plan_concession
from replicalab.evidence import planned_evidence
from replicalab.lexicon import amount_text
from replicalab.links import to_query
from replicalab.models import revise
from replicalab.planner import least_loss
from replicalab.scenarios import Difficulty, Pack, list_scenarios, load_scenario
from replicalab.sentences import (
    Options,
    alone_lines,
    difference_text,
    nothing_needed,
    options_for,
    plan_verdict,
    run_text,
    saved_text,
    size_text,
    target_text,
    total_loss_text,
    what_to_do,
)
from replicalab.stories import stories
from replicalab.workspace import Workspace
from tests.ui.reading import (
    NEGOTIATION,
    PROTOCOL,
    alerts,
    can_press,
    go,
    keyed,
    number,
    open_lab,
    plain,
    press,
    query_of,
    run,
    said,
    table,
    texts,
    tile,
    type_number,
    visit,
    where,
)

LABS: Final = [
    pytest.param(study.scenario_id, level.value, id=f"{study.scenario_id}-{level}")
    for study in list_scenarios()
    for level in Difficulty
]
MOMENTUM: Final = load_scenario("fin_momentum", Difficulty.MEDIUM)
PLAN: Final = MOMENTUM.reference_protocol
OFFER: Final = options_for(PLAN, MOMENTUM)


def figure(app: AppTest, place: int) -> dict[str, Any]:
    """Return a chart of the page as it is sent: 0 the evidence, 1 the cost."""
    found: dict[str, Any] = json.loads(app.get("plotly_chart")[place].proto.spec)
    return found


def expected_marks(options: Options, pack: Pack) -> dict[str, str]:
    """Return the plans that the meter must show, with their evidence as text."""
    plans = {"Your plan": options.plan}
    if options.offer != options.plan:
        plans["As ticked"] = options.offer
    lost = options.least.price.evidence.void
    if not lost and options.least.plan not in (options.plan, options.offer):
        plans["Least loss"] = options.least.plan
    found = {name: planned_evidence(plan, pack) for name, plan in plans.items()}
    return {
        name: "no evidence" if evidence.void else evidence.amount(evidence.value)
        for name, evidence in found.items()
    }


@pytest.mark.parametrize(("study", "lab"), LABS)
def test_page_says_and_draws_what_the_core_answers(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    plan = pack.reference_protocol
    options = options_for(plan, pack)
    evidence = planned_evidence(plan, pack)
    app = visit(PROTOCOL, study=study, lab=lab)
    page = said(app)

    verdict = plan_verdict(options.check, evidence)
    assert alerts(app)[0].text == verdict.text
    assert f"What to do: {what_to_do(options, pack)}" in page
    assert difference_text(options, pack) in page

    marks = expected_marks(options, pack)
    [dots] = figure(app, 0)["data"]
    assert [text.strip() for text in dots["text"]] == list(marks.values())
    head, values, *_ = table(app, 0)
    assert dict(zip(head[1:], values[1:], strict=True)) == marks

    bars = figure(app, 1)["data"][0]
    budget = figure(app, 1)["data"][1]
    costs = dict(zip(bars["y"], bars["x"], strict=True))
    assert costs["Your plan"] == options.check.estimated_cost
    assert budget["x"] == [pack.lab.budget]
    if options.suggestion and options.suggestion.applied_changes:
        assert costs["As ticked"] == options.suggestion.post_check.estimated_cost

    if nothing_needed(options):
        assert "Nothing: the lab can run the plan as it is, and it reaches" in page
    else:
        for sentence in (run_text(options.asks.run), target_text(options, pack)):
            assert sentence in page
        assert all(line in page for line in alone_lines(options, pack))


@pytest.mark.parametrize("ticks", list(product([True, False], repeat=3)), ids=str)
def test_ticked_changes_come_to_what_the_core_says(ticks: tuple[bool, ...]) -> None:
    assert OFFER.suggestion is not None
    app = visit(PROTOCOL)
    for box, tick in zip(app.checkbox, ticks, strict=True):
        box.set_value(tick)
    run(app)
    changes = OFFER.suggestion.applied_changes
    plan = apply_changes(PLAN, [c for c, tick in zip(changes, ticks, strict=True) if tick])
    check, evidence = check_feasibility(plan, MOMENTUM), planned_evidence(plan, MOMENTUM)
    step = plan_concession(PLAN, plan, MOMENTUM)
    page = said(app)
    assert (
        f"{plan_verdict(check, evidence).title} {size_text(plan)} · "
        f"{amount_text(check.estimated_cost)} of 2,600 credits · {evidence.text}"
    ) in page
    assert f"In all: {saved_text(step)} · {total_loss_text(step, MOMENTUM)}" in page
    shown = figure(app, 1)["data"][0]
    assert len(shown["y"]) == 6 + (ticks.count(True) + 1 if any(ticks) else 0)
    assert shown["x"][-1] == check.estimated_cost
    assert page.count("Not ticked:") == ticks.count(False)
    if not any(ticks):
        assert not can_press(app, "Apply the ticked changes (0 of 3)")
        return
    label = "Apply all changes"
    if not all(ticks):
        label = f"Apply the ticked changes ({ticks.count(True)} of 3)"
    press(app, label)
    assert tile(app, "budget")[1] == f"{amount_text(check.estimated_cost)} / 2,600 credits"
    assert query_of(app)["plan"] == to_query(Workspace(protocol=plan))["plan"]


def test_unticked_change_is_priced_as_if_it_came_last() -> None:
    app = visit(PROTOCOL)
    app.checkbox[1].uncheck()
    run(app)
    price = texts(keyed(app, "change_2"))[0].splitlines()[-1]
    assert price == "saves 100 credits · power 0.58, unchanged"


def test_ticks_survive_another_edit_and_a_walk_to_another_page() -> None:
    app = visit(PROTOCOL)
    app.checkbox[0].uncheck()
    run(app)
    type_number(app, "Duration (days)", 9)
    assert [box.value for box in app.checkbox] == [False, True, True]
    go(go(app, NEGOTIATION), PROTOCOL)
    assert [box.value for box in app.checkbox] == [False, True, True]


def test_tick_never_moves_to_another_change() -> None:
    app = visit(PROTOCOL)
    app.checkbox[2].uncheck()
    run(app)
    type_number(app, "Sample size", 290)
    assert [box.value for box in app.checkbox] == [True, True, True]
    go(open_lab(go(app, "app.py"), "hard"), PROTOCOL)
    assert all(box.value for box in app.checkbox)


# --- the least-loss plan ---


@pytest.mark.parametrize(("study", "lab"), [("fin_momentum", "medium"), ("psy_stroop", "hard")])
def test_least_loss_plan_applied_is_the_planners_and_nothing_beats_it(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    found = least_loss(pack.reference_protocol, pack)
    app = press(visit(PROTOCOL, study=study, lab=lab), "Apply the least-loss plan")
    assert number(app, "Sample size").value == found.plan.sample_size
    assert number(app, "Duration (days)").value == found.plan.duration_days
    assert found.price.evidence.text in alerts(app)[0].text
    assert where(app).endswith("· Feasible")
    assert "no revision of your plan gives up less" in said(app)
    assert not any(button.key == "apply_least_loss" for button in app.button)
    press(app, "Undo")
    assert number(app, "Sample size").value == pack.reference_protocol.sample_size
    press(app, "Redo")
    assert number(app, "Sample size").value == found.plan.sample_size


def test_feasible_plan_is_told_what_more_the_lab_could_do() -> None:
    app = press(visit(PROTOCOL), "Apply all changes")
    page = said(app)
    assert "What more this lab could do" in page
    assert "power 0.69 instead of 0.58" in page
    assert can_press(app, "Apply the least-loss plan")


def test_lab_that_can_yield_no_evidence_offers_no_least_loss_plan() -> None:
    app = visit(PROTOCOL, study="bio_jq1_myeloma", lab="hard")
    page = said(app)
    assert "the study's endpoint needs 22 days, and the lab gives 14" in page
    assert "No plan for this lab reaches the floor of power 0.50. Searched:" in page
    assert not any(button.key == "apply_least_loss" for button in app.button)
    what = next(text for text in texts(app.main) if text.startswith("What to do:"))
    assert what.startswith(
        "What to do: Do not run this here: the study's endpoint needs 22 days, and the lab has 14."
    )
    assert app.button(key="apply_all").proto.type == "secondary"


def test_fact_that_fails_two_dimensions_is_told_once() -> None:
    app = visit(PROTOCOL, study="bio_jq1_myeloma", lab="hard")
    assert tile(app, "protocol")[1] == "1 error: duration"
    assert "Protocol: see schedule." in said(app)
    assert "Duration is 36 days" not in said(app)


def test_days_below_the_studys_own_duration_are_noted_and_lost() -> None:
    page = said(visit(PROTOCOL, **to_query(stories()[0].workspace)))
    below = "Below the study's 'survival window' of 36 days."
    assert f"Note: {below}" in page
    assert f"6 days fewer to run and to repeat what fails. {below}" in page


def test_samples_beyond_all_that_exist_are_noted_with_separators() -> None:
    plan = revise(stories()[0].workspace.plan(), sample_size=5000)
    app = visit(PROTOCOL, **to_query(stories()[0].workspace.with_plan(plan)))
    page = said(app)
    assert "Note: 5,000 samples planned; the study has 24, so 4,976 cannot count." in page
    assert "Of its 5,000 samples only 24 can count; plan no more than these." in page
    assert any("Sample size: 5,000 → 19" in plain(box.label) for box in app.checkbox)


def test_dropped_control_of_the_least_loss_plan_is_named_with_what_it_protects() -> None:
    page = said(visit(PROTOCOL, study="eco_reef_fish", lab="medium"))
    assert "fidelity loss 0 → 3 in all (substitution 2, dropped control 1)" in page
    assert "Why: With it no more than 20 samples fit, short of the study's floor." in page
    assert "Without 'side-swap of currents' nothing protects against" in page


# --- the story, the cautions ---


def test_story_of_the_halved_sample_reads_in_one_line() -> None:
    app = visit(PROTOCOL, **to_query(stories()[0].workspace))
    line = next(text for text in texts(app.main) if text.startswith("What to do:"))
    assert line.startswith(
        "What to do: 10 credits too many. The Lab Manager would halve the sample to 12: power "
        "0.67 → 0.36, below the floor of 0.50. Same lab, least loss: all 24 samples in 22 days "
        "instead of 28: power 0.67."
    )


def test_plan_without_a_fixed_control_is_called_void() -> None:
    kept = [name for name in PLAN.controls if name != "market-neutral benchmark"]
    plan = revise(PLAN, controls=kept)
    app = visit(PROTOCOL, **to_query(Workspace(difficulty=Difficulty.EASY, protocol=plan)))
    page = said(app)
    assert "Put back 'market-neutral benchmark': the study is void without it." in page
    assert "Caution: Without 'market-neutral benchmark' nothing protects against" in page


def test_hostile_label_stays_text_in_every_sentence() -> None:
    hostile = "![x](https://evil.example/x.png) <b>b</b> :red[y] $a$"
    plan = revise(PLAN, required_equipment=[hostile, *PLAN.required_equipment])
    app = visit(PROTOCOL, **to_query(Workspace(protocol=plan)))
    assert hostile in said(app)
    for element in [*app.markdown, *app.caption]:
        raw = str(element.value)
        assert "![" not in raw
        assert " :red[y" not in raw


def test_rejected_plan_shows_what_would_still_fail() -> None:
    app = visit(PROTOCOL, study="math_four_colour", lab="hard")
    assert alerts(app)[0].colour == "error"
    assert "Still: staff fails." in said(app)


def test_both_charts_have_a_text_for_those_who_cannot_see_them() -> None:
    alts = [chart.proto.alt for chart in visit(PROTOCOL).get("plotly_chart")]
    assert alts == [
        "Planned evidence. Your plan: power 0.86, meets target, As ticked: power 0.58, above "
        "floor, Least loss: power 0.69, above floor; floor 0.50, target 0.80.",
        "Cost by term: 3,850 of a budget of 2,600 credits; 2,250 as ticked",
    ]


def test_evidence_is_given_at_all_the_effects_at_once() -> None:
    page = said(visit(PROTOCOL))
    assert (
        "Power at an effect as published (0.177) 0.86, halved (0.0885) 0.33, smallest of "
        "interest (0.09) 0.34."
    ) in page
    method = "the exact two-sided one-sample t-test (noncentral t)"
    basis = f"Planned, at an assumed Cohen's d of 0.177, by {method}; never observed power."
    assert plain(basis) in page
    assert plain("Smallest detectable effect: **0.162**.") in page
