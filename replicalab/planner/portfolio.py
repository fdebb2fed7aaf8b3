"""Which studies, and which plan of each, one lab runs with one budget: the best of all choices.

Of a study those plans matter that reach its target, or its floor, with the fewest samples and days:
one for each way to word the plan and to free an instrument, in the lab as it is and on each day
after which a booking is over. What all of them share are the credits, the days, the people and the
instruments.
Source: docs/methods.md, Planner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import product
from math import isfinite
from typing import Final, NamedTuple

from replicalab.assessment import Assessment, assess
from replicalab.errors import PortfolioError
from replicalab.lexicon import amount_text, label_key, shortened
from replicalab.models import Dimension, revise
from replicalab.notebook import Framed
from replicalab.planner.limits import (
    TIER_RANK,
    CountLimits,
    EvidenceCurve,
    most_looked_at,
)
from replicalab.planner.programme import (
    LabMeans,
    LabTask,
    PlanOption,
    StudyChoice,
    best,
    cheapest,
    earliest_start,
    most_at_work,
    undominated,
)
from replicalab.planner.variants import PlanVariants, variants_of
from replicalab.scenarios import EvidenceTier, Pack

MOST_STUDIES: Final = 60  # So many studies are chosen from at once

MOST_WORTH: Final = 1_000_000_000  # A study is worth at most so much

MOST_RISES: Final = 3  # So many of the next amounts are looked for with which the worth rises

_UNIT: Final = 1_000_000  # of credits and of worth: whole numbers of a millionth
_COUNTED: Final = (EvidenceTier.MEETS_TARGET, EvidenceTier.ABOVE_FLOOR)


@dataclass(frozen=True)
class PortfolioStudy:
    """A study that may be chosen.

    Attributes:
        pack: the study in the lab.
        worth: what a plan that meets the target counts.
        floor_share: the share of that which a plan counts that only reaches the floor.
    """

    pack: Pack
    worth: float = 1.0
    floor_share: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what a study cannot be worth.

        Raises:
            PortfolioError: one of the numbers is out of range.
        """
        name = f"'{shortened(self.pack.paper.name)}'"
        for what, number, most in (
            ("worth of", self.worth, MOST_WORTH),
            ("share at the floor of", self.floor_share, 1),
        ):
            if not (isfinite(number) and 0 <= number <= most):
                raise PortfolioError(
                    f"{what} {name}: {number:g} is no number from 0 to {most:,}; write one such as "
                    f"{0.5 if most == 1 else 2}, and 0 for what does not count"
                )

    def counts(self, tier: EvidenceTier) -> float:
        """Return what a plan of that evidence counts."""
        if tier is EvidenceTier.MEETS_TARGET:
            return self.worth
        return self.worth * self.floor_share if tier is EvidenceTier.ABOVE_FLOOR else 0.0


class LabPlan(NamedTuple):
    """A plan of a study that may be chosen.

    Attributes:
        judged: it, in the lab that begins on the first day on which it can.
    """

    option: PlanOption
    judged: Assessment


class LabPlans(NamedTuple):
    """The plans of a study that may be chosen; ``exact`` is False where some may be missing."""

    listed: tuple[LabPlan, ...]
    exact: bool


def plans_of(candidate: PortfolioStudy) -> LabPlans:
    """Return the plans of a study, whatever they cost, that no other stands in for."""
    found, exact = dict[PlanOption, Assessment](), True
    for there in _labs(candidate):
        exact = exact and there.variants.exact
        for judged in _plans_in(there, candidate):
            if not {*judged.failing} - {Dimension.BUDGET}:
                found.setdefault(_option(judged, candidate), judged)
    listed = tuple(LabPlan(option, found[option]) for option in undominated(found))
    return LabPlans(listed, exact)


class _InLab(NamedTuple):
    """A study's reference plan in the lab that begins on some day, and the ways to word it."""

    limits: CountLimits
    reference: Assessment
    variants: PlanVariants


def _labs(candidate: PortfolioStudy) -> Iterator[_InLab]:
    """Yield the lab as it is, and from each day on which a booking is over."""
    pack = candidate.pack
    if not any(_whole(candidate.counts(tier)) for tier in _COUNTED):
        return
    for first in _first_days(pack):
        there = pack.in_lab(pack.lab.with_means(start_day=first))
        limits = CountLimits(there, frozenset({Dimension.BUDGET}))
        if limits.endpoint_lost:
            return
        reference = assess(pack.reference_protocol, there)
        yield _InLab(limits, reference, variants_of(reference, by_instruments=True))


def _plans_in(there: _InLab, candidate: PortfolioStudy) -> Iterator[Assessment]:
    """Yield of each way to word the plan those with the fewest samples that count something."""
    limits, reference = there.limits, there.reference
    worth = EvidenceCurve(candidate.pack, most_looked_at(reference.plan))
    tiers = [tier for tier in _COUNTED if _whole(candidate.counts(tier))]
    for variant, tier in product(there.variants.listed, tiers):
        allowed = worth.allowed(variant.factor)
        if variant.failing or allowed is None:
            continue
        needed = worth.needed(TIER_RANK[tier], variant.factor)
        if needed is None:
            continue
        counts = limits.fewest(variant.counts(reference.counts), max(needed, allowed))
        if limits.allows(counts):
            numbers = {"sample_size": int(counts.samples), "duration_days": int(counts.days)}
            yield assess(revise(variant.applied_to(reference.plan), **numbers), limits.pack)


def _option(judged: Assessment, candidate: PortfolioStudy) -> PlanOption:
    """Return what a plan counts and takes."""
    instruments = frozenset(map(label_key, judged.plan.required_equipment))
    return PlanOption(
        _whole(candidate.counts(judged.evidence.tier)),
        judged.fidelity_loss,
        _whole(judged.cost),
        LabTask(judged.counts.days, judged.staff, instruments, judged.pack.lab.start_day),
    )


def _first_days(pack: Pack) -> list[int]:
    """Return the lab's first day, and each later one on which a booking is over."""
    lab = pack.lab
    ends = {pack.inventory.booked_until(item) for item in pack.known_items}
    later = {until + 1 for until in ends if until is not None and until < lab.days}
    return sorted({lab.start_day, *later})


def _whole(amount: float) -> int:
    return round(amount * _UNIT)


# --- what is chosen -------------------------------------------------------------------------


@dataclass(frozen=True)
class ChosenStudy:
    """A study that is run, and its plan.

    Attributes:
        place: of the study among the candidates.
        plan: the plan, judged in the lab that begins on its first day.
        first, last: the days on which it is run.
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
    INSTRUMENTS = "instruments"
    STAFF = "staff"
    DAYS = "days"


@dataclass(frozen=True)
class LeftOut:
    """A study that is not run.

    Attributes:
        place: of the study among the candidates.
        lacking: what it would need beside the studies that are chosen.
        credits: how many more credits its cheapest plan needs than are left, where it is those.
        instruments: which instruments are in use, where it is those.
    """

    place: int
    lacking: Lacking
    credits: float = 0.0
    instruments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rise:
    """The least budget with which the studies chosen are worth more.

    Attributes:
        more: how many credits more than the budget.
        worth: of the studies that are chosen then.
        added, gone: the places of studies that are chosen then and not now, or now and not then.
        raised: the places of studies that are chosen now and count more then.
        partial: the places of the added that only reach their floor.
        exact: whether no fewer credits do, and none of them buy more.
    """

    more: float
    worth: float
    added: tuple[int, ...]
    gone: tuple[int, ...]
    raised: tuple[int, ...]
    partial: tuple[int, ...]
    exact: bool


@dataclass(frozen=True)
class Portfolio(Framed):
    """The studies that one lab runs with one budget.

    Attributes:
        candidates: the studies to choose from.
        chosen: those that are run, in the order in which they start.
        exact: whether no other choice is worth more, or as much and loses less, or costs less so.
        ends_first: whether of those that are equal in this none ends sooner.
        most: no choice is worth more; the worth itself where it is proven.
    """

    candidates: tuple[PortfolioStudy, ...]
    chosen: tuple[ChosenStudy, ...]
    exact: bool
    ends_first: bool
    most: float
    _plans: tuple[LabPlans, ...]
    _means: LabMeans

    @property
    def worth(self) -> float:
        """What the chosen studies count together."""
        return sum(_whole(each.worth) for each in self.chosen) / _UNIT

    @property
    def credits(self) -> float:
        """What they cost together."""
        return sum(_whole(each.plan.cost) for each in self.chosen) / _UNIT

    @property
    def budget(self) -> float:
        """What the lab has to spend."""
        return self._means.credits / _UNIT

    @property
    def loss(self) -> int:
        """The fidelity that they give up together."""
        return sum(each.plan.fidelity_loss for each in self.chosen)

    @property
    def last(self) -> int:
        """The last day on which one of them is run; 0 without any."""
        return max((each.last for each in self.chosen), default=0)

    @property
    def most_staff(self) -> int:
        """The most staff units at work on one day."""
        return most_at_work(*self._timetable)

    @property
    def _timetable(self) -> tuple[list[LabTask], tuple[int, ...]]:
        tasks = [_task_of(each) for each in self.chosen]
        return tasks, tuple(each.first for each in self.chosen)

    @cached_property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The studies that are not run, and what each would need."""
        chosen = {each.place for each in self.chosen}
        return tuple(self._left_out(at) for at in range(len(self.candidates)) if at not in chosen)

    def _left_out(self, at: int) -> LeftOut:
        plans = [plan.option for plan in self._plans[at].listed]
        if not _whole(self.candidates[at].worth):
            return LeftOut(at, Lacking.WORTH)
        if not plans:
            return LeftOut(at, Lacking.EVIDENCE)
        left = self._means.credits - sum(_whole(each.plan.cost) for each in self.chosen)
        short = min(option.credits for option in plans) - left
        if short > 0:
            return LeftOut(at, Lacking.CREDITS, credits=short / _UNIT)
        tasks = [option.task for option in plans if option.credits <= left]
        for free, alone in ((True, Lacking.INSTRUMENTS), (False, Lacking.STAFF)):
            if any(self._fits(task, instruments_free=free, staff_free=not free) for task in tasks):
                held = set().union(*(task.instruments for task in tasks))
                used = {name for task in self._timetable[0] for name in task.instruments}
                names = tuple(sorted(held & used)) if free else ()
                return LeftOut(at, alone, instruments=names)
        return LeftOut(at, Lacking.DAYS)

    def _fits(self, task: LabTask, *, instruments_free: bool, staff_free: bool) -> bool:
        """Return whether a task has room beside the timetable where one means does not bind."""
        tasks, starts = self._timetable
        people = self._means.staff + (sum(t.staff for t in tasks) if staff_free else 0)
        wanted = task._replace(instruments=frozenset()) if instruments_free else task
        return bool(earliest_start(wanted, tasks, starts, self._means.last, people))

    @cached_property
    def rises(self) -> tuple[Rise, ...]:
        """The next budgets with which the worth rises; none after one that is not proven."""
        return tuple(self._rises())

    @cached_property
    def can_rise(self) -> bool | None:
        """Whether any more credits would be worth more; None where that is not known."""
        found, exact = self._next
        return True if found else False if exact else None

    @cached_property
    def _next(self) -> tuple[StudyChoice | None, bool]:
        """The cheapest choice that is worth more, None if none is; and whether that is proven."""
        found, exact = cheapest(self._options, self._means, _whole(self.worth) + 1)
        return found, exact and _is_exact(self._plans)

    @cached_property
    def _options(self) -> list[list[PlanOption]]:
        return [[plan.option for plan in plans.listed] for plans in self._plans]

    def _rises(self) -> Iterator[Rise]:
        options = self._options
        now = {each.place: _whole(each.worth) for each in self.chosen}
        worth = _whole(self.worth)
        for place in range(MOST_RISES):
            found, exact = cheapest(options, self._means, worth + 1) if place else self._next
            exact = exact and _is_exact(self._plans)
            if found is None:
                return
            picked = _picked(options, found)
            means = self._means._replace(credits=sum(option.credits for option in picked.values()))
            if means.credits <= self._means.credits:
                return  # this budget buys more already, which was not proven
            then = best(options, means, ends=False)
            chosen = _picked(options, then)
            worth = sum(option.worth for option in chosen.values())
            added = sorted(chosen.keys() - now.keys())
            yield Rise(
                more=(means.credits - self._means.credits) / _UNIT,
                worth=worth / _UNIT,
                added=tuple(added),
                gone=tuple(sorted(now.keys() - chosen.keys())),
                raised=tuple(
                    at for at in sorted(now) if at in chosen and chosen[at].worth > now[at]
                ),
                partial=tuple(
                    at for at in added if chosen[at].worth < _whole(self.candidates[at].worth)
                ),
                exact=self.exact and exact and then.exact,
            )
            if not (exact and then.exact):
                return


def _picked(options: Sequence[Sequence[PlanOption]], choice: StudyChoice) -> dict[int, PlanOption]:
    return {at: options[at][place] for at, place in enumerate(choice.options) if place is not None}


def _task_of(each: ChosenStudy) -> LabTask:
    instruments = frozenset(map(label_key, each.plan.plan.required_equipment))
    return LabTask(each.last - each.first + 1, each.plan.staff, instruments, each.first)


def portfolio_of(candidates: Iterable[PortfolioStudy]) -> Portfolio:
    """Return the studies, and of each the plan, that are worth the most in the lab they share.

    Of equals those that give up the least fidelity, then those that cost the least, then those that
    end first.

    Raises:
        PortfolioError: there are too many, or their labs are not the same.
    """
    listed = tuple(candidates)
    if len(listed) > MOST_STUDIES:
        raise PortfolioError(f"{len(listed):,} studies are named; name {MOST_STUDIES} at most")
    means = _shared(listed)
    plans = tuple(map(plans_of, listed))
    found, exact = (
        best([[o.option for o in each.listed] for each in plans], means),
        _is_exact(plans),
    )
    chosen = [
        _chosen(at, listed[at], plans[at].listed[place].judged, start)
        for at, (place, start) in enumerate(zip(found.options, found.starts, strict=True))
        if place is not None and start is not None
    ]
    chosen.sort(key=lambda each: (each.first, each.last, each.place))
    return Portfolio(
        listed,
        tuple(chosen),
        found.exact and exact,
        found.ends_first and exact,
        found.most / _UNIT if exact else sum(each.worth for each in listed),
        plans,
        means,
    )


def _is_exact(plans: Iterable[LabPlans]) -> bool:
    return all(each.exact for each in plans)


def _chosen(at: int, candidate: PortfolioStudy, judged: Assessment, start: int) -> ChosenStudy:
    pack = candidate.pack
    plan = assess(judged.plan, pack.in_lab(pack.lab.with_means(start_day=start)))
    counts = candidate.counts(plan.evidence.tier)
    return ChosenStudy(at, plan, start, start + plan.counts.days - 1, counts)


def _shared(listed: Sequence[PortfolioStudy]) -> LabMeans:
    """Return the means of the lab, the same for all."""
    labs = [candidate.pack.lab for candidate in listed]
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
