"""What power analysis draws: evidence over n, evidence over the effect, n over the effect.

Each point is what the check of such a plan says: with so many samples, at that effect, and all else
as planned. So samples beyond what exists, or beyond what the lab finishes in the plan's days, add
nothing, and a curve is exact where it has a point.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from replicalab import assessment
from replicalab.assessment.evidence import evidence_by_size
from replicalab.limits import LARGEST_PLANNED, MOST_POINTS
from replicalab.models import Dimension
from replicalab.planner.limits import (
    CountLimits,
    EvidenceCurve,
    fewest,
    largest_sample,
    most_counted,
)
from replicalab.scenarios import Design

_BEYOND: Final = 1.3  # How far an axis goes beyond what is shown on it
# What lies further out than so many times the rest is left outside, and named in the table.
_AT_MOST_WIDER: Final = 3


class Point(NamedTuple):
    """A point of a curve."""

    x: float
    y: float


@dataclass(frozen=True, eq=False)
class Curves:
    """The curves of a plan; each is worked out when it is first asked for.

    Attributes:
        plan: the plan.
        written: the study's design as its author wrote it, where another question is asked.
    """

    plan: assessment.Assessment
    written: Design | None = None

    @cached_property
    def largest(self) -> int | None:
        """The most samples that fit the lab with everything else as planned."""
        return largest_sample(self.plan.plan, self.plan.pack)

    @cached_property
    def effects(self) -> tuple[assessment.AssumedEffect, ...]:
        """The effects to compare, the one that is assumed first."""
        design = self.plan.pack.design
        if design.row.effect is None:
            return ()
        if effects := assessment.effects_of(design, self.written):
            return effects
        planned = design.effect_planning
        return () if planned is None else (assessment.AssumedEffect("planned", planned),)

    def at(self, samples: int, effect: float | None = None) -> assessment.Evidence:
        """Return the evidence of so many samples, at the planning effect or another one."""
        plan = self.plan
        return assessment.evidence_of(
            samples, plan.counts.days, plan.pack, plan.evidence_factor, effect
        )

    @cached_property
    def _needed(self) -> dict[float | None, int | None]:
        return {}

    def needed(self, effect: float | None = None) -> int | None:
        """Return the fewest samples that reach the target, None where none do."""
        if effect not in self._needed:
            self._needed[effect] = self._fewest_that_reach(effect)
        return self._needed[effect]

    def _fewest_that_reach(self, effect: float | None) -> int | None:
        plan, limit = self.plan, self.most_counted or LARGEST_PLANNED
        lost = plan.counts.days < plan.pack.min_days
        return EvidenceCurve(plan.pack, limit, lost, effect).needed(0, plan.evidence_factor)

    def needed_anywhere(self, effect: float) -> int | None:
        """Return the fewest samples that reach the target at an effect, could all of them count.

        None beyond the most that can be planned here.
        """
        design, factor = self.plan.pack.design, self.plan.evidence_factor
        value = evidence_by_size(design, assessment.seen_effect(design, factor, effect), factor)
        reaches, target = design.row.scale.reaches, design.target
        needed = fewest(lambda samples: reaches(value(samples), target), 1, LARGEST_PLANNED)
        return needed if needed <= LARGEST_PLANNED else None

    @cached_property
    def most_counted(self) -> int | None:
        """The most samples that can count in the plan's days, None where any number can."""
        limit = most_counted(self.plan.counts.days, self.plan.pack)
        return limit if limit < LARGEST_PLANNED else None

    @cached_property
    def in_more_days(self) -> tuple[int, int] | None:
        """The fewest samples that reach the target, and their days, where the plan's are too few.

        None where the plan's days would do, and where no number of days would.
        """
        pack = self.plan.pack
        samples = EvidenceCurve(pack, LARGEST_PLANNED).needed(0, self.plan.evidence_factor)
        if self.needed() is not None or samples is None:
            return None
        return samples, CountLimits(pack, frozenset({Dimension.SCHEDULE})).fewest_days(samples)

    # --- over n -----------------------------------------------------------------------------

    @cached_property
    def most_samples(self) -> int:
        """How far the axis of samples goes: as far for a plan with other samples on it."""
        pack, planned = self.plan.pack, self.plan.counts.samples
        numbers = [pack.reference_protocol.sample_size, self.needed() or 1]
        near = _near([self.largest or 1], numbers)
        limit = math.ceil(near * _BEYOND) + 1
        if planned > limit:
            limit = math.ceil(planned * _BEYOND) + 1
        return (
            limit if self.most_counted is None else min(limit, max(self.most_counted, planned, 1))
        )

    @cached_property
    def of_samples(self) -> dict[int, assessment.Evidence]:
        """The evidence of the samples on the axis."""
        # Closer together where it bends: at the fewest samples.
        sizes = {round(root**2) for root in _spread(1, math.sqrt(self.most_samples))}
        noted = (self.plan.counts.samples, self.needed(), self.largest)
        sizes |= {n for n in noted if n and n <= self.most_samples}
        return {n: self.at(n) for n in sorted(sizes)}

    @cached_property
    def over_samples(self) -> tuple[Point, ...]:
        """The evidence over the samples planned; without those that show nothing."""
        return _points(self.of_samples.items())

    # --- over the effect --------------------------------------------------------------------

    @cached_property
    def span(self) -> tuple[float, float]:
        """The ends of the axis of effects; none of it where none is assumed."""
        design = self.plan.pack.design
        effect, values = design.row.effect, [item.effect for item in self.effects]
        if effect is None:
            return 0.0, 0.0
        if effect.within_margin:
            return 0.0, math.nextafter(design.margin or 1.0, 0)
        sizes = [effect.size(value) for value in values]
        ends = (min(size, effect.largest_size) for size in (min(sizes) / 2, max(sizes) * _BEYOND))
        low, high = sorted(effect.of_size(size, values[0]) for size in ends)
        return low, high

    @cached_property
    def over_effects(self) -> tuple[Point, ...]:
        """The evidence of the plan's samples over the effect; none where they show nothing."""
        planned = self.plan.counts.samples
        return _points((effect, self.at(planned, effect)) for effect in self._spread_effects)

    @cached_property
    def samples_over_effects(self) -> tuple[Point, ...]:
        """The fewest samples that reach the target, over the effect; without those of no n."""
        pairs = ((effect, self.needed(effect)) for effect in self._spread_effects)
        return tuple(
            Point(effect, n) for effect, n in pairs if n is not None and n <= self.highest_needed
        )

    @cached_property
    def highest_needed(self) -> float:
        """How far the axis of the samples needed goes."""
        visible = [self.plan.counts.samples, self.largest or 1, self.needed() or 1]
        wanted = [n for effect in self.effects if (n := self.needed(effect.effect)) is not None]
        return math.ceil(_near(wanted, visible) * _BEYOND)

    @property
    def _spread_effects(self) -> list[float]:
        """The effects that have a point; none where none is assumed."""
        low, high = self.span
        if low >= high:
            return []
        noted = (effect.effect for effect in self.effects if low <= effect.effect <= high)
        return sorted({*_spread(low, high), *noted})


def _points(found: Iterable[tuple[float, assessment.Evidence]]) -> tuple[Point, ...]:
    return tuple(
        Point(x, evidence.value)
        for x, evidence in found
        if evidence.void_reason is None and math.isfinite(evidence.value)
    )


def _near(wanted: Iterable[float], shown: Sequence[float]) -> float:
    """Return the largest number, without what is wanted and lies out of all proportion."""
    limit = max(shown)
    return max([limit, *(value for value in wanted if value <= limit * _AT_MOST_WIDER)])


def _spread(low: float, high: float) -> list[float]:
    step = (high - low) / (MOST_POINTS - 1)
    return [*(low + step * place for place in range(MOST_POINTS - 1)), high]
