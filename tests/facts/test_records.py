"""A batch as tables without formulas, and its shares and regret in words."""

from io import BytesIO, StringIO

import pandas as pd
import pytest

from replicalab.facts import record_facts, score_facts
from replicalab.negotiation import LabManagerKind, Outcome, ScientistKind
from replicalab.negotiation.batch import Result, Share, Summary, jobs_of, run_job, summaries
from replicalab.negotiation.case import Case
from replicalab.scenarios import Difficulty, LabOverrides

JOB = Case(study="psy_stroop", lab=Difficulty.EASY)


def test_frame_has_a_row_for_each_result() -> None:
    jobs = jobs_of(["psy_stroop", "math_four_colour"], seeds=range(3))
    results = [*map(run_job, jobs), Result(job=JOB, error="gone")]
    frame = record_facts.results_frame(results)
    assert tuple(frame.columns) == record_facts.RESULT_COLUMNS
    assert list(frame["outcome"][:-1]) == [str(result.outcome) for result in results[:-1]]
    assert list(frame["credits"][:-1]) == [result.credits for result in results[:-1]]
    assert frame["feasible"].dtype == "boolean"
    assert frame["samples"].dtype == "Int64"
    row = frame.iloc[-1]
    assert row["error"] == "gone"
    numbers = ["outcome", "rounds", "feasible", "samples", "days", "credits", "evidence", "tier"]
    assert row[[*numbers, "regret", "wishes_broken"]].isna().all()


def test_files_hold_no_formula() -> None:
    wild = JOB.model_copy(update={"own_lab": LabOverrides(name="=1+1")})
    played = [run_job(job) for job in jobs_of(["fin_momentum", "phys_millikan"], seeds=range(4))]
    results = [*played, Result(job=wild, error="@SUM(A1)")]
    text = record_facts.results_csv(results)
    assert '"\'=1+1"' in text
    assert '"\'@SUM(A1)"' in text
    book = BytesIO(record_facts.batch_workbook(results, summaries(results)))
    sheets = pd.read_excel(book, sheet_name=None)
    assert list(sheets) == ["Outcomes", "Results"]
    assert tuple(sheets["Results"].columns) == record_facts.RESULT_COLUMNS
    assert sheets["Results"]["own_lab"].iloc[-1] == "=1+1"
    for read in (pd.read_csv(StringIO(text.removeprefix("\ufeff"))), sheets["Results"]):
        evidence = [result.evidence for result in played]
        assert list(read["evidence"][:-1]) == pytest.approx(evidence, rel=1e-15)
        regrets = [result.regret for result in played]
        assert list(read["regret"][:-1]) == pytest.approx(regrets, rel=1e-15)
        assert read["regret"].isna().iloc[-1]
        assert list(read["credits"][:-1]) == [result.credits for result in played]
        assert list(read["feasible"][:-1]) == [result.feasible for result in played]


def test_summaries_have_a_row_for_each_outcome() -> None:
    results = [
        *(Result(job=JOB, outcome=Outcome.AGREED) for _ in range(15)),
        *(Result(job=JOB, outcome=Outcome.NO_DEAL) for _ in range(133)),
        Result(job=JOB.model_copy(update={"lab": Difficulty.HARD}), error="gone"),
    ]
    frame = pd.read_excel(
        BytesIO(record_facts.batch_workbook([], summaries(results))), sheet_name="Outcomes"
    )
    assert tuple(frame.columns) == record_facts.SUMMARY_COLUMNS
    assert list(frame["outcome"][:2]) == ["agreed", "no_deal"]
    # Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3: 15 of 148.
    first = [frame[name].round(4)[0] for name in ("share", "low", "high")]
    assert first == [0.1014, 0.0624, 0.1605]
    assert list(frame["failed"]) == [0, 0, 1]
    assert frame["regret"].isna().all()
    assert frame["outcome"].isna().tolist() == [False, False, True]


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
    assert score_facts.share_text(Share(81, 263)) == "81 of 263, 31 % (26 to 37 %)"
    assert score_facts.share_text(Share(0, 20)) == "0 of 20, 0 % (0 to 16 %)"
    summary = GROUP._replace(shares={Outcome.AGREED: Share(29, 29)}, failed=1)
    text = "Agreed: 29 of 29, 100 % (88 to 100 %); 1 negotiation could not be played"
    assert score_facts.outcomes_text(summary) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0, "0"), (1e-17, "below 0.01"), (0.0099, "below 0.01"), (0.01, "0.01"),
     (0.125, "0.12"), (2.5, "2.50")],
)  # fmt: skip
def test_only_an_optimal_regret_reads_0(value: float, text: str) -> None:
    assert score_facts.regret_text(value) == text
