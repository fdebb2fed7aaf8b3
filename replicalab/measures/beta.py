"""The beta distribution in its far tails, where the critical values of F tests lie.

A point is given by its logit, log(x / (1 - x)): so neither x nor 1 - x is ever rounded to 0 or 1.
Sources: Didonato & Morris (1992), ACM Transactions on Mathematical Software 18, 360-373, for the
continued fraction, summed as by Lentz (1976), Applied Optics 15, 668-671; Loader (2000), Fast and
Accurate Computation of Binomial Probabilities, for densities without large numbers that cancel;
Wallace (1959), Annals of Mathematical Statistics 30, 1121-1123, for where to begin.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Final

_NORMAL: Final = NormalDist()
_TINY: Final = 1e-300
_NEGLIGIBLE: Final = 1e-15
_ALMOST_ONE: Final = 1 - _NEGLIGIBLE
_MOST_TERMS: Final = 100_000
_MOST_STEPS: Final = 60
# A correction that changes the log of a tail by so little leaves an error of its cube.
_CLOSE: Final = 1e-5
# Of x times what Stirling's formula leaves of log Gamma(x), in powers of 1/x², highest first.
_STIRLING: Final = (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
_LARGE: Final = 12.0
_FAR: Final = 700.0  # The exponential function overflows a little beyond


@lru_cache(maxsize=8192)
def upper_logit(a: float, b: float, beyond: float) -> float:
    """Return the logit of the x that a beta variable (a, b) exceeds with probability ``beyond``.

    Newton's method on the logarithm of the smaller tail: that is concave in the logit, so that
    from the second step on the steps go one way and cannot miss. Nearby by Halley's.
    """
    if beyond > 0.5:
        return -upper_logit(b, a, 1 - beyond)
    wanted = math.log(beyond)
    if a == 0.5:
        # The square of a t, first guessed as by Wallace.
        root = _NORMAL.inv_cdf(beyond / 2) * (16 * b + 3) / (16 * b + 1)
        guess = root * root / (2 * b)
        logit = guess + math.log(-math.expm1(-guess))
    else:
        logit = math.log(a / b) - _NORMAL.inv_cdf(beyond) * math.sqrt(1 / a + 1 / b)
    for _ in range(_MOST_STEPS):
        log_tail = _log_upper(a, b, logit)
        miss = log_tail - wanted
        slope = math.exp(log_kernel(a, b, logit) - log_tail)
        bend = slope + a * share_of(-logit) - b * share_of(logit)
        logit += miss / (slope + miss * bend / 2 if abs(miss) < 1 else slope)
        if abs(miss) < _CLOSE:
            break
    return logit


def _log_upper(a: float, b: float, logit: float) -> float:
    """Return the log of the probability that a beta variable exceeds the point of that logit."""
    below, above = share_of(logit), share_of(-logit)
    log_density, lean = log_kernel(a, b, logit), a * above - b * below
    if lean < 0:
        return log_density - math.log(_fraction(b, a, above, -lean))
    return math.log1p(-min(math.exp(log_density) / _fraction(a, b, below, lean), _ALMOST_ONE))


def share_of(logit: float) -> float:
    """Return the x of a logit."""
    return 1 / (1 + math.exp(-logit)) if logit > -_FAR else math.exp(logit)


def log_kernel(a: float, b: float, logit: float) -> float:
    """Return the log of x^a (1 - x)^b / B(a, b): the density of the logit."""
    if a > b:
        return log_kernel(b, a, -logit)
    both = a + b
    shift = logit - math.log(a / b)
    if shift > _FAR:
        spread = -b * shift - both * math.log(a / both)
    else:
        spread = a * shift - both * math.log1p(a / both * math.expm1(shift))
    rest = _left_by_stirling(both) - _left_by_stirling(a) - _left_by_stirling(b)
    return spread + math.log(a / both * b / (2 * math.pi)) / 2 + rest


def _left_by_stirling(x: float) -> float:
    """Return log Gamma(x) less Stirling's formula, (x - 1/2) log x - x + log(2 pi) / 2."""
    if x < _LARGE:
        return math.lgamma(x) - ((x - 0.5) * math.log(x) - x + math.log(2 * math.pi) / 2)
    square, series = 1 / (x * x), 0.0
    for coefficient in _STIRLING:
        series = series * square + coefficient
    return series / x


def _fraction(a: float, b: float, x: float, lean: float) -> float:
    """Return the density of the logit at x over the probability below x, for x below the mean.

    ``lean`` is a (1 - x) - b x, 0 or more, which the caller knows without rounding.
    """
    value = ratio = a * (lean + 1) / (a + 1)
    inverse = 0.0
    for m in range(1, _MOST_TERMS):
        place, odd = a + 2 * m, m * (b - m) * x / (a + 2 * m - 1)
        numerator = (a + m - 1) * (a + b + m - 1) * x * odd / (place - 1)
        term = m + odd + (a + m) * (lean + 1 + m * (2 - x)) / (place + 1)
        inverse = 1 / (term + numerator * inverse or _TINY)
        ratio = term + numerator / ratio or _TINY
        value *= ratio * inverse
        if abs(ratio * inverse - 1) < _NEGLIGIBLE:
            break
    return value
