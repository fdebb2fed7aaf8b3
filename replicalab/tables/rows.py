"""Facts by name: what commands answer as JSON, and the same as the columns of data frames.

pandas is brought in with the first frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from replicalab.assessment import CostTerm, Slack
from replicalab.batch import Result, Summary
from replicalab.critique import Remark
from replicalab.models import Dimension
from replicalab.planner import ChosenStudy, FrontierPlan
from replicalab.scenarios import ScenarioSummary
from replicalab.tables.sheet import Value, sheet, workbook

RESULT_COLUMNS: Final = (
    *("study", "lab", "seed", "own_lab", "scientist", "lab_manager", "max_rounds"),
    *("outcome", "rounds", "feasible", "samples", "days", "credits", "evidence", "tier"),
    *("wishes_broken", "regret", "error"),
)
SUMMARY_COLUMNS: Final = (
    *("study", "lab", "scientist", "lab_manager", "outcome"),
    *("number", "of", "share", "low", "high", "failed", "regret"),
)

Cell = str | int | float | bool | None


def results_frame(results: Iterable[Result]) -> pd.DataFrame:
    """Return the results, in their order; what a job has not is missing (`pandas.NA`)."""
    return frame(RESULT_COLUMNS, map(_result, results)).convert_dtypes()


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
        *(result.wishes_broken, result.regret, result.error),
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


if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, str | float | bool]

STUDY: Final = ("id", "name", "title", "domain", "kind", "n", "unit_of_n", "teaches")
DIMENSION: Final = ("dimension", "ok", "used", "limit", "slack", "binding")
COST: Final = ("term", "number", "rate", "credits")
FRONTIER: Final = (
    *("samples", "days", "credits", "analysed", "evidence", "tier", "fidelity_loss"),
)
PORTFOLIO: Final = (
    *("id", "study", "samples", "days", "first_day", "last_day", "staff", "credits"),
    *("measure", "evidence", "tier", "fidelity_loss", "worth"),
)
CRITIQUE: Final = ("question", "asks", "standing", "text", "who", "page", "field")
"""The names of each kind of fact, in their order."""


def study_row(study: ScenarioSummary) -> Row:
    """Return which study it is; ``n`` is the published sample, in ``unit_of_n``."""
    paper, design = study.paper, study.design
    names = study.scenario_id, paper.name, paper.title, study.domain_id, str(design.kind)
    sample = study.reference_protocol.sample_size, design.unit_of_n
    return dict(zip(STUDY, (*names, *sample, paper.teaches), strict=True))


def dimension_row(slack: Slack, binding: Dimension | None) -> Row:
    """Return what a plan uses of a limit, in the dimension's own unit, and what is left.

    ``binding`` is the limit whose relief would buy most.
    """
    numbers = slack.used, slack.limit, slack.slack
    binds = slack.dimension is binding
    return dict(zip(DIMENSION, (str(slack.dimension), slack.ok, *numbers, binds), strict=True))


def cost_row(term: CostTerm) -> Row:
    """Return a term of a plan's cost: how many, at which rate, and what they come to, in credits.

    With items that have a price of their own the last is not the product of the two.
    """
    return dict(zip(COST, (term.label, term.number, term.rate, term.credits), strict=True))


def frontier_row(plan: FrontierPlan) -> Row:
    """Return a plan that nothing beats; its evidence is in the measure of its study."""
    size = plan.samples, plan.days, plan.credits, plan.analysed
    return dict(zip(FRONTIER, (*size, plan.value, str(plan.tier), plan.loss), strict=True))


def portfolio_row(chosen: ChosenStudy) -> Row:
    """Return a study that is run among others, its plan and its days."""
    plan, pack = chosen.plan, chosen.plan.pack
    size = plan.counts.samples, plan.counts.days, chosen.first, chosen.last, plan.staff
    shows = plan.evidence.measure, plan.evidence.value, str(plan.evidence.tier)
    worth = plan.fidelity_loss, chosen.worth
    values = (pack.scenario_id, pack.paper.name, *size, plan.cost, *shows, *worth)
    return dict(zip(PORTFOLIO, values, strict=True))


def remark_row(remark: Remark) -> Row:
    """Return a question of a reviewer: where it stands, who says what, and where it is mended."""
    who = remark.finder.name.lower() if remark.finder else ""
    named = remark.key, remark.asks, remark.standing.name.lower(), remark.text, who
    return dict(zip(CRITIQUE, (*named, *remark.place), strict=True))


def frame(columns: Sequence[str], rows: Iterable[Row | Sequence[object]]) -> pd.DataFrame:
    """Return rows as a data frame of these columns, which it has without a row, too."""
    import pandas as pd  # noqa: PLC0415 - slow to load

    return pd.DataFrame([*rows], columns=[*columns])
