"""Every page: a first visit with the real story, every study and lab, numbers from the core."""

from __future__ import annotations

from typing import Final

import pytest
from replicalab.costs import cost_terms, counts_of
from replicalab.margins import margins

from replicalab.agents import FeasibilityCheckResult, check_feasibility, suggest_alternative
from replicalab.lexicon import amount_text
from replicalab.models import DIMENSIONS, Protocol
from replicalab.scenarios import Difficulty, Pack, list_scenarios, load_scenario
from tests.factories import change_pack
from tests.ui.reading import (
    NEGOTIATION,
    PAGES,
    PROTOCOL,
    SCENARIOS,
    Alert,
    alerts,
    keyed,
    plain,
    said,
    table,
    texts,
    tile,
    visit,
    where,
)

LABS: Final = [
    pytest.param(study.scenario_id, level.value, id=f"{study.scenario_id}-{level}")
    for study in list_scenarios()
    for level in Difficulty
]
TITLES: Final = {study.scenario_id: study.title for study in list_scenarios()}


# --- A first visit ---


@pytest.mark.parametrize("file", PAGES)
def test_page_opens_on_a_first_visit_on_the_default_study(file: str) -> None:
    app = visit(file)
    assert where(app) == (
        "Returns to Buying Winners and Selling Losers: Implications for Stock Market Efficiency "
        "· medium lab · Not feasible"
    )
    assert len(app.title) == 1


def test_front_door_tells_the_real_story_on_a_first_visit() -> None:
    first = alerts(visit())[0]
    assert first == Alert(
        "warning",
        "The reference protocol (300 samples, 8 days, 3,850 credits) fails 4 of 7 checks here: "
        "protocol, budget, equipment and schedule. The Lab Manager offers 150 samples, 6 days, "
        "2,250 credits: the planned power falls from 0.86 to 0.58, below the target of 0.80 but "
        "above the floor of 0.50.",
    )


def test_front_door_says_what_its_words_mean() -> None:
    assert (
        "Samples: months of long-short return. Power: the chance of finding the assumed effect; "
        "target 0.80: what the study aims for; floor 0.50: the least worth running."
    ) in texts(visit().main)


@pytest.mark.parametrize("file", [file for file in PAGES if file != SCENARIOS])
def test_header_says_what_a_sample_is(file: str) -> None:
    assert "Samples: mice in the two primary arms." in texts(
        visit(file, study="bio_jq1_myeloma").main
    )


def test_lab_tab_says_why_an_item_booked_for_a_day_fails_a_plan_of_three() -> None:
    app = visit(study="psy_stroop")
    assert ["voice-key booth", "equipment", "booked until day 1"] in table(app, 1)
    assert (
        "A plan starts on day 1 and needs its equipment throughout, so an item that is booked on "
        "any day cannot be used."
    ) in said(app)


def test_front_door_puts_constraints_into_words() -> None:
    page = said(visit())
    assert "months in the original window: at most 300 months (must hold)" in page
    assert "live orders: exactly 0 orders (must hold; stated, not checked)" in page
    assert "cost deducted: at least 0.5 percent (should hold; stated, not checked)" in page
    assert "lab budget: at most 2,600 credits (must hold)" in page


def test_front_door_writes_a_negative_effect_with_a_minus_sign(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pack = load_scenario("fin_momentum")
    design = pack.design.model_copy(update={"effect_published": -0.5})
    own = change_pack(pack, design=design)
    monkeypatch.setattr("replicalab.workspace.load_scenario", lambda *_: own)
    monkeypatch.setattr("replicalab.ui.own_studies.find", lambda *_: own)
    assert table(visit())[1][:2] == ["Published effect", "−0.5"]


def test_protocol_page_checks_the_reference_protocol_on_a_first_visit() -> None:
    app = visit(PROTOCOL)
    assert alerts(app) == [
        Alert(
            "error",
            "Not feasible here: protocol, budget, equipment and schedule fail. "
            "Planned evidence: power 0.86, which meets the target of 0.80.",
        ),
    ]
    assert tile(app, "budget") == ["Budget fail", "3,850 / 2,600 credits", "slack −1,250 · binding"]
    assert tile(app, "schedule") == ["Schedule fail", "8 / 6 days", "slack −2"]
    assert tile(app, "staff") == ["Staff pass", "4 / 4 staff units", "slack 0"]


def test_protocol_page_prices_each_change_on_a_first_visit() -> None:
    app = visit(PROTOCOL)
    assert "In all: saves 1,600 credits · power 0.86 → 0.58" in said(app)
    titles = [plain(box.label) for box in app.checkbox]
    assert titles[0] == (
        "1. Equipment: licensed-data terminal → vendor-approved extract on the research server"
    )
    assert titles[1].startswith("2. Duration: 8")
    assert titles[2].startswith("3. Sample size: 300")
    prices = [texts(keyed(app, f"change_{number}"))[0].splitlines()[-1] for number in (1, 2, 3)]
    assert prices == [
        "saves no credits · power 0.86, unchanged",
        "saves 100 credits · power 0.86, unchanged",
        "saves 1,500 credits · power 0.86 → 0.58; smallest detectable effect 0.162 → 0.23",
    ]


def test_negotiation_page_ends_below_the_floor_on_a_first_visit() -> None:
    app = visit(NEGOTIATION)
    assert alerts(app) == [
        Alert(
            "warning",
            "Agreed below the floor in round 5: 37 samples in 5 days for 1,070 of 2,600 credits; "
            "planned evidence: power 0.18, below the floor of 0.50; in this lab 195 samples in "
            "4 days would have reached power 0.69.",
        )
    ]
    assert "Round 1 of 5" in said(app)


# --- Every study in every lab ---


def answer_expected(study: str, lab: str) -> str:
    """Return what the study's author says that the lab answers to the reference protocol."""
    expected = load_scenario(study, lab).expected
    assert expected is not None
    return expected.answer.value


@pytest.mark.parametrize("file", PAGES)
@pytest.mark.parametrize(("study", "lab"), LABS)
def test_page_opens_each_study_in_each_lab(file: str, study: str, lab: str) -> None:
    header = where(visit(file, study=study, lab=lab))
    title, level, verdict = header.split(" · ")
    assert (title, level) == (TITLES[study], f"{lab} lab")
    assert verdict == ("Feasible" if answer_expected(study, lab) == "accept" else "Not feasible")


@pytest.mark.parametrize("study", list(TITLES))
def test_front_door_says_that_each_easy_lab_accepts_and_shows_success(study: str) -> None:
    story = alerts(visit(study=study, lab="easy"))[0]
    assert story.colour == "success"
    assert "This lab can run it." in story.text


@pytest.mark.parametrize(("study", "lab"), LABS)
def test_front_door_shows_what_the_lab_has(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    app = visit(study=study, lab=lab)
    assert {metric.label: metric.value for metric in app.metric} == {
        "Budget, credits": amount_text(pack.lab.budget),
        "Days": str(pack.lab.days),
        "Staff units": str(pack.lab.staff),
        "Shortest useful plan, days": str(pack.min_days),
    }
    shown = [row[0] for row in table(app, 1)[1:]]
    assert shown == [r.label for r in pack.resources if r.category.value != "personnel"]


def test_front_door_never_shows_the_hidden_reference() -> None:
    for study in TITLES:
        hidden = load_scenario(study).hidden_reference_spec
        page = said(visit(study=study))
        assert hidden.summary not in page


# --- The four answers of the Lab Manager ---


ANSWERS: Final = {
    "Accepts All seven dimensions pass: the lab runs the plan as it is.": "accept",
    "Suggests changes The lab cannot run the plan as it is; a changed plan fits all five lab "
    "constraints.": "suggest_alternative",
    "Rejects The lab cannot run the plan, and no change that it may make repairs every "
    "constraint.": "reject",
    "Reports The lab has the means, but the plan breaks a restriction or is unsound on "
    "paper.": "report_feasibility",
}


def answer_shown(study: str, lab: str) -> str:
    """Return how the Protocol page puts the Lab Manager's answer to the reference protocol."""
    return next(
        text for text in texts(visit(PROTOCOL, study=study, lab=lab).main) if text in ANSWERS
    )


@pytest.mark.parametrize(("study", "lab"), LABS)
def test_protocol_page_explains_the_answer_that_the_study_expects(study: str, lab: str) -> None:
    assert ANSWERS[answer_shown(study, lab)] == answer_expected(study, lab)


# --- A number on a page equals a core value ---


def checked(study: str, lab: str) -> tuple[Pack, Protocol, FeasibilityCheckResult]:
    """Return a study in a lab, its reference protocol, and the check of it."""
    pack = load_scenario(study, lab)
    return pack, pack.reference_protocol, check_feasibility(pack.reference_protocol, pack)


@pytest.mark.parametrize(("study", "lab"), LABS)
def test_tiles_show_the_core_margins(study: str, lab: str) -> None:
    pack, plan, check = checked(study, lab)
    app = visit(PROTOCOL, study=study, lab=lab)
    for margin in margins(plan, check, pack):
        title, numbers, *slack = tile(app, margin.dimension.value)
        verdict = "pass" if margin.ok else "fail"
        assert title == f"{margin.dimension.value.capitalize()} {verdict}"
        assert numbers == margin.text
        shown = [f"slack {margin.slack_text}"] if margin.has_slack else []
        assert [text.split(" · ")[0] for text in slack] == shown


@pytest.mark.parametrize(("study", "lab"), LABS)
def test_cost_table_and_chart_show_the_core_terms(study: str, lab: str) -> None:
    pack, plan, check = checked(study, lab)
    app = visit(PROTOCOL, study=study, lab=lab)
    terms = cost_terms(counts_of(plan), pack.cost_model)
    rows = {row[0]: row[-1] for row in table(app, 1)[1:]}
    shown = {name: credits for name, credits in rows.items() if name[0].isalpha()}
    offered = shown.pop("As ticked", None)
    assert shown == {
        **{term.label: amount_text(term.credits) for term in terms},
        "Total": amount_text(check.estimated_cost),
        "Budget": amount_text(pack.lab.budget),
    }
    suggestion = suggest_alternative(plan, check, pack)
    assert offered == (suggestion and amount_text(suggestion.post_check.estimated_cost))
    chart = app.get("plotly_chart")[1].proto.spec
    for credits in shown.values():
        assert f'"{credits}"' in chart


@pytest.mark.parametrize(("study", "lab"), LABS)
def test_plan_after_all_changes_costs_and_buys_what_the_study_expects(study: str, lab: str) -> None:
    expected = load_scenario(study, lab).expected
    assert expected is not None
    if expected.answer.value == "accept":
        return
    app = visit(PROTOCOL, study=study, lab=lab)
    app.button(key="apply_all").click().run()
    assert not app.exception
    assert tile(app, "budget")[1].startswith(f"{expected.credits:,.0f} / ")
    assert tile(app, "schedule")[1].startswith(f"{expected.duration_days} / ")
    failing = [d.value for d in DIMENSIONS if tile(app, d.value)[0].endswith("fail")]
    assert failing == expected.still_fails


@pytest.mark.parametrize(("study", "lab"), LABS)
def test_exactly_one_tile_is_marked_as_binding(study: str, lab: str) -> None:
    app = visit(PROTOCOL, study=study, lab=lab)
    marked = [d.value for d in DIMENSIONS if "binding" in tile(app, d.value)[-1]]
    assert len(marked) == 1
    assert marked[0] in {"budget", "schedule", "staff"}


def test_verdicts_differ_in_word_and_symbol_too() -> None:
    shown = [str(text.value) for text in visit(PROTOCOL).markdown]
    assert "**Budget** :red[:material/cancel: fail]" in shown
    assert "**Staff** :green[:material/check_circle: pass]" in shown
    assert plain("**Budget** :red[:material/cancel: fail]") == "Budget fail"


@pytest.mark.parametrize("study", TITLES)
def test_front_door_says_why_each_planning_value_was_chosen(study: str) -> None:
    design = load_scenario(study).design
    rows = {row[0]: row[1:] for row in table(visit(study=study))[1:]}
    assert len(rows) >= 8
    for why in design.why.values():
        assert " ".join(why.split()) in [reason for _, reason in rows.values()]
