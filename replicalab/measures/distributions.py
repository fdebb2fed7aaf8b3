"""The few probability distributions that planning needs: exact, quick and without NaN.

The power of an F test is the upper tail of a noncentral F: a Poisson mixture of incomplete beta
functions that starts at alpha and of which every term is positive, so that nothing cancels. A
two-sided t-test is the case of one numerator degree of freedom. Where the mixture has too many
terms, the statistic is taken as what it is, a normal (and a chi) over a chi scale, and its tail is
averaged over the scale: P(T > t) = E[Phi(delta - t S)]. So is the power of two one-sided tests.
Sources: Johnson, Kotz & Balakrishnan, Continuous Univariate Distributions 2, chapters 28, 30, 31;
Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Final

from replicalab.measures.beta import log_kernel, share_of, upper_logit
from replicalab.measures.quadrature import REACH, integral, mean_over_scale

_NORMAL: Final = NormalDist()
_ROOT_HALF: Final = math.sqrt(0.5)
_NEGLIGIBLE: Final = 1e-17
"""The share of a sum that its rounding hides."""

_CERTAIN: Final = 40.0
"""Minus the log of a probability too small to move 1."""

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

_BEND: Final = (-8, -4, 0, 4, 8)
"""Where a normal probability bends, in SDs: at 0, and where it has all but run out."""

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
    if _is_certain(delta, critical, df):
        return 1.0
    mean = delta * delta / 2
    if mean > _MOST_TERMS:
        return min(1.0, _upper_tail(delta, critical, df))
    return min(1.0, _t_mixture(mean, critical, df, alpha))


def _is_certain(delta: float, critical: float, df: int) -> bool:
    """Return whether a normal around ``delta`` is beyond the critical value times any scale."""
    return delta > REACH + critical * (1 + REACH / math.sqrt(df))


def _t_mixture(mean: float, t: float, df: int, alpha: float) -> float:
    """Return P(|T| > t) as a mixture of the tails of beta variables (j + 1/2, df/2)."""
    length = math.hypot(t, math.sqrt(df))
    sine = t / length
    log_cosine = math.log(math.sqrt(df) / length) if t * t > df else math.log1p(-sine * sine) / 2
    step = 2 * _density_constant(df) * sine * math.exp(df * log_cosine)
    return _mixture(mean, alpha, step, x=sine * sine, a=0.5, b=df / 2)


def _mixture(mean: float, alpha: float, step: float, *, x: float, a: float, b: float) -> float:
    """Return the sum of Poisson(j; mean) Q(j), with Q(0) = alpha.

    Q(j) is the probability that a beta variable (a + j, b) exceeds x; the steps from one Q to the
    next are each a multiple of the step before.

    Args:
        mean: of the Poisson variable.
        alpha: the first tail.
        step: from the first tail to the second.
        x: the critical point.
        a: half the degrees of freedom of the numerator.
        b: half those of the denominator.
    """
    beyond, weight, total = max(alpha, _SMALLEST_ALPHA), math.exp(-mean), 0.0
    both, following, j = a + b, a + 1, 0
    while True:
        total += weight * beyond
        if j >= mean and weight * mean <= _NEGLIGIBLE * total * (j + 1 - mean):
            return total
        beyond += step
        step *= x * (both + j) / (following + j)
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
    return integral(lambda x: math.exp(power * math.log1p(-(math.sin(x) ** 2))), low, high)


def _sine_power(low: float, high: float, df: int) -> float:
    return integral(lambda x: math.exp((df - 1) * math.log(math.sin(x))), low, high)


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
    """Return E[Phi(delta - t S)] over the scale S."""
    turns = [delta / t + step / t for step in _BEND]
    return mean_over_scale(lambda s: normal_cdf(delta - t * s), df, turns)


# --- F tests ----------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def f_test_power(noncentrality: float, df1: int, df2: int, alpha: float) -> float:
    """Return the power of an F test, in [alpha, 1].

    Args:
        noncentrality: Cohen's f times the root of the samples in all; 0 or more.
        df1: degrees of freedom of the numerator, 1 or more.
        df2: degrees of freedom of the denominator, 1 or more.
        alpha: significance level in (0, 1).
    """
    a, b, alpha = df1 / 2, df2 / 2, max(alpha, _SMALLEST_ALPHA)
    logit = upper_logit(a, b, alpha)
    critical = math.exp(logit / 2) * math.sqrt(df2)
    if _is_certain(noncentrality, critical, df2):
        return 1.0
    mean = noncentrality * noncentrality / 2
    if mean > _MOST_TERMS:
        power = _upper_tail_of_f(noncentrality, critical, df1, df2)
    else:
        step = math.exp(log_kernel(a, b, logit)) / a
        power = _mixture(mean, alpha, step, x=share_of(logit), a=a, b=b)
    return max(alpha, min(1.0, power))


def _upper_tail_of_f(delta: float, critical: float, df1: int, df2: int) -> float:
    """Return P((Z + delta)² + V > (critical S)²) over the chi² V and the scale S.

    The normal Z is on the far side of 0 with a probability too small to count.
    """
    if df1 == 1:
        return _upper_tail(delta, critical, df2)
    spread = math.hypot(2 * delta, critical * critical * math.sqrt(2 / df2))
    middle = critical * critical - delta * delta
    bends = (middle + step * spread for step in _BEND)
    turns = [math.sqrt(v / (df1 - 1)) for v in bends if v > 0]
    return mean_over_scale(
        lambda s: _given_chi(delta, critical, (df1 - 1) * s * s, df2), df1 - 1, turns
    )


def _given_chi(delta: float, critical: float, v: float, df2: int) -> float:
    """Return the same where the chi² has that value."""

    def beyond(s: float) -> float:
        return normal_cdf(delta - math.sqrt(max(0.0, (critical * s) ** 2 - v)))

    turns = [math.hypot(delta + step, math.sqrt(v)) / critical for step in _BEND]
    return mean_over_scale(beyond, df2, turns)


# --- two one-sided tests ----------------------------------------------------------------------


def tost_power(near: float, far: float, df: int, alpha: float) -> float:
    """Return the probability that two one-sided t-tests both reject, in [0, 1].

    They do where the estimate lies at least the critical value, in standard errors as estimated,
    within either end of the margin.

    Args:
        near: from the true difference to the nearer end of the margin, in true standard errors;
            negative outside it.
        far: to the other end.
        df: degrees of freedom, 1 or more.
        alpha: level of each test in (0, 1).
    """
    t, reach = _one_sided_critical(df, alpha), near / 2 + far / 2
    bends = (reach, *(end + step for end in (near, far) for step in _BEND))
    turns = [bend / t for bend in bends if t < 0 or bend <= reach] if t else []

    def both(s: float) -> float:
        return normal_cdf(near - t * s) - normal_cdf(t * s - far) if t * s < reach else 0.0

    return min(1.0, max(0.0, mean_over_scale(both, df, turns)))


def _one_sided_critical(df: int, alpha: float) -> float:
    """Return the t with P(T > t) = alpha."""
    if alpha > 0.5:
        return -t_critical(df, 2 * (1 - alpha))
    return t_critical(df, 2 * alpha) if alpha < 0.5 else 0.0


# --- detection --------------------------------------------------------------------------------


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

    area = integral(lambda i: math.log1p(-more / (population - i)), first, last)
    return area - (slope(last) - slope(first)) / 24
