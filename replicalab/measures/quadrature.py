"""Integrals by Gauss and Legendre: of any smooth function, and over the scale of a t statistic."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Final

REACH: Final = 9.5
"""Units of 1/sqrt(df) around 1 that hold all but 1e-18 of the scale S, and SDs of a normal."""

_ORDER: Final = 20
_PANELS: Final = 4


def integral(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the integral of a smooth function."""
    half, centre = (high - low) / 2, (high + low) / 2
    return half * sum(w * function(centre + half * x) for x, w in gauss_legendre())


def mean_over_scale(
    function: Callable[[float], float], df: int, turns: Iterable[float] = ()
) -> float:
    """Return the mean of a function of the scale S = sqrt(chi² / df).

    The log of the density is written so that near 1 nothing large cancels.

    Args:
        function: what is averaged.
        df: degrees of freedom, 1 or more.
        turns: where it bends within a small part of the whole; no panel spans one.
    """
    low, high = max(0.0, 1 - REACH / math.sqrt(df)), 1 + REACH / math.sqrt(df)
    edges = {low + (high - low) * step / _PANELS for step in range(_PANELS + 1)}
    edges.update(turn for turn in turns if low < turn < high)
    total = mass = 0.0
    power, log, exp = df - 1, math.log, math.exp
    for left, right in pairwise(sorted(edges)):
        half, centre = (right - left) / 2, (left + right) / 2
        for node, weight in gauss_legendre():
            s = centre + half * node
            away = s - 1
            density = weight * half * exp(power * (log(s) - away) - away * (1 + df * away / 2))
            mass += density
            total += density * function(s)
    return total / mass


@lru_cache(maxsize=1)
def gauss_legendre() -> tuple[tuple[float, float], ...]:
    """Return the nodes and weights on [-1, 1], by Newton's method on the Legendre polynomial."""
    rule = []
    for k in range(_ORDER):
        x = math.cos(math.pi * (k + 0.75) / (_ORDER + 0.5))
        for _ in range(100):
            value, slope = _legendre(x)
            step = value / slope
            x -= step
            if abs(step) < 1e-16:
                break
        slope = _legendre(x)[1]
        rule.append((x, 1 / ((1 - x * x) * slope * slope)))
    half = math.fsum(weight for _, weight in rule)
    return tuple((x, 2 * weight / half) for x, weight in rule)


def _legendre(x: float) -> tuple[float, float]:
    previous, current = 1.0, x
    for k in range(2, _ORDER + 1):
        previous, current = current, ((2 * k - 1) * x * current - (k - 1) * previous) / k
    return current, _ORDER * (x * current - previous) / (x * x - 1)
