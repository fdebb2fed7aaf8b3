"""The plan that ranks first by `least_loss.Rank` in a lab; the search is exact.

A *candidate* is a variant and the limits that it may exceed. The ends of all soft constraints cut
samples and days into *boxes*; all plans in a box miss the same number of soft constraints. Term by
term only the best candidates are kept. Branch and bound over the days then finds the numbers
closest to the study.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations, groupby, pairwise, product
from math import ceil, inf, isfinite
from typing import NamedTuple

from replicalab.assessment import Assessment, Counts, credits_needed, lab_limits
from replicalab.limits import LARGEST_PLANNED
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner.sample_limits import (
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
    exceeded: frozenset[str]
    box: CountBox
    fewest: int  # the fewest samples that must count
    most: int  # the most samples that count and fit the other limits
    missed: int = 0  # the soft constraints that all plans in the box miss


class SizedVariant(NamedTuple):
    """A variant with its numbers, and the terms of its rank after the evidence."""

    later_terms: tuple[float, ...]
    variant: PlanVariant
    samples: int
    days: int

    def plan(self, protocol: Protocol) -> Protocol:
        return self.variant.applied_to(protocol, sample_size=self.samples, duration_days=self.days)


class _Cell(NamedTuple):
    least: float
    most: float
    missed: int


_EvidenceTerm = Callable[[int, Candidate], float]


def _least_of(
    candidates: Iterable[Candidate], key: Callable[[Candidate], float]
) -> list[Candidate]:
    keyed = [(key(one), one) for one in candidates]
    minimum = min((value for value, _ in keyed), default=0.0)
    return [one for value, one in keyed if value == minimum]


@dataclass(frozen=True)
class PlanSearch:
    """The search for the first plan in the order, the cheapest, and the one with most evidence."""

    plan: Assessment
    variants: PlanVariants
    study: Assessment
    _limits: dict[tuple[frozenset[str], CountBox], CountLimits] = field(default_factory=dict)
    _most: dict[tuple[object, ...], int | None] = field(default_factory=dict)

    @cached_property
    def _curve(self) -> EvidenceCurve:
        return EvidenceCurve(self.plan.pack, most_looked_at(self.plan.plan))

    def closest(self) -> SizedVariant | None:
        """Return the first plan in the order; None if the lab has no day left."""
        study = step_of(self.study.evidence, self.plan.pack.design)
        return self._settled(
            self._best_to_fidelity, lambda n, one: max(study, self._evidence_term(n, one))
        )

    def cheapest(self) -> SizedVariant | None:
        pack = self.plan.pack
        fewest = (
            self._within(one).fewest(self._counts(one), one.fewest)
            for one in self._best_to_fidelity
        )
        budget = min(credits_needed(counts, pack) for counts in fewest) or sys.float_info.min
        lab = pack.in_lab(pack.lab.with_means(budget=budget))  # above zero
        return PlanSearch(self.plan.in_lab(lab), self.variants, self.study).closest()

    def strongest(self, wishes: int, loss: int) -> SizedVariant | None:
        """Return the passing plan with the most evidence, or None.

        It misses at most ``wishes`` soft constraints and loses at most ``loss`` fidelity.
        """
        passing = [one for one in self._candidates if not one.variant.failing | one.exceeded]
        gentle = [one for one in passing if one.variant.loss <= loss]
        boxed = [
            box for one in gentle for box in self._split_into_boxes(one) if box.missed <= wishes
        ]
        best = _least_of(boxed, lambda one: self._evidence_term(one.most, one))
        best = _least_of(_least_of(best, self._tier), lambda one: one.missed)
        return self._settled(_least_of(best, lambda one: one.variant.loss), self._evidence_term)

    @cached_property
    def _best_to_fidelity(self) -> list[Candidate]:
        best = _least_of(self._candidates, self._tier)
        best = _least_of(best, lambda one: one.box.days[1] < self.plan.pack.min_days)
        reaching = [one._replace(fewest=self._fewest_for_tier(one)) for one in best]
        boxed = [candidate for one in reaching for candidate in self._split_into_boxes(one)]
        best = _least_of(boxed, lambda one: one.missed)
        return _least_of(best, lambda one: one.variant.loss)

    @cached_property
    def _candidates(self) -> list[Candidate]:
        # No plan in the search exceeds the days of the lab, so the schedule never fails.
        lab, plan_days = self.plan.pack.lab.days_left, self.plan.counts.days
        spans = [CountBox(days=(max(1, min(self.plan.pack.min_days, lab)), lab))]
        if plan_days < spans[0].days[0]:
            spans.append(CountBox(days=(plan_days, plan_days)))
        keys = [*(key for key in lab_limits() if key != Dimension.SCHEDULE), Dimension.PROTOCOL]
        sets = [frozenset(s) for size in range(len(keys) + 1) for s in combinations(keys, size)]
        pairs = [(len(v.failing | up), v, up) for v in self.variants.listed for up in sets]
        for _, tied in groupby(sorted(pairs, key=lambda pair: pair[0]), lambda pair: pair[0]):
            candidates = [
                one
                for (_, variant, exceeded), box in product(tied, spans)
                if (one := self._candidate(variant, exceeded, box)) is not None
            ]
            if candidates:
                return candidates
        return []

    def _candidate(
        self, variant: PlanVariant, exceeded: frozenset[str], box: CountBox
    ) -> Candidate | None:
        sound = Dimension.PROTOCOL not in exceeded
        allowed = self._curve.allowed(variant.factor) if sound else 0
        if allowed is None:
            return None
        one = Candidate(variant, exceeded, box, allowed, 0)
        limit = self._most_that_count(one)
        return one._replace(most=limit) if limit is not None and limit >= allowed else None

    def _most_that_count(self, one: Candidate) -> int | None:
        counts = self._counts(one)
        key = counts, one.exceeded, one.box  # most variants share their counts with others
        if key not in self._most:
            self._most[key] = self._within(one).most_that_count(counts, self._curve.most)
        return self._most[key]

    def _counts(self, one: Candidate) -> Counts:
        return one.variant.counts(self.plan.counts)

    def _within(self, one: Candidate) -> CountLimits:
        key = one.exceeded, one.box
        if key not in self._limits:
            self._limits[key] = CountLimits(self.plan.pack, *key)
        return self._limits[key]

    def _tier(self, one: Candidate) -> int:
        return self._curve.tier(one.most, one.variant.factor)

    def _evidence_term(self, samples: int, one: Candidate) -> float:
        return self._curve.step(samples, one.variant.factor)

    def _fewest_for_tier(self, one: Candidate) -> int:
        return max(one.fewest, self._curve.needed(self._tier(one), one.variant.factor) or 0)

    def _split_into_boxes(self, one: Candidate) -> Iterator[Candidate]:
        wishes = (w for w in self.plan.pack.limits if not w.hard and w.number is Bounds.EVIDENCE)
        counts = [self._curve.fewest([wish], one.variant.factor) for wish in wishes]
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

    def _settled(self, candidates: Iterable[Candidate], step: _EvidenceTerm) -> SizedVariant | None:
        best = _least_of(candidates, lambda one: step(one.most, one))
        plans = (plan for one in best for plan in self._with_numbers(one, step))
        return min(plans, key=lambda plan: plan.later_terms, default=None)

    def _with_numbers(self, one: Candidate, step: _EvidenceTerm) -> Iterator[SizedVariant]:
        pack, limits, best_term = self.plan.pack, self._within(one), step(one.most, one)
        before, study = self.plan.counts, self.study.counts
        counting = fewest(lambda n: step(n, one) <= best_term, self._fewest_for_tier(one), one.most)
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
        # No plan of an interval cuts less than its most days with the samples of its fewest days.
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
                    later_terms = (
                        cut(samples, days),
                        len(one.variant.fields) + changes,
                        credits_needed(minimum._replace(samples=samples, days=days), pack),
                        -min(samples, study.samples),
                        -min(days, study.days),
                    )
                    yield SizedVariant(later_terms, one.variant, samples, days)


@dataclass(frozen=True)
class SharedSearch:
    """The search for plans that are good in several labs, or at several assumptions, at once.

    ``plans`` holds one plan in each lab, ``studies`` the study's protocol in each. Items and their
    relative prices must be the same in all labs.
    """

    plans: Sequence[Assessment]
    studies: Sequence[Assessment]
    variants: PlanVariants

    def candidates(self) -> Iterator[tuple[Assessment, ...]]:
        """Yield plans, each assessed in every lab; one is best for any trade-off between labs.

        More samples up to the study's are better everywhere while they miss the same soft
        constraints and fit the same labs. More samples than the study's help only if they gain
        evidence, and more days only if the samples need them.
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
    """Yield the samples beyond the study's that reach a tier or constraint, or gain evidence."""
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
