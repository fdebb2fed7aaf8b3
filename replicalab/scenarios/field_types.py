"""Types of the fields of a study file, with the bounds that keep checking it bounded work."""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator, Field, StringConstraints

from replicalab import limits
from replicalab.designs import LEAST_SHARE
from replicalab.models import Record

MOST: Final = 10**9
"""The largest budget (credits), number of days, staff or units in a study."""

SMALLEST_FACTOR: Final = 0.01  # The smallest share of an effect that a substitution may leave


def _text(longest: int) -> StringConstraints:
    return StringConstraints(strip_whitespace=True, min_length=1, max_length=longest)


IDENTIFIER: Final = "[a-z][a-z0-9_]{0,63}"
Identifier = Annotated[str, StringConstraints(pattern=f"^{IDENTIFIER}$")]
DOI: Final = r"^10\.\d{4,9}/\S+$"
Doi = Annotated[str, StringConstraints(pattern=DOI, max_length=limits.LONGEST_LABEL)]
# A dollar sign would begin a formula on pages.
CURRENCY: Final = "[A-Za-zÀ-ÖØ-öø-ɏ€£¥]{1,8}"
Currency = Annotated[str, StringConstraints(pattern=f"^{CURRENCY}$")]

Label = Annotated[str, _text(limits.LONGEST_LABEL)]
"""A name, or a sentence that is compared with others."""

Title = Annotated[str, _text(limits.LONGEST_TITLE)]
ShortTitle = Annotated[str, _text(limits.LONGEST_SHORT_TITLE)]
Prose = Annotated[str, _text(limits.LONGEST_TEXT)]
Clause = Annotated[Prose, AfterValidator(lambda text: text.rstrip(" .\n") or text)]
"""A part of a sentence, stored without a full stop."""

Finite = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Effect = Annotated[Finite, Field(ge=-limits.LARGEST_EFFECT, le=limits.LARGEST_EFFECT)]
Bound = Annotated[Finite, Field(gt=0, le=limits.LARGEST_EFFECT)]
"""A target or a floor of the evidence: a share, or a relative half-width."""

Rate = Annotated[Finite, Field(ge=0, le=MOST)]
Percent = Annotated[Finite, Field(ge=0, le=limits.MOST_PERCENT)]
Step = Annotated[int, Field(strict=True, ge=0, le=MOST)]
AtLeastOne = Annotated[int, Field(strict=True, ge=1, le=MOST)]
Whole = Annotated[int, Field(strict=True, ge=1)]

Few = Field(max_length=limits.MOST_ITEMS)
Many = Field(max_length=limits.MOST_ITEMS + limits.MOST_OWN_ITEMS)  # of a lab and its visitor
Some = Field(min_length=1, max_length=limits.MOST_ITEMS)


class Confidence(StrEnum):
    """How well a figure is known."""

    VERIFIED = "verified"
    RECALLED = "recalled"
    DERIVED = "derived"
    PLANNING_VALUE = "planning value"


Correlation = Annotated[float, Field(strict=True, ge=0, le=1)]
PerUnit = Annotated[float, Field(strict=True, ge=1, le=MOST)]
ArmShare = Annotated[float, Field(strict=True, ge=LEAST_SHARE, le=1 - LEAST_SHARE)]

CORRELATIONS: Final = (0.01, 0.05, 0.1)
"""The intraclass correlations to try if it is unknown."""


class Units(Record):
    """The experimental unit: its samples are treated together and resemble each other.

    Attributes:
        name: the noun for one unit, such as tank.
        samples: the average number of samples in one.
        icc: the intraclass correlation, the share of the variance between units; null if unknown,
            and then the evidence treats samples as independent.
    """

    name: ShortTitle
    samples: PerUnit
    icc: Correlation | None = None


class Arms(Record):
    """Two arms; the first is the treated one.

    Attributes:
        share: the share of the samples in the first arm.
    """

    share: ArmShare = 0.5
