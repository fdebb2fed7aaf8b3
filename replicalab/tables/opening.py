"""A lab's own sheet as it lies there: its sheets, their rows, and the table below a heading."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePath
from typing import Final, NamedTuple

from replicalab.characters import on_one_line
from replicalab.errors import CellFault, TableError
from replicalab.lexicon import shortened
from replicalab.models import LONGEST_LABEL
from replicalab.scenarios import MOST_WORDS, SheetMapping, word_key
from replicalab.tables.sheet import LONGEST_QUOTED, SheetRow, column_at, require_readable
from replicalab.tables.values import NOTHING, NUMBERS, word_in

MOST_BYTES: Final = 2 * 2**20
"""The largest file that is read, 2 MiB; a full inventory has some 30 KiB."""
SUFFIXES: Final = ("csv", "tsv", "txt", "xlsx")
"""How the names of files end that are read; all but the last are text."""
MOST_HEADINGS: Final = 40
"""So many of a sheet's first rows may be the one with the headings."""


class OpenFile(NamedTuple):
    """A file's sheets that may hold a table, each the rows that hold something.

    ``western`` is whether its text is read as Windows-1252.
    """

    source: str
    sheets: dict[str, list[SheetRow]]
    western: bool = False

    def tables(self) -> Iterator["ItemTable"]:
        """Yield the table below each row that may be the heading, of each sheet."""
        for title, rows in self.sheets.items():
            for place in range(min(len(rows) - 1, MOST_HEADINGS)):
                yield ItemTable(title, rows[place], rows[place + 1 :], self.western)


class ItemTable:
    """A row of headings and the rows below it."""

    def __init__(
        self, title: str, header: SheetRow, rows: list[SheetRow], western: bool = False
    ) -> None:
        self.title, self.header, self.rows, self.western = title, header, rows, western

    @cached_property
    def names(self) -> dict[str, int]:
        """Where each column stands, by its heading.

        That is ``column C`` where it has none, ``Name (2)`` where another has the same.
        """
        names: dict[str, int] = {}
        keys: set[str] = set()
        width = max(len(row.cells) for row in (self.header, *self.rows))
        for place in range(width):
            name = first = self._heading(place)
            number = 1
            while word_key(name) in keys:
                number += 1
                name = f"{first} ({number})"
            keys.add(word_key(name))
            if first != column_at(place) or any(self._cells(place)):
                names[name] = place
        return names

    def _heading(self, place: int) -> str:
        cell = self.header.cells[place] if place < len(self.header.cells) else ""
        try:
            require_readable(cell)
        except ValueError:
            return column_at(place)
        text = " ".join(str(cell).split())
        # Room for the number of one that stands there again.
        return text if text and len(text) < LONGEST_LABEL - 5 else column_at(place)

    def _cells(self, place: int) -> Iterator[object]:
        return (row.cells[place] for row in self.rows if place < len(row.cells))

    def named(self, heading: str) -> str | None:
        """Return what a column of that heading is called here, None where there is none."""
        return next((name for name in self.names if word_key(name) == word_key(heading)), None)

    def place_of(self, heading: str) -> int | None:
        """Return where a column of that heading stands, None where there is none."""
        name = self.named(heading)
        return None if name is None else self.names[name]

    def cells(self, heading: str) -> list[object]:
        """Return what a column holds, but for what says nothing."""
        place = self.place_of(heading)
        if place is None:
            return []
        return [cell for cell in self._cells(place) if str(cell).strip() not in NOTHING]

    def words(self, heading: str) -> dict[str, str]:
        """Return the first different words of a column as they are written, by their keys.

        One more than have room, where there are more.
        """
        words: dict[str, str] = {}
        for cell in self.cells(heading):
            try:
                key = word_in(cell)
            except ValueError:
                continue  # It is said of its row
            if len(words) <= MOST_WORDS:
                words.setdefault(key, key if key in NUMBERS else on_one_line(str(cell)))
        return words

    def fits(self, mapping: SheetMapping) -> bool:
        """Return whether every column of a mapping is there."""
        return all(self.place_of(name) is not None for name in mapping.columns.values())


def open_file(data: bytes, name: str, *, western: bool = True) -> OpenFile:
    """Return a file's sheets, whatever they hold; a ``western`` text is read where it may be.

    Raises:
        TableError: it is no table, empty, or too large; with the remedy.
    """
    from replicalab.tables.reading import workbook_sheets  # noqa: PLC0415 - openpyxl, late
    from replicalab.tables.text_reading import csv_sheet  # noqa: PLC0415 - pandas, late

    source, is_workbook = source_of(name), checked_ending(data, name) == "xlsx"
    is_western, sheets = False, dict[str, list[SheetRow]]()
    if is_workbook and data:
        sheets = workbook_sheets(data, source)
    elif not is_workbook:
        sheets[""], is_western = csv_sheet(data, source, western=western)
    found = {title: rows for title, rows in sheets.items() if len(rows) > 1}
    if not found:
        problem, remedy = "the file holds no rows", "write one item a row, below the headings"
        raise TableError(source, [CellFault(None, "", problem, remedy)])
    return OpenFile(source, found, is_western)


def table_for(file: OpenFile, mapping: SheetMapping) -> ItemTable | None:
    """Return the first table of a file that has all columns of a mapping, None where none has."""
    return next((table for table in file.tables() if table.fits(mapping)), None)


def source_of(name: str) -> str:
    """Return what messages call a file of that name."""
    return on_one_line(shortened(name, LONGEST_QUOTED)).strip() or "the file"


def checked_ending(data: bytes, name: str) -> str:
    """Return how the name of a file ends that may be read.

    Raises:
        TableError: it is too large, or no CSV and no workbook; with the remedy.
    """
    ending = PurePath(name).suffix.casefold().removeprefix(".")
    packed, old = data.startswith(b"PK\x03\x04"), data.startswith(b"\xd0\xcf\x11\xe0")
    problem, remedy = "", "save it as CSV or .xlsx"
    if ending not in SUFFIXES:
        said = on_one_line(shortened(ending))
        problem = f"'.{said}' files are not read" if said else "its name has no ending"
    elif len(data) > MOST_BYTES:
        problem = f"the file has {len(data):,} bytes, more than the {MOST_BYTES:,} allowed"
        remedy = "keep the table alone, without pictures and other sheets"
    elif old:
        problem = "the file has a password, or is of an old Excel"
        remedy = "save it without a password, as .xlsx or CSV"
    elif ending != "xlsx" and packed:
        problem, remedy = "the file is a workbook and no text", "save it as CSV, or name it .xlsx"
    elif data and ending == "xlsx" and not packed:
        problem, remedy = "the file is no Excel workbook", "save it as .xlsx, or name it .csv"
    if problem:
        raise TableError(source_of(name), [CellFault(None, "", problem, remedy)])
    return ending
