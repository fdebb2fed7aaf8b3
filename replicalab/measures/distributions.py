"""The few probability distributions that planning needs: exact, quick and without NaN.

The power of an F test is the upper tail of a noncentral F: a Poisson mixture of incomplete beta
functions that starts at alpha and of which every term is positive, so that nothing cancels. A
two-sided t-test is the case of one numerator degree of freedom. Where the mixture has too many
terms, the statistic is taken as what it is, a normal and a chi over a chi scale, and its tail is
averaged over both. So is the power of two one-sided tests.
Sources: Johnson, Kotz & Balakrishnan, Continuous Univariate Distributions 2, chapters 28, 30, 31;
Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680. Of the beta:
Didonato & Morris (1992), ACM Transactions on Mathematical Software 18, 360-373, for the continued
fraction, summed as by Lentz (1976), Applied Optics 15, 668-671; Loader (2000), Fast and Accurate
Computation of Binomial Probabilities, for densities without large numbers that cancel; Wallace
(1959), Annals of Mathematical Statistics 30, 1121-1123, for where to begin.
"""

import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist
from typing import Final

_NORMAL: Final = NormalDist()
_NEGLIGIBLE: Final = 1e-17  # The share of a sum that its rounding hides
_CERTAIN: Final = 40.0  # Minus the log of a probability too small to move 1
# The largest Poisson mean whose mixture is summed; the quadrature is quicker beyond.
_MOST_TERMS: Final = 250.0
# Smaller levels count as this one: at one degree of freedom their t would exceed a double.
SMALLEST_ALPHA: Final = 1e-150
_REACH: Final = 9.5  # SDs of a normal, and of the scale of a t, within which lies all but 1e-18
# Where a normal probability bends, in SDs: at 0, and where it has all but run out.
_BEND: Final = (-8, -4, 0, 4, 8)
_PANELS: Final = 4
# A bend nearer to 0 weighs nothing, and between the two there is hardly a double.
_FROM_ZERO: Final = 1e-300
_FEW: Final = 400  # Up to so many factors of a probability are multiplied one by one

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


# --- z and t tests ----------------------------------------------------------------------------


def normal_cdf(x: float) -> float:
    """Return the standard normal probability below ``x``, accurate in both tails."""
    return 0.5 * math.erfc(-x * math.sqrt(0.5))


def z_critical(alpha: float) -> float:
    """Return the z with P(|Z| > z) = alpha, accurate for any alpha in (0, 1)."""
    return -_NORMAL.inv_cdf(max(alpha, SMALLEST_ALPHA) / 2)


def z_test_power(shift: float, alpha: float) -> float:
    """Return the power of a two-sided z-test whose statistic is shifted by ``shift``."""
    critical = z_critical(alpha)
    return min(1.0, normal_cdf(shift - critical) + normal_cdf(-shift - critical))


def t_critical(df: int, alpha: float) -> float:
    """Return the t with P(|T| > t) = alpha at ``df`` degrees of freedom, exact to 1e-13."""
    return math.exp(upper_logit(0.5, df / 2, max(alpha, SMALLEST_ALPHA)) / 2) * math.sqrt(df)


def t_test_power(noncentrality: float, df: int, alpha: float) -> float:
    """Return the power of a two-sided t-test, in [alpha, 1].

    Args:
        noncentrality: effect size times the root of the effective sample size; any number.
        df: degrees of freedom, 1 or more.
        alpha: two-sided significance level in (0, 1).
    """
    return f_test_power(abs(noncentrality), 1, df, alpha)


def t_test_wrong_sign(noncentrality: float, df: int, alpha: float) -> float:
    """Return the part of a two-sided t-test's power that is significant with the wrong sign.

    The arguments are those of `t_test_power`.
    """
    shift, critical = abs(noncentrality), t_critical(df, alpha)
    turns = [(step - shift) / critical for step in _BEND]
    return mean_over_scale(lambda s: normal_cdf(-shift - critical * s), df, turns)


def t_two_sided(t: float, df: int) -> float:
    """Return P(|T| > |t|) at ``df`` degrees of freedom, 1 or more."""
    if not t:
        return 1.0
    return math.exp(_log_upper(0.5, df / 2, 2 * math.log(abs(t)) - math.log(df)))


def t_beyond(t: float, noncentrality: float, df: int) -> float:
    """Return P(T > t) of a noncentral t; ``t`` is above 0, ``df`` 1 or more."""
    turns = [(noncentrality + step) / t for step in _BEND]
    return mean_over_scale(lambda s: normal_cdf(noncentrality - t * s), df, turns)


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
    alpha = max(alpha, SMALLEST_ALPHA)
    logit = upper_logit(df1 / 2, df2 / 2, alpha)
    critical = math.exp(logit / 2) * math.sqrt(df2)
    if noncentrality > _REACH + critical * (1 + _REACH / math.sqrt(df2)):
        return 1.0
    mean = noncentrality * noncentrality / 2
    if mean <= _MOST_TERMS:
        power = _mixture(mean, alpha, df1 / 2, df2 / 2, logit)
    elif df1 == 1:
        power = _upper_tail(noncentrality, critical, df2)
    else:
        power = _mean_upper_tail(noncentrality, critical, df1, df2)
    return max(alpha, min(1.0, power))


def _mixture(mean: float, alpha: float, a: float, b: float, logit: float) -> float:
    """Return the sum of Poisson(j; mean) Q(j), with Q(0) = alpha."""
    # Q(j) is the probability that a beta variable (a + j, b) exceeds the x of that logit; the steps
    # from one Q to the next are each a multiple of the step before.
    x, beyond, weight, total, j = share_of(logit), alpha, math.exp(-mean), 0.0, 0
    step = math.exp(log_kernel(a, b, logit)) / a
    while True:
        total += weight * beyond
        if j >= mean and weight * mean <= _NEGLIGIBLE * total * (j + 1 - mean):
            return total
        beyond += step
        step *= x * (a + b + j) / (a + 1 + j)
        j += 1
        weight *= mean / j


def _mean_upper_tail(delta: float, critical: float, df1: int, df2: int) -> float:
    """Return P((Z + delta)² + V > (critical S)²) over the chi² V and the scale S."""
    spread = math.hypot(2 * delta, critical * critical * math.sqrt(2 / df2))
    middle = critical * critical - delta * delta
    bends = (middle + step * spread for step in _BEND)
    turns = [math.sqrt(v / (df1 - 1)) for v in bends if v > 0]
    return mean_over_scale(
        lambda s: _upper_tail(delta, critical, df2, (df1 - 1) * s * s), df1 - 1, turns
    )


def _upper_tail(delta: float, critical: float, df: int, v: float = 0.0) -> float:
    """Return P(Z + delta > root of (critical S)² - v) over the scale S."""
    # The normal Z is on the far side of 0 with a probability too small to count.

    def beyond(s: float) -> float:
        return normal_cdf(delta - math.sqrt(max(0.0, (critical * s) ** 2 - v)))

    turns = [math.hypot(delta + step, math.sqrt(v)) / critical for step in _BEND]
    return mean_over_scale(beyond, df, turns)


def mean_over_scale(function: Callable[[float], float], df: int, turns: Iterable[float]) -> float:
    """Return the mean of a function of the scale S = sqrt(chi² / df).

    Where the function bends within a small part of the whole it has a turn, and no panel spans one.
    """
    # The log of the density is written so that near 1 nothing large cancels.
    low, high = max(0.0, 1 - _REACH / math.sqrt(df)), 1 + _REACH / math.sqrt(df)
    edges = {low + (high - low) * step / _PANELS for step in range(_PANELS + 1)}
    edges.update(turn for turn in turns if max(low, _FROM_ZERO) < turn < high)
    total = mass = 0.0
    power, log, exp = df - 1, math.log, math.exp
    for left, right in pairwise(sorted(edges)):
        half, centre = (right - left) / 2, (left + right) / 2
        for node, weight in _RULE:
            s = centre + half * node
            away = s - 1
            density = weight * half * exp(power * (log(s) - away) - away * (1 + df * away / 2))
            mass += density
            total += density * function(s)
    return total / mass


# --- the spread of an SD ----------------------------------------------------------------------


@lru_cache(maxsize=8192)
def scale_quantile(share: float, df: int) -> float:
    """Return what the scale S = sqrt(chi² / df) exceeds with probability 1 - ``share``.

    S is an estimated SD in units of the true one. The quantile of chi² is df times its square. By
    Newton's method on the log of the smaller tail, from the cube root of Wilson & Hilferty (1931);
    exact to 1e-12, and to 1e-11 where the tail is as small as a double next to 1 leaves.

    Args:
        share: in (0, 1).
        df: degrees of freedom, 1 or more.
    """
    upper = share >= 0.5
    wanted = 1 - share if upper else share
    ninth = 2 / (9 * df)
    cube = 1 - ninth + _NORMAL.inv_cdf(share) * math.sqrt(ninth)
    # Far below, chi² is as a power of its tail.
    s = cube**1.5 if cube > _FROM_ZERO else math.exp((math.log(wanted) + 1) / df)
    level = math.log(wanted)
    for _ in range(_MOST_STEPS):
        tail, density = _scale_tail(s, df, upper)
        step = (math.log(tail) - level) * tail / density
        s = max(s / 2, s + step if upper else s - step)
        if abs(step) < _SETTLED * s:
            break
    return s


def _scale_tail(s: float, df: int, upper: bool) -> tuple[float, float]:
    """Return the probability that the scale is above, or below, ``s``, and its density there."""
    # As in `mean_over_scale`, with what makes it a density.
    away, lead = s - 1, math.log(df / math.pi) / 2 - _left_by_stirling(df / 2)
    log = (df - 1) * (math.log(s) - away) - away * (1 + df * away / 2)
    density = math.exp(lead + log)
    tail = mean_over_scale(lambda t: float((t > s) == upper), df, (s,))
    return tail, density


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
    t = 0.0 if alpha == 0.5 else t_critical(df, 2 * min(alpha, 1 - alpha))
    t, reach = math.copysign(t, 0.5 - alpha), near / 2 + far / 2
    bends = (reach, *(end + step for end in (near, far) for step in _BEND))
    turns = [bend / t for bend in bends if t < 0 or bend <= reach] if t else []

    def both(s: float) -> float:
        return normal_cdf(near - t * s) - normal_cdf(t * s - far) if t * s < reach else 0.0

    return min(1.0, max(0.0, mean_over_scale(both, df, turns)))


# --- detection --------------------------------------------------------------------------------


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
    if not fewer:
        return 0.0
    if fewer * (more / population) > _CERTAIN:
        return 1.0
    if fewer <= _FEW:
        return -math.expm1(sum(math.log1p(-more / (population - i)) for i in range(fewer)))
    # The same sum, by Euler and Maclaurin. It is above -40 and has many terms, so that ``more`` is
    # a small part of the population, and the terms change so slowly that the first correction is
    # good to 1e-15.
    middle, first, last = (fewer - 1) / 2, -0.5, fewer - 0.5
    places = ((middle + fewer / 2 * node, weight) for node, weight in _RULE)
    area = fewer / 2 * sum(w * math.log1p(-more / (population - i)) for i, w in places)
    start, end = (1 / (population - i) - 1 / (population - more - i) for i in (first, last))
    return -math.expm1(area - (end - start) / 24)


# --- the beta distribution in its far tails, where the critical values of F tests lie ---------

# A point is given by its logit, log(x / (1 - x)): so neither x nor 1 - x is ever rounded to 0 or 1.
_TINY: Final = 1e-300
_SETTLED: Final = 1e-15  # A continued fraction ends where a term changes it by less
_ALMOST_ONE: Final = 1 - _SETTLED
_MOST_FRACTIONS: Final = 100_000
_MOST_STEPS: Final = 60
# A correction that changes the log of a tail by so little leaves an error of its cube.
_CLOSE: Final = 1e-5
# Of x times what Stirling's formula leaves of log Gamma(x), in powers of 1/x², highest first.
_STIRLING: Final = (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
_LARGE: Final = 12.0
_FAR: Final = 700.0  # The exponential function overflows a little beyond


@lru_cache(maxsize=8192)
def upper_logit(a: float, b: float, beyond: float) -> float:
    """Return the logit of the x that a beta variable (a, b) exceeds with probability ``beyond``."""
    # Newton's method on the logarithm of the smaller tail: that is concave in the logit, so that
    # from the second step on the steps go one way and cannot miss. Nearby by Halley's.
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
    for m in range(1, _MOST_FRACTIONS):
        place, odd = a + 2 * m, m * (b - m) * x / (a + 2 * m - 1)
        numerator = (a + m - 1) * (a + b + m - 1) * x * odd / (place - 1)
        term = m + odd + (a + m) * (lean + 1 + m * (2 - x)) / (place + 1)
        inverse = 1 / (term + numerator * inverse or _TINY)
        ratio = term + numerator / ratio or _TINY
        value *= ratio * inverse
        if abs(ratio * inverse - 1) < _SETTLED:
            break
    return value
