"""The option ``--lab`` with a list of items."""

from typer import Typer

from replicalab.cli import asking
from replicalab.features.sheets import read_inventory


def command(_: Typer) -> None:
    """Let ``--lab`` take a CSV file or a workbook."""
    asking.item_readers.append(read_inventory)
