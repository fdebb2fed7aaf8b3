"""A plan with interim looks: how large it may become, what it spends up to each look, and when.

It stands beside a plan as an alternative and is no part of the check. The fixed sample is the one
that the study's own formula needs for the target; the largest is the smallest in whole groups whose
information is that of the fixed one times the inflation, and each look is rounded up to whole
groups. The bounds are those of the shares that these samples are, so that the level is kept.

The samples between two looks are begun when the look before them is done, since a look saves only
what has not been begun: each batch takes the days in which its samples can count, and at least the
study's fewest.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from replicalab.assessment import Assessment, assess, counted_of, credits_needed
from replicalab.measures import KINDS, DesignParameters
from replicalab.measures.looks import (
    LEAST_ALPHA,
    MOST_ALPHA,
    MOST_POWER,
    SequentialTest,
    sequential_test,
    stopping_rule,
)
from replicalab.measures.rows import Information
from replicalab.models import LARGEST_COUNT, revise
from replicalab.planner.limits import EvidenceCurve, fewest, largest_sample, most_looked_at
from replicalab.scenarios import Looks, Pack

_MOST_TRIES: Final = 20
_ROUNDING: Final = 1 - 1e-12


class NoLooks(StrEnum):
    """Why a plan can have no interim looks."""

    KIND = "kind"
    TARGET = "target"
    LEVEL = "level"
    POWER = "power"
    FEW = "few"


class Analysis(NamedTuple):
    """One analysis of a plan with looks; the last of them is the final one.

    Attributes:
        samples: planned up to it.
        number: of what the look waits for, such as events, once dropout has taken its share.
        day: of the plan, the first being day 1.
        credits: spent up to it.
        z, p: significant beyond this z, or below this two-sided p.
        without, with_effect: the probability of ending there, if there is no effect and if there
            is the one that is planned for.
    """

    samples: int
    number: int
    day: int
    credits: float
    z: float
    p: float
    without: float
    with_effect: float


@dataclass(frozen=True)
class LooksPlan:
    """A plan with interim looks beside the one that has the same power without.

    Attributes:
        looks: as they were chosen.
        test: the test, whose shares are those of the samples in whole groups.
        fixed: the plan without looks that reaches the target, in its fewest days.
        worst: the plan that no look stops.
        analyses: in their order.
    """

    looks: Looks
    test: SequentialTest
    fixed: Assessment
    worst: Assessment
    analyses: tuple[Analysis, ...]

    def mean(self, of: Callable[[Analysis], float], *, effect: bool) -> float:
        """Return what is expected of a number of the analyses, with the effect or without."""
        return sum(
            (each.with_effect if effect else each.without) * of(each) for each in self.analyses
        )

    @property
    def fits(self) -> bool:
        """Whether this lab can run the plan even if no look stops it, and all its samples count."""
        return self.worst.feasible and self.worst.evidence.able >= self.worst.counts.samples

    @cached_property
    def over(self) -> int | None:
        """How many samples the plan has at worst beyond the most that the means allow.

        0 where it has none beyond; None where not even one fits.
        """
        most = largest_sample(self.worst.plan, self.worst.pack)
        return None if most is None else max(0, self.worst.counts.samples - most)


def with_looks(plan: Assessment, looks: Looks | None = None) -> LooksPlan | NoLooks | None:
    """Return a plan with interim looks, or why it can have none.

    Args:
        plan: whose items, controls and substitutions are kept; its samples and days are not used.
        looks: which; None for those of the study or the visitor. None is returned without any.
    """
    looks = plan.pack.design.looks if looks is None else looks
    if looks is None or not looks.interim:
        return None
    design, information = plan.pack.design, KINDS[plan.pack.design.kind].information
    alpha = design.alpha or 0.0
    if information is None:
        return NoLooks.KIND
    if not LEAST_ALPHA <= alpha <= MOST_ALPHA:
        return NoLooks.LEVEL
    if not alpha < design.target <= MOST_POWER:
        return NoLooks.POWER
    worth = EvidenceCurve(plan.pack, most_looked_at(plan.plan, plan.pack))
    fixed = worth.needed(0, plan.evidence_factor)
    if fixed is None:
        return NoLooks.TARGET
    groups = _Groups(plan, information)
    found = groups.sized(looks, -(-fixed // groups.each))
    return found if isinstance(found, NoLooks) else _planned(looks, groups, *found)


class _Groups(NamedTuple):
    """A plan's samples as whole groups: so many of them are one of each group."""

    plan: Assessment
    information: Information

    @property
    def each(self) -> int:
        """How many samples one of each group are."""
        design = self.plan.pack.design
        return KINDS[design.kind].groups_of(design)

    def given(self, size: int) -> DesignParameters:
        """Return what the formulas of the kind are given of so many of each group."""
        design = self.plan.pack.design
        return DesignParameters.by(design, self.plan.evidence_factor, size * self.each)

    def counted(self, size: int) -> int:
        """Return how many samples are left of so many of each group."""
        return counted_of(self.plan.pack.design, size * self.each)

    def worth(self, size: int) -> float:
        """Return the information of so many of each group."""
        counted = self.counted(size)
        return self.information.of(counted, self.given(size)) if counted else 0.0

    def reaching(self, goal: float) -> int:
        """Return the fewest of each group that have so much information."""
        most = LARGEST_COUNT // self.each
        return fewest(lambda size: self.worth(size) >= goal * _ROUNDING, 1, most)

    def sized(
        self, looks: Looks, fixed: int
    ) -> tuple[int, tuple[int, ...], SequentialTest] | NoLooks:
        """Return the sizes of each group without looks and at each analysis, and their test."""
        # The bounds depend on the shares, these on the whole groups, and how many groups there must
        # be on the bounds: a size or two more, at most, and all three agree.
        design, base = self.plan.pack.design, self.worth(fixed)
        alpha, shares, last, sizes = design.alpha or 0.0, looks.analyses, 0, tuple[int, ...]()
        if not base:  # an exact test may be possible where its normal approximation is not
            return NoLooks.FEW
        for _ in range(_MOST_TRIES):
            rule = stopping_rule(looks.family, shares, alpha, gamma=looks.gamma)
            test = sequential_test(rule, alpha, design.target)
            goal = test.inflation * base
            if last and self.worth(last) >= goal * _ROUNDING:
                return fixed, sizes, test
            last = max(last + 1, self.reaching(goal))
            if last * self.each > LARGEST_COUNT:
                return NoLooks.TARGET
            sizes = tuple(self.reaching(share * self.worth(last)) for share in looks.analyses)
            shares = tuple(self.worth(size) / self.worth(last) for size in sizes)
            if not shares[0] or any(one >= later for one, later in pairwise(shares)):
                return NoLooks.FEW
        return NoLooks.FEW


def _planned(
    looks: Looks, groups: _Groups, fixed: int, sizes: tuple[int, ...], test: SequentialTest
) -> LooksPlan:
    plan, pack = groups.plan, groups.plan.pack
    analyses, before, day = list[Analysis](), 0, 0
    ends = [test.ends(effect=effect) for effect in (False, True)]
    for size, z, p, *chances in zip(sizes, test.rule.bounds, test.levels, *ends, strict=True):
        samples = size * groups.each
        day, before = day + fewest_days(samples - before, pack), samples
        number = groups.information.number(groups.counted(size), groups.given(size))
        spent = credits_needed(plan.counts._replace(samples=samples, days=day), pack)
        analyses.append(Analysis(samples, number, day, spent, z, p, *chances))

    def sized(samples: int, days: int) -> Assessment:
        return assess(revise(plan.plan, sample_size=samples, duration_days=days), pack)

    alone = fixed * groups.each
    return LooksPlan(
        looks, test, sized(alone, fewest_days(alone, pack)), sized(before, day), tuple(analyses)
    )


def fewest_days(samples: int, pack: Pack) -> int:
    """Return in how many days so many samples can count: at least the study's fewest."""
    rate = pack.samples_per_day
    return max(1, pack.min_days, math.ceil(samples / rate.value) if rate else 1)
