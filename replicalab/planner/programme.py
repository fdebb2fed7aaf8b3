"""The choice of plans and their start days as one integer programme.

There is one binary variable for each study, plan and start day. Some best timetable starts every
plan on its first day or on the day after another one ends, so only those days have variables and
rows. HiGHS solves for worth, fidelity, credits and end in turn, each with the optima before it as
bounds. Every solution is checked with whole numbers.
Source: Pritsker, Watters and Wolfe (1969), Management Science 16, 93-108.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import ceil, gcd, inf, isfinite
from typing import Any, Final, NamedTuple

SECONDS: Final = 3.0  # per solve; a choice that needs more is not proven
_MOST_CUTS: Final = 20  # solutions cut off because rounded numbers let them pass


class LabTask(NamedTuple):
    """Demand of a plan on a lab, and the first day on which it may start."""

    days: int
    staff: int
    instruments: frozenset[str]
    first: int


class PlanOption(NamedTuple):
    """A plan of a study; ``worth`` and ``credits`` are whole millionths."""

    worth: int
    loss: int
    credits: int
    task: LabTask


class LabMeans(NamedTuple):
    """Shared means: credits, first and last day, and people."""

    credits: int
    first: int
    last: int
    staff: int


class StudyChoice(NamedTuple):
    """A choice of plans.

    Attributes:
        options: the place of the chosen option of each study, None without one.
        starts: the start day of each study, None without one.
        most: an upper bound of the worth of any choice.
        exact: whether worth, then loss, then credits are proven to be the best.
        ends_first: whether the end is proven to be the first among those equals.
    """

    options: tuple[int | None, ...]
    starts: tuple[int | None, ...]
    most: int
    exact: bool = True
    ends_first: bool = True


class _Row(NamedTuple):
    """Coefficients by column; their sum is at most ``cap``."""

    terms: dict[int, int]
    cap: int


class _Column(NamedTuple):
    study: int
    place: int
    option: PlanOption
    start: int

    @property
    def end(self) -> int:
        return self.start + self.option.task.days - 1


class _Answer(NamedTuple):
    """Chosen columns, None without a solution; ``bound`` is a lower bound of the objective."""

    chosen: tuple[int, ...] | None
    bound: float
    is_proven: bool


Studies = Sequence[Sequence[PlanOption]]

_ORDERS: Final[Sequence[Callable[[_Column], tuple[int, ...]]]] = (
    lambda column: (column.option.task.first, -column.option.task.days),
    lambda column: (-column.option.task.days, -column.option.task.staff),
    lambda column: (-column.option.task.staff, -column.option.task.days),
    lambda column: (-column.option.task.days * column.option.task.staff,),
)


def undominated(options: Iterable[PlanOption]) -> list[PlanOption]:
    """Return the options that no other one of the same study dominates."""
    selected: list[PlanOption] = []
    for option in sorted(
        options, key=lambda o: (*_demand(o), len(o.task.instruments), sorted(o.task.instruments))
    ):
        if not any(_dominates(other, option) for other in selected):
            selected.append(option)
    return selected


def _demand(option: PlanOption) -> tuple[int, ...]:
    task = option.task
    return -option.worth, option.loss, option.credits, task.days, task.staff, task.first


def _dominates(one: PlanOption, other: PlanOption) -> bool:
    pairs = zip(_demand(one), _demand(other), strict=True)
    return one.task.instruments <= other.task.instruments and all(a <= b for a, b in pairs)


def best(studies: Studies, means: LabMeans, *, ends: bool = True) -> StudyChoice:
    """Choose the most worth, then the least loss, the fewest credits and the first end if asked."""
    whole = _Model(studies, means, timed=False)
    found = _in_turn(whole)
    columns = whole.scheduled(found.chosen) if found.exact else None
    model = _Model(studies, means) if columns is None or ends else whole
    if columns is None:
        most, packed = found.most, whole.packed(found.chosen)
        found = _in_turn(model)
        columns = [model.columns[at] for at in found.chosen]
        if not found.exact:
            columns = max(columns, packed, key=_worth)
            found = found._replace(most=min(most, found.most))
    ends_first = False
    if ends and found.exact:
        options = [column.option for column in columns]
        answer = model.least([0] * len(model.columns), model.equals(options), ends=True)
        if answer.chosen is not None:
            columns = [model.columns[at] for at in answer.chosen]
        ends_first = answer.is_proven
    return model.choice(columns, found.most, found.exact, ends_first)


class _Optimum(NamedTuple):
    chosen: tuple[int, ...]
    most: int
    exact: bool


def _in_turn(model: _Model) -> _Optimum:
    """Minimise each objective with the optima before it as bounds."""
    chosen: tuple[int, ...] = ()
    rows = [model.budget]
    bounds = []
    is_proven = True
    for weights in model.objectives:
        answer = model.least(weights, rows)
        bounds.append(answer.bound)
        chosen = chosen if answer.chosen is None else answer.chosen
        is_proven = answer.is_proven
        if not is_proven:
            break
        rows.append(_Row(dict(enumerate(weights)), sum(weights[at] for at in chosen)))
    worth = sum(model.columns[at].option.worth for at in chosen)
    most = int(min(model.ceiling, -bounds[0])) if isfinite(bounds[0]) else model.ceiling
    return _Optimum(chosen, max(most, worth), is_proven)


def cheapest(studies: Studies, means: LabMeans, worth: int) -> tuple[StudyChoice | None, bool]:
    """Choose the fewest credits for a worth, without a budget; None if nothing has it.

    The second value is whether that is proven.
    """
    rich = means._replace(credits=sum(max((o.credits for o in s), default=0) for s in studies))
    answer = _Answer(None, -inf, False)
    for timed in (False, True):
        model = _Model(studies, rich, timed=timed)
        worths, _, credits = model.objectives
        answer = model.least(credits, [_Row(dict(enumerate(worths)), -worth)])
        if answer.chosen is None:
            if answer.is_proven:
                return None, True
            continue
        columns = (
            [model.columns[at] for at in answer.chosen] if timed
            else model.scheduled(answer.chosen) if answer.is_proven else None
        )  # fmt: skip
        if columns is not None:
            return model.choice(columns, worth, answer.is_proven, False), answer.is_proven
    return None, answer.is_proven


class _Model:
    """The columns of a choice and the rows that every choice keeps.

    Without ``timed`` each plan has one column, and the rows bound the days of work in all.
    """

    def __init__(self, studies: Studies, means: LabMeans, *, timed: bool = True) -> None:
        self._size, self._means = len(studies), means
        able = [
            [
                (place, option)
                for place, option in enumerate(options)
                if option.worth > 0
                and option.credits <= means.credits
                and option.task.staff <= means.staff
                and option.task.first + option.task.days - 1 <= means.last
            ]
            for options in studies
        ]
        days = _start_days([[option.task for _, option in each] for each in able], means.last)
        self.columns = [
            _Column(study, place, option, day)
            for study, options in enumerate(able)
            for place, option in options
            for day in (days if timed else [option.task.first])
            if option.task.first <= day <= means.last - option.task.days + 1
        ]
        options = [column.option for column in self.columns]
        self.objectives = (
            [-option.worth for option in options],
            [option.loss for option in options],
            [option.credits for option in options],
        )
        self.budget = _Row(dict(enumerate(self.objectives[-1])), means.credits)
        self.ceiling = sum(max((o.worth for o in each), default=0) for each in studies)
        self._rows = [*self._one_plan_each(), *(self._daily(days) if timed else self._in_all())]

    def equals(self, options: Sequence[PlanOption]) -> list[_Row]:
        """Return the rows of the choices that are as good as some options."""
        sums = (
            -sum(option.worth for option in options),
            sum(option.loss for option in options),
            sum(option.credits for option in options),
        )
        pairs = zip(self.objectives, sums, strict=True)
        return [_Row(dict(enumerate(weights)), most) for weights, most in pairs]

    def _one_plan_each(self) -> list[_Row]:
        rows = [_Row({}, 1) for _ in range(self._size)]
        for at, column in enumerate(self.columns):
            rows[column.study].terms[at] = 1
        return [row for row in rows if row.terms]

    def _shared(self) -> set[str]:
        """Return the instruments that plans of more than one study use."""
        users: dict[str, set[int]] = {}
        for column in self.columns:
            for name in column.option.task.instruments:
                users.setdefault(name, set()).add(column.study)
        return {name for name, studies in users.items() if len(studies) > 1}

    def _daily(self, days: list[int]) -> list[_Row]:
        staff = {day: _Row({}, self._means.staff) for day in days}
        items: dict[tuple[str, int], _Row] = {}
        shared = self._shared()
        for at, column in enumerate(self.columns):
            task = column.option.task
            for day in days:
                if column.start <= day <= column.end:
                    staff[day].terms[at] = task.staff
                    for name in task.instruments & shared:
                        items.setdefault((name, day), _Row({}, 1)).terms[at] = 1
        distinct = {tuple(row.terms): row for row in items.values()}
        return [*staff.values(), *distinct.values()]

    def _in_all(self) -> list[_Row]:
        days = self._means.last - self._means.first + 1
        work = _Row({}, days * self._means.staff)
        rows = {name: _Row({}, days) for name in sorted(self._shared())}
        for at, column in enumerate(self.columns):
            task = column.option.task
            work.terms[at] = task.days * task.staff
            for name in task.instruments & rows.keys():
                rows[name].terms[at] = task.days
        return [work, *rows.values()]

    def scheduled(self, chosen: Sequence[int]) -> list[_Column] | None:
        """Return the columns with start days that fit, None if simple orders give none."""
        columns = [self.columns[at] for at in chosen]
        for order in _ORDERS:
            placed = self._placed(sorted(columns, key=order))
            if len(placed) == len(columns):
                return placed
        return None

    def packed(self, chosen: Sequence[int]) -> list[_Column]:
        """Return a good choice that fits: first of these columns, then of those worth most."""
        columns = [self.columns[at] for at in chosen]
        others = sorted(self.columns, key=lambda c: (-c.option.worth, c.option.credits))
        tries = [self._placed([*sorted(columns, key=order), *others]) for order in _ORDERS]
        return max(tries, key=_worth)

    def _placed(self, columns: Iterable[_Column]) -> list[_Column]:
        """Return those columns that fit one after the other, each from its earliest start."""
        placed: dict[int, _Column] = {}
        credits = self._means.credits
        for column in columns:
            option = column.option
            if column.study in placed or option.credits > credits:
                continue
            tasks = [other.option.task for other in placed.values()]
            starts = [other.start for other in placed.values()]
            means = self._means
            if day := earliest_start(option.task, tasks, starts, means.last, means.staff):
                placed[column.study] = column._replace(start=day)
                credits -= option.credits
        return [*placed.values()]

    def least(self, weights: list[int], rows: list[_Row], *, ends: bool = False) -> _Answer:
        """Minimise a sum of weights, or the last day, within further rows."""
        if not self.columns:
            return _Answer(() if all(row.cap >= 0 for row in rows) else None, 0, True)
        rows = list(rows)
        for _ in range(_MOST_CUTS):
            answer = self._solved(weights, [*self._rows, *rows], ends=ends)
            chosen = answer.chosen or ()
            broken = [row for row in rows if sum(row.terms.get(at, 0) for at in chosen) > row.cap]
            if answer.chosen is None or not broken:
                return answer
            rows += [self._cut(row, chosen) for row in broken]
        return _Answer(None, -inf, False)

    def _cut(self, row: _Row, chosen: Sequence[int]) -> _Row:
        """Return a row that excludes a choice, and all that take as much of a broken row."""
        taken = {self.columns[at].study: row.terms.get(at, 0) for at in chosen}
        terms = dict[int, int]()
        for at, column in enumerate(self.columns):
            term = row.terms.get(at, 0)
            if column.study not in taken:
                terms[at] = -1 if term < 0 else 0  # what lowers the sum may repair the row
            elif term >= taken[column.study]:
                terms[at] = 1
        return _Row(terms, len(chosen) - 1)

    def _solved(self, weights: list[int], rows: list[_Row], *, ends: bool) -> _Answer:
        import numpy as np  # noqa: PLC0415 - this and the next are slow to load
        from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415
        from scipy.sparse import csr_array  # noqa: PLC0415

        size, unit = len(self.columns), gcd(*weights) or 1
        origin = self._means.first - 1
        cells: list[tuple[float, int, int]] = []
        caps: list[float] = []
        for row in rows:
            scale = gcd(*row.terms.values()) or 1
            cells += [(term // scale, len(caps), at) for at, term in row.terms.items() if term]
            caps.append(row.cap // scale)
        if ends:  # one more column is the last day
            for study in range(self._size):
                own = [at for at, column in enumerate(self.columns) if column.study == study]
                cells += [(self.columns[at].end - origin, len(caps), at) for at in own]
                cells.append((-1, len(caps), size))
                caps.append(0)
        values, lines, places = zip(*cells, strict=True)
        matrix = csr_array((np.array(values, float), (lines, places)), (len(caps), size + 1))
        result: Any = milp(
            np.array([*(weight // unit for weight in weights), float(ends)], float),
            integrality=np.array([1] * size + [0]),
            bounds=Bounds(0, np.array([1.0] * size + [self._means.last - origin])),
            constraints=LinearConstraint(matrix, -np.inf, np.array(caps, float)),
            options={"time_limit": SECONDS, "mip_rel_gap": 0},
        )
        is_infeasible = result.status == 2
        if result.x is None:
            bound = getattr(result, "mip_dual_bound", None)
            return _Answer(None, -inf if bound is None else _rounded(bound) * unit, is_infeasible)
        chosen = tuple(at for at in range(size) if result.x[at] > 0.5)
        is_proven = result.status == 0
        exact = sum(weights[at] for at in chosen)
        return _Answer(
            chosen, exact if is_proven else _rounded(result.mip_dual_bound) * unit, is_proven
        )

    def choice(
        self, columns: Sequence[_Column], most: int, exact: bool, ends_first: bool
    ) -> StudyChoice:
        """Return the choice of some columns, each moved to its earliest start."""
        options: list[int | None] = [None] * self._size
        starts: list[int | None] = [None] * self._size
        tasks: list[LabTask] = []
        days: list[int] = []
        for column in sorted(columns, key=lambda column: (column.start, column.study)):
            task = column.option.task
            day = earliest_start(task, tasks, days, self._means.last, self._means.staff)
            tasks.append(task)
            days.append(day)
            options[column.study], starts[column.study] = column.place, day
        return StudyChoice(tuple(options), tuple(starts), most, exact, ends_first)


def _worth(columns: Iterable[_Column]) -> int:
    return sum(column.option.worth for column in columns)


def _rounded(bound: float) -> float:
    return ceil(bound - 1e-6) if isfinite(bound) else -inf


def _start_days(studies: Sequence[Sequence[LabTask]], last: int) -> list[int]:
    """Return each first day, plus the days of any studies that run before."""
    days = {task.first for tasks in studies for task in tasks}
    for tasks in studies:
        lengths = {task.days for task in tasks}
        days |= {day + length for day in days for length in lengths if day + length <= last}
    return sorted(days)


def earliest_start(
    task: LabTask, tasks: Sequence[LabTask], starts: Sequence[int], last: int, staff: int
) -> int:
    """Return the earliest start of one more task during fixed ones; 0 without any."""
    spans = [
        (at, at + other.days, other.staff, bool(other.instruments & task.instruments))
        for other, at in zip(tasks, starts, strict=True)
    ]
    for at in sorted({task.first, *(end for _, end, _, _ in spans if end > task.first)}):
        end = at + task.days
        if end - 1 > last:
            return 0
        during = [span for span in spans if span[0] < end and span[1] > at]
        days = [at, *(begin for begin, *_ in during if begin > at)]
        most = max(sum(s for b, e, s, _ in during if b <= day < e) for day in days)
        if most + task.staff <= staff and not any(shared for *_, shared in during):
            return at
    return 0


def most_at_work(tasks: Sequence[LabTask], starts: Sequence[int]) -> int:
    """Return the most people at work on any day."""
    spans = [(at, at + t.days, t.staff) for t, at in zip(tasks, starts, strict=True)]
    return max(
        (sum(s for b, e, s in spans if b <= day < e) for day in starts),
        default=0,
    )
