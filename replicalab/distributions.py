"""The few probability distributions that planning needs, exact and without NaN.

The noncentral t is used as what it is: a normal over a chi scale. For T = (Z + delta) / S with
S = chi_df / sqrt(df), P(T > t) = E[Phi(delta - t S)]. One Gauss-Legendre quadrature over the
density of S gives the power for any delta, and, at delta = 0, the critical value.
Source: Johnson, Kotz & Balakrishnan, Continuous Univariate Distributions 2, chapter 31.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist
from typing import Final

_NORMAL: Final = NormalDist()
_ROOT_HALF: Final = math.sqrt(0.5)
_ORDER: Final = 20
_CERTAIN: Final = -40.0
"""The log of a probability too small to move 1."""

_REACH: Final = 9.5
"""How many units of 1/sqrt(df) around 1 hold all but 1e-18 of the scale's density."""


def normal_quantile(p: float) -> float:
    """Return the standard normal quantile of ``p`` in (0, 1)."""
    return _NORMAL.inv_cdf(p)


def normal_cdf(x: float) -> float:
    """Return the standard normal probability below ``x``, accurate in both tails."""
    return 0.5 * math.erfc(-x * _ROOT_HALF)


def z_test_power(shift: float, alpha: float) -> float:
    """Return the power of a two-sided z-test whose statistic is shifted by ``shift``."""
    critical = normal_quantile(1 - alpha / 2)
    return normal_cdf(shift - critical) + normal_cdf(-shift - critical)


def t_test_power(noncentrality: float, df: int, alpha: float) -> float:
    """Return the power of a two-sided t-test, in [alpha, 1].

    Args:
        noncentrality: effect size times the root of the effective sample size; any finite number.
        df: degrees of freedom, 1 or more.
        alpha: two-sided significance level in (0, 1).
    """
    critical = t_critical(df, alpha)
    delta = abs(noncentrality)
    upper = _expected_tail(delta, critical, df)
    lower = _expected_tail(-delta, critical, df)
    return min(1.0, upper + lower)


@lru_cache(maxsize=8192)
def t_critical(df: int, alpha: float) -> float:
    """Return the t with P(|T| > t) = alpha at ``df`` degrees of freedom, by bisection."""
    low, high = 0.0, 2.0
    while 2 * _expected_tail(0.0, high, df) > alpha:
        low, high = high, high * 2
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if 2 * _expected_tail(0.0, middle, df) > alpha:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _expected_tail(delta: float, t: float, df: int) -> float:
    """Return E[Phi(delta - t S)] over the scale S, with panels where the integrand turns."""
    low = max(0.0, 1 - _REACH / math.sqrt(df))
    high = 1 + _REACH / math.sqrt(df)
    mode = math.sqrt((df - 1) / df)
    peak = _log_density(mode, df) if mode > 0 else 0.0
    total = mass = 0.0
    edges = _edges(low, high, delta, t)
    for left, right in pairwise(edges):
        half, centre = (right - left) / 2, (left + right) / 2
        for node, weight in _gauss_legendre():
            s = centre + half * node
            density = weight * half * math.exp(_log_density(s, df) - peak)
            mass += density
            total += density * normal_cdf(delta - t * s)
    return total / mass


def _edges(low: float, high: float, delta: float, t: float) -> list[float]:
    edges = {low + (high - low) * step / 4 for step in range(5)}
    if t > 0:
        turns = (delta / t + step / t for step in (-8, -4, -2, 0, 2, 4, 8))
        edges.update(turn for turn in turns if low < turn < high)
    return sorted(edges)


def _log_density(s: float, df: int) -> float:
    return (df - 1) * math.log(s) - df * s * s / 2 if s > 0 else -math.inf


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
        rule.append((x, 2 / ((1 - x * x) * slope * slope)))
    return tuple(rule)


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
    good = population - bad
    if n > good:
        return 1.0 if bad else 0.0
    fewer, more = sorted((n, bad))
    log_none = 0.0
    for drawn in range(fewer):
        log_none += math.log1p(-more / (population - drawn))
        if log_none < _CERTAIN:
            break
    return -math.expm1(log_none)
