"""Playing the Scientist oneself: every way to answer, the way back, and what survives."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.models import revise
from replicalab.negotiation import ScientistKind, begin, play_action, setup_for
from replicalab.scenarios import load_scenario
from replicalab.sentences import outcome_verdict
from tests.negotiation.playing import ACCEPT, ask, propose, revise_to
from tests.ui.negotiating import labels, matrix, round_shown, rows_in, seat
from tests.ui.reading import (
    NEGOTIATION,
    PROTOCOL,
    Alert,
    alerts,
    can_press,
    chosen,
    go,
    number,
    open_lab,
    press,
    query_of,
    said,
    type_number,
    type_text,
    visit,
)

PACK = load_scenario("fin_momentum", "medium")
REFERENCE = PACK.reference_protocol
START = begin(setup_for(PACK, None, 5, ScientistKind.PERSON), PACK)
OFFERED = play_action(START, propose(REFERENCE), PACK)


@pytest.fixture
def app() -> AppTest:
    return visit(NEGOTIATION, scientist="person")


def verdict(app: AppTest) -> str:
    return alerts(app)[0].text


def test_a_person_begins_with_nothing_on_the_table(app: AppTest) -> None:
    assert "Your move: round 1 of 5" in [header.value for header in app.header]
    assert verdict(app) == outcome_verdict(START, PACK).text
    assert not can_press(app, "Accept the plan")
    assert not can_press(app, "Undo last round")
    assert "First" not in labels(app)


def test_form_starts_from_the_plan_of_the_protocol_page() -> None:
    app = type_number(visit(PROTOCOL), "Sample size", 120)
    seat(go(app, NEGOTIATION), "Scientist", "person")
    assert number(app, "Sample size").value == 120
    assert chosen(app, "Controls") == REFERENCE.controls


def test_preview_says_what_is_about_to_be_sent(app: AppTest) -> None:
    assert alerts(app)[1].colour == "error"
    type_number(app, "Sample size", 75)
    type_number(app, "Duration (days)", 5)
    assert "Planned evidence: power 0.33, below the floor of 0.50." in alerts(app)[1].text
    assert "It costs 1,450 of 2,600 credits." in said(app)


def test_proposal_is_answered_and_the_offer_fills_the_form(app: AppTest) -> None:
    press(app, "Put this plan forward")
    assert verdict(app) == outcome_verdict(OFFERED, PACK).text
    assert round_shown(app) == "Round 1 of 1"
    assert "I offer instead:" in said(app)
    assert number(app, "Sample size").value == 150
    assert number(app, "Duration (days)").value == 6
    assert "The Lab Manager's offer: 150 samples in 6 days for 2,250 of 2,600 credits" in said(app)


def test_offer_is_accepted(app: AppTest) -> None:
    press(press(app, "Put this plan forward"), "Accept the offer")
    assert alerts(app)[0] == Alert(
        "success", outcome_verdict(play_action(OFFERED, ACCEPT, PACK), PACK).text
    )
    assert round_shown(app) == "Round 2 of 2"
    assert query_of(app)["round"] == "2"
    assert "Put this plan forward" not in labels(app)
    assert "The Scientist gave 1,600 credits and 0.28 of power" in said(app)


def test_edited_plan_is_put_forward(app: AppTest) -> None:
    press(app, "Put this plan forward")
    type_number(app, "Sample size", 180)
    press(app, "Put this plan forward")
    offer = OFFERED.rounds[0].suggestion
    assert offer is not None
    again = play_action(OFFERED, revise_to(revise(offer.revised_protocol, sample_size=180)), PACK)
    assert verdict(app) == outcome_verdict(again, PACK).text


def test_question_is_answered_from_the_lab(app: AppTest) -> None:
    type_text(app, "Or ask the lab a question", "How many credits are left?")
    press(app, "Ask")
    trace = play_action(START, ask("How many credits are left?"), PACK)
    answer = trace.rounds[0].lab_manager_action
    assert answer is not None
    assert answer.explanation in said(app)
    assert "A question is answered from the lab's own data" in said(app)
    assert matrix(app)[1] == ["Protocol", "no plan"]


def test_blank_question_is_not_asked(app: AppTest) -> None:
    press(type_text(app, "Or ask the lab a question", "   "), "Ask")
    assert "First" not in labels(app)


def test_question_is_shown_as_plain_text(app: AppTest) -> None:
    hostile = "<b>![x](https://example.org/x.png) :red[free] $x$"
    press(type_text(app, "Or ask the lab a question", hostile), "Ask")
    assert hostile in [text.value for text in app.text]
    assert not any(hostile in markdown.value for markdown in app.markdown)


def test_person_may_walk_away(app: AppTest) -> None:
    press(press(app, "Put this plan forward"), "Walk away")
    assert alerts(app)[0].colour == "error"
    assert verdict(app).startswith("No deal after round 2: the Scientist walked away")
    assert "Has nothing to answer." in said(app)


def test_walking_away_at_once_leaves_no_plan(app: AppTest) -> None:
    press(app, "Walk away")
    assert verdict(app).startswith("No deal: the Scientist walked away with no plan on the table")
    assert "No plan has been put forward yet" in said(app)
    assert "No plan was ever on the table" in said(app)


def test_last_round_is_taken_back(app: AppTest) -> None:
    press(press(app, "Put this plan forward"), "Accept the offer")
    press(app, "Undo last round")
    assert verdict(app) == outcome_verdict(OFFERED, PACK).text
    press(app, "Undo last round")
    assert verdict(app) == outcome_verdict(START, PACK).text


def test_person_starts_again(app: AppTest) -> None:
    press(press(app, "Put this plan forward"), "Accept the offer")
    press(app, "Start again")
    assert verdict(app) == outcome_verdict(START, PACK).text


def test_rounds_run_out(app: AppTest) -> None:
    type_number(app, "Rounds at most", 1)
    press(app, "Put this plan forward")
    assert verdict(app).startswith("No deal after round 1: the rounds ran out")


def test_empty_technique_is_said_and_not_sent(app: AppTest) -> None:
    type_text(app, "Technique", "")
    assert alerts(app)[1].text.startswith("Technique and rationale may not be empty.")
    press(app, "Put this plan forward")
    assert "First" not in labels(app)


def test_talks_survive_a_walk_to_another_page_and_an_edit_there(app: AppTest) -> None:
    press(app, "Put this plan forward")
    before = verdict(app)
    type_number(go(app, PROTOCOL), "Sample size", 77)
    assert verdict(go(app, NEGOTIATION)) == before


def test_talks_of_another_player_and_another_lab_are_kept_apart(app: AppTest) -> None:
    press(app, "Put this plan forward")
    before = verdict(app)
    seat(app, "Lab Manager", "least_loss")
    assert verdict(app) == "Round 1 of 5: no plan is on the table yet."
    seat(app, "Lab Manager", "reference")
    assert verdict(app) == before
    go(open_lab(go(app, "app.py"), "hard"), NEGOTIATION)
    assert verdict(app) == "Round 1 of 5: no plan is on the table yet."


def test_talks_survive_any_number_of_negotiations_by_rule(app: AppTest) -> None:
    press(app, "Put this plan forward")
    before = verdict(app)
    seat(app, "Scientist", "baseline")
    for most in [*range(1, 13), *range(1, 6)]:
        type_number(app, "Rounds at most", most)
    for most in range(6, 12):
        seat(type_number(app, "Rounds at most", most), "Lab Manager", "least_loss")
        seat(app, "Lab Manager", "reference")
    type_number(app, "Rounds at most", 5)
    assert verdict(seat(app, "Scientist", "person")) == before


def test_ledger_has_running_totals_of_each_side(app: AppTest) -> None:
    press(press(app, "Put this plan forward"), "Accept the offer")
    assert rows_in(app, "ledger") == [
        ["Round", "Who", "What", "Credits", "Evidence", "Credits in all", "Evidence in all"],
        [
            "2",
            "Scientist",
            "300 → 150 samples, 8 → 6 days, other equipment",
            "−1,600",
            "power 0.86 → 0.58",
            "−1,600",
            "power 0.86 → 0.58",
        ],
    ]


def test_judge_is_silent_until_the_end(app: AppTest) -> None:
    def judged() -> bool:
        return any("What a judge sees" in expander.label for expander in app.expander)

    press(app, "Put this plan forward")
    assert not judged()
    press(app, "Accept the offer")
    assert judged()
