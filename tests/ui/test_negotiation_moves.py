"""Plans put forward by hand: playing the Scientist oneself, and forking a round of the past."""

from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.facts.negotiation import OUTCOME_TITLES, outcome_verdict
from replicalab.models import revise
from replicalab.negotiation import Move, ScientistKind, Turn, fork
from replicalab.ui.negotiation import table
from replicalab.ui.workspace import Workspace, to_query
from tests.negotiation.playing import ACCEPT, ask, by_person, propose, revise_to
from tests.ui.acting import (
    can_press,
    choose,
    chosen,
    labels,
    number,
    pick,
    press,
    run,
    type_number,
    type_text,
)
from tests.ui.negotiating import (
    BACK,
    PACK,
    REFERENCE,
    SIMPLE,
    TOLD,
    headers,
    outcome,
    round_shown,
    rows_in,
    seated,
    shows,
)
from tests.ui.pages import NEGOTIATION, PROTOCOL, STUDY
from tests.ui.reading import alerts, keyed, page_text, panel_tables, plain, texts, tray, where
from tests.ui.walking import go, query_of, visit

PROPOSED: Final = propose(REFERENCE)
START: Final = by_person(PACK)
OFFERED: Final = by_person(PACK, PROPOSED)
SEND: Final = "Put this plan forward"


@pytest.fixture
def app() -> AppTest:
    return visit(NEGOTIATION, scientist="person")


def test_person_sees_each_move_before_making_it(app: AppTest) -> None:
    assert "Your move" in headers(app)
    assert shows(app, START)
    assert not can_press(app, "Accept the plan")
    assert not can_press(app, "Undo last round")
    assert "First" not in labels(app)
    assert alerts(app)[0].colour == "error"
    assert "A question takes this round; 4 rounds left." in page_text(app)
    type_number(type_number(app, "Sample size", 75), "Duration (days)", 5)
    assert "power 0.20" in alerts(app)[0].text
    assert "It costs 1,450 of 3,700 credits." in page_text(app)
    press(type_text(app, "Or ask the lab a question", "   "), "Ask")
    press(type_text(app, "Technique", ""), SEND)
    assert "First" not in labels(app)
    type_number(app, "Rounds at most", 1)
    assert "A question takes this round; 0 rounds left." in page_text(app)


def test_form_starts_from_protocol_page_then_offer() -> None:
    app = type_number(visit(PROTOCOL), "Sample size", 400)
    pick(go(app, NEGOTIATION), "Scientist", "person")
    assert number(app, "Sample size").value == 400
    assert chosen(app, "Controls") == REFERENCE.controls
    opening = propose(revise(REFERENCE, sample_size=400))
    offer = by_person(PACK, opening).state.offer
    assert offer is not None
    press(type_number(press(app, SEND), "Sample size", 180), SEND)
    assert shows(app, by_person(PACK, opening, revise_to(revise(offer.plan, sample_size=180))))


def test_proposal_is_answered_and_its_offer_accepted(app: AppTest) -> None:
    press(app, SEND)
    assert shows(app, OFFERED)
    assert round_shown(app) == "Round 1 of 1"
    assert (number(app, "Sample size").value, number(app, "Duration (days)").value) == (210, 6)
    assert "the Lab Manager offers 210 months in 6 days: power 0.47" in outcome(app)[1]
    press(app, "Accept the offer")
    assert shows(app, by_person(PACK, PROPOSED, ACCEPT))
    assert round_shown(app) == "Round 2 of 2"
    assert query_of(app)["round"] == "2"
    assert SEND not in labels(app)
    total = rows_in(app, "given")[-1]
    assert (total[0], total[1], total[3]) == ("In all", "−2,200", "0.76 → 0.47")


def test_rounds_are_undone_singly_or_all_together(app: AppTest) -> None:
    press(press(app, SEND), "Accept the offer")
    assert shows(press(app, "Undo last round"), OFFERED)
    press(press(app, "Accept the offer"), "Start again")
    assert shows(app, START)
    assert "moves" not in query_of(app)
    assert shows(press(app, BACK), by_person(PACK, PROPOSED, ACCEPT))
    press(app, "Start again")
    assert shows(press(press(app, SEND), "Undo last round"), START)


def test_turn_pressed_twice_is_played_once() -> None:
    session = table.RunSession(OFFERED)
    for _ in range(2):
        session.play(1, Turn(action=ACCEPT))
    assert [done.number for done in session.negotiation.rounds] == [0, 1]


def test_moves_stay_with_their_players_and_lab(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "_MOST_AGAIN", 2)
    press(app, SEND)
    assert shows(pick(app, "Lab Manager", "least_loss"), START)
    assert shows(press(app, BACK), OFFERED)
    assert BACK not in labels(app)
    type_number(go(app, PROTOCOL), "Sample size", 77)
    assert shows(go(app, NEGOTIATION), OFFERED)
    go(pick(go(app, STUDY), "Lab", "hard"), NEGOTIATION)
    assert shows(app, START)
    assert shows(press(app, BACK), OFFERED)
    assert "medium lab" in where(app)
    pick(app, "Scientist", "baseline")
    for limit in (1, 2, 3):
        type_number(app, "Rounds at most", limit)
    assert len(app.session_state["negotiation_table"].runs) == 2
    assert shows(press(app, BACK), OFFERED)


def reloaded(app: AppTest) -> AppTest:
    return visit(NEGOTIATION, **query_of(app))


def test_moves_of_a_person_survive_a_reload(app: AppTest) -> None:
    press(type_text(press(app, SEND), "Or ask the lab a question", "Which days?"), "Ask")
    negotiation = by_person(PACK, PROPOSED, ask("Which days?"))
    press(app, "Accept the offer")
    again = reloaded(app)
    assert shows(again, by_person(PACK, PROPOSED, ask("Which days?"), ACCEPT))
    assert round_shown(again) == "Round 3 of 3"
    assert shows(press(again, "Undo last round"), negotiation)
    assert shows(reloaded(again), negotiation)


def test_unplayable_moves_of_a_link_offer_remedy() -> None:
    late = Move(number=7, action=ACCEPT)
    app = visit(
        NEGOTIATION, **to_query(Workspace().changed(scientist=ScientistKind.PERSON, moves=(late,)))
    )
    [problem] = alerts(app)
    assert problem.colour == "error"
    assert shows(press(app, "Start again"), START)


EXTRACT: Final = ["research server", "vendor-approved extract on the research server"]
ROUND_2: Final = TOLD.rounds[1].plan
assert ROUND_2 is not None
OTHER: Final = revise(ROUND_2.plan, sample_size=300, duration_days=5, required_equipment=EXTRACT)
FORKED: Final = fork(TOLD, 1, OTHER)


def tree(app: AppTest) -> list[str]:
    courses = next(radio for radio in app.radio if radio.label == "Run and forks")
    return [plain(name) for name in courses.options]


def choose_course(app: AppTest, place: int) -> AppTest:
    next(radio for radio in app.radio if radio.label == "Run and forks").set_value(place)
    return run(app)


def forked() -> AppTest:
    app = press(visit(NEGOTIATION, **SIMPLE, round="2"), "Fork here")
    type_number(type_number(app, "Sample size", 300), "Duration (days)", 5)
    return press(choose(app, "Equipment", *EXTRACT), "Continue from here")


def test_run_and_fork_are_compared_by_round() -> None:
    app = forked()
    before, after = outcome_verdict(TOLD).text, outcome_verdict(FORKED).text
    assert before != after
    assert scrubber(app).startswith("Fork 1 in round 2: Round 2 of ")
    assert page_text(app).count(before) == 1
    assert page_text(app).count(after) == 1
    table = rows_in(app, "branches")
    assert table[0] == ["Round", "The run", "Answer", "Fork 1 in round 2", "Answer to it"]
    assert "210 months in 7 days" in table[1][1]
    assert "300 months in 5 days" in table[1][3]
    assert [row[0] for row in table[1:]] == ["2", "3", "4", "5"]
    assert tree(app) == [
        "The run: agreed below the floor, power 0.15",
        "└─ Fork 1 in round 2: agreed, power 0.62",
    ]
    press(app, "Compare them")
    assert [(item.name, len(item.case.moves)) for item in tray(app)] == [
        ("The run", 0),
        ("Fork 1 in round 2", 1),
    ]
    rows = {row[0]: row[1:] for row in panel_tables(app)[-1]}
    outcomes = [
        OUTCOME_TITLES[negotiation.outcome] for negotiation in (TOLD, FORKED) if negotiation.outcome
    ]
    assert [cell.split(" ", 1)[1] for cell in rows["Negotiated"]] == outcomes
    assert rows["Sample size"] == ["52", "300"]
    assert rows["Plan judged"] == ["agreed in round 5", "agreed in round 2"]


def test_fork_of_a_fork_joins_the_tree() -> None:
    app = press(press(forked(), "Continue with this fork"), "First")
    app = press(press(press(app, "Next"), "Fork here"), "Continue from here")
    assert [name.partition(" in round")[0] for name in tree(app)] == [
        "The run: agreed below the floor, power 0.15",
        "└─ Fork 1",
        "└─── Fork 2",
    ]
    for place, played in ((0, TOLD), (1, FORKED)):
        choose_course(app, place)
        assert outcome_verdict(played).text in page_text(app)
        assert len(tree(app)) == 3


def test_branch_ends_when_dropped_or_players_change() -> None:
    app = forked()
    assert "Continue with this fork" not in labels(pick(app, "Lab Manager", "least_loss"))
    app = press(press(pick(app, "Lab Manager", "reference"), "Fork here"), "Continue from here")
    press(app, "Drop this fork")
    assert shows(app, TOLD)
    assert "The run" not in page_text(app)


def test_kept_fork_survives_a_reload_and_is_undone() -> None:
    app = press(forked(), "Continue with this fork")
    for visible in (app, reloaded(app)):
        assert shows(visible, FORKED)
        assert round_shown(visible) == "Round 2 of 2"
        assert "Your fork from round 2." in page_text(visible)
    press(press(app, "Fork here"), "Continue from here")
    assert "Fork 1 in round 2 and fork 2 in round 2" in headers(app)
    assert shows(press(app, "Back to how it was"), TOLD)
    assert shows(choose_course(press(app, BACK), 1), FORKED)
    type_number(go(app, PROTOCOL), "Sample size", 290)
    assert not shows(go(app, NEGOTIATION), FORKED)
    assert shows(press(app, BACK), FORKED), "it comes back with its opening plan"
    assert number(go(app, PROTOCOL), "Sample size").value == 420


def scrubber(app: AppTest) -> str:
    return next(text for text in texts(keyed(app, "scrubber")) if "Round " in text)


def test_person_plays_on_in_a_fork() -> None:
    app = press(visit(NEGOTIATION, scientist="person"), SEND)
    press(press(app, "Fork here"), "Continue from here")
    assert labels(app).count("Accept the offer") == 1
    assert scrubber(app) == "Fork 1 in round 1: Round 1 of 1 so far", "the fields are its next move"
    assert "Fork here" not in labels(app)
    press(type_text(app, "Or ask the lab a question", "?"), "Ask")
    assert scrubber(app) == "Fork 1 in round 1: Round 2 of 2 so far"
    assert scrubber(press(app, "Back")) == "Fork 1 in round 1: Round 1 of 2 so far"
    assert "Next is round 3 of at most 5: " in page_text(app)
    assert scrubber(press(app, "Drop this fork")) == "Round 1 of 1 so far"
    press(press(app, "Fork here"), "Continue from here")
    press(app, "Accept the offer")
    ended = "Fork 1 in round 1\ncaution Agreed below the floor in round 2"
    assert ended in page_text(app)
    assert ended not in page_text(press(app, "Undo last round"))
    press(press(app, "Accept the offer"), "Continue with this fork")
    assert outcome(app)[0] == "caution"


def test_answers_of_a_person_survive_a_reload() -> None:
    app = visit(NEGOTIATION, manager="person")
    assert round_shown(app) == "Round 1 of 1"
    assert not can_press(app, "Accept"), "the plan fails"
    press(app, "Reject")
    assert round_shown(app) == "Round 2 of 2"
    again = visit(NEGOTIATION, **query_of(app))
    assert round_shown(again) == "Round 2 of 2"
    press(press(app, "Reject"), "Reject")
    press(app, "Accept")
    assert outcome(app)[1].startswith("Agreed in round 4")
    press(app, "Undo last round")
    assert (round_shown(app), can_press(app, "Accept")) == ("Round 4 of 4", True)


def test_counter_offer_must_pass_and_becomes_the_opening() -> None:
    app = visit(NEGOTIATION, manager="person")
    type_number(app, "Duration (days)", 9)
    assert not can_press(app, "Send this offer")
    press(type_number(app, "Duration (days)", 6), "Send this offer")
    assert outcome(app)[1].startswith("No deal"), "210 months are below the floor"


def test_person_plays_one_side() -> None:
    app = pick(visit(NEGOTIATION, scientist="person"), "Lab Manager", "person")
    assert (seated(app), seated(app, "Lab Manager")) == ("step_by_step", "person")
    pick(app, "Scientist", "person")
    assert (seated(app), seated(app, "Lab Manager")) == ("person", "reference")
