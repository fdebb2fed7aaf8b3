"""A batch in words and bars: shares with intervals, and mean regret."""

import pytest

from replicalab.facts import score
from replicalab.negotiation import LabManagerKind, Outcome, ScientistKind
from replicalab.negotiation.batch import Share, Summary
from replicalab.scenarios import Difficulty

GROUP = Summary(
    "psy_stroop",
    Difficulty.HARD,
    ScientistKind.BASELINE,
    LabManagerKind.REFERENCE,
    {Outcome.AGREED: Share(81, 263), Outcome.NO_DEAL: Share(182, 263)},
    2,
)


def test_shares_have_intervals() -> None:
    # Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3.
    assert score.share_text(Share(81, 263)) == "81 of 263, 31 % (26 to 37 %)"
    assert score.share_text(Share(0, 20)) == "0 of 20, 0 % (0 to 16 %)"
    summary = GROUP._replace(shares={Outcome.AGREED: Share(29, 29)}, failed=1)
    text = "Agreed: 29 of 29, 100 % (88 to 100 %); 1 negotiation could not be played"
    assert score.outcomes_text(summary) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0, "0"), (1e-17, "below 0.01"), (0.0099, "below 0.01"), (0.01, "0.01"),
     (0.125, "0.12"), (2.5, "2.50")],
)  # fmt: skip
def test_only_an_optimal_regret_reads_0(value: float, text: str) -> None:
    assert score.regret_text(value) == text
