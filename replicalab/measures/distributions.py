"""The few probability distributions that planning needs: exact, quick and without NaN.

The power of a two-sided t-test is the upper tail of a noncentral F with one numerator degree of
freedom: a Poisson mixture of incomplete beta functions that starts at alpha and of which every
term is positive, so that nothing cancels. Where that mixture has too many terms, the noncentral t
is taken as what it is, a normal over a chi scale: P(T > t) = E[Phi(delta - t S)].
Source: Johnson, Kotz & Balakrishnan, Continuous Univariate Distributions 2, chapters 28, 30, 31.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist
from typing import Final

_NORMAL: Final = NormalDist()
_ROOT_HALF: Final = math.sqrt(0.5)
_ORDER: Final = 20
_NEGLIGIBLE: Final = 1e-17
"""The share of a sum that its rounding hides."""

_CERTAIN: Final = 40.0
"""Minus the log of a probability too small to move 1."""

_REACH: Final = 9.5
"""Units of 1/sqrt(df) around 1 that hold all but 1e-18 of the scale S, and SDs of a normal."""

_MOST_TERMS: Final = 250.0
"""The largest Poisson mean whose mixture is summed; the quadrature is quicker beyond."""

_SMALLEST_ALPHA: Final = 1e-150
"""Smaller levels count as this one: at one degree of freedom their t would exceed a double."""

_CENTRAL: Final = 0.02
"""Above this level the probability below t fixes t best; under it the probability beyond."""

_RATIO_SERIES: Final = (-31 / 18432, 17 / 14336, -1 / 640, 1 / 192, -1 / 8)
"""Of x log(Gamma(x + 1/2) / (Gamma(x) sqrt(x))) in powers of 1/x², highest first."""

_MOST_STEPS: Final = 20
_CLOSE: Final = 5e-4
"""A correction this small, relative to t and to its curvature, leaves an error below 1e-13."""

_FEW: Final = 400
"""Up to so many factors of a probability are multiplied one by one."""


def normal_quantile(p: float) -> float:
    """Return the standard normal quantile of ``p`` in (0, 1)."""
    return _NORMAL.inv_cdf(p)


def normal_cdf(x: float) -> float:
    """Return the standard normal probability below ``x``, accurate in both tails."""
    return 0.5 * math.erfc(-x * _ROOT_HALF)


def z_critical(alpha: float) -> float:
    """Return the z with P(|Z| > z) = alpha, accurate for any alpha in (0, 1)."""
    return -normal_quantile(max(alpha, _SMALLEST_ALPHA) / 2)


def z_test_power(shift: float, alpha: float) -> float:
    """Return the power of a two-sided z-test whose statistic is shifted by ``shift``."""
    critical = z_critical(alpha)
    return min(1.0, normal_cdf(shift - critical) + normal_cdf(-shift - critical))


def t_test_power(noncentrality: float, df: int, alpha: float) -> float:
    """Return the power of a two-sided t-test, in [alpha, 1].

    Args:
        noncentrality: effect size times the root of the effective sample size; any number.
        df: degrees of freedom, 1 or more.
        alpha: two-sided significance level in (0, 1).
    """
    delta, critical = abs(noncentrality), t_critical(df, alpha)
    if delta > _REACH + critical * (1 + _REACH / math.sqrt(df)):
        return 1.0
    mean = delta * delta / 2
    if mean > _MOST_TERMS:
        return min(1.0, _upper_tail(delta, critical, df))
    return min(1.0, _mixture(mean, critical, df, alpha))


def _mixture(mean: float, t: float, df: int, alpha: float) -> float:
    """Return P(|T| > t) as the sum of Poisson(j; mean) Q(j), with Q(0) = alpha.

    Q(j) is the probability that a beta variable (j + 1/2, df/2) exceeds t²/(t² + df); the steps
    from one Q to the next are each a multiple of the step before.
    """
    length = math.hypot(t, math.sqrt(df))
    sine, half = t / length, df / 2
    beyond, weight, total = max(alpha, _SMALLEST_ALPHA), math.exp(-mean), 0.0
    log_cosine = math.log(math.sqrt(df) / length) if t * t > df else math.log1p(-sine * sine) / 2
    step = 2 * _density_constant(df) * sine * math.exp(df * log_cosine)
    ratio, j = sine * sine, 0
    while True:
        total += weight * beyond
        if j >= mean and weight * mean <= _NEGLIGIBLE * total * (j + 1 - mean):
            return total
        beyond += step
        step *= ratio * (half + j + 0.5) / (j + 1.5)
        j += 1
        weight *= mean / j


@lru_cache(maxsize=8192)
def t_critical(df: int, alpha: float) -> float:
    """Return the t with P(|T| > t) = alpha at ``df`` degrees of freedom, exact to 1e-13.

    In closed form at one and two degrees of freedom. Beyond, Wallace's approximation is improved by
    the inverse Taylor series of the distribution. Source: Wallace, Annals of Mathematical
    Statistics 30 (1959), 1121-1123.
    """
    alpha = max(alpha, _SMALLEST_ALPHA)
    if df == 1:
        quarter = math.pi / 2
        return math.tan(quarter * (1 - alpha)) if alpha > 0.5 else 1 / math.tan(quarter * alpha)
    if df == 2:
        return (1 - alpha) * math.sqrt(2 / (alpha * (2 - alpha)))
    z = z_critical(alpha) * (8 * df + 3) / (8 * df + 1)
    t = math.sqrt(df * math.expm1(z * z / df))
    for _ in range(_MOST_STEPS):
        t, error = _better_critical(t, df, alpha)
        if error < _CLOSE:
            break
    return t


def _better_critical(t: float, df: int, alpha: float) -> tuple[float, float]:
    """Return a better critical value, and how far ``t`` was from it on the scale of its curvature.

    Far away by Newton's method on the logarithms, nearby by three terms of the inverse series.
    """
    wanted = alpha / (2 * _density_constant(df))
    angle = math.atan(t / math.sqrt(df))
    if alpha > _CENTRAL:
        excess = (1 - alpha) * wanted / alpha - _cosine_power(0.0, angle, df)
        found = wanted + excess
    else:
        found = _beyond(t, df)
        excess = found - wanted
    rise = math.sqrt(df) * math.exp((df + 1) / 2 * math.log1p(t * t / df))
    if abs(excess) > wanted / 4:
        return t * math.exp(math.log(found / wanted) * found * rise / t), math.inf
    miss = excess * rise
    bend = (df + 1) * t / (df + t * t)
    turn = 2 * bend * bend + bend * (df - t * t) / (t * (df + t * t))
    better = t + miss * (1 + miss * (bend / 2 + miss * turn / 6))
    return better, abs(miss) * max(bend, 1 / t)


def _beyond(t: float, df: int) -> float:
    """Return the integral of cos^(df - 1) from atan(t / sqrt(df)) to a right angle."""
    root = math.sqrt(df)
    slope = (df - 1) * t / root
    width = 2 * _CERTAIN / (slope + math.sqrt(slope * slope + 2 * _CERTAIN * (df - 1)))
    if t < root:
        angle = math.atan(t / root)
        return _cosine_power(angle, min(angle + width, math.pi / 2), df)
    angle = math.atan(root / t)
    return _sine_power(max(0.0, angle - width), angle, df)


def _cosine_power(low: float, high: float, df: int) -> float:
    power = (df - 1) / 2
    return _integral(lambda x: math.exp(power * math.log1p(-(math.sin(x) ** 2))), low, high)


def _sine_power(low: float, high: float, df: int) -> float:
    return _integral(lambda x: math.exp((df - 1) * math.log(math.sin(x))), low, high)


def _integral(function: Callable[[float], float], low: float, high: float) -> float:
    half, centre = (high - low) / 2, (high + low) / 2
    return half * sum(w * function(centre + half * x) for x, w in _gauss_legendre())


@lru_cache(maxsize=8192)
def _density_constant(df: int) -> float:
    """Return Gamma((df + 1)/2) / (sqrt(pi) Gamma(df/2)), by Stirling's series for the ratio."""
    x, factor = df / 2, 1.0
    while x < 16:
        factor *= x / (x + 0.5)
        x += 1
    square = 1 / (x * x)
    series = 0.0
    for coefficient in _RATIO_SERIES:
        series = series * square + coefficient
    return factor * math.sqrt(x / math.pi) * math.exp(series / x)


def _upper_tail(delta: float, t: float, df: int) -> float:
    """Return E[Phi(delta - t S)] over the scale S, with panels where the integrand turns."""
    low = max(0.0, 1 - _REACH / math.sqrt(df))
    high = 1 + _REACH / math.sqrt(df)
    mode = math.sqrt((df - 1) / df)
    peak = _log_density(mode, df) if mode > 0 else 0.0
    total = mass = 0.0
    for left, right in pairwise(_edges(low, high, delta, t)):
        half, centre = (right - left) / 2, (left + right) / 2
        for node, weight in _gauss_legendre():
            s = centre + half * node
            density = weight * half * math.exp(_log_density(s, df) - peak)
            mass += density
            total += density * normal_cdf(delta - t * s)
    return total / mass


def _edges(low: float, high: float, delta: float, t: float) -> list[float]:
    edges = {low + (high - low) * step / 4 for step in range(5)}
    turns = (delta / t + step / t for step in (-8, -4, 0, 4, 8))
    edges.update(turn for turn in turns if low < turn < high)
    return sorted(edges)


def _log_density(s: float, df: int) -> float:
    return (df - 1) * math.log(s) - df * s * s / 2


@lru_cache(maxsize=1)
def _gauss_legendre() -> tuple[tuple[float, float], ...]:
    """Return the nodes and weights on [-1, 1], by Newton's method on the Legendre polynomial."""
    rule = []
    for k in range(_ORDER):
        x = math.cos(math.pi * (k + 0.75) / (_ORDER + 0.5))
        for _ in range(100):
            value, slope = _legendre(x)
            step = value / slope
            x -= step
            if abs(step) < 1e-16:
                break
        slope = _legendre(x)[1]
        rule.append((x, 1 / ((1 - x * x) * slope * slope)))
    half = math.fsum(weight for _, weight in rule)
    return tuple((x, 2 * weight / half) for x, weight in rule)


def _legendre(x: float) -> tuple[float, float]:
    previous, current = 1.0, x
    for k in range(2, _ORDER + 1):
        previous, current = current, ((2 * k - 1) * x * current - (k - 1) * previous) / k
    return current, _ORDER * (x * current - previous) / (x * x - 1)


@lru_cache(maxsize=65536)
def detection_probability(n: int, share: float, population: int | None) -> float:
    """Return the probability that ``n`` random units meet at least one bad one.

    Args:
        n: units examined, 0 or more; at most the population counts.
        share: the share of bad units, in [0, 1].
        population: how many units there are (round(share * population) are bad), None if endless.
    """
    if population is None:
        return 1.0 if share >= 1 else -math.expm1(n * math.log1p(-share))
    bad = round(share * population)
    if n > population - bad:
        return 1.0 if bad else 0.0
    fewer, more = sorted((n, bad))
    if fewer * (more / population) > _CERTAIN:
        return 1.0
    if fewer <= _FEW:
        return -math.expm1(sum(math.log1p(-more / (population - i)) for i in range(fewer)))
    return -math.expm1(_long_sum(fewer, more, population))


def _long_sum(fewer: int, more: int, population: int) -> float:
    """Return the sum of log(1 - more / (population - i)) for i < fewer, by Euler and Maclaurin.

    Only for sums above -40 of many terms: then ``more`` is a small part of the population, and the
    terms change so slowly that the first correction is good to 1e-15.
    """
    first, last = -0.5, fewer - 0.5

    def slope(i: float) -> float:
        return 1 / (population - i) - 1 / (population - more - i)

    area = _integral(lambda i: math.log1p(-more / (population - i)), first, last)
    return area - (slope(last) - slope(first)) / 24
