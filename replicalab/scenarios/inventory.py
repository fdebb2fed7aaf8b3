"""What a lab has: is an item free, booked, out of stock or unknown, and what may replace it.

A replacement is usable unless this lab lists it as missing, and an item that is a usable
replacement counts as available. Source: docs/contract.md, The check.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from replicalab.lexicon import label_key
from replicalab.scenarios.lab import Lab
from replicalab.scenarios.study import Study


class ItemStatus(StrEnum):
    """Where an item stands in a lab."""

    AVAILABLE = "available"
    BOOKED = "booked"
    OUT_OF_STOCK = "out of stock"
    UNKNOWN = "not in this lab's inventory"


MISSING: Final = frozenset({ItemStatus.BOOKED, ItemStatus.OUT_OF_STOCK})
"""Where an item stands that the lab knows and cannot use."""


@dataclass(frozen=True)
class Inventory:
    """A lab's items by label, and the alternatives that are usable in it.

    Build it with `of`; every look-up compares labels as `label_key` does.
    """

    _items: dict[tuple[str, str], ItemStatus]
    _booked_until: dict[str, int]
    _alternatives: dict[str, tuple[str, ...]]
    _usable: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, study: Study, lab: Lab) -> Inventory:
        """Return what a lab has of a study's items, and what it may use instead."""
        booked = {label_key(item): day for item, day in lab.booked.items()}
        gone = {*booked, *map(label_key, lab.out_of_stock)}
        missing = {"equipment": ItemStatus.BOOKED, "reagent": ItemStatus.OUT_OF_STOCK}
        category_of = {label_key(item): "equipment" for item in study.equipment}
        category_of |= {label_key(item): "reagent" for item in study.reagents}
        items = {
            (category, key): missing[category] if key in gone else ItemStatus.AVAILABLE
            for key, category in category_of.items()
        }
        alternatives: dict[str, tuple[str, ...]] = {}
        usable: set[tuple[str, str]] = set()
        for swap in study.substitutions:
            if label_key(swap.alternative) in gone:
                continue
            key = label_key(swap.original)
            alternatives[key] = (*alternatives.get(key, ()), swap.alternative)
            if key in category_of:
                usable.add((category_of[key], label_key(swap.alternative)))
        return cls(items, booked, alternatives, frozenset(usable))

    def status(self, label: str, category: str) -> ItemStatus:
        """Return where an item of that category (``equipment`` or ``reagent``) stands here."""
        key = (category, label_key(label))
        found = self._items.get(key)
        if found is not None:
            return found
        return ItemStatus.AVAILABLE if key in self._usable else ItemStatus.UNKNOWN

    def alternatives(self, label: str) -> tuple[str, ...]:
        """Return the usable replacements of an item, in the study file's order."""
        return self._alternatives.get(label_key(label), ())

    def booked_until(self, label: str) -> int | None:
        """Return the last day on which an item is booked, None if it is not."""
        return self._booked_until.get(label_key(label))

    def usable_alternatives(self, category: str) -> list[str]:
        """Return every replacement of that category that this lab can use, sorted."""
        return sorted(
            {
                alternative
                for original, found in self._alternatives.items()
                for alternative in found
                if (category, original) in self._items
            }
        )
