"""What things cost and how many hands they take: the rates a lab may replace with its own.

Source: the agents map, "Cost estimation" and "Staff estimation". Amounts are credits.
"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from replicalab.models import Record

COST_PER_SAMPLE: Final = 10.0
COST_PER_DAY: Final = 50.0
COST_PER_CONTROL: Final = 25.0
COST_PER_EQUIPMENT_ITEM: Final = 100.0
COST_PER_REAGENT: Final = 75.0

STAFF_BASE: Final = 1
STAFF_SAMPLE_THRESHOLD: Final = 20
STAFF_CONTROL_THRESHOLD: Final = 2
STAFF_DAY_THRESHOLD: Final = 5
STAFF_EQUIPMENT_THRESHOLD: Final = 2

Rate = Annotated[float, Field(strict=True, ge=0, le=1e9, allow_inf_nan=False)]


Step = Annotated[int, Field(strict=True, ge=0, le=10**9)]


class CostModel(Record):
    """A lab's rates in credits; the defaults are the document's.

    Attributes:
        per_sample: for each sample.
        per_day: for each day.
        per_control: for each control.
        per_equipment_item: for each piece of equipment.
        per_reagent: for each reagent.
    """

    per_sample: Rate = COST_PER_SAMPLE
    per_day: Rate = COST_PER_DAY
    per_control: Rate = COST_PER_CONTROL
    per_equipment_item: Rate = COST_PER_EQUIPMENT_ITEM
    per_reagent: Rate = COST_PER_REAGENT


class StaffModel(Record):
    """A lab's staffing steps.

    Attributes:
        base: people that every plan needs.
        sample_threshold: one more above so many samples.
        control_threshold: one more above so many controls.
        day_threshold: one more above so many days.
        equipment_threshold: one more above so many pieces of equipment.
    """

    base: Step = STAFF_BASE
    sample_threshold: Step = STAFF_SAMPLE_THRESHOLD
    control_threshold: Step = STAFF_CONTROL_THRESHOLD
    day_threshold: Step = STAFF_DAY_THRESHOLD
    equipment_threshold: Step = STAFF_EQUIPMENT_THRESHOLD
