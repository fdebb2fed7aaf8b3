"""The feasible region of a plan over days and samples, with everything else held fixed.

Plans are checked on arrays. No module of the planner imports this one, so only it needs numpy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from replicalab.assessment import Assessment, Counts, counted_of, lab_limits
from replicalab.limits import LARGEST_PLANNED, MOST_REGION_COLUMNS, MOST_REGION_ROWS
from replicalab.models import Dimension
from replicalab.planner.plan_analysis import PlanToDraw
from replicalab.planner.sample_limits import EvidenceCurve, RegionLimit, largest
from replicalab.scenarios import Bounds, Pack, hard_range

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_SMALL_SHARE: Final = 1 / 6  # of the rows; a smaller feasible part cannot be read
_AT_MOST_WIDER: Final = 3  # times everything else; a plan further out is left outside the grid
_HALF: Final = 1e-3
_UNLIMITED: Final = np.iinfo(np.int64).max  # number of samples without a limit
# Any other line is named after its dimension.
_NAMES: Final[dict[str, RegionLimit]] = {Dimension.SCHEDULE: RegionLimit.SCHEDULE}


class NumericChecks(NamedTuple):
    """The checks of plans that depend on numbers; arrays that broadcast together."""

    needs: dict[str, npt.NDArray[Any]]  # by amount, rounded to a millionth
    within: dict[str, Flags]  # whether the lab has enough of each amount
    paper_ok: Flags  # at least 1 day and 1 experimental sample, within the study's constraints

    @property
    def all_ok(self) -> Flags:
        return reduce(np.logical_and, self.within.values(), self.paper_ok)


def numeric_checks(counts: Counts, pack: Pack) -> NumericChecks:
    """Return the numeric checks of plans in one lab; the counts broadcast together."""
    rows = lab_limits()
    needs = {key: _rounded(amount.need(counts, pack)) for key, amount in rows.items()}
    samples, days = np.asarray(counts.samples), np.asarray(counts.days)
    sound = (samples > counts.controls) & (days >= 1)
    for number, values in ((Bounds.SAMPLES, samples), (Bounds.DAYS, days)):
        minimum, limit = hard_range(pack.limits, number)
        sound = sound & (values >= minimum) & (values <= limit)
    within = {key: needs[key] <= amount.has(pack.lab) for key, amount in rows.items()}
    return NumericChecks(needs, within, sound)


def _rounded(needed: npt.ArrayLike) -> npt.NDArray[Any]:
    amounts = np.asarray(needed)
    if not np.issubdtype(amounts.dtype, np.floating):
        return amounts
    # The single check rounds exactly; numpy multiplies first, so near a half it may differ.
    result, nearly_half = np.array(amounts.round(6)), np.abs(amounts * 1e6 % 1 - 0.5) < _HALF
    result[nearly_half] = [round(float(item), 6) for item in amounts[nearly_half]]
    return result


def countable(days: Ints, pack: Pack) -> Ints:
    """Return how many samples can count in some days: throughput and population."""
    return np.minimum(_finished(days, pack), pack.design.population_max or _UNLIMITED)


def _finished(days: Ints, pack: Pack) -> Ints:
    if pack.samples_per_day is None:
        return np.full(days.shape, _UNLIMITED)
    rate = pack.samples_per_day.value
    return np.minimum(days, _UNLIMITED // rate) * rate


class Level(NamedTuple):
    """A line of equal evidence: the fewest samples that reach it."""

    label: str
    samples: int


class Span(NamedTuple):
    """The feasible plans over all days of a lab: most samples, first and last day."""

    samples: int
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class Region:
    """The plans over a grid of samples (rows) and days (columns)."""

    drawn: PlanToDraw  # the plan; its controls, items and variant are held fixed
    days: Ints  # the grid's columns and rows, whole numbers evenly spaced, at least two
    samples: Ints
    effect: float | None = None  # an effect to assume instead of the study's planning effect

    @property
    def plan(self) -> Assessment:
        return self.drawn.plan

    @cached_property
    def checks(self) -> NumericChecks:
        return self._checks(self.samples[:, None], self.days[None, :])

    def _checks(self, samples: Ints, days: Ints) -> NumericChecks:
        return numeric_checks(self.plan.counts._replace(samples=samples, days=days), self.plan.pack)

    @property
    def feasible(self) -> Flags:
        rows = self.samples[:, None]
        return (rows >= self.least) & (rows <= self.most_feasible[None, :])

    @cached_property
    def _worth(self) -> EvidenceCurve:
        return EvidenceCurve(self.plan.pack, LARGEST_PLANNED, effect=self.effect)

    @cached_property
    def evidence(self) -> Floats:
        """The evidence of each plan at the assumed effect; NaN if void."""
        pack, factor = self.plan.pack, self.plan.evidence_factor
        usable = np.minimum(self.samples[:, None], countable(self.days, pack)[None, :])
        distinct, place = np.unique(usable, return_inverse=True)
        worth = np.array([self._worth.value(int(n), factor) for n in distinct])
        values: Floats = worth[place].reshape(usable.shape)
        rest = np.array([counted_of(pack.design, int(n)) for n in distinct])
        void = (self.days[None, :] < pack.min_days) | (rest[place].reshape(usable.shape) < 1)
        return np.where(void | ~np.isfinite(values), np.nan, values)

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The fewest countable samples that reach target and floor; one level if equal."""
        evidence, factor = self.plan.evidence, self.plan.evidence_factor
        bounds = {evidence.floor: ("floor", 1), evidence.target: ("target", 0)}
        return tuple(
            Level(f"{name} {evidence.format(value)}", samples)
            for value, (name, tier) in reversed(bounds.items())
            if (samples := self._worth.needed(tier, factor)) is not None
        )

    @cached_property
    def lines(self) -> dict[str, Ints]:
        """For each constraint the largest sample that it allows in each number of days.

        At most one more than the grid's last row; -1 if it allows none. The study's own constraints
        are a line only if they allow less than the lab and the population.
        """
        pack, top = self.plan.pack, self._top
        amounts = {_NAMES.get(key, key): line for key, line in self._within.items()}
        endpoint = np.where(self.days >= pack.min_days, top, -1)
        lines: dict[str, Ints] = {**amounts, RegionLimit.ENDPOINT: endpoint}
        if pack.samples_per_day is not None:
            lines[RegionLimit.THROUGHPUT] = np.minimum(_finished(self.days, pack), top)
        if pack.design.population_max is not None:
            number = min(pack.design.population_max, top)
            lines[RegionLimit.POPULATION] = np.full(self.days.shape, number)
        named = (*amounts, RegionLimit.POPULATION)
        others = [lines[limit] for limit in named if limit in lines]
        if (self._study < np.min(others, axis=0)).any():
            lines[RegionLimit.STUDY] = self._study
        return lines

    @cached_property
    def _within(self) -> dict[str, Ints]:
        # No need falls when a count grows, so all days are bisected at once.
        limits = {}
        for key in lab_limits():
            low, high = np.full(self.days.shape, -1), np.full(self.days.shape, self._top)
            while (low < high).any():
                middle = (low + high + 1) // 2
                fits = self._checks(middle, self.days).within[key]
                low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
            limits[key] = low
        return limits

    @cached_property
    def _study(self) -> Ints:
        _, limit = hard_range(self.plan.pack.limits, Bounds.SAMPLES)
        shortest, longest = hard_range(self.plan.pack.limits, Bounds.DAYS)
        open_ = (self.days >= shortest) & (self.days <= longest)
        return np.where(open_, math.floor(min(limit, self._top)), -1)

    @property
    def _top(self) -> int:
        return int(self.samples[-1]) + 1

    @cached_property
    def _asked(self) -> int | None:
        worth = EvidenceCurve(self.plan.pack, LARGEST_PLANNED)
        return worth.allowed(self.plan.evidence_factor)

    @cached_property
    def least(self) -> int:
        fewest, _ = hard_range(self.plan.pack.limits, Bounds.SAMPLES)
        controls = int(self.plan.counts.controls)
        return math.ceil(max(controls + 1, fewest, self._asked or 0))

    @cached_property
    def most_feasible(self) -> Ints:
        """The largest feasible sample for each number of days, -1 for none."""
        pack, number, open_ = self.plan.pack, self._asked, self.days >= 1
        if number is None or self.drawn.failing:
            return np.full(self.days.shape, -1)
        if number:
            open_ = open_ & (self.days >= pack.min_days) & (countable(self.days, pack) >= number)
        lines = [*self._within.values(), self._study]
        return self._at_least(np.where(open_, np.min(lines, axis=0), -1))

    @cached_property
    def most_useful(self) -> Ints:
        return self._at_least(np.min([self.most_feasible, *self.lines.values()], axis=0))

    def _at_least(self, most: Ints) -> Ints:
        return np.where(most >= self.least, most, -1)

    @property
    def deep(self) -> Region:
        """The same days, with every number of samples that can be planned."""
        return replace(self, samples=np.array([0, LARGEST_PLANNED - 1]))

    def span(self, *, useful: bool) -> Span | None:
        """Return the feasible plans over all days of the lab, or None.

        Of a ``useful`` plan all samples count, and the endpoint is kept. Samples need days to
        count, and each further day leaves less for samples, so the fewest days decide.
        """
        pack, number = self.plan.pack, self._asked
        if number is None or self.drawn.failing:
            return None
        rate, exist = pack.samples_per_day, pack.design.population_max
        shortest = math.ceil(max(1.0, hard_range(pack.limits, Bounds.DAYS)[0]))

        def days(samples: int) -> int:
            counting = samples if useful else number
            if not counting:
                return shortest
            taken = -(-counting // rate.value) if rate else 1
            return max(shortest, pack.min_days, taken)

        def fits(samples: int, duration: int) -> bool:
            return bool(self._checks(np.array(samples), np.array(duration)).all_ok)

        limit, first = (useful and exist) or LARGEST_PLANNED, days(self.least)
        samples = largest(lambda n: fits(n, days(n)), self.least, min(limit, LARGEST_PLANNED))
        last = largest(lambda d: fits(self.least, d), first, LARGEST_PLANNED)
        return None if samples is None or last is None else Span(samples, first, last)

    def outside(self, plans: Mapping[str, Assessment]) -> list[tuple[str, int]]:
        """Return the plans and levels outside the grid, each with its samples."""
        highest, longest = int(self.samples[-1]), int(self.days[-1])
        pairs = [
            (name, plan.counts.samples)
            for name, plan in plans.items()
            if plan.counts.samples > highest or plan.counts.days > longest
        ]
        return pairs + [(name, n) for name, n in self.levels if n > highest]


def region(drawn: PlanToDraw, shown: Sequence[Assessment], effect: float | None = None) -> Region:
    """Return the region of a plan on a grid that also shows other plans, if not far out."""
    result = Region(drawn, *grid_for(shown), effect)
    limit, top = int(result.most_feasible.max()), int(result.samples[-1])
    if 0 < limit < top * _SMALL_SHARE:
        others = [*(plan.counts.samples for plan in shown), *(n for _, n in result.levels)]
        high = max([limit, *(n for n in others if n <= limit * _AT_MOST_WIDER)])
        return replace(result, samples=_spaced(0, high * 5 // 4 + 2, MOST_REGION_ROWS))
    return result


def grid_for(plans: Sequence[Assessment]) -> tuple[Ints, Ints]:
    """Return days and samples that show plans and their limits; the first plan only if near."""
    pack, yours = plans[0].pack, plans[0].counts
    others = [*(plan.plan for plan in plans[1:]), pack.reference_protocol]
    limits = [pack.min_days, pack.lab.days_left]
    days = _highest(yours.days, [plan.duration_days for plan in others], limits)
    limits = [int(countable(np.array(days), pack))]
    samples = _highest(yours.samples, [plan.sample_size for plan in others], limits)
    columns = _spaced(min(1, *(plan.counts.days for plan in plans)), days + 1, MOST_REGION_COLUMNS)
    return columns, _spaced(0, samples * 27 // 25 + 1, MOST_REGION_ROWS)


def _highest(plan: int, others: list[int], limits: list[int]) -> int:
    number = max(1, *others)
    number = max([number, *(limit for limit in limits if limit <= number * 3 // 2)])
    return max(number, plan) if plan <= number * _AT_MOST_WIDER else number


def _spaced(low: int, high: int, most: int) -> Ints:
    step = -(-(high - low) // (most - 1))
    return np.arange(low, high + step, step)
