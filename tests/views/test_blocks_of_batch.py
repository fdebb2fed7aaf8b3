"""The panel of a batch: shares as bars with the ends of their intervals as marks."""

from __future__ import annotations

import pytest

from replicalab.batch import Share, Summary
from replicalab.negotiation import LabManagerKind, Outcome, ScientistKind
from replicalab.scenarios import Difficulty
from replicalab.views.batch import shares_panel
from tests.views.reading import bars, tree

GROUP = Summary(
    "psy_stroop",
    Difficulty.HARD,
    ScientistKind.BASELINE,
    LabManagerKind.REFERENCE,
    {Outcome.AGREED: Share(81, 263), Outcome.NO_DEAL: Share(182, 263)},
    2,
)


def test_bars_are_shares_with_their_intervals() -> None:
    # Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3: 81 of 263.
    drawn = bars(shares_panel([GROUP], {}, []))
    assert drawn[0][1] == pytest.approx(0.308, abs=0.001)
    assert drawn[0][2] == pytest.approx([0.255, 0.366], abs=0.001)
    assert drawn[1][1] == pytest.approx(1 - 0.308, abs=0.001)


def test_group_is_named_once_and_what_was_not_played_is_told_with_its_reason() -> None:
    found = tree(shares_panel([GROUP], {"psy_stroop": "Stroop <b>"}, ["gone"]))
    assert [each.text for each in found.iterfind(".//tbody//th")] == ["Stroop <b>"]
    told = " ".join(found.itertext())
    assert "2 negotiations could not be played" in told
    assert "gone" in told


def test_group_of_which_nothing_was_played_is_named_all_the_same() -> None:
    lost = GROUP._replace(shares={}, failed=3)
    found = tree(shares_panel([lost], {}, []))
    assert [each.text for each in found.iterfind(".//tbody//th")] == ["psy_stroop"]
