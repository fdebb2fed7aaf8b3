"""The evidence of a plan in units, at several intraclass correlations."""

from __future__ import annotations

from typing import NamedTuple

from replicalab.assessment import Assessment, evidence_value
from replicalab.measures import design_effect, samples_left
from replicalab.scenarios import CORRELATIONS


class UnitsWorth(NamedTuple):
    """How many independent samples a plan's samples are worth.

    Attributes:
        remaining: samples per unit after dropout, on average.
        design_effect: the variance of a mean over that of independent samples.
        worth: the number of independent samples.
    """

    remaining: float
    design_effect: float
    worth: float


def units_worth(plan: Assessment, correlation: float) -> UnitsWorth | None:
    """Return the worth of a plan's samples at a correlation; None without units."""
    units, evidence = plan.pack.design.units, plan.evidence
    if units is None:
        return None
    remaining = samples_left(evidence.analysed, evidence.able, units.samples)
    effect = design_effect(remaining, correlation)
    return UnitsWorth(remaining, effect, evidence.analysed / effect)


def by_correlation(plan: Assessment) -> dict[float, float]:
    """Return the evidence at the usual correlations and at the study's own.

    Empty without units, and with a baseline, which needs independent samples.
    """
    design, evidence = plan.pack.design, plan.evidence
    if design.units is None or design.baseline is not None:
        return {}
    values = {}
    for icc in sorted({*CORRELATIONS, *([] if design.units.icc is None else [design.units.icc])}):
        units = design.units.model_copy(update={"icc": icc})
        other = design.model_copy(update={"units": units})
        values[icc] = (
            evidence.value
            if evidence.void_reason
            else evidence_value(other, evidence.able, evidence.effect, evidence.factor)
        )
    return values
