"""The kinds of design: one row for each, and everything that depends on the kind read from it.

Nothing outside this file asks for a certain kind. Where another goes: docs/architecture.md, To add.

Sources: Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapters 2, 3, 6
and 8, with the exact noncentral t and F in place of his tables; Schuirmann (1987), Journal of
Pharmacokinetics and Biopharmaceutics 15, 657-680; Schoenfeld (1981), Biometrika 68, 316-319.
"""

import math
import operator
from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache, partial
from typing import Final

from replicalab.measures import reported, sketches
from replicalab.measures.distributions import (
    detection_probability,
    f_test_power,
    t_critical,
    t_test_power,
    t_test_wrong_sign,
    tost_power,
    z_critical,
    z_test_power,
    z_test_wrong_sign,
)
from replicalab.measures.rows import (
    AS_PUBLISHED,
    DesignParameters,
    Effect,
    Information,
    Kind,
    Ratio,
    UsualTest,
)
from replicalab.measures.scales import HALF_WIDTH, PERCENT
from replicalab.measures.usual_tests import (
    correlation_test_power,
    fisher_power_beside_none,
    log_rank_power,
    middle_fisher_power,
)


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
# A test's power, or the part of it that has the wrong sign: at one shift of its statistic.
_ZTest = Callable[[float, float], float]

# --- the formulas -----------------------------------------------------------------------------


def _root_of_halves(n: int) -> float:
    """Return the root of the effective size of two groups that differ by one sample at most."""
    first = n // 2
    return math.sqrt(first * (n - first) / n)


def _two_group(n: int, size: float, given: DesignParameters, test: _TTest = t_test_power) -> float:
    return test(size * _root_of_halves(n), n - 2, given.alpha) if n > 2 else 0.0


def _one_group(n: int, size: float, given: DesignParameters, test: _TTest = t_test_power) -> float:
    return test(size * math.sqrt(n), n - 1, given.alpha) if n > 1 else 0.0


def _correlation(
    n: int, size: float, given: DesignParameters, test: _ZTest = z_test_power
) -> float:
    return test(math.atanh(size) * math.sqrt(n - 3), given.alpha) if n > 3 else 0.0


def _two_proportions(
    n: int, size: float, given: DesignParameters, test: _ZTest = z_test_power
) -> float:
    return test(size * _root_of_halves(n), given.alpha) if n > 1 else 0.0


def _anova(n: int, size: float, given: DesignParameters) -> float:
    """Return the power of as many equal groups as ``n`` fills; what is left over cannot help."""
    per_group = n // given.groups
    if per_group < 2:
        return 0.0
    root = size * math.sqrt(given.groups * per_group)
    return f_test_power(root, given.groups - 1, given.groups * (per_group - 1), given.alpha)


_ANY: Final = 0.005  # From here on a difference shows
# Of two groups together: among these sizes is the luckiest of those that are too small.
_FEW: Final = range(3, 9)


def _equivalence(n: int, size: float, given: DesignParameters) -> float:
    """Return the power of two one-sided tests, or of fewer samples where that is higher."""
    # Far below the sample that is needed, both tests reject only if the SD comes out far too small
    # by chance; that is likelier with three samples than with ten, at most by 0.02, and never where
    # the power exceeds twice alpha. Samples can be left out, so that more are never worth less.
    power = _two_one_sided(n, size, given)
    if power >= 2 * given.alpha:
        return power
    return max(power, *(_two_one_sided(few, size, given) for few in _FEW if few < n), 0.0)


@lru_cache(maxsize=8192)
def _two_one_sided(n: int, size: float, given: DesignParameters) -> float:
    if n < 3:
        return 0.0
    root = _root_of_halves(n)
    near, far = (given.margin - size) * root, (given.margin + size) * root
    return tost_power(near, far, n - 2, given.alpha)


def _survival(n: int, size: float, given: DesignParameters, test: _ZTest = z_test_power) -> float:
    """Return the power of a log-rank test: its statistic is normal, its variance the events / 4."""
    root = math.sqrt(given.event_share) * _root_of_halves(n)
    return test(size * root, given.alpha) if n > 1 else 0.0


# --- what a test with interim looks is planned by ---------------------------------------------

_OF_HALVES: Final = Information(lambda n, _: _root_of_halves(n) ** 2)
_OF_ONE_GROUP: Final = Information(lambda n, _: n)
_OF_FISHERS_Z: Final = Information(lambda n, _: max(0, n - 3))
_OF_EVENTS: Final = Information(
    lambda n, at: at.event_share * _root_of_halves(n) ** 2,
    "event",
    lambda n, at: math.ceil(round(n * at.event_share, 9)),
)

# --- the table --------------------------------------------------------------------------------

_ROWS: Final = (
    Kind(
        kind=DesignKind.TWO_GROUP,
        title="Two groups",
        asks="Do two separate groups differ on average?",
        sketch=sketches.TWO_GROUP,
        sources=reported.TWO_GROUP,
        usual={"effect_planning": 0.5},
        groups=2,
        formula=_two_group,
        method="the exact two-sided t-test (noncentral t)",
        effect=Effect(name="Cohen's d"),
        wrong_sign=partial(_two_group, test=t_test_wrong_sign),
        information=_OF_HALVES,
    ),
    Kind(
        kind=DesignKind.PAIRED,
        title="Before and after",
        asks="Do the same subjects differ between two conditions?",
        sketch=sketches.PAIRED,
        sources=reported.PAIRED,
        usual={"effect_planning": 0.5},
        formula=_one_group,
        method="the exact two-sided paired t-test (noncentral t)",
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
        usual={"effect_planning": 0.5},
        formula=_one_group,
        method="the exact two-sided one-sample t-test (noncentral t)",
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
        usual={"effect_planning": 0.3},
        formula=_correlation,
        method="Fisher's z, a normal approximation",
        effect=Effect(name="correlation r", below=1),
        usual_tests=(
            UsualTest("the t-test of r", lambda n, r, at: correlation_test_power(n, r, at.alpha)),
        ),
        wrong_sign=partial(_correlation, test=z_test_wrong_sign),
        information=_OF_FISHERS_Z,
    ),
    Kind(
        kind=DesignKind.TWO_PROPORTIONS,
        title="Two shares",
        asks="Does something happen more often in one of two groups?",
        sketch=sketches.TWO_PROPORTIONS,
        sources=reported.TWO_PROPORTIONS,
        usual={"effect_planning": 0.5},
        groups=2,
        formula=_two_proportions,
        method="the arcsine approximation",
        effect=Effect(name="Cohen's h"),
        usual_tests=(
            UsualTest(
                "Fisher’s exact test of shares evenly about one half",
                lambda n, h, at: middle_fisher_power(n, h, at.alpha),
            ),
            UsualTest(
                "Fisher’s exact test where one share is 0",
                lambda n, h, at: fisher_power_beside_none(n, h, at.alpha),
            ),
        ),
        wrong_sign=partial(_two_proportions, test=z_test_wrong_sign),
        information=_OF_HALVES,
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
        formula=lambda n, size, at: z_critical(at.alpha) * size / math.sqrt(n),
        method="the normal interval, the SD taken as known",
        usual_tests=(
            UsualTest(
                "a t-interval (SD estimated)",
                lambda n, sd, at: (
                    t_critical(n - 1, at.alpha) * sd / math.sqrt(n) if n > 1 else None
                ),
                0.0,
            ),
        ),
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
        usual_tests=(UsualTest("the two one-sided t-tests of all samples", _two_one_sided, _ANY),),
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
        usual={"effect_planning": 0.7, "event_share": 1.0},
        groups=2,
        formula=_survival,
        method="the log-rank test of two equal arms, by Schoenfeld's approximation",
        usual_tests=(
            UsualTest(
                "the log-rank test itself",
                lambda n, size, at: log_rank_power(n, n * at.event_share, size, at.alpha),
            ),
        ),
        wrong_sign=partial(_survival, test=z_test_wrong_sign),
        information=_OF_EVENTS,
        effect=Ratio(
            name="hazard ratio", seen=math.pow, seen_text="log of the hazard ratio × {factor:g}"
        ),
        needs=("alpha", "event_share"),
        setting=" and an event share of {event_share:.3g}",
    ),
)

KINDS: Final = {DesignKind(row.kind): row for row in _ROWS}
"""The row of each kind."""
