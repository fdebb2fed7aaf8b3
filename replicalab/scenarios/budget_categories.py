"""The categories of a budget, and what a study's file or a lab says of which cost is in which."""

from enum import StrEnum
from typing import Annotated, Final

from replicalab.scenarios.fields import Label, Many


class BudgetCategory(StrEnum):
    """What a funder's form asks the costs under, in its usual order."""

    PERSONNEL = "personnel"
    MATERIAL = "material"
    ANIMALS = "animals"
    PARTICIPANTS = "participants"
    INSTRUMENTS = "instruments"
    OTHER = "other"


SAMPLES: Final = "samples"
DAYS: Final = "days"
CONTROLS: Final = "controls"
UNITS: Final = "units"
CATEGORY_COSTS: Final = (SAMPLES, DAYS, CONTROLS, UNITS)
"""The costs, besides items by their labels, of which a file may say the category."""

BudgetCategories = Annotated[dict[Label, BudgetCategory], Many]
"""The category of a cost: of `CATEGORY_COSTS`, or of an item by its label."""
