"""What a plan's units make of its evidence: at other correlations, and better shared out.

The better allocation spends no more on samples and units than the plan does. How many samples a
unit holds at most, and which share of units is treated, follow from `measures.allocation`; whole
numbers up to them are tried, and what they show is worked out as of any plan.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from replicalab.assessment import Assessment, evidence_value, samples_in_arms, unit_count
from replicalab.measures import (
    KINDS,
    LEAST_SHARE,
    LEAST_UNITS,
    design_effect,
    samples_left,
)
from replicalab.measures.allocation import UnitCosts, optimal_allocation
from replicalab.planner.limits import as_loss, most_counted
from replicalab.scenarios import CORRELATIONS, MOST, Arms, Design, Units

_TWO: Final = 2
_NEAR: Final = 2  # So many units of the dearer arm on either side of the best share are tried
_SMALLEST: Final = 8  # Units of up to so many samples are tried, and
_PARTS: Final = 32  # so many sizes up to the best one
_BEYOND: Final = 1.25  # and a quarter beyond it
_CENTS: Final = 1e-6
_MOST_TO_ONE: Final = round(1 / LEAST_SHARE) - 1  # So many units of one arm to one of the other
_SHOWS: Final = 0.005  # Less evidence more is no better allocation


@dataclass(frozen=True)
class Allocated:
    """Samples and units that cost no more than a plan's and show more.

    Attributes:
        per_unit: samples in each unit.
        units: how many units are in each arm, or in the only group.
        value: the evidence.
        credits: what samples and units cost.
        design: the design with them.
    """

    per_unit: int
    units: tuple[int, ...]
    value: float
    credits: float
    design: Design = field(repr=False)

    @property
    def samples(self) -> int:
        """How many samples there are in all."""
        return self.per_unit * sum(self.units)

    @property
    def share(self) -> float:
        """The share of units that is in the first arm."""
        return self.units[0] / sum(self.units)


class UnitsWorth(NamedTuple):
    """What units make of the samples of a plan that count.

    Attributes:
        left: the samples of a unit that count, on average: those that do not drop out.
        design_effect: by how much the variance of a mean exceeds that of independent samples.
        worth: how many independent samples those of the plan are worth.
    """

    left: float
    design_effect: float
    worth: float


def units_worth(plan: Assessment, correlation: float) -> UnitsWorth | None:
    """Return what units in which samples are so much alike make of a plan's; None without any."""
    units, evidence = plan.pack.design.units, plan.evidence
    if units is None:
        return None
    left = samples_left(evidence.analysed, evidence.able, units.samples)
    effect = design_effect(left, correlation)
    return UnitsWorth(left, effect, evidence.analysed / effect)


def with_correlation(design: Design, correlation: float | None) -> Design:
    """Return a design with units in which samples are so much alike."""
    if design.units is None:
        return design
    units = design.units.model_copy(update={"icc": correlation})
    return design.model_copy(update={"units": units})


def by_correlation(plan: Assessment) -> dict[float, float]:
    """Return what the plan's samples show at the correlations to try, and at its own.

    Empty without units, and with a baseline, which needs independent samples.
    """
    design = plan.pack.design
    units = design.units
    if units is None or design.baseline is not None:
        return {}
    own = () if units.icc is None else (units.icc,)
    return {
        rho: _shown(plan, with_correlation(design, rho)) for rho in sorted({*CORRELATIONS, *own})
    }


def _shown(plan: Assessment, design: Design, samples: int | None = None) -> float:
    """Return what a plan shows in another design, of as many samples or of others."""
    evidence = plan.evidence
    able = evidence.able if samples is None else samples
    if evidence.void_reason:
        return evidence.value
    return evidence_value(design, able, evidence.effect, evidence.factor)


def spent(plan: Assessment) -> tuple[UnitCosts, float] | None:
    """Return what a sample and a unit of each arm cost, and what the plan spends on them.

    The first arm is the treated one. None without units.
    """
    pack, design = plan.pack, plan.pack.design
    units, arms = design.units, design.arms or Arms()
    if units is None:
        return None
    each = pack.cost_model.per_sample + units.sample_cost
    costs = UnitCosts(each + arms.second_cost, units.cost, each + arms.first_cost, units.cost)
    number = plan.counts.samples
    if KINDS[design.kind].groups_of(design) < _TWO:
        only = costs._replace(treated_sample=each, sample=each)
        return only, number * each + unit_count(number, design) * units.cost
    first, second = samples_in_arms(number, design)
    samples = first * costs.treated_sample + second * costs.sample
    return costs, samples + unit_count(number, design) * units.cost


def better_allocation(plan: Assessment) -> Allocated | None:
    """Return samples and units that cost no more than the plan's and show the most of those tried.

    None where the plan's own are as good, and where none is best: see `optimal_allocation`.
    """
    design, known = plan.pack.design, spent(plan)
    units = design.units
    if known is None or units is None or units.icc is None or plan.evidence.void_reason:
        return None
    costs, budget = known
    best = optimal_allocation(costs, units.icc, kept=1 - design.dropout)
    if best is None:
        return None
    most = most_counted(plan.counts.days, plan.pack)
    tried = [
        _allocated(plan, costs, per_unit, split)
        # In this order it is MOST of NaN, too: of samples that are as good as independent.
        for per_unit in _per_unit(min(MOST, best.per_unit), most)
        for split in _splits(design, costs.of_unit(per_unit), budget, most // per_unit)
    ]
    found = min(tried, key=lambda one: (as_loss(one.value, plan.pack), one.credits), default=None)
    return found if found and found.value > plan.evidence.value + _SHOWS else None


def _per_unit(best: float, most: int) -> set[int]:
    """Return how many samples a unit may hold: the smallest numbers, and up to beyond the best.

    Args:
        best: what a unit would hold without an end to the samples.
        most: so many samples there may be.
    """
    # The least variance takes few and large units, and a test of few units has few degrees of
    # freedom: with smaller ones it may have more power. With somewhat larger ones it may, too,
    # where samples drop out or whole units leave a rest.
    end = min(_BEYOND * best, MOST, most / LEAST_UNITS)
    parts = {math.ceil(end * part / _PARTS) for part in range(1, _PARTS + 1)}
    tried = {math.floor(best), math.ceil(best), *range(1, _SMALLEST + 1), *parts}
    return {each for each in tried if 1 <= each <= most}


def _splits(
    design: Design, costs: tuple[float, float], budget: float, most: int
) -> Iterator[tuple[int, ...]]:
    """Yield how many units each arm may have for the budget, near the best share.

    Args:
        design: with one group, or with two arms.
        costs: of a unit with its samples: one untreated, one treated.
        budget: for all of them.
        most: so many units there may be.
    """
    cheap, dear = sorted(costs)
    if KINDS[design.kind].groups_of(design) < _TWO:
        yield (min(math.floor(budget / dear + _CENTS), most),)
        return
    share = max(LEAST_SHARE, math.sqrt(cheap) / (math.sqrt(cheap) + math.sqrt(dear)))
    near = share * budget / ((1 - share) * cheap + share * dear)
    if near > share * most:  # As many as there may be: as evenly as the budget allows
        near = most / 2
        if near * (cheap + dear) > budget:
            near = (budget - most * cheap) / (dear - cheap)
    for one in range(max(LEAST_UNITS, int(near) - _NEAR), int(near) + _NEAR + 1):
        other = min(math.floor((budget - one * dear) / cheap + _CENTS), most - one)
        if other >= LEAST_UNITS:
            # No arm has more of the units than a study may have, and the rest is not spent.
            split = min(one, _MOST_TO_ONE * other), min(other, _MOST_TO_ONE * one)
            yield split if costs[1] == dear else split[::-1]


def _allocated(
    plan: Assessment,
    costs: UnitCosts,
    per_unit: int,
    split: tuple[int, ...],
) -> Allocated:
    design, samples = plan.pack.design, per_unit * sum(split)
    changes: dict[str, Units | Arms] = {}
    if design.units is not None:
        changes["units"] = design.units.model_copy(update={"samples": float(per_unit)})
    if len(split) > 1:
        arms = design.arms or Arms()
        changes["arms"] = arms.model_copy(update={"share": split[0] / sum(split)})
    made = design.model_copy(update=changes)
    of_units = (each * n for each, n in zip(costs.of_unit(per_unit)[::-1], split, strict=False))
    return Allocated(per_unit, split, _shown(plan, made, samples), sum(of_units), made)
