"""What a session keeps: bounded in bytes, nothing that was played by hand is dropped for it."""

from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.negotiation import save
from replicalab.negotiation.records import ROUND_BYTES
from replicalab.ui.negotiation.table import NegotiationSession
from tests.negotiation.playing import by_person, propose
from tests.ui.acting import can_press, press, type_number, undo
from tests.ui.negotiating import PACK, REFERENCE, hand_over, round_shown
from tests.ui.pages import NEGOTIATION, PROTOCOL
from tests.ui.reading import alerts, said
from tests.ui.walking import visit

ROOM: Final = "replicalab.ui.negotiation.table.MOST_GAME_BYTES"
FULL: Final = "MiB of negotiations, the most there is room for: nothing more is played or opened"


def kept(app: AppTest) -> list[int]:
    """Return how many rounds each negotiation that the session keeps has."""
    table: NegotiationSession = app.session_state["negotiation_table"]
    return [len(one.negotiation.rounds) for one in table.runs]


def played(app: AppTest, rounds: int) -> AppTest:
    """Return the app after a plan was put forward in a negotiation of so many rounds at most."""
    return press(type_number(app, "Rounds at most", rounds), "Put this plan forward")


def test_full_session_says_so_plays_and_opens_no_more_and_goes_on_when_one_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = visit(NEGOTIATION)
    for rounds in (4, 5):
        hand_over(app, save(by_person(PACK, propose(REFERENCE), max_rounds=rounds)))
    assert FULL not in said(app)
    monkeypatch.setattr(ROOM, 2 * ROUND_BYTES)
    press(app, "Walk away")
    assert round_shown(app) == "Round 1 of 1", "nothing is played, and nothing is lost"
    assert FULL in said(app)
    hand_over(app, save(by_person(PACK, propose(REFERENCE), propose(REFERENCE))))
    [problem] = [alert.text for alert in alerts(app) if "cannot be opened" in alert.text]
    assert "there is no room for it: it takes" in problem
    assert "forget one, then open it again" in problem
    assert "From the file mine.json" in said(app)
    assert f"{PACK.paper.title}, medium lab: You, 1 round" in said(app)
    press(app, "Forget it")
    assert FULL not in said(app)
    press(app, "Walk away")
    assert round_shown(app) == "Round 2 of 2"


def test_steps_to_undo_are_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    app = visit(PROTOCOL)
    for samples in (10, 20, 30):
        type_number(app, "Sample size", samples)
    monkeypatch.setattr("replicalab.ui.state._REMEMBERED_BYTES", 1000)
    type_number(app, "Sample size", 60)
    assert 0 < len(app.session_state["state"].past) < 3
    assert can_press(undo(app), "Redo")
