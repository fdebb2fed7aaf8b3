"""Effects to plan a replication with, from what its original found, less what luck may be in it.

Each is a size on the normal scale of the kind, or of the kind itself, 0 or more, and None where
there is none. Sources: Perugini, Gallucci & Costantini (2014), Perspectives on Psychological
Science 9, 319-332 (safeguard power: the lower end of a 60 % interval); Simonsohn (2015),
Psychological Science 26, 559-569 (small telescopes: d33%); Pawel & Held (2020), PLOS ONE 15,
e0231416, and Held (2020), JRSS A 183, 431-448 (the empirical Bayes factor 1 - 1/z²).
"""

import math
from functools import lru_cache
from typing import Final

from replicalab.measures.bisection import least_that
from replicalab.measures.distributions import t_beyond, t_test_power, z_critical, z_test_power
from replicalab.measures.originals import Estimate, _Reported, estimate_of
from replicalab.measures.rows import DesignParameters, Formula, Kind

SAFEGUARD_LEVEL: Final = 0.6
"""The level of the interval whose lower end is the safeguard effect."""
_BEYOND: Final = (1 - SAFEGUARD_LEVEL) / 2
TELESCOPE_POWER: Final = 1 / 3
"""The power that the original had at the small telescopes' effect."""
_ALPHA: Final = 0.05


def safeguard(row: Kind, reported: _Reported) -> float | None:
    """Return the effect at the lower end of the original's 60 % interval, nearer to none.

    Of a t-test that interval is exact: the effect at which a t as large, or larger, has a
    probability of 0.2. None where it reaches no effect.
    """
    found = estimate_of(row, reported)
    if found is None or not found.value:
        return None
    if found.t is not None and found.df is not None:
        size = _safeguard_shift(abs(found.t), found.df) * (found.value / found.t)
    else:
        size = abs(found.value) - z_critical(2 * _BEYOND) * found.se
    return _effect(row, found, size)


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
    level = _ALPHA if reported.sides == 2 else 2 * _ALPHA
    if row.normal is not None:
        return _telescope_effect(row, reported, level)
    n, groups = reported.n, reported.numbers.get("groups")
    if n is None:
        return None
    at = given._replace(alpha=level, groups=int(groups) if groups else given.groups)
    return _telescope_size(row.formula, n, at, row.effect.largest_size)


def _telescope_effect(row: Kind, reported: _Reported, level: float) -> float | None:
    scale, found = row.normal, estimate_of(row, reported)
    if scale is None or row.effect is None or found is None:
        return None
    if not found.sizes:
        size: float | None = _telescope_shift(None, level) * found.se
    elif scale.groups == 1 and not scale.in_events:  # no way to share its samples out
        at, samples = DesignParameters(alpha=level), int(found.sizes[0])
        effect = _telescope_size(row.formula, samples, at, row.effect.largest_size)
        size = None if effect is None else scale.value(effect)
    else:
        size = _telescope_shift(scale.df(found.sizes), level) * scale.se(found.sizes)
    return None if size is None else _effect(row, found, size)


@lru_cache(maxsize=1024)
def _telescope_size(formula: Formula, n: int, at: DesignParameters, most: float) -> float | None:
    return least_that(lambda size: formula(n, size, at) >= TELESCOPE_POWER, most)


def original_shift(row: Kind, reported: _Reported) -> float:
    """Return the small telescopes' effect on the normal scale of its kind; 0 without an estimate.

    By the original's own test, as `small_telescopes` works it out.
    """
    found = estimate_of(row, reported)
    if row.normal is None or found is None:
        return 0.0
    level = _ALPHA if reported.sides == 2 else 2 * _ALPHA
    se = row.normal.se(found.sizes) if found.sizes else found.se
    return _telescope_shift(found.df, level) * se


@lru_cache(maxsize=1024)
def _telescope_shift(df: int | None, alpha: float) -> float:
    def power(shift: float) -> float:
        return z_test_power(shift, alpha) if df is None else t_test_power(shift, df, alpha)

    return least_that(lambda shift: power(shift) >= TELESCOPE_POWER, math.inf) or 0.0


def shrunken(row: Kind, reported: _Reported) -> float | None:
    """Return the estimate times 1 - 1/z²: what is left of it if effects of its size are rare.

    None where its z is 1 or less: then nothing is left.
    """
    found = estimate_of(row, reported)
    if found is None or abs(found.z) <= 1:
        return None
    return _effect(row, found, abs(found.value) * (1 - 1 / found.z**2))


def _effect(row: Kind, found: Estimate, size: float) -> float | None:
    """Return the effect of a size on the normal scale, on the estimate's side of none."""
    if row.normal is None or size <= 0:
        return None
    effect = row.normal.effect(math.copysign(size, found.value))
    return effect if math.isfinite(effect) else None
