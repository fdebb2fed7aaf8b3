"""What the fields of a study file may hold, each with its bound.

Everything a file holds is bounded, so that reading, checking and judging one is bounded work,
whoever wrote it. The shipped studies lie far below; a file as a whole is bounded in `reading`.
"""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from replicalab import limits

MOST: Final = 10**9
"""The largest budget (credits), number of days, staff or units that a study may name."""


SMALLEST_FACTOR: Final = 0.01  # The least of an effect that a substitution may leave


IDENTIFIER: Final = "[a-z][a-z0-9_]{0,63}"
Identifier = Annotated[str, StringConstraints(pattern=f"^{IDENTIFIER}$")]
DOI: Final = r"^10\.\d{4,9}/\S+$"
Doi = Annotated[str, StringConstraints(pattern=DOI, max_length=limits.LONGEST_LABEL)]
Label = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=limits.LONGEST_LABEL)
]
"""A name of something, or a sentence that is compared with others."""

Title = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=limits.LONGEST_TITLE)
]
ShortTitle = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=limits.LONGEST_SHORT_TITLE),
]
"""What stands at the head of every page."""

CURRENCY: Final = "[A-Za-zÀ-ÖØ-öø-ɏ€£¥]{1,8}"
Currency = Annotated[str, StringConstraints(pattern=f"^{CURRENCY}$")]
"""What a unit of cost is called: letters and three signs. A dollar sign would begin a formula
where pages write text.
"""

Prose = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=limits.LONGEST_TEXT)
]
"""A text for people."""

Finite = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Effect = Annotated[
    float,
    Field(strict=True, ge=-limits.LARGEST_EFFECT, le=limits.LARGEST_EFFECT, allow_inf_nan=False),
]
Bound = Annotated[float, Field(strict=True, gt=0, le=limits.LARGEST_EFFECT, allow_inf_nan=False)]
"""A target or a floor of the evidence: a share, or a relative half-width."""

Rate = Annotated[float, Field(strict=True, ge=0, le=MOST, allow_inf_nan=False)]
Percent = Annotated[float, Field(strict=True, ge=0, le=limits.MOST_PERCENT, allow_inf_nan=False)]
Step = Annotated[int, Field(strict=True, ge=0, le=MOST)]
AtLeastOne = Annotated[int, Field(strict=True, ge=1, le=MOST)]
Whole = Annotated[int, Field(strict=True, ge=1)]

Few = Field(max_length=limits.MOST_ITEMS)
Many = Field(max_length=limits.MOST_ITEMS + limits.MOST_OWN_ITEMS)
Some = Field(min_length=1, max_length=limits.MOST_ITEMS)
"""The bounds of a list: at most `MOST_ITEMS` entries, in a lab those of a visitor too, and one."""


class Confidence(StrEnum):
    """How well a figure is known."""

    VERIFIED = "verified"
    RECALLED = "recalled"
    DERIVED = "derived"
    PLANNING_VALUE = "planning value"
