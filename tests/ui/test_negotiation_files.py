"""Negotiations kept as files, opened and replayed; and recorded runs."""

from __future__ import annotations

import json
from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.cassettes import play_cassette, save_cassette, shipped_cassettes
from replicalab.negotiation import (
    LabManagerKind,
    ScientistKind,
    begin,
    negotiate,
    play_action,
    save_trace,
    setup_for,
)
from replicalab.scenarios import load_scenario
from replicalab.sentences import outcome_verdict
from tests.negotiation.playing import propose
from tests.ui.negotiating import labels, round_shown, seat, seated
from tests.ui.reading import (
    NEGOTIATION,
    PROTOCOL,
    SCENARIOS,
    alerts,
    go,
    number,
    open_lab,
    press,
    query_of,
    run,
    said,
    type_number,
    visit,
    where,
)

PACK: Final = load_scenario("phys_millikan", "hard", 3)
TRACE: Final = negotiate(
    setup_for(
        PACK,
        PACK.reference_protocol,
        7,
        ScientistKind.EVIDENCE_AWARE,
        LabManagerKind.LEAST_LOSS,
    ),
    PACK,
)
CASSETTES: Final = shipped_cassettes()


def hand_over(app: AppTest, text: str | bytes) -> AppTest:
    """Hand a file to the page and return the app."""
    data = text.encode() if isinstance(text, str) else text
    app.file_uploader[0].set_value(("mine.json", data, "application/json"))
    return run(app)


def test_saved_negotiation_opens_in_its_study_and_replays() -> None:
    app = hand_over(visit(NEGOTIATION), save_trace(TRACE))
    assert where(app).startswith(PACK.paper.title)
    assert "hard lab, seed 3" in where(app)
    assert alerts(app)[0].text == outcome_verdict(TRACE, PACK).text
    assert "Replays identically, round by round." in said(app)
    assert "From the file mine.json. Scientist: evidence-aware. Lab Manager: least-loss." in said(
        app
    )
    assert round_shown(app) == f"Round 1 of {len(TRACE.rounds)}"


def test_opened_negotiation_is_closed() -> None:
    app = hand_over(visit(NEGOTIATION), save_trace(TRACE))
    press(app, "Close it")
    assert "From the file" not in said(app)
    assert "hard lab, seed 3" in where(app)


def test_opened_negotiation_gives_way_to_another_plan() -> None:
    app = hand_over(visit(NEGOTIATION), save_trace(TRACE))
    type_number(go(app, PROTOCOL), "Sample size", 5)
    assert "Replays identically" not in said(go(app, NEGOTIATION))
    assert "An opened negotiation is put aside: From the file mine.json." in said(app)
    press(app, "Forget it")
    assert "From the file" not in said(app)


def played_on() -> tuple[AppTest, str]:
    """Return the page with an opened negotiation in which a person left, and what it says."""
    setup = setup_for(PACK, None, 5, ScientistKind.PERSON)
    trace = play_action(begin(setup, PACK), propose(PACK.reference_protocol), PACK)
    app = press(hand_over(visit(NEGOTIATION), save_trace(trace)), "Walk away")
    ended = alerts(app)[0].text
    assert ended.startswith("No deal after round 2: the Scientist walked away")
    return app, ended


def test_moves_played_in_an_opened_negotiation_outlive_another_plan() -> None:
    app, ended = played_on()
    type_number(go(app, PROTOCOL), "Sample size", 5)
    assert alerts(go(app, NEGOTIATION))[0].text != ended
    press(app, "Go back to it")
    assert alerts(app)[0].text == ended
    assert "put aside" not in said(app)
    assert number(go(app, PROTOCOL), "Sample size").value == 5


def test_moves_played_in_an_opened_negotiation_outlive_another_lab() -> None:
    app, ended = played_on()
    open_lab(go(seat(app, "Scientist", "baseline"), SCENARIOS), "easy")
    assert alerts(go(app, NEGOTIATION))[0].text != ended
    press(app, "Go back to it")
    assert "hard lab, seed 3" in where(app)
    assert alerts(app)[0].text == ended


def test_moves_played_in_an_opened_negotiation_outlive_another_file() -> None:
    app, ended = played_on()
    hand_over(app, save_trace(TRACE))
    assert alerts(app)[0].text == outcome_verdict(TRACE, PACK).text
    press(app, "Go back to it")
    assert alerts(app)[0].text == ended


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        ({"outcome": "no_deal"}, "This file calls its end 'No deal'"),
        ({"outcome": None, "ending": None}, "all seven dimensions pass"),
        (
            {"outcome": "no_deal", "ending": "the Scientist walked away"},
            "all seven dimensions pass",
        ),
    ],
)
def test_file_whose_end_was_edited_opens_unconfirmed(edit: dict[str, object], told: str) -> None:
    pack = load_scenario("fin_momentum", "medium")
    agreed = negotiate(setup_for(pack, pack.reference_protocol), pack)
    app = hand_over(visit(NEGOTIATION), json.dumps({**json.loads(save_trace(agreed)), **edit}))
    assert "does not replay here" in alerts(app)[0].text
    assert alerts(app)[1].text.startswith("Not confirmed: ")
    assert told in alerts(app)[1].text


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("max_rounds", 20, "setup.max_rounds is 20, and at most 12 can be shown here"),
        ("seed", 10**9, "setup.seed is 1,000,000,000, and at most 999,999 can be shown here"),
    ],
)
@pytest.mark.parametrize("recording", [False, True], ids=["negotiation", "recording"])
def test_setup_that_cannot_be_shown_is_refused_in_words(
    field: str, value: int, told: str, *, recording: bool
) -> None:
    data = json.loads(save_cassette(CASSETTES[0]) if recording else save_trace(TRACE))
    data["setup"][field] = value
    app = hand_over(visit(NEGOTIATION), json.dumps(data))
    problem = alerts(app)[-1].text
    assert told in problem
    assert "play that negotiation anew" in problem
    assert "pydantic" not in said(app)
    assert round_shown(app) == "Round 1 of 5"


def test_negotiation_too_large_to_be_opened_again_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "are opened again here" not in " ".join(a.text for a in alerts(visit(NEGOTIATION)))
    monkeypatch.setattr("replicalab.ui.negotiation.keeping_view.MOST_BYTES", 1000)
    told = " ".join(alert.text for alert in alerts(visit(NEGOTIATION)))
    assert "at most 1,000 are opened again here" in told


def test_unfinished_negotiation_is_opened_and_played_on() -> None:
    setup = setup_for(PACK, None, 5, ScientistKind.PERSON)
    trace = play_action(begin(setup, PACK), propose(PACK.reference_protocol), PACK)
    app = hand_over(visit(NEGOTIATION), save_trace(trace))
    assert "Replays identically, round by round." in said(app)
    press(app, "Walk away")
    assert alerts(app)[0].text.startswith("No deal after round 2")


@pytest.mark.parametrize("place", ["outcome", "answer", "plan"])
def test_edited_file_is_confirmed_by_nothing(place: str) -> None:
    saved = json.loads(save_trace(negotiate(setup_for(PACK, PACK.reference_protocol), PACK)))
    last = saved["rounds"][-1]
    if place == "outcome":
        saved["outcome"] = "agreed"
    elif place == "answer":
        last["lab_manager_action"]["explanation"] = "I accept everything."
    else:
        last["plan"]["sample_size"] = 500
    app = hand_over(visit(NEGOTIATION), json.dumps(saved))
    first, second = alerts(app)[:2]
    assert first.colour == second.colour == "error"
    assert "does not replay here, so nothing in it is confirmed. Round " in first.text
    assert second.text.startswith("Not confirmed: ")
    assert not app.success
    assert "Fork here" not in labels(app)


def test_negotiation_of_a_lab_that_has_changed_is_said() -> None:
    saved = {**json.loads(save_trace(TRACE)), "scenario_digest": "0" * 16}
    app = hand_over(visit(NEGOTIATION), json.dumps(saved))
    assert "The study or its lab has changed." in alerts(app)[0].text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"\xff\xfe\x00", "it is no text"),
        ("", "Invalid JSON"),
        ("[]", "should be"),
        ("{}", "Field required"),
        ('{"turns": []}', "Field required"),
        ("[" * 5000, "Invalid JSON"),
        (save_trace(TRACE).replace("phys_millikan", "zebra"), "'zebra' is unknown"),
    ],
)
def test_file_that_is_none_is_refused_and_the_page_stays(text: str | bytes, problem: str) -> None:
    app = hand_over(visit(NEGOTIATION), text)
    told = next(alert for alert in alerts(app) if "That file cannot be opened" in alert.text)
    assert told.colour == "error"
    assert problem in told.text
    assert round_shown(app) == "Round 1 of 5"
    assert where(app).endswith("Not feasible")


def test_negotiation_too_long_to_be_shown_is_refused() -> None:
    setup = setup_for(PACK, None, 50, ScientistKind.PERSON)
    trace = begin(setup, PACK)
    for _ in range(13):
        trace = play_action(trace, propose(PACK.reference_protocol), PACK)
    app = hand_over(visit(NEGOTIATION), save_trace(trace))
    assert "it has 13 rounds; at most 12 can be shown here" in alerts(app)[-1].text


# --- recorded runs ---


@pytest.mark.parametrize("cassette", CASSETTES, ids=lambda cassette: cassette.key)
def test_recorded_run_opens_its_study_and_plays(cassette: object) -> None:
    found = next(each for each in CASSETTES if each is cassette)
    setup = found.setup
    pack = load_scenario(setup.scenario_id, setup.difficulty.value, setup.seed)
    trace = play_cassette(found, pack)
    app = seat(visit(NEGOTIATION), "Scientist", "recorded")
    seat(app, "Recorded run", found.key)
    assert where(app).startswith(pack.paper.title)
    assert alerts(app)[0].text == outcome_verdict(trace, pack).text
    assert round_shown(app) == f"Round 1 of {len(trace.rounds)}"
    assert "Written by hand." in said(app)
    assert query_of(app)["recording"] == found.key
    again = visit(NEGOTIATION, **query_of(app))
    assert alerts(again)[0] == alerts(app)[0]
    assert seated(again) == "recorded"


def test_recorded_run_shows_each_attempt() -> None:
    app = visit(NEGOTIATION, recording="momentum_revised")
    assert any(expander.label.startswith("Attempt 1: ") for expander in app.expander)


def test_recorded_run_is_left_by_seating_another() -> None:
    app = seat(visit(NEGOTIATION, recording="momentum_revised"), "Scientist", "baseline")
    assert "recording" not in query_of(app)
    assert round_shown(app) == "Round 1 of 5"


def test_recorded_run_gives_way_to_another_plan() -> None:
    app = visit(PROTOCOL, recording="momentum_revised")
    type_number(app, "Sample size", 5)
    assert seated(go(app, NEGOTIATION)) == "baseline"


def test_recording_of_another_study_is_said_with_the_way_to_it() -> None:
    app = visit(NEGOTIATION, study="psy_stroop", recording="momentum_revised")
    assert alerts(app)[0].text.startswith("The recording cannot be played: this recording is of")
    press(app, "Open its study and lab")
    assert where(app).startswith("Returns to Buying Winners")
    assert round_shown(app) == "Round 1 of 3"


def test_recording_that_cannot_be_played_can_be_closed() -> None:
    app = visit(NEGOTIATION, study="psy_stroop", recording="momentum_revised")
    press(app, "Close the recording")
    assert round_shown(app).startswith("Round 1 of ")
    assert seated(app) == "baseline"


def test_unknown_recording_is_said_with_the_known_ones() -> None:
    app = visit(NEGOTIATION, recording="zebra")
    assert "the recording 'zebra' is not known; known: momentum_revised" in alerts(app)[0].text


def test_own_recording_is_opened_from_a_file() -> None:
    cassette = CASSETTES[0]
    app = hand_over(visit(NEGOTIATION, study="psy_stroop"), save_cassette(cassette))
    assert f"{cassette.title} (written by hand)" in said(app)
    assert seated(app) == "recorded"
    press(app, "Close it")
    assert seated(app) == "baseline"


def test_recorded_run_can_be_forked_and_is_then_played_on_by_hand() -> None:
    app = press(visit(NEGOTIATION, recording="momentum_revised"), "Fork here")
    press(app, "Continue from here")
    assert "Accept the offer" in labels(app)
