"""The exact distribution of a sample correlation of two normal measures: the test of r.

Given the values of one measure, the test of r is the t-test of a slope, whose noncentrality follows
how far these values spread. Averaged over that spread, the Poisson weights of the noncentral t
become those of a negative binomial distribution, so that a power is one short sum.
Sources: Gurland (1968), Journal of the Royal Statistical Society B 30, 346-356, for the mixture;
Johnson, Kotz & Balakrishnan, Continuous Univariate Distributions 2, chapters 31 and 32.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from replicalab.designs import distributions

# Where a power over its noncentrality bends, in standard errors about the critical value.
_BEND: Final = (-8, -4, 0, 4, 8)
_MOST_MEAN: Final = 250.0  # Beyond, the first weight nears the smallest double
_MOST_TERMS: Final = 2000
_NEGLIGIBLE: Final = 1e-17  # The share of a sum that its rounding hides
_ONE: Final = 1 - 2**-53
_NEARLY_ONE: Final = 1 - 1e-9


def _two_sided(noncentrality: float, df: int, alpha: float) -> float:
    """Return the power of a t-test past the cache, in which it would take the place of plans'."""
    return distributions.f_test_power.__wrapped__(noncentrality, 1, df, alpha)


@lru_cache(maxsize=8192)
def correlation_power(n: int, r: float, alpha: float) -> float:
    """Return the power of the two-sided t-test of a correlation, two normal measures assumed.

    It never falls with ``n``: the test is the most powerful of all unbiased ones.

    Args:
        n: pairs of values; 0.0 below 3, where there is no test.
        r: the correlation, in [0, 1).
        alpha: significance level in (0, 1).
    """
    if n < 3:
        return 0.0
    power = _tails(n, r, alpha, 0.0)
    return max(alpha, min(1.0, power if power is not None else _over_spread(n, r, alpha)))


def correlation_wrong_sign(n: int, r: float, alpha: float) -> float:
    """Return the part of that power that is significant with the wrong sign, exact to 1e-12.

    The arguments are those of `correlation_power`.
    """
    if n < 3:
        return 0.0
    both, odd = _tails(n, r, alpha, 0.0), _tails(n, r, alpha, 0.5)
    if both is None or odd is None:
        return _over_spread(n, r, alpha, distributions.t_test_wrong_sign)
    return max(0.0, (both - odd) / 2)


def _tails(n: int, r: float, alpha: float, shift: float) -> float | None:
    """Return what both tails hold together, or, of a shift of 1/2, the right less the wrong one.

    None where the sum would be long.
    """
    # Term j is a weight and the probability that a beta variable (1/2 + shift + j, (n - 2) / 2)
    # exceeds the critical r²; the steps from one to the next are each a multiple of those before.
    a, b, square = (n - 1) / 2, (n - 2) / 2, r * r
    rest = (1 - r) * (1 + r)
    if a * square / rest > _MOST_MEAN:
        return None
    alpha = max(alpha, distributions.SMALLEST_ALPHA)
    critical, top = distributions.f_critical(1, n - 2, alpha), 0.5 + shift
    x = critical / (n - 2 + critical)
    log_rest = -math.log1p(critical / (n - 2))  # of 1 - x
    weight = math.exp(a * (math.log1p(-square) if square < 0.5 else math.log(rest)))
    beyond = alpha
    if shift:
        lead = math.lgamma(a + shift) - math.lgamma(a) - math.lgamma(1 + shift)
        weight *= math.exp(lead) * r
        # A beta variable whose first parameter is 1 exceeds x with probability (1 - x)^b.
        beyond = math.exp(b * log_rest)
    log_poch = math.log(distributions.special().poch(b, top))
    log_step = log_poch + top * math.log(x) + b * log_rest - math.lgamma(top)
    step, total, left = math.exp(log_step) / top, 0.0, 1.0
    for j in range(_MOST_TERMS):
        total += weight * beyond
        left -= weight
        falls = square * (a + shift + j) / (1 + shift + j)
        weight *= falls
        if falls < 1 and weight <= _NEGLIGIBLE * total * (1 - falls):
            return total
        if not shift and beyond > _NEARLY_ONE and step <= _NEGLIGIBLE * (1 - x):
            return total + max(0.0, left)  # Every later one is as good as 1
        beyond = min(_ONE, beyond + step)
        step *= x * (top + b + j) / (top + 1 + j)
    return None


def _over_spread(
    n: int, r: float, alpha: float, test: Callable[[float, int, float], float] = _two_sided
) -> float:
    """Return what a t-test has on average over the spread of one measure's values."""
    root = r / math.sqrt(1 - r * r) * math.sqrt(n - 1)
    critical = distributions.t_critical(n - 2, alpha)
    error = math.hypot(1, critical / math.sqrt(2 * (n - 2)))
    turns = [(critical + step * error) / root for step in _BEND]
    return distributions.mean_over_scale(lambda s: test(root * s, n - 2, alpha), n - 1, turns)
