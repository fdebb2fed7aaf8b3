"""What a lab's next hundred credits, next day and next person would buy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from replicalab.models import Dimension, Protocol
from replicalab.planner import LeastLoss, least_loss
from replicalab.scenarios import Pack

EXTRA_CREDITS: Final = 100


@dataclass(frozen=True)
class Extra:
    """The least-loss plan of a lab before and after one addition.

    Attributes:
        dimension: budget, schedule or staff.
        more: how much is added: credits, days or staff units.
        before, after: the least-loss plans.
    """

    dimension: Dimension
    more: int
    before: LeastLoss
    after: LeastLoss

    @property
    def better(self) -> bool:
        """Whether the addition lets less be given up, changes of the plan and cost set aside."""
        return self.after.rank[:4] < self.before.rank[:4]


def extras(protocol: Protocol, scenario: Pack) -> tuple[Extra, ...]:
    """Return what each single addition would buy: credits, a day, a staff unit."""
    lab, before = scenario.lab, least_loss(protocol, scenario)
    grown = (
        (Dimension.BUDGET, EXTRA_CREDITS,
         scenario.in_lab(scenario.lab.with_means(budget=lab.budget + EXTRA_CREDITS))),
        (Dimension.SCHEDULE, 1, scenario.in_lab(scenario.lab.with_means(days=lab.days + 1))),
        (Dimension.STAFF, 1, scenario.in_lab(scenario.lab.with_means(staff=lab.staff + 1))),
    )  # fmt: skip
    return tuple(
        Extra(dimension, more, before, least_loss(protocol, pack))
        for dimension, more, pack in grown
    )
