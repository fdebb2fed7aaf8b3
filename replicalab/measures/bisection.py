"""The least number that will do, where every larger one does too."""

from collections.abc import Callable
from statistics import NormalDist
from typing import Final

_EXACT: Final = 1e-12  # How closely, relative to itself, the least is found
_SLOW: Final = 4  # In so many steps the range shrinks to as small a part, or it is halved
_SURE: Final = 1e-15  # Probabilities nearer to 0 or 1 count as that near
_PROBIT: Final = NormalDist().inv_cdf


def least_that(does: Callable[[float], bool], top: float) -> float | None:
    """Return the least number of 0 to ``top`` that does, exact to 1e-12 of itself.

    It is on the side where it does; None where not even ``top`` does.
    """
    low, high = 0.0, min(top, 1.0)
    if does(low):
        return low
    while not does(high):
        if high >= top:
            return None
        low, high = high, min(top, high * 2)
    while high - low > _EXACT * high:
        middle = (low + high) / 2
        if not low < middle < high:  # no double lies between
            break
        low, high = (low, middle) if does(middle) else (middle, high)
    return high


def least_reaching(
    power: Callable[[float], float], wanted: float, top: float, start: float = 1.0
) -> float | None:
    """Return the least effect of 0 to ``top`` whose power is as large as wanted, as `least_that`.

    The first that is tried is ``start``.
    A power is nearly a straight line over the effect once it is a normal deviate, so that regula
    falsi (the Illinois rule of Dowell & Jarratt 1971, BIT 11, 168-174) takes a few steps where
    bisection takes forty.
    """
    line, low, high = _deviate(wanted), 0.0, min(top, start)
    at_low = power(low)
    if at_low >= wanted:
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
            # At least a little beyond either end: the root may be as near as that.
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
