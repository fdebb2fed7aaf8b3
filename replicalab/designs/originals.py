"""The estimate of an original study: its value, standard error, z and p.

Sources: Cohen (1988) and Rosenthal (1994), as in `designs.reported`, for effects from statistics;
Altman & Bland (2011), BMJ 343, d2090 and d2304, for a standard error from an interval; Hedges &
Olkin (1985), Statistical Methods for Meta-Analysis, p. 86, for what a large d adds to its own.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, Protocol

from replicalab.designs.distributions import normal_cdf, t_two_sided, z_critical
from replicalab.designs.reported import EffectSource
from replicalab.designs.rows import Kind
from replicalab.designs.scales import NormalScale, Sizes
from replicalab.lexicon import joined, shortened

_LEVEL: Final = 0.95
_ROUNDED: Final = 0.1  # Two numbers for the same differ by no more of the larger, once rounded
UNEXPLAINED: Final = 1.5
"""A standard error that is so many times larger, or smaller, than that of n is doubted."""
_MANY: Final = 1000  # From here on it does not matter how many times
_COUNTS: Final = ("n", "n1", "n2", "events")
LARGEST: Final = 1e6
"""The largest effect that an original may have: as large as one in a study file."""
# Under these names sources ask for counts too, which stand beside the other numbers.
_ASKED_COUNTS: Final = frozenset({*_COUNTS, "samples"})


class _Reported(Protocol):
    """The reported numbers of an original study; None if missing.

    ``effect``, ``low`` and ``high`` are in the unit of the kind, ``se`` is on its normal scale,
    ``numbers`` are those of the kind's sources of effects, by name.
    """

    @property
    def effect(self) -> float | None: ...
    @property
    def se(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def level(self) -> float: ...
    @property
    def n(self) -> int | None: ...
    @property
    def n1(self) -> int | None: ...
    @property
    def n2(self) -> int | None: ...
    @property
    def events(self) -> int | None: ...
    @property
    def sides(self) -> int: ...
    @property
    def numbers(self) -> Mapping[str, float]: ...


class Estimate(NamedTuple):
    """The estimate of an original study, on the normal scale of its kind.

    Attributes:
        value: the estimate.
        se: its standard error, above 0.
        n: the samples in all, or the events of a hazard ratio; None if unknown.
        sizes: as in `NormalScale.sizes`; empty if unknown.
        t, df: its t-test; None where the statistic is normal, n is not known, or n does not
            explain the standard error.
        sides: of its test, 1 or 2.
        explained: the least and the largest standard error that n explains; None where it is not
            known.
    """

    value: float
    se: float
    n: float | None = None
    sizes: Sizes = ()
    t: float | None = None
    df: int | None = None
    sides: int = 2
    explained: tuple[float, float] | None = None

    @property
    def z(self) -> float:
        """The estimate over its standard error."""
        return self.value / self.se

    @property
    def p(self) -> float:
        """The two-sided p: of the t-test where it is one, else of z."""
        if self.t is not None and self.df is not None:
            return t_two_sided(self.t, self.df)
        return 2 * normal_cdf(-abs(self.z))

    @property
    def z_of_p(self) -> float:
        """The size of the z that has its p: less than its own where it is a t of few samples."""
        return z_critical(self.p) if 0 < self.p < 1 else abs(self.z)


def sizes_of(scale: NormalScale, reported: _Reported) -> Sizes:
    """Return the sizes that an original reports; empty if unknown."""
    if scale.in_events:
        return () if reported.events is None else (reported.events,)
    if scale.groups == 2 and reported.n1 and reported.n2:
        return (reported.n1, reported.n2)
    return () if reported.n is None else scale.sizes(reported.n)


def effect_of(row: Kind, reported: _Reported) -> float | None:
    """Return the effect that is reported or follows from its numbers, if any.

    Raises:
        ValueError: the numbers leave no effect; with problem and remedy.
    """
    return worked_out(row, reported) if reported.effect is None else reported.effect


def worked_out(row: Kind, reported: _Reported) -> float | None:
    """Return the effect that follows from the other reported numbers, if any.

    Raises:
        ValueError: the numbers leave no effect; with problem and remedy.
    """
    # A source takes a count as a whole number.
    whole = {name: int(x) if x.is_integer() else x for name, x in reported.numbers.items()}
    record = {**counts_of(row, reported), **whole}
    for source in row.sources:
        names = {number.name for number in source.asked}
        if names <= record.keys() and any(name in reported.numbers for name in names):
            for _, problem, remedy in source.faults(record):
                raise ValueError(f"{problem}; {remedy}")
            return source.numbers(record)["effect_planning"]
    return None


def counts_of(row: Kind, reported: _Reported) -> dict[str, float]:
    """Return the samples that are reported, under each name by which a source asks for them."""
    record: dict[str, float | None] = {name: getattr(reported, name) for name in _COUNTS}
    if record["n"] is None and reported.n1 and reported.n2:
        record["n"] = reported.n1 + reported.n2
    if row.normal is not None and len(sizes := sizes_of(row.normal, reported)) == 2:
        record["n1"], record["n2"] = sizes
    record["samples"] = record["n"]
    return {name: count for name, count in record.items() if count is not None}


def se_of_interval(scale: NormalScale, low: float, high: float, level: float = _LEVEL) -> float:
    """Return the standard error of an interval of a level in (0, 1), by its width on the scale."""
    return (scale.value(high) - scale.value(low)) / (2 * z_critical(1 - level))


def estimate_of(row: Kind, reported: _Reported) -> Estimate | None:
    """Return the estimate of an original; its standard error is given, the interval's, or by n.

    None if the kind has no normal scale, or effect or standard error is unknown.

    Raises:
        ValueError: its numbers leave no effect; with problem and remedy.
    """
    scale, effect = row.normal, effect_of(row, reported)
    if scale is None or effect is None:
        return None
    value, sizes = scale.value(effect), sizes_of(scale, reported)
    by_n = scale.se(sizes)
    se = reported.se
    if se is None and reported.low is not None and reported.high is not None:
        se = se_of_interval(scale, reported.low, reported.high, reported.level)
    if se is None:
        se = by_n
    if not (0 < se < math.inf and math.isfinite(value)):
        return None
    explained = _explained(scale, value, sizes)
    df = scale.df(sizes) if explained else None
    # An error that n does not explain, of clusters, say, or of several labs, belongs to no such t.
    if explained and not (1 - _ROUNDED) * explained[0] <= se <= (1 + _ROUNDED) * explained[1]:
        df = None
    return Estimate(
        value=value,
        se=se,
        n=sum(sizes) if sizes else None,
        sizes=sizes,
        t=None if df is None else value / by_n,
        df=df,
        sides=reported.sides,
        explained=explained,
    )


def _explained(scale: NormalScale, value: float, sizes: Sizes) -> tuple[float, float] | None:
    by_n = scale.se(sizes)
    if not math.isfinite(by_n):
        return None
    # What d adds to it, d²/2n, is in one that is reported, and not in that of the t-test.
    of_d = 0.0 if scale.lost is None else value / math.sqrt(2 * sum(sizes))
    return by_n, math.hypot(by_n, of_d)


def doubt_of(row: Kind, reported: _Reported) -> str:
    """Return a sentence if the standard error is far from that of n, else an empty text.

    It names both, and the one that the results rest on.
    """
    estimate = estimate_of(row, reported)
    if estimate is None or estimate.explained is None or row.normal is None:
        return ""
    minimum, limit = estimate.explained
    if minimum / UNEXPLAINED <= estimate.se <= limit * UNEXPLAINED:
        return ""
    by_n = minimum if estimate.se < minimum else limit
    times, than = (
        max(estimate.se / by_n, by_n / estimate.se),
        "large" if by_n > estimate.se else "small",
    )
    far = f"{times:.3g}" if times < _MANY else f"over {_MANY:,}"
    counted = "events" if row.normal.in_events else "samples"
    what, has = "standard error", "The standard error is"
    if reported.se is None:
        what, has = "interval", "The interval leaves a standard error of"
    return (
        f"{has} {estimate.se:.3g} on the scale of {row.normal.name}; "
        f"{sum(estimate.sizes):,.12g} {counted} would have {by_n:.3g}, {far} times as {than}. "
        f"z, p and all that follows rest on the {what}, but for the small telescopes, "
        f"which count the {counted}."
    )


# --- what is wrong with it --------------------------------------------------------------------


def faults_of(row: Kind, reported: _Reported) -> Iterator[str]:
    """Yield the faults in the numbers of an original, each with its remedy."""
    try:
        texts = list(_faults(row, reported))
    except ValueError as error:
        texts = [str(error)]
    yield from texts


def _faults(row: Kind, reported: _Reported) -> Iterator[str]:
    if row.effect is None:
        yield f"{row.kind} has no effect that a study could find; leave the original out"
        return
    record = {name: getattr(reported, name) for name in ("effect", "low", "high")}
    for name, value in record.items():
        if value is not None and (fault := row.effect.fault(value)):
            yield f"{name} is {value:g}; {row.named} effect is {fault}"
            return
    yield from _faults_of_counts(row, reported)
    yield from _faults_of_numbers(row, reported)
    effect = effect_of(row, reported)
    if effect is None:
        ways = "; ".join(_asked(source) for source in row.sources)
        yield f"no effect follows from it; give effect, or the numbers of one of: {ways}"
        return
    if row.effect.fault(effect):
        yield f"an effect of {effect:g} follows; {row.named} effect is {row.effect.fault(effect)}"
        return
    if abs(effect) > LARGEST:
        yield f"an effect of {effect:.4g} follows; give numbers of an effect up to {LARGEST:,.0f}"
        return
    yield from _faults_of_interval(row, reported, effect)


def _faults_of_counts(row: Kind, reported: _Reported) -> Iterator[str]:
    n, n1, n2, scale = reported.n, reported.n1, reported.n2, row.normal
    if (n1 is None) != (n2 is None):
        alone, other = ("n1", "n2") if n2 is None else ("n2", "n1")
        yield f"{alone} is given without {other}; give both, or n alone"
    if n1 is not None and row.groups != 2:
        yield f"n1 is {n1}, but {row.named} design has no two groups; give n alone"
    if n is not None and n1 is not None and n2 is not None and n != n1 + n2:
        yield f"n is {n}, but n1 and n2 are {n1 + n2} together; correct them, or leave n out"
    if reported.events is not None and not (scale and scale.in_events):
        yield f"events is {reported.events}, but {row.named} design counts none; leave it out"
    number = n if n is not None or n1 is None or n2 is None else n1 + n2
    if number is not None and reported.events is not None and reported.events > number:
        yield f"events is {reported.events}, but n is {number}; give at most as many events"
    if scale is None:
        return
    if reported.se is None and scale.in_events:
        return
    minimum = scale.groups if scale.in_events else scale.least
    if number is not None and number < minimum:
        yield f"n is {number}; {row.named} test needs {minimum} or more"


def _faults_of_numbers(row: Kind, reported: _Reported) -> Iterator[str]:
    texts = {number.name for source in row.sources for number in source.asked}
    names = texts - _ASKED_COUNTS
    for name in reported.numbers:
        if name not in names:
            yield (
                f"numbers has '{shortened(name)}', which {row.named} effect cannot be worked out "
                f"from; give {joined(sorted(names), 'or')}"
            )
            return
    worked = worked_out(row, reported)
    if worked is None:
        if reported.numbers:
            ways = "; ".join(_asked(source) for source in row.sources)
            yield (
                f"no effect follows from {joined([*reported.numbers], 'and')} alone; "
                f"give all the numbers of one of: {ways}"
            )
        return
    if reported.effect is not None and row.effect is not None:
        value, other = row.effect.size(reported.effect), row.effect.size(worked)
        if not agree(value, other):
            yield (
                f"effect is {reported.effect:g}, but {worked:.4g} follows from its numbers; "
                "correct one, or leave effect out"
            )


def _faults_of_interval(row: Kind, reported: _Reported, effect: float) -> Iterator[str]:
    low, high, scale = reported.low, reported.high, row.normal
    if (low is None) != (high is None):
        alone, other = ("low", "high") if high is None else ("high", "low")
        yield f"{alone} is given without {other}; give both ends of the interval"
    if low is None or high is None:
        return
    if low >= high:
        yield f"low is {low:g} and high {high:g}; give the lower end as low"
    elif not low <= effect <= high:
        yield (
            f"the interval of {low:g} to {high:g} does not hold the effect of {effect:.4g}; "
            "correct one of them"
        )
    elif scale is not None and reported.se is not None:
        by_width = se_of_interval(scale, low, high, reported.level)
        if not agree(reported.se, by_width):
            yield (
                f"se is {reported.se:g}, but the interval's width gives {by_width:.3g}; "
                "correct one, or leave se out"
            )


def _asked(source: EffectSource) -> str:
    return joined([number.name for number in source.asked], "and")


def agree(one: float, other: float) -> bool:
    """Return whether two numbers agree within their rounding."""
    return abs(one - other) <= _ROUNDED * max(abs(one), abs(other))
