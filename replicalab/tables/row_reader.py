"""What reads the rows of an inventory, cell by cell, and gathers what is wrong in them."""

from collections.abc import Callable, Sequence
from typing import Final, NoReturn, TypeVar

from replicalab.errors import CellFault, TableError
from replicalab.models import LARGEST_COUNT, LONGEST_LABEL
from replicalab.scenarios import MOST_OWN_ITEMS
from replicalab.tables.sheet import (
    SheetRow,
    number_of,
    quoted_cell,
    require_readable,
    require_short,
    unguarded,
)

MOST_TOLD: Final = 20
"""Of more faults than these, the rest are only counted."""
MOST_FILLED: Final = 1_000
"""The most rows of a sheet with a value in them."""
FEWER: Final = "keep the items that your studies may need"
LEFT_OUT: Final = "left out"
T = TypeVar("T")


class RowReader:
    """Reads cells by the name of their column; ``faults`` are those of the rows read so far."""

    def __init__(self, columns: dict[str, int]) -> None:
        self.faults: list[CellFault] = []
        self.columns = columns

    def column_named(self, column: str) -> str:
        """Return what the file calls a column."""
        return column

    def cell(self, row: SheetRow, column: str) -> object:
        """Return what stands in a column; what is not there is empty."""
        place = self.columns.get(column, len(row.cells))
        return row.cells[place] if place < len(row.cells) else ""

    def taken(
        self,
        row: SheetRow,
        column: str,
        read: Callable[[object], T],
        *,
        required: bool = False,
        plain: bool = True,
    ) -> T | None:
        """Return what a cell says, None where it is empty or wrong.

        Only what is ``plain``, no date and neither true nor false, is read, where that is asked.
        """
        cell = self.cell(row, column)
        try:
            if cell != "" and (not isinstance(cell, str) or cell.strip()):
                if plain:
                    require_readable(cell)
                return read(cell)
            if required:
                raise ValueError("it is empty", "write one")
        except ValueError as error:
            self.add(row, column, *error.args)
        return None

    def add(self, row: SheetRow, column: str, problem: str, remedy: str) -> None:
        """Add what is wrong with a cell."""
        self.faults.append(CellFault(row.number, self.column_named(column), problem, remedy))

    @staticmethod
    def label(cell: object) -> str:
        """Return the name of an item.

        Raises:
            ValueError: it is none; with the problem and the remedy.
        """
        if isinstance(cell, str):
            label = unguarded(cell.strip()).strip()
            require_short(label, LONGEST_LABEL)
            return label
        raise ValueError(f"{quoted_cell(cell)} is a number", "write it as text")


def day_in(cell: object) -> int:
    """Return the day in a cell, counted from the lab's first.

    Raises:
        ValueError: it holds none; with the problem and the remedy.
    """
    day = number_of(cell, "12")
    if day != int(day):
        raise ValueError(f"{quoted_cell(cell)} is no whole day", "write one such as 12")
    if day > LARGEST_COUNT:
        raise ValueError(f"{quoted_cell(cell)} is too far away", f"write at most {LARGEST_COUNT}")
    return int(day)


def refusal(source: str, faults: Sequence[CellFault]) -> TableError:
    """Return what refuses a file with these faults, the first of them told."""
    return TableError(source, faults[:MOST_TOLD], max(0, len(faults) - MOST_TOLD))


def too_many(items: int) -> CellFault:
    """Return what is wrong with a file of so many items."""
    remedy = f"keep those that your studies may need, {MOST_OWN_ITEMS} at most"
    return CellFault(None, "", f"the file lists {items:,} items", remedy)


def refuse(source: str, row: int | None, problem: str, remedy: str) -> NoReturn:
    """Refuse a file for one fault.

    Raises:
        TableError: always.
    """
    raise TableError(source, [CellFault(row, "", problem, remedy)])
