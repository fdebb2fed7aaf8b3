"""The studies, and one plan of each, that one lab runs with one budget.

An integer programme has a binary variable for each study, plan and start day. Some best timetable
starts every plan on its first day or on the day after another one ends, so only those days have
variables and rows. Searches end after a number of nodes, so results do not depend on the machine.
Source: Pritsker, Watters and Wolfe (1969), Management Science 16, 93-108.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, gcd, inf, isfinite
from typing import Any, Final, NamedTuple

from replicalab.assessment import Assessment, assess
from replicalab.errors import PortfolioError
from replicalab.lexicon import amount_text
from replicalab.notebook import Framed
from replicalab.planner.plan_options import (
    UNIT,
    LabPlans,
    PlanOption,
    PortfolioStudy,
    plans_of,
    undominated,
    whole,
)

MOST_STUDIES: Final = 60

_MOST_COLUMNS: Final = 20_000  # HiGHS overruns its limits with more
_NODES: Final = 6_000_000  # of the search tree, times columns: some ten seconds
_SECONDS: Final = 120.0  # if a machine is far slower


# --- the integer programme ------------------------------------------------------------------

Studies = Sequence[Sequence[PlanOption]]
Plans = dict[int, tuple[PlanOption, int]]  # a plan and its start day by the place of the study
_Row = tuple[dict[int, int], int]  # the terms of a sum by their columns, and its cap
_WORTH, _LOSS, _CREDITS = _ORDER = range(3)  # objectives, all to be minimised


class LabMeans(NamedTuple):
    """Shared means: credits in whole millionths, first and last day, and people."""

    credits: int
    first: int
    last: int
    staff: int


class StudyChoice(NamedTuple):
    """Chosen plans, the most that any choice is worth, and whether none is better."""

    plans: Plans
    most: float
    exact: bool


def best(studies: Studies, means: LabMeans) -> StudyChoice:
    """Choose the most worth, then the least loss, then the fewest credits.

    An instrument that one study alone uses never conflicts. Without it fewer plans are undominated.
    """
    able = [[option for option in options if _is_able(option, means)] for options in studies]
    users = Counter(
        name for options in able for name in {name for o in options for name in o.instruments}
    )
    shared = {name for name, number in users.items() if number > 1}
    full = [{o._replace(instruments=o.instruments & shared): o for o in own} for own in able]
    listed = [(at, option) for at, options in enumerate(full) for option in undominated(options)]
    plans, most, exact = _solved(listed, means)
    if not exact:
        by_costs = sorted(listed, key=lambda pair: _costs(pair[1]))
        plans = min(plans, _packed(by_costs, means), key=_totals)
    plans = _soonest(plans, means)
    full_plans = {at: (full[at][option], start) for at, (option, start) in plans.items()}
    return StudyChoice(full_plans, most, exact)


def _is_able(option: PlanOption, means: LabMeans) -> bool:
    end = option.first + option.days - 1
    return option.worth > 0 and option.staff <= means.staff and end <= means.last


def _costs(option: PlanOption) -> tuple[int, int, int]:
    return -option.worth, option.loss, option.credits


def _totals(plans: Plans) -> list[int]:
    costs = [_costs(option) for option, _ in plans.values()]
    return [sum(cost[objective] for cost in costs) for objective in _ORDER]


def _packed(options: Iterable[tuple[int, PlanOption]], means: LabMeans) -> Plans:
    """Return plans that fit, taken in their order, each on the first day that is free for it."""
    plans: Plans = {}
    for at, option in options:
        spent = sum(other.credits for other, _ in plans.values()) + option.credits
        day = _earliest_start(option, [*plans.values()], means)
        if at not in plans and spent <= means.credits and day is not None:
            plans[at] = option, day
    return plans


def _soonest(plans: Plans, means: LabMeans) -> Plans:
    """Return the same plans with the earliest end."""
    while plans:
        last = max(start + option.days - 1 for option, start in plans.values())
        shorter = means._replace(last=last - 1)
        options = [(at, o) for at, (o, _) in plans.items() if _is_able(o, shorter)]
        sooner = _solved(options, shorter, [_WORTH]).plans
        if len(sooner) < len(plans):
            break
        plans = sooner
    return plans


class _Column(NamedTuple):
    study: int
    option: PlanOption
    start: int

    @property
    def end(self) -> int:
        return self.start + self.option.days - 1


def _solved(
    options: Sequence[tuple[int, PlanOption]], means: LabMeans, objectives: Sequence[int] = _ORDER
) -> StudyChoice:
    """Minimise the objectives in turn, each with the optima before it as caps."""
    columns = _columns(options, means)
    if not columns or len(columns) > _MOST_COLUMNS:
        return StudyChoice({}, inf if columns else 0, not columns)
    costs = [_costs(column.option) for column in columns]
    terms = [{at: cost[objective] for at, cost in enumerate(costs)} for objective in _ORDER]
    rows = [*_rows(columns, means), (terms[_CREDITS], means.credits)]
    plans, most, exact = Plans(), inf, True
    for objective in objectives:
        chosen, bound, exact = _minimised(terms[objective], rows)
        most = -bound if objective == _WORTH else most
        if not exact and not chosen:
            break
        by_start = sorted((columns[at] for at in chosen), key=lambda c: c.start)
        packed = _packed([column[:2] for column in by_start], means)
        plans = min(packed, plans, key=_totals)
        totals = _totals(plans)
        rows.append((terms[objective], totals[objective]))
        # A rounding error may exceed the budget or an earlier optimum.
        exact = exact and len(packed) == len(chosen)
        exact = exact and _totals(packed)[: objective + 1] == totals[: objective + 1]
        if not exact:
            break
    return StudyChoice(plans, most, exact)


def _columns(options: Sequence[tuple[int, PlanOption]], means: LabMeans) -> list[_Column]:
    """Return the plans on each first day, and after the days of studies that run before."""
    lengths: dict[int, set[int]] = {}
    for study, option in options:
        lengths.setdefault(study, set()).add(option.days)
    days = {option.first for _, option in options}
    for own in lengths.values():
        days |= {day + length for day in days for length in own if day + length <= means.last}
    return [
        _Column(study, option, day)
        for study, option in options
        for day in sorted(days)
        if option.first <= day <= means.last - option.days + 1
    ]


def _rows(columns: Sequence[_Column], means: LabMeans) -> Iterator[_Row]:
    """Yield the rows for one plan of a study, and for staff and instruments on each start day."""
    for study in sorted({column.study for column in columns}):
        yield {at: 1 for at, column in enumerate(columns) if column.study == study}, 1
    for day in sorted({column.start for column in columns}):
        now = {at: c.option for at, c in enumerate(columns) if c.start <= day <= c.end}
        yield {at: option.staff for at, option in now.items()}, means.staff
        for name in sorted({name for option in now.values() for name in option.instruments}):
            yield {at: 1 for at, option in now.items() if name in option.instruments}, 1


def _minimised(weights: Mapping[int, int], rows: Sequence[_Row]) -> tuple[list[int], float, bool]:
    """Return the columns of the least weight, a lower bound of it, and whether that is proven."""
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
    """Return the first day on which a plan fits together with others."""
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


# --- the portfolio --------------------------------------------------------------------------


@dataclass(frozen=True)
class ChosenStudy:
    """A study that is run: its place among the candidates, and its plan from the first day on."""

    place: int
    plan: Assessment
    first: int
    last: int
    worth: float


class Lacking(StrEnum):
    """Why a study is left out."""

    EVIDENCE = "no plan in this lab counts"
    CREDITS = "credits"
    TIME = "staff, equipment and days"


class LeftOut(NamedTuple):
    """A study that is not run; ``credits`` are what its cheapest plan lacks."""

    place: int
    lacking: Lacking
    credits: float = 0.0


@dataclass(frozen=True)
class Portfolio(Framed):
    """The studies that one lab runs with one budget.

    No choice is worth more than ``most``. If ``exact``, none is better by worth, loss and credits.
    """

    candidates: tuple[PortfolioStudy, ...]
    chosen: tuple[ChosenStudy, ...]
    left_out: tuple[LeftOut, ...]
    budget: float
    most: float
    exact: bool

    @property
    def worth(self) -> float:
        """The worth of the chosen studies."""
        return sum(whole(study.worth) for study in self.chosen) / UNIT

    @property
    def credits(self) -> float:
        """The cost of the chosen studies."""
        return sum(whole(study.plan.cost) for study in self.chosen) / UNIT

    @property
    def loss(self) -> int:
        """The fidelity that the chosen studies lose."""
        return sum(study.plan.fidelity_loss for study in self.chosen)

    @property
    def last(self) -> int:
        """The last day of work; 0 without any."""
        return max((study.last for study in self.chosen), default=0)


def portfolio_of(candidates: Iterable[PortfolioStudy]) -> Portfolio:
    """Return the studies, and a plan of each, that are worth the most in one lab.

    Ties go to the least fidelity loss, then the fewest credits. The chosen plans end early.

    Raises:
        PortfolioError: there are too many studies, or their labs differ.
    """
    studies = tuple(candidates)
    if len(studies) > MOST_STUDIES:
        raise PortfolioError(f"{len(studies):,} studies are named; name {MOST_STUDIES} at most")
    means = _shared_means(studies)
    plans = tuple(map(plans_of, studies))
    is_complete = all(listed.exact for listed in plans)
    choice = best([[*listed.plans] for listed in plans], means)
    picked = choice.plans
    worth = sum(study.worth for study in studies)
    if is_complete:
        worth = min(worth, choice.most / UNIT)
    return Portfolio(
        candidates=studies,
        chosen=_chosen(studies, plans, picked),
        left_out=tuple(_left_out(plans, picked, means)),
        budget=means.credits / UNIT,
        most=worth,
        exact=choice.exact and is_complete,
    )


def _chosen(
    studies: Sequence[PortfolioStudy],
    plans: Sequence[LabPlans],
    picked: Plans,
) -> tuple[ChosenStudy, ...]:
    chosen = []
    for at, (option, start) in picked.items():
        pack = studies[at].pack
        there = pack.in_lab(pack.lab.with_means(start_day=start))
        plan = assess(plans[at].plans[option].plan, there)
        worth = studies[at].counts(plan.evidence.tier)
        chosen.append(ChosenStudy(at, plan, start, start + option.days - 1, worth))
    return tuple(sorted(chosen, key=lambda study: (study.first, study.last, study.place)))


def _left_out(plans: Sequence[LabPlans], picked: Plans, means: LabMeans) -> Iterator[LeftOut]:
    unspent = means.credits - sum(option.credits for option, _ in picked.values())
    for at, (listed, _) in enumerate(plans):
        if at not in picked:
            short = max(0, min((option.credits for option in listed), default=0) - unspent)
            reason = Lacking.CREDITS if short else Lacking.TIME
            yield LeftOut(at, reason if listed else Lacking.EVIDENCE, short / UNIT)


def _shared_means(studies: Sequence[PortfolioStudy]) -> LabMeans:
    """Return the means of the lab, the same for all studies."""
    labs = [candidate.pack.lab for candidate in studies]
    for name, word in (
        ("budget", "budget"),
        ("days", "number of days"),
        ("staff", "number of staff"),
        ("start_day", "start day"),
        ("currency", "currency"),
    ):
        values = list(dict.fromkeys(getattr(lab, name) for lab in labs))
        if len(values) > 1:
            first, other, *_ = (v if isinstance(v, str) else amount_text(v) for v in values)
            raise PortfolioError(
                f"the {word} of the lab: the studies' labs have {first} and {other}; "
                "give the one that they share"
            )
    if not labs:
        return LabMeans(0, 1, 0, 0)
    lab = labs[0]
    return LabMeans(int(lab.budget * UNIT + 1e-3), lab.start_day, lab.days, lab.staff)
