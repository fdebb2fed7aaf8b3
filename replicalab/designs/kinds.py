"""The kinds of design, one row each; no other file asks for a certain kind.

Sources: Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapters 2, 3, 6
and 8, with the exact noncentral t and F in place of his tables; Gurland (1968), Journal of the
Royal Statistical Society B 30, 346-356; Kupper & Hafner (1989), The American Statistician 43,
101-105; Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680; Schoenfeld
(1981), Biometrika 68, 316-319.
"""

import math
import operator
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

from replicalab.designs import distributions as dist
from replicalab.designs import exact_tests, parameters, parts, reported
from replicalab.errors import Refusal

_EVEN: Final = 0.5


def _root_of_arms(n: int, design: parameters.DesignParameters) -> float:
    # The root of the effective size of two arms; 0 if an arm has too few units for a test.
    one, other = (_worth(*arm, design) for arm in _arms(n, design))
    return math.sqrt(one * other / (one + other)) if one and other else 0.0


def _arms(n: int, design: parameters.DesignParameters) -> Iterator[tuple[int, int]]:
    # The counted and the planned samples of each arm.
    arms = (parameters.arms_of(number, design.share) for number in (n, _planned(n, design)))
    return zip(*arms, strict=True)


def _planned(n: int, design: parameters.DesignParameters) -> int:
    return n if design.planned is None else design.planned


def _units(n: int, planned: int, design: parameters.DesignParameters) -> int:
    # Without a correlation each sample is a unit.
    return int(n if design.icc is None else parameters.units_left(n, planned, design.per_unit))


def _worth(n: int, planned: int, design: parameters.DesignParameters) -> float:
    # The number of independent samples with the same information; 0 in too few units.
    if design.icc is None:
        return n
    if _units(n, planned, design) < parameters.LEAST_UNITS:
        return 0.0
    rest = parameters.samples_left(n, planned, design.per_unit)
    return n / parameters.design_effect(rest, design.icc)


def _two_group(n: int, size: float, design: parameters.DesignParameters) -> float:
    root, units = _root_of_arms(n, design), sum(_units(*arm, design) for arm in _arms(n, design))
    return _t_test(size * root, units - 2, design) if root else 0.0


def _t_test(shift: float, df: int, design: parameters.DesignParameters) -> float:
    return dist.t_test_power(shift, df, design.alpha, design.sides) if df > 0 else 0.0


def _z_test(shift: float, design: parameters.DesignParameters) -> float:
    return dist.z_test_power(shift, design.alpha, design.sides)


def _one_group(n: int, size: float, design: parameters.DesignParameters) -> float:
    units = _units(n, _planned(n, design), design)
    return _t_test(size * math.sqrt(_worth_of_one(n, design)), units - 1, design)


def _worth_of_one(n: int, design: parameters.DesignParameters) -> float:
    return _worth(n, _planned(n, design), design)


def _correlation(n: int, size: float, design: parameters.DesignParameters) -> float:
    # Samples in units are tested by Fisher's z.
    if not design.icc or design.per_unit == 1:
        return exact_tests.correlation_power(n, size, design.alpha, design.sides)
    worth = _worth_of_one(n, design) - 3
    return _z_test(math.atanh(size) * math.sqrt(worth), design) if worth > 0 else 0.0


def _two_proportions(n: int, size: float, design: parameters.DesignParameters) -> float:
    if design.baseline is not None:
        return exact_tests.shares_power(n, size, design.baseline, design.alpha, design.sides)
    root = _root_of_arms(n, design)
    return _z_test(size * root, design) if root else 0.0


def _share_misfit(effect: float, design: parameters.DesignParameters) -> Refusal | None:
    if design.baseline is None:
        return None
    if design.icc is not None or design.share != _EVEN:
        problem = f"a baseline of {design.baseline:g} needs two equal groups of independent samples"
        return Refusal(problem, "leave it out, or units and arms", "baseline")
    if effect <= (limit := exact_tests.largest_h(design.baseline)):
        return None
    return Refusal(
        f"the effect is {effect:g}, but no share is that far below the baseline of "
        f"{design.baseline:g}",
        f"assume at most {limit:.4g}, or give the higher of both shares",
        "effect_planning",
    )


def _precision(n: int, size: float, design: parameters.DesignParameters) -> float:
    # The half-width of an interval; its quantile if there is an assurance.
    root = math.sqrt(n)
    if design.assurance is None:
        return dist.z_critical(design.alpha) * size / root
    if n < 2:
        return math.inf
    quantile = dist.scale_quantile(design.assurance, n - 1)
    return dist.t_critical(n - 1, design.alpha) * size * quantile / root


def _anova(n: int, size: float, design: parameters.DesignParameters) -> float:
    per_group = n // design.groups  # samples beyond equal groups cannot help
    if per_group < 2:
        return 0.0
    root = size * math.sqrt(design.groups * per_group)
    return dist.f_test_power(root, design.groups - 1, design.groups * (per_group - 1), design.alpha)


# The sizes of two groups together that have the highest power by chance alone.
_FEW: Final = range(3, 9)
_RARE: Final = 0.1
_LIKELY: Final = 0.5
# The most samples until the smaller arm has one more: its first is rounded up, or down.
_STEP: Final = math.ceil(1.5 / parameters.LEAST_SHARE)


def _equivalence(n: int, size: float, design: parameters.DesignParameters) -> float:
    # Far below the sample that is needed, both tests reject only if the SD comes out far too small
    # by chance; that is likelier with three samples than with ten, at most by 0.02, and never if
    # the power exceeds twice alpha, or of unequal arms 0.1, or at a large alpha a half. Samples can
    # be left out, so the power of fewer samples counts if it is higher.
    power, is_uneven = _two_one_sided(n, size, design), design.share != _EVEN
    if power >= min(max(2 * design.alpha, _RARE * is_uneven), _LIKELY):
        return power
    fewer = [few for few in _FEW if few < n]
    if is_uneven:
        # Mostly only the larger of unequal arms grows, and the chance falls each time.
        fewer += range(max(3, n - _STEP), n)
    return max(power, *(_two_one_sided(few, size, design) for few in fewer), 0.0)


@lru_cache(maxsize=8192)
def _two_one_sided(n: int, size: float, design: parameters.DesignParameters) -> float:
    if n < 3:
        return 0.0
    root = _root_of_arms(n, design)
    near, far = (design.margin - size) * root, (design.margin + size) * root
    return dist.tost_power(near, far, n - 2, design.alpha)


def _survival(n: int, size: float, design: parameters.DesignParameters) -> float:
    # The log-rank statistic is normal, its variance a quarter of the events.
    root = math.sqrt(design.event_share) * _root_of_arms(n, design) if n > 1 else 0.0
    return _z_test(size * root, design) if root else 0.0


def _information_of_arms(n: int, design: parameters.DesignParameters) -> float:
    return _root_of_arms(n, design) ** 2


_THIN: Final = 3
# The dots of a group around its middle.
_SPREAD: Final = ((-5, -14), (3, -8), (-2, -2), (5, 4), (-4, 9), (2, 16))


def _group(x: float, y: float, colour: str) -> list[parts.Shape]:
    dots = [parts.Shape(x + right, y + up, colour) for right, up in _SPREAD]
    return [*dots, parts.Shape(x - 10, y, colour, 20, _THIN)]


def _whisker(x: float, half: float) -> list[parts.Shape]:
    ends = [parts.Shape(at, 38, "one", 1, 24) for at in (x - half, x + half)]
    return [parts.Shape(x - half, 49, "one", 2 * half, _THIN), *ends, parts.Shape(x, 50, "one")]


def _field(of: Iterable[tuple[int, str]]) -> list[parts.Shape]:
    colours = dict(of)
    return [
        parts.Shape(9 + 9 * (place % 10), 20 + 20 * (place // 10), colours.get(place, "quiet"))
        for place in range(40)
    ]


def _share(x: float, share: float, colour: str) -> list[parts.Shape]:
    return [parts.Shape(x, 12, "quiet", 16, 76), parts.Shape(x, 12, colour, 16, 76 * share)]


def _stairs(fall: float, colour: str) -> list[parts.Shape]:
    levels = [88 - fall * step for step in range(6)]
    flat = [parts.Shape(8 + 14 * step, y, colour, 14, _THIN) for step, y in enumerate(levels)]
    down = [parts.Shape(22 + 14 * n, y, colour, 1, fall + _THIN) for n, y in enumerate(levels[1:])]
    return flat + down


def _pairs() -> Iterator[parts.Shape]:
    for x, low, high in ((14, 22, 48), (32, 34, 70), (50, 26, 58), (68, 44, 80), (86, 30, 62)):
        yield parts.Shape(x - 0.5, low, "quiet", 1, high - low)
        yield from (parts.Shape(x, low, "one"), parts.Shape(x, high, "two"))


_PAIRED: Final = parts.Kind(
    kind="paired",
    title="Two conditions, paired",
    asks="Do the same subjects differ between two conditions?",
    sketch=tuple(_pairs()),
    sources=reported.PAIRED,
    normal=parts.ONE_MEAN,
    usual={"effect_planning": 0.5},
    formula=_one_group,
    method="the exact {level} paired t-test (noncentral t)",
    source="Cohen (1988), chapter 2",
    optional=("sides", "units"),
    effect=parts.Effect(name="Cohen's d"),
    information=_worth_of_one,
)
_ROWS: Final = (
    parts.Kind(
        kind="two_group",
        title="Two groups",
        asks="Do two separate groups differ on average?",
        sketch=(*_group(32, 40, "one"), *_group(68, 62, "two")),
        sources=reported.TWO_GROUP,
        normal=parts.TWO_MEANS,
        usual={"effect_planning": 0.5},
        groups=2,
        formula=_two_group,
        method="the exact {level} t-test (noncentral t)",
        source="Cohen (1988), chapter 2",
        optional=("sides", "units", "arms"),
        effect=parts.Effect(name="Cohen's d"),
        information=_information_of_arms,
    ),
    _PAIRED,
    replace(
        _PAIRED,
        kind="one_sample",
        title="One group",
        asks="Does the average of one group differ from a fixed value?",
        sketch=(parts.Shape(10, 26, "quiet", 80, _THIN), *_group(50, 58, "one")),
        sources=reported.ONE_SAMPLE,
        method="the exact {level} one-sample t-test (noncentral t)",
    ),
    parts.Kind(
        kind="correlation",
        title="Correlation",
        asks="Do two measures rise and fall together?",
        sketch=tuple(
            [parts.Shape(8 + 7 * n, 14 + 5.4 * n + (9, -7, 3, -3)[n % 4]) for n in range(13)]
        ),
        sources=reported.CORRELATION,
        normal=parts.FISHER_Z,
        usual={"effect_planning": 0.3},
        formula=_correlation,
        method="the exact {level} t-test of r (two normal measures)",
        source="Gurland (1968)",
        optional=("sides", "units"),
        given={
            "units": parts.Given(
                "Fisher's z at the effective sample size, a {level} normal approximation",
                "",
                "Fisher (1921); Kish (1965)",
                lambda units: bool(units.icc) and units.samples != 1,
            )
        },
        effect=parts.Effect(name="correlation r", below=1),
        information=lambda n, at: max(0.0, _worth_of_one(n, at) - 3),
    ),
    parts.Kind(
        kind="two_proportions",
        title="Two proportions",
        asks="Does something happen more often in one of two groups?",
        sketch=(*_share(26, 0.3, "one"), *_share(58, 0.6, "two")),
        sources=reported.TWO_PROPORTIONS,
        normal=parts.COHEN_H,
        usual={"effect_planning": 0.5},
        groups=2,
        formula=_two_proportions,
        method="the {level} arcsine approximation",
        source="Cohen (1988), chapter 6",
        effect=parts.Effect(name="Cohen's h"),
        optional=("sides", "baseline", "units", "arms"),
        given={
            "baseline": parts.Given(
                "Fisher's exact {level} test of two equal groups, all tables counted, or of fewer "
                "samples if they have more power (beyond 1,000 samples the z-test with a "
                "continuity correction, an approximation)",
                " below a share of {baseline:.3g}",
                "Fisher (1934), section 21.02",
            )
        },
        misfit=_share_misfit,
        least_size=exact_tests.least_h,
        information=_information_of_arms,
    ),
    parts.Kind(
        kind="audit",
        title="Audit",
        asks="Would a random sample meet one of the bad units?",
        sketch=tuple(_field([(13, "two"), (27, "two")])),
        sources=reported.AUDIT,
        usual={"effect_planning": 0.01},
        formula=lambda n, size, at: dist.detection_probability(n, size, at.population_max),
        method="the exact chance that a random sample meets a bad unit (binomial)",
        source="Cochran (1977), chapter 3",
        given={
            "population_max": parts.Given(
                "the exact chance that a random sample meets a bad unit (hypergeometric)",
                "",
                "Cochran (1977), chapter 3",
            )
        },
        effect=parts.Effect(name="share of bad units", below=1, signed=False),
        needs=(),
        measure="probability of detection",
        meaning="the chance of finding a bad unit if the assumed share of units is bad",
        sought=None,
    ),
    parts.Kind(
        kind="coverage",
        title="Coverage",
        asks="How much of all there is can be examined?",
        sketch=tuple(_field((n, "one") for n in range(40) if n % 10 < 6)),
        usual={"population_max": 1000},
        formula=lambda n, size, at: min(1.0, n / (at.population_max or n)),
        method="counting the samples as a share of all there are",
        source="",
        effect=None,
        needs=("population_max",),
        measure="share examined",
        meaning="the share of all units that is checked",
        scale=parts.PERCENT,
        sought=None,
    ),
    parts.Kind(
        kind="precision",
        title="Precision",
        asks="How closely can one quantity be measured?",
        sketch=tuple(_whisker(50, 24)),
        sources=reported.PRECISION,
        usual={"effect_planning": 0.5, "target": 0.1, "floor": 0.2},
        formula=_precision,
        method="the normal interval, the SD taken as known",
        is_interval=True,
        optional=("assurance",),
        given={
            "assurance": parts.Given(
                "the exact t-interval, its SD estimated from the same samples",
                " and an assurance of {assurance:.6g}",
                "Kupper and Hafner (1989)",
            )
        },
        source="Cochran (1977), chapter 4",
        effect=parts.Effect(
            name="relative SD of one sample",
            signed=False,
            offered=(),
            seen=operator.truediv,
            seen_text="SD of one sample ÷ {factor:g}",
        ),
        measure="half-width",
        meaning="from the estimate to either end of its confidence interval",
        axis="relative half-width, lower is better",
        scale=parts.HALF_WIDTH,
        sought=None,
    ),
    parts.Kind(
        kind="anova",
        title="Several groups",
        asks="Do three or more groups differ on average?",
        sketch=(*_group(20, 36, "one"), *_group(50, 48, "two"), *_group(80, 66, "three")),
        sources=reported.ANOVA,
        usual={"effect_planning": 0.25, "groups": 3},
        formula=_anova,
        method="the exact F-test of equal groups (noncentral F)",
        source="Cohen (1988), chapter 8",
        effect=parts.Effect(name="Cohen's f", signed=False),
        needs=("alpha", "groups"),
        setting=" among {groups} groups",
        level="of the F-test",
    ),
    parts.Kind(
        kind="equivalence",
        title="Equivalence",
        asks="Are two groups as good as equal?",
        sketch=(
            parts.Shape(22, 0, "quiet", 56, 100),
            parts.Shape(49.5, 0, "paper", 1, 100),
            *_whisker(56, 14),
        ),
        sources=reported.EQUIVALENCE,
        usual={"effect_planning": 0.0, "margin": 0.5},
        groups=2,
        formula=_equivalence,
        method=(
            "two one-sided t-tests, exact; if fewer samples have more power, theirs is used, "
            "at most 0.02 more"
        ),
        source="Schuirmann (1987)",
        optional=("arms",),
        effect=parts.Effect(
            name="true difference (Cohen's d)",
            within_margin=True,
            offered=(parts.AS_PUBLISHED,),
            seen_text="difference and margin × {factor:g}",
        ),
        needs=("alpha", "margin"),
        setting=" within a margin of ±{margin:.3g}",
        meaning="the chance of showing that the difference lies within the margin",
        level="of each one-sided test",
        sought="smallest margin that could be shown",
    ),
    parts.Kind(
        kind="survival",
        title="Time to an event",
        asks="Does an event come later in one of two groups?",
        sketch=(*_stairs(14, "one"), *_stairs(8, "two")),
        sources=reported.SURVIVAL,
        normal=parts.LOG_HAZARD_RATIO,
        usual={"effect_planning": 0.7, "event_share": 1.0},
        groups=2,
        formula=_survival,
        method="the {level} log-rank test of two equal arms (Schoenfeld's approximation)",
        source="Schoenfeld (1981)",
        given={
            "arms": parts.Given(
                "the {level} log-rank test of two unequal arms (Schoenfeld's approximation)",
                "",
                "Schoenfeld (1981)",
                lambda arms: bool(arms.share != _EVEN),
            )
        },
        optional=("sides", "arms"),
        information=lambda n, at: at.event_share * _information_of_arms(n, at),
        effect=parts.Ratio(
            name="hazard ratio", seen=math.pow, seen_text="log of the hazard ratio × {factor:g}"
        ),
        needs=("alpha", "event_share"),
        setting=" and an event share of {event_share:.3g}",
    ),
)

KINDS: Final = {row.kind: row for row in _ROWS}  # by name
