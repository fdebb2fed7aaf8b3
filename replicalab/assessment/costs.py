"""The cost and staff formulas, for a single plan and for arrays of plans.

Whole numbers give a number; arrays that broadcast together give an array.
Source: docs/contract.md, The check.
"""

from typing import Any, Final, NamedTuple

from replicalab.models import Protocol
from replicalab.scenarios import CostModel, Pack, StaffModel

Amount = Any
"""A number, or an array of numbers; the formulas are the same arithmetic for both."""


class Counts(NamedTuple):
    """The five numbers that cost and staff depend on; each a whole number or an array.

    ``own_prices`` is what the items' own prices add to their rates, in credits.
    """

    samples: Amount
    days: Amount
    controls: Amount
    equipment: Amount
    reagents: Amount
    own_prices: Amount = 0.0


class CostTerm(NamedTuple):
    """One of the five terms of a plan's cost, at so many credits each.

    ``own`` are the prices of those among the ``number`` that have one in place of the rate.
    """

    label: str
    number: Amount
    rate: float
    own: tuple[float, ...] = ()

    @property
    def credits(self) -> Amount:
        """What the term adds, in credits."""
        return (self.number - len(self.own)) * self.rate + sum(self.own)

    @property
    def prices(self) -> dict[float, Amount]:
        """How many there are at each price, those at the rate first."""
        numbers = {self.rate: self.number - len(self.own)}
        for price in self.own:
            numbers[price] = numbers.get(price, 0) + 1
        return {price: number for price, number in numbers.items() if number}


_TERMS: Final = (
    ("Samples", "per_sample"),
    ("Days", "per_day"),
    ("Controls", "per_control"),
    ("Equipment", "per_equipment_item"),
    ("Reagents", "per_reagent"),
)


def counts_of(protocol: Protocol, pack: Pack) -> Counts:
    """Return the five counts of a plan in a lab; duplicates count, and cost, as listed."""
    more = 0.0
    if pack.lab.prices:
        equipment, reagents = own_prices(protocol, pack)
        model = pack.cost_model
        more = (
            sum(equipment, 0.0)
            - len(equipment) * model.per_equipment_item
            + sum(reagents)
            - len(reagents) * model.per_reagent
        )
    return Counts(
        protocol.sample_size,
        protocol.duration_days,
        len(protocol.controls),
        len(protocol.required_equipment),
        len(protocol.required_reagents),
        more,
    )


def own_prices(protocol: Protocol, pack: Pack) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the own prices of a plan's equipment and reagents, of as many as have one."""
    if not pack.lab.prices:
        return (), ()
    lists = protocol.required_equipment, protocol.required_reagents
    equipment, reagents = (map(pack.inventory.price, labels) for labels in lists)
    return (
        tuple(price for price in equipment if price is not None),
        tuple(price for price in reagents if price is not None),
    )


def cost_terms(
    counts: Counts, model: CostModel, own: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
) -> tuple[CostTerm, ...]:
    """Return the five terms in the document's order; their credits add up to `cost`.

    Given the own prices that the counts hold, see `own_prices`.
    """
    rows = zip(counts[:5], _TERMS, ((), (), (), *own), strict=True)
    return tuple(
        CostTerm(label, count, getattr(model, rate), prices)
        for count, (label, rate), prices in rows
    )


def cost(counts: Counts, model: CostModel) -> Amount:
    """Return the credits that the plan needs."""
    samples, days, controls, equipment, reagents, own = counts
    return (
        samples * model.per_sample
        + days * model.per_day
        + controls * model.per_control
        + equipment * model.per_equipment_item
        + reagents * model.per_reagent
        + own
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
