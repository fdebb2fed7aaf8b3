"""The same choice by integer programmes, for portfolios that `choosing` cannot finish.

A master programme chooses the options by what bounds them: the credits, the people's days, the
days of each instrument. HiGHS solves it. Whether what it chooses has a timetable is found out by
`timetable`; where it has none, a smallest part that has none is cut off, with all that takes as
much, and the programme is solved again. Since the master allows all that a lab does, its first
choice with a timetable is the best. Worth, loss and credits are solved for in turn, each with those
before it fixed. All numbers are whole, and what the solver returns is checked in whole numbers.
Source: Hooker (2007), Operations Research 55, 588-602 (logic-based Benders decomposition);
Huangfu and Hall (2018), Mathematical Programming Computation 10, 119-142 (HiGHS).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import reduce
from math import gcd
from typing import Any, Final, NamedTuple

from replicalab.planner.choosing import (
    LabMeans,
    PlanOption,
    Studies,
    StudyChoice,
    best,
    cheapest,
    limits,
)
from replicalab.planner.timetable import LabTask, Starts, UndecidedError, timetable

MOST_ROUNDS: Final = 60
"""The programme is solved so often for one choice; one that would take more is not proven."""

MOST_NODES: Final = 5_000
"""So many nodes of the solver's own search are looked at for one solution."""

MOST_NUMBER: Final = 10_000_000
"""Credits and worths that are larger, in the largest unit that all share, are left to the search.

The solver takes a value within `_TOLERANCE` of a whole number for it: so many times that is well
below one.
"""

_TOLERANCE: Final = 1e-9
_STATES: Final = 1_500  # of one timetable among many
_HALF: Final = 0.5  # between two whole numbers

Value = Callable[[PlanOption], int]
_ORDER: Final[tuple[Value, ...]] = (
    lambda plan: -plan.worth,
    lambda plan: plan.loss,
    lambda plan: plan.credits,
)
"""What is made least, one after the other."""


def best_of(studies: Studies, means: LabMeans) -> StudyChoice:
    """Return what `best` does; where that is not proven, the better of it and the programme's."""
    found = best(studies, means)
    if found.exact:
        return found
    solved, most, exact = best_by_programme(studies, means)
    most = min(found.most, most)
    if solved is None or _order(studies, solved) > _order(studies, found):
        return found._replace(most=most)
    return solved._replace(most=most, exact=exact)


def cheapest_of(studies: Studies, means: LabMeans, worth: int) -> tuple[StudyChoice | None, bool]:
    """Return what `cheapest` does; where that is not proven, the cheaper of the two ways'."""
    found, proven = cheapest(studies, means, worth)
    if proven:
        return found, True
    solved, exact = cheapest_by_programme(studies, means, worth)
    if solved is None:
        return found, exact
    if found is not None and _spent(studies, found) < _spent(studies, solved):
        return found, False
    return solved, exact


def best_by_programme(studies: Studies, means: LabMeans) -> tuple[StudyChoice | None, int, bool]:
    """Return the best choice, what no choice is worth more than, and whether it is proven.

    None where no choice was found within the bounds.
    """
    most = sum(max((plan.worth for plan in each), default=0) for each in studies)
    programme = _Programme.of(studies, means)
    if programme is None:
        return None, most, False
    held, exact = None, True
    for value in _ORDER:
        step = programme.least(value)
        if value is _ORDER[0] and step.bound is not None:
            most = -step.bound
        exact = exact and step.exact
        if step.chosen is None:
            break
        held = step.chosen
        programme.fix(value, held)
    return programme.choice(held, most, exact=exact), most, exact


def cheapest_by_programme(
    studies: Studies, means: LabMeans, worth: int
) -> tuple[StudyChoice | None, bool]:
    """Return the cheapest choice worth so much, whatever there is to spend; None if none is.

    And whether that is proven.
    """
    most = sum(max((plan.credits for plan in each), default=0) for each in studies)
    programme = _Programme.of(studies, means._replace(credits=most))
    if programme is None:
        return None, False
    programme.demand(_ORDER[0], -worth)
    step = programme.least(_ORDER[2])
    return programme.choice(step.chosen, worth, exact=step.exact), step.exact


def _order(studies: Studies, choice: StudyChoice) -> tuple[int, ...]:
    plans = _plans(studies, choice)
    return tuple(sum(map(value, plans)) for value in _ORDER)


def _spent(studies: Studies, choice: StudyChoice) -> int:
    return sum(plan.credits for plan in _plans(studies, choice))


def _plans(studies: Studies, choice: StudyChoice) -> list[PlanOption]:
    pairs = zip(studies, choice.options, strict=True)
    return [options[at] for options, at in pairs if at is not None]


# --- the programme --------------------------------------------------------------------------


class _Column(NamedTuple):
    """An option as a variable: 1 where it is chosen."""

    study: int
    place: int
    plan: PlanOption


class _Chosen(NamedTuple):
    """Columns with a timetable, and the start of each."""

    columns: list[int]
    starts: Starts


class _Step(NamedTuple):
    """What is least of a value.

    Attributes:
        chosen: a choice; None where there is none, or none was found.
        bound: no choice has less; None where nothing is known.
        exact: whether it is proven that it has the least, or that there is none.
    """

    chosen: _Chosen | None
    bound: int | None
    exact: bool


class _Programme:
    """The master programme, which knows more of timetables with each round."""

    def __init__(self, columns: Sequence[_Column], number: int, means: LabMeans) -> None:
        import highspy  # noqa: PLC0415 - 8 MB, for the few portfolios that need it

        new: Any = highspy.Highs

        self._columns, self._number, self._means = columns, number, means
        self._rounds, self._rows = 0, list[tuple[dict[int, int], int]]()
        self._is_impossible = False
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._infeasible = highspy.HighsModelStatus.kInfeasible
        self._highs: Any = new()
        for option, said in (
            ("output_flag", False),
            ("threads", 1),
            ("mip_rel_gap", 0.0),
            ("mip_abs_gap", _HALF),
            ("mip_feasibility_tolerance", _TOLERANCE),
            ("mip_max_nodes", MOST_NODES),
        ):
            self._highs.setOptionValue(option, said)
        for at in range(len(columns)):
            self._highs.addVar(0.0, 1.0)
            self._highs.changeColIntegrality(at, highspy.HighsVarType.kInteger)

    @classmethod
    def of(cls, studies: Studies, means: LabMeans) -> _Programme | None:
        """Return the programme of all that may be chosen; None where its numbers are too large."""
        columns = [
            _Column(study, place, plan)
            for study, options in enumerate(studies)
            for place, plan in enumerate(options)
            if plan.worth > 0 and plan.credits <= means.credits
            and plan.task.first + plan.task.days - 1 <= means.last
            and plan.task.staff <= means.staff
        ]  # fmt: skip
        found = cls(columns, len(studies), means)
        for study in range(len(studies)):
            found._at_most({at: 1 for at, each in enumerate(columns) if each.study == study}, 1)
        held = [[each.plan for each in columns if each.study == at] for at in range(len(studies))]
        for limit in limits(held, means, combined=False):
            weights = {at: limit.weigh(each.plan) for at, each in enumerate(columns)}
            found._at_most(weights, limit.capacity)
        units = [(value, found._unit(value)) for value in _ORDER]
        numbers = [abs(value(each.plan)) // unit for value, unit in units for each in columns]
        numbers += [number for row, _ in found._rows for number in row.values()]
        return found if max(numbers, default=0) <= MOST_NUMBER else None

    def _unit(self, value: Value) -> int:
        return reduce(gcd, (value(each.plan) for each in self._columns), 0) or 1

    def _at_most(self, weights: dict[int, int], most: int) -> None:
        """Add a row: the weights of what is chosen are no more than a number."""
        held = {at: weight for at, weight in weights.items() if weight}
        unit = reduce(gcd, held.values(), 0)
        if not unit:
            self._is_impossible = self._is_impossible or most < 0
            return
        row = {at: weight // unit for at, weight in held.items()}
        self._rows.append((row, most // unit))
        self._add(row, most // unit)

    def _add(self, row: dict[int, int], most: int) -> None:
        places, numbers = [*row], [float(weight) for weight in row.values()]
        self._highs.addRow(-self._highs.inf, float(most), len(places), places, numbers)

    def demand(self, value: Value, most: int) -> None:
        """Allow only choices with so much of a value at most."""
        self._at_most({at: value(each.plan) for at, each in enumerate(self._columns)}, most)

    def fix(self, value: Value, chosen: _Chosen) -> None:
        """Allow only choices with no more of a value than one has."""
        self.demand(value, self._sum(value, chosen.columns))

    def _sum(self, value: Value, columns: Sequence[int]) -> int:
        return sum(value(self._columns[at].plan) for at in columns)

    def least(self, value: Value) -> _Step:
        """Return the choice with the least of a value."""
        unit, bound, exact = self._unit(value), None, True
        if self._is_impossible:
            return _Step(None, bound, exact)
        for at, each in enumerate(self._columns):
            self._highs.changeColCost(at, float(value(each.plan) // unit))
        while self._rounds < MOST_ROUNDS:
            self._rounds += 1
            self._highs.run()
            status = self._highs.getModelStatus()
            if self._columns and status == self._infeasible:
                return _Step(None, bound, exact)
            columns = self._solution() if status == self._optimal or not self._columns else None
            if columns is None:
                break
            if exact:
                bound = self._sum(value, columns)
            try:
                starts = self._timetable(columns)
            except UndecidedError:
                exact = False
                self._at_most(dict.fromkeys(columns, 1), len(columns) - 1)
                continue
            if starts is not None:
                return _Step(_Chosen(columns, starts), bound, exact)
            self._cut(columns)
        return _Step(None, bound, exact=False)

    def _solution(self) -> list[int] | None:
        """Return the columns of the solution; None where rounded it breaks a row."""
        values = self._highs.getSolution().col_value if self._columns else []
        found = [at for at, value in enumerate(values) if value > _HALF]
        held = set(found)
        for row, most in self._rows:
            if sum(weight for at, weight in row.items() if at in held) > most:
                return None
        return found

    def _timetable(self, columns: Sequence[int]) -> Starts | None:
        tasks = [self._task(at) for at in columns]
        return timetable(tasks, self._means.last, self._means.staff, _STATES)

    def _task(self, at: int) -> LabTask:
        return self._columns[at].plan.task

    def _cut(self, columns: Sequence[int]) -> None:
        """Cut off a smallest part of columns that has no timetable, and all that takes as much."""
        part = list(columns)
        for at in sorted(columns, key=lambda at: self._task(at).days * self._task(at).staff):
            rest = [other for other in part if other != at]
            with suppress(UndecidedError):
                if self._timetable(rest) is None:
                    part = rest
        studies = {self._columns[at].study: at for at in part}
        row = {}
        for other, each in enumerate(self._columns):
            # In the place of its study's own task, or, of a study without one, of any.
            instead = [studies[each.study]] if each.study in studies else part
            if all(_takes_as_much(each.plan.task, self._task(at)) for at in instead):
                row[other] = 1
        self._at_most(row, len(part) - 1)

    def choice(self, chosen: _Chosen | None, most: int, *, exact: bool) -> StudyChoice | None:
        """Return a choice study by study; which of its equals ends first is not known."""
        if chosen is None:
            return None
        options: list[int | None] = [None] * self._number
        starts: list[int | None] = [None] * self._number
        for at, start in zip(chosen.columns, chosen.starts, strict=True):
            column = self._columns[at]
            options[column.study], starts[column.study] = column.place, start
        return StudyChoice(tuple(options), tuple(starts), most, exact, ends_first=False)


def _takes_as_much(task: LabTask, other: LabTask) -> bool:
    """Return whether a task takes no less of anything than another, and starts no earlier."""
    return (
        task.days >= other.days
        and task.staff >= other.staff
        and task.first >= other.first
        and task.instruments >= other.instruments
    )
