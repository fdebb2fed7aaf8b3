"""The two arms of a study: how the samples are shared out over them, and what one costs in each."""

from typing import Annotated

from pydantic import Field

from replicalab.measures import LEAST_SHARE
from replicalab.models import Record
from replicalab.scenarios.fields import Rate

ArmShare = Annotated[float, Field(strict=True, ge=LEAST_SHARE, le=1 - LEAST_SHARE)]


class Arms(Record):
    """Two arms: the first is the treated one.

    Attributes:
        share: the share of the samples that is in the first arm.
        first_cost: what a sample of the first arm costs besides the lab's rate.
        second_cost: what a sample of the second arm costs besides the lab's rate.
    """

    share: ArmShare = 0.5
    first_cost: Rate = 0.0
    second_cost: Rate = 0.0

    @property
    def is_free(self) -> bool:
        """Whether they add nothing to what a plan costs."""
        return not (self.first_cost or self.second_cost)
