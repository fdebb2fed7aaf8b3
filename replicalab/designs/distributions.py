"""The probability distributions for power and detection.

The noncentral F, beta and chi-squared distributions are SciPy's, loaded when first needed. A
two-sided t-test is an F test with one numerator degree of freedom. The power of a one-sided test,
and of two, is an average over the scale of the statistic, by quadrature.
Sources: Johnson, Kotz & Balakrishnan, Continuous Univariate Distributions 2, chapters 28, 30, 31;
Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680.
"""

import math
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from importlib import import_module
from itertools import pairwise
from statistics import NormalDist
from typing import Any, Final

_EXACT: Final = 1e-12  # relative precision of a search
_SLOW: Final = 4  # steps in which the range must shrink by the same factor, or it is halved
_SURE: Final = 1e-15  # the smallest distance of a probability from 0 and 1
_PROBIT: Final = NormalDist().inv_cdf


def least_reaching(power: Callable[[float], float], wanted: float, top: float) -> float | None:
    """Return the least effect of 0 to ``top`` with the wanted power, relatively exact to 1e-12.

    It is on the side that has it; None if not even ``top`` has.
    """
    # As a normal deviate, power is nearly linear in the effect, so regula falsi (the Illinois rule
    # of Dowell & Jarratt 1971, BIT 11, 168-174) takes a few steps instead of bisection's forty.
    line, low, high = _deviate(wanted), 0.0, min(top, 1.0)
    if (at_low := power(low)) >= wanted:
        return low
    while (at_high := power(high)) < wanted:
        if high >= top:
            return None
        low, at_low, high = high, at_high, min(top, high * 2)
    below, above = _deviate(at_low) - line, _deviate(at_high) - line
    step, reached, wide = 0, None, high - low
    while high - low > _EXACT * high:
        middle = (low + high) / 2
        step += 1
        if step % _SLOW or high - low < wide / _SLOW:
            # At least a little beyond either end, because the root may be that near.
            away = _EXACT * high / 4
            at = low + (high - low) * below / (below - above) if below < above else middle
            middle = min(max(at, low + away), high - away)
        if not step % _SLOW:
            wide = high - low
        if not low < middle < high:  # no double lies between
            break
        value = power(middle)
        if value >= wanted:
            below = below / 2 if reached is True else below
            high, above, reached = middle, _deviate(value) - line, True
        else:
            above = above / 2 if reached is False else above
            low, below, reached = middle, _deviate(value) - line, False
    return high


def _deviate(probability: float) -> float:
    return _PROBIT(min(max(probability, _SURE), 1 - _SURE))


_CERTAIN: Final = 40.0  # minus the log of a probability too small to change 1
_BELOW_ONE: Final = 1 - 2**-53
# At one degree of freedom the t of a smaller level would exceed a double.
SMALLEST_ALPHA: Final = 1e-150
_FAR: Final = 1e5  # the largest noncentrality for SciPy; quadrature takes the others
_SMALL: Final = 1e-6
_TINY: Final = 1e-20  # SciPy inverts no smaller upper tail
_REACH: Final = 9.5  # SDs of a normal, and of the scale of a t, that cover all but 1e-18
BEND: Final = (-8, -4, 0, 4, 8)  # the SDs at which a normal probability bends
_PANELS: Final = 4
_FROM_ZERO: Final = 1e-300  # A bend nearer to 0 weighs nothing
_FEW: Final = 400  # factors of a probability that are multiplied one by one

_HALF_RULE: Final = (
    (0.07652652113349734, 0.15275338713072584),
    (0.22778585114164507, 0.14917298647260374),
    (0.37370608871541955, 0.14209610931838204),
    (0.5108670019508271, 0.13168863844917664),
    (0.636053680726515, 0.11819453196151841),
    (0.7463319064601508, 0.10193011981724044),
    (0.8391169718222188, 0.08327674157670475),
    (0.912234428251326, 0.06267204833410907),
    (0.9639719272779138, 0.04060142980038694),
    (0.9931285991850949, 0.017614007139152118),
)
# Nodes and weights of Gauss and Legendre on [-1, 1]: Abramowitz & Stegun (1964), table 25.4.
_RULE: Final = (*_HALF_RULE, *((-node, weight) for node, weight in _HALF_RULE))


@cache
def special() -> Any:
    return import_module("scipy.special")


def normal_cdf(x: float) -> float:
    """Return the standard normal probability below ``x``, accurate in both tails."""
    return 0.5 * math.erfc(-x * math.sqrt(0.5))


def z_critical(alpha: float, sides: int = 2) -> float:
    """Return the z that Z, or |Z| on two sides, exceeds with a probability in (0, 1)."""
    return -_PROBIT(max(alpha, SMALLEST_ALPHA) / sides)


def z_test_power(shift: float, alpha: float, sides: int = 2) -> float:
    """Return the power of a z-test whose statistic is shifted by ``shift``, 0 or more."""
    critical = z_critical(alpha, sides)
    wrong = normal_cdf(-shift - critical) if sides == 2 else 0.0
    return min(1.0, normal_cdf(shift - critical) + wrong)


def t_critical(df: int, alpha: float, sides: int = 2) -> float:
    """Return the t that T, or |T| on two sides, exceeds with a probability in (0, 1)."""
    if sides == 2:
        return math.sqrt(f_critical(1, df, alpha))
    return math.copysign(math.sqrt(f_critical(1, df, both_tails(alpha))), 0.5 - alpha)


def both_tails(alpha: float) -> float:
    """Return the two-sided level of the critical value of a one-sided test, below 1."""
    return min(2 * min(alpha, 1 - alpha), _BELOW_ONE)


def t_test_power(noncentrality: float, df: int, alpha: float, sides: int = 2) -> float:
    """Return the power of a t-test, in [alpha, 1].

    The noncentrality, 0 or more, is the effect size times the root of the effective sample size.
    """
    if sides == 2:
        return f_test_power(noncentrality, 1, df, alpha)
    alpha = max(alpha, SMALLEST_ALPHA)
    power = t_beyond(t_critical(df, alpha, sides), noncentrality, df)
    return max(alpha, min(1.0, power))


def t_beyond(t: float, noncentrality: float, df: int) -> float:
    """Return P(T > t) of a noncentral t; ``t`` is not 0, ``df`` 1 or more."""
    turns = [(noncentrality + step) / t for step in BEND]
    return mean_over_scale(lambda s: normal_cdf(noncentrality - t * s), df, turns)


@lru_cache(maxsize=4096)
def f_critical(df1: int, df2: int, alpha: float) -> float:
    """Return the F that is exceeded with probability ``alpha``, in (0, 1)."""
    # Inverting both a beta variable and its complement keeps all digits.
    a, b, alpha = df1 / 2, df2 / 2, max(alpha, SMALLEST_ALPHA)
    rest = special().betaincinv(b, a, alpha)
    x = special().betainccinv(a, b, alpha) if alpha > _TINY else 1 - rest
    return float(x / rest * df2 / df1)


@lru_cache(maxsize=4096)
def f_test_power(noncentrality: float, df1: int, df2: int, alpha: float) -> float:
    """Return the power of an F test, in [alpha, 1].

    The noncentrality is Cohen's f times the root of the samples in all; 0 or more.
    """
    alpha = max(alpha, SMALLEST_ALPHA)
    critical = f_critical(df1, df2, alpha)
    # Far out SciPy's function is slow or returns NaN.
    if noncentrality > _REACH + math.sqrt(df1 * critical) * (1 + _REACH / math.sqrt(df2)):
        return 1.0
    if noncentrality > _FAR:  # the mean of the other degrees of freedom is enough
        shift = math.hypot(noncentrality, math.sqrt(df1 - 1))
        power = t_beyond(math.sqrt(df1 * critical), shift, df2)
    else:
        square = noncentrality * noncentrality
        power = 1 - float(special().ncfdtr(df1, df2, square, critical))
    if df1 == 1 and power < _SMALL:  # too few digits are left of it
        signs, t = (noncentrality, -noncentrality), math.sqrt(critical)
        power = sum(t_beyond(t, shift, df2) for shift in signs)
    return max(alpha, min(1.0, power))


def mean_over_scale(function: Callable[[float], float], df: int, turns: Iterable[float]) -> float:
    """Return the mean of a function of the scale S = sqrt(chi² / df); no panel spans a turn."""
    # The log of the density is written so that near 1 nothing large cancels.
    low, high = max(0.0, 1 - _REACH / math.sqrt(df)), 1 + _REACH / math.sqrt(df)
    edges = {low + (high - low) * step / _PANELS for step in range(_PANELS + 1)}
    edges.update(turn for turn in turns if max(low, _FROM_ZERO) < turn < high)
    total = mass = 0.0
    power, log, exp = df - 1, math.log, math.exp
    for rest, right in pairwise(sorted(edges)):
        half, centre = (right - rest) / 2, (rest + right) / 2
        for node, weight in _RULE:
            s = centre + half * node
            away = s - 1
            density = weight * half * exp(power * (log(s) - away) - away * (1 + df * away / 2))
            mass += density
            total += density * function(s)
    return total / mass


def scale_quantile(share: float, df: int) -> float:
    """Return the quantile of an estimated SD in units of the true one, sqrt(chi² / df)."""
    if share < 0.5:
        half = special().gammaincinv(df / 2, share)
    else:
        half = special().gammainccinv(df / 2, 1 - share)
    return math.sqrt(2 * float(half) / df)


def tost_power(near: float, far: float, df: int, alpha: float) -> float:
    """Return the probability that two one-sided t-tests both reject, in [0, 1].

    ``near`` and ``far`` are the distances from the true difference to both ends of the margin, in
    true standard errors; the nearer is negative outside it. ``alpha`` is the level of each test.
    """
    t, reach = t_critical(df, alpha, 1), near / 2 + far / 2
    bends = (reach, *(end + step for end in (near, far) for step in BEND))
    turns = [bend / t for bend in bends if t < 0 or bend <= reach]

    def both(s: float) -> float:
        return normal_cdf(near - t * s) - normal_cdf(t * s - far) if t * s < reach else 0.0

    return min(1.0, max(0.0, mean_over_scale(both, df, turns)))


def detection_probability(n: int, share: float, population: int | None) -> float:
    """Return the probability that ``n`` random units include at least one bad one.

    Of the population round(share * population) units are bad; it is None if endless.
    """
    if population is None:
        return 1.0 if share >= 1 else -math.expm1(n * math.log1p(-share))
    bad = round(share * population)
    if n > population - bad:
        return 1.0 if bad else 0.0
    fewer, extra = sorted((n, bad))
    if not fewer:
        return 0.0
    if fewer * (extra / population) > _CERTAIN:
        return 1.0
    if fewer <= _FEW:
        return -math.expm1(sum(math.log1p(-extra / (population - i)) for i in range(fewer)))
    # The same sum, by Euler and Maclaurin. It is above -40 and has many terms, so ``extra`` is a
    # small part of the population, and the terms change slowly: the first correction is exact to
    # 1e-15.
    middle, first, last = (fewer - 1) / 2, -0.5, fewer - 0.5
    places = ((middle + fewer / 2 * node, weight) for node, weight in _RULE)
    area = fewer / 2 * sum(w * math.log1p(-extra / (population - i)) for i, w in places)
    start, end = (1 / (population - i) - 1 / (population - extra - i) for i in (first, last))
    return -math.expm1(area - (end - start) / 24)
