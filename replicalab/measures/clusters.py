"""Samples in units and in two arms: how many there are of each, and what they are worth.

Samples in one unit are alike by the intraclass correlation, so that the variance of a mean is that
of independent samples times the design effect. How far it is known depends on the units: their
number gives the degrees of freedom.
Samples that drop out leave their units smaller: a unit is gone only with its last sample.
Sources: Kish, Survey Sampling (1965), for the design effect; Donner & Klar, Design and Analysis of
Cluster Randomization Trials in Health Research (2000), for tests of as many units.
"""

import math
from typing import Any, Final

Number = Any
"""A number, or an array of numbers."""

LEAST_SHARE: Final = 0.05
"""The least share of the samples that is in an arm."""

LEAST_UNITS: Final = 2
"""With fewer units in an arm nothing tells treatment and unit apart."""

# A quotient that only rounding has lifted above a whole number is that number.
_ROUNDING: Final = 1e-9


def arms_of(n: Number, share: float) -> tuple[Number, Number]:
    """Return how many of ``n`` samples are in the first arm and in the second.

    The first has its share, rounded, a half down; from two samples on each has one at least.
    Neither falls when ``n`` grows.
    """
    first = -((0.5 - share * n) // 1)
    # The comparisons count as numbers, so that arrays can be worked out as well.
    first = first + (n > 1) * (1 * (first < 1) - 1 * (first >= n))
    return first, n - first


def units_of(n: Number, per_unit: float) -> Number:
    """Return how many units so many samples take, the last one perhaps partly filled."""
    units = -((_ROUNDING - n / per_unit) // 1)
    # One sample of 10^9 in a unit is no more than the rounding.
    return units + (n > 0) * (units < 1)


def samples_of(units: int, per_unit: float) -> int:
    """Return the most samples that so many units hold."""
    return math.floor(units * per_unit * (1 + _ROUNDING))


def whole_units(n: int, per_unit: float) -> int:
    """Return the fewest samples, ``n`` or more, that fill whole units."""
    return samples_of(int(units_of(n, per_unit)), per_unit)


def units_left(counted: Number, planned: Number, per_unit: float) -> Number:
    """Return how many units of the planned samples hold one that counts, at the most."""
    return min(units_of(planned, per_unit), counted)


def samples_left(counted: int, planned: int, per_unit: float) -> float:
    """Return how many samples of a unit count on average, at least 1."""
    return max(1.0, per_unit * (counted / planned)) if planned else 1.0


def design_effect(per_unit: float, correlation: float) -> float:
    """Return by how much the variance of a mean exceeds that of independent samples."""
    return 1 + (per_unit - 1) * correlation
