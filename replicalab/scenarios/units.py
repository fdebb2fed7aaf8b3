"""Units and arms of a design: clusters with their correlation, and the allocation of two groups."""

from typing import Annotated, Final

from pydantic import Field

from replicalab.designs import LEAST_SHARE
from replicalab.models import Record
from replicalab.scenarios.fields import MOST, ShortTitle

Correlation = Annotated[float, Field(strict=True, ge=0, le=1)]
PerUnit = Annotated[float, Field(strict=True, ge=1, le=MOST)]

CORRELATIONS: Final = (0.01, 0.05, 0.1)
"""The intraclass correlations that are tried where none is given."""


class Units(Record):
    """The experimental unit: samples in one are treated together, and are more alike than others.

    Attributes:
        name: what one unit is, such as tank.
        samples: how many samples are in one, on average.
        icc: the intraclass correlation: how much of the variance lies between units; null
            where it is not known, and then the evidence takes samples as independent.
    """

    name: ShortTitle
    samples: PerUnit
    icc: Correlation | None = None


ArmShare = Annotated[float, Field(strict=True, ge=LEAST_SHARE, le=1 - LEAST_SHARE)]


class Arms(Record):
    """Two arms: the first is the treated one.

    Attributes:
        share: the share of the samples that is in the first arm.
    """

    share: ArmShare = 0.5
