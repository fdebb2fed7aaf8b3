"""The plan for the same lab that is closest to the study by `least_loss.Rank`, found exactly.

A *candidate* is a variant with a set of limits *given up*. The ends of all soft constraints cut
samples and days into *boxes*, in each of which equally many are missed. Branch and bound over the
days finds the numbers closest to the study.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations, groupby, pairwise, product
from math import ceil, inf, isfinite
from typing import NamedTuple

from replicalab.assessment import Assessment, Counts, amounts, credits_needed
from replicalab.limits import LARGEST_PLANNED
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner.limits import (
    CountBox,
    CountLimits,
    EvidenceCurve,
    fewest,
    largest,
    most_looked_at,
    step_of,
)
from replicalab.planner.variants import PlanVariant, PlanVariants
from replicalab.scenarios import Bounds, hard_range


class Candidate(NamedTuple):
    """A variant, the limits that it may exceed, and the box of its numbers."""

    variant: PlanVariant
    given_up: frozenset[str]
    box: CountBox
    fewest: int  # the fewest samples that must count
    most: int  # the most samples that count and fit the other limits
    missed: int = 0  # the soft constraints that all plans in the box miss


class Settled(NamedTuple):
    """A variant with its numbers, and the terms of its rank after the evidence."""

    rest: tuple[float, ...]
    variant: PlanVariant
    samples: int
    days: int

    def plan(self, protocol: Protocol) -> Protocol:
        return self.variant.applied_to(protocol, sample_size=self.samples, duration_days=self.days)


class _Cell(NamedTuple):
    least: float
    most: float
    missed: int


_Step = Callable[[int, Candidate], float]


def _least_of(
    candidates: Iterable[Candidate], key: Callable[[Candidate], float]
) -> list[Candidate]:
    keyed = [(key(one), one) for one in candidates]
    minimum = min((value for value, _ in keyed), default=0.0)
    return [one for value, one in keyed if value == minimum]


@dataclass(frozen=True)
class PlanSearch:
    """The search for the first plan in the order, and its extreme relatives, in one lab."""

    plan: Assessment
    variants: PlanVariants
    study: Assessment
    _limits: dict[tuple[frozenset[str], CountBox], CountLimits] = field(default_factory=dict)
    _most: dict[tuple[object, ...], int | None] = field(default_factory=dict)

    @cached_property
    def _worth(self) -> EvidenceCurve:
        return EvidenceCurve(self.plan.pack, most_looked_at(self.plan.plan))

    def closest(self) -> Settled | None:
        """Return the first plan in the order; None if the lab has no day left."""
        study = step_of(self.study.evidence, self.plan.pack.design)
        return self._settled(self._gentlest, lambda n, one: max(study, self._step(n, one)))

    def cheapest(self) -> Settled | None:
        pack = self.plan.pack
        fewest = (self._within(one).fewest(self._counts(one), one.fewest) for one in self._gentlest)
        budget = min(credits_needed(counts, pack) for counts in fewest) or sys.float_info.min
        lab = pack.in_lab(pack.lab.with_means(budget=budget))  # above zero
        return PlanSearch(self.plan.in_lab(lab), self.variants, self.study).closest()

    def strongest(self, wishes: int, loss: int) -> Settled | None:
        """Return the passing plan with the most evidence within these limits, or None."""
        passing = [one for one in self._candidates if not one.variant.failing | one.given_up]
        gentle = [one for one in passing if one.variant.loss <= loss]
        boxed = [box for one in gentle for box in self._boxed(one) if box.missed <= wishes]
        best = _least_of(boxed, lambda one: self._step(one.most, one))
        best = _least_of(_least_of(best, self._tier), lambda one: one.missed)
        return self._settled(_least_of(best, lambda one: one.variant.loss), self._step)

    @cached_property
    def _gentlest(self) -> list[Candidate]:
        best = _least_of(self._candidates, self._tier)
        best = _least_of(best, lambda one: one.box.days[1] < self.plan.pack.min_days)
        reaching = [one._replace(fewest=self._reaching(one)) for one in best]
        boxed = [candidate for one in reaching for candidate in self._boxed(one)]
        best = _least_of(boxed, lambda one: one.missed)
        return _least_of(best, lambda one: one.variant.loss)

    @cached_property
    def _candidates(self) -> list[Candidate]:
        # Days are searched up to those of the lab, so that the schedule is always kept.
        lab, plan_days = self.plan.pack.lab.days_left, self.plan.counts.days
        spans = [CountBox(days=(max(1, min(self.plan.pack.min_days, lab)), lab))]
        if plan_days < spans[0].days[0]:
            spans.append(CountBox(days=(plan_days, plan_days)))
        keys = [*(key for key in amounts() if key != Dimension.SCHEDULE), Dimension.PROTOCOL]
        sets = [frozenset(s) for size in range(len(keys) + 1) for s in combinations(keys, size)]
        pairs = [(len(v.failing | up), v, up) for v in self.variants.listed for up in sets]
        for _, tied in groupby(sorted(pairs, key=lambda pair: pair[0]), lambda pair: pair[0]):
            candidates = [
                one
                for (_, variant, given_up), box in product(tied, spans)
                if (one := self._candidate(variant, given_up, box)) is not None
            ]
            if candidates:
                return candidates
        return []

    def _candidate(
        self, variant: PlanVariant, given_up: frozenset[str], box: CountBox
    ) -> Candidate | None:
        sound = Dimension.PROTOCOL not in given_up
        allowed = self._worth.allowed(variant.factor) if sound else 0
        if allowed is None:
            return None
        one = Candidate(variant, given_up, box, allowed, 0)
        limit = self._most_that_count(one)
        return one._replace(most=limit) if limit is not None and limit >= allowed else None

    def _most_that_count(self, one: Candidate) -> int | None:
        counts = self._counts(one)
        key = counts, one.given_up, one.box  # of thousands of variants most share their counts
        if key not in self._most:
            self._most[key] = self._within(one).most_that_count(counts, self._worth.most)
        return self._most[key]

    def _counts(self, one: Candidate) -> Counts:
        return one.variant.counts(self.plan.counts)

    def _within(self, one: Candidate) -> CountLimits:
        key = one.given_up, one.box
        if key not in self._limits:
            self._limits[key] = CountLimits(self.plan.pack, *key)
        return self._limits[key]

    def _tier(self, one: Candidate) -> int:
        return self._worth.tier(one.most, one.variant.factor)

    def _step(self, samples: int, one: Candidate) -> float:
        return self._worth.step(samples, one.variant.factor)

    def _reaching(self, one: Candidate) -> int:
        return max(one.fewest, self._worth.needed(self._tier(one), one.variant.factor) or 0)

    def _boxed(self, one: Candidate) -> Iterator[Candidate]:
        wishes = (w for w in self.plan.pack.limits if not w.hard and w.number is Bounds.EVIDENCE)
        counts = [self._worth.fewest([wish], one.variant.factor) for wish in wishes]
        levels = [inf if count is None else count for count in counts]
        for samples, days in product(self._cells(Bounds.SAMPLES), self._cells(Bounds.DAYS)):
            span = max(days.least, one.box.days[0]), min(days.most, one.box.days[1])
            boxed = one._replace(box=CountBox(samples[:2], span))
            limit = self._most_that_count(boxed) if span[0] <= span[1] else None
            if limit is not None and limit >= one.fewest:
                reached = [level for level in levels if level <= limit]
                missed = samples.missed + days.missed + len(levels) - len(reached)
                low = int(max([one.fewest, *reached]))
                yield boxed._replace(fewest=low, most=limit, missed=missed)

    def _cells(self, number: Bounds) -> list[_Cell]:
        wishes = [w for w in self.plan.pack.limits if not w.hard and w.number is number]
        ends = {-inf, inf, *(end for wish in wishes for end in (wish.least, wish.most + 1))}
        planned = self.plan.counts.days if number is Bounds.DAYS else self.plan.counts.samples
        limit = max(LARGEST_PLANNED, planned, hard_range(self.plan.pack.limits, number)[0])
        return [
            _Cell(minimum, beyond - 1, sum(not wish.allows(minimum) for wish in wishes))
            for minimum, beyond in pairwise(sorted(ends))
            if minimum <= limit
        ]

    def _settled(self, candidates: Iterable[Candidate], step: _Step) -> Settled | None:
        best = _least_of(candidates, lambda one: step(one.most, one))
        plans = (plan for one in best for plan in self._numbered(one, step))
        return min(plans, key=lambda plan: plan.rest, default=None)

    def _numbered(self, one: Candidate, step: _Step) -> Iterator[Settled]:
        pack, limits, most_shown = self.plan.pack, self._within(one), step(one.most, one)
        before, study = self.plan.counts, self.study.counts
        counting = fewest(lambda n: step(n, one) <= most_shown, self._reaching(one), one.most)
        minimum = limits.fewest(self._counts(one), counting)

        def fits(samples: int, days: int) -> bool:
            return limits.allows(minimum._replace(samples=samples, days=days))

        @cache
        def most(days: int) -> int:
            top = max(minimum.samples, study.samples)
            return largest(lambda n: fits(n, days), minimum.samples, top) or int(minimum.samples)

        def cut(samples: int, days: int) -> int:
            fewer, shorter = max(0, study.samples - samples), max(0, study.days - days)
            return int(fewer * max(1, study.days) + shorter * max(1, study.samples))

        top = int(max(minimum.days, study.days))
        # No plan of an interval is closer than its longest days with the samples of its shortest.
        longest = largest(lambda days: fits(minimum.samples, days), minimum.days, top)
        spans, closest = [(minimum.days, longest or minimum.days)], inf
        while spans:
            low, high = spans.pop()
            if cut(most(low), high) > closest:
                continue
            if low < high:
                middle = (low + high) // 2
                spans += [(low, middle), (middle + 1, high)]
                continue
            closest = cut(most(low), low)
            counts = {most(low), max(most(low), before.samples)}
            for samples, days in product(counts, {low, max(low, before.days)}):
                if fits(samples, days):
                    changes = (samples != before.samples) + (days != before.days)
                    rest = (
                        cut(samples, days),
                        len(one.variant.fields) + changes,
                        credits_needed(minimum._replace(samples=samples, days=days), pack),
                        -min(samples, study.samples),
                        -min(days, study.days),
                    )
                    yield Settled(rest, one.variant, samples, days)


@dataclass(frozen=True)
class SharedSearch:
    """The search for plans that are good in several labs, or at several assumptions, at once.

    ``plans`` are one plan and ``studies`` the study's own in each; items and their relative
    prices must be the same in all.
    """

    plans: Sequence[Assessment]
    studies: Sequence[Assessment]
    variants: PlanVariants

    def candidates(self) -> Iterator[tuple[Assessment, ...]]:
        """Yield the plans, each in all labs, one of which is best for any trade-off between them.

        More samples up to the study's are better everywhere while they miss the same soft
        constraints and fit the same labs. Beyond, only those help that gain evidence, and days
        beyond the study's only if a sample needs them.
        """
        plan, study, pack = self.plans[0], self.studies[0].counts, self.plans[0].pack
        limits = [CountLimits(one.pack) for one in self.plans]
        ends_of_samples, ends_of_days = map(self._ends, (Bounds.SAMPLES, Bounds.DAYS))
        gains: dict[float, set[int]] = {}
        curves = [EvidenceCurve(one.pack, most_looked_at(plan.plan)) for one in self.plans]
        for variant in self.variants.listed:
            if variant.failing:
                continue
            counts, factor = variant.counts(plan.counts), variant.factor
            if factor not in gains:
                pairs = zip(curves, self.studies, strict=True)
                gains[factor] = {n for pair in pairs for n in _gains(*pair, factor)}
            fixed = {plan.counts.samples, study.samples, counts.controls + 1}
            fixed |= ends_of_samples | gains[factor]
            longest = max(study.days, plan.counts.days, pack.min_days, *ends_of_days)
            if rate := pack.samples_per_day:
                longest = max(longest, -(-max(fixed) // rate.value))
            longest = min(longest, max(limit.days[1] for limit in limits))
            worded = variant.applied_to(plan.plan)
            alike = [one.revised(worded) for one in self.plans]
            for days in range(pack.min_days, longest + 1):
                at = counts._replace(days=days)
                most = {self._most(limit, at) for limit in limits}
                for samples in sorted(n for n in fixed | most if 0 < n <= max(most)):
                    numbers = {"sample_size": samples, "duration_days": days}
                    yield tuple(one.revised(revise(worded, **numbers)) for one in alike)

    def _most(self, limits: CountLimits, counts: Counts) -> int:
        top = most_looked_at(self.plans[0].plan)
        fits = largest(lambda n: limits.affords(counts._replace(samples=n)), 1, top)
        return fits or 0

    def _ends(self, number: Bounds) -> set[int]:
        of_number = (limit for limit in self.plans[0].pack.limits if limit.number is number)
        ends = (end for limit in of_number for end in (limit.least, limit.most + 1))
        return {ceil(end) - step for end in ends if isfinite(end) for step in (0, 1)}


def _gains(worth: EvidenceCurve, study: Assessment, factor: float) -> Iterator[int]:
    """Yield the numbers of samples beyond the study's at which the evidence counts for more."""
    design, limits = worth.pack.design, worth.pack.limits
    firsts = [worth.needed(tier, factor) for tier in (0, 1)]
    firsts += [worth.fewest([one], factor) for one in limits if one.number is Bounds.EVIDENCE]
    samples, enough = study.counts.samples, step_of(study.evidence, design)
    yield from (first for first in firsts if first and first > samples)

    def next_gain(samples: int) -> int:
        now = worth.step(samples, factor)
        return fewest(lambda n: worth.step(n, factor) < now, samples + 1, worth.most)

    while samples <= worth.most and worth.step(samples, factor) > enough:
        samples = next_gain(samples)
        yield samples
