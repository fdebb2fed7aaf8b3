"""The least number that will do, where every larger one does too: found by bisection."""

from collections.abc import Callable
from typing import Final

_EXACT: Final = 1e-12  # How closely, relative to itself, the least is found


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
