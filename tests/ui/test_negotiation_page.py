"""The Negotiation page: rounds, players, files, recordings, moves of a person and forks."""

import json
from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab import negotiation as core
from replicalab.facts.negotiation_facts import outcome_verdict
from replicalab.models import revise
from replicalab.negotiation.records import ROUND_BYTES
from replicalab.scenarios import load_scenario
from replicalab.ui.negotiation_page import sessions
from replicalab.ui.workspace import Workspace, to_query
from tests.golden import assert_golden, new_lines
from tests.negotiation.playing import ACCEPT, ask, by_person, by_rule, propose, revise_to
from tests.ui.acting import (
    can_press,
    choose,
    chosen,
    labels,
    number,
    pick,
    press,
    press_first,
    type_number,
    type_text,
)
from tests.ui.negotiating import (
    BACK,
    PACK,
    REFERENCE,
    SIMPLE,
    TOLD,
    hand_over,
    outcome,
    round_shown,
    rows_in,
    scrubber,
    seated,
    shows,
)
from tests.ui.pages import NEGOTIATION, PROTOCOL, STUDY
from tests.ui.reading import alerts, page_text, panel_tables, plain, tray, where
from tests.ui.walking import go, query_of, visit

AWARE: Final = core.ScientistKind.DIRECT
STUCK: Final = {"study": "math_four_colour", "lab": "hard"}
STEPS: Final = ("First", "Back", "Next", "Last", "Play")

MILLIKAN: Final = load_scenario("phys_millikan", "hard", 3)
ENDED: Final = by_rule(
    MILLIKAN,
    MILLIKAN.reference_protocol,
    7,
    core.ScientistKind.DIRECT,
    core.LabManagerKind.LEAST_LOSS,
)
HOME: Final = "Back to your own"
RECORDINGS: Final = core.shipped_recordings()


STATES: Final[dict[str, dict[str, str]]] = {
    "baseline": {**SIMPLE, "round": "2"},
    "step by step": {"round": "3"},
    "direct": {"scientist": "direct", "round": "2"},
    "a person answers": {"manager": "person"},
    "stuck": {**STUCK, **SIMPLE, "round": "5"},
    "by hand": {"scientist": "person"},
    "model": {"scientist": "model"},
    "recorded": {"recording": "momentum_revised"},
}


def test_page_of_each_scientist_reads_as_pinned() -> None:
    texts = {name: page_text(visit(NEGOTIATION, **query)) for name, query in STATES.items()}
    assert_golden("pages/negotiation", new_lines(texts))


def test_players_are_offered_seated_and_in_the_link() -> None:
    app = visit(NEGOTIATION, **SIMPLE)
    assert shows(pick(app, "Scientist", "direct"), by_rule(PACK, REFERENCE, 5, AWARE))
    pick(pick(app, "Scientist", "baseline"), "Lab Manager", "least_loss")
    assert shows(app, by_rule(PACK, REFERENCE, lab_manager=core.LabManagerKind.LEAST_LOSS))
    again = visit(NEGOTIATION, **query_of(app))
    assert outcome(again) == outcome(app)
    assert (seated(again), seated(again, "Lab Manager")) == ("baseline", "least_loss")


def test_plan_without_samples_cannot_be_negotiated() -> None:
    app = visit(NEGOTIATION, samples="0")
    [problem] = alerts(app)
    assert problem.colour == "error"
    assert "cannot start: the plan has a sample size of 0" in problem.text
    go(type_number(go(app, PROTOCOL), "Sample size", 150), NEGOTIATION)
    assert round_shown(app).startswith("Round 1 of ")


def test_saved_negotiation_opens_in_its_study() -> None:
    app = hand_over(visit(NEGOTIATION), core.save(ENDED))
    assert where(app).startswith(f"{MILLIKAN.paper.name} · hard lab, seed 3")
    assert outcome_verdict(ENDED).text not in page_text(app), "the end comes with the last round"
    assert shows(app, ENDED)
    players = "From the file mine.json. Scientist: direct. Lab Manager: least-loss."
    assert players in page_text(app)


def test_closing_a_file_restores_the_workspace() -> None:
    app = type_number(visit(PROTOCOL, study="psy_stroop", lab="easy"), "Sample size", 44)
    press(pick(go(app, NEGOTIATION), "Scientist", "person"), "Put this plan forward")
    before = where(app), query_of(app)
    for opened in (core.save(ENDED), RECORDINGS[0].model_dump_json()):
        hand_over(app, opened)
        assert where(app) != before[0]
    assert seated(app) == "recorded"
    press_first(app, HOME)
    assert (where(app), query_of(app)) == before
    assert seated(app) == "person"


def test_closing_a_recorded_run_restores_the_workspace() -> None:
    app = go(type_number(visit(PROTOCOL, study="psy_stroop"), "Sample size", 44), NEGOTIATION)
    before = where(app), query_of(app)
    setup, recording = RECORDINGS[-1].setup, RECORDINGS[-1].recording
    assert recording is not None
    pick(app, "Scientist", recording.key)
    pack = load_scenario(setup.scenario_id, setup.difficulty.value, setup.seed)
    for page in (app, visit(NEGOTIATION, **query_of(app))):
        assert where(page).startswith(pack.paper.name)
        assert shows(page, core.replay(RECORDINGS[-1], pack))
        assert "\nAttempt 1: " in page_text(page)
    press_first(app, HOME)
    assert (where(app), query_of(app)) == before


def with_setup(**changes: int) -> str:
    data = json.loads(core.save(ENDED))
    return json.dumps({**data, "setup": data["setup"] | changes})


REFUSED: Final[dict[str | bytes, str]] = {
    b"\xff\xfe\x00": "is not UTF-8 text; save the file as UTF-8",
    "[]": "the file holds no negotiation",
    with_setup(max_rounds=20): "max_rounds is 20, and at most 12 can be shown here; play",
    with_setup(seed=10**9): "seed is 1,000,000,000, and at most 999,999 can be shown here",
}


def test_unusable_file_is_refused_and_page_stays() -> None:
    app = visit(NEGOTIATION)
    for text, problem in REFUSED.items():
        hand_over(app, text)
        [message] = [alert.text for alert in alerts(app) if alert.colour == "error"]
        assert message.startswith("That file cannot be opened: ")
        assert problem in message
        assert round_shown(app) == "Round 1 of 4"


def test_unplayable_recording_offers_remedies() -> None:
    app = visit(NEGOTIATION, recording="zebra")
    assert "'zebra' is not known; known: momentum_revised" in alerts(app)[0].text
    assert "Open its study" not in labels(app)
    app = visit(NEGOTIATION, study="psy_stroop", recording="momentum_revised")
    assert "The recording cannot be played: it is about fin_momentum" in alerts(app)[0].text
    press(app, "Open its study")
    assert where(app).startswith("Momentum returns")
    press(press(app, "Fork here"), "Continue from here")
    assert "Accept the offer" in labels(app), "a person plays the fork on"


ROOM: Final = "replicalab.limits.MOST_GAME_BYTES"
FULL: Final = "MiB of a session: no more are played or opened"


def test_full_session_plays_on_after_forgetting(monkeypatch: pytest.MonkeyPatch) -> None:
    app = visit(NEGOTIATION)
    for rounds in (4, 5):
        hand_over(app, core.save(by_person(PACK, propose(REFERENCE), max_rounds=rounds)))
    assert FULL not in page_text(app)
    monkeypatch.setattr(ROOM, 2 * ROUND_BYTES)
    press(app, "Walk away")
    assert FULL in page_text(app)
    hand_over(app, core.save(by_person(PACK, propose(REFERENCE), propose(REFERENCE))))
    [problem] = [alert.text for alert in alerts(app) if "cannot be opened" in alert.text]
    assert "forget one, then open it again" in problem
    assert FULL not in page_text(press(app, "Forget it"))
    press(app, "Walk away")
    assert round_shown(app) == "Round 2 of 2"


def test_scrubber_steps_through_the_rounds() -> None:
    app = visit(NEGOTIATION, **SIMPLE)
    assert [can_press(app, step) for step in STEPS] == [False, False, True, True, True]
    seen = [round_shown(app)]
    for step in ("Next", "Next", "Back", "Last", "First", "Last", "Play"):
        press(app, step)
        seen.append(round_shown(app))
        assert query_of(app).get("round", "1") == round_shown(app).split()[1]
        if step == "Last":
            assert [can_press(app, text) for text in STEPS] == [True, True, False, False, True]
    assert seen == [f"Round {n} of 5" for n in (1, 2, 3, 2, 5, 1, 5, 1)]
    assert can_press(press(app, "Pause"), "Play")
    assert can_press(press(press(app, "Play"), "Next"), "Play"), "a step ends it too"
    assert round_shown(go(go(app, PROTOCOL), NEGOTIATION)) == "Round 2 of 5"


PROPOSED: Final = propose(REFERENCE)
START: Final = by_person(PACK)
OFFERED: Final = by_person(PACK, PROPOSED)
SEND: Final = "Put this plan forward"


@pytest.fixture
def app() -> AppTest:
    return visit(NEGOTIATION, scientist="person")


def test_person_sees_each_move_before_making_it(app: AppTest) -> None:
    assert shows(app, START)
    assert not can_press(app, "Accept the plan")
    assert not can_press(app, "Undo last round")
    type_number(type_number(app, "Sample size", 75), "Duration (days)", 5)
    assert "power 0.20" in alerts(app)[0].text
    assert "It costs 1,450 of 3,700 credits." in page_text(app)
    press(type_text(app, "Question to the lab", "   "), "Ask")
    press(type_text(app, "Technique", ""), SEND)
    assert "First" not in labels(app)
    type_number(app, "Rounds at most", 1)
    assert "A question uses this round; 0 rounds left." in page_text(app)


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
    press(app, "Accept the offer")
    assert shows(app, by_person(PACK, PROPOSED, ACCEPT))
    assert (round_shown(app), query_of(app)["round"]) == ("Round 2 of 2", "2")
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
    session = sessions.RunSession(OFFERED)
    for _ in range(2):
        session.play(1, core.Turn(action=ACCEPT))
    assert [done.number for done in session.negotiation.rounds] == [0, 1]


def test_moves_stay_with_their_players_and_lab(app: AppTest) -> None:
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


def test_moves_of_a_person_survive_a_reload(app: AppTest) -> None:
    press(type_text(press(app, SEND), "Question to the lab", "Which days?"), "Ask")
    negotiation = by_person(PACK, PROPOSED, ask("Which days?"))
    press(app, "Accept the offer")
    again = visit(NEGOTIATION, **query_of(app))
    assert shows(again, by_person(PACK, PROPOSED, ask("Which days?"), ACCEPT))
    assert round_shown(again) == "Round 3 of 3"
    assert shows(press(again, "Undo last round"), negotiation)


def test_unplayable_moves_of_a_link_offer_remedy() -> None:
    late = core.Move(number=7, action=ACCEPT)
    app = visit(
        NEGOTIATION,
        **to_query(Workspace().replace(scientist=core.ScientistKind.PERSON, moves=(late,))),
    )
    [problem] = alerts(app)
    assert problem.colour == "error"
    assert shows(press(app, "Start again"), START)


EXTRACT: Final = ["research server", "vendor-approved extract on the research server"]
ROUND_2: Final = TOLD.rounds[1].plan
assert ROUND_2 is not None
OTHER: Final = revise(ROUND_2.plan, sample_size=300, duration_days=5, required_equipment=EXTRACT)
FORKED: Final = core.fork(TOLD, 1, OTHER)


def tree(app: AppTest) -> list[str]:
    courses = next(radio for radio in app.radio if radio.label == "Run and forks")
    return [plain(name) for name in courses.options]


def forked() -> AppTest:
    app = press(visit(NEGOTIATION, **SIMPLE, round="2"), "Fork here")
    type_number(type_number(app, "Sample size", 300), "Duration (days)", 5)
    return press(choose(app, "Equipment", *EXTRACT), "Continue from here")


def test_run_and_fork_are_compared_by_round() -> None:
    app = forked()
    for run_ in (TOLD, FORKED):
        assert outcome_verdict(run_).text in page_text(app)
    assert [row[0] for row in rows_in(app, "forks")] == ["Round", "2", "3", "4", "5"]
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
        pick(app, "Run and forks", place)
        assert outcome_verdict(played).text in page_text(app)
        assert len(tree(app)) == 3


def test_kept_fork_is_undone() -> None:
    app = press(forked(), "Continue with this fork")
    assert shows(app, FORKED)
    assert round_shown(app) == "Round 2 of 2"
    press(press(app, "Fork here"), "Continue from here")
    assert shows(press(app, "Undo the fork"), TOLD)
    assert shows(pick(press(app, BACK), "Run and forks", 1), FORKED)
    type_number(go(app, PROTOCOL), "Sample size", 290)
    assert not shows(go(app, NEGOTIATION), FORKED)
    assert shows(press(app, BACK), FORKED), "it comes back with its opening plan"
    assert number(go(app, PROTOCOL), "Sample size").value == 420


def test_person_plays_on_in_a_fork() -> None:
    app = press(visit(NEGOTIATION, scientist="person"), SEND)
    press(press(app, "Fork here"), "Continue from here")
    assert labels(app).count("Accept the offer") == 1
    assert scrubber(app) == "Fork 1 in round 1: Round 1 of 1 so far", "the fields are its next move"
    assert "Fork here" not in labels(app)
    press(type_text(app, "Question to the lab", "?"), "Ask")
    assert scrubber(press(app, "Drop this fork")) == "Round 1 of 1 so far"
    press(press(press(app, "Fork here"), "Continue from here"), "Accept the offer")
    ended = "Fork 1 in round 1\nfails Agreed below the floor in round 2"
    assert ended in page_text(app)
    assert ended not in page_text(press(app, "Undo last round"))
    press(press(app, "Accept the offer"), "Continue with this fork")
    assert outcome(app)[0] == "fail"


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


def test_counter_offer_must_fit_and_may_be_accepted() -> None:
    app, warning = visit(NEGOTIATION, manager="person"), "The Scientist accepts this plan"
    assert not can_press(type_number(app, "Duration (days)", 9), "Send this offer")
    type_number(app, "Duration (days)", 6)
    assert warning not in page_text(app), "210 months are below the floor"
    assert warning in page_text(type_number(app, "Sample size", 295))
    assert outcome(press(app, "Send this offer"))[1].startswith("Agreed")


def test_person_plays_one_side() -> None:
    app = pick(visit(NEGOTIATION, scientist="person"), "Lab Manager", "person")
    assert (seated(app), seated(app, "Lab Manager")) == ("step_by_step", "person")
    pick(app, "Scientist", "person")
    assert (seated(app), seated(app, "Lab Manager")) == ("person", "reference")
