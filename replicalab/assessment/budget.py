"""What a plan costs by year and category: the lines of a budget, which add up to its cost.

What is counted by the day falls on the plan's days, from the day on which its lab starts work;
everything else is in the year in which the plan begins. A year is a calendar year where the lab
has a start date, else there is one, `YEAR_ONE`. Lines are whole hundredths of the currency where
the cost is, else millionths: what they lack to the cost by that goes to the largest remainders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, date
from fractions import Fraction
from typing import Final, NamedTuple

from replicalab.assessment.assess import Assessment
from replicalab.lexicon import label_key
from replicalab.scenarios import BudgetCategory, Lab
from replicalab.scenarios.calendar import date_of, day_of

YEAR_ONE: Final = "year 1"
MOST_YEARS: Final = 6
"""So many years stand alone; the last of more has all that is later."""

NOT_SAID: Final = "not said"
"""The category of a cost of which neither study nor lab says it."""
OVERHEAD: Final = "overhead"
_HEADS: Final = (*map(str, BudgetCategory), NOT_SAID, OVERHEAD)
_MILLION: Final = 1_000_000
_CENT: Final = _MILLION // 100


class BudgetLine(NamedTuple):
    """A line of a budget.

    Attributes:
        year: the calendar year, ``2031 on`` for all that is later, or `YEAR_ONE`.
        category: a `BudgetCategory`, `NOT_SAID`, or `OVERHEAD`.
        what: the term of the cost, or the label of an item.
        millionths: of the lab's currency.
    """

    year: str
    category: str
    what: str
    millionths: int

    @property
    def credits(self) -> float:
        """What it comes to, in the lab's currency."""
        return self.millionths / _MILLION


@dataclass(frozen=True)
class Budget:
    """What a plan costs, line by line.

    Attributes:
        lines: by year, then category, then in the order of the plan's cost.
        years: in their order.
        unpriced_staff: the staff units that the plan needs, where they have no price; 0 where they
            have.
        overhead: the rate of the overhead, in percent.
    """

    lines: tuple[BudgetLine, ...]
    years: tuple[str, ...]
    unpriced_staff: int
    overhead: float

    @property
    def categories(self) -> tuple[str, ...]:
        """Those that a line is in, in a form's order."""
        held = {line.category for line in self.lines}
        return tuple(head for head in _HEADS if head in held)

    def credits(self, category: str = "", year: str = "") -> float:
        """Return what a category comes to in a year; empty for all of them."""
        lines = self._lines(category, year)
        return sum(line.millionths for line in lines) / _MILLION

    def items(self, category: str) -> tuple[str, ...]:
        """Return what is in a category, each once."""
        return tuple(dict.fromkeys(line.what for line in self._lines(category, "")))

    def _lines(self, category: str, year: str) -> Iterator[BudgetLine]:
        for line in self.lines:
            if category in ("", line.category) and year in ("", line.year):
                yield line


class _Cost(NamedTuple):
    """A cost before it is shared out over the years; the exact amount."""

    category: str
    what: str
    amount: Fraction
    daily: bool = False


def budget_of(plan: Assessment) -> Budget:
    """Return the budget of a plan; its lines add up to the plan's cost."""
    lab, days = plan.pack.lab, _days_by_year(plan)
    first, number = next(iter(days)), sum(days.values())
    exact = dict[tuple[str, str, str], Fraction]()
    for cost in _costs(plan):
        shares = {first: Fraction(1)}
        if cost.daily and number:
            shares = {year: Fraction(part, number) for year, part in days.items() if part}
        for year, share in shares.items():
            key = year, cost.category, cost.what
            exact[key] = exact.get(key, Fraction()) + cost.amount * share
    if percent := lab.cost_model.overhead_percent:
        for year in days:
            direct = sum(amount for (of, *_), amount in exact.items() if of == year)
            exact[year, OVERHEAD, "Overhead"] = direct * _written(percent) / 100
    keys = sorted(exact, key=lambda key: (list(days).index(key[0]), _HEADS.index(key[1])))
    amounts = _shared_out(_whole(plan.cost), [exact[key] for key in keys])
    lines = [BudgetLine(*key, amount) for key, amount in zip(keys, amounts, strict=True)]
    return Budget(
        tuple(line for line in lines if line.millionths),
        tuple(days),
        0 if lab.cost_model.per_staff_day else plan.staff,
        percent,
    )


def _costs(plan: Assessment) -> Iterator[_Cost]:
    """Yield each cost but the overhead with its category."""
    pack, said = plan.pack, plan.pack.budget_categories
    items = {
        "equipment": (plan.plan.required_equipment, "equipment", BudgetCategory.INSTRUMENTS),
        "reagents": (plan.plan.required_reagents, "reagent", BudgetCategory.MATERIAL),
    }
    for term in plan.cost_terms:
        amount = term.number * _written(term.rate)
        if term.of in items:
            labels, kind, usual = items[term.of]
            for label in labels:
                price = _written(pack.price(label, kind))
                yield _Cost(said.get(label_key(label), usual), label, price)
        elif term.of == "staff":
            yield _Cost(BudgetCategory.PERSONNEL, "Staff", amount, daily=True)
        elif not term.is_share:
            yield _Cost(said.get(term.of, NOT_SAID), term.label, amount, term.of == "days")


def _written(number: float) -> Fraction:
    """Return the decimal number that somebody wrote."""
    return Fraction(repr(number))


# --- years ----------------------------------------------------------------------------------


def _days_by_year(plan: Assessment) -> dict[str, int]:
    """Return how many of a plan's days are in each year; the first is that in which it begins."""
    lab, number = plan.pack.lab, plan.counts.days
    begins = _date(lab.start_day, lab)
    if begins is None:
        return {YEAR_ONE: number}
    last, found = lab.start_day + number - 1, dict[str, int]()
    before, year = lab.start_day - 1, begins.year
    while len(found) < MOST_YEARS - 1 and year <= MAXYEAR:
        end = min(last, _last_day(year, lab))
        found[str(year)] = end - before
        before, year = end, year + 1
        if before >= last:
            return found
    ends = _date(last, lab)
    is_one = ends is not None and ends.year == year
    found[str(year) if is_one else f"{year} on"] = last - before
    return found


def _date(day: int, lab: Lab) -> date | None:
    return lab.start_date and date_of(day, lab.start_date, weekends=lab.weekends)


def _last_day(year: int, lab: Lab) -> int:
    """Return the last day of a lab in a year."""
    assert lab.start_date is not None  # noqa: S101 - only of a lab with a calendar
    return day_of(date(year, 12, 31), lab.start_date, weekends=lab.weekends)


# --- rounding -------------------------------------------------------------------------------


def _whole(cost: float) -> int:
    return round(Fraction(cost) * _MILLION)


def _shared_out(total: int, amounts: Sequence[Fraction]) -> list[int]:
    """Return exact amounts as whole millionths that add up to a total."""
    unit = _CENT if total % _CENT == 0 else 1
    parts = [amount * _MILLION / unit for amount in amounts]
    found = [int(part) for part in parts]
    left = total // unit - sum(found)
    # By the largest remainder: one unit each, and what a double of a vast cost lacks to the most.
    order = sorted(range(len(parts)), key=lambda at: found[at] - parts[at])
    for at in order[: max(0, left)]:
        found[at] += 1
    found[max(order, key=lambda at: found[at])] += total // unit - sum(found)
    return [number * unit for number in found]
