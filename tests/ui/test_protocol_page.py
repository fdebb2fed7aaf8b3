"""The Protocol page: what to do, the meter, the ticked changes, the least loss, what it takes."""

from __future__ import annotations

from collections import Counter
from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.agents.suggestions import apply_changes
from replicalab.assessment import Assessment, assess
from replicalab.lexicon import amount_text
from replicalab.models import Protocol, revise
from replicalab.planner import PlanAnalysis, PlanStep
from replicalab.scenarios import Difficulty, Pack, load_scenario
from replicalab.ui import own_studies
from replicalab.ui.address import to_query
from replicalab.ui.cards import reference_options
from replicalab.ui.own_studies import find
from replicalab.ui.stories import stories
from replicalab.ui.workspace import Workspace
from replicalab.views.check import BINDING
from replicalab.views.options import (
    alone_lines,
    difference_text,
    first_of_all,
    nothing_needed,
    run_text,
    target_text,
)
from replicalab.views.plan import (
    assumed_rows,
    notes,
    saved_text,
    slack_text,
    staff_text,
    total_loss_text,
    used_text,
)
from replicalab.views.verdicts import plan_verdict
from tests.golden import assert_golden
from tests.ui.reading import (
    IN_FEW_LABS,
    NEGOTIATION,
    PROTOCOL,
    STUDY,
    can_press,
    chosen,
    dimension,
    go,
    keyed,
    number,
    panel_tables,
    pick,
    press,
    query_of,
    run,
    said,
    status,
    type_number,
    visit,
    visit_lab,
    where,
)

MOMENTUM: Final = load_scenario("fin_momentum", Difficulty.MEDIUM)
PLAN: Final = MOMENTUM.reference_protocol
HALVED: Final = stories()[0].workspace.model_copy(update={"presenting": 0})
"""Where the first story is told, on its page."""


def expected_marks(options: PlanAnalysis) -> dict[str, str]:
    """Return the plans that the meter must show, with their evidence as text."""
    yours, offered, least = options.yours, options.offered, options.least.after
    plans = {"Your plan": yours}
    if offered.plan != yours.plan:
        plans["As ticked"] = offered
    if not least.evidence.void_reason and least.plan not in (yours.plan, offered.plan):
        plans["Least loss"] = least
    return {
        name: "no evidence"
        if plan.evidence.void_reason
        else plan.evidence.amount(plan.evidence.value)
        for name, plan in plans.items()
    }


# --- A number on the page equals a core value ---


@IN_FEW_LABS
def test_page_says_and_draws_what_the_core_answers(study: str, lab: str) -> None:
    options = reference_options(load_scenario(study, lab))
    app = visit_lab(PROTOCOL, study, lab)
    page = said(app)
    assert status(app) == plan_verdict(options.yours).status
    assert first_of_all(options) in page
    assert difference_text(options) in page
    assert all(f"{name}: {text}" in page for name, text in notes(options.yours))
    if nothing_needed(options):
        assert "Nothing: the lab can run the plan as it is, and it reaches" in page
    else:
        taken = run_text(options.asks.run), target_text(options), *alone_lines(options)
        assert all(line in page for line in taken)
    checked, worth, *assumed, costs = panel_tables(app)
    assert_dimensions(checked, options)
    assert_evidence(worth, options)
    assert_assumed(assumed, options.yours)
    assert_costs(costs, options)
    assert f"Staff: {staff_text(options.yours)}." in page


def assert_dimensions(rows: list[list[str]], options: PlanAnalysis) -> None:
    """Assert that the seven rows show the plan's slack, why it fails, and which limit binds."""
    plan = options.yours
    named = [row for row in rows[1:] if row[0]]
    why = [text for name, text, *_ in rows[1:] if not name]
    for slack, (name, used, _, left) in zip(plan.slack.values(), named, strict=True):
        assert name == f"{'passes' if slack.ok else 'fails'} {slack.dimension.capitalize()}"
        assert (used, left) == (used_text(plan, slack), slack_text(slack))
    told = [
        text
        for each, text in plan.check.reasons_once
        if each in plan.causes and not plan.slack[each].row.is_amount
    ]
    assert [text for text in why if text != BINDING] == [" ".join(text.split()) for text in told]
    binds = [rows[at - 1][0].split()[-1] for at, row in enumerate(rows) if row == ["", BINDING]]
    assert binds == [each.capitalize() for each in [options.binding] if each]


def assert_evidence(rows: list[list[str]], options: PlanAnalysis) -> None:
    """Assert that the evidence of every plan that is compared is shown, and where it stands."""
    assert {name: number for name, _, number, _ in rows[1:]} == expected_marks(options)
    yours = options.yours
    failed = "" if yours.feasible else f", {plan_verdict(yours).title.lower()}"
    assert rows[1][3].endswith(f"{yours.evidence.tier}{failed}")


def assert_assumed(tables: list[list[list[str]]], plan: Assessment) -> None:
    """Assert that the plan's evidence at each effect worth assuming is shown."""
    shown = {row[0]: row[1] for rows in tables for row in rows[1:]}
    for label, size, evidence in assumed_rows(plan):
        assert shown[f"At the effect {label} ({size})"] == evidence.number


def assert_costs(rows: list[list[str]], options: PlanAnalysis) -> None:
    """Assert that the terms, the totals and the budget are shown."""
    yours, shown = options.yours, {row[0]: (row[1], row[3]) for row in rows[1:]}
    budget = f"of {amount_text(yours.pack.lab.budget)}"
    for term in yours.cost_terms:
        assert shown[term.label][1] == amount_text(term.credits)
    assert shown["Total"] == (budget, amount_text(yours.cost))
    if options.offered.cost != yours.cost:
        assert shown["As ticked"] == (budget, amount_text(options.offered.cost))


# --- Each plan is judged once ---


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"study": "bio_jq1_myeloma", "lab": "hard"},
        {"study": "math_four_colour", "lab": "hard"},
    ],
    ids=str,
)
def test_edit_judges_each_plan_on_the_page_once_per_lab(
    query: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[tuple[Protocol, Pack]] = []
    born = Assessment.__init__

    def counted(self: Assessment, plan: Protocol, pack: Pack) -> None:
        judged.append((plan, pack))
        born(self, plan, pack)

    app = visit(PROTOCOL, **query)
    for box in app.checkbox[:1]:
        box.uncheck()
    monkeypatch.setattr(Assessment, "__init__", counted)
    type_number(app, "Sample size", 18)
    times = Counter((plan.model_dump_json(), pack.model_dump_json()) for plan, pack in judged)
    assert [count for count in times.values() if count > 1] == []
    yours = [plan for plan, pack in judged if plan.sample_size == 18 and pack == judged[0][1]]
    assert yours[0] == judged[0][0]


def test_edit_looks_for_its_study_on_the_shelf_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(scenario_id: str, difficulty: str, seed: int) -> Pack:
        asked.append(scenario_id)
        return load_scenario(scenario_id, difficulty, seed)

    app = visit(PROTOCOL)
    monkeypatch.setattr(own_studies, "load_scenario", counted)
    type_number(app, "Sample size", 18)
    assert asked == ["fin_momentum"]


# --- Ticked changes ---


def test_ticked_changes_come_to_what_the_core_says() -> None:
    options, app = reference_options(MOMENTUM), visit(PROTOCOL)
    assert options.offer is not None
    for ticks, label in (
        ((False, False, False), "Apply 0 of 3"),
        ((True, False, True), "Apply 2 of 3"),
        ((True, True, True), "Apply all"),
    ):
        for box, tick in zip(app.checkbox, ticks, strict=True):
            box.set_value(tick)
        run(app)
        chosen = [c for c, tick in zip(options.offer.changes, ticks, strict=True) if tick]
        after = assess(apply_changes(PLAN, chosen), MOMENTUM)
        step = PlanStep(options.yours, after)
        page = said(app)
        assert f"{amount_text(after.cost)} of 3,700 credits, {after.evidence.text}" in page
        assert f"In all: {saved_text(step)} · {total_loss_text(step)}" in page
        costs = {row[0]: row[3] for row in panel_tables(app)[-1]}
        assert ("As ticked" in costs) == (after.cost != options.yours.cost)
        assert costs.get("As ticked", costs["Total"]) == amount_text(after.cost)
        assert page.count("not ticked; would add: ") == ticks.count(False)
        last = "not ticked; would add: saves 100 credits · power 0.47, unchanged"
        assert (last in page) == (ticks == (True, False, True)), "priced as if it came last"
        assert can_press(app, label) == any(ticks)
        if any(ticks):
            press(app, label)
            assert dimension(app, "budget")[1] == f"{amount_text(after.cost)} / 3,700 credits"
            assert query_of(app)["plan"] == to_query(Workspace().changed(plan=after.plan))["plan"]
            press(app, "Undo")


def place_of_controls(app: AppTest) -> int:
    """Return at which place of the form the controls are drawn."""
    places = keyed(app, "editor").children.items()
    return next(at for at, child in places if getattr(child, "label", "") == "Controls")


def test_fields_keep_their_places_where_the_groups_become_uneven() -> None:
    app = visit(PROTOCOL, study="psy_ego_depletion")
    even = place_of_controls(app)
    assert not any("in all" in said.value for said in app.caption)
    type_number(app, "Sample size", 201)
    assert any("201 in all" in said.value for said in app.caption)
    assert place_of_controls(app) == even


def test_tick_survives_edits_and_walks_and_never_moves_to_another_change() -> None:
    app = visit(PROTOCOL)
    for box in app.checkbox[::2]:
        box.uncheck()
    type_number(app, "Duration (days)", 9)
    go(go(app, NEGOTIATION), PROTOCOL)
    assert [box.value for box in app.checkbox] == [False, True, False]
    boxes = [box.id for box in app.checkbox]
    type_number(app, "Sample size", 310)
    assert [box.value for box in app.checkbox] == [False, True, True]
    assert [box.id for box in app.checkbox] == boxes, "the browser would draw another box anew"
    go(pick(go(app, STUDY), "Lab", "hard"), PROTOCOL)
    assert all(box.value for box in app.checkbox)


# --- The least-loss plan ---


def test_least_loss_plan_applied_is_the_planners_and_nothing_beats_it() -> None:
    found = reference_options(MOMENTUM).least
    app = press(visit(PROTOCOL), "Apply the least-loss plan")
    assert number(app, "Sample size").value == found.plan.sample_size
    assert number(app, "Duration (days)").value == found.plan.duration_days
    assert found.after.evidence.text in said(app)
    assert where(app).endswith("· Feasible")
    assert not any(button.key == "apply_least_loss" for button in app.button)
    press(app, "Undo")
    assert number(app, "Sample size").value == PLAN.sample_size


def test_all_changes_applied_leave_what_more_the_lab_could_do() -> None:
    app = press(visit(PROTOCOL), "Apply all")
    assert where(app).endswith("· medium lab · Feasible, below the floor")
    assert chosen(app, "Equipment") == [
        "research server",
        "vendor-approved extract on the research server",
    ]
    assert "What more this lab could do" in said(app)
    assert not any(button.key == "apply_all" for button in app.button)
    assert can_press(app, "Apply the least-loss plan")


def test_lab_that_can_yield_no_evidence_offers_no_least_loss_plan() -> None:
    app = visit(PROTOCOL, study="bio_jq1_myeloma", lab="hard")
    assert not any(button.key == "apply_least_loss" for button in app.button)
    assert app.button(key="apply_all").proto.type == "secondary"


# --- States that no reference protocol shows ---


@pytest.mark.parametrize(
    ("name", "work"),
    [
        (
            "too_many_animals",
            HALVED.changed(plan=revise(HALVED.case.protocol(find), sample_size=5000)),
        ),
        (
            "without_fixed_control",
            Workspace().changed(
                lab=Difficulty.EASY,
                plan=revise(
                    PLAN, controls=[c for c in PLAN.controls if c != "market-neutral benchmark"]
                ),
            ),
        ),
    ],
)
def test_page_of_another_plan_reads_as_it_was_read(name: str, work: Workspace) -> None:
    assert_golden(f"pages/protocol_{name}", said(visit(PROTOCOL, **to_query(work))))


def test_verdicts_differ_in_word_and_symbol_too() -> None:
    panels = "".join(panel.proto.body for panel in visit(PROTOCOL).get("html"))
    for how, sign, word in (("fail", "✕", "fails"), ("pass", "✓", "passes")):
        assert f'<span class="{how}" role="img" aria-label="{word}">{sign}</span>' in panels
