"""``budget``: what a plan costs by year and category, as a funder asks for it."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from replicalab.assessment import Assessment
from replicalab.assessment.budget import Budget, budget_of
from replicalab.cli import asking, facts
from replicalab.cli.check import heading
from replicalab.cli.files import written
from replicalab.cli.printing import Answer
from replicalab.render import terminal
from replicalab.tables import sheet
from replicalab.tables.rows import BUDGET, budget_row
from replicalab.views.budget import budget_panel

ABOUT: Final = "What a plan costs by year and category; the lines add up to its cost."
CODES: Final = "0 where the lab's budget suffices, 1 where not"
EXAMPLES: Final = (
    "budget psy_stroop --staff-price 40 --overhead 15 --currency EUR --start-date 2026-12-29",
    "budget eco_reef_fish --category days=other --category controls=material --json",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    asking.add_case(parser)
    parser.add_argument("--save", metavar="FILE.csv", type=Path, help="keep every line as CSV")


def answer(asked: argparse.Namespace) -> Answer:
    """Return the budget."""
    plan = asking.analysis(asked).yours
    budget = budget_of(plan)
    rows = [tuple(budget_row(line).values()) for line in budget.lines]
    saved = written(asked.save, sheet(BUDGET, rows)) if asked.save else ""
    code = 0 if plan.cost <= plan.pack.lab.budget else 1
    return Answer(code, _lines(plan, saved), lambda: _facts(plan, budget))


def _lines(plan: Assessment, saved: str) -> Iterator[str]:
    yield heading(plan)
    yield from terminal.lines(budget_panel(plan))
    yield from ["", saved] if saved else []


def _facts(plan: Assessment, budget: Budget) -> facts.Data:
    return {
        **facts.place(plan.pack),
        "cost": plan.cost,
        "overhead_percent": budget.overhead,
        "unpriced_staff": budget.unpriced_staff,
        "years": [*budget.years],
        "lines": [budget_row(line) for line in budget.lines],
    }
