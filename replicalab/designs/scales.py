"""The scales of evidence, and the normal scales of estimates.

Sources: Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapters 2 and 6 (d,
h); Fisher (1921), Metron 1, 3-32 (atanh r); Schoenfeld (1981), Biometrika 68, 316-319 (the log
hazard ratio).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from replicalab.lexicon import EXACT_DIGITS, distinct_text

_SLACK: Final = 1e-12  # of a computed value that equals its bound, such as 1.0 × n / n


class EvidenceTier(StrEnum):
    """Evidence relative to the study's target and floor, best first."""

    MEETS_TARGET = "meets target"
    ABOVE_FLOOR = "above floor"
    BELOW_FLOOR = "below floor"


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How the values of a measure are written and compared.

    Attributes:
        write: writes a value with a number of decimals, ``decimals`` if no bound is near.
        by_hand: writes a value with the precision of an author.
        worse, within: the words for a value that misses a bound, and for one that keeps it.
    """

    write: Callable[[float, int], str]
    decimals: int
    factor: int
    ticks: str
    by_hand: Callable[[float], str] = "{:z.2f}".format
    lower_is_better: bool = False
    worse: str = "below"
    within: str = "above"

    @property
    def worst(self) -> float:
        """The evidence without samples."""
        return math.inf if self.lower_is_better else 0.0

    def reaches(self, value: float, bound: float) -> bool:
        """Return whether a value is as good as a bound, apart from rounding."""
        return value <= bound + _SLACK if self.lower_is_better else value >= bound - _SLACK

    def attained(self, value: float, target: float) -> float:
        """Return the share of a target that a value reaches, at most 1."""
        if not value:
            return 0.0
        return min(1.0, target / value if self.lower_is_better else value / target)

    def amount(self, value: float, bounds: Sequence[float]) -> str:
        """Return a value as text, with the digits that distinguish it from the bounds."""
        # At a bound it has every decimal that the bound's author gave: else 0.978 would meet "the
        # target of 0.98" if that is 0.975.
        for bound in bounds:
            if abs(value - bound) <= _SLACK:
                written, decimals = bound * self.factor, self.decimals
                while decimals < EXACT_DIGITS and (
                    abs(round(written, decimals) - written) > 10**-EXACT_DIGITS
                ):
                    decimals += 1
                return self.write(bound, decimals)
        return distinct_text(value, bounds, self.decimals, self.write)


def _half_width(value: float, decimals: int = 2) -> str:
    return f"±{value * 100:z.{decimals}f} %" if math.isfinite(value) else "unbounded"


SHARE: Final = Scale(
    write=lambda value, decimals: f"{value:z.{decimals}f}", decimals=2, factor=1, ticks=".1f"
)

PERCENT: Final = Scale(
    write=lambda value, decimals: f"{value * 100:z.{decimals}f}".rstrip("0").rstrip(".") + " %",
    decimals=1,
    factor=100,
    ticks=".0%",
)

HALF_WIDTH: Final = Scale(
    write=_half_width,
    decimals=2,
    factor=100,
    ticks=".1%",
    by_hand=_half_width,
    lower_is_better=True,
    worse="wider than",
    within="within",
)


Sizes = tuple[float, ...]
"""The samples of each group, or the events of a hazard ratio."""


def _ratio(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


@dataclass(frozen=True, kw_only=True)
class NormalScale:
    """A scale on which estimates are nearly normal.

    A standard error is that of an effect near 0, so an estimate over it is the t of the study.

    Attributes:
        value, effect: a function to it, 0 for no effect, and its inverse.
        spread: the standard error by `Sizes`.
        lost: samples minus degrees of freedom of the t-test; None for a normal statistic.
        least: the fewest samples, or events, that have a standard error and a test.
    """

    name: str
    value: Callable[[float], float] = float
    effect: Callable[[float], float] = float
    spread: Callable[[Sequence[float]], float] = lambda sizes: math.sqrt(sum(1 / n for n in sizes))
    groups: int = 1
    lost: int | None = None
    least: int = 2
    in_events: bool = False

    def sizes(self, n: int, event_share: float = 1.0) -> Sizes:
        """Return the sizes of ``n`` samples: groups that differ by at most one, or events."""
        if self.in_events:
            return (n * event_share,)
        return (n // 2, n - n // 2) if self.groups == 2 else (n,)

    def se(self, sizes: Sequence[float]) -> float:
        """Return the standard error of an estimate; inf for too few samples."""
        return self.spread(sizes) if self.can_test(sizes) else math.inf

    def df(self, sizes: Sequence[float]) -> int | None:
        """Return the degrees of freedom of the t-test; None for a normal statistic."""
        return None if self.lost is None else int(sum(sizes)) - self.lost

    def can_test(self, sizes: Sequence[float]) -> bool:
        """Return whether the sizes are large enough for a standard error and a test."""
        return len(sizes) > 0 and min(sizes) > 0 and sum(sizes) >= self.least


TWO_MEANS: Final = NormalScale(name="d", groups=2, lost=2, least=3)
ONE_MEAN: Final = NormalScale(name="d", lost=1)
FISHER_Z: Final = NormalScale(
    name="Fisher’s z",
    value=math.atanh,
    effect=math.tanh,
    spread=lambda sizes: 1 / math.sqrt(sizes[0] - 3),
    least=4,
)
COHEN_H: Final = NormalScale(name="h", groups=2)
LOG_HAZARD_RATIO: Final = NormalScale(
    name="log hazard ratio",
    value=math.log,
    effect=_ratio,
    spread=lambda sizes: 2 / math.sqrt(sizes[0]),
    groups=2,
    least=1,
    in_events=True,
)
