"""A plan with interim looks: how large it may become, what it spends up to each look, and when.

`looked_at` says what a plan's own sample comes to with them, `with_looks` which sample keeps the
target. Neither is a part of the check, whose evidence is that without looks. In `with_looks` the
fixed sample is the one that the study's own formula needs for the target; the largest is the
smallest in whole groups whose information is that of the fixed one times the inflation, and each
look is rounded up to whole groups; a study with units is looked at when units of each arm are
whole. The bounds are those of the shares that these samples are, so
that the level is kept.

The samples between two looks are begun when the look before them is done, since a look saves only
what has not been begun: each batch takes the days in which its samples can count, and at least the
study's fewest.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from replicalab.assessment import (
    Assessment,
    Evidence,
    assess,
    counted_of,
    credits_needed,
    failing_text,
    placed_text,
    tier_of,
)
from replicalab.lexicon import count_text
from replicalab.measures import (
    KINDS,
    DesignParameters,
    arms_of,
    samples_of,
    units_of,
    whole_units,
)
from replicalab.measures.looks import (
    LEAST_ALPHA,
    MOST_ALPHA,
    MOST_POWER,
    SequentialTest,
    StoppingRule,
    sequential_test,
    stopping_rule,
)
from replicalab.measures.rows import Information
from replicalab.models import LARGEST_COUNT, revise
from replicalab.planner.limits import EvidenceCurve, fewest, largest_sample, most_looked_at
from replicalab.scenarios import Arms, Design, Looks, Pack

_MOST_TRIES: Final = 20
_MOST_UNITS: Final = 200  # So many more units of an arm, at most, until both arms are whole
_ROUNDING: Final = 1 - 1e-12


class NoLooks(StrEnum):
    """Why a plan can have no interim looks."""

    KIND = "kind"
    SUCCESS = "success"
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
        return _mean(self.analyses, of, effect=effect)

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


@dataclass(frozen=True)
class LookedAt:
    """A plan's own sample with the looks of its study, or of the visitor.

    Attributes:
        plan: as it is judged, without looks.
        power: the probability that one of the analyses is significant, at the effect that is
            planned for.
        worst: the plan if no look stops it, in the days that its batches take one after another.
        analyses: in their order; the last has all of the plan's samples, and at least its days.
    """

    plan: Assessment
    power: float
    worst: Assessment
    analyses: tuple[Analysis, ...]

    def mean(self, of: Callable[[Analysis], float], *, effect: bool) -> float:
        """Return what is expected of a number of the analyses, with the effect or without."""
        return _mean(self.analyses, of, effect=effect)

    @property
    def fits(self) -> bool:
        """Whether this lab can run the plan even if no look stops it."""
        return self.worst.feasible

    @property
    def evidence(self) -> Evidence:
        """What the plan shows with its looks, beside its own evidence, which is that without."""
        tier = tier_of(self.plan.pack.design, self.power)
        return replace(self.plan.evidence, value=self.power, tier=tier, is_looked_at=False)


def _mean(analyses: Sequence[Analysis], of: Callable[[Analysis], float], *, effect: bool) -> float:
    return sum((each.with_effect if effect else each.without) * of(each) for each in analyses)


def looked_at(plan: Assessment) -> LookedAt | NoLooks | None:
    """Return what a plan's own sample comes to with its looks, or why that is not worked out.

    The drift is the one at which a test without looks has the plan's evidence. None without looks,
    and where the plan shows nothing.
    """
    design, evidence = plan.pack.design, plan.evidence
    if design.looks is None or not design.is_looked_at or evidence.void_reason:
        return None
    information = _information_of(design)
    if isinstance(information, NoLooks):
        return information
    groups, looks, alpha = _Groups(plan, information), design.looks, _alpha(design)
    most = groups.told(evidence.able)
    if not most:
        return NoLooks.FEW
    sizes = [groups.reaching(share * most) for share in looks.analyses[:-1]]
    if not groups.are_apart([*sizes, evidence.able]):
        return NoLooks.FEW
    shares = (*(groups.told(size) / most for size in sizes), 1.0)
    rule = stopping_rule(looks.family, shares, alpha, gamma=looks.gamma)
    alone = stopping_rule(looks.family, (1.0,), alpha)
    drift = alone.drift_for(min(evidence.value, MOST_POWER), sides=None)
    power = min(evidence.value, sum(rule.crossings(drift)))
    *looked, last = _analyses(groups, (*sizes, evidence.able), rule, drift)
    # More may be planned than can count: they are paid for, and the plan's own days are kept.
    worst = assess(revise(plan.plan, duration_days=max(last.day, plan.counts.days)), plan.pack)
    last = last._replace(samples=plan.counts.samples, day=worst.counts.days, credits=worst.cost)
    return LookedAt(plan, power, worst, (*looked, last))


def placed_with_looks(plan: Assessment) -> str:
    """Return where a plan stands with its looks, after where it stands without; empty without any.

    ``with 1 look power 0.77, below the target of 0.80 but above the floor of 0.50``; of a plan
    that the lab could run without them also what fails if none of them stops it.
    """
    found, looks = looked_at(plan), plan.pack.design.looks
    if found is None or looks is None:
        return ""
    number = f"with {count_text(looks.interim, 'look')}"
    if isinstance(found, NoLooks):
        return f"{number} it is not worked out"
    fails = "" if found.fits or not plan.feasible else failing_text(found.worst.failing)
    late = f"; if no look stops it, {fails}" if fails else ""
    return f"{number} {placed_text(found.evidence)}{late}"


def _information_of(design: Design) -> Information | NoLooks:
    """Return what samples of a design tell, or why no looks are worked out for any of them."""
    information = KINDS[design.kind].information
    if information is None:
        return NoLooks.KIND
    if design.replication and not design.replication.is_test_at(design.alpha):
        return NoLooks.SUCCESS
    return information if LEAST_ALPHA <= _alpha(design) <= MOST_ALPHA else NoLooks.LEVEL


def _alpha(design: Design) -> float:
    return DesignParameters.by(design).alpha


def with_looks(plan: Assessment, looks: Looks | None = None) -> LooksPlan | NoLooks | None:
    """Return a plan with interim looks, or why it can have none.

    Args:
        plan: whose items, controls and substitutions are kept; its samples and days are not used.
        looks: which; None for those of the study or the visitor. None is returned without any.
    """
    looks = plan.pack.design.looks if looks is None else looks
    if looks is None or not looks.interim:
        return None
    design = plan.pack.design
    information = _information_of(design)
    if isinstance(information, NoLooks):
        return information
    if not _alpha(design) < design.target <= MOST_POWER:
        return NoLooks.POWER
    worth = EvidenceCurve(plan.pack, most_looked_at(plan.plan))
    fixed = worth.needed(0, plan.evidence_factor)
    if fixed is None:
        return NoLooks.TARGET
    groups = _Groups(plan, information)
    alone = -(-fixed // groups.each) * groups.each
    found = groups.sized(looks, alone)
    return found if isinstance(found, NoLooks) else _planned(looks, groups, alone, *found)


class _Groups(NamedTuple):
    """A plan's samples in whole groups: one of each, or whole units of each arm."""

    plan: Assessment
    information: Information

    @property
    def each(self) -> int:
        """How many samples one of each group are."""
        design = self.plan.pack.design
        return KINDS[design.kind].groups_of(design)

    def given(self, samples: int) -> DesignParameters:
        """Return what the formulas of the kind are given of so many samples."""
        return DesignParameters.by(self.plan.pack.design, self.plan.evidence_factor, samples)

    def counted(self, samples: int) -> int:
        """Return how many of so many samples are left."""
        return counted_of(self.plan.pack.design, samples)

    def told(self, samples: int) -> float:
        """Return the information of so many samples; 0 of too few for a test."""
        counted, given = self.counted(samples), self.given(samples)
        scale = KINDS[self.plan.pack.design.kind].normal
        if scale is None or not scale.can_test(scale.sizes(counted, given.event_share)):
            return 0.0
        return self.information.of(counted, given)

    def number(self, samples: int) -> int:
        """Return of how many of what a look waits for so many samples are."""
        return self.information.number(self.counted(samples), self.given(samples))

    def are_apart(self, sizes: Sequence[int]) -> bool:
        """Return whether each analysis has more to test than the one before it."""
        told, numbers = map(self.told, sizes), map(self.number, sizes)
        return all(one < later for each in (told, numbers) for one, later in pairwise(each))

    def whole(self, samples: int) -> int:
        """Return the fewest samples in whole groups, so many or more.

        Of a study with units they fill whole units in each arm; beyond what can be counted where
        unlike arms never do.
        """
        design, groups = self.plan.pack.design, -(-samples // self.each)
        if design.units is None:
            return groups * self.each
        per_unit = design.units.samples
        if not design.uneven:
            return whole_units(groups, per_unit) * self.each
        share = (design.arms or Arms()).share
        first = int(units_of(arms_of(samples, share)[0], per_unit))
        for units in range(first, first + _MOST_UNITS):
            filled = samples_of(units, per_unit)
            # Of few samples an arm has one more, or one fewer, than its share would round to.
            low, high = (filled - 1) / share, (filled + 1) / share
            for total in range(max(samples, math.floor(low)), math.ceil(high)):
                one, other = arms_of(total, share)
                if one == filled and other == whole_units(int(other), per_unit):
                    return total
        return LARGEST_COUNT + 1

    def reaching(self, goal: float) -> int:
        """Return the fewest samples in whole groups that have so much information."""
        return self.whole(fewest(lambda n: self.told(n) >= goal * _ROUNDING, 1, LARGEST_COUNT))

    def sized(self, looks: Looks, fixed: int) -> tuple[tuple[int, ...], SequentialTest] | NoLooks:
        """Return the samples at each analysis, and their test, beside so many without looks."""
        # The bounds depend on the shares, these on the whole groups, and how many groups there must
        # be on the bounds: a size or two more, at most, and all three agree.
        design, base = self.plan.pack.design, self.told(fixed)
        alpha, shares, last, sizes = _alpha(design), looks.analyses, 0, tuple[int, ...]()
        if not base:  # an exact test may be possible where its normal approximation is not
            return NoLooks.FEW
        for _ in range(_MOST_TRIES):
            rule = stopping_rule(looks.family, shares, alpha, gamma=looks.gamma)
            test = sequential_test(rule, alpha, design.target)
            goal = test.inflation * base
            if self.told(last) >= goal * _ROUNDING:
                # What rounding up adds makes the effect plainer.
                return sizes, test._replace(drift=test.drift * math.sqrt(self.told(last) / goal))
            last = self.reaching(goal)
            if last > LARGEST_COUNT:  # unlike arms are never whole
                return NoLooks.FEW
            sizes = tuple(self.reaching(share * self.told(last)) for share in looks.analyses)
            if not self.are_apart(sizes):
                return NoLooks.FEW
            shares = tuple(self.told(size) / self.told(last) for size in sizes)
        return NoLooks.FEW


def _planned(
    looks: Looks, groups: _Groups, alone: int, samples: tuple[int, ...], test: SequentialTest
) -> LooksPlan:
    plan, pack = groups.plan, groups.plan.pack
    analyses = _analyses(groups, samples, test.rule, test.drift)

    def sized(samples: int, days: int) -> Assessment:
        return assess(revise(plan.plan, sample_size=samples, duration_days=days), pack)

    return LooksPlan(
        looks,
        test,
        sized(alone, fewest_days(alone, pack)),
        sized(samples[-1], analyses[-1].day),
        analyses,
    )


def _analyses(
    groups: _Groups, samples: tuple[int, ...], rule: StoppingRule, drift: float
) -> tuple[Analysis, ...]:
    """Return the analyses at so many planned samples; one batch begins when the last is done."""
    plan, pack, test = groups.plan, groups.plan.pack, SequentialTest(rule, drift, 1.0)
    analyses, before, day = list[Analysis](), 0, 0
    ends = [test.ends(effect=effect) for effect in (False, True)]
    for planned, z, p, *chances in zip(samples, rule.bounds, test.levels, *ends, strict=True):
        day, before = day + fewest_days(planned - before, pack), planned
        spent = credits_needed(plan.counts._replace(samples=planned, days=day), pack)
        analyses.append(Analysis(planned, groups.number(planned), day, spent, z, p, *chances))
    return tuple(analyses)


def fewest_days(samples: int, pack: Pack) -> int:
    """Return in how many days so many samples can count: at least the study's fewest."""
    rate = pack.samples_per_day
    return pack.min_days if rate is None else max(pack.min_days, -(-samples // rate.value))
