"""The probability that a replication succeeds, before its data are known, by three criteria.

The effect is taken as the original's estimate, as uncertain as its standard error. Lengths are in
units of that standard error: the original's estimate is z. The relative size c of a replication is
the original's variance over its own, so its estimate is normal with mean z and variance 1 + 1 / c.

Sources: Micheloud & Held (2022), Statistical Science 37, 369-379; Pawel & Held (2020), PLOS ONE 15,
e0231416, for the prior; Simonsohn (2015), Psychological Science 26, 559-569; Patil, Peng & Leek
(2016), Perspectives on Psychological Science 11, 539-544.
"""

import math
from collections.abc import Callable
from typing import Final, NamedTuple

from replicalab.assessment import Assessment, original_estimate
from replicalab.designs import KINDS, DesignParameters, analysed_of
from replicalab.designs.distributions import normal_cdf, z_critical
from replicalab.designs.originals import original_shift
from replicalab.facts.blocks import Fact
from replicalab.scenarios import Design

TITLE: Final = "Probability of success"
PRIOR: Final = "Prior: the effect is the original’s estimate, as uncertain as its standard error."
_GRID: Final = (0.5, 1, 2, 4)  # multiples of the plan's sample size
_ALPHA: Final = 0.05  # of designs without a level


class Basis(NamedTuple):
    """The original's results, in units of its standard error; ``z`` is its estimate, 0 or more.

    ``telescope`` is the effect at which it had a power of one third; ``alpha`` and ``sides`` are
    those of the replication's test.
    """

    z: float
    alpha: float = _ALPHA
    telescope: float = 0.0
    sides: int = 2


class Criterion(NamedTuple):
    """A criterion of success, and its probability at a variance of 1 / c."""

    label: str
    meaning: str
    source: str
    probability: Callable[[Basis, float], float]


def _above(bound: float, errors: float, basis: Basis, variance: float) -> float:
    """Return the probability of an estimate some of its standard errors above a bound."""
    bound += errors * math.sqrt(variance)
    return normal_cdf((basis.z - bound) / math.sqrt(1 + variance))


CRITERIA: Final = {
    "significant": Criterion(
        "Significant",
        "The replication is significant, in the original's direction.",
        "Micheloud & Held (2022)",
        lambda basis, variance: _above(0, z_critical(basis.alpha, basis.sides), basis, variance),
    ),
    "small_telescopes": Criterion(
        "Small telescopes",
        "The replication is not significantly smaller than the effect for which the original had "
        "a power of one third.",
        "Simonsohn (2015)",
        lambda basis, variance: _above(
            basis.telescope, -z_critical(basis.alpha, 1), basis, variance
        ),
    ),
    "prediction": Criterion(
        "In the prediction interval",
        "The original's estimate lies in the replication's prediction interval. With this prior "
        "the probability is 1 − alpha at any size.",
        "Patil, Peng & Leek (2016)",
        lambda basis, _: 1 - basis.alpha,
    ),
}


def probability(criterion: str, c: float, basis: Basis) -> float:
    """Return the probability of success at a relative size of 0 or more; 0 without any samples."""
    return CRITERIA[criterion].probability(basis, 1 / c) if c > 0 else 0.0


class Success(NamedTuple):
    """The probabilities of success by criterion, on a grid of sample sizes with the plan's."""

    samples: tuple[int, ...]
    yours: int
    probabilities: dict[str, tuple[float, ...]]

    def of_plan(self, criterion: str) -> float:
        """Return the probability at the plan's size."""
        return self.probabilities[criterion][self.samples.index(self.yours)]


def success_of(plan: Assessment) -> Success | None:
    """Return the probability of success; None without an original, or without evidence."""
    design, yours = plan.pack.design, plan.evidence.usable
    row, reported = KINDS[design.kind], design.original
    estimate = original_estimate(design) if row.information else None
    if plan.evidence.void_reason or reported is None or estimate is None or not estimate.value:
        return None
    telescope = original_shift(row, reported) / estimate.se
    basis = Basis(abs(estimate.z), design.alpha or _ALPHA, telescope, design.sides)
    samples = tuple(sorted({max(1, round(share * yours)) for share in _GRID} | {yours}))
    sizes = [_relative_size(design, n, plan.evidence_factor * estimate.se) for n in samples]
    shares = {name: tuple(probability(name, c, basis) for c in sizes) for name in CRITERIA}
    return Success(samples, yours, shares)


def _relative_size(design: Design, n: int, error: float) -> float:
    """Return the variance of an error over that of ``n`` planned samples; 0 of too few."""
    row, analysed = KINDS[design.kind], analysed_of(n, design.dropout)
    if row.normal is None or row.information is None or analysed < 1:
        return 0.0
    parameters = DesignParameters.by(design, planned=n)
    if not row.normal.can_test(row.normal.sizes(analysed, parameters.event_share)):
        return 0.0
    return error**2 * row.information(analysed, parameters)


def facts(plan: Assessment) -> list[Fact]:
    """Return the probabilities at the plan's sample size; empty if unknown."""
    success = success_of(plan)
    if success is None:
        return []
    shares = [f"{row.label}: {share_text(success.of_plan(name))}" for name, row in CRITERIA.items()]
    return [Fact("success", TITLE, "; ".join(shares), note=PRIOR)]


def share_text(value: float) -> str:
    """Return a probability: ``0.86``, ``0.997``; none below 1 is written as 1."""
    if 0.9995 <= value < 1:
        return "> 0.999"
    return f"{value:.3f}" if 0.995 <= value < 1 else f"{value:.2f}"
