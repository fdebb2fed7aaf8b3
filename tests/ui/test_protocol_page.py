"""The Protocol page: the ticked changes, the least loss; and that pages say what the core does."""

from __future__ import annotations

import time
from collections import Counter
from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.assessment import Assessment, assess
from replicalab.assessment.dimensions import apply_changes
from replicalab.facts.frontier import extra_facts
from replicalab.facts.negotiation import outcome_verdict
from replicalab.facts.options import (
    alone_lines,
    difference_text,
    first_of_all,
    nothing_needed,
    run_text,
    target_text,
)
from replicalab.facts.plan import notes, saved_text, slack_text, total_loss_text, used_text
from replicalab.facts.verdicts import plan_verdict
from replicalab.lexicon import amount_text
from replicalab.models import Protocol, revise
from replicalab.negotiation import ScientistKind
from replicalab.planner import PlanStep
from replicalab.scenarios import Difficulty, Pack, load_scenario
from replicalab.ui.own_studies import find
from replicalab.ui.stories import stories
from replicalab.ui.study import reference_options
from replicalab.ui.workspace import Workspace, to_query
from tests.golden import assert_golden
from tests.negotiation.playing import by_rule
from tests.ui.acting import (
    can_press,
    chosen,
    labels,
    number,
    pick,
    press,
    pull,
    run,
    slider,
    type_number,
    undo,
)
from tests.ui.negotiating import outcome
from tests.ui.pages import COMPARE, IN_FEW_LABS, NEGOTIATION, PROTOCOL, STUDY, TRADE_OFFS
from tests.ui.reading import (
    alerts,
    dimension,
    html_of,
    panel_tables,
    plain,
    said,
    status,
    visit_lab,
    where,
)
from tests.ui.walking import go, query_of, visit

MOMENTUM: Final = load_scenario("fin_momentum", Difficulty.MEDIUM)
PLAN: Final = MOMENTUM.reference_protocol
STEPS: Final = ScientistKind.STEP_BY_STEP
HALVED: Final = stories()[1].workspace.model_copy(update={"presenting": 0})
"""Where the first story is told, on its page."""


def costs_of(app: AppTest) -> list[list[str]]:
    """Return the table of costs."""
    return next(table for table in panel_tables(app) if any(row[0] == "Total" for row in table))


# --- What the core answers ---


@IN_FEW_LABS
def test_pages_say_what_the_core_answers(study: str, lab: str) -> None:
    options = reference_options(load_scenario(study, lab))
    yours, app = options.yours, visit_lab(PROTOCOL, study, lab)
    assert status(app) == plan_verdict(yours).status
    taken = run_text(options.asks.run), target_text(options), *alone_lines(options)
    notices = (f"{name}: {text}" for name, text in notes(yours))
    texts = first_of_all(options), difference_text(options), *notices
    texts = (*texts, *(() if nothing_needed(options) else taken))
    assert all(line in said(app) for line in texts)
    dimensions, worth, *_ = panel_tables(app)
    costs = costs_of(app)
    rows = [row[1::2] for row in dimensions[1:] if row[0]]
    assert rows == [[used_text(yours, slack), slack_text(slack)] for slack in yours.slack.values()]
    assert worth[1][2] in (yours.evidence.number, "no evidence")
    assert ["Total", amount_text(yours.cost)] in [row[::3] for row in costs]
    verdict = outcome_verdict(by_rule(yours.pack, yours.plan, scientist=STEPS))
    assert outcome(go(app, NEGOTIATION)) == (verdict.status, verdict.text)
    assert not alerts(app)
    trade_offs = said(go(app, TRADE_OFFS))
    assert all(" ".join(fact.shown.split()) in trade_offs for fact in extra_facts(options))


# --- Each plan is judged once ---


@pytest.mark.parametrize(
    "query",
    [{}, {"study": "bio_jq1_myeloma", "lab": "hard"}, {"study": "math_four_colour", "lab": "hard"}],
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
        costs = {row[0]: row[3] for row in costs_of(app)}
        assert ("As ticked" in costs) == (after.cost != options.yours.cost)
        assert costs.get("As ticked", costs["Total"]) == amount_text(after.cost)
        worth = {row[0]: row[2] for row in panel_tables(app)[1]}
        assert worth["As ticked" if any(ticks) else "Your plan"] == after.evidence.number
        assert [box.label for box in app.checkbox] == ["Equipment", "Duration", "Sample size"]
        assert page.count("would add: ") == ticks.count(False)
        last = "would add: saves 100 credits · power 0.47, unchanged"
        assert (last in page) == (ticks == (True, False, True)), "priced as if it came last"
        assert can_press(app, label) == any(ticks)
        if any(ticks):
            press(app, label)
            assert dimension(app, "budget")[1] == f"{amount_text(after.cost)} / 3,700 credits"
            assert query_of(app) == to_query(Workspace().changed(plan=after.plan))
            undo(app)


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
    loss = reference_options(MOMENTUM).least
    app = press(visit(PROTOCOL), "Apply the least-loss plan")
    assert number(app, "Sample size").value == loss.plan.sample_size
    assert number(app, "Duration (days)").value == loss.plan.duration_days
    assert loss.after.evidence.text in said(app)
    assert where(app).endswith("· Feasible")
    assert not any(button.key == "apply_least_loss" for button in app.button)
    undo(app)
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


# --- Other states ---


@pytest.mark.parametrize(
    ("name", "work"),
    [
        ("no_evidence", Workspace().changed(study="bio_jq1_myeloma", lab=Difficulty.HARD)),
        ("nothing_needed", Workspace().changed(study="eco_reef_fish", lab=Difficulty.EASY)),
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
def test_page_in_another_state_reads_as_it_was_read(name: str, work: Workspace) -> None:
    assert_golden(f"pages/protocol#{name}", said(visit(PROTOCOL, **to_query(work))))


def test_verdicts_differ_in_word_and_symbol_too() -> None:
    panels = "".join(map(html_of, visit(PROTOCOL).main))
    for how, sign, word in (("fail", "✕", "fails"), ("pass", "✓", "passes")):
        assert f'<span class="{how}" role="img" aria-label="{word}">{sign}</span>' in panels


# --- Undo ---


def test_undo_names_its_edit_and_stays_in_its_study() -> None:
    edit = "128 → 100 fish"
    app = type_number(visit(PROTOCOL, study="eco_reef_fish"), "Sample size", 100)
    assert f"Undo: {edit}" in labels(app)
    assert f"\n{edit}: −280 credits, power 0.801 → 0.70.\n" in said(app)
    go(pick(go(app, NEGOTIATION), "Scientist", "recorded"), PROTOCOL)
    assert where(app).startswith("Momentum returns")
    assert not can_press(app, "Undo")
    go(press(go(app, COMPARE), "Undo"), PROTOCOL)
    assert "Redo" not in labels(app), "that is the other study"
    assert number(press(app, f"Undo: {edit}"), "Sample size").value == 128
    assert number(press(app, "Redo"), "Sample size").value == 100


def test_failing_row_has_the_button_that_mends_it() -> None:
    app = visit(PROTOCOL, study="eco_reef_fish", lab="medium")
    button = next(item for item in app.button if item.key == "mend_budget")
    assert plain(button.label) == "128 → 85 fish"
    assert "saves 430 credits · power 0.62, below the target" in plain(button.help)
    press(app, button.label)
    assert number(app, "Sample size").value == 85
    assert dimension(app, "Budget")[0].startswith("passes")
    assert "mend_budget" not in [item.key for item in app.button]


POINT: Final = "Samples on the curve"


def test_point_of_the_curve_is_moved_and_follows_the_plan() -> None:
    app = visit(PROTOCOL)
    assert slider(app, POINT).value == 420
    assert number(pull(app, POINT, 300), "Sample size").value == 300
    point = slider(type_number(app, "Sample size", 5000), POINT)
    assert point.value == 5000 <= point.max
    late = pull(app, POINT, 0)
    assert number(late, "Sample size").value == 5000, "a browser sends an old value for a moment"
    time.sleep(0.5)
    assert number(pull(app, POINT, 0), "Sample size").value == 0


def test_undo_names_the_lab_that_it_takes_back() -> None:
    app = visit(STUDY, study="psy_stroop", lab="medium")
    app = go(pick(app, "Lab", "hard"), PROTOCOL)
    assert "Undo: medium → hard lab" in labels(app)
    press(app, "Undo: medium → hard lab")
    assert query_of(app)["lab"] == "medium"
