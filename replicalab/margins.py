"""How far a plan is from each limit, which resource is tightest, and where the cliffs are.

What the seven checks answer with yes or no, this says in numbers: used, limit and slack.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from replicalab.agents import FeasibilityCheckResult
from replicalab.costs import amount_text, counts_of, staff_steps
from replicalab.models import DIMENSIONS, Dimension, Protocol
from replicalab.scenarios.inventory import ItemStatus
from replicalab.scenarios.models import NormalizedScenarioPack

RESOURCES: Final = (Dimension.BUDGET, Dimension.SCHEDULE, Dimension.STAFF)
"""The dimensions that are amounts, of which a share is used."""
_SINGULAR: Final = {"errors": "error", "breaches": "breach"}


@dataclass(frozen=True)
class Margin:
    """One dimension in numbers.

    Attributes:
        used, limit: amounts in ``unit``. For ``protocol`` and ``policy`` these are errors and
            broken phrases against 0; for items, how many are needed and how many are free.
        slack: ``limit - used``; negative when the dimension fails.
    """

    dimension: Dimension
    ok: bool
    used: float
    limit: float
    unit: str
    reasons: tuple[str, ...] = ()

    @property
    def slack(self) -> float:
        """What is left; negative when over."""
        return self.limit - self.used

    @property
    def use(self) -> float | None:
        """The share of the limit that is used, None where no share makes sense."""
        return self.used / self.limit if self.dimension in RESOURCES and self.limit else None

    @property
    def used_text(self) -> str:
        """What the plan uses: ``2,250``, ``3``."""
        return amount_text(self.used)

    @property
    def limit_text(self) -> str:
        """What the lab has: ``2,600``."""
        return amount_text(self.limit)

    @property
    def text(self) -> str:
        """Used against the limit: ``2,250 / 2,600 credits``, ``2 needed, 1 free``."""
        if self.unit == "items":
            return f"{self.used_text} needed, {self.limit_text} free"
        if not self.limit and self.dimension not in RESOURCES:
            singular = self.unit if self.used != 1 else _SINGULAR[self.unit]
            return f"{self.used_text} {singular}, none allowed"
        return f"{self.used_text} / {self.limit_text} {self.unit}"

    @property
    def slack_text(self) -> str:
        """What is left, signed: ``+350``, ``−2``, ``0``."""
        sign = "+" if self.slack > 0 else "\u2212" if self.slack < 0 else ""
        return f"{sign}{amount_text(abs(self.slack))}"


def margins(
    protocol: Protocol, check: FeasibilityCheckResult, scenario: NormalizedScenarioPack
) -> tuple[Margin, ...]:
    """Return the seven margins of a checked plan, in the document's order."""
    lab = scenario.lab
    amounts: dict[Dimension, tuple[float, float, str]] = {
        Dimension.PROTOCOL: (len(check.protocol.reasons), 0, "errors"),
        Dimension.BUDGET: (check.estimated_cost, lab.budget_remaining, "credits"),
        Dimension.EQUIPMENT: _items(protocol.required_equipment, "equipment", scenario),
        Dimension.REAGENTS: _items(protocol.required_reagents, "reagent", scenario),
        Dimension.SCHEDULE: (protocol.duration_days, lab.time_limit_days, "days"),
        Dimension.STAFF: (check.required_staff, lab.staff_count, "staff units"),
        Dimension.POLICY: (len(check.policy.reasons), 0, "breaches"),
    }
    return tuple(
        Margin(dimension, check.check(dimension).ok, *amounts[dimension],
               tuple(check.check(dimension).reasons))
        for dimension in DIMENSIONS
    )  # fmt: skip


def _items(
    labels: list[str], category: str, scenario: NormalizedScenarioPack
) -> tuple[float, float, str]:
    statuses = [scenario.inventory.status(label, category) for label in labels]
    return len(labels), statuses.count(ItemStatus.AVAILABLE), "items"


def tightest(found: tuple[Margin, ...]) -> Dimension:
    """Return the resource of which the largest share is used: the one that binds first."""
    resources = [margin for margin in found if margin.dimension in RESOURCES]
    return max(resources, key=_pressure).dimension


def _pressure(margin: Margin) -> float:
    if margin.use is not None:
        return margin.use
    return math.inf if margin.used > margin.limit else 0.0


def cliffs(protocol: Protocol, scenario: NormalizedScenarioPack) -> list[str]:
    """Return the small steps that change a lot: a staff unit more or less, the endpoint lost."""
    return [*_staff_cliffs(protocol, scenario), *_endpoint_cliffs(protocol, scenario)]


def _staff_cliffs(protocol: Protocol, scenario: NormalizedScenarioPack) -> Iterator[str]:
    for step in staff_steps(counts_of(protocol), scenario.staff_model):
        one = step.unit.removesuffix("s")
        if step.number == step.threshold:
            yield f"One more {one} adds a staff unit."
        elif step.number == step.threshold + 1:
            yield f"One {one} fewer saves a staff unit."


def _endpoint_cliffs(protocol: Protocol, scenario: NormalizedScenarioPack) -> Iterator[str]:
    if protocol.duration_days == scenario.min_days:
        yield "One day fewer loses the study's endpoint."
