"""A batch as tables: a row for each negotiation, and one for each outcome of a group of them.

This file brings pandas in, and is imported with the first such table only.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import pandas as pd

from replicalab.batch import Result, Summary
from replicalab.tables.sheet import Value, sheet, workbook

RESULT_COLUMNS: Final = (
    *("study", "lab", "seed", "own_lab", "scientist", "lab_manager", "max_rounds"),
    *("outcome", "rounds", "feasible", "samples", "days", "credits", "evidence", "tier"),
    *("wishes_broken", "regret", "evidence_short", "wishes_short"),
    *("fidelity_short", "error"),
)
SUMMARY_COLUMNS: Final = (
    *("study", "lab", "scientist", "lab_manager", "outcome"),
    *("number", "of", "share", "low", "high", "failed", "regret"),
)

Cell = str | int | float | bool | None


def results_frame(results: Iterable[Result]) -> pd.DataFrame:
    """Return the results, in their order; what a job has not is missing (`pandas.NA`)."""
    return pd.DataFrame([*map(_result, results)], columns=[*RESULT_COLUMNS]).convert_dtypes()


def results_csv(results: Iterable[Result]) -> str:
    """Return `results_frame` as CSV in which no spreadsheet finds a formula."""
    return sheet(RESULT_COLUMNS, _plain(map(_result, results)))


def batch_workbook(results: Sequence[Result], found: Iterable[Summary]) -> bytes:
    """Return the shares of outcomes, with their 95 % intervals, and the results: a sheet each.

    A group of which no job could be played has a row without an outcome.
    """
    shares = (row for each in found for row in _shares(each))
    outcomes = [SUMMARY_COLUMNS, *_plain(shares)]
    return workbook(
        {"Outcomes": outcomes, "Results": [RESULT_COLUMNS, *_plain(map(_result, results))]}
    )


def _plain(rows: Iterable[Sequence[Cell]]) -> Iterable[list[Value]]:
    """Yield rows without truth values and missing ones: these are words, and empty."""
    for row in rows:
        plain = ("" if cell is None else cell for cell in row)
        yield [str(cell).lower() if isinstance(cell, bool) else cell for cell in plain]


def _result(result: Result) -> Sequence[Cell]:
    job = result.job
    # Of a study that was not played no seed, lab or player is in doubt; of its plan all is.
    played = result.outcome is not None
    numbers = (result.rounds, result.feasible, result.samples, result.days, result.credits)
    return (
        *(job.study, str(job.lab), job.seed, job.own_lab.name or ""),
        *(str(job.scientist), str(job.lab_manager), job.max_rounds),
        str(result.outcome) if result.outcome else None,
        *(numbers if played else (None,) * len(numbers)),
        *(result.evidence, str(result.tier) if result.tier else None),
        *(result.wishes_broken, result.regret, result.evidence_short, result.wishes_short),
        *(result.fidelity_short, result.error),
    )


def _shares(summary: Summary) -> Iterable[Sequence[Cell]]:
    group = summary.study, str(summary.lab), str(summary.scientist), str(summary.lab_manager)
    regret = summary.regret.value if summary.regret else None
    if not summary.shares:
        yield (*group, *(None,) * 6, summary.failed, regret)
    for outcome, share in summary.shares.items():
        ends = share.interval
        counted = (share.number, share.of, share.value, *ends)
        yield (*group, str(outcome), *counted, summary.failed, regret)
