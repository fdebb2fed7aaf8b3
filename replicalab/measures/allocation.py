"""How many samples a unit should hold, and which share of units is best treated, at given costs.

In a design of two levels the variance of the estimated effect is

    (rho (1 - R2) + (1 - rho) (1 - R1) / n) / (p (1 - p) J)

for J units of n samples, of which a share p is treated; R1 and R2 are the shares of the variance
within and between units that covariates explain. The allocation with the least variance times cost
has the least variance for any budget.
Sources: Raudenbush (1997), Psychological Methods 2, 173-185, for equal costs in both arms; Shen &
Kelcey (2020), Journal of Educational and Behavioral Statistics 45, 446-474, for unequal ones.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

_MOST_TURNS: Final = 500
_CLOSE: Final = 1e-12


class UnitCosts(NamedTuple):
    """What a sample and a unit cost, without treatment and with it; each 0 or more."""

    sample: float
    unit: float
    treated_sample: float
    treated_unit: float

    def of_unit(self, per_unit: float) -> tuple[float, float]:
        """Return what a unit with its samples costs: one untreated, one treated."""
        return (
            self.sample * per_unit + self.unit,
            self.treated_sample * per_unit + self.treated_unit,
        )


class Allocation(NamedTuple):
    """How many samples a unit holds, not rounded, and the share of units that is treated."""

    per_unit: float
    share: float


def optimal_allocation(
    costs: UnitCosts,
    correlation: float,
    explained: tuple[float, float] = (0.0, 0.0),
    *,
    per_unit: float | None = None,
    share: float | None = None,
    kept: float = 1.0,
) -> Allocation | None:
    """Return the allocation with the least variance for what it costs.

    None where there is no such thing: where samples, or units, are free in both arms, or all of the
    variance lies on one level.

    Args:
        costs: of samples and units in both arms.
        correlation: the intraclass correlation, in [0, 1].
        explained: the shares of the variance within and between units that covariates explain.
        per_unit: samples in a unit, where they are given.
        share: the share of treated units, where it is given.
        kept: the share of a unit's samples that dropout leaves.

    Raises:
        ValueError: a number that no design has; says which, and what it may be.
    """
    _check(costs, correlation, explained, (per_unit, share), kept)
    within = (1 - correlation) * (1 - explained[0]) / kept
    between = correlation * (1 - explained[1])
    found = Allocation(per_unit or 1.0, 0.5 if share is None else share)
    free = not (costs.sample + costs.treated_sample and costs.unit + costs.treated_unit)
    if per_unit is None and (free or not (within and between)):
        return None
    if not all(costs.of_unit(found.per_unit)):
        return None
    # Each is best for the other in turn, and the product falls with every turn.
    for _ in range(_MOST_TURNS):
        before, (_, p) = found, found
        if per_unit is None:
            ratio = _mean(costs.unit, costs.treated_unit, p) / _mean(*costs[::2], p)
            found = found._replace(per_unit=math.sqrt(within / between * ratio))
        if share is None:
            plain, treated = map(math.sqrt, costs.of_unit(found.per_unit))
            found = found._replace(share=treated and plain / (plain + treated))
        if all(
            abs(one - other) <= _CLOSE * other for one, other in zip(found, before, strict=True)
        ):
            break
    return found


def _mean(plain: float, treated: float, share: float) -> float:
    return (1 - share) * plain + share * treated


def _check(
    costs: UnitCosts,
    correlation: float,
    explained: tuple[float, float],
    given: tuple[float | None, float | None],
    kept: float,
) -> None:
    """Raise where a number is none that a design may have."""
    per_unit, share = given
    rows = (
        ("correlation", correlation, 0 <= correlation <= 1, "from 0 to 1"),
        *((f"explained[{i}]", r, 0 <= r < 1, "from 0 to below 1") for i, r in enumerate(explained)),
        ("per_unit", per_unit, per_unit is None or 0 < per_unit < math.inf, "above 0"),
        ("share", share, share is None or 0 < share < 1, "between 0 and 1"),
        ("kept", kept, 0 < kept <= 1, "above 0, at most 1"),
        *((f"costs.{k}", c, 0 <= c < math.inf, "0 or more") for k, c in costs._asdict().items()),
    )
    for name, value, is_right, may_be in rows:
        if not is_right:
            raise ValueError(f"{name} is {value}; give a number {may_be}")
