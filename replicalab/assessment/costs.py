"""The cost and staff formulas, for a single plan and for arrays of plans.

A lab may also have a price for its staff, and an overhead on everything. Without them a plan costs
what the document's five terms add up to.

Whole numbers give a number; arrays that broadcast together give an array.
Source: docs/methods.md, The check.
"""

from typing import Any, Final, NamedTuple

from replicalab.designs import KINDS, arms_of, units_of
from replicalab.models import Protocol
from replicalab.scenarios import Design, Pack, StaffModel

Amount = Any  # A number, or an array of numbers; the formulas are the same arithmetic for both


class Counts(NamedTuple):
    """The five numbers that cost and staff depend on; each a whole number or an array.

    ``own_prices`` is what the items' own prices add to their rates.
    """

    samples: Amount
    days: Amount
    controls: Amount
    equipment: Amount
    reagents: Amount
    own_prices: Amount = 0.0


class CostTerm(NamedTuple):
    """One of the terms of a plan's cost, at so much each.

    ``own`` are the prices of those among the ``number`` that have one in place of the rate. Of the
    overhead the ``number`` is the sum of all other terms, and the rate a share of it. ``of`` is
    what costs: ``samples``, ``days``, ``controls``, ``equipment``, ``reagents``, ``staff`` or
    ``overhead``.
    """

    label: str
    number: Amount
    rate: float
    own: tuple[float, ...] = ()
    is_share: bool = False
    of: str = "samples"

    @property
    def credits(self) -> Amount:
        """What the term adds, in the lab's currency."""
        return (self.number - len(self.own)) * self.rate + sum(self.own)

    @property
    def prices(self) -> dict[float, Amount]:
        """How many there are at each price, those at the rate first."""
        numbers = {self.rate: self.number - len(self.own)}
        for price in self.own:
            numbers[price] = numbers.get(price, 0) + 1
        return {price: number for price, number in numbers.items() if number}


_ARMS: Final = 2

_TERMS: Final = (
    ("Samples", "per_sample"),
    ("Days", "per_day"),
    ("Controls", "per_control"),
    ("Equipment", "per_equipment_item"),
    ("Reagents", "per_reagent"),
)


def counts_of(protocol: Protocol, pack: Pack) -> Counts:
    """Return the five counts of a plan in a lab; duplicates count, and cost, as listed."""
    extra = 0.0
    if pack.lab.prices:
        equipment, reagents = own_prices(protocol, pack)
        model = pack.cost_model
        extra = (
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
        extra,
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
    counts: Counts, pack: Pack, own: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
) -> tuple[CostTerm, ...]:
    """Return the five terms in the document's order, and what else has a price in a lab.

    They add up to `cost`. Given the own prices that the counts hold, see `own_prices`.
    """
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
        terms.append(CostTerm("Overhead", direct, share, is_share=True, of="overhead"))
    return tuple(terms)


def units_in_arms(samples: Amount, design: Design) -> tuple[Amount, ...]:
    """Return how many units each arm of a design has, or its only group."""
    per_unit = design.units.samples if design.units else 1.0
    return tuple(units_of(arm, per_unit) for arm in samples_in_arms(samples, design))


def samples_in_arms(samples: Amount, design: Design) -> tuple[Amount, ...]:
    """Return how many samples each of two arms of a design has, or all of them together."""
    if KINDS[design.kind].groups_of(design) != _ARMS:
        return (samples,)
    return arms_of(samples, design.arms.share if design.arms else 0.5)


def cost(counts: Counts, pack: Pack) -> Amount:
    """Return what the plan costs, in the lab's currency.

    It is a sum of doubles; it never falls when a count grows, since no term does, nor what a step
    of rounding makes of it.
    """
    direct = _direct(counts, pack)
    percent = pack.lab.cost_model.overhead_percent
    return direct + direct * percent / 100 if percent else direct


def _direct(counts: Counts, pack: Pack) -> Amount:
    samples, days, controls, equipment, reagents, custom = counts
    model = pack.lab.cost_model
    result = (
        samples * model.per_sample
        + days * model.per_day
        + controls * model.per_control
        + equipment * model.per_equipment_item
        + reagents * model.per_reagent
        + custom
    )
    if not model.per_staff_day:
        return result
    return result + staff(counts, pack.lab.staff_model) * model.per_staff_day * days


def credits_needed(counts: Counts, pack: Pack) -> float:
    """Return what one plan costs as it is compared with a budget: rounded to a millionth.

    The sum is rounded once, with the overhead in it; no term is rounded on its own.
    """
    needed = float(cost(counts, pack))
    # Most are whole, and rounding takes a fifth of the formula's time.
    return needed if needed.is_integer() else round(needed, 6)


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
