"""The estimate of an original study, and effects to plan a replication with.

Sources: Cohen (1988) and Rosenthal (1994), as in `designs.reported`, for effects from statistics;
Altman & Bland (2011), BMJ 343, d2090 and d2304, for a standard error from an interval; Hedges &
Olkin (1985), Statistical Methods for Meta-Analysis, p. 86, for the variance that a large d adds.
Perugini, Gallucci & Costantini (2014), Perspectives on Psychological Science 9, 319-332 (safeguard
power: the lower end of a 60 % interval); Simonsohn (2015), Psychological Science 26, 559-569 (small
telescopes: d33%); Pawel & Held (2020), PLOS ONE 15, e0231416, and Held (2020), JRSS A 183, 431-448
(the empirical Bayes factor 1 - 1/z²).
"""

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from pydantic_core import PydanticCustomError

from replicalab.designs import distributions as dist
from replicalab.designs.parts import DesignParameters, Formula, Kind, NormalScale, Sizes
from replicalab.errors import Refusal
from replicalab.lexicon import joined, shortened
from replicalab.limits import LARGEST_EFFECT

_ROUNDED: Final = 0.1  # of the larger of two rounded numbers for the same
_UNEXPLAINED: Final = 1.5  # times the standard error by n is doubted
_COUNTS: Final = ("n", "n1", "n2", "events")
# Sources use these names for counts.
_ASKED_COUNTS: Final = frozenset({*_COUNTS, "samples"})


class _Original(Protocol):
    """The reported numbers of an original study; None if missing.

    ``effect``, ``low`` and ``high`` are in the unit of the kind, ``se`` is on its normal scale.
    """

    effect: float | None
    se: float | None
    low: float | None
    high: float | None
    level: float
    n: int | None
    n1: int | None
    n2: int | None
    events: int | None

    @property
    def sides(self) -> int: ...
    @property
    def numbers(self) -> Mapping[str, float]: ...


class Estimate(NamedTuple):
    """The estimate of an original study, on the normal scale of its kind.

    It has no t if the statistic is normal, or n is unknown or does not explain the standard error.
    """

    value: float
    se: float
    n: float | None = None  # the samples in all, or the events of a hazard ratio
    sizes: Sizes = ()
    t: float | None = None
    df: int | None = None
    sides: int = 2
    explained: tuple[float, float] | None = None  # the least and largest error that n explains

    @property
    def z(self) -> float:
        return self.value / self.se

    @property
    def p(self) -> float:
        """The two-sided p of the t-test, or else of z."""
        if self.t is not None and self.df is not None:
            return float(dist.special().betainc(self.df / 2, 0.5, self.df / (self.df + self.t**2)))
        return 2 * dist.normal_cdf(-abs(self.z))

    @property
    def z_of_p(self) -> float:
        """The size of the z with the same p, less than its own for a t of few samples."""
        return dist.z_critical(self.p) if 0 < self.p < 1 else abs(self.z)


def sizes_of(scale: NormalScale, reported: _Original) -> Sizes:
    """Return the sizes that an original reports; empty if unknown."""
    if scale.in_events:
        return () if reported.events is None else (reported.events,)
    if scale.groups == 2 and reported.n1 and reported.n2:
        return (reported.n1, reported.n2)
    return () if reported.n is None else scale.sizes(reported.n)


def effect_of(row: Kind, reported: _Original) -> float | None:
    """Return the reported effect, else that of the numbers; ValueError if they leave none."""
    return _from_numbers(row, reported) if reported.effect is None else reported.effect


def _from_numbers(row: Kind, reported: _Original) -> float | None:
    # A source takes a count as a whole number.
    whole = {name: int(x) if x.is_integer() else x for name, x in reported.numbers.items()}
    counts: dict[str, float | None] = {name: getattr(reported, name) for name in _COUNTS}
    if counts["n"] is None and reported.n1 and reported.n2:
        counts["n"] = reported.n1 + reported.n2
    if row.normal is not None and len(sizes := sizes_of(row.normal, reported)) == 2:
        counts["n1"], counts["n2"] = sizes
    counts["samples"] = counts["n"]
    numbers = {name: count for name, count in counts.items() if count is not None} | whole
    for source in row.sources:
        names = {number.name for number in source.asked}
        if names <= numbers.keys() and any(name in reported.numbers for name in names):
            for _, problem, remedy in source.faults(numbers):
                raise Refusal(problem, remedy).error
            return source.numbers(numbers)["effect_planning"]
    return None


def se_of_interval(scale: NormalScale, low: float, high: float, level: float) -> float:
    """Return the standard error of an interval of a level in (0, 1), by its width on the scale."""
    width = scale.value(high) - scale.value(low)
    return width / (2 * dist.z_critical(1 - level))


def estimate_of(row: Kind, reported: _Original) -> Estimate | None:
    """Return the estimate of an original, None if its effect or standard error is unknown.

    The standard error is the reported one, else that of the interval, else that of n. A ValueError
    is that of a `Refusal`.
    """
    scale, effect = row.normal, effect_of(row, reported)
    if scale is None or effect is None:
        return None
    value, sizes = scale.value(effect), sizes_of(scale, reported)
    by_n = scale.se(sizes)
    se = reported.se
    if se is None and reported.low is not None and reported.high is not None:
        se = se_of_interval(scale, reported.low, reported.high, reported.level)
    se = by_n if se is None else se
    if not (0 < se < math.inf and math.isfinite(value)):
        return None
    n, explained, df = sum(sizes) if sizes else None, None, None
    if math.isfinite(by_n):
        # A reported error has the d²/2n that d adds, the one of the t-test lacks it.
        of_d = 0.0 if scale.lost is None else value / math.sqrt(2 * sum(sizes))
        explained = by_n, math.hypot(by_n, of_d)
        # An error that n does not explain, such as that of clusters or several labs, has no such t.
        if (1 - _ROUNDED) * by_n <= se <= (1 + _ROUNDED) * explained[1]:
            df = scale.df(sizes)
    t = None if df is None else value / by_n
    return Estimate(value, se, n, sizes, t, df, reported.sides, explained)


def doubt_of(row: Kind, reported: _Original) -> str:
    """Return a sentence if the standard error is far from that of n, else an empty text."""
    estimate = estimate_of(row, reported)
    if estimate is None or estimate.explained is None or row.normal is None:
        return ""
    least, most = estimate.explained
    if least / _UNEXPLAINED <= estimate.se <= most * _UNEXPLAINED:
        return ""
    by_n = least if estimate.se < least else most
    times = max(estimate.se / by_n, by_n / estimate.se)
    than = "large" if by_n > estimate.se else "small"
    counted = "events" if row.normal.in_events else "samples"
    basis, has = "standard error", "The standard error is"
    if reported.se is None:
        basis, has = "interval", "The interval leaves a standard error of"
    return (
        f"{has} {estimate.se:.3g} on the scale of {row.normal.name}; "
        f"{sum(estimate.sizes):,.12g} {counted} would have {by_n:.3g}, {times:,.3g} times as "
        f"{than}. z, p and later results use the {basis}; the small telescopes use the {counted}."
    )


def faults_of(row: Kind, reported: _Original) -> list[Refusal]:
    try:
        return list(_faults(row, reported))
    except PydanticCustomError as error:
        return [Refusal.of(error)]


def _faults(row: Kind, reported: _Original) -> Iterator[Refusal]:
    if row.effect is None:
        problem = f"{row.kind} has no effect that a study could find"
        yield Refusal(problem, "leave the original out")
        return
    for name in ("effect", "low", "high"):
        value = getattr(reported, name)
        if value is not None and (fault := row.effect.fault(value)):
            yield Refusal(f"{name} is {value:g}", f"{row.named} effect is {fault}")
            return
    yield from _faults_of_counts(row, reported)
    yield from _faults_of_numbers(row, reported)
    effect = effect_of(row, reported)
    if effect is None:
        ways = _ways(row)
        remedy = f"give effect, or the numbers of one of: {ways}"
        yield Refusal("no effect follows from it", remedy)
    elif fault := row.effect.fault(effect):
        yield Refusal(f"an effect of {effect:g} follows", f"{row.named} effect is {fault}")
    elif abs(effect) > LARGEST_EFFECT:
        most = f"{LARGEST_EFFECT:,.0f}"
        remedy = f"give numbers of an effect up to {most}"
        yield Refusal(f"an effect of {effect:.4g} follows", remedy)
    else:
        yield from _faults_of_interval(row, reported, effect)


def _faults_of_counts(row: Kind, reported: _Original) -> Iterator[Refusal]:
    n, n1, n2, scale = reported.n, reported.n1, reported.n2, row.normal
    if (n1 is None) != (n2 is None):
        alone, other = ("n1", "n2") if n2 is None else ("n2", "n1")
        yield Refusal(f"{alone} is given without {other}", "give both, or n alone")
    if n1 is not None and row.groups != 2:
        yield Refusal(f"n1 is {n1}, but {row.named} design has no two groups", "give n alone")
    if n is not None and n1 is not None and n2 is not None and n != n1 + n2:
        problem = f"n is {n}, but n1 and n2 are {n1 + n2} together"
        yield Refusal(problem, "correct them, or leave n out")
    if reported.events is not None and not (scale and scale.in_events):
        problem = f"events is {reported.events}, but {row.named} design counts none"
        yield Refusal(problem, "leave it out")
    number = n if n is not None or n1 is None or n2 is None else n1 + n2
    if number is not None and reported.events is not None and reported.events > number:
        problem = f"events is {reported.events}, but n is {number}"
        yield Refusal(problem, "give at most as many events")
    if scale is None or (reported.se is None and scale.in_events):
        return
    minimum = scale.groups if scale.in_events else scale.least
    if number is not None and number < minimum:
        yield Refusal(f"n is {number}", f"{row.named} test needs {minimum} or more")


def _faults_of_numbers(row: Kind, reported: _Original) -> Iterator[Refusal]:
    names = {number.name for source in row.sources for number in source.asked} - _ASKED_COUNTS
    for name in reported.numbers:
        if name not in names:
            yield Refusal(
                f"numbers has '{shortened(name)}', which {row.named} effect cannot be worked out "
                "from",
                f"give {joined(sorted(names), 'or')}",
            )
            return
    computed, effect = _from_numbers(row, reported), row.effect
    if computed is None and reported.numbers:
        problem = f"no effect follows from {joined([*reported.numbers], 'and')} alone"
        yield Refusal(problem, f"give all the numbers of one of: {_ways(row)}")
    elif not (computed is None or reported.effect is None or effect is None) and not agree(
        effect.size(reported.effect), effect.size(computed)
    ):
        problem = f"effect is {reported.effect:g}, but {computed:.4g} follows from its numbers"
        yield Refusal(problem, "correct one, or leave effect out")


def _faults_of_interval(row: Kind, reported: _Original, effect: float) -> Iterator[Refusal]:
    low, high, scale = reported.low, reported.high, row.normal
    if (low is None) != (high is None):
        alone, other = ("low", "high") if high is None else ("high", "low")
        problem = f"{alone} is given without {other}"
        yield Refusal(problem, "give both ends of the interval")
    if low is None or high is None:
        return
    if low >= high:
        yield Refusal(f"low is {low:g} and high {high:g}", "give the lower end as low")
    elif not low <= effect <= high:
        problem = f"the interval of {low:g} to {high:g} does not hold the effect of {effect:.4g}"
        measure = row.effect.name if row.effect else "effects"
        yield Refusal(problem, f"give both as {measure}, or correct one of them")
    elif scale is not None and reported.se is not None:
        by_width = se_of_interval(scale, low, high, reported.level)
        if not agree(reported.se, by_width):
            problem = f"se is {reported.se:g}, but the interval's width gives {by_width:.3g}"
            yield Refusal(problem, "correct one, or leave se out")


def _ways(row: Kind) -> str:
    return "; ".join(joined([asked.name for asked in way.asked], "and") for way in row.sources)


def agree(one: float, other: float) -> bool:
    return abs(one - other) <= _ROUNDED * max(abs(one), abs(other))


_BEYOND: Final = 0.2  # of a 60 % interval, on either side
_TELESCOPE_POWER: Final = 1 / 3  # of the original's test
_ALPHA: Final = 0.05


def safeguard(row: Kind, reported: _Original) -> float | None:
    """Return the end of the original's 60 % interval nearer to no effect; None if it includes it.

    That of a t-test is exact: a t as large, or larger, has a probability of 0.2.
    """
    estimate = estimate_of(row, reported)
    if estimate is None or not estimate.value:
        return None
    if estimate.t is not None and estimate.df is not None:
        t, df = abs(estimate.t), estimate.df
        # A noncentral t exceeds its noncentrality with a probability of a half or more.
        shift = dist.least_reaching(lambda shift: dist.t_beyond(t, shift, df), _BEYOND, t) or 0.0
        size = shift * (estimate.value / estimate.t)
    else:
        size = abs(estimate.value) - dist.z_critical(_BEYOND, 1) * estimate.se
    return _effect(row, estimate, size)


def small_telescopes(row: Kind, reported: _Original, design: DesignParameters) -> float | None:
    """Return the effect at which the original's own sample had a power of one third, if any.

    The test is that of the kind at a level of 0.05, one- or two-sided as the original's, with its
    group sizes, or with its standard error if they are unknown.
    """
    if row.sought is None or row.effect is None or row.effect.within_margin:
        return None
    if row.normal is not None:
        estimate = estimate_of(row, reported)
        return estimate and _effect(row, estimate, original_shift(row, reported))
    n, groups = reported.n, reported.numbers.get("groups")
    if n is None:
        return None
    # The F test of several groups has no direction that a test could be one-sided in.
    at = design._replace(alpha=_ALPHA, groups=int(groups) if groups else design.groups)
    return _telescope_size(row.formula, n, at, row.effect.largest_size)


def original_shift(row: Kind, reported: _Original) -> float:
    """Return the effect of `small_telescopes` on the normal scale; 0 without an estimate."""
    estimate, scale = estimate_of(row, reported), row.normal
    if estimate is None or scale is None or row.effect is None:
        return 0.0
    if not estimate.sizes:
        return _telescope_shift(None, estimate.sides) * estimate.se
    if scale.groups == 2 or scale.in_events:
        return _telescope_shift(scale.df(estimate.sizes), estimate.sides) * scale.se(estimate.sizes)
    # The formula of the kind holds for one group.
    at, n = DesignParameters(alpha=_ALPHA, sides=estimate.sides), int(estimate.sizes[0])
    effect = _telescope_size(row.formula, n, at, row.effect.largest_size)
    return 0.0 if effect is None else scale.value(effect)


@lru_cache(maxsize=1024)
def _telescope_size(formula: Formula, n: int, at: DesignParameters, most: float) -> float | None:
    return dist.least_reaching(lambda size: formula(n, size, at), _TELESCOPE_POWER, most)


@lru_cache(maxsize=1024)
def _telescope_shift(df: int | None, sides: int) -> float:
    def power(shift: float) -> float:
        if df is None:
            return dist.z_test_power(shift, _ALPHA, sides)
        return dist.t_test_power(shift, df, _ALPHA, sides)

    return dist.least_reaching(power, _TELESCOPE_POWER, math.inf) or 0.0


def shrunken(row: Kind, reported: _Original) -> float | None:
    """Return the estimate times 1 - 1/z², None if its z is 1 or less."""
    estimate = estimate_of(row, reported)
    if estimate is None or abs(estimate.z) <= 1:
        return None
    return _effect(row, estimate, abs(estimate.value) * (1 - 1 / estimate.z**2))


def _effect(row: Kind, estimate: Estimate, size: float) -> float | None:
    if row.normal is None or row.effect is None or size <= 0:
        return None
    effect = row.normal.effect(math.copysign(size, estimate.value))
    return effect if math.isfinite(effect) and row.effect.fault(effect) is None else None
