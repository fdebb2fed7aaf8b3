"""The option ``--lab`` with a list of items."""

from typer import Typer

from replicalab.cli import asking
from replicalab.cli.commands import say
from replicalab.features.sheets import read_inventory
from replicalab.scenarios import OwnItem


def _read(data: bytes, name: str) -> tuple[OwnItem, ...]:
    items, notes = read_inventory(data, name)
    for note in notes:
        say(f"{name}: {note}")
    return items


def command(_: Typer) -> None:
    """Let ``--lab`` take a CSV file or a workbook."""
    asking.item_readers.append(_read)
