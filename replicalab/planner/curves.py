"""What power analysis draws: evidence over n, evidence over the effect, n over the effect.

Each point is what the check of a plan would say of it, so a curve is exact where it has a point.
Samples are those planned, in days enough for all of them to count; dropout and what the plan's
substitutions leave of the effect are in every value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from replicalab.assessment import Assessment, AssumedEffect, effects_of
from replicalab.measures import KINDS
from replicalab.models import LARGEST_PLANNED
from replicalab.planner.limits import Worth, asked_samples, fewest, largest_sample
from replicalab.scenarios import Design

MOST_POINTS: Final = 50
"""So many points a curve has, at most."""

_BEYOND: Final = 1.3
"""How far an axis goes beyond what is shown on it."""
_AT_MOST_WIDER: Final = 3
"""What lies further out than so many times the rest is left outside, and told in the table."""


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

    plan: Assessment
    written: Design | None = None

    @cached_property
    def _worth(self) -> Worth:
        return Worth(self.plan.pack, LARGEST_PLANNED)

    @cached_property
    def largest(self) -> int | None:
        """The most samples that fit the lab with everything else as planned."""
        return largest_sample(self.plan.plan, self.plan.pack)

    @cached_property
    def effects(self) -> tuple[AssumedEffect, ...]:
        """The effects to show beside each other, the one that is assumed first."""
        design = self.plan.pack.design
        if found := effects_of(design, self.written):
            return found
        planned = design.effect_planning
        return () if planned is None else (AssumedEffect("planned", planned),)

    def worth(self, samples: int, effect: float | None = None) -> float:
        """Return the evidence of so many samples, at the planning effect or another one."""
        worth = self._worth if effect is None else Worth(self.plan.pack, 0, effect=effect)
        return worth.value(samples, self.plan.evidence_factor)

    def needed(self, effect: float | None = None) -> int | None:
        """Return the fewest samples that reach the target, None where none do."""
        scale, target = self.plan.evidence.row.scale, self.plan.evidence.target
        most = min(LARGEST_PLANNED, self.plan.pack.design.population_max or LARGEST_PLANNED)

        def enough(samples: int) -> bool:
            return scale.reaches(self.worth(samples, effect), target)

        high = 1
        while not enough(high):
            if high >= most:
                return None
            high = min(most, high * 2)
        return fewest(enough, high // 2 + 1, high)

    # --- over n -----------------------------------------------------------------------------

    @cached_property
    def most_samples(self) -> int:
        """How far the axis of samples goes."""
        pack, planned = self.plan.pack, self.plan.counts.samples
        shown = [planned, pack.reference_protocol.sample_size, self.needed() or 1]
        near = _near([asked_samples(self.plan.plan, pack), self.largest or 1], shown)
        most = math.ceil(near * _BEYOND) + 1
        exist = pack.design.population_max
        return most if exist is None else min(most, max(exist, planned))

    @cached_property
    def over_samples(self) -> tuple[Point, ...]:
        """The evidence over the samples planned; without those that leave it unbounded."""
        # Closer together where it bends: at the fewest samples.
        sizes = {round(root**2) for root in _spread(1, math.sqrt(self.most_samples))}
        noted = (self.plan.counts.samples, self.needed(), self.largest)
        sizes |= {n for n in noted if n is not None and 1 <= n <= self.most_samples}
        return tuple(Point(n, v) for n in sorted(sizes) if math.isfinite(v := self.worth(n)))

    # --- over the effect --------------------------------------------------------------------

    @cached_property
    def span(self) -> tuple[float, float]:
        """The ends of the axis of effects; none of it where none is assumed."""
        design = self.plan.pack.design
        effect, known = KINDS[design.kind].effect, [each.effect for each in self.effects]
        if effect is None or not known:
            return 0.0, 0.0
        if effect.within_margin:
            return 0.0, math.nextafter(design.margin or 1.0, 0)
        sizes = [effect.size(each) for each in known]
        ends = [effect.of_size(size, known[0]) for size in (min(sizes) / 2, max(sizes) * _BEYOND)]
        low, high = sorted(ends)
        return low, min(high, effect.largest_size) if effect.below < math.inf else high

    @cached_property
    def over_effects(self) -> tuple[Point, ...]:
        """The evidence of the plan's samples that can count, over the effect."""
        return self._over_effects(lambda effect: self.worth(self.plan.evidence.able, effect))

    @cached_property
    def samples_over_effects(self) -> tuple[Point, ...]:
        """The fewest samples that reach the target, over the effect; without those of no n."""
        found = self._over_effects(lambda effect: self.needed(effect) or math.inf)
        return tuple(point for point in found if point.y <= self.highest_needed)

    @cached_property
    def highest_needed(self) -> float:
        """How far the axis of the samples needed goes."""
        shown = [self.plan.counts.samples, self.largest or 1, self.needed() or 1]
        wanted = [n for each in self.effects if (n := self.needed(each.effect)) is not None]
        return math.ceil(_near(wanted, shown) * _BEYOND)

    def _over_effects(self, worth: Callable[[float], float]) -> tuple[Point, ...]:
        low, high = self.span
        if low >= high:
            return ()
        noted = (each.effect for each in self.effects if low <= each.effect <= high)
        points = (Point(effect, worth(effect)) for effect in sorted({*_spread(low, high), *noted}))
        return tuple(point for point in points if math.isfinite(point.y))


def _near(wanted: Iterable[float], shown: Sequence[float]) -> float:
    """Return the largest number, without what is wanted and lies out of all proportion."""
    most = max(shown)
    return max([most, *(each for each in wanted if each <= most * _AT_MOST_WIDER)])


def _spread(low: float, high: float) -> list[float]:
    """Return numbers from one to the other, evenly spread."""
    step = (high - low) / (MOST_POINTS - 1)
    return [*(low + step * place for place in range(MOST_POINTS - 1)), high]
