"""The cost and staff formulas, for one plan and for arrays of plans that broadcast together."""

from typing import Any, Final, NamedTuple

from replicalab.designs import KINDS, arms_of, units_of
from replicalab.models import Protocol
from replicalab.scenarios import Design, Pack, StaffModel

Quantity = Any  # a number or an array of numbers; the formulas are the same arithmetic for both
OwnPrices = tuple[tuple[float, ...], tuple[float, ...]]
_DIGITS: Final = 6  # amounts are compared as rounded to a millionth
_TERMS: Final = (
    ("Samples", "per_sample"),
    ("Days", "per_day"),
    ("Controls", "per_control"),
    ("Equipment", "per_equipment_item"),
    ("Reagents", "per_reagent"),
)


class Counts(NamedTuple):
    """The numbers of cost and staff; ``own_prices`` is their difference to the rates."""

    samples: Quantity
    days: Quantity
    controls: Quantity
    equipment: Quantity
    reagents: Quantity
    own_prices: Quantity = 0.0


class CostTerm(NamedTuple):
    """One term of a plan's cost."""

    label: str
    number: Quantity  # units billed; of the overhead the sum of all other terms
    rate: float  # price of a unit; of the overhead a share
    own: tuple[float, ...] = ()  # prices of those units that have one in place of the rate
    of: str = "samples"  # samples, days, controls, equipment, reagents, staff or overhead

    @property
    def credits(self) -> Quantity:
        return (self.number - len(self.own)) * self.rate + sum(self.own)

    @property
    def prices(self) -> dict[float, Quantity]:
        """The number of units at each price, the rate first."""
        numbers = {self.rate: self.number - len(self.own)}
        for price in self.own:
            numbers[price] = numbers.get(price, 0) + 1
        return {price: number for price, number in numbers.items() if number}


def counts_of(protocol: Protocol, pack: Pack) -> Counts:
    """Return the counts of a plan in a lab; duplicates count, and cost, as listed."""
    model, (equipment, reagents) = pack.cost_model, own_prices(protocol, pack)
    extra = sum(equipment, 0.0) - len(equipment) * model.per_equipment_item
    return Counts(
        protocol.sample_size,
        protocol.duration_days,
        len(protocol.controls),
        len(protocol.required_equipment),
        len(protocol.required_reagents),
        extra + sum(reagents) - len(reagents) * model.per_reagent,
    )


def own_prices(protocol: Protocol, pack: Pack) -> OwnPrices:
    if not pack.lab.prices:
        return (), ()
    lists = protocol.required_equipment, protocol.required_reagents
    equipment, reagents = (
        tuple(price for price in map(pack.inventory.price, labels) if price is not None)
        for labels in lists
    )
    return equipment, reagents


def cost_terms(counts: Counts, pack: Pack, own: OwnPrices = ((), ())) -> tuple[CostTerm, ...]:
    """Return the terms that add up to `cost`: five, then staff days and overhead if priced."""
    model = pack.lab.cost_model
    rows = zip(counts[:5], _TERMS, ((), (), (), *own), strict=True)
    terms = [
        CostTerm(label, count, getattr(model, rate), prices, of=label.lower())
        for count, (label, rate), prices in rows
    ]
    if model.per_staff_day:
        staff_days = staff(counts, pack.staff_model) * counts.days
        terms.append(CostTerm("Staff days", staff_days, model.per_staff_day, of="staff"))
    if model.overhead_percent:
        share, direct = model.overhead_percent / 100, _direct(counts, pack)
        terms.append(CostTerm("Overhead", direct, share, of="overhead"))
    return tuple(terms)


def units_in_arms(samples: Quantity, design: Design) -> tuple[Quantity, ...]:
    per_unit = design.units.samples if design.units else 1.0
    return tuple(units_of(arm, per_unit) for arm in samples_in_arms(samples, design))


def samples_in_arms(samples: Quantity, design: Design) -> tuple[Quantity, ...]:
    """Return the number of samples in each of two arms of a design, or all of them together."""
    if KINDS[design.kind].groups_of(design) != 2:
        return (samples,)
    return arms_of(samples, design.arms.share if design.arms else 0.5)


def cost(counts: Counts, pack: Pack) -> Quantity:
    """Return the cost of a plan, in the lab's currency; it never falls when a count grows."""
    direct = _direct(counts, pack)
    percent = pack.lab.cost_model.overhead_percent
    return direct + direct * percent / 100 if percent else direct


def _direct(counts: Counts, pack: Pack) -> Quantity:
    samples, days, controls, equipment, reagents, own_prices = counts
    model = pack.lab.cost_model
    result = (
        samples * model.per_sample
        + days * model.per_day
        + controls * model.per_control
        + equipment * model.per_equipment_item
        + reagents * model.per_reagent
        + own_prices
    )
    if not model.per_staff_day:
        return result
    return result + staff(counts, pack.lab.staff_model) * model.per_staff_day * days


def credits_needed(counts: Counts, pack: Pack) -> float:
    """Return the cost of one plan as it is compared with a budget: rounded to a millionth."""
    return rounded(float(cost(counts, pack)))


def rounded(amount: float) -> float:
    # Most are whole, and rounding takes a fifth of the formula's time.
    return amount if amount.is_integer() else round(amount, _DIGITS)


def staff(counts: Counts, model: StaffModel) -> Quantity:
    """Return the staff units that a plan needs: the base, and one per threshold exceeded."""
    return (
        model.base
        + (counts.samples > model.sample_threshold)
        + (counts.controls > model.control_threshold)
        + (counts.days > model.day_threshold)
        + (counts.equipment > model.equipment_threshold)
    )


class StaffStep(NamedTuple):
    """One threshold of the staff formula, and the plan's number."""

    noun: str
    number: int
    threshold: int

    @property
    def adds(self) -> bool:
        return self.number > self.threshold


def staff_steps(counts: Counts, model: StaffModel) -> tuple[StaffStep, ...]:
    """Return the four steps that can each add a staff unit to `StaffModel.base`."""
    return (
        StaffStep("sample", counts.samples, model.sample_threshold),
        StaffStep("control", counts.controls, model.control_threshold),
        StaffStep("day", counts.days, model.day_threshold),
        StaffStep("equipment item", counts.equipment, model.equipment_threshold),
    )
