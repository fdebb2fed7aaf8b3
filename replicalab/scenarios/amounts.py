"""The amounts of a lab, one row each: name, unit, bounds and help.

Forms, `LabOverrides`, comparisons and the list of changes read these rows. The values are fields of
`Lab`, `CostModel` and `StaffModel`.
"""

from enum import StrEnum
from typing import Any, Final, NamedTuple

from replicalab.lexicon import CREDITS
from replicalab.scenarios import fields
from replicalab.scenarios.lab import Lab


class AmountGroup(StrEnum):
    """What an amount is used for."""

    MEANS = "limits of a plan"
    RATES = "cost of a plan"
    MONEY = "cost of a plan, in labs that count it"
    STEPS = "staff that a plan needs"


class LabAmount(NamedTuple):
    """A number of a lab.

    Attributes:
        unit: ``credits`` stands for the lab's currency.
        noun: what a sentence counts, ``9 days``; empty if it names the label, ``overhead 5 %``.
        is_shared: whether the Scenarios page takes it for all studies.
    """

    key: str
    label: str
    group: AmountGroup
    help: str
    unit: str = ""
    noun: str = ""
    is_shared: bool = False

    @property
    def part(self) -> str:
        """The dictionary of `LabOverrides` that holds it; empty for a field of its own."""
        return {AmountGroup.MEANS: "", AmountGroup.STEPS: "steps"}.get(self.group, "rates")

    @property
    def bounds(self) -> Any:
        """The type of its values."""
        if self.key == "overhead_percent":
            return fields.Percent
        return {"": fields.AtLeastOne, "steps": fields.Step, "rates": fields.Rate}[self.part]

    def label_in(self, currency: str) -> str:
        """Return the label with the unit: ``Budget, EUR``."""
        unit = currency if self.unit == CREDITS else self.unit
        return f"{self.label}, {unit}" if unit else self.label

    def of(self, lab: Lab) -> float:
        """Return the lab's value."""
        holders = {"": lab, "rates": lab.cost_model, "steps": lab.staff_model}
        value: float = getattr(holders[self.part], self.key)
        return value


_MEANS, _RATES, _MONEY, _STEPS = AmountGroup
_ABOVE: Final = "A plan with more needs one more staff unit."

AMOUNTS: Final = {
    row.key: row
    for row in (
        LabAmount(
            "budget", "Budget", _MEANS, "The most that a plan may cost.", CREDITS, "credit", True
        ),
        LabAmount("days", "Days", _MEANS, "The last day of the lab.", "", "day", True),
        LabAmount("start_day", "Start day", _MEANS, "The first day that a plan may use."),
        LabAmount(
            "staff", "Staff units", _MEANS, "The most that a plan may need.", "", "staff unit", True
        ),
        LabAmount("per_sample", "A sample", _RATES, "The cost of one sample.", CREDITS),
        LabAmount("per_day", "A day", _RATES, "The cost of one day.", CREDITS),
        LabAmount("per_control", "A control", _RATES, "The cost of one control.", CREDITS),
        LabAmount(
            "per_equipment_item",
            "A piece of equipment",
            _RATES,
            "The cost of one piece without a price of its own.",
            CREDITS,
        ),
        LabAmount(
            "per_reagent",
            "A reagent",
            _RATES,
            "The cost of one reagent without a price of its own.",
            CREDITS,
        ),
        LabAmount(
            "per_staff_day",
            "A staff unit a day",
            _MONEY,
            "The cost of each staff unit that a plan needs, per day.",
            CREDITS,
        ),
        LabAmount("overhead_percent", "Overhead", _MONEY, "Added to all other costs.", "%"),
        LabAmount("base", "Staff for every plan", _STEPS, "What the smallest plan needs."),
        LabAmount("sample_threshold", "Staff unit above … samples", _STEPS, _ABOVE),
        LabAmount("control_threshold", "Staff unit above … controls", _STEPS, _ABOVE),
        LabAmount("day_threshold", "Staff unit above … days", _STEPS, _ABOVE),
        LabAmount("equipment_threshold", "Staff unit above … equipment", _STEPS, _ABOVE),
    )
}
"""The amounts by key, in the order of forms and tables."""


def amounts_in(*groups: AmountGroup) -> list[LabAmount]:
    """Return the amounts of some groups."""
    return [row for row in AMOUNTS.values() if row.group in groups]
