"""A batch in words: a share with its interval, what failed, how far it came."""

from __future__ import annotations

from replicalab.batch import Share, Summary
from replicalab.negotiation import LabManagerKind, Outcome, ScientistKind
from replicalab.scenarios import Difficulty
from replicalab.text.batch import faults_text, outcomes_text, share_text, stopped_text


def test_share_is_told_with_its_interval() -> None:
    # Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3.
    assert share_text(Share(81, 263)) == "81 of 263, 31 % (26 to 37 %)"
    assert share_text(Share(0, 20)) == "0 of 20, 0 % (0 to 16 %)"


def test_outcomes_are_told_with_what_failed() -> None:
    shares = {Outcome.AGREED: Share(29, 29)}
    players = ScientistKind.BASELINE, LabManagerKind.REFERENCE
    found = Summary("psy_stroop", Difficulty.EASY, *players, shares, 1)
    told = "Agreed: 29 of 29, 100 % (88 to 100 %); 1 negotiation could not be played"
    assert outcomes_text(found) == told


def test_faults_are_told_once() -> None:
    assert faults_text(["gone", "", "gone", "lost\nthere"]) == ["gone", "lost there"]


def test_stop_is_told_with_how_far_it_came() -> None:
    assert stopped_text(1, 2000) == "Stopped: 1 of 2,000 negotiations are played."
