"""Which limit keeps a study's target out of reach, where no number of samples reaches it.

Units are such a limit for a plan, too: more samples in as many units come nearer to a most that
the variance between units leaves, so that only more units help.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from replicalab.assessment import Assessment, evidence_value, tier_of, units_in_arms
from replicalab.assessment.evidence import seen_effect
from replicalab.designs import design_effect, samples_left
from replicalab.limits import LARGEST_PLANNED
from replicalab.planner.limits import EvidenceCurve, fewest, most_looked_at
from replicalab.scenarios import CORRELATIONS, Arms, Design, EvidenceTier

_NO_END: Final = 10**9  # So many samples in each unit are as good as any number
_TWO: Final = 2


class TargetLimit(StrEnum):
    """What keeps every number of samples short of the target."""

    UNITS = "units"
    POPULATION = "population"
    PLANNED = "planned"


@dataclass(frozen=True)
class Unreached:
    """Why no number of samples reaches the target.

    Attributes:
        limit: units, without which as many samples would reach it; the
            samples that exist; or the most that can be planned here.
        samples: the most there may be.
        value: what so many show.
        independent: what they would show as independent samples; None without units that count.
    """

    limit: TargetLimit
    samples: int
    value: float
    independent: float | None = None


def why_unreached(plan: Assessment) -> Unreached | None:
    """Return why no number of samples reaches the target with a plan's items; None where one does.

    The lab's limits play no part.
    """
    pack, factor, design = plan.pack, plan.evidence_factor, plan.pack.design
    worth = EvidenceCurve(pack, most_looked_at(plan.plan))
    if worth.needed(0, factor) is not None:
        return None
    number = min(worth.most, design.population_max or worth.most)
    value, independent = worth.value(number, factor), None
    if design.units is not None and design.units.icc is not None:
        plain = design.model_copy(update={"units": None})
        independent = evidence_value(plain, number, seen_effect(plain, factor), factor)
    if independent is not None and tier_of(design, independent) is EvidenceTier.MEETS_TARGET:
        limit = TargetLimit.UNITS
    else:
        limit = TargetLimit.PLANNED if number == worth.most else TargetLimit.POPULATION
    return Unreached(limit, number, value, independent)


@dataclass(frozen=True)
class UnitsLimit:
    """What samples can show in as many units as a plan has, however many exist.

    Attributes:
        units: in each arm, or in the only group.
        most: what no number of samples in them exceeds.
        per_unit: the fewest samples in each with which they reach the target; None where none do.
        enough: the units, by arm, of as many samples each as now that reach it with the fewest
            samples; None where none do.
        exceeds: whether either takes more samples than exist.
    """

    units: tuple[int, ...]
    most: float
    per_unit: int | None
    enough: tuple[int, ...] | None
    exceeds: bool


def units_limit(plan: Assessment) -> UnitsLimit | None:
    """Return what a plan's units allow; None where it meets its target, and without units.

    Without an intraclass correlation units limit nothing, and a plan that shows nothing is short of
    other things.
    """
    design, evidence = plan.pack.design, plan.evidence
    if design.units is None or design.units.icc is None or evidence.void_reason:
        return None
    if evidence.tier is EvidenceTier.MEETS_TARGET:
        return None
    units = tuple(int(each) for each in units_in_arms(evidence.able, design))

    def shown(design: Design, samples: int) -> float:
        return evidence_value(design, samples, evidence.effect, evidence.factor)

    def reaches(design: Design, samples: int) -> bool:
        return tier_of(design, shown(design, samples)) is EvidenceTier.MEETS_TARGET

    def holding(per_unit: int) -> tuple[Design, int]:
        return _of_units(design, units, per_unit), per_unit * sum(units)

    largest = LARGEST_PLANNED // sum(units)
    per_unit = fewest(lambda each: reaches(*holding(each)), 1, largest)
    samples = fewest(lambda n: reaches(design, n), 1, LARGEST_PLANNED)
    enough = tuple(int(each) for each in units_in_arms(samples, design))
    return UnitsLimit(
        units=units,
        most=shown(*holding(_NO_END)),
        per_unit=per_unit if per_unit <= largest else None,
        enough=enough if samples <= LARGEST_PLANNED else None,
        exceeds=min(samples, per_unit * sum(units)) > (design.population_max or LARGEST_PLANNED),
    )


def _of_units(design: Design, units: tuple[int, ...], per_unit: int) -> Design:
    if design.units is None:
        return design
    changes: dict[str, object] = {
        "units": design.units.model_copy(update={"samples": float(per_unit)})
    }
    if len(units) == _TWO:
        # Whole units may be less even than the samples that a study may ask for.
        changes["arms"] = Arms.model_construct(share=units[0] / sum(units))
    return design.model_copy(update=changes)


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
