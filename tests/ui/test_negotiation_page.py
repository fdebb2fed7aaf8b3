"""The Negotiation page: rounds, players, files, recordings and room."""

import json
from typing import Final, NoReturn

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.facts.negotiation import outcome_verdict
from replicalab.models import revise
from replicalab.negotiation import (
    LabManagerKind,
    ScientistKind,
    Transcript,
    replay,
    save,
    shipped_recordings,
)
from replicalab.negotiation.records import ROUND_BYTES
from replicalab.scenarios import load_scenario
from replicalab.ui.workspace import Workspace, to_query
from tests.golden import assert_golden
from tests.negotiation.playing import by_person, by_rule, propose
from tests.ui.acting import can_press, labels, number, pick, press, press_first, type_number, undo
from tests.ui.negotiating import (
    PACK,
    REFERENCE,
    SIMPLE,
    hand_over,
    outcome,
    round_shown,
    seated,
    shows,
)
from tests.ui.pages import NEGOTIATION, PROTOCOL
from tests.ui.reading import alerts, page_text, texts, where
from tests.ui.walking import go, query_of, visit

AWARE: Final = ScientistKind.DIRECT
STUCK: Final = {"study": "math_four_colour", "lab": "hard"}
STEPS: Final = ("First", "Back", "Next", "Last", "Play")

MILLIKAN: Final = load_scenario("phys_millikan", "hard", 3)
ENDED: Final = by_rule(
    MILLIKAN, MILLIKAN.reference_protocol, 7, ScientistKind.DIRECT, LabManagerKind.LEAST_LOSS
)
HOME: Final = "Back to your own: "
RECORDINGS: Final = shipped_recordings()


def test_scrubber_steps_without_playing_rounds_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_round(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a round is played again")

    app = visit(NEGOTIATION, **SIMPLE)
    monkeypatch.setattr("replicalab.negotiation.rounds.hear", no_round)
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
    go(go(app, PROTOCOL), NEGOTIATION)
    assert round_shown(app) == "Round 2 of 5"


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("first", {**SIMPLE, "round": "2"}),
        ("steps", {"round": "3"}),
        ("direct", {"scientist": "direct", "round": "2"}),
        ("answer", {"manager": "person"}),
        ("stuck", {**STUCK, **SIMPLE, "round": "5"}),
        ("by_hand", {"scientist": "person"}),
        ("model", {"scientist": "model"}),
        ("recorded", {"recording": "momentum_revised"}),
    ],
)
def test_page_of_each_scientist_reads_as_pinned(name: str, query: dict[str, str]) -> None:
    assert_golden(f"pages/negotiation#{name}", page_text(visit(NEGOTIATION, **query)))


def test_players_are_offered_seated_and_in_the_link() -> None:
    app = visit(NEGOTIATION, **SIMPLE)
    recorded = "Recorded run: Momentum returns, script, no model (written by hand)"
    scientists = ["Step by step", "Direct", "You", "Language model", "Simple rule", recorded]
    assert {box.label: list(box.options) for box in app.selectbox} == {
        "Scientist": scientists,
        "Lab Manager": ["Reference", "Least-loss", "You"],
    }
    assert shows(pick(app, "Scientist", "direct"), by_rule(PACK, REFERENCE, 5, AWARE))
    pick(pick(app, "Scientist", "baseline"), "Lab Manager", "least_loss")
    assert shows(app, by_rule(PACK, REFERENCE, lab_manager=LabManagerKind.LEAST_LOSS))
    again = visit(NEGOTIATION, **query_of(app))
    assert outcome(again) == outcome(app)
    assert (seated(again), seated(again, "Lab Manager")) == ("baseline", "least_loss")


def test_plan_without_samples_cannot_be_negotiated() -> None:
    app = visit(NEGOTIATION, samples="0")
    [problem] = alerts(app)
    assert problem.colour == "error"
    assert "cannot start: the plan has a sample size of 0" in problem.text
    assert not any(text.startswith("Round ") for text in texts(app.main))
    go(type_number(go(app, PROTOCOL), "Sample size", 150), NEGOTIATION)
    assert round_shown(app).startswith("Round 1 of ")
    plan = revise(REFERENCE, duration_days=0, controls=[], required_equipment=[])
    app = visit(NEGOTIATION, **to_query(Workspace().changed(plan=plan)))
    assert round_shown(app).startswith("Round 1 of ")
    assert "Protects against: nothing: it has no controls\n" in page_text(app)


def test_saved_negotiation_opens_in_its_study() -> None:
    app = hand_over(visit(NEGOTIATION), save(ENDED))
    assert where(app).startswith(f"{MILLIKAN.paper.name} · hard lab, seed 3")
    assert round_shown(app) == f"Round 1 of {len(ENDED.rounds)}"
    assert outcome_verdict(ENDED).text not in page_text(app), (
        "how it ended comes with the last round"
    )
    assert shows(app, ENDED)
    players = "From the file mine.json. Scientist: direct. Lab Manager: least-loss."
    assert players in page_text(app)
    type_number(go(app, PROTOCOL), "Sample size", 5)
    go(app, NEGOTIATION)
    undo(go(app, PROTOCOL))
    assert shows(go(app, NEGOTIATION), ENDED)


def test_closing_a_file_restores_the_workspace() -> None:
    app = type_number(visit(PROTOCOL, study="psy_stroop", lab="easy"), "Sample size", 44)
    press(pick(go(app, NEGOTIATION), "Scientist", "person"), "Put this plan forward")
    before = where(app), query_of(app)
    for opened in (save(ENDED), RECORDINGS[0].model_dump_json()):
        hand_over(app, opened)
        assert where(app) != before[0]
    assert "(written by hand)" in page_text(app)
    assert seated(app) == "recorded"
    press_first(app, HOME)
    assert (where(app), query_of(app)) == before
    assert seated(app) == "person"
    assert number(go(app, PROTOCOL), "Sample size").value == 44


def test_closing_a_recorded_run_restores_the_workspace() -> None:
    app = go(type_number(visit(PROTOCOL, study="psy_stroop"), "Sample size", 44), NEGOTIATION)
    before = where(app), query_of(app)
    pick(app, "Scientist", "recorded")
    pick(app, "Recorded run", key_of(RECORDINGS[-1]))
    setup = RECORDINGS[-1].setup
    pack = load_scenario(setup.scenario_id, setup.difficulty.value, setup.seed)
    for page in (app, visit(NEGOTIATION, **query_of(app))):
        assert where(page).startswith(pack.paper.name)
        assert shows(page, replay(RECORDINGS[-1], pack))
        assert seated(page) == "recorded"
        assert "Written by hand." in page_text(page)
        assert "\nAttempt 1: " in page_text(page)
    press_first(app, HOME)
    assert (where(app), query_of(app)) == before
    pick(pick(app, "Scientist", "recorded"), "Scientist", "baseline")
    assert where(app) == before[0]
    assert "recording" not in query_of(app)
    pick(app, "Scientist", "recorded")
    type_number(go(app, PROTOCOL), "Sample size", 5)
    assert "recording" not in query_of(app)
    assert not can_press(undo(app), "Undo"), "it stays within the study"
    press_first(go(app, NEGOTIATION), HOME)
    assert where(app) == before[0]


def with_setup(**changes: int) -> str:
    data = json.loads(save(ENDED))
    data["setup"] |= changes
    return json.dumps(data)


REFUSED: Final[dict[str | bytes, str]] = {
    b"\xff\xfe\x00": "is not UTF-8 text; save the file as UTF-8",
    "[]": "the file holds no negotiation",
    '{"setup": {}, "turns": []}': "ReplicaLab 1 wrote this file, and this version does not read it",
    save(ENDED).replace("phys_millikan", "zebra"): "'zebra' is unknown",
    with_setup(max_rounds=20): "max_rounds is 20, and at most 12 can be shown here; play",
    with_setup(seed=2**63): "setup.seed",
    with_setup(seed=10**9): "seed is 1,000,000,000, and at most 999,999 can be shown here",
}


def test_unusable_file_is_refused_and_page_stays() -> None:
    app = visit(NEGOTIATION)
    for text, problem in REFUSED.items():
        hand_over(app, text)
        [message] = [alert for alert in alerts(app) if "That file cannot be opened" in alert.text]
        assert message.colour == "error"
        assert problem in message.text
        assert "pydantic" not in message.text
        assert round_shown(app) == "Round 1 of 4"


def key_of(transcript: Transcript) -> str:
    assert transcript.recording is not None
    return transcript.recording.key


def test_unplayable_recording_offers_remedies() -> None:
    app = visit(NEGOTIATION, recording="zebra")
    assert "'zebra' is not known; known: momentum_revised" in alerts(app)[0].text
    assert "Open its study and lab" not in labels(app)
    query = {"study": "psy_stroop", "recording": "momentum_revised"}
    app = visit(NEGOTIATION, **query)
    assert "The recording cannot be played: it is about fin_momentum" in alerts(app)[0].text
    press(app, "Open its study and lab")
    assert where(app).startswith("Momentum returns")
    assert round_shown(app) == "Round 1 of 3"
    press(press(app, "Fork here"), "Continue from here")
    assert "Accept the offer" in labels(app), "a person plays the fork on"
    app = press(visit(NEGOTIATION, **query), "Close the recording")
    assert round_shown(app).startswith("Round 1 of ")
    assert seated(app) == "step_by_step"


ROOM: Final = "replicalab.ui.negotiation.table.MOST_GAME_BYTES"
FULL: Final = "MiB of negotiations, the most there is room for: nothing more is played or opened"


def played(app: AppTest, rounds: int) -> AppTest:
    return press(type_number(app, "Rounds at most", rounds), "Put this plan forward")


def test_full_session_plays_on_after_forgetting(monkeypatch: pytest.MonkeyPatch) -> None:
    app = visit(NEGOTIATION)
    for rounds in (4, 5):
        hand_over(app, save(by_person(PACK, propose(REFERENCE), max_rounds=rounds)))
    assert FULL not in page_text(app)
    monkeypatch.setattr(ROOM, 2 * ROUND_BYTES)
    press(app, "Walk away")
    assert round_shown(app) == "Round 1 of 1"
    assert FULL in page_text(app)
    hand_over(app, save(by_person(PACK, propose(REFERENCE), propose(REFERENCE))))
    [problem] = [alert.text for alert in alerts(app) if "cannot be opened" in alert.text]
    assert "there is no room for it: it takes" in problem
    assert "forget one, then open it again" in problem
    assert "From the file mine.json" in page_text(app)
    assert f"{PACK.paper.title}, medium lab: You, 1 round" in page_text(app)
    press(app, "Forget it")
    assert FULL not in page_text(app)
    press(app, "Walk away")
    assert round_shown(app) == "Round 2 of 2"
