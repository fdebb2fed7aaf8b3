"""The Protocol page: editing, the check, ticked changes, the least-loss plan, undo."""

from typing import Final

import pytest

from replicalab.assessment import assess
from replicalab.assessment.dimensions import apply_changes
from replicalab.facts.check_facts import CHOSEN
from replicalab.facts.negotiation_facts import outcome_verdict
from replicalab.facts.plan_facts import loss_text, saved_text, slack_text, used_text
from replicalab.facts.verdicts import plan_verdict
from replicalab.lexicon import amount_text
from replicalab.models import revise
from replicalab.negotiation import ScientistKind
from replicalab.planner import PlanStep
from replicalab.scenarios import Difficulty, load_scenario
from replicalab.ui.own_studies import find
from replicalab.ui.study_page import reference_options
from replicalab.ui.workspace import Workspace, stories, to_query
from tests.golden import assert_golden, new_lines
from tests.negotiation.playing import by_rule
from tests.ui import acting, reading
from tests.ui.negotiating import outcome
from tests.ui.pages import COMPARE, IN_FEW_LABS, NEGOTIATION, PROTOCOL, SCENARIOS
from tests.ui.walking import go, query_of, visit

MOMENTUM: Final = load_scenario("fin_momentum", Difficulty.MEDIUM)
PLAN: Final = MOMENTUM.reference_protocol
SERVER, TERMINAL = PLAN.required_equipment
EXTRACT: Final = "vendor-approved extract on the research server"
HALVED: Final = stories()[1].workspace.model_copy(update={"presenting": 0})


@IN_FEW_LABS
def test_pages_show_the_core_answers(study: str, lab: str) -> None:
    yours = reference_options(load_scenario(study, lab)).yours
    app = reading.visit_lab(PROTOCOL, study, lab)
    assert reading.status(app) == plan_verdict(yours).status
    dimensions, worth, *_ = reading.panel_tables(app)
    rows = [row[1::2] for row in dimensions[1:] if row[0]]
    assert rows == [[used_text(yours, slack), slack_text(slack)] for slack in yours.slack.values()]
    assert worth[1][2] in (yours.evidence.number, "no evidence")
    rows = [row for table in reading.panel_tables(app) for row in table]
    assert ["Total", amount_text(yours.cost)] in [row[::3] for row in rows]
    steps = by_rule(yours.pack, yours.plan, scientist=ScientistKind.STEP_BY_STEP)
    verdict = outcome_verdict(steps)
    assert outcome(go(app, NEGOTIATION)) == (verdict.status, verdict.text)
    assert not reading.alerts(app)


MANY_ANIMALS: Final = revise(HALVED.case.protocol(find), sample_size=5000)
MISSES: Final = "Feasible, misses the target"
FIXED: Final = "market-neutral benchmark"
WITHOUT_FIXED: Final = revise(PLAN, controls=[c for c in PLAN.controls if c != FIXED])


STATES: Final = {
    "first visit": Workspace(),
    "half the sample": HALVED,
    "no evidence": Workspace().replace(study="bio_jq1_myeloma", lab=Difficulty.HARD),
    "nothing needed": Workspace().replace(study="eco_reef_fish", lab=Difficulty.EASY),
    "too many animals": HALVED.replace(plan=MANY_ANIMALS),
    "without a fixed control": Workspace().replace(lab=Difficulty.EASY, plan=WITHOUT_FIXED),
}


def test_page_in_each_state_reads_as_pinned() -> None:
    pages = {name: visit(PROTOCOL, **to_query(work)) for name, work in STATES.items()}
    texts = {name: reading.page_text(app) for name, app in pages.items()}
    assert_golden("pages/protocol", new_lines(texts))


def test_typed_number_moves_verdict_and_rows() -> None:
    app = visit(PROTOCOL, lab="easy")
    for field, value, colour, verdict, row in (
        ("Sample size", 300, "caution", MISSES, ["passes Budget", "3,850 / 5,100", "+1,250"]),
        ("Duration (days)", 11, "fail", "Not feasible", ["fails Schedule", "11 / 10", "−1"]),
        ("Duration (days)", 0, "fail", "Not approved", []),
        ("Duration (days)", 8, "caution", MISSES, ["passes Schedule", "8 / 10", "+2"]),
        ("Sample size", 75, "fail", "Feasible, below the floor", []),
        ("Sample size", 4, "caution", "Not approved", []),
        ("Sample size", 0, "fail", "Not approved", []),
    ):
        acting.type_number(app, field, value)
        judged = reading.where(app).split(" · ")[-1]
        assert (reading.status(app), judged) == (colour, verdict), (field, value)
        if row:
            name, used, _, slack = reading.dimension(app, row[0].split()[1])
            assert [name, used.rpartition(" ")[0], slack] == row


def test_refused_number_or_text_leaves_the_plan() -> None:
    app = visit(PROTOCOL)
    before = query_of(app)
    for field, rest, value in (("Sample size", 420, -5), ("Duration (days)", 8, 1_000_001)):
        name = field.removesuffix(" (days)")
        problem = f"{name} cannot be {value:,}, so the plan keeps {rest}. Type 0 to 1,000,000."
        assert problem in reading.page_text(acting.type_number(app, field, value))
        assert acting.number(app, field).value == value
        assert query_of(app) == before
        assert problem not in reading.page_text(acting.type_number(app, field, rest))
    text = f"Technique is empty, so the plan keeps “{PLAN.technique}”."
    assert text in reading.page_text(acting.type_text(acting.open_texts(app), "Technique", "   "))
    assert query_of(app) == before


def test_forbidden_phrase_breaks_the_policy() -> None:
    app = acting.open_texts(visit(PROTOCOL, lab="easy"))
    acting.type_text(app, "Rationale", "A backtest; later we route orders to a broker.")
    assert reading.dimension(app, "policy")[:2] == ["fails Policy", "1 breach"]
    assert reading.where(app).endswith("· Not approved")


def test_lists_take_substitutes_and_unknown_items() -> None:
    app = visit(PROTOCOL)
    options = {field.label: list(field.options) for field in app.multiselect}
    assert options["Equipment"] == [SERVER, f"{TERMINAL} (booked until day 10)", EXTRACT]
    acting.choose(app, "Equipment", SERVER, EXTRACT)
    assert reading.dimension(app, "equipment")[:2] == ["passes Equipment", "2 needed, 2 free"]
    acting.choose(app, "Equipment", SERVER, "quantum abacus")
    assert "'quantum abacus' is not in this lab's inventory" in reading.page_text(app)
    acting.choose(app, "Controls")
    go(go(app, SCENARIOS), PROTOCOL)
    assert acting.chosen(app, "Equipment") == [SERVER, "quantum abacus"]
    assert acting.chosen(app, "Controls") == []


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("\u0085", "has an entry without a name"),
        ("x" * 301, "Controls has an entry of 301 characters; at most 300 fit"),
    ],
)
def test_refused_label_is_not_taken(label: str, text: str) -> None:
    app = acting.choose(visit(PROTOCOL), "Controls", *PLAN.controls, label)
    assert text in reading.page_text(app)
    assert "plan" not in query_of(app)


def test_ticked_changes_are_those_of_the_core() -> None:
    options, app = reference_options(MOMENTUM), visit(PROTOCOL)
    assert options.offer is not None
    names = app.pills[0].options
    for ticks, label in (
        ((False, False, False), "Apply 0 of 3"),
        ((True, False, True), "Apply 2 of 3"),
        ((True, True, True), "Apply all"),
    ):
        [pills] = app.pills
        pills.set_value([name for name, tick in zip(names, ticks, strict=True) if tick])
        page = reading.page_text(acting.run(app))
        ticked = [c for c, tick in zip(options.offer.changes, ticks, strict=True) if tick]
        after = assess(apply_changes(PLAN, ticked), MOMENTUM)
        step = PlanStep(options.yours, after)
        assert f"{amount_text(after.cost)} of 3,700 credits, {after.evidence.text}" in page
        assert f"In all: {saved_text(step)} · {loss_text(step)}" in page
        worth = {row[0]: row[2] for row in reading.panel_tables(app)[1]}
        assert worth[CHOSEN if any(ticks) else "Your plan"] == after.evidence.number
        assert page.count("would add: ") == ticks.count(False)
        assert acting.can_press(app, label) == any(ticks)
        if any(ticks):
            applied = Workspace().replace(plan=after.plan)
            assert query_of(acting.press(app, label)) == to_query(applied)
            acting.undo(app)


def test_tick_never_moves_to_another_change() -> None:
    app = visit(PROTOCOL)
    app.pills[0].set_value(["Duration"])
    acting.type_number(app, "Duration (days)", 9)
    assert go(go(app, NEGOTIATION), PROTOCOL).pills[0].value == ["Duration"]
    before = app.pills[0].id
    acting.type_number(app, "Sample size", 310)
    assert app.pills[0].value == ["Duration", "Sample size"]
    assert app.pills[0].id == before, "the browser would redraw the pills"


def test_least_loss_plan_is_applied_and_undone() -> None:
    loss = reference_options(MOMENTUM).least
    app = acting.press(visit(PROTOCOL), "Apply the least-loss plan")
    assert acting.number(app, "Sample size").value == loss.plan.sample_size
    assert reading.where(app).endswith(MISSES)
    assert not any(button.key == "apply_least_loss" for button in app.button)
    assert acting.number(acting.undo(app), "Sample size").value == PLAN.sample_size


def test_failing_row_has_a_fix_button() -> None:
    app = visit(PROTOCOL, study="eco_reef_fish", lab="medium")
    button = next(item for item in app.button if item.key == "repair_budget")
    assert reading.plain(button.label) == "128 → 85 fish"
    assert "saves 430 credits · power 0.62, below the target" in reading.plain(button.help)
    acting.press(app, button.label)
    assert acting.number(app, "Sample size").value == 85
    assert reading.dimension(app, "Budget")[0].startswith("passes")
    assert "repair_budget" not in [item.key for item in app.button]


def test_undo_and_redo_name_their_edits() -> None:
    app = acting.type_number(visit(PROTOCOL), "Sample size", 420)
    assert not acting.can_press(app, "Undo"), "the same value is no step"
    for samples in (200, 100):
        acting.type_number(app, "Sample size", samples)
    for label, samples in (
        ("Undo: 200 → 100 months", 200),
        ("Undo: 420 → 200 months", 420),
        ("Redo", 200),
        ("Redo", 100),
    ):
        assert acting.number(acting.press(app, label), "Sample size").value == samples
        assert ("Redo" in acting.labels(app)) == (samples == 200 or label.startswith("Undo"))
    acting.type_number(acting.undo(app), "Duration (days)", 5)
    assert "Redo" not in acting.labels(app)
    assert acting.number(acting.undo(app), "Duration (days)").value == 8


def test_undo_stays_in_its_study() -> None:
    app = acting.type_number(visit(PROTOCOL, study="eco_reef_fish"), "Sample size", 100)
    go(acting.pick(go(app, NEGOTIATION), "Scientist", "momentum_revised"), PROTOCOL)
    assert reading.where(app).startswith("Momentum returns")
    assert not acting.can_press(app, "Undo")
    go(acting.press(go(app, COMPARE), "Undo"), PROTOCOL)
    assert "Redo" not in acting.labels(app), "that is the other study"
    assert acting.number(acting.press(app, "Undo: 128 → 100 fish"), "Sample size").value == 128


def test_reset_plan_is_undone_field_by_field() -> None:
    app = acting.open_texts(acting.type_number(visit(PROTOCOL), "Sample size", 7))
    acting.choose_more(acting.type_text(app, "Technique", "another way"), "Reset the plan")
    assert acting.number(app, "Sample size").value == 420
    assert "plan" not in query_of(app)
    acting.undo(app)
    assert (acting.number(app, "Sample size").value, app.text_area[0].value) == (7, "another way")
    assert acting.undo(app).text_area[0].value == PLAN.technique
