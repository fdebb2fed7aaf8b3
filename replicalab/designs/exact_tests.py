"""Two exact tests: of a correlation, and Fisher's of two shares.

Given the values of one measure, the test of r is the t-test of a slope, whose noncentrality depends
on how far these values spread. Averaged over that spread, the Poisson weights of the noncentral t
become those of a negative binomial distribution, so that the power is one short sum.

Which tables Fisher's test rejects follows from the size and alpha alone: of a given number of
samples with the event, those whose tail is at most alpha, or half of it on two sides. In groups of
equal size a table and its mirror image are equally likely, so on two sides this is also the usual
rule of the likelier tables. The power is a sum over the counts of one group.

Sources: Gurland (1968), Journal of the Royal Statistical Society B 30, 346-356; Johnson, Kotz &
Balakrishnan, Continuous Univariate Distributions 2, chapters 31 and 32, for the correlation;
Fisher, Statistical Methods for Research Workers (1934), section 21.02; Tocher (1950), Biometrika
37, 130-144, for the randomised test, which no unbiased test exceeds; Fleiss, Levin & Paik,
Statistical Methods for Rates and Proportions (2003), chapter 4, for the approximation.
"""

import math
from array import array
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from operator import mul
from typing import Final, NamedTuple

from replicalab.designs import distributions
from replicalab.limits import MOST_PER_GROUP, MOST_TERMS

_LARGE_MEAN: Final = 250.0  # Beyond, the first weight nears the smallest double
_LARGE: Final = 50.0  # From there the series of a ratio is exact to 1e-14
_ROUNDED_AWAY: Final = 1e-17  # the share of a sum that rounding hides
_ONE: Final = 1 - 2**-53
_NEARLY_ONE: Final = 1 - 1e-9


@lru_cache(maxsize=8192)
def correlation_power(n: int, r: float, alpha: float, sides: int = 2) -> float:
    """Return the power of the t-test of a correlation, two normal measures assumed.

    It never falls with ``n``, the pairs of values. ``r`` is in [0, 1), ``alpha`` in (0, 1).
    """
    if n < 3:
        return 0.0
    level = alpha if sides == 2 else distributions.both_tails(alpha)
    power, odd = _tails(n, r, level, 0.0), 0.0 if sides == 2 else _tails(n, r, level, 0.5)
    if power is None or odd is None:
        power = _over_spread(n, r, alpha, sides)
    elif sides == 1:
        power = (power + odd) / 2 if alpha < 0.5 else 1 - (power - odd) / 2
    return max(alpha, min(1.0, power))


def _tails(n: int, r: float, alpha: float, shift: float) -> float | None:
    # Both tails together, or for a shift of 1/2 the right minus the wrong one; None if the sum
    # would be long.
    # Term j is a weight and the probability that a beta variable (1/2 + shift + j, (n - 2) / 2)
    # exceeds the critical r²; the steps from one to the next are each a multiple of those before.
    a, b, square = (n - 1) / 2, (n - 2) / 2, r * r
    rest = (1 - r) * (1 + r)
    if a * square / rest > _LARGE_MEAN:
        return None
    alpha = max(alpha, distributions.SMALLEST_ALPHA)
    critical, top = distributions.f_critical(1, n - 2, alpha), 0.5 + shift
    x = critical / (n - 2 + critical)
    log_rest = -math.log1p(critical / (n - 2))  # of 1 - x
    weight = math.exp(a * (math.log1p(-square) if square < 0.5 else math.log(rest)))
    beyond = alpha
    if shift:
        # The log of Γ(a + 1/2) / Γ(a); for large numbers the two would cancel.
        log_ratio = math.log(a) / 2 - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5)
        if a < _LARGE:
            log_ratio = math.lgamma(a + 0.5) - math.lgamma(a)
        weight *= math.exp(log_ratio - math.lgamma(1 + shift)) * r
        # A beta variable whose first parameter is 1 exceeds x with probability (1 - x)^b.
        beyond = math.exp(b * log_rest)
    log_poch = math.log(distributions.special().poch(b, top))
    log_step = log_poch + top * math.log(x) + b * log_rest - math.lgamma(top)
    step, total, value = math.exp(log_step) / top, 0.0, 1.0
    for j in range(MOST_TERMS):
        total += weight * beyond
        value -= weight
        falls = square * (a + shift + j) / (1 + shift + j)
        weight *= falls
        if falls < 1 and weight <= _ROUNDED_AWAY * total * (1 - falls):
            return total
        if not shift and beyond > _NEARLY_ONE and step <= _ROUNDED_AWAY * (1 - x):
            return total + max(0.0, value)  # every later probability is nearly 1
        beyond = min(_ONE, beyond + step)
        step *= x * (top + b + j) / (top + 1 + j)
    return None


def _over_spread(n: int, r: float, alpha: float, sides: int) -> float:
    # The average of a t-test over the spread of one measure's values.
    root = r / math.sqrt(1 - r * r) * math.sqrt(n - 1)
    critical = distributions.t_critical(n - 2, alpha, sides)
    error = math.hypot(1, critical / math.sqrt(2 * (n - 2)))
    turns = [(critical + step * error) / root for step in distributions.BEND]

    def power(scale: float) -> float:
        if sides == 1:
            return distributions.t_beyond(critical, root * scale, n - 2)
        # Past the cache, so that entries of plans stay in it.
        return distributions.f_test_power.__wrapped__(root * scale, 1, n - 2, alpha)

    return distributions.mean_over_scale(power, n - 1, turns)


_REACH: Final = 9.0  # SDs of a count that cover all but 1e-18
_TIE: Final = 1e-9  # relative difference up to which a tail equals its level
_ROUNDING: Final = 1e-12  # of powers near 0 or 1
_NEGLIGIBLE: Final = 1e-12


class _Counts(NamedTuple):
    low: int
    chances: list[float]


def other_share(baseline: float, size: float) -> float:
    """Return the share that lies Cohen's h below a share, at least 0."""
    return math.sin(max(0.0, math.asin(math.sqrt(baseline)) - size / 2)) ** 2


def largest_h(baseline: float) -> float:
    """Return the largest Cohen's h that a share can lie below a share."""
    return 2 * math.asin(math.sqrt(baseline))


def shares_power(n: int, size: float, baseline: float, alpha: float, sides: int = 2) -> float:
    """Return the power of Fisher's exact test, or of fewer samples if that is higher.

    It never falls with ``n``, since samples can be left out. Beyond twice `MOST_PER_GROUP` it is
    that of the z-test with a continuity correction, if that is higher. Without an effect it is
    that of all samples, at most ``alpha``. The ``n`` samples are in two groups of equal size;
    ``size`` is Cohen's h, 0 or more, ``baseline`` the higher of both shares.
    """
    number, other = n // 2, other_share(baseline, size)
    alpha = max(alpha, distributions.SMALLEST_ALPHA)
    if other >= baseline:
        return _at(min(number, MOST_PER_GROUP), baseline, baseline, alpha, sides)[0]
    if number <= MOST_PER_GROUP:
        return _most_power(number, baseline, other, alpha, sides)[0]
    corrected = _corrected(number, baseline, other, alpha, sides)
    best, _ = _most_power(MOST_PER_GROUP, baseline, other, alpha, sides, known=corrected)
    return corrected if corrected > best else best


def least_h(n: int, target: float, baseline: float, alpha: float, sides: int = 2) -> float | None:
    """Return the smallest Cohen's h at which `shares_power` reaches a target, if any does.

    The target is above ``alpha``. As exact as `least_reaching`, and on the side that reaches it.
    """
    # The power is the maximum over many sizes, so the least h is the minimum of theirs: the best
    # size at a first h gives a smaller h, until the size itself is the best. Finding the best
    # takes as long as a hundred powers of one size.
    number, limit, alpha = n // 2, largest_h(baseline), max(alpha, distributions.SMALLEST_ALPHA)
    few = min(number, MOST_PER_GROUP)

    def own(size: int) -> float | None:
        return distributions.least_reaching(
            lambda h: _at(size, baseline, other_share(baseline, h), alpha, sides)[0], target, limit
        )

    def corrected(h: float) -> float:
        other = other_share(baseline, h)
        return _corrected(number, baseline, other, alpha, sides) if other < baseline else 0.0

    value = distributions.least_reaching(corrected, target, limit) if number > few else own(few)
    while True:
        here = other_share(baseline, limit if value is None else value)
        best, luckiest = _most_power(few, baseline, here, alpha, sides, known=target)
        nearer = own(luckiest) if best >= target else None
        if nearer is None or (value is not None and nearer >= value):
            return value
        value = nearer


def _corrected(arm: int, one: float, other: float, alpha: float, sides: int) -> float:
    # The power of the z-test with a continuity correction, nearly that of Fisher's test.
    less = arm - 1 / (one - other)  # the size of a group after the correction
    spread, middle = one * (1 - one) + other * (1 - other), (one + other) / 2
    if less <= 0 or not spread:
        return float(less > 0)
    shift = (one - other) * less / math.sqrt(arm * spread)
    critical = distributions.z_critical(alpha, sides)
    critical *= math.sqrt(2 * middle * (1 - middle) / spread)
    signs = (1, -1)[:sides]
    return min(1.0, sum(distributions.normal_cdf(sign * shift - critical) for sign in signs))


@lru_cache(maxsize=8192)
def _most_power(
    arm: int, one: float, other: float, alpha: float, sides: int, *, known: float = 0.0
) -> tuple[float, int]:
    # The highest power of groups of at most a size, and that size; the search ends early below a
    # power already ``known``.
    best, luckiest = 0.0, 0
    for size in range(arm, 0, -1):
        value, limit = _at(size, one, other, alpha, sides)
        if value > best:
            best, luckiest = value, size
        if best > 1 - _ROUNDING:
            return 1.0, luckiest
        if limit < max(best - _ROUNDING, known - _ROUNDING, _ROUNDING):
            break
    return (best if best > _ROUNDING else 0.0), luckiest


@lru_cache(maxsize=8192)
def _at(arm: int, one: float, other: float, alpha: float, sides: int) -> tuple[float, float]:
    # The power of groups of one size, and an upper bound for this and all smaller sizes: the power
    # of the randomised test, which also rejects some of the next table of each total. It is the
    # most powerful of all unbiased tests, so it never falls with the size.
    if not arm:
        return 0.0, 0.0
    bounds = _bounds(arm, alpha / sides)
    first, second = _counts(arm, one), _counts(arm, other)
    # The chance that the second group counts fewer than 0, 1, …, each + 1.
    sums = list(accumulate(second.chances, initial=0.0))
    fewer = [0.0] * second.low + sums + [sums[-1]] * (arm + 2 - second.low - len(sums))
    counts, chances = range(first.low, first.low + len(first.chances)), first.chances
    # The chance of a rejection below the bound, and with the next table of each total.
    lower = [fewer[bounds[x] + 1] for x in counts]
    next_lower = [fewer[bounds[x + 1] + 2] if x < arm else lower[-1] for x in counts]
    power = sum(map(mul, chances, lower))
    gain = sum(map(mul, chances, next_lower)) - power
    if sides == 2:  # the same above the bound, by the mirrored tables
        upper = [fewer[arm - bounds[arm - x]] for x in counts]
        next_upper = [fewer[arm - 1 - bounds[arm - x + 1]] if x else upper[0] for x in counts]
        above = sum(map(mul, chances, upper))
        power += max(0.0, sum(chances) * fewer[-1] - above)
        gain += above - sum(map(mul, chances, next_upper))
    gain += _at_the_ends(arm, bounds[arm], alpha / sides, (first, second), sides)
    return min(1.0, power), power + gain


def _at_the_ends(
    arm: int, bound: int, tail: float, counts: tuple[_Counts, _Counts], sides: int
) -> float:
    # The extra rejections of the randomised test at the ends, 0 and all of the first group.
    (first, second), total, y = counts, 0.0, bound + 1
    whole, full = math.lgamma(arm + 1), math.lgamma(2 * arm + 1)
    while y < arm:
        # The tail of a total that holds all of the first group is that table alone.
        log = whole - math.lgamma(y + 1) + math.lgamma(arm + y + 1) - full
        part = tail * math.exp(-log)
        if part < _NEGLIGIBLE:
            break
        total += part * _chance(first, arm) * _chance(second, y)
        if sides == 2:
            total += part * _chance(first, 0) * _chance(second, arm - y)
        y += 1
    return total + _NEGLIGIBLE


def _chance(counts: _Counts, count: int) -> float:
    place = count - counts.low
    return counts.chances[place] if 0 <= place < len(counts.chances) else 0.0


@lru_cache(maxsize=2 * MOST_PER_GROUP)
def _bounds(arm: int, level: float) -> Sequence[int]:
    # By count of the one group, the largest smaller count of the other that is rejected, or -1;
    # the larger counts are the mirror image.
    level, bounds = level * (1 + _TIE), array("h", [-1]) * (arm + 1)
    # For x in the one group and y in the other: the table's chance given its total, and the tail
    # from it on. Both follow from those of one fewer, in the one group or in the other.
    chance, x = 1.0, 0
    while chance > level and x < arm:
        chance *= (arm - x) / (2 * arm - x)
        x += 1
    if chance > level:
        return bounds
    tail, y = chance, 0
    while True:
        # This table is rejected; the bound is before the first that is not.
        while y < arm - 1:
            rest = 2 * arm - x - y
            beyond = tail + chance * x * (arm - y) / ((y + 1) * rest)
            if beyond > level:
                break
            chance *= (arm - y) / (y + 1) * ((x + y + 1) / rest)
            tail, y = beyond, y + 1
        bounds[x] = y
        if x == arm:
            return bounds
        rest = 2 * arm - x - y
        tail -= chance * (arm - y) / rest
        chance *= (arm - x) / (x + 1) * ((x + y + 1) / rest)
        tail, x = max(tail, chance), x + 1


@lru_cache(maxsize=256)
def _counts(arm: int, share: float) -> _Counts:
    if share in (0.0, 1.0):
        return _Counts(round(arm * share), [1.0])
    reach = _REACH * math.sqrt(arm * share * (1 - share)) + _REACH**2 / 2
    low, high = max(0, math.floor(arm * share - reach)), min(arm, math.ceil(arm * share + reach))
    # From the likeliest count on, each chance is a multiple of the one before.
    mode, odds = min(arm, int((arm + 1) * share)), share / (1 - share)
    log = math.lgamma(arm + 1) - math.lgamma(mode + 1) - math.lgamma(arm - mode + 1)
    top = math.exp(log + mode * math.log(share) + (arm - mode) * math.log1p(-share))
    up = ((arm - x) / (x + 1) * odds for x in range(mode, high))
    down = (x / ((arm - x + 1) * odds) for x in range(mode, low, -1))
    lower = [*accumulate(down, mul, initial=top)]
    return _Counts(low, [*lower[:0:-1], *accumulate(up, mul, initial=top)])
