"""The option ``--lab`` with a list of items."""

from collections.abc import Callable

from replicalab.cli.commands import say
from replicalab.features.sheets import read_inventory
from replicalab.scenarios import OwnItem


def _read(data: bytes, name: str) -> tuple[OwnItem, ...]:
    items, notes = read_inventory(data, name)
    for note in notes:
        say(f"{name}: {note}")
    return items


def command(_: object) -> Callable[[bytes, str], tuple[OwnItem, ...]]:
    """Return how ``--lab`` reads a CSV file or a workbook."""
    return _read
