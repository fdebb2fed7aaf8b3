"""The power of the tests that people run, where a kind's own formula only approximates it.

Each is what the approximation stands for, at the same n: Fisher's exact test of two binomial
samples, and the log-rank test of two arms with proportional hazards. They are shown next to the
evidence and decide nothing. The work of each is bounded, whatever the n.
Sources: Fisher, Statistical Methods for Research Workers (1934), section 21.02; Mantel (1966),
Cancer Chemotherapy Reports 50, 163-170; van Kampen, Stochastic Processes in Physics and Chemistry
(2007), chapter X.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from operator import mul
from typing import Final

from replicalab.measures import distributions

# SDs of a count within which lies all of it that moves the second digit of a power.
_REACH: Final = 7
# Tables whose probabilities differ by less, relative to themselves, are equally likely.
_TIE: Final = 1e-7
MOST_ENUMERATED: Final = 4000
"""Up to so many samples Fisher's exact test is enumerated.

Beyond, the arcsine is within 0.02 of it at any alpha from 0.001 to 0.2.
"""

_MOST_WALKED: Final = 200  # Up to so many events of a log-rank test are taken one by one
# Expected events are distinguished to a hundredth of all, at most to this, and finer for few.
_COARSEST: Final = 1.5
_FEW_EVENTS: Final = 40
_LOST: Final = 1e-8  # A course of events less likely than this is not followed further
_STEPS: Final = 200  # In so many steps the events of a longer log-rank test are taken
# Where what goes with a whole count varies by more, the count's steps are not seen.
_SMOOTH: Final = 0.16
# Log of a hazard ratio beyond which every event falls in the one arm while it has any left.
_STRONGEST: Final = 50.0
_TINY: Final = 1e-12


# --- two shares -------------------------------------------------------------------------------


def middle_fisher_power(n: int, size: float, alpha: float) -> float | None:
    """Return the power of Fisher's exact test, two-sided, for shares evenly about one half.

    Every table that is likely enough is counted. None beyond `MOST_ENUMERATED` samples.

    Args:
        n: samples, of two groups that differ by one at most.
        size: Cohen's h, 0 or more; beyond pi, where there are no such shares, it counts as pi.
        alpha: significance level in (0, 1).
    """
    if n > MOST_ENUMERATED:
        return None
    first, second = n // 2, n - n // 2
    away = math.sin(min(size, math.pi) / 2) / 2
    share, other = 0.5 + away, 0.5 - away
    seen, chance = _binomial(first, share), _binomial(first, 0.5)
    seen_other, chance_other = _binomial(second, other)[::-1], _binomial(second, 0.5)[::-1]
    mean, spread = first * share + second * other, math.sqrt(n * share * other)
    kept = 0.0
    for total in _around(mean, spread * _REACH + 1, n):
        # Of a table with that total; the second group's lists run backwards, so that they align.
        shift = second - total
        width = (distributions.z_critical(alpha) + 4) * math.sqrt(n) / 4 + _REACH
        near = _around(total * first / n, width, min(first, total), max(0, -shift))
        likely = _products(chance, chance_other, near, shift)
        accepted = _not_rejected(likely, alpha)
        kept += sum(_products(seen, seen_other, near[accepted.start : accepted.stop], shift))
    return min(1.0, max(0.0, 1 - kept))


def fisher_power_beside_none(n: int, size: float, alpha: float) -> float:
    """Return the power of Fisher's exact test, two-sided, where the second share is 0."""
    # It rejects from a count on that follows from n and alpha alone: so this has no bound on n.
    # The share that is a Cohen's h away from a share of 0.
    first, share = n // 2, math.sin(min(size, math.pi) / 2) ** 2
    # Of groups of equal size a table and its mirror image are equally likely, and both count.
    tail, least = 2.0 if n % 2 == 0 else 1.0, 0
    while tail > alpha and least < first:
        tail *= (first - least) / (n - least)
        least += 1
    if tail > alpha:
        return 0.0
    return max(0.0, 1 - sum(_binomial(first, share, least)))


def _binomial(n: int, share: float, end: int | None = None) -> list[float]:
    """Return the probabilities of 0 to n, or of the counts before an end."""
    counts = range(n + 1 if end is None else min(end, n + 1))
    if share in (0.0, 1.0):
        return [float(count == n * share) for count in counts]
    log, rest, every = math.log(share), math.log1p(-share), math.lgamma(n + 1)
    return [
        math.exp(every - math.lgamma(x + 1) - math.lgamma(n - x + 1) + x * log + (n - x) * rest)
        for x in counts
    ]


def _around(middle: float, width: float, most: int, least: int = 0) -> range:
    """Return the counts from the least to the most that are so near to a middle."""
    low, high = math.floor(middle - width), math.ceil(middle + width)
    return range(max(least, low), min(most, high) + 1)


def _products(one: Sequence[float], other: Sequence[float], at: range, shift: int) -> list[float]:
    """Return the products of two lists at some places, which in the other are shifted."""
    return list(map(mul, one[at.start : at.stop], other[at.start + shift : at.stop + shift]))


def _not_rejected(likely: Sequence[float], alpha: float) -> range:
    """Return the places of the tables that Fisher's test does not reject."""
    # It rejects a table where all that are no likelier have a probability of alpha together. The
    # likely ones stand side by side, for their probabilities rise and then fall.
    ordered = sorted(likely)
    sums = list(accumulate(ordered))
    rejected = bisect_right(sums, alpha * sums[-1] * (1 + _TIE))
    if rejected == len(ordered):
        return range(0)
    least = ordered[rejected] * (1 - _TIE)
    places = [place for place, chance in enumerate(likely) if chance >= least]
    return range(places[0], places[-1] + 1)


# --- survival ---------------------------------------------------------------------------------


def log_rank_power(n: int, events: float, log_ratio: float, alpha: float) -> float:
    """Return the power of the two-sided log-rank test of two arms with proportional hazards.

    Which arm an event falls in depends on who is still at risk, and not on when it falls: so all
    courses of events can be followed. The arms are watched until there are so many events; a
    fraction of one more is a chance of one more.

    Args:
        n: samples, of two arms that differ by one at most.
        events: how many of them have an event, at most n.
        log_ratio: the log of the hazard ratio; its sign does not count.
        alpha: significance level in (0, 1).
    """
    if n < 2:
        return 0.0
    ratio, critical = math.exp(-min(abs(log_ratio), _STRONGEST)), distributions.z_critical(alpha)
    if events > _MOST_WALKED:
        return _power_by_noise(n, events, ratio, critical)
    return _power_by_courses(n, events, ratio, critical)


def _power_by_courses(n: int, events: float, ratio: float, critical: float) -> float:
    """Return the power over all courses of events, those alike taken together."""
    # Courses are alike where as many events fell in the first arm and about as many were expected
    # there. Of them are kept the probability and, weighted by it, the mean and the square of what
    # was expected, and the variance of the test.
    first, whole = n // 2, math.floor(events)
    apart = min(_COARSEST, events / 100 * min(1.0, (events / _FEW_EVENTS) ** 3)) or 1.0
    courses = {(0, 0): [1.0, 0.0, 0.0, 0.0]}
    powers = []
    for fallen in range(whole + 1):
        if fallen == whole:
            powers.append(_rejected(courses, critical))
        if fallen == n or (fallen == whole and events == whole):
            break
        after: dict[tuple[int, int], list[float]] = {}
        for (here, _), (chance, expected, square, variance) in courses.items():
            if chance < _LOST:
                continue
            left, other = first - here, n - first - fallen + here
            share = left / (left + other)
            falls = left * ratio / (left * ratio + other)
            more = expected + chance * share
            squares = square + share * (expected + more)
            spread = variance + chance * share * (1 - share)
            cell = int(more / chance / apart)
            for key, part in (((here + 1, cell), falls), ((here, cell), 1 - falls)):
                if part:
                    course = after.setdefault(key, [0.0, 0.0, 0.0, 0.0])
                    course[0] += chance * part
                    course[1] += more * part
                    course[2] += squares * part
                    course[3] += spread * part
        courses = after
    if events > whole:
        powers.append(_rejected(courses, critical))
    return powers[0] + (powers[-1] - powers[0]) * (events - whole)


def _rejected(courses: dict[tuple[int, int], list[float]], critical: float) -> float:
    """Return the probability of the courses that the test rejects."""
    # What was expected in courses that are alike is taken as spread evenly about its mean.
    power = 0.0
    for (here, _), (chance, expected, square, variance) in courses.items():
        mean = expected / chance
        half = math.sqrt(3 * max(0.0, square / chance - mean * mean))
        beyond = abs(here - mean) - critical * math.sqrt(max(0.0, variance) / chance)
        if beyond > half + _TINY:
            power += chance
        elif beyond > -half:
            power += chance * (beyond + half) / (2 * half) if half > _TINY else 0.0
    return power


def _power_by_noise(n: int, events: float, ratio: float, critical: float) -> float:
    """Return the power where so many courses of events are a path and its noise."""
    # Followed are the means of the events in the first arm, of how many they are more than
    # expected, and of the test's variance, and how these three vary together, to first order.
    first, step = n // 2, events / _STEPS
    here = excess = variance = 0.0
    hh = hx = hv = xx = xv = vv = 0.0
    for turn in range(_STEPS):
        fallen, at = (turn + 0.5) * step, here
        for _ in range(2):  # At the middle of the step, found by half a step.
            left = max(first - at, _TINY)
            other = max(n - first - fallen + at, _TINY)
            share, hazard = left / (left + other), left * ratio + other
            falls = left * ratio / hazard
            at = here + falls * step / 2
        pull = max(-ratio * (left + other) / hazard**2 * step, -_REACH)
        damped = math.expm1(pull) / pull
        lean = (pull + step / (left + other)) * damped
        bend = (2 * share - 1) / (left + other) * step * damped
        noise, keep = falls * (1 - falls) * step, math.exp(pull)
        vv += 2 * bend * hv + bend * bend * hh
        xv += lean * hv + bend * hx + lean * bend * hh
        xx += 2 * lean * hx + lean * lean * hh + noise
        hx = keep * (hx + lean * hh) + noise
        hv = keep * (hv + bend * hh)
        hh = keep * keep * hh + noise
        here += falls * step
        excess += (falls - share) * step
        variance += share * (1 - share) * step
    bound = critical * math.sqrt(variance)
    power, per = 0.0, critical / (2 * math.sqrt(variance))
    for side in (-1, 1):
        over, together = side * excess - bound, side * hx - per * hv
        spread = xx - 2 * side * per * xv + per * per * vv
        power += _beyond_none(over, spread, here, hh, together)
    return min(1.0, power)


def _beyond_none(mean: float, spread: float, count: float, varies: float, together: float) -> float:
    """Return the probability that a normal quantity exceeds 0, where it goes with a whole count.

    Args:
        mean: its mean.
        spread: its variance.
        count: the mean of the count.
        varies: the variance of the count.
        together: their covariance.
    """
    rest = spread - together * together / varies
    if rest > _SMOOTH:
        return distributions.normal_cdf(mean / math.sqrt(spread))
    error, root = math.sqrt(max(rest, _TINY)), math.sqrt(varies)
    chance = 0.0
    for whole in range(math.floor(count - _REACH * root), math.ceil(count + _REACH * root) + 1):
        low, high = (distributions.normal_cdf((whole + end - count) / root) for end in (-0.5, 0.5))
        chance += (high - low) * distributions.normal_cdf(
            (mean + together / varies * (whole - count)) / error
        )
    return chance
