"""The cost and staff formulas, for a single plan and for arrays of plans.

Whole numbers give a number; arrays that broadcast together give an array.
Source: docs/contract.md, The check.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from replicalab.models import Protocol
from replicalab.scenarios import CostModel, StaffModel

Amount = Any
"""A number, or an array of numbers; the formulas are the same arithmetic for both."""


class Counts(NamedTuple):
    """The five numbers that cost and staff depend on; each a whole number or an array."""

    samples: Amount
    days: Amount
    controls: Amount
    equipment: Amount
    reagents: Amount


class CostTerm(NamedTuple):
    """One of the five terms of a plan's cost, at so many credits each."""

    label: str
    noun: str
    number: Amount
    rate: float

    @property
    def credits(self) -> Amount:
        """What the term adds, in credits."""
        return self.number * self.rate


_TERMS: Final = (
    ("Samples", "sample", "per_sample"),
    ("Days", "day", "per_day"),
    ("Controls", "control", "per_control"),
    ("Equipment", "item", "per_equipment_item"),
    ("Reagents", "item", "per_reagent"),
)


def counts_of(protocol: Protocol) -> Counts:
    """Return the five counts of a plan; duplicates count as listed."""
    return Counts(
        protocol.sample_size,
        protocol.duration_days,
        len(protocol.controls),
        len(protocol.required_equipment),
        len(protocol.required_reagents),
    )


def cost_terms(counts: Counts, model: CostModel) -> tuple[CostTerm, ...]:
    """Return the five terms in the document's order; their credits add up to `cost`."""
    return tuple(
        CostTerm(label, noun, count, getattr(model, rate))
        for count, (label, noun, rate) in zip(counts, _TERMS, strict=True)
    )


def cost(counts: Counts, model: CostModel) -> Amount:
    """Return the credits that the plan needs."""
    samples, days, controls, equipment, reagents = counts
    return (
        samples * model.per_sample
        + days * model.per_day
        + controls * model.per_control
        + equipment * model.per_equipment_item
        + reagents * model.per_reagent
    )


def credits_needed(counts: Counts, model: CostModel) -> float:
    """Return what one plan costs as it is compared with a budget: rounded to a millionth."""
    return round(float(cost(counts, model)), 6)


def staff(counts: Counts, model: StaffModel) -> Amount:
    """Return the staff units that the plan needs: the base, and one per threshold exceeded."""
    return (
        model.base
        + (counts.samples > model.sample_threshold)
        + (counts.controls > model.control_threshold)
        + (counts.days > model.day_threshold)
        + (counts.equipment > model.equipment_threshold)
    )


class StaffStep(NamedTuple):
    """One threshold of the staff formula, and where the plan stands to it."""

    noun: str
    number: int
    threshold: int

    @property
    def adds(self) -> bool:
        """Whether the plan is over the threshold, so that the step adds a staff unit."""
        return self.number > self.threshold


def staff_steps(counts: Counts, model: StaffModel) -> tuple[StaffStep, ...]:
    """Return the four steps that can each add a staff unit to `StaffModel.base`."""
    return (
        StaffStep("sample", counts.samples, model.sample_threshold),
        StaffStep("control", counts.controls, model.control_threshold),
        StaffStep("day", counts.days, model.day_threshold),
        StaffStep("equipment item", counts.equipment, model.equipment_threshold),
    )
