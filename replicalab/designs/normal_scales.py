"""The scales on which an estimate is as good as normal, and what its standard error is there.

Of d the standard error is that of an effect near 0, sqrt(1/n1 + 1/n2): an estimate over it is the
t of the study. Sources: Cohen, Statistical Power Analysis for the Behavioral Sciences (1988),
chapters 2 and 6 (d, h); Fisher (1921), Metron 1, 3-32 (atanh r); Schoenfeld (1981), Biometrika 68,
316-319 (the log hazard ratio).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

Sizes = tuple[float, ...]
"""What counts: the samples of each group, or of the one there is; of a hazard ratio the events."""


def _same(value: float) -> float:
    return value


def _ratio(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _of_groups(sizes: Sequence[float]) -> float:
    return math.sqrt(sum(1 / size for size in sizes))


@dataclass(frozen=True, kw_only=True)
class NormalScale:
    """A scale on which estimates are as good as normal.

    Attributes:
        name: what a value on it is called.
        value: an effect on it; 0 where there is none.
        effect: the effect of a value, the inverse; of one so far that it is no effect, 0 or inf.
        spread: the standard error of what counts.
        groups: of how many groups samples are.
        lost: how many fewer degrees of freedom than samples the t-test has; None where the
            statistic is taken as normal.
        least: the fewest samples, or events, that have a standard error and a test.
        in_events: whether events count, and not samples.
    """

    name: str
    value: Callable[[float], float] = _same
    effect: Callable[[float], float] = _same
    spread: Callable[[Sequence[float]], float] = _of_groups
    groups: int = 1
    lost: int | None = None
    least: int = 2
    in_events: bool = False

    def sizes(self, n: int, event_share: float = 1.0) -> Sizes:
        """Return what counts of ``n`` samples: groups that differ by one at most, or events."""
        if self.in_events:
            return (n * event_share,)
        return (n // 2, n - n // 2) if self.groups == 2 else (n,)

    def se(self, sizes: Sequence[float]) -> float:
        """Return the standard error of an estimate; inf where too few count."""
        return self.spread(sizes) if self.can_test(sizes) else math.inf

    def se_of(self, n: int, event_share: float = 1.0) -> float:
        """Return the standard error of an estimate from ``n`` samples; inf of too few."""
        return self.se(self.sizes(n, event_share))

    def df(self, sizes: Sequence[float]) -> int | None:
        """Return the degrees of freedom of the t-test; None where the statistic is normal."""
        return None if self.lost is None else int(sum(sizes)) - self.lost

    def can_test(self, sizes: Sequence[float]) -> bool:
        """Return whether so many have a standard error, and a test."""
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
