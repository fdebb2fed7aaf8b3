"""A lab's inventory: which items are available, and their usable alternatives."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from replicalab.lexicon import label_key
from replicalab.scenarios.lab import Lab
from replicalab.scenarios.study import Study


class ItemStatus(StrEnum):
    """The status of an item in a lab."""

    AVAILABLE = "available"
    BOOKED = "booked"
    OUT_OF_STOCK = "out of stock"
    UNKNOWN = "not in this lab's inventory"


MISSING: Final = frozenset({ItemStatus.BOOKED, ItemStatus.OUT_OF_STOCK})
"""The statuses of items that the lab knows and cannot use."""


class Item(NamedTuple):
    """An item that a plan lists in a protocol ``field``."""

    field: str
    category: str  # ``equipment`` or ``reagent``
    label: str
    key: str
    status: ItemStatus
    status_text: str  # the status for people: ``booked until day 10``
    options: tuple[str, ...]  # the alternatives of a missing item
    times: int = 1  # how often the plan lists it

    @property
    def is_irreplaceable(self) -> bool:
        """Whether it is missing and has no alternative here."""
        return self.status in MISSING and not self.options


_FIELDS: Final = {"equipment": "required_equipment", "reagent": "required_reagents"}


class Inventory:
    """A lab's items and their usable alternatives, by label as `label_key` compares them."""

    def __init__(self, study: Study, lab: Lab) -> None:
        self._lab, self._term = lab, study.term
        gone = dict.fromkeys(map(label_key, lab.out_of_stock), ItemStatus.OUT_OF_STOCK)
        self._booked_until = {
            key: day
            for item, day in lab.booked.items()
            if day >= lab.start_day and (key := label_key(item)) not in gone
        }
        gone |= dict.fromkeys(self._booked_until, ItemStatus.BOOKED)
        self._prices = {label_key(item): price for item, price in lab.prices.items()}
        self._alternatives: dict[str, tuple[str, ...]] = {}
        for swap in study.substitutions:
            if label_key(swap.alternative) not in gone:
                original = label_key(swap.original)
                self._alternatives[original] = (*self.alternatives(original), swap.alternative)
        self._status: dict[tuple[str, str], ItemStatus] = {}
        self._items: dict[str, dict[str, Item]] = {}  # most plans write labels as these
        self.listed: list[Item] = []
        """The items of the study and the lab: the equipment, then the reagents."""
        self.replacements: dict[str, list[str]] = {}
        """By category, the usable alternatives that it does not list as items, sorted."""
        for category, labels in (
            ("equipment", (*study.equipment, *lab.equipment)),
            ("reagent", (*study.reagents, *lab.reagents)),
        ):
            keys = [label_key(label) for label in labels]
            others = {label for key in keys for label in self.alternatives(key)}
            others = {label for label in others if label_key(label) not in keys}
            self.replacements[category] = sorted(others)
            statuses = dict.fromkeys(map(label_key, others), ItemStatus.AVAILABLE)
            statuses |= {key: gone.get(key, ItemStatus.AVAILABLE) for key in keys}
            self._status |= {(category, key): status for key, status in statuses.items()}
            items = {label: self._item(label, category) for label in labels}
            self.listed += items.values()
            replacements = {label: self._item(label, category) for label in others}
            self._items[category] = items | replacements

    def status(self, label: str, category: str) -> ItemStatus:
        return self._status.get((category, label_key(label)), ItemStatus.UNKNOWN)

    def status_text(self, label: str, category: str) -> str:
        """Return the status of an item in words: ``booked until day 10``, with the date if any."""
        return self._item(label, category).status_text

    def items(self, labels: Sequence[str], category: str) -> list[Item]:
        """Return the items behind a plan's labels of a category, each label once."""
        names = self._items[category]
        items = [names.get(label) or self._item(label, category) for label in dict.fromkeys(labels)]
        if len(items) == len(labels):
            return items
        return [item._replace(times=labels.count(item.label)) for item in items]

    def _item(self, label: str, category: str) -> Item:
        key, status = label_key(label), self.status(label, category)
        options = self._alternatives.get(key, ()) if status in MISSING else ()
        text = self._term(status)
        if status is ItemStatus.BOOKED:
            until = self._booked_until[key]
            text = f"{status} until day {until}{self._lab.dated(until)}"
        return Item(_FIELDS[category], category, label, key, status, text, options)

    def alternatives(self, label: str) -> tuple[str, ...]:
        """Return the usable alternatives of an item, in the study file's order."""
        return self._alternatives.get(label_key(label), ())

    def booked_until(self, label: str) -> int | None:
        return self._booked_until.get(label_key(label))

    def price(self, label: str) -> float | None:
        return self._prices.get(label_key(label))
