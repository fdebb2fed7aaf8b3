"""What a lab has: is an item free, booked, out of stock or unknown, and what may replace it.

Source: the behaviour contract, section 5: a substitution's alternative is usable unless this lab
lists it as missing, and an item that is a usable alternative counts as available.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from replicalab.lexicon import label_key


class ItemStatus(StrEnum):
    """Where an item stands in a lab."""

    AVAILABLE = "available"
    BOOKED = "booked"
    OUT_OF_STOCK = "out of stock"
    UNKNOWN = "unknown"


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
    def of(
        cls,
        items: Sequence[tuple[str, str, bool, int | None]],
        substitutions: Sequence[tuple[str, str]],
    ) -> Inventory:
        """Return the inventory of a lab.

        Args:
            items: (label, category, available, booked until) of each.
            substitutions: (original, alternative) of each.
        """
        status: dict[tuple[str, str], ItemStatus] = {}
        booked: dict[str, int] = {}
        category_of: dict[str, str] = {}
        for label, category, available, until in items:
            key = label_key(label)
            missing = ItemStatus.BOOKED if category == "equipment" else ItemStatus.OUT_OF_STOCK
            status[category, key] = ItemStatus.AVAILABLE if available else missing
            category_of[key] = category
            if until is not None:
                booked[key] = until
        missing_keys = {key for (_, key), s in status.items() if s is not ItemStatus.AVAILABLE}
        alternatives: dict[str, tuple[str, ...]] = {}
        usable: set[tuple[str, str]] = set()
        for original, alternative in substitutions:
            if label_key(alternative) in missing_keys:
                continue
            key = label_key(original)
            alternatives[key] = (*alternatives.get(key, ()), alternative)
            if key in category_of:
                usable.add((category_of[key], label_key(alternative)))
        return cls(status, booked, alternatives, frozenset(usable))

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
