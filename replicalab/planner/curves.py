"""The plans of a lab that nothing beats: on cost, days, evidence and fidelity at once.

Of one wording, more samples cost no less and take no fewer days, so only the fewest days for each
sample matter. The plans of all wordings are then gone through from the most evidence to the
least: one is beaten if an earlier one costs no more, takes no longer and loses no more.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from replicalab.agents.suggestions import SuggestionChange, apply_changes
from replicalab.concessions import dropped_controls
from replicalab.costs import Counts, counts_of, credits_needed
from replicalab.evidence import tier_of
from replicalab.models import Protocol, revise
from replicalab.planner.choices import Choice, choices
from replicalab.planner.limits import MOST_SAMPLES, Limits, fewest, largest
from replicalab.planner.worth import Worth
from replicalab.scenarios import Bounds, EvidenceTier, Pack, hard_range

MOST_SIZES: Final = 1000
"""So many sample sizes are looked at for each wording; above it they are evenly spaced."""

_MOST_PLANS: Final = 20_000
"""So many plans are looked at in all; above it there are fewer sizes for each wording."""

_FEWEST_SIZES: Final = 10


@dataclass(frozen=True)
class FrontierPlan:
    """A feasible plan that no other beats.

    Attributes:
        samples, days, credits: what it takes.
        value: its evidence, in the study's measure.
        tier: where that stands to target and floor.
        loss: the fidelity that it gives up.
        wording: the changes of the original's items and controls.
    """

    samples: int
    days: int
    credits: float
    value: float
    tier: EvidenceTier
    loss: int
    wording: tuple[SuggestionChange, ...]

    def plan(self, protocol: Protocol) -> Protocol:
        """Return the whole plan, as a revision of the one that the frontier was drawn for."""
        worded = apply_changes(protocol, list(self.wording))
        return revise(worded, sample_size=self.samples, duration_days=self.days)


class _Point(NamedTuple):
    """A plan by its four respects, lower is better in each, and what it is."""

    shortfall: float
    credits: float
    days: int
    loss: int
    samples: int
    wording: int


def unbeaten_plans(protocol: Protocol, scenario: Pack) -> tuple[FrontierPlan, ...]:
    """Return the feasible plans that no other beats, cheapest first, one of each equal kind."""
    worth = Worth.in_lab(protocol, scenario)
    wordings = [choice for choice in choices(protocol, scenario) if not choice.failing]
    if worth.void or not wordings:
        return ()
    sizes = max(_FEWEST_SIZES, min(MOST_SIZES, _MOST_PLANS // len(wordings)))
    points = (
        point
        for place, choice in enumerate(wordings)
        for point in _curve(choice, place, worth, sizes)
    )
    absent = len(dropped_controls(protocol, scenario))
    found = [_plan(point, wordings[point.wording], worth, absent) for point in _unbeaten(points)]
    return tuple(sorted(found, key=lambda each: (each.credits, each.days, each.loss)))


def _plan(point: _Point, choice: Choice, worth: Worth, absent: int) -> FrontierPlan:
    value = worth.value(choice, point.samples)
    return FrontierPlan(
        samples=point.samples,
        days=point.days,
        credits=point.credits,
        value=value,
        tier=tier_of(worth.scenario.design, value),
        loss=point.loss + absent,
        wording=choice.changes,
    )


def _curve(choice: Choice, place: int, worth: Worth, sizes: int) -> Iterator[_Point]:
    """Yield the plans of one wording that may be unbeaten, by growing sample."""
    limits = Limits.of(worth.scenario)
    counts = counts_of(worth.protocol)._replace(controls=choice.controls)
    fewest_samples, most_samples = hard_range(worth.scenario.limits, Bounds.SAMPLES)
    low = int(max(choice.controls + 1, fewest_samples))
    high = min(MOST_SAMPLES, most_samples, limits.most_samples(limits.days[1]))
    most = largest(lambda n: limits.at_best(counts._replace(samples=n)), low, int(high))
    if most is None:
        return
    best = worth.shortfall(choice, most)
    enough = fewest(lambda n: worth.shortfall(choice, n) == best, low, most)
    for samples in _sizes(low, enough, sizes, worth.scenario):
        taken: Counts = counts._replace(samples=samples, days=limits.fewest_days(samples))
        cost = credits_needed(taken, worth.scenario.cost_model)
        short = worth.shortfall(choice, samples)
        yield _Point(short, cost, taken.days, choice.loss, samples, place)


def _sizes(low: int, most: int, number: int, scenario: Pack) -> Iterator[int]:
    """Yield the sample sizes to look at, the last one always.

    Where a sample is free, of those that take the same days only the most.
    """
    unit = 1
    if not scenario.cost_model.per_sample:
        fewest_days = Limits.of(scenario).days[0]
        per_day = scenario.samples_per_day
        unit = per_day.value if per_day else most
        low = min(most, max(-(-low // unit), fewest_days if per_day else 1) * unit)
    step = unit * max(1, -(-(most - low) // (unit * number)))
    yield from range(low, most, step)
    yield most


def _unbeaten(points: Iterator[_Point]) -> Iterator[_Point]:
    """Yield each point unless one with as much evidence is as good in the other three."""
    stairs: dict[int, _Stairs] = {}
    for point in sorted(points):
        if any(stair.beat(point) for loss, stair in stairs.items() if loss <= point.loss):
            continue
        stairs.setdefault(point.loss, _Stairs([], [])).add(point)
        yield point


class _Stairs(NamedTuple):
    """The least cost for each number of days, as steps down: more days, fewer credits."""

    days: list[int]
    credits: list[float]

    def beat(self, point: _Point) -> bool:
        """Return whether some step takes no longer than the point and costs no more."""
        place = bisect_right(self.days, point.days) - 1
        return place >= 0 and self.credits[place] <= point.credits

    def add(self, point: _Point) -> None:
        """Put a point that no step beats in its place, and take out the steps that it beats."""
        place = bisect_left(self.days, point.days)
        end = place
        while end < len(self.days) and self.credits[end] >= point.credits:
            end += 1
        self.days[place:end] = [point.days]
        self.credits[place:end] = [point.credits]
