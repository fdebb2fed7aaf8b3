"""What a lab may be asked to add: one ask, and all that one plan takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from replicalab.agents import check_feasibility
from replicalab.agents.feasibility import needs
from replicalab.costs import Counts, counts_of, credits_needed, staff
from replicalab.lexicon import amount_text, joined, label_key
from replicalab.models import Dimension, Protocol, wording_of
from replicalab.scenarios import ItemStatus, Pack

NUMBERS: Final = (Dimension.BUDGET, Dimension.SCHEDULE, Dimension.STAFF)
"""The dimensions of which a lab may add an amount."""

Means = tuple[float, int, int]
"""An amount of each of the `NUMBERS`: credits, days, staff units."""

_MISSING: Final = (ItemStatus.BOOKED, ItemStatus.OUT_OF_STOCK)
_DIGITS: Final = 6


@dataclass(frozen=True)
class Ask:
    """One thing that the lab would have to add.

    Attributes:
        dimension: budget, schedule, staff, equipment or reagents.
        has, needs: credits, days or staff units; for an item 0 and 1.
        item: the item to release or to restock, None for the three amounts.
    """

    dimension: Dimension
    has: float
    needs: float
    item: str | None = None

    @property
    def more(self) -> float:
        """How much more than the lab has; credits to a millionth."""
        return round(self.needs - self.has, _DIGITS)

    @property
    def share(self) -> float:
        """How much more, as a share of what the lab has; 1 for an item."""
        return self.more / self.has if self.has else 1.0

    @property
    def text(self) -> str:
        """The ask in words: ``10 more credits``, ``1 more staff unit``, ``'flume' released``."""
        if self.item is not None:
            verb = "released" if self.dimension is Dimension.EQUIPMENT else "restocked"
            return f"'{self.item}' {verb}"
        noun = {Dimension.BUDGET: "credit", Dimension.SCHEDULE: "day"}.get(
            self.dimension, "staff unit"
        )
        return f"{amount_text(self.more)} more {noun}{'' if self.more == 1 else 's'}"


@dataclass(frozen=True)
class Relief:
    """Everything that a lab would have to add so that one plan is feasible in it.

    Attributes:
        plan: the plan that becomes feasible.
        asks: one by one; each is the smallest that will do, and together they are enough.
        left: the dimensions that fail whatever the lab adds.
    """

    plan: Protocol
    asks: tuple[Ask, ...]
    left: tuple[Dimension, ...]

    @property
    def possible(self) -> bool:
        """Whether the asks are enough."""
        return not self.left

    def granted(self, scenario: Pack) -> Pack:
        """Return the study in a lab that has added everything asked for."""
        return granted(self.asks, scenario)


def relief(protocol: Protocol, scenario: Pack) -> Relief:
    """Return the smallest additions with which the lab can run exactly this plan."""
    found = (*_amounts(protocol, scenario), *missing_items(protocol, scenario))
    lab = granted(found, scenario) if found else scenario
    return Relief(protocol, found, tuple(check_feasibility(protocol, lab).failing))


def granted(found: tuple[Ask, ...], scenario: Pack) -> Pack:
    """Return the study in a lab that has added these asks."""
    amounts = {ask.dimension: ask.needs for ask in found if ask.item is None}
    days, people = amounts.get(Dimension.SCHEDULE), amounts.get(Dimension.STAFF)
    lab = scenario.lab.with_means(
        budget=amounts.get(Dimension.BUDGET),
        days=None if days is None else int(days),
        staff=None if people is None else int(people),
        released=[ask.item for ask in found if ask.item is not None],
    )
    return scenario.in_lab(lab)


def asks_text(found: tuple[Ask, ...]) -> str:
    """Return asks in words: ``10 more credits, 1 more day and 'flume' released``."""
    return joined([ask.text for ask in found])


def _amounts(protocol: Protocol, scenario: Pack) -> Iterator[Ask]:
    needed = needed_means(counts_of(protocol), scenario)
    for dimension, has, need in zip(NUMBERS, means(scenario), needed, strict=True):
        if need > has:
            yield Ask(dimension, has, need)


def means(scenario: Pack) -> Means:
    """Return what the lab has of the `NUMBERS`: credits, days, staff units."""
    lab = scenario.lab
    return lab.budget, lab.days, lab.staff


def needed_means(counts: Counts, scenario: Pack) -> Means:
    """Return what a plan of these counts needs of the `NUMBERS`."""
    people = int(staff(counts, scenario.staff_model))
    return credits_needed(counts, scenario.cost_model), counts.days, people


def missing_items(protocol: Protocol, scenario: Pack) -> list[Ask]:
    """Return an ask for each item of the plan that the lab has booked or out of stock."""
    found: dict[str, Ask] = {}
    for _, category, label in needs(wording_of(protocol)):
        if scenario.inventory.status(label, category) in _MISSING:
            dimension = Dimension.EQUIPMENT if category == "equipment" else Dimension.REAGENTS
            found.setdefault(label_key(label), Ask(dimension, 0, 1, label))
    return list(found.values())
