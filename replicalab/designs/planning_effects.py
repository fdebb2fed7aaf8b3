"""Effects to plan a replication with.

An effect to plan with is what the original found, less what luck may be in it: a size on the normal
scale of the kind, or of the kind itself, 0 or more, None if there is none.

Sources: Perugini, Gallucci & Costantini (2014), Perspectives on Psychological Science 9, 319-332
(safeguard power: the lower end of a 60 % interval); Simonsohn (2015), Psychological Science 26,
559-569 (small telescopes: d33%); Pawel & Held (2020), PLOS ONE 15, e0231416, and Held (2020), JRSS
A 183, 431-448 (the empirical Bayes factor 1 - 1/z²).
"""

import math
from functools import lru_cache
from typing import Final

from replicalab.designs.distributions import (
    least_that,
    normal_cdf,
    t_beyond,
    t_critical,
    t_test_power,
    z_critical,
    z_test_power,
)
from replicalab.designs.originals import Estimate, _Reported, estimate_of
from replicalab.designs.rows import DesignParameters, Formula, Kind

SAFEGUARD_LEVEL: Final = 0.6  # The level of the interval whose lower end is the safeguard effect
_BEYOND: Final = (1 - SAFEGUARD_LEVEL) / 2
TELESCOPE_POWER: Final = 1 / 3  # The power that the original had at the small telescopes' effect
_ALPHA: Final = 0.05


def safeguard(row: Kind, reported: _Reported) -> float | None:
    """Return the effect at the lower end of the original's 60 % interval, nearer to none.

    Of a t-test that interval is exact: the effect at which a t as large, or larger, has a
    probability of 0.2. None where it reaches no effect.
    """
    estimate = estimate_of(row, reported)
    if estimate is None or not estimate.value:
        return None
    if estimate.t is not None and estimate.df is not None:
        size = _safeguard_shift(abs(estimate.t), estimate.df) * (estimate.value / estimate.t)
    else:
        size = abs(estimate.value) - z_critical(2 * _BEYOND) * estimate.se
    return _effect(row, estimate, size)


@lru_cache(maxsize=1024)
def _safeguard_shift(t: float, df: int) -> float:
    # A noncentral t exceeds its noncentrality with a probability of a half or more.
    return least_that(lambda shift: t_beyond(t, shift, df) >= _BEYOND, t) or 0.0


def small_telescopes(row: Kind, reported: _Reported, given: DesignParameters) -> float | None:
    """Return the effect at which the original's own sample had a power of one third.

    By the test of the kind at a level of 0.05, two-sided or one-sided as the original's was, with
    its samples in groups as it had them; by its standard error where they are not known. What else
    the kind needs is ``given``. None where the kind tests for no effect, and where no
    effect would have had that power.
    """
    if row.sought is None or row.effect is None or row.effect.within_margin:
        return None
    if row.normal is not None:
        estimate = estimate_of(row, reported)
        shift = None if estimate is None else _telescope(row, estimate)
        return None if estimate is None or shift is None else _effect(row, estimate, shift)
    n, groups = reported.n, reported.numbers.get("groups")
    if n is None:
        return None
    # The F test of several groups has no direction that a test could be one-sided in.
    at = given._replace(alpha=_ALPHA, groups=int(groups) if groups else given.groups)
    return _telescope_size(row.formula, None, n, at, row.effect.largest_size)


def original_shift(row: Kind, reported: _Reported) -> float:
    """Return the small telescopes' effect on the normal scale of its kind; 0 without an estimate.

    By the original's own test, as `small_telescopes` works it out.
    """
    estimate = estimate_of(row, reported)
    return (_telescope(row, estimate) or 0.0) if estimate else 0.0


def _telescope(row: Kind, found: Estimate) -> float | None:
    """Return the size of that effect on the normal scale; None where none has that power."""
    scale = row.normal
    if scale is None or row.effect is None:
        return None
    if not found.sizes:
        return _telescope_shift(None, found.sides) * found.se
    if scale.groups == 2 or scale.in_events:
        return _telescope_shift(scale.df(found.sizes), found.sides) * scale.se(found.sizes)
    # Of one group its samples cannot be shared out otherwise: the formula of the kind holds.
    at, wrong = DesignParameters(alpha=_level(found.sides)), row.wrong_sign
    effect = _telescope_size(
        row.formula,
        wrong if found.sides == 1 else None,
        int(found.sizes[0]),
        at,
        row.effect.largest_size,
    )
    return None if effect is None else scale.value(effect)


def _level(sides: int) -> float:
    """Return the two-sided level at which a test of so many sides rejects on the effect's side."""
    return _ALPHA if sides == 2 else 2 * _ALPHA


@lru_cache(maxsize=1024)
def _telescope_size(
    formula: Formula, wrong_sign: Formula | None, n: int, at: DesignParameters, most: float
) -> float | None:
    def power(size: float) -> float:
        return formula(n, size, at) - (wrong_sign(n, size, at) if wrong_sign else 0.0)

    return least_that(lambda size: power(size) >= TELESCOPE_POWER, most)


@lru_cache(maxsize=1024)
def _telescope_shift(df: int | None, sides: int) -> float:
    alpha = _level(sides)

    def power(shift: float) -> float:
        if sides == 2:
            return z_test_power(shift, alpha) if df is None else t_test_power(shift, df, alpha)
        if df is None:
            return normal_cdf(shift - z_critical(alpha))
        return t_beyond(t_critical(df, alpha), shift, df)

    return least_that(lambda shift: power(shift) >= TELESCOPE_POWER, math.inf) or 0.0


def shrunken(row: Kind, reported: _Reported) -> float | None:
    """Return the estimate times 1 - 1/z²: what is left of it if effects of its size are rare.

    None where its z is 1 or less: then nothing is left.
    """
    estimate = estimate_of(row, reported)
    if estimate is None or abs(estimate.z) <= 1:
        return None
    return _effect(row, estimate, abs(estimate.value) * (1 - 1 / estimate.z**2))


def _effect(row: Kind, found: Estimate, size: float) -> float | None:
    """Return the effect of a size on the normal scale, on the estimate's side of none."""
    if row.normal is None or row.effect is None or size <= 0:
        return None
    effect = row.normal.effect(math.copysign(size, found.value))
    return effect if math.isfinite(effect) and row.effect.fault(effect) is None else None
