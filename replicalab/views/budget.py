"""What a plan costs by year and category, as a funder reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from replicalab.assessment import Assessment
from replicalab.assessment.budget import NOT_SAID, OVERHEAD, Budget, budget_of
from replicalab.lexicon import amount_text, capitalised, count_text, exact_text, joined
from replicalab.scenarios import Lab
from replicalab.views import blocks
from replicalab.views.blocks import Cell, Column, Group, Heading, Sentence

TITLE: Final = "Budget"
_CAPTION: Final = "Budget by year and category"
_MOST_NAMED: Final = 6  # So many costs of a category are named
TIMING: Final = (
    "Days and staff count in the year of each day, everything else in the year in which the plan "
    "begins."
)


def budget_table(budget: Budget, lab: Lab) -> blocks.Table:
    """Return what each category comes to in each year and in all, and what is in it."""
    years = budget.years if len(budget.years) > 1 else ()
    columns = (
        Column("Category"),
        *(Column(f"{capitalised(year)}, {lab.currency}", "number") for year in years),
        Column(_total_name(budget, lab), "number"),
        Column("What is in it", "quiet"),
    )
    rows: list[tuple[Cell | str, ...]] = [
        (category_name(each, budget), *_amounts(budget, each, years), _items(budget, each))
        for each in budget.categories
    ]
    rows.append(("Total", *_amounts(budget, "", years), ""))
    return blocks.table(_CAPTION, columns, rows, totals=1)


def _total_name(budget: Budget, lab: Lab) -> str:
    if len(budget.years) > 1:
        return f"In all, {lab.currency}"
    return f"{capitalised(budget.years[0])}, {lab.currency}"


def _amounts(budget: Budget, category: str, years: tuple[str, ...]) -> Iterator[Cell]:
    for year in (*years, ""):
        amount = budget.credits(category, year)
        yield Cell(money_digits(amount), amount)


def money_digits(amount: float) -> str:
    """Return an amount with all its digits: lines that are read add up to their sum."""
    is_cents = round(amount, 2) == amount
    return amount_text(amount) if is_cents else f"{amount:,.6f}"


def category_name(category: str, budget: Budget) -> str:
    """Return what a category is called: ``Personnel``, ``Overhead, 15 %``."""
    if category == OVERHEAD:
        return f"Overhead, {exact_text(budget.overhead)} %"
    return "Category not said" if category == NOT_SAID else capitalised(category)


def _items(budget: Budget, category: str) -> str:
    if category == OVERHEAD:
        return "on all other costs"
    named = budget.items(category)
    more = len(named) - _MOST_NAMED
    return "; ".join([*named[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


def budget_note(plan: Assessment, budget: Budget) -> Sentence:
    """Return in which years costs are counted, and what is not known of the lines."""
    lab, texts = plan.pack.lab, list[str]()
    if len(budget.years) > 1:
        texts.append(TIMING)
    elif lab.start_date is None:
        texts.append("The lab has no start date, so everything is in year 1.")
    if unsaid := budget.items(NOT_SAID):
        named = joined([each.lower() for each in unsaid])
        texts.append(f"Neither the study’s file nor the lab says the category of {named}.")
    if budget.unpriced_staff:
        units = count_text(budget.unpriced_staff, "staff unit")
        days = count_text(plan.counts.days, "day")
        texts.append(f"Staff has no price in this lab: {units} for {days}.")
    return Sentence(" ".join(texts), quiet=True)


def budget_blocks(plan: Assessment) -> tuple[blocks.Table, Sentence]:
    """Return the table, and what is to be known of it."""
    budget = budget_of(plan)
    return budget_table(budget, plan.pack.lab), budget_note(plan, budget)


def budget_panel(plan: Assessment) -> Group:
    """Return the same under its heading."""
    return blocks.group(Heading(_CAPTION, 2), *budget_blocks(plan))


def budget_lines(plan: Assessment) -> Iterator[str]:
    """Yield a sentence for each category: ``Personnel: 1,200 EUR (2026: 900, 2027: 300)``."""
    budget, lab = budget_of(plan), plan.pack.lab
    for category in budget.categories:
        years = [
            f"{capitalised(year)}: {money_digits(amount)}"
            for year in budget.years
            if (amount := budget.credits(category, year))
        ]
        split = f" ({', '.join(years)})" if len(budget.years) > 1 else ""
        total = f"{money_digits(budget.credits(category))} {lab.currency}"
        yield f"{category_name(category, budget)}: {total}{split}."
