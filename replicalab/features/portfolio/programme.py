"""The integer programme of a portfolio: a binary variable for each study, plan and start day.

Some best timetable starts every plan on its first day or on the day after another one ends, so only
those days have variables and rows. Searches end after a number of nodes, so results do not depend
on the machine. Source: Pritsker, Watters and Wolfe (1969), Management Science 16, 93-108.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil, gcd, inf, isfinite
from operator import itemgetter
from typing import Any, Final, NamedTuple

_MOST_COLUMNS: Final = 20_000  # HiGHS overruns its limits with more
_NODES: Final = 6_000_000  # of the search tree, times columns: some ten seconds
_SECONDS: Final = 120.0  # if a machine is far slower
_WORTH, _LOSS, _CREDITS = _ORDER = range(3)  # objectives, all to be minimised


class PlanOption(NamedTuple):
    """Worth and demand of a plan; ``worth`` and ``credits`` are whole millionths.

    ``first`` is the first day on which it may start.
    """

    worth: int
    loss: int
    credits: int
    days: int
    staff: int
    instruments: frozenset[str]
    first: int

    @property
    def costs(self) -> tuple[int, int, int]:
        """Its objectives, in their order."""
        return -self.worth, self.loss, self.credits

    @property
    def demand(self) -> tuple[int, ...]:
        """Its numbers, of which less is better."""
        return (*self.costs, self.days, self.staff, self.first)


_Column = tuple[int, PlanOption, int]  # the place of a study, an option of it and a start day
_Row = tuple[dict[int, int], int]  # the terms of a sum by their columns, and its cap
Plans = dict[int, tuple[PlanOption, int]]  # an option and its start day, by the place of the study


class LabMeans(NamedTuple):
    """Shared means: credits in whole millionths, first and last day, and people."""

    credits: int
    first: int
    last: int
    staff: int


class StudyChoice(NamedTuple):
    """Chosen plans, an upper bound of the worth, and whether the choice is proven optimal."""

    plans: Plans
    most: float
    exact: bool


def undominated(options: Iterable[PlanOption]) -> list[PlanOption]:
    """Return the options of a study that no other one dominates."""
    selected: list[PlanOption] = []
    for option in sorted(
        options, key=lambda o: (o.demand, len(o.instruments), sorted(o.instruments))
    ):
        if not any(
            other.instruments <= option.instruments
            and all(a <= b for a, b in zip(other.demand, option.demand, strict=True))
            for other in selected
        ):
            selected.append(option)
    return selected


def best(studies: Sequence[Sequence[PlanOption]], means: LabMeans) -> StudyChoice:
    """Choose the most worth, then the least loss, then the fewest credits.

    An instrument that one study alone uses never conflicts. Without it fewer plans are undominated.
    """
    able = [[option for option in options if _is_able(option, means)] for options in studies]
    users = Counter(
        name for options in able for name in {name for o in options for name in o.instruments}
    )
    shared = {name for name, number in users.items() if number > 1}
    full = [
        {o._replace(instruments=o.instruments & shared): o for o in options} for options in able
    ]
    listed = [(at, option) for at, options in enumerate(full) for option in undominated(options)]
    plans, limit, exact = _solved(listed, means)
    if not exact:
        by_costs = sorted(listed, key=lambda pair: pair[1].costs)
        plans = min(plans, _packed(by_costs, means), key=_totals)
    plans = _soonest(plans, means)
    full_plans = {at: (full[at][option], start) for at, (option, start) in plans.items()}
    return StudyChoice(full_plans, limit, exact)


def _is_able(option: PlanOption, means: LabMeans) -> bool:
    end = option.first + option.days - 1
    return option.worth > 0 and option.staff <= means.staff and end <= means.last


def _totals(plans: Plans) -> list[int]:
    return [sum(option.costs[at] for option, _ in plans.values()) for at in _ORDER]


def _packed(options: Iterable[tuple[int, PlanOption]], means: LabMeans) -> Plans:
    plans: Plans = {}
    for at, option in options:
        spent = sum(other.credits for other, _ in plans.values()) + option.credits
        day = _earliest_start(option, [*plans.values()], means)
        if at not in plans and spent <= means.credits and day is not None:
            plans[at] = option, day
    return plans


def _soonest(plans: Plans, means: LabMeans) -> Plans:
    while plans:
        last = max(start + option.days - 1 for option, start in plans.values())
        shorter = means._replace(last=last - 1)
        options = [(at, o) for at, (o, _) in plans.items() if _is_able(o, shorter)]
        sooner = _solved(options, shorter, [_WORTH]).plans
        if len(sooner) < len(plans):
            break
        plans = sooner
    return plans


def _solved(
    options: Sequence[tuple[int, PlanOption]], means: LabMeans, objectives: Sequence[int] = _ORDER
) -> StudyChoice:
    columns = _columns(options, means)
    if not columns or len(columns) > _MOST_COLUMNS:
        return StudyChoice({}, inf if columns else 0, not columns)
    costs = [option.costs for _, option, _ in columns]
    terms = [{at: cost[objective] for at, cost in enumerate(costs)} for objective in _ORDER]
    rows = [*_rows(columns, means), (terms[_CREDITS], means.credits)]
    plans, limit, exact = Plans(), inf, True
    for objective in objectives:
        chosen, bound, exact = _minimised(terms[objective], rows)
        limit = -bound if objective == _WORTH else limit
        if not exact and not chosen:
            break
        by_start = sorted((columns[at] for at in chosen), key=itemgetter(2))
        packed = _packed([column[:2] for column in by_start], means)
        plans = min(packed, plans, key=_totals)
        totals = _totals(plans)
        rows.append((terms[objective], totals[objective]))
        # A rounding error may exceed the budget or an earlier optimum.
        exact = exact and len(packed) == len(chosen)
        exact = exact and _totals(packed)[: objective + 1] == totals[: objective + 1]
        if not exact:
            break
    return StudyChoice(plans, limit, exact)


def _columns(options: Sequence[tuple[int, PlanOption]], means: LabMeans) -> list[_Column]:
    lengths: dict[int, set[int]] = {}
    for study, option in options:
        lengths.setdefault(study, set()).add(option.days)
    days = {option.first for _, option in options}
    for own_lengths in lengths.values():
        ends = {day + length for day in days for length in own_lengths}
        days |= {end for end in ends if end <= means.last}
    return [
        (study, option, day)
        for study, option in options
        for day in sorted(days)
        if option.first <= day <= means.last - option.days + 1
    ]


def _rows(columns: Sequence[_Column], means: LabMeans) -> Iterator[_Row]:
    for study in sorted({column[0] for column in columns}):
        yield {at: 1 for at, column in enumerate(columns) if column[0] == study}, 1
    for day in sorted({start for *_, start in columns}):
        now = {
            at: option
            for at, (_, option, start) in enumerate(columns)
            if start <= day < start + option.days
        }
        yield {at: option.staff for at, option in now.items()}, means.staff
        for name in sorted({name for option in now.values() for name in option.instruments}):
            yield {at: 1 for at, option in now.items() if name in option.instruments}, 1


def _minimised(weights: Mapping[int, int], rows: Sequence[_Row]) -> tuple[list[int], float, bool]:
    import numpy as np  # noqa: PLC0415 - this and the next are slow to load
    from scipy.optimize import LinearConstraint, milp  # noqa: PLC0415
    from scipy.sparse import csr_array  # noqa: PLC0415

    size = len(weights)
    matrix, caps = csr_array((len(rows), size)).tolil(), []
    for line, (terms, cap) in enumerate(rows):
        unit = gcd(*terms.values()) or 1
        matrix[line, [*terms]] = [term // unit for term in terms.values()]
        caps.append(float(cap // unit))
    unit = gcd(*weights.values()) or 1
    result: Any = milp(
        np.array([weight // unit for weight in weights.values()], float),
        integrality=np.ones(size),
        bounds=(0, 1),
        constraints=LinearConstraint(matrix.tocsr(), -np.inf, caps),
        options={"node_limit": _NODES // size, "time_limit": _SECONDS, "mip_rel_gap": 0},
    )
    bound = getattr(result, "mip_dual_bound", None)
    bound = -inf if bound is None or not isfinite(bound) else ceil(bound - 1e-6) * unit
    values = [] if result.x is None else result.x
    return [at for at, value in enumerate(values) if value > 0.5], bound, result.status == 0


def _earliest_start(
    option: PlanOption, others: Sequence[tuple[PlanOption, int]], means: LabMeans
) -> int | None:
    ends = {start + other.days for other, start in others}
    for day in sorted({option.first, *(end for end in ends if end > option.first)}):
        end = day + option.days
        during = [(o, start) for o, start in others if start < end and start + o.days > day]
        busiest = max(
            sum(o.staff for o, start in during if start <= moment < start + o.days)
            for moment in (day, *(start for _, start in during if start > day))
        )
        if (
            end - 1 <= means.last
            and busiest + option.staff <= means.staff
            and not any(o.instruments & option.instruments for o, _ in during)
        ):
            return day
    return None
