"""The kinds of design: one row for each, and everything that depends on the kind read from it.

Nothing outside this file asks for a certain kind. Where another goes: docs/architecture.md, To add.

Sources: Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapters 2, 3, 6
and 8, with the exact noncentral t and F in place of his tables; Gurland (1968), Journal of the
Royal Statistical Society B 30, 346-356; Kupper & Hafner (1989), The American Statistician 43,
101-105; Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680; Schoenfeld
(1981), Biometrika 68, 316-319.
"""

import math
import operator
from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import lru_cache, partial
from typing import Any, Final

from replicalab.designs import normal_scales, reported, sketches
from replicalab.designs.correlation import correlation_power, correlation_wrong_sign
from replicalab.designs.distributions import (
    detection_probability,
    f_test_power,
    least_reaching,
    scale_quantile,
    t_critical,
    t_test_power,
    t_test_wrong_sign,
    tost_power,
    z_critical,
    z_test_power,
)
from replicalab.designs.rows import (
    AS_PUBLISHED,
    LARGEST,
    DesignParameters,
    Effect,
    Given,
    Information,
    Kind,
    Ratio,
)
from replicalab.designs.scales import HALF_WIDTH, PERCENT
from replicalab.designs.shares import largest_h, least_h, shares_power

Number = Any  # A number, or an array of numbers

LEAST_SHARE: Final = 0.05  # The least share of the samples that is in an arm

LEAST_UNITS: Final = 2  # With fewer units in an arm nothing tells treatment and unit apart

# A quotient that only rounding has lifted above a whole number is that number.
_ROUNDING: Final = 1e-9


def arms_of(n: Number, share: float) -> tuple[Number, Number]:
    """Return how many of ``n`` samples are in the first arm and in the second.

    The first has its share, rounded, a half down; from two samples on each has one at least.
    Neither falls when ``n`` grows.
    """
    first = -((0.5 - share * n) // 1)
    # The comparisons count as numbers, so that arrays can be worked out as well.
    first = first + (n > 1) * (1 * (first < 1) - 1 * (first >= n))
    return first, n - first


def units_of(n: Number, per_unit: float) -> Number:
    """Return how many units so many samples take, the last one perhaps partly filled."""
    units = -((_ROUNDING - n / per_unit) // 1)
    # One sample of 10^9 in a unit is no more than the rounding.
    return units + (n > 0) * (units < 1)


def samples_of(units: int, per_unit: float) -> int:
    """Return the most samples that so many units hold."""
    return math.floor(units * per_unit * (1 + _ROUNDING))


def whole_units(n: int, per_unit: float) -> int:
    """Return the fewest samples, ``n`` or more, that fill whole units."""
    return samples_of(int(units_of(n, per_unit)), per_unit)


def units_left(counted: Number, planned: Number, per_unit: float) -> Number:
    """Return how many units of the planned samples hold one that counts, at the most."""
    return min(units_of(planned, per_unit), counted)


def samples_left(counted: int, planned: int, per_unit: float) -> float:
    """Return how many samples of a unit count on average, at least 1."""
    return max(1.0, per_unit * (counted / planned)) if planned else 1.0


def design_effect(per_unit: float, correlation: float) -> float:
    """Return by how much the variance of a mean exceeds that of independent samples."""
    return 1 + (per_unit - 1) * correlation


class DesignKind(StrEnum):
    """Which evidence a study reports at n."""

    TWO_GROUP = "two_group"
    PAIRED = "paired"
    ONE_SAMPLE = "one_sample"
    CORRELATION = "correlation"
    TWO_PROPORTIONS = "two_proportions"
    AUDIT = "audit"
    COVERAGE = "coverage"
    PRECISION = "precision"
    ANOVA = "anova"
    EQUIVALENCE = "equivalence"
    SURVIVAL = "survival"


_TTest = Callable[[float, int, float], float]
_EVEN: Final = 0.5
# --- the formulas -----------------------------------------------------------------------------


def _root_of_arms(n: int, given: DesignParameters) -> float:
    """Return the root of the effective size of two arms, samples in units counted by their worth.

    0 where an arm has too few units for a test.
    """
    if given.icc is None:
        first, second = arms_of(n, given.share)
        return math.sqrt(first * second / n)
    one, other = (_worth(*arm, given) for arm in _arms(n, given))
    return math.sqrt(one * other / (one + other)) if one and other else 0.0


def _arms(n: int, given: DesignParameters) -> Iterator[tuple[int, int]]:
    """Yield how many samples of each of two arms count, and how many were planned."""
    arms = (arms_of(each, given.share) for each in (n, _planned(n, given)))
    return zip(*arms, strict=True)


def _planned(n: int, given: DesignParameters) -> int:
    return n if given.planned is None else given.planned


def _units(n: int, planned: int, given: DesignParameters) -> int:
    """Return how many units vary on their own: samples, where no correlation says otherwise."""
    return int(n if given.icc is None else units_left(n, planned, given.per_unit))


def _worth(n: int, planned: int, given: DesignParameters) -> float:
    """Return how many independent samples those of one group are worth; 0 in too few units."""
    if given.icc is None:
        return n
    if _units(n, planned, given) < LEAST_UNITS:
        return 0.0
    left = samples_left(n, planned, given.per_unit)
    return n / design_effect(left, given.icc)


def _two_group(n: int, size: float, given: DesignParameters) -> float:
    root, units = _root_of_arms(n, given), n
    if given.icc is not None:
        units = sum(_units(*arm, given) for arm in _arms(n, given))
    return t_test_power(size * root, units - 2, given.alpha) if root and units > 2 else 0.0


def _one_group(n: int, size: float, given: DesignParameters, test: _TTest = t_test_power) -> float:
    planned = _planned(n, given)
    worth, units = _worth(n, planned, given), _units(n, planned, given)
    return test(size * math.sqrt(worth), units - 1, given.alpha) if units > 1 else 0.0


def _worth_of_one(n: int, given: DesignParameters) -> float:
    return _worth(n, _planned(n, given), given)


def _correlation(n: int, size: float, given: DesignParameters) -> float:
    """Return the power of the t-test of r; of alike samples by Fisher's z, at their worth."""
    if not given.icc or given.per_unit == 1:
        return correlation_power(n, size, given.alpha)
    worth = _worth_of_one(n, given) - 3
    return z_test_power(math.atanh(size) * math.sqrt(worth), given.alpha) if worth > 0 else 0.0


def _two_proportions(n: int, size: float, given: DesignParameters) -> float:
    if given.baseline is not None:
        return shares_power(n, size, given.baseline, given.alpha)
    root = _root_of_arms(n, given)
    return z_test_power(size * root, given.alpha) if root else 0.0


def _least_of_shares(n: int, target: float, given: DesignParameters) -> float | None:
    if given.baseline is not None:
        return least_h(n, target, given.baseline, given.alpha)
    return least_reaching(lambda size: _two_proportions(n, size, given), target, LARGEST)


def _share_misfit(effect: float, given: DesignParameters) -> str:
    """Return why the test of two shares cannot be worked out, empty where it can."""
    if given.baseline is None:
        return ""
    if given.icc is not None or given.share != _EVEN:
        return (
            f"a baseline of {given.baseline:g} needs two equal groups of independent samples; "
            "leave it out, or units and arms"
        )
    if effect <= (most := largest_h(given.baseline)):
        return ""
    return (
        f"effect_planning is {effect:g}, and no share lies so far below the baseline of "
        f"{given.baseline:g}; assume at most {most:.4g}, or give the higher of both shares"
    )


def _precision(n: int, size: float, given: DesignParameters) -> float:
    """Return the half-width of an interval: with an assurance, what it is at most with it."""
    root = math.sqrt(n)
    if given.assurance is None:
        return z_critical(given.alpha) * size / root
    if n < 2:
        return math.inf
    return t_critical(n - 1, given.alpha) * size * scale_quantile(given.assurance, n - 1) / root


def _anova(n: int, size: float, given: DesignParameters) -> float:
    """Return the power of as many equal groups as ``n`` fills; what is left over cannot help."""
    per_group = n // given.groups
    if per_group < 2:
        return 0.0
    root = size * math.sqrt(given.groups * per_group)
    return f_test_power(root, given.groups - 1, given.groups * (per_group - 1), given.alpha)


# Of two groups together: among these sizes is the luckiest of those that are too small.
_FEW: Final = range(3, 9)
_RARE: Final = 0.1
_LIKELY: Final = 0.5
# So many samples at most until the smaller arm has one more: its first is rounded up, or down.
_STEP: Final = math.ceil(1.5 / LEAST_SHARE)


def _equivalence(n: int, size: float, given: DesignParameters) -> float:
    """Return the power of two one-sided tests, or of fewer samples where that is higher."""
    # Far below the sample that is needed, both tests reject only if the SD comes out far too small
    # by chance; that is likelier with three samples than with ten, at most by 0.02, and never where
    # the power exceeds twice alpha, or of unequal arms 0.1, or at a large alpha a half. Samples can
    # be left out, so that more are never worth less.
    power, is_uneven = _two_one_sided(n, size, given), given.share != _EVEN
    if power >= min(max(2 * given.alpha, _RARE * is_uneven), _LIKELY):
        return power
    fewer = [few for few in _FEW if few < n]
    if is_uneven:
        # Of unequal arms the larger alone grows most of the time, and the chance is less with each.
        fewer += range(max(3, n - _STEP), n)
    return max(power, *(_two_one_sided(few, size, given) for few in fewer), 0.0)


@lru_cache(maxsize=8192)
def _two_one_sided(n: int, size: float, given: DesignParameters) -> float:
    if n < 3:
        return 0.0
    root = _root_of_arms(n, given)
    near, far = (given.margin - size) * root, (given.margin + size) * root
    return tost_power(near, far, n - 2, given.alpha)


def _survival(n: int, size: float, given: DesignParameters) -> float:
    """Return the power of a log-rank test: its statistic is normal, its variance the events / 4."""
    root = math.sqrt(given.event_share) * _root_of_arms(n, given) if n > 1 else 0.0
    return z_test_power(size * root, given.alpha) if root else 0.0


# --- information on the normal scale ---------------------------------------------

_OF_ARMS: Final = Information(lambda n, at: _root_of_arms(n, at) ** 2)
_OF_ONE_GROUP: Final = Information(_worth_of_one)
_OF_FISHERS_Z: Final = Information(lambda n, at: max(0.0, _worth_of_one(n, at) - 3))
_OF_EVENTS: Final = Information(lambda n, at: at.event_share * _root_of_arms(n, at) ** 2)

# --- the table --------------------------------------------------------------------------------

_ROWS: Final = (
    Kind(
        kind=DesignKind.TWO_GROUP,
        title="Two groups",
        asks="Do two separate groups differ on average?",
        sketch=sketches.TWO_GROUP,
        sources=reported.TWO_GROUP,
        normal=normal_scales.TWO_MEANS,
        usual={"effect_planning": 0.5},
        groups=2,
        formula=_two_group,
        method="the exact two-sided t-test (noncentral t)",
        source="Cohen (1988), chapter 2",
        optional=("units", "arms"),
        effect=Effect(name="Cohen's d"),
        information=_OF_ARMS,
    ),
    Kind(
        kind=DesignKind.PAIRED,
        title="Two conditions, paired",
        asks="Do the same subjects differ between two conditions?",
        sketch=sketches.PAIRED,
        sources=reported.PAIRED,
        normal=normal_scales.ONE_MEAN,
        usual={"effect_planning": 0.5},
        formula=_one_group,
        method="the exact two-sided paired t-test (noncentral t)",
        source="Cohen (1988), chapter 2",
        optional=("units",),
        effect=Effect(name="Cohen's d"),
        wrong_sign=partial(_one_group, test=t_test_wrong_sign),
        information=_OF_ONE_GROUP,
    ),
    Kind(
        kind=DesignKind.ONE_SAMPLE,
        title="One group",
        asks="Does the average of one group differ from a fixed value?",
        sketch=sketches.ONE_SAMPLE,
        sources=reported.ONE_SAMPLE,
        normal=normal_scales.ONE_MEAN,
        usual={"effect_planning": 0.5},
        formula=_one_group,
        method="the exact two-sided one-sample t-test (noncentral t)",
        source="Cohen (1988), chapter 2",
        optional=("units",),
        effect=Effect(name="Cohen's d"),
        wrong_sign=partial(_one_group, test=t_test_wrong_sign),
        information=_OF_ONE_GROUP,
    ),
    Kind(
        kind=DesignKind.CORRELATION,
        title="Correlation",
        asks="Do two measures rise and fall together?",
        sketch=sketches.CORRELATION,
        sources=reported.CORRELATION,
        normal=normal_scales.FISHER_Z,
        usual={"effect_planning": 0.3},
        formula=_correlation,
        method="the exact two-sided t-test of r (two normal measures)",
        source="Gurland (1968)",
        optional=("units",),
        given={
            "units": Given(
                "Fisher's z at what the samples are worth, a normal approximation",
                "",
                "Fisher (1921); Kish (1965)",
                lambda units: bool(units.icc) and units.samples != 1,
            )
        },
        effect=Effect(name="correlation r", below=1),
        wrong_sign=lambda n, r, at: correlation_wrong_sign(n, r, at.alpha),
        information=_OF_FISHERS_Z,
    ),
    Kind(
        kind=DesignKind.TWO_PROPORTIONS,
        title="Two proportions",
        asks="Does something happen more often in one of two groups?",
        sketch=sketches.TWO_PROPORTIONS,
        sources=reported.TWO_PROPORTIONS,
        normal=normal_scales.COHEN_H,
        usual={"effect_planning": 0.5},
        groups=2,
        formula=_two_proportions,
        method="the arcsine approximation",
        source="Cohen (1988), chapter 6",
        effect=Effect(name="Cohen's h"),
        optional=("baseline", "units", "arms"),
        given={
            "baseline": Given(
                "Fisher's exact test of two equal groups, all tables counted, or of fewer samples "
                "where they have more power (beyond 1,000 samples the z-test with a "
                "continuity correction, an approximation)",
                " below a share of {baseline:.3g}",
                "Fisher (1934), section 21.02",
            )
        },
        misfit=_share_misfit,
        least_size=_least_of_shares,
        information=_OF_ARMS,
    ),
    Kind(
        kind=DesignKind.AUDIT,
        title="Audit",
        asks="Would a random sample meet one of the bad units?",
        sketch=sketches.AUDIT,
        sources=reported.AUDIT,
        usual={"effect_planning": 0.01},
        formula=lambda n, size, at: detection_probability(n, size, at.population_max),
        method="the exact chance that a random sample meets a bad unit (hypergeometric)",
        endless_method="the exact chance that a random sample meets a bad unit (binomial)",
        source="Cochran (1977), chapter 3",
        effect=Effect(name="share of bad units", below=1, signed=False),
        needs=(),
        measure="probability of detection",
        meaning="the chance of finding a bad unit at the assumed share of them",
        sought=None,
    ),
    Kind(
        kind=DesignKind.COVERAGE,
        title="Coverage",
        asks="How much of all there is can be examined?",
        sketch=sketches.COVERAGE,
        usual={"population_max": 1000},
        formula=lambda n, size, at: min(1.0, n / (at.population_max or n)),
        method="counting the samples as a share of all there are",
        source="",
        effect=None,
        needs=("population_max",),
        measure="share examined",
        meaning="how much of all there is gets checked",
        scale=PERCENT,
        sought=None,
    ),
    Kind(
        kind=DesignKind.PRECISION,
        title="Precision",
        asks="How closely can one quantity be measured?",
        sketch=sketches.PRECISION,
        sources=reported.PRECISION,
        usual={"effect_planning": 0.5, "target": 0.1, "floor": 0.2},
        formula=_precision,
        method="the normal interval, the SD taken as known",
        is_interval=True,
        optional=("assurance",),
        given={
            "assurance": Given(
                "the exact t-interval, its SD estimated from the same samples",
                " and an assurance of {assurance:.6g}",
                "Kupper and Hafner (1989)",
            )
        },
        source="Cochran (1977), chapter 4",
        effect=Effect(
            name="relative SD of one sample",
            signed=False,
            offered=(),
            seen=operator.truediv,
            seen_text="SD of one sample ÷ {factor:g}",
        ),
        measure="half-width",
        meaning="how far the result may be off, either way",
        axis="relative half-width, lower is better",
        scale=HALF_WIDTH,
        sought=None,
    ),
    Kind(
        kind=DesignKind.ANOVA,
        title="Several groups",
        asks="Do three or more groups differ on average?",
        sketch=sketches.ANOVA,
        sources=reported.ANOVA,
        usual={"effect_planning": 0.25, "groups": 3},
        formula=_anova,
        method="the exact F-test of equal groups (noncentral F)",
        source="Cohen (1988), chapter 8",
        effect=Effect(name="Cohen's f", signed=False),
        needs=("alpha", "groups"),
        setting=" among {groups} groups",
        level="of the F-test",
    ),
    Kind(
        kind=DesignKind.EQUIVALENCE,
        title="Equivalence",
        asks="Are two groups as good as equal?",
        sketch=sketches.EQUIVALENCE,
        sources=reported.EQUIVALENCE,
        usual={"effect_planning": 0.0, "margin": 0.5},
        groups=2,
        formula=_equivalence,
        method=(
            "two one-sided t-tests, exact; where fewer samples would have more power, "
            "theirs is given, at most 0.02 more"
        ),
        source="Schuirmann (1987)",
        optional=("arms",),
        effect=Effect(
            name="true difference (Cohen's d)",
            within_margin=True,
            offered=(AS_PUBLISHED,),
            seen_text="difference and margin × {factor:g}",
        ),
        needs=("alpha", "margin"),
        setting=" within a margin of ±{margin:.3g}",
        meaning="the chance of showing that the difference lies within the margin",
        level="of each one-sided test",
        sought="smallest margin that could be shown",
    ),
    Kind(
        kind=DesignKind.SURVIVAL,
        title="Time to an event",
        asks="Does an event come later in one of two groups?",
        sketch=sketches.SURVIVAL,
        sources=reported.SURVIVAL,
        normal=normal_scales.LOG_HAZARD_RATIO,
        usual={"effect_planning": 0.7, "event_share": 1.0},
        groups=2,
        formula=_survival,
        method="the log-rank test of two equal arms, by Schoenfeld's approximation",
        uneven_method="the log-rank test of two unequal arms, by Schoenfeld's approximation",
        source="Schoenfeld (1981)",
        optional=("arms",),
        information=_OF_EVENTS,
        effect=Ratio(
            name="hazard ratio", seen=math.pow, seen_text="log of the hazard ratio × {factor:g}"
        ),
        needs=("alpha", "event_share"),
        setting=" and an event share of {event_share:.3g}",
    ),
)

KINDS: Final = {DesignKind(row.kind): row for row in _ROWS}  # The row of each kind
