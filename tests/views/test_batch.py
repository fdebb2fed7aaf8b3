"""A batch in words: a share with its interval, what failed, how far it came."""

from __future__ import annotations

from replicalab.batch import Share, Summary
from replicalab.negotiation import LabManagerKind, Outcome, ScientistKind
from replicalab.scenarios import Difficulty
from replicalab.views.batch import (
    agreed_text,
    counted_text,
    faults_text,
    group_names,
    outcomes_text,
    share_text,
    stopped_text,
)


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


def test_number_of_a_batch_is_told_before_it_runs() -> None:
    assert counted_text({"study": 1, "lab": 3, "seed": 4}) == (
        "1 study × 3 labs × 4 seeds = 12 negotiations"
    )


def test_groups_are_named_by_what_tells_them_apart() -> None:
    players = ScientistKind.BASELINE, LabManagerKind.REFERENCE
    one = Summary("a", Difficulty.EASY, *players, {Outcome.AGREED: Share(1, 4)}, 0)
    assert group_names([one], {"a": "Study A"}) == ["Study A"]
    other = one._replace(lab_manager=LabManagerKind.LEAST_LOSS)
    assert group_names([one, other], {}) == ["Reference", "Least-loss"]
    assert group_names([one, one._replace(study="b")], {}) == ["a", "b"]
    none = one._replace(shares={Outcome.NO_DEAL: Share(4, 4)})
    assert agreed_text([one, none]) == "1 of 5 negotiations end agreed"
