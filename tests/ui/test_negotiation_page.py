"""The Negotiation page: its rounds, who plays, what is kept as a file and opened again."""

from __future__ import annotations

import json
from typing import Final, NoReturn

import pytest

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
from replicalab.scenarios import load_scenario
from replicalab.ui.workspace import Workspace, to_query
from tests.golden import assert_golden
from tests.negotiation.playing import by_person, by_rule, propose
from tests.ui.acting import (
    can_press,
    choose_more,
    labels,
    number,
    pick,
    press,
    press_first,
    type_number,
    undo,
)
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
from tests.ui.pages import NEGOTIATION, PROTOCOL, STUDY
from tests.ui.reading import alerts, said, texts, where
from tests.ui.walking import go, query_of, visit

AWARE: Final = ScientistKind.DIRECT
STUCK: Final = {"study": "math_four_colour", "lab": "hard"}
STEPS: Final = ("First", "Back", "Next", "Last", "Play")

MILLIKAN: Final = load_scenario("phys_millikan", "hard", 3)
ENDED: Final = by_rule(
    MILLIKAN, MILLIKAN.reference_protocol, 7, ScientistKind.DIRECT, LabManagerKind.LEAST_LOSS
)
PROPOSED: Final = propose(MILLIKAN.reference_protocol)
OPEN: Final = by_person(MILLIKAN, PROPOSED)
LEFT: Final = by_person(MILLIKAN, PROPOSED, None)
HOME: Final = "Back to your own: "
RECORDINGS: Final = shipped_recordings()


# --- stepping ---


def test_scrubber_goes_to_both_ends_and_plays_and_no_round_is_played_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_round(*_: object, **__: object) -> NoReturn:  # every round asks what was said
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


def test_scrubber_of_one_round_shows_it_whatever_round_is_asked_for() -> None:
    app = visit(NEGOTIATION, lab="easy", round="9")
    assert round_shown(app) == "Round 1 of 1"
    assert not any(can_press(app, step) for step in STEPS)


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
def test_page_opens_with_each_scientist_as_it_was_read(name: str, query: dict[str, str]) -> None:
    assert_golden(f"pages/negotiation#{name}", said(visit(NEGOTIATION, **query)))


# --- who plays, and for how long ---


def test_every_player_is_offered_and_a_rule_is_seated_and_kept_in_the_address() -> None:
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


def test_rounds_limit_is_kept_and_another_plan_begins_at_the_first() -> None:
    app = type_number(visit(NEGOTIATION, **SIMPLE), "Rounds at most", 12)
    assert query_of(app)["rounds"] == "12"
    press(app, "Last")
    type_number(go(app, PROTOCOL), "Sample size", 290)
    assert round_shown(go(app, NEGOTIATION)) == "Round 1 of 12"
    field = number(app, "Rounds at most")
    assert (field.value, field.min, field.max) == (12, 1, 12)


def test_choosing_players_and_presenting_are_no_steps_to_undo() -> None:
    app = go(type_number(visit(PROTOCOL), "Sample size", 100), NEGOTIATION)
    pick(app, "Lab Manager", "least_loss")
    press(choose_more(app, "Present"), "Next")
    undo(press(go(app, PROTOCOL), "Leave"))
    assert number(app, "Sample size").value == 420
    assert query_of(app)["manager"] == "least_loss"


# --- what cannot be opened ---


def test_plan_without_samples_is_not_negotiated_and_one_without_days_or_controls_is() -> None:
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
    assert "Protects against: nothing: it has no controls\n" in said(app)


# --- kept as files, and played again ---


def test_saved_negotiation_opens_in_its_study_and_gives_way_to_another_plan() -> None:
    app = hand_over(visit(NEGOTIATION), save(ENDED))
    assert where(app).startswith(f"{MILLIKAN.paper.name} · hard lab, seed 3")
    assert round_shown(app) == f"Round 1 of {len(ENDED.rounds)}"
    assert outcome_verdict(ENDED).text not in said(app), "how it ended comes with the last round"
    assert shows(app, ENDED)
    players = "From the file mine.json. Scientist: direct. Lab Manager: least-loss."
    assert players in said(app)
    type_number(go(app, PROTOCOL), "Sample size", 5)
    go(app, NEGOTIATION)
    undo(go(app, PROTOCOL))
    assert shows(go(app, NEGOTIATION), ENDED)


def test_closing_what_was_opened_brings_study_lab_plan_and_moves_back() -> None:
    app = type_number(visit(PROTOCOL, study="psy_stroop", lab="easy"), "Sample size", 44)
    press(pick(go(app, NEGOTIATION), "Scientist", "person"), "Put this plan forward")
    before = where(app), query_of(app)
    for opened in (save(ENDED), RECORDINGS[0].model_dump_json()):
        hand_over(app, opened)
        assert where(app) != before[0]
    assert "(written by hand)" in said(app)
    assert seated(app) == "recorded"
    press_first(app, HOME)
    assert (where(app), query_of(app)) == before
    assert seated(app) == "person"
    assert number(go(app, PROTOCOL), "Sample size").value == 44


def test_recorded_run_keeps_study_lab_and_plan_and_brings_them_back() -> None:
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
        assert "Written by hand." in said(page)
        assert "\nAttempt 1: " in said(page)
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


def test_moves_played_in_an_opened_negotiation_outlive_another_plan_lab_and_file() -> None:
    app = press(hand_over(visit(NEGOTIATION), save(OPEN)), "Walk away")
    assert shows(app, LEFT)
    assert shows(hand_over(app, save(ENDED)), ENDED)
    assert shows(press_first(app, HOME), LEFT)
    type_number(go(app, PROTOCOL), "Sample size", 5)
    assert shows(go(app, NEGOTIATION), LEFT)
    assert shows(visit(NEGOTIATION, **query_of(app)), LEFT)
    pick(go(pick(app, "Scientist", "baseline"), STUDY), "Lab", "easy")
    assert not shows(go(app, NEGOTIATION), LEFT)
    assert shows(go(press(undo(go(app, PROTOCOL)), "Undo"), NEGOTIATION), LEFT)
    assert "hard lab, seed 3" in where(app)


def with_setup(**changes: int) -> str:
    """Return a saved negotiation with another setup."""
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
"""Files that cannot be shown, and what is said of them."""


def test_file_that_cannot_be_shown_is_refused_and_the_page_stays() -> None:
    app = visit(NEGOTIATION)
    for text, problem in REFUSED.items():
        hand_over(app, text)
        [message] = [alert for alert in alerts(app) if "That file cannot be opened" in alert.text]
        assert message.colour == "error"
        assert problem in message.text
        assert "pydantic" not in message.text
        assert round_shown(app) == "Round 1 of 4"


# --- recorded runs ---


def key_of(transcript: Transcript) -> str:
    assert transcript.recording is not None
    return transcript.recording.key


def test_recording_that_cannot_be_played_is_said_with_the_ways_out() -> None:
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
