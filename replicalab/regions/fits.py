"""The numeric checks of many plans at once, on arrays, by the same formulas as the single check."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from replicalab.costs import Counts, cost, staff
from replicalab.scenarios import Bounds, Pack, hard_range

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Fits:
    """What a lab's numbers say about plans; arrays that broadcast together.

    Attributes:
        credits: what each plan costs, rounded to a millionth as it is compared with the budget.
        staff: the staff units that each needs.
        budget_ok, schedule_ok, staff_ok: the three lab constraints that are amounts.
        paper_ok: sound on paper as far as numbers go: at least 1 day and 1 experimental sample, and
            within the study's own constraints on n and days (not on evidence, which is no count).
        counts_ok: within throughput and population, so that every sample can count.
        endpoint_ok: days enough for the study's endpoint.
    """

    credits: Floats
    staff: Ints
    budget_ok: Flags
    schedule_ok: Flags
    staff_ok: Flags
    paper_ok: Flags
    counts_ok: Flags
    endpoint_ok: Flags

    @property
    def all_ok(self) -> Flags:
        """Whether every numeric check passes; the two on evidence only warn and are left out."""
        ok: Flags = self.budget_ok & self.schedule_ok & self.staff_ok & self.paper_ok
        return ok

    @property
    def useful(self) -> Flags:
        """Whether every numeric check passes, every sample counts and the endpoint is kept."""
        ok: Flags = self.all_ok & self.counts_ok & self.endpoint_ok
        return ok


def plans_fit(counts: Counts, scenario: Pack) -> Fits:
    """Return the numeric checks of many plans in one lab.

    Args:
        counts: the five counts of the plans: whole numbers, or arrays that broadcast together.
        scenario: the study in its lab.
    """
    lab = scenario.lab
    credits: Floats = np.asarray(cost(counts, scenario.cost_model), dtype=np.float64).round(6)
    people = np.asarray(staff(counts, scenario.staff_model), dtype=np.int64)
    samples, days = np.asarray(counts.samples), np.asarray(counts.days)
    fewest, most = hard_range(scenario.limits, Bounds.SAMPLES)
    shortest, longest = hard_range(scenario.limits, Bounds.DAYS)
    return Fits(
        credits=credits,
        staff=people,
        budget_ok=credits <= lab.budget,
        schedule_ok=days <= lab.days,
        staff_ok=people <= lab.staff,
        paper_ok=(samples > counts.controls)
        & (samples >= fewest)
        & (samples <= most)
        & (days >= max(1, shortest))
        & (days <= longest),
        counts_ok=samples <= countable(days, scenario),
        endpoint_ok=days >= scenario.min_days,
    )


UNLIMITED = np.iinfo(np.int64).max
"""Stands for a number of samples that nothing limits."""


def countable(days: Ints, scenario: Pack) -> Ints:
    """Return how many samples can count in so many days: within throughput and population."""
    most = np.full(days.shape, UNLIMITED)
    if scenario.samples_per_day is not None:
        per_day = scenario.samples_per_day.value
        most = np.minimum(days, UNLIMITED // per_day) * per_day
    if scenario.design.population_max is not None:
        most = np.minimum(most, scenario.design.population_max)
    return most
