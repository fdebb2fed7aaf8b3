"""The probability that a plan's study succeeds as a replication, over sample sizes."""

from typing import Final, NamedTuple

from replicalab.assessment.assess import Assessment
from replicalab.measures import KINDS, DesignParameters, analysed_of, estimate_of
from replicalab.measures.planning_effects import original_shift
from replicalab.measures.success import Basis, Criterion, chance
from replicalab.scenarios import Design

_LEVEL: Final = 0.05  # If the design has no alpha
_GRID: Final = (0.5, 1, 2, 4)  # Multiples of the plan's sample size


class Success(NamedTuple):
    """The probability of success on a grid of sample sizes.

    Attributes:
        samples: the sizes, as planned.
        yours: the plan's size, one of them.
        chances: the probabilities at these sizes, by criterion.
    """

    samples: tuple[int, ...]
    yours: int
    chances: dict[Criterion, tuple[float, ...]]

    def of_plan(self, name: Criterion) -> float:
        """Return the probability at the plan's size."""
        return self.chances[name][self.samples.index(self.yours)]


def basis_of(design: Design) -> Basis | None:
    """Return the original's results; None if its estimate or standard error is missing."""
    row, reported = KINDS[design.kind], design.original
    estimate = estimate_of(row, reported) if reported and row.information else None
    if reported is None or estimate is None or not estimate.value:
        return None
    telescope = original_shift(row, reported) / estimate.se
    return Basis(abs(estimate.z), design.alpha or _LEVEL, telescope)


def relative_size(design: Design, n: int, factor: float = 1.0) -> float:
    """Return the original's variance over that of ``n`` planned samples; 0 of too few.

    Args:
        design: with an original whose standard error is known.
        n: planned samples; some of them may drop out.
        factor: the part of every effect that the plan's substitutions leave.
    """
    row, analysed = KINDS[design.kind], analysed_of(n, design.dropout)
    estimate = estimate_of(row, design.original) if design.original else None
    if estimate is None or row.normal is None or row.information is None or analysed < 1:
        return 0.0
    parameters = DesignParameters.by(design, planned=n)
    if not row.normal.can_test(row.normal.sizes(analysed, parameters.event_share)):
        return 0.0
    return (factor * estimate.se) ** 2 * row.information.of(analysed, parameters)


def success_of(plan: Assessment) -> Success | None:
    """Return the probability of success; None without an original, or without evidence."""
    design, yours = plan.pack.design, plan.evidence.able
    basis = basis_of(design)
    if basis is None or plan.evidence.void_reason:
        return None
    samples = tuple(sorted({max(1, round(share * yours)) for share in _GRID} | {yours}))
    sizes = [relative_size(design, n, plan.evidence_factor) for n in samples]
    chances = {name: tuple(chance(name, c, basis) for c in sizes) for name in Criterion}
    return Success(samples, yours, chances)
