"""How large a sample, and how many days, a lab's numbers allow: budget, staff, throughput, units.

Cost and staff never fall when a count grows, so every limit is a largest number that still fits.
It is found by bisection on the same predicate that the check uses, so it is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from replicalab.costs import Counts, counts_of, credits_needed, staff
from replicalab.models import LARGEST_COUNT, LARGEST_PLANNED, Protocol
from replicalab.scenarios import Pack

MOST_SAMPLES: Final = LARGEST_PLANNED
"""The largest sample that is looked at, unless the plan or the study asks for more."""


def asked_samples(protocol: Protocol, scenario: Pack) -> int:
    """Return how many samples the plan or the study asks for, whichever is more, at least 1."""
    return max(1, protocol.sample_size, scenario.reference_protocol.sample_size)


def most_looked_at(protocol: Protocol, scenario: Pack) -> int:
    """Return the largest sample that is looked at for a plan."""
    return max(MOST_SAMPLES, asked_samples(protocol, scenario))


def largest(fits: Callable[[int], bool], low: int, high: int) -> int | None:
    """Return the largest number from ``low`` to ``high`` that fits, None if ``low`` does not.

    ``fits`` must hold up to some number and fail above it.
    """
    if low > high or not fits(low):
        return None
    if fits(high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def fewest(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the smallest number from ``low`` to ``high`` for which it holds.

    ``holds`` must fail up to some number and hold from there on, and hold for ``high``.
    """
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high


def largest_sample(protocol: Protocol, scenario: Pack) -> int | None:
    """Return the most samples that this lab can afford with everything else as planned.

    The budget, the staff steps, the throughput over the plan's days and the population limit it.
    None when not even one experimental sample beside the plan's controls fits.
    """
    counts = counts_of(protocol)
    limits = Limits.of(scenario)
    high = min(LARGEST_COUNT, limits.most_samples(protocol.duration_days))
    return largest(
        lambda n: limits.affords(counts._replace(samples=n)), len(protocol.controls) + 1, high
    )


@dataclass(frozen=True)
class Limits:
    """A lab's numbers, and which of them a plan may exceed.

    Attributes:
        over_budget, over_staff: whether that limit is given up.
    """

    scenario: Pack
    over_budget: bool = False
    over_staff: bool = False

    @classmethod
    def of(cls, scenario: Pack) -> Limits:
        """Return the limits of a lab, none given up."""
        return cls(scenario)

    @property
    def days(self) -> tuple[int, int]:
        """The fewest days that keep the endpoint, and the most that the lab gives.

        Where the lab gives fewer than the endpoint needs, every number of days is as good.
        """
        most = self.scenario.lab.days
        return (self.scenario.min_days if self.scenario.min_days <= most else 1), most

    @property
    def endpoint_lost(self) -> bool:
        """Whether the lab gives too few days for any evidence."""
        return self.scenario.lab.days < self.scenario.min_days

    def most_samples(self, days: int) -> int:
        """Return how many samples can count in so many days: throughput and population."""
        most = LARGEST_COUNT
        if self.scenario.samples_per_day is not None:
            most = min(most, self.scenario.samples_per_day.value * days)
        if self.scenario.design.population_max is not None:
            most = min(most, self.scenario.design.population_max)
        return most

    def fewest_days(self, samples: int) -> int:
        """Return the fewest days in which so many samples can count."""
        fewest, _ = self.days
        per_day = self.scenario.samples_per_day
        return fewest if per_day is None else max(fewest, -(-samples // per_day.value))

    def best_days(self, counts: Counts) -> int:
        """Return the days to plan for: the fewest, or where the endpoint is lost anyway the most.

        The plan of the other counts must fit with the fewest days.
        """
        fewest, most = self.fewest_days(counts.samples), self.days[1]
        if not self.endpoint_lost:
            return fewest
        return largest(lambda d: self.allows(counts._replace(days=d)), fewest, most) or fewest

    def affords(self, counts: Counts) -> bool:
        """Return whether the lab has the credits and the people for a plan of these counts."""
        lab = self.scenario.lab
        return (
            self.over_budget or credits_needed(counts, self.scenario.cost_model) <= lab.budget
        ) and (self.over_staff or staff(counts, self.scenario.staff_model) <= lab.staff)

    def allows(self, counts: Counts) -> bool:
        """Return whether a plan of these counts fits every limit that is not given up."""
        fewest, most = self.days
        return (
            fewest <= counts.days <= most
            and counts.samples <= self.most_samples(counts.days)
            and self.affords(counts)
        )

    def at_best(self, counts: Counts) -> bool:
        """Return whether some number of days lets a plan of the other counts fit."""
        return self.allows(counts._replace(days=self.fewest_days(counts.samples)))
