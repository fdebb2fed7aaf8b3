"""A challenge reveals no answer before a plan is handed in, then its score."""

import re
from typing import Final

from streamlit.testing.v1 import AppTest

from replicalab.assessment import assess
from replicalab.features.challenge.challenge_page import RESULTS
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import load_scenario
from replicalab.ui.frame import HIDDEN
from replicalab.ui.workspace import Workspace, to_query
from tests.ui import acting
from tests.ui.pages import COMPARE, NEGOTIATION, PAGES, PROTOCOL, SCENARIOS, STUDY, TRADE_OFFS
from tests.ui.reading import page_text
from tests.ui.walking import go, query_of, visit

FISH: Final = {"study": "eco_reef_fish", "lab": "medium", "challenge": "1"}
PACK: Final = load_scenario("eco_reef_fish", "medium")
BEST: Final = PlanAnalysis(assess(PACK.reference_protocol, PACK)).least.after


def workspace(app: AppTest) -> Workspace:
    result: Workspace = app.session_state["state"].workspace
    return result


def everything(app: AppTest) -> str:
    return f"{[element.proto for element in app.main]} {query_of(app)}"


def tells_the_size(sent: str) -> bool:
    return re.search(rf"(?<![\w.-]){BEST.counts.samples}(?![\w.-])", sent) is not None


def test_no_page_gives_the_answer_away() -> None:
    plain = {key: value for key, value in FISH.items() if key != "challenge"}
    assert tells_the_size(everything(visit(PROTOCOL, **plain)))
    app = visit(PROTOCOL, **FISH)
    for page in PAGES:
        sent = everything(go(app, page))
        assert not tells_the_size(sent), page
        assert f"{BEST.cost:,.0f}" not in sent, page
        if page in (NEGOTIATION, TRADE_OFFS, COMPARE):
            assert HIDDEN in sent
    assert "Lab Manager's changes" not in everything(go(app, PROTOCOL))
    assert "What happens" not in everything(go(app, STUDY))


def test_plan_is_handed_in_and_tried_again() -> None:
    app = visit(PROTOCOL, **FISH)
    acting.type_number(app, "Sample size", 100)
    acting.press(app, "Ask the Lab Manager")
    assert "Round 1, 100 fish in 21 days: suggests changes, 100 → 12 fish" in page_text(app)
    assert not tells_the_size(everything(app))
    assert acting.number(acting.press(app, "Take its offer"), "Sample size").value == 12
    acting.type_number(app, "Sample size", 100)
    acting.press(app, "Ask the Lab Manager")
    assert "Round 2, 100 fish in 18 days" in page_text(app)
    acting.type_text(app, "Your name (optional)", "=Ada <b>")
    acting.press(app, "Hand in")
    assert "Cannot be run here" in everything(app)
    assert BEST.evidence.number in everything(app)
    acting.press(app, "Try again")
    assert BEST.evidence.text not in everything(app)
    app.session_state["state"].workspace = workspace(app).replace(plan=BEST.plan)
    acting.press(acting.run(app), "Hand in")
    assert "no plan ranks above it" in everything(app)
    results = app.session_state[RESULTS]
    assert [result["regret"] for result in results][1:] == [0]
    assert results[0]["name"] == "=Ada <b>"


def test_link_carries_the_challenge_and_no_plan() -> None:
    app = visit(PROTOCOL, **FISH)
    acting.type_number(app, "Sample size", 100)
    [link] = [code.value for code in app.code if "challenge=1" in code.value]
    assert "plan=" not in link
    assert "study=eco_reef_fish" in link
    assert query_of(app)["challenge"] == "1"


def test_challenge_starts_and_ends() -> None:
    app = visit(PROTOCOL, study="eco_reef_fish", lab="medium")
    acting.choose_more(app, "Challenge")
    assert "Hand in" in acting.labels(app)
    acting.press(app, "Leave the challenge")
    assert "Hand in" not in acting.labels(app)
    assert "challenge" not in to_query(workspace(app))
    acting.choose_more(app, "Challenge")
    go(app, SCENARIOS)
    app.button(key="open_psy_stroop").click()
    acting.run(app)
    assert not workspace(app).challenge


def test_lab_manager_answers_once_per_round() -> None:
    app = visit(PROTOCOL, **FISH, rounds="2")
    for _ in range(2):
        acting.press(app, "Ask the Lab Manager")
    assert not acting.can_press(app, "Ask the Lab Manager")
    acting.press(acting.press(app, "Hand in"), "Try again")
    assert acting.can_press(app, "Ask the Lab Manager")
