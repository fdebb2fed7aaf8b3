"""How labels (items, controls, phrases) are compared, and how things are counted in words."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache


@lru_cache(maxsize=4096)
def label_key(label: str) -> str:
    """Return the form in which two labels are equal: casefolded, trimmed, spaces collapsed."""
    return " ".join(label.casefold().split())


def same_label(one: str, other: str) -> bool:
    """Return whether two labels name the same thing."""
    return label_key(one) == label_key(other)


def count_text(number: int, noun: str) -> str:
    """Return a number of things for people: ``1 day``, ``3 days``."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def repeated_labels(labels: Iterable[str]) -> list[str]:
    """Return each label that occurs again, as first written, once, in order."""
    first: dict[str, str] = {}
    repeated: dict[str, str] = {}
    for label in labels:
        key = label_key(label)
        if key in first:
            repeated[key] = first[key]
        else:
            first[key] = label
    return list(repeated.values())
