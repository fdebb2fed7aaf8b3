"""The probability that a replication succeeds, before its data are known.

The effect is taken as what the original found, as uncertain as its standard error. Lengths are in
units of that standard error: the original's estimate is z. The relative size c of a replication is
the original's variance over its own, so that its estimate is normal with mean z and variance
1 + 1 / c.

Sources: Micheloud & Held (2022), Statistical Science 37, 369-379; Pawel & Held (2020), PLOS ONE 15,
e0231416, for the prior; Simonsohn (2015), Psychological Science 26, 559-569; Patil, Peng & Leek
(2016), Perspectives on Psychological Science 11, 539-544.
"""

import math
from collections.abc import Callable
from enum import StrEnum
from typing import Final, NamedTuple

from replicalab.designs.distributions import normal_cdf, z_critical

_EVEN: Final = 0.5


class Criterion(StrEnum):
    """A criterion of success."""

    SIGNIFICANT = "significant"
    SMALL_TELESCOPES = "small_telescopes"
    PREDICTION = "prediction"


class Basis(NamedTuple):
    """The original's results, in units of its standard error.

    Attributes:
        z: the estimate, 0 or more: its direction counts as positive.
        alpha: the two-sided level, in (0, 1).
        telescope: the effect at which the original had a power of one third.
    """

    z: float
    alpha: float = 0.05
    telescope: float = 0.0


class CriterionRow(NamedTuple):
    """A criterion: its label, meaning, source, and probability at a variance of 1 / c."""

    label: str
    meaning: str
    source: str
    chance: Callable[[Basis, float], float]


def _significant(basis: Basis, variance: float) -> float:
    bound = z_critical(basis.alpha) * math.sqrt(variance)
    return normal_cdf((basis.z - bound) / math.sqrt(1 + variance))


def _small_telescopes(basis: Basis, variance: float) -> float:
    critical = z_critical(2 * basis.alpha) if basis.alpha < _EVEN else 0.0
    bound = basis.telescope - critical * math.sqrt(variance)
    return normal_cdf((basis.z - bound) / math.sqrt(1 + variance))


CRITERIA: Final = {
    Criterion.SIGNIFICANT: CriterionRow(
        "Significant",
        "The replication is significant, in the original's direction.",
        "Micheloud & Held (2022)",
        _significant,
    ),
    Criterion.SMALL_TELESCOPES: CriterionRow(
        "Small telescopes",
        "The replication is not significantly smaller than the effect for which the original had "
        "a power of one third.",
        "Simonsohn (2015)",
        _small_telescopes,
    ),
    Criterion.PREDICTION: CriterionRow(
        "In the prediction interval",
        "The original's estimate lies in the replication's prediction interval. With this prior "
        "the probability is 1 − alpha at any size.",
        "Patil, Peng & Leek (2016)",
        lambda basis, _: 1 - basis.alpha,
    ),
}
"""The row of each criterion."""


def chance(name: Criterion, c: float, basis: Basis) -> float:
    """Return the probability of success at a relative size of 0 or more; 0 without any samples."""
    return CRITERIA[name].chance(basis, 1 / c) if c > 0 else 0.0
