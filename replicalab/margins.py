"""How far a plan is from each limit, which resource is tightest, and where the cliffs are.

What the seven checks answer with yes or no, this says in numbers: used, limit and slack.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from replicalab.agents import FeasibilityCheckResult
from replicalab.costs import counts_of, staff_steps
from replicalab.lexicon import amount_text, label_key
from replicalab.models import DIMENSIONS, Dimension, Protocol
from replicalab.scenarios import Bounds, Comparator, ItemStatus, Pack, ScenarioConstraint

RESOURCES: Final = (Dimension.BUDGET, Dimension.SCHEDULE, Dimension.STAFF)
"""The dimensions that are amounts, of which a share is used."""
_REPORTED_BY: Final = {
    "duration": Dimension.SCHEDULE,
    "equipment": Dimension.EQUIPMENT,
    "reagent": Dimension.REAGENTS,
}
"""The errors on paper that are failures of another dimension too."""
_SINGULAR: Final = {"errors": "error", "breaches": "breach"}


@dataclass(frozen=True)
class Margin:
    """One dimension in numbers.

    Attributes:
        used, limit: amounts in ``unit``. For ``protocol`` and ``policy`` these are errors and
            broken phrases against 0; for items, how many are needed and how many are free.
        slack: ``limit - used``; negative when the dimension fails.
        about: what the errors on paper are about: ``duration``, ``equipment``.
    """

    dimension: Dimension
    ok: bool
    used: float
    limit: float
    unit: str
    reasons: tuple[str, ...] = ()
    about: tuple[str, ...] = ()

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
            counted = f"{self.used_text} {self.unit if self.used != 1 else _SINGULAR[self.unit]}"
            about = ", ".join(self.about)
            return f"{counted}: {about}" if about else f"{counted}, none allowed"
        return f"{self.used_text} / {self.limit_text} {self.unit}"

    @property
    def slack_text(self) -> str:
        """What is left, signed: ``+350``, ``−2``, ``0``."""
        sign = "+" if self.slack > 0 else "\u2212" if self.slack < 0 else ""
        return f"{sign}{amount_text(abs(self.slack))}"

    @property
    def has_slack(self) -> bool:
        """Whether anything can be left: of errors and breaches nothing is."""
        return self.dimension not in (Dimension.PROTOCOL, Dimension.POLICY)


def margins(
    protocol: Protocol, check: FeasibilityCheckResult, scenario: Pack
) -> tuple[Margin, ...]:
    """Return the seven margins of a checked plan, in the document's order."""
    lab = scenario.lab
    amounts: dict[Dimension, tuple[float, float, str]] = {
        Dimension.PROTOCOL: (len(check.protocol.reasons), 0, "errors"),
        Dimension.BUDGET: (check.estimated_cost, lab.budget, "credits"),
        Dimension.EQUIPMENT: _items(protocol.required_equipment, "equipment", scenario),
        Dimension.REAGENTS: _items(protocol.required_reagents, "reagent", scenario),
        Dimension.SCHEDULE: (protocol.duration_days, lab.days, "days"),
        Dimension.STAFF: (check.required_staff, lab.staff, "staff units"),
        Dimension.POLICY: (len(check.policy.reasons), 0, "breaches"),
    }
    return tuple(
        Margin(dimension, check.check(dimension).ok, *amounts[dimension],
               tuple(check.check(dimension).reasons),
               _about(check) if dimension is Dimension.PROTOCOL else ())
        for dimension in DIMENSIONS
    )  # fmt: skip


def _about(check: FeasibilityCheckResult) -> tuple[str, ...]:
    categories = (issue.category for issue in check.validation_result.errors)
    return tuple(dict.fromkeys(category.replace("_", " ") for category in categories))


def reasons_once(check: FeasibilityCheckResult) -> list[tuple[Dimension, str]]:
    """Return why dimensions fail, each fact once, in the document's order.

    An error on paper that another dimension reports too is only pointed at.
    """
    own: list[str] = []
    elsewhere: list[str] = []
    for issue in check.validation_result.errors:
        other = _REPORTED_BY.get(issue.category)
        if other is None or check.check(other).ok:
            own.append(issue.message)
        elif other.value not in elsewhere:
            elsewhere.append(other.value)
    pointer = [f"see {' and '.join(elsewhere)}."] if elsewhere else []
    others = (d for d in DIMENSIONS if d is not Dimension.PROTOCOL)
    found = [(Dimension.PROTOCOL, text) for text in [*own, *pointer]]
    return found + [(d, reason) for d in others for reason in check.check(d).reasons]


def _items(labels: list[str], category: str, scenario: Pack) -> tuple[float, float, str]:
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


def cliffs(protocol: Protocol, scenario: Pack) -> list[str]:
    """Return the small steps that change a lot: a staff unit more or less, the endpoint lost."""
    return [*_staff_cliffs(protocol, scenario), *_endpoint_cliffs(protocol, scenario)]


def _staff_cliffs(protocol: Protocol, scenario: Pack) -> Iterator[str]:
    for step in staff_steps(counts_of(protocol), scenario.staff_model):
        one = step.unit.removesuffix("s")
        if step.number == step.threshold:
            yield f"One more {one} adds a staff unit."
        elif step.number == step.threshold + 1:
            yield f"One {one} fewer saves a staff unit."


def _endpoint_cliffs(protocol: Protocol, scenario: Pack) -> Iterator[str]:
    if protocol.duration_days == scenario.min_days:
        yield "One day fewer loses the study's endpoint."


def unmet_durations(days: int, scenario: Pack, *, checked: bool = True) -> list[str]:
    """Return each duration that the study itself names and that so many days do not reach.

    Days below the study's fewest are left to the check, which says that the endpoint is lost.

    Args:
        days: of the plan.
        scenario: the study in its lab.
        checked: whether to name those too that the check of a plan holds, and reports itself.
    """
    return [
        f"Below the study's '{each.key.replace('_', ' ')}' of {amount_text(each.quantity)} days."
        for each in scenario.constraints
        if each.comparator is Comparator.AT_LEAST
        and each.quantity is not None
        and _names_days(each, checked)
        and max(days, scenario.min_days) < each.quantity
    ]


def _names_days(constraint: ScenarioConstraint, checked: bool) -> bool:
    if constraint.bounds is not None:
        return checked and constraint.bounds is Bounds.DAYS
    return constraint.unit is not None and label_key(constraint.unit) in ("day", "days")
