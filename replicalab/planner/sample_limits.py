"""The numbers of samples and days that a lab and a study allow.

Cost, staff and evidence never fall when a count grows, so bisection finds each limit exactly.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from math import ceil, floor, inf
from typing import Final, NamedTuple

from replicalab import assessment
from replicalab.assessment.evidence import evidence_by_size, seen_effect
from replicalab.limits import LARGEST_COUNT, LARGEST_PLANNED
from replicalab.models import Dimension, Protocol, revise
from replicalab.scenarios import Bounds, Design, EvidenceTier, Pack, StudyLimit, hard_range

TIER_RANK: Final = {tier: place for place, tier in enumerate(EvidenceTier)}  # 0 is the best
BELOW_FLOOR: Final = TIER_RANK[EvidenceTier.BELOW_FLOOR]

_DIGITS: Final = 12
_STEPS: Final = 100  # evidence is compared in steps of 0.01
_ROUNDING: Final = 1e-9  # a step is reached in spite of a rounding error
_WIDEST: Final = 1e12  # targets in an unbounded half-width


class RegionLimit(StrEnum):
    """A limit of the sample or the days, by the lab, the evidence or the study."""

    BUDGET = "budget"
    SCHEDULE = "time limit"
    STAFF = "staff"
    THROUGHPUT = "throughput"
    POPULATION = "population"
    ENDPOINT = "endpoint"
    STUDY = "study's limits"


def largest(fits: Callable[[int], bool], low: int, high: int) -> int | None:
    """Return the largest number that fits, None if ``low`` does not; above it none may fit."""
    if low <= high and fits(high):
        return high
    result = fewest(lambda number: not fits(number), low, high) - 1
    return result if result >= low else None


def fewest(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the smallest number for which it holds, as for all above, or ``high + 1``."""
    # In doubled steps first: most answers are small, and evidence is dear at a million samples.
    at, step = low, 8
    while at <= high and not holds(at):
        low, at, step = at + 1, min(high + 1, at + step), 2 * step
    while low < at:
        middle = (low + at) // 2
        low, at = (low, middle) if holds(middle) else (middle + 1, at)
    return at


def most_looked_at(plan: Protocol) -> int:
    return max(LARGEST_PLANNED, plan.sample_size)


def most_counted(days: int, pack: Pack) -> int:
    rate, exist = pack.samples_per_day, pack.design.population_max
    limit = LARGEST_COUNT if rate is None else min(LARGEST_COUNT, rate.value * days)
    return limit if exist is None else min(limit, exist)


class CountBox(NamedTuple):
    """The least and the most samples, and days, of some plans, inclusive."""

    samples: tuple[float, float] = (-inf, inf)
    days: tuple[float, float] = (-inf, inf)


@dataclass(frozen=True)
class CountLimits:
    """The limits of a lab and a study on the numbers of a plan, within a box.

    Limits that are ``given_up`` do not count: amounts, or the protocol's on samples and days.
    Without a box the days keep the endpoint, or are all days of a lab that has fewer.
    """

    pack: Pack
    given_up: frozenset[str] = frozenset()
    box: CountBox | None = None

    def _bounded(self, number: Bounds, box: tuple[float, float]) -> tuple[float, float]:
        if Dimension.PROTOCOL in self.given_up:
            return box
        minimum, limit = hard_range(self.pack.limits, number)
        return max(minimum, box[0], 1), min(limit, box[1])

    @cached_property
    def _samples(self) -> tuple[float, float]:
        return self._bounded(Bounds.SAMPLES, self.box.samples if self.box else CountBox().samples)

    @property
    def endpoint_lost(self) -> bool:
        return self.days[1] < self.pack.min_days

    @cached_property
    def days(self) -> tuple[int, int]:
        """The fewest days to plan, and the most; out of order if impossible."""
        limit = LARGEST_COUNT if Dimension.SCHEDULE in self.given_up else self.pack.lab.days_left
        usual = min(self.pack.min_days, limit), limit
        minimum, longest = self._bounded(Bounds.DAYS, self.box.days if self.box else usual)
        return int(minimum), int(min(limit, longest))

    def fewest_samples(self, controls: int) -> int:
        minimum = 1 if Dimension.PROTOCOL in self.given_up else controls + 1
        return int(max(minimum, self._samples[0]))

    def most_samples(self, days: int) -> int:
        return int(min(most_counted(days, self.pack), self._samples[1]))

    def fewest_days(self, counting: int) -> int:
        rate = self.pack.samples_per_day
        minimum = self.days[0]
        return minimum if rate is None else max(minimum, -(-counting // rate.value))

    def fewest(self, counts: assessment.Counts, counting: int) -> assessment.Counts:
        samples = max(counting, self.fewest_samples(counts.controls))
        return assessment.Counts(samples, self.fewest_days(counting), *counts[2:])

    def affords(self, counts: assessment.Counts) -> bool:
        return all(needed(counts, self.pack) <= has for needed, has in self._amounts)

    @cached_property
    def _amounts(self) -> list[tuple[Callable[[assessment.Counts, Pack], float], float]]:
        return [
            (limit.needed, limit.has(self.pack.lab))
            for dimension, limit in assessment.lab_limits().items()
            if dimension not in {*self.given_up, Dimension.SCHEDULE}
        ]

    def within(self, counts: assessment.Counts) -> bool:
        low, high = self.days
        return low <= int(counts.days) <= high and int(counts.samples) <= self._samples[1]

    def allows(self, counts: assessment.Counts) -> bool:
        """Return whether a plan of enough samples fits every limit that is not given up."""
        return self.within(counts) and self.affords(counts)

    def most_that_count(self, counts: assessment.Counts, most: int) -> int | None:
        """Return the most samples, up to ``most``, that fit and count; None if no plan fits.

        The samples and days of ``counts`` are ignored.
        """
        exist = self.pack.design.population_max
        top = 0 if self.endpoint_lost else most if exist is None else min(most, exist)
        top = int(min(top, self._samples[1]))
        return largest(lambda counting: self.allows(self.fewest(counts, counting)), 0, top)


def largest_sample(protocol: Protocol, scenario: Pack) -> int | None:
    """Return the most samples that fit with everything else as planned, or None."""
    limits, counts = CountLimits(scenario), assessment.counts_of(protocol, scenario)
    return largest(
        lambda n: limits.affords(counts._replace(samples=n)),
        limits.fewest_samples(counts.controls),
        limits.most_samples(counts.days),
    )


@dataclass(frozen=True)
class EvidenceCurve:
    """The evidence of samples that count, without building plans."""

    pack: Pack  # the study; its lab does not matter
    most: int  # the largest sample looked at
    is_void: bool = False  # whether the endpoint is lost, so that there is no evidence
    effect: float | None = None  # an effect to assume instead of the study's planning effect
    _by_factor: dict[float, Callable[[int], float]] = field(default_factory=dict)
    _needed: dict[tuple[int, float], int | None] = field(default_factory=dict)
    _values: dict[tuple[int, float], float] = field(default_factory=dict)

    @property
    def _most(self) -> int:
        return min(self.most, self.pack.design.population_max or self.most)

    def allowed(self, factor: float) -> int | None:
        """Return the fewest samples within the hard constraints on evidence, or None."""
        hard = [limit for limit in self.pack.limits if limit.hard]
        return self.fewest([limit for limit in hard if limit.number is Bounds.EVIDENCE], factor)

    def fewest(self, bounds: Sequence[StudyLimit], factor: float) -> int | None:
        """Return the fewest samples whose evidence some constraints allow."""

        def allows(samples: int) -> bool:
            value = self.value(samples, factor)
            return all(limit.allows(value) for limit in bounds)

        if not bounds or allows(0):
            return 0
        number = self._most + 1 if self.is_void else fewest(allows, 1, self._most)
        return number if number <= self._most else None

    def value(self, samples: int, factor: float) -> float:
        if factor not in self._by_factor:
            effect = seen_effect(self.pack.design, factor, self.effect)
            self._by_factor[factor] = evidence_by_size(self.pack.design, effect, factor)
        key = 0 if self.is_void else samples, factor
        if key not in self._values:  # a search asks for a few of them thousands of times
            self._values[key] = self._by_factor[factor](key[0])
        return self._values[key]

    def step(self, samples: int, factor: float) -> float:
        if self.is_void or not assessment.counted_of(self.pack.design, samples):
            return inf
        return evidence_step(self.value(samples, factor), self.pack.design)

    def needed(self, tier: int, factor: float) -> int | None:
        """Return the fewest samples that reach a tier or a better one, or None."""
        key = tier, factor
        if key not in self._needed:
            reached = fewest(lambda samples: self.tier(samples, factor) <= tier, 0, self._most)
            self._needed[key] = reached if reached <= self._most else None
        return self._needed[key]

    def tier(self, samples: int, factor: float) -> int:
        """Return the tier of some samples: 0 meets the target, 1 is above the floor, 2 below."""
        usable = min(samples, self._most)
        if self.is_void or not assessment.counted_of(self.pack.design, usable):
            return BELOW_FLOOR
        return TIER_RANK[assessment.tier_of(self.pack.design, self.value(usable, factor))]


def leanest(plan: assessment.Assessment) -> assessment.Assessment | None:
    """Return the plan without the samples that the target does not need; None without one."""
    pack, factor = plan.pack, plan.evidence_factor
    worth, counts = EvidenceCurve(pack, most_looked_at(plan.plan)), plan.counts
    needed, allowed = worth.needed(0, factor), worth.allowed(factor)
    if plan.evidence.tier is not EvidenceTier.MEETS_TARGET or needed is None or allowed is None:
        return None
    samples = max(needed, allowed, CountLimits(pack).fewest_samples(counts.controls))
    if samples >= counts.samples:
        return None
    return assessment.assess(revise(plan.plan, sample_size=samples), pack)


def as_loss(value: float, pack: Pack) -> float:
    """Return evidence so that less is better, rounded to absorb rounding errors."""
    return round(value if pack.design.lower_is_better else -value, _DIGITS)


def evidence_step(value: float, design: Design) -> float:
    """Return evidence in steps of 0.01, less is better; a half-width as a share of its target."""
    if design.lower_is_better:
        return ceil(min(_WIDEST, value / design.target * _STEPS) - _ROUNDING)
    return -floor(value * _STEPS + _ROUNDING)


def step_of(evidence: assessment.Evidence, design: Design) -> float:
    """Return the step of a plan's evidence; infinite without evidence."""
    return inf if evidence.void_reason else evidence_step(evidence.value, design)
