"""The two arms of a study, and how they share the samples."""

from typing import Annotated

from pydantic import Field

from replicalab.measures import LEAST_SHARE
from replicalab.models import Record

ArmShare = Annotated[float, Field(strict=True, ge=LEAST_SHARE, le=1 - LEAST_SHARE)]


class Arms(Record):
    """Two arms: the first is the treated one.

    Attributes:
        share: the share of the samples that is in the first arm.
    """

    share: ArmShare = 0.5
