"""How a measure of evidence is written, compared and drawn: shares, percent, half-widths."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from replicalab.lexicon import MOST_DIGITS, distinct_text

_SLACK: Final = 1e-12  # Slack for comparing a computed value with its bound (1.0 × n / n, say)


class EvidenceTier(StrEnum):
    """Where evidence stands to the study's target and floor, best first."""

    MEETS_TARGET = "meets target"
    ABOVE_FLOOR = "above floor"
    BELOW_FLOOR = "below floor"


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How the values of a measure are written and compared.

    Attributes:
        write: writes a value with so many decimals.
        decimals: where no bound is near.
        factor: what a value is multiplied by before it is written.
        ticks: the format of a chart's axis.
        by_hand: writes a value as precisely as an author states the one expected.
        counted_off: whether a difference is written as such: ``0.28 of power``.
        worse, within: how a value stands to a bound that it misses, and to one that it keeps.
    """

    write: Callable[[float, int], str]
    decimals: int
    factor: int
    ticks: str
    by_hand: Callable[[float], str] = "{:z.2f}".format
    counted_off: bool = False
    lower_is_better: bool = False
    worse: str = "below"
    within: str = "above"

    @property
    def worst(self) -> float:
        """What no samples at all are worth."""
        return math.inf if self.lower_is_better else 0.0

    def reaches(self, value: float, bound: float) -> bool:
        """Return whether a value is as good as a bound, but for a rounding error."""
        return value <= bound + _SLACK if self.lower_is_better else value >= bound - _SLACK

    def attained(self, value: float, target: float) -> float:
        """Return how much of a target a value reaches, at most 1."""
        if not value:
            return 0.0
        return min(1.0, target / value if self.lower_is_better else value / target)

    def amount(self, value: float, bounds: Sequence[float]) -> str:
        """Return a value as text, with the digits that distinguish it from the bounds."""
        # At a bound it has every decimal that the bound's author gave: else 0.978 would meet "the
        # target of 0.98" where that is 0.975.
        for bound in bounds:
            if abs(value - bound) <= _SLACK:
                written, decimals = bound * self.factor, self.decimals
                while decimals < MOST_DIGITS and (
                    abs(round(written, decimals) - written) > 10**-MOST_DIGITS
                ):
                    decimals += 1
                return self.write(bound, decimals)
        return distinct_text(value, bounds, self.decimals, self.write)


def _half_width(value: float, decimals: int) -> str:
    return f"±{value * 100:z.{decimals}f} %" if math.isfinite(value) else "unbounded"


SHARE: Final = Scale(
    write=lambda value, decimals: f"{value:z.{decimals}f}",
    decimals=2,
    factor=1,
    ticks=".1f",
    counted_off=True,
)
"""A probability: ``0.58``."""

PERCENT: Final = Scale(
    write=lambda value, decimals: f"{value * 100:z.{decimals}f}".rstrip("0").rstrip(".") + " %",
    decimals=1,
    factor=100,
    ticks=".0%",
)
"""A part of all there is: ``48.3 %``."""

HALF_WIDTH: Final = Scale(
    write=_half_width,
    decimals=2,
    factor=100,
    ticks=".1%",
    by_hand=lambda value: _half_width(value, 2),
    lower_is_better=True,
    worse="wider than",
    within="within",
)
"""An interval, as a part of what is measured: ``±1.29 %``. Narrower is better."""
