"""The studies, and one plan of each, that one lab runs with one budget.

An integer programme has a binary variable for each study, plan and start day. Some best timetable
starts every plan on its first day or on the day after another one ends, so only those days have
variables and rows. Without start days the programme bounds the work in all; its optimum is the
best choice if it has a timetable. Every solution of HiGHS is checked with whole numbers.
Source: Pritsker, Watters and Wolfe (1969), Management Science 16, 93-108.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from math import ceil, gcd, inf, isfinite, prod
from time import monotonic
from typing import Any, Final, NamedTuple

from replicalab.assessment import Assessment, assess
from replicalab.errors import PortfolioError
from replicalab.lexicon import amount_text, label_key, shortened
from replicalab.models import Dimension, revise
from replicalab.notebook import Framed
from replicalab.planner.limits import TIER_RANK, CountLimits, EvidenceCurve, most_looked_at
from replicalab.planner.variants import variants_of
from replicalab.scenarios import EvidenceTier, Pack

MOST_STUDIES: Final = 60
MOST_WORTH: Final = 1_000_000_000
SECONDS: Final = 10.0  # for all solves of a portfolio together

_UNIT: Final = 1_000_000  # credits and worth are counted in whole millionths
_MOST_COLUMNS: Final = 20_000  # HiGHS overruns its time limit with more
_MOST_SUM: Final = 1e9  # objectives share a solve up to this sum, which HiGHS minimises exactly
_COUNTED: Final = (EvidenceTier.MEETS_TARGET, EvidenceTier.ABOVE_FLOOR)


@dataclass(frozen=True)
class PortfolioStudy:
    """A study to choose from.

    Attributes:
        pack: the study in the lab.
        worth: the worth of a plan that meets the target.
        floor_share: the share of it for a plan that only reaches the floor.
    """

    pack: Pack
    worth: float = 1.0
    floor_share: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            PortfolioError: one of them is out of range.
        """
        name = f"'{shortened(self.pack.paper.name)}'"
        for label, number, most in (
            ("worth of", self.worth, MOST_WORTH),
            ("share at the floor of", self.floor_share, 1),
        ):
            if not (isfinite(number) and 0 <= number <= most):
                raise PortfolioError(
                    f"{label} {name}: {number:g} is no number from 0 to {most:,}; write one such "
                    f"as {0.5 if most == 1 else 2}, and 0 for what does not count"
                )

    def counts(self, tier: EvidenceTier) -> float:
        """Return the worth of a plan with that evidence."""
        if tier is EvidenceTier.MEETS_TARGET:
            return self.worth
        return self.worth * self.floor_share if tier is EvidenceTier.ABOVE_FLOOR else 0.0


# --- plans of a study -----------------------------------------------------------------------


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


class LabPlans(NamedTuple):
    """The plans of a study; ``exact`` is False if some may be missing."""

    plans: Mapping[PlanOption, Assessment]
    exact: bool


def plans_of(candidate: PortfolioStudy) -> LabPlans:
    """Return the undominated plans of a study, whatever they cost.

    For each variant of the study's protocol these are the plans that reach the target, or the
    floor, with the fewest samples and days, on the first day or after a booking ends.
    """
    plans, exact = dict[PlanOption, Assessment](), True
    tiers = [tier for tier in _COUNTED if _whole(candidate.counts(tier))]
    for pack in _labs(candidate.pack) if tiers else ():
        limits = CountLimits(pack, frozenset({Dimension.BUDGET}))
        if limits.endpoint_lost:
            break
        reference = assess(pack.reference_protocol, pack)
        variants = variants_of(reference, by_instruments=True)
        exact = exact and variants.exact
        curve = EvidenceCurve(pack, most_looked_at(reference.plan))
        for variant, tier in product(variants.listed, tiers):
            allowed = curve.allowed(variant.factor)
            needed = curve.needed(TIER_RANK[tier], variant.factor)
            if variant.failing or allowed is None or needed is None:
                continue
            counts = limits.fewest(variant.counts(reference.counts), max(needed, allowed))
            if not limits.allows(counts):
                continue
            numbers = {"sample_size": int(counts.samples), "duration_days": int(counts.days)}
            plan = assess(revise(variant.applied_to(reference.plan), **numbers), pack)
            if not {*plan.failing} - {Dimension.BUDGET}:
                plans.setdefault(_option(plan, candidate), plan)
    return LabPlans({option: plans[option] for option in undominated(plans)}, exact)


def _labs(pack: Pack) -> Iterator[Pack]:
    """Yield the study in the lab as it is, and from each day after a booking ends."""
    lab = pack.lab
    ends = {pack.inventory.booked_until(item) for item in pack.known_items}
    later = {until + 1 for until in ends if until is not None and until < lab.days}
    for first in sorted({lab.start_day, *later}):
        yield pack.in_lab(lab.with_means(start_day=first))


def _option(plan: Assessment, candidate: PortfolioStudy) -> PlanOption:
    return PlanOption(
        _whole(candidate.counts(plan.evidence.tier)),
        plan.fidelity_loss,
        _whole(plan.cost),
        plan.counts.days,
        plan.staff,
        frozenset(map(label_key, plan.plan.required_equipment)),
        plan.pack.lab.start_day,
    )


def undominated(options: Iterable[PlanOption]) -> list[PlanOption]:
    """Return the options of a study that no other one dominates."""
    selected: list[PlanOption] = []
    for option in sorted(
        options, key=lambda o: (_demand(o), len(o.instruments), sorted(o.instruments))
    ):
        if not any(_dominates(other, option) for other in selected):
            selected.append(option)
    return selected


def _demand(option: PlanOption) -> tuple[int, ...]:
    return -option.worth, option.loss, option.credits, option.days, option.staff, option.first


def _dominates(one: PlanOption, other: PlanOption) -> bool:
    pairs = zip(_demand(one), _demand(other), strict=True)
    return one.instruments <= other.instruments and all(a <= b for a, b in pairs)


def _whole(amount: float) -> int:
    return round(amount * _UNIT)


# --- the integer programme ------------------------------------------------------------------

Studies = Sequence[Sequence[PlanOption]]
_Terms = dict[int, int]
_WORTH, _LOSS, _CREDITS, _LAST = range(4)  # objectives, all to be minimised
_ORDER = (_WORTH, _LOSS, _CREDITS)


class LabMeans(NamedTuple):
    """Shared means: credits in whole millionths, first and last day, and people."""

    credits: int
    first: int
    last: int
    staff: int


class StudyChoice(NamedTuple):
    """Chosen plans.

    Attributes:
        plans: the plan and its start day by the place of the study, None without a choice.
        most: an upper bound of the worth of any choice.
        exact: whether no choice is better in the order of the objectives.
    """

    plans: dict[int, tuple[PlanOption, int]] | None
    most: float
    exact: bool

    @property
    def totals(self) -> list[int]:
        """The sums of worth, loss and credits, to be minimised."""
        costs = [_costs(option) for option, _ in (self.plans or {}).values()]
        return [sum(cost[objective] for cost in costs) for objective in _ORDER]


def _costs(option: PlanOption) -> tuple[int, int, int]:
    return -option.worth, option.loss, option.credits


def best(studies: Studies, means: LabMeans) -> StudyChoice:
    """Choose the most worth, then the least loss, the fewest credits and the first end."""
    deadline = monotonic() + SECONDS
    whole = _Model(studies, means, deadline, timed=False)
    relaxed = whole.in_turn(whole.order, {_CREDITS: means.credits})
    timed = _Model(studies, means, deadline)
    optimum = dict(zip(_ORDER, relaxed.totals, strict=True))
    choice = timed.in_turn([(_LAST,)], optimum) if relaxed.exact else None
    if choice is None or choice.plans is None:
        choice = timed.in_turn([*timed.order, (_LAST,)], {_CREDITS: means.credits})
        relaxed = relaxed._replace(most=min(relaxed.most, choice.most))
    packed = whole.packed(relaxed)
    if not choice.exact and (choice.plans is None or packed.totals < choice.totals):
        choice = packed
    return choice._replace(most=relaxed.most)


class _Column(NamedTuple):
    study: int
    option: PlanOption
    start: int

    @property
    def end(self) -> int:
        return self.start + self.option.days - 1


class _Model:
    """The columns of a choice and the rows that every choice keeps; each row has a cap.

    Without ``timed`` each plan has one column, and the rows bound the work in all.
    """

    def __init__(
        self, studies: Studies, means: LabMeans, deadline: float, *, timed: bool = True
    ) -> None:
        self._means, self._deadline = means, deadline
        able = [
            _Column(study, option, option.first)
            for study, options in enumerate(studies)
            for option in options
            if option.worth > 0
            and option.staff <= means.staff
            and option.first + option.days - 1 <= means.last
        ]
        days = _start_days(able, means.last)
        self._columns = [
            column._replace(start=day)
            for column in able
            for day in (days if timed else [column.start])
            if column.start <= day <= means.last - column.option.days + 1
        ]
        self._by_study = [
            [at for at, column in enumerate(self._columns) if column.study == study]
            for study in sorted({column.study for column in able})
        ]
        self._rows = [(dict.fromkeys(columns, 1), 1) for columns in self._by_study]
        if len(self._columns) <= _MOST_COLUMNS:
            self._rows += self._daily(days) if timed else self._in_all()

    def _daily(self, days: Sequence[int]) -> Iterator[tuple[_Terms, int]]:
        """Yield the rows for staff and instruments on each day."""
        users: dict[tuple[int, ...], _Terms] = {}
        for day in days:
            now = {at: c.option for at, c in enumerate(self._columns) if c.start <= day <= c.end}
            yield {at: option.staff for at, option in now.items()}, self._means.staff
            for row in self._instruments(now):
                users[tuple(row)] = row
        yield from ((row, 1) for row in users.values())

    def _in_all(self) -> Iterator[tuple[_Terms, int]]:
        """Yield the rows for the days of work of staff and instruments."""
        days = self._means.last - self._means.first + 1
        options = {at: column.option for at, column in enumerate(self._columns)}
        yield {at: o.days * o.staff for at, o in options.items()}, days * self._means.staff
        yield from (
            ({at: options[at].days for at in row}, days) for row in self._instruments(options)
        )

    def _instruments(self, options: Mapping[int, PlanOption]) -> Iterator[_Terms]:
        """Yield the columns that use an instrument of more than one study."""
        for name in frozenset[str]().union(*(option.instruments for option in options.values())):
            users = {at: 1 for at, option in options.items() if name in option.instruments}
            if len({self._columns[at].study for at in users}) > 1:
                yield users

    @property
    def order(self) -> list[tuple[int, ...]]:
        """The objectives in their order; those of a group share a solve."""
        in_one = prod(map(self._span, _ORDER)) <= _MOST_SUM
        return [_ORDER] if in_one else [(objective,) for objective in _ORDER]

    def in_turn(self, order: Sequence[tuple[int, ...]], caps: _Terms) -> StudyChoice:
        """Minimise groups of objectives in turn, each with the optima before it as caps."""
        choice = StudyChoice(None, inf, False)
        for place, group in enumerate(order):
            chosen, bound, exact = self._least(group, caps)
            choice = choice._replace(most=choice.most if place else -bound, exact=exact)
            if chosen is not None:
                choice = choice._replace(plans=self._timetable(chosen))
                caps = {**caps, **{o: self._total(o, chosen) for o in group if o != _LAST}}
            if chosen is None or not exact:
                break
        return choice

    def _span(self, objective: int) -> int:
        """Return more than the difference of any two sums, in the unit of the terms."""
        terms = self._terms(objective)
        most = sum(max(abs(terms.get(at, 0)) for at in own) for own in self._by_study)
        return most // (gcd(*terms.values()) or 1) + 1

    def _total(self, objective: int, chosen: Iterable[int]) -> int:
        return sum(_costs(self._columns[at].option)[objective] for at in chosen)

    def _terms(self, objective: int) -> _Terms:
        if objective == _LAST:
            return {len(self._columns): 1}
        return {at: _costs(column.option)[objective] for at, column in enumerate(self._columns)}

    def _least(
        self, objectives: Sequence[int], caps: _Terms
    ) -> tuple[list[int] | None, float, bool]:
        """Minimise a sum that keeps the order of some objectives.

        Returns:
            Chosen columns, a lower bound of the first objective, and whether that is proven.
        """
        weights = [0] * (len(self._columns) + 1)
        for objective in objectives:
            terms, span = self._terms(objective), self._span(objective)
            unit = gcd(*terms.values()) or 1
            weights = [w * span + terms.get(at, 0) // unit for at, w in enumerate(weights)]
        rows = [*self._rows, *((self._terms(capped), cap) for capped, cap in caps.items())]
        if _LAST in objectives:
            for own in self._by_study:
                ends = {at: self._columns[at].end - self._means.first + 1 for at in own}
                rows.append(({**ends, len(self._columns): -1}, 0))
        while True:
            chosen, bound, exact = self._solved(weights, rows)
            if chosen is None or all(self._total(o, chosen) <= cap for o, cap in caps.items()):
                break
            plans = {self._columns[at][:2] for at in chosen}  # over a cap by a rounding error
            other = {at: 1 if c[:2] in plans else -1 for at, c in enumerate(self._columns)}
            rows.append((other, len(plans) - 1))
        if isfinite(bound):
            unit = gcd(*self._terms(objectives[0]).values()) or 1
            bound = bound // prod(map(self._span, objectives[1:])) * unit
        return chosen, bound, exact

    def _solved(
        self, weights: Sequence[int], rows: Sequence[tuple[_Terms, int]]
    ) -> tuple[list[int] | None, float, bool]:
        import numpy as np  # noqa: PLC0415 - this and the next are slow to load
        from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415
        from scipy.sparse import csr_array  # noqa: PLC0415

        size, seconds = len(self._columns), self._deadline - monotonic()
        if weights[-1]:
            seconds /= 2  # another solve may follow that of the last day
        if not size:
            is_possible = all(cap >= 0 for _, cap in rows)
            return [] if is_possible else None, 0, True
        if seconds <= 0 or size > _MOST_COLUMNS:
            return None, -inf, False
        cells, most = list[tuple[float, int, int]](), list[float]()
        for terms, cap in rows:
            unit = gcd(*terms.values()) or 1
            cells += [(term // unit, len(most), at) for at, term in terms.items() if term]
            most.append(cap // unit)
        values, lines, places = zip(*cells, strict=True)
        matrix = csr_array((np.array(values, float), (lines, places)), (len(most), size + 1))
        result: Any = milp(
            np.array(weights, float),
            integrality=np.array([1] * size + [0]),
            bounds=Bounds(0, np.array([1.0] * size + [self._means.last - self._means.first + 1])),
            constraints=LinearConstraint(matrix, -np.inf, np.array(most, float)),
            options={"time_limit": seconds, "mip_rel_gap": 0},
        )
        bound = getattr(result, "mip_dual_bound", None)
        bound = -inf if bound is None or not isfinite(bound) else ceil(bound - 1e-6)
        if result.x is None:
            return None, bound, result.status == 2
        return [at for at in range(size) if result.x[at] > 0.5], bound, result.status == 0

    def packed(self, choice: StudyChoice) -> StudyChoice:
        """Return plans that fit one after the other: first those of a choice, the longest first."""
        chosen = [option for option, _ in (choice.plans or {}).values()]
        others = sorted(self._columns, key=lambda c: _costs(c.option))
        first = sorted(
            (c for c in self._columns if c.option in chosen), key=lambda c: -c.option.days
        )
        plans: dict[int, tuple[PlanOption, int]] = {}
        for study, option, _ in (*first, *others):
            spent = sum(other.credits for other, _ in plans.values()) + option.credits
            day = earliest_start(option, [*plans.values()], self._means)
            if study not in plans and spent <= self._means.credits and day is not None:
                plans[study] = option, day
        return StudyChoice(plans, choice.most, False)

    def _timetable(self, chosen: Iterable[int]) -> dict[int, tuple[PlanOption, int]]:
        """Return the chosen plans, each moved to its earliest start."""
        plans: dict[int, tuple[PlanOption, int]] = {}
        for column in sorted(
            (self._columns[at] for at in chosen), key=lambda c: (c.start, c.study)
        ):
            day = earliest_start(column.option, [*plans.values()], self._means)
            plans[column.study] = column.option, day or column.start
        return plans


def _start_days(columns: Iterable[_Column], last: int) -> list[int]:
    """Return each first day, plus the days of any studies that run before."""
    lengths: dict[int, set[int]] = {}
    for column in columns:
        lengths.setdefault(column.study, set()).add(column.option.days)
    days = {column.start for column in columns}
    for own in lengths.values():
        days |= {day + length for day in days for length in own if day + length <= last}
    return sorted(days)


def earliest_start(
    option: PlanOption, others: Sequence[tuple[PlanOption, int]], means: LabMeans
) -> int | None:
    """Return the first day on which a plan fits beside others that have their start days."""
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
    """A study that is run.

    Attributes:
        place: of the study among the candidates.
        plan: its plan, judged in the lab from its first day.
        first, last: the days on which it is run.
        worth: of the plan.
    """

    place: int
    plan: Assessment
    first: int
    last: int
    worth: float


class Lacking(StrEnum):
    """Why a study is left out."""

    WORTH = "it counts nothing"
    EVIDENCE = "no plan in this lab reaches what counts"
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

    Attributes:
        candidates: the studies to choose from.
        chosen: the studies that are run, by their first day.
        left_out: the studies that are not run.
        budget: of the lab.
        most: no choice is worth more.
        exact: whether no choice is better by worth, then loss, credits and the last day.
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
        return sum(_whole(study.worth) for study in self.chosen) / _UNIT

    @property
    def credits(self) -> float:
        """The cost of the chosen studies."""
        return sum(_whole(study.plan.cost) for study in self.chosen) / _UNIT

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

    Ties go to the least fidelity loss, then the fewest credits, then the earliest end.

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
    picked = choice.plans or {}
    worth = sum(study.worth for study in studies)
    if is_complete:
        worth = min(worth, choice.most / _UNIT)
    now = {at: option for at, (option, _) in picked.items()}
    return Portfolio(
        candidates=studies,
        chosen=_chosen(studies, plans, picked),
        left_out=tuple(_left_out(studies, plans, now, means.credits)),
        budget=means.credits / _UNIT,
        most=worth,
        exact=choice.exact and is_complete,
    )


def _chosen(
    studies: Sequence[PortfolioStudy],
    plans: Sequence[LabPlans],
    picked: Mapping[int, tuple[PlanOption, int]],
) -> tuple[ChosenStudy, ...]:
    chosen = []
    for at, (option, start) in picked.items():
        pack = studies[at].pack
        there = pack.in_lab(pack.lab.with_means(start_day=start))
        plan = assess(plans[at].plans[option].plan, there)
        worth = studies[at].counts(plan.evidence.tier)
        chosen.append(ChosenStudy(at, plan, start, start + option.days - 1, worth))
    return tuple(sorted(chosen, key=lambda study: (study.first, study.last, study.place)))


def _left_out(
    studies: Sequence[PortfolioStudy],
    plans: Sequence[LabPlans],
    now: Mapping[int, PlanOption],
    credits: int,
) -> Iterator[LeftOut]:
    unspent = credits - sum(option.credits for option in now.values())
    for at, study in enumerate(studies):
        short = min((option.credits for option in plans[at].plans), default=0) - unspent
        if at in now:
            continue
        if not _whole(study.worth):
            yield LeftOut(at, Lacking.WORTH)
        elif not plans[at].plans:
            yield LeftOut(at, Lacking.EVIDENCE)
        elif short > 0:
            yield LeftOut(at, Lacking.CREDITS, short / _UNIT)
        else:
            yield LeftOut(at, Lacking.TIME)


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
    return LabMeans(int(lab.budget * _UNIT + 1e-3), lab.start_day, lab.days, lab.staff)
