"""Curves of a power analysis, and the limits that keep a target out of reach."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple

from replicalab import assessment
from replicalab.assessment.evidence import evidence_by_size, seen_effect
from replicalab.designs import design_effect, samples_left
from replicalab.limits import LARGEST_PLANNED, MOST_POINTS
from replicalab.models import Dimension
from replicalab.planner import sample_limits
from replicalab.scenarios import CORRELATIONS, Arms, Design, EvidenceTier

_BEYOND: Final = 1.3  # length of an axis over the largest number on it
_AT_MOST_WIDER: Final = 3  # times the rest; a number further out is only in the table


class Point(NamedTuple):
    """A point of a curve."""

    x: float
    y: float


_NO_END: Final = 10**9  # samples in each unit that are as good as any number


class TargetLimit(StrEnum):
    """The limit that keeps every number of samples short of the target."""

    UNITS = "units"
    POPULATION = "population"
    PLANNED = "planned"


@dataclass(frozen=True)
class UnreachedTarget:
    """Why no number of samples reaches the target, and the evidence of the most samples."""

    limit: TargetLimit
    samples: int  # the most possible
    value: float  # their evidence


@dataclass(frozen=True)
class UnitsLimit:
    """The evidence possible with the units of a plan, for any number of samples in them."""

    units: tuple[int, ...]  # in each arm, or in the only group
    most: float  # the limit that no number of samples in them exceeds
    per_unit: int | None  # the fewest samples in each that reach the target, or None
    enough: tuple[int, ...] | None  # the fewest units of this size that reach it, by arm


@dataclass(frozen=True, eq=False)
class Curves:
    """The curves of a plan; ``written`` is the design of the author if it was changed."""

    plan: assessment.Assessment
    written: Design | None = None
    _needed: dict[float | None, int | None] = field(default_factory=dict, repr=False)

    @cached_property
    def largest(self) -> int | None:
        """The most samples that fit the lab with everything else as planned."""
        return sample_limits.largest_sample(self.plan.plan, self.plan.pack)

    @cached_property
    def effects(self) -> tuple[assessment.AssumedEffect, ...]:
        design = self.plan.pack.design
        planned = design.effect_planning
        if design.row.effect is None or planned is None:
            return ()
        alone = (assessment.AssumedEffect("planned", planned),)
        return assessment.effects_of(design, self.written) or alone

    def at(self, samples: int, effect: float | None = None) -> assessment.Evidence:
        plan = self.plan
        return assessment.evidence_of(
            samples, plan.counts.days, plan.pack, plan.evidence_factor, effect
        )

    @property
    def needed(self) -> int | None:
        """The fewest samples that reach the target at the effect that is planned, or None."""
        return self.needed_at(None)

    def needed_at(self, effect: float | None) -> int | None:
        """Return the fewest samples that reach the target at an effect, or None."""
        if effect not in self._needed:
            plan, limit = self.plan, self.most_counted or LARGEST_PLANNED
            lost = plan.counts.days < plan.pack.min_days
            curve = sample_limits.EvidenceCurve(plan.pack, limit, lost, effect)
            self._needed[effect] = curve.needed(0, plan.evidence_factor)
        return self._needed[effect]

    def needed_anywhere(self, effect: float) -> int | None:
        """Return the fewest samples that reach the target if all can count, or None."""
        design, factor = self.plan.pack.design, self.plan.evidence_factor
        value = evidence_by_size(design, seen_effect(design, factor, effect), factor)
        reaches, target = design.row.scale.reaches, design.target
        needed = sample_limits.fewest(
            lambda samples: reaches(value(samples), target), 1, LARGEST_PLANNED
        )
        return needed if needed <= LARGEST_PLANNED else None

    @cached_property
    def most_counted(self) -> int | None:
        """The most samples that can count in the plan's days, None if unlimited."""
        limit = sample_limits.most_counted(self.plan.counts.days, self.plan.pack)
        return limit if limit < LARGEST_PLANNED else None

    @cached_property
    def in_more_days(self) -> tuple[int, int] | None:
        """The fewest samples for the target and their days, if the plan's days are too few."""
        pack = self.plan.pack
        samples = sample_limits.EvidenceCurve(pack, LARGEST_PLANNED).needed(
            0, self.plan.evidence_factor
        )
        if self.needed is not None or samples is None:
            return None
        return samples, sample_limits.CountLimits(
            pack, frozenset({Dimension.SCHEDULE})
        ).fewest_days(samples)

    @cached_property
    def most_samples(self) -> int:
        """The end of the axis of samples, beyond the planned ones."""
        pack, planned = self.plan.pack, self.plan.counts.samples
        numbers = [pack.reference_protocol.sample_size, self.needed or 1]
        near = math.ceil(_near([self.largest or 1], numbers) * _BEYOND) + 1
        limit = near if planned <= near else math.ceil(planned * _BEYOND) + 1
        countable = self.most_counted
        return limit if countable is None else min(limit, max(countable, planned, 1))

    @cached_property
    def of_samples(self) -> dict[int, assessment.Evidence]:
        # The curve bends at few samples, so points are closer together there.
        sizes = {round(root**2) for root in _spread(1, math.sqrt(self.most_samples))}
        noted = (self.plan.counts.samples, self.needed, self.largest)
        sizes |= {n for n in noted if n and n <= self.most_samples}
        return {n: self.at(n) for n in sorted(sizes)}

    @cached_property
    def over_samples(self) -> tuple[Point, ...]:
        return _points(self.of_samples.items())

    @cached_property
    def span(self) -> tuple[float, float]:
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
        """The evidence of the plan's samples over the effect, without void points."""
        planned = self.plan.counts.samples
        return _points((effect, self.at(planned, effect)) for effect in self._spread_effects)

    @cached_property
    def samples_over_effects(self) -> tuple[Point, ...]:
        """The fewest samples that reach the target, over the effect, if any."""
        pairs = ((effect, self.needed_at(effect)) for effect in self._spread_effects)
        return tuple(
            Point(effect, n) for effect, n in pairs if n is not None and n <= self.highest_needed
        )

    @cached_property
    def highest_needed(self) -> float:
        sizes = [self.plan.counts.samples, self.largest or 1, self.needed or 1]
        wanted = [n for effect in self.effects if (n := self.needed_at(effect.effect)) is not None]
        return math.ceil(_near(wanted, sizes) * _BEYOND)

    @property
    def _spread_effects(self) -> list[float]:
        low, high = self.span
        if low >= high:
            return []
        noted = (effect.effect for effect in self.effects if low <= effect.effect <= high)
        return sorted({*_spread(low, high), *noted})

    @cached_property
    def why_unreached(self) -> UnreachedTarget | None:
        """Why no number of samples reaches the target with a plan's items, or None."""
        plan = self.plan
        pack, factor, design = plan.pack, plan.evidence_factor, plan.pack.design
        worth = sample_limits.EvidenceCurve(pack, sample_limits.most_looked_at(plan.plan))
        if worth.needed(0, factor) is not None:
            return None
        number = min(worth.most, design.population_max or worth.most)
        limit = TargetLimit.PLANNED if number == worth.most else TargetLimit.POPULATION
        if design.units is not None and design.units.icc is not None:
            plain = design.model_copy(update={"units": None})
            seen = seen_effect(plain, factor)
            if _meets_target(design, assessment.evidence_value(plain, number, seen, factor)):
                limit = TargetLimit.UNITS
        return UnreachedTarget(limit, number, worth.value(number, factor))

    @cached_property
    def units_limit(self) -> UnitsLimit | None:
        """The limit by correlated units of a plan that misses its target, or None."""
        plan = self.plan
        design, evidence = plan.pack.design, plan.evidence
        void = evidence.void_reason or evidence.tier is EvidenceTier.MEETS_TARGET
        cluster = design.units
        if void or cluster is None or cluster.icc is None:
            return None
        units = tuple(int(number) for number in assessment.units_in_arms(evidence.usable, design))

        def shown(design: Design, samples: int) -> float:
            return assessment.evidence_value(design, samples, evidence.effect, evidence.factor)

        def reaches(design: Design, samples: int) -> bool:
            return _meets_target(design, shown(design, samples))

        def holding(per_unit: int) -> tuple[Design, int]:
            changes: dict[str, object] = {
                "units": cluster.model_copy(update={"samples": float(per_unit)})
            }
            if len(units) > 1:
                # Whole units may be less even than the samples that a study may ask for.
                changes["arms"] = Arms.model_construct(share=units[0] / sum(units))
            return design.model_copy(update=changes), per_unit * sum(units)

        largest = LARGEST_PLANNED // sum(units)
        per_unit = sample_limits.fewest(lambda number: reaches(*holding(number)), 1, largest)
        samples = sample_limits.fewest(lambda n: reaches(design, n), 1, LARGEST_PLANNED)
        enough = tuple(int(number) for number in assessment.units_in_arms(samples, design))
        return UnitsLimit(
            units=units,
            most=shown(*holding(_NO_END)),
            per_unit=per_unit if per_unit <= largest else None,
            enough=enough if samples <= LARGEST_PLANNED else None,
        )

    @cached_property
    def by_correlation(self) -> dict[float, float]:
        """The evidence at the usual correlations and at the study's own; or empty."""
        plan = self.plan
        design, evidence = plan.pack.design, plan.evidence
        if design.units is None or design.baseline is not None:
            return {}
        values, number = {}, (evidence.usable, evidence.effect, evidence.factor)
        own = [] if design.units.icc is None else [design.units.icc]
        for icc in sorted({*CORRELATIONS, *own}):
            units = design.units.model_copy(update={"icc": icc})
            other = design.model_copy(update={"units": units})
            void = evidence.void_reason
            values[icc] = evidence.value if void else assessment.evidence_value(other, *number)
        return values


def _points(evidences: Iterable[tuple[float, assessment.Evidence]]) -> tuple[Point, ...]:
    return tuple(
        Point(x, evidence.value)
        for x, evidence in evidences
        if evidence.void_reason is None and math.isfinite(evidence.value)
    )


def _near(wanted: Iterable[float], shown: Sequence[float]) -> float:
    limit = max(shown)
    return max([limit, *(value for value in wanted if value <= limit * _AT_MOST_WIDER)])


def _spread(low: float, high: float) -> list[float]:
    step = (high - low) / (MOST_POINTS - 1)
    return [*(low + step * place for place in range(MOST_POINTS - 1)), high]


def _meets_target(design: Design, value: float) -> bool:
    return assessment.tier_of(design, value) is EvidenceTier.MEETS_TARGET


class UnitsWorth(NamedTuple):
    """The independent samples that a plan's samples are ``worth``."""

    design_effect: float  # the variance of a mean over that of independent samples
    worth: float


def units_worth(plan: assessment.Assessment, correlation: float) -> UnitsWorth | None:
    units, evidence = plan.pack.design.units, plan.evidence
    if units is None:
        return None
    remaining = samples_left(evidence.analysed, evidence.usable, units.samples)
    effect = design_effect(remaining, correlation)
    return UnitsWorth(effect, evidence.analysed / effect)
