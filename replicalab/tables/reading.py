"""Read a CSV file or the first sheet of a workbook as a data frame of texts."""

from __future__ import annotations

import csv
from io import BytesIO, StringIO
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Final
from zipfile import BadZipFile, ZipFile

from replicalab.characters import on_one_line
from replicalab.errors import CellFault, TableError
from replicalab.lexicon import shortened
from replicalab.tables.sheet import number_text

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES: Final = ("csv", "tsv", "txt", "xlsx")
"""Endings of readable files; all but the last are text."""
MOST_BYTES: Final = 2 * 2**20  # The largest file, 2 MiB; a full inventory has about 30 KiB
MOST_UNPACKED: Final = 20 * 2**20  # The largest sum of the uncompressed parts of a workbook
MOST_ROWS: Final = 1_000
MOST_COLUMNS: Final = 30
LONGEST_QUOTED: Final = 60
_SEPARATORS: Final = ",;\t"


def source_of(name: str) -> str:
    """Return a file's name for messages."""
    return on_one_line(shortened(name, LONGEST_QUOTED)).strip() or "the file"


def column_letter(place: int) -> str:
    """Return the letters of a spreadsheet's column, 0 being A."""
    letters, rest = "", place + 1
    while rest:
        rest, last = divmod(rest - 1, 26)
        letters = chr(ord("A") + last) + letters
    return letters


def read_table(data: bytes, name: str) -> pd.DataFrame:
    """Return a file's cells as texts.

    The first row that is not empty holds the headings. The index holds the row numbers of the
    spreadsheet. A column without a heading is called by its letter (``column F``).

    Raises:
        TableError: the file is too large, damaged, empty, or of another kind.
    """
    try:
        rows = _workbook_rows(data) if _ending(data, name) == "xlsx" else _text_rows(data)
        return _frame(rows)
    except _RefusedError as error:
        raise TableError(source_of(name), [error.fault]) from None


class _RefusedError(Exception):
    def __init__(self, problem: str, remedy: str, row: int | None = None) -> None:
        super().__init__(problem)
        self.fault = CellFault(row, "", problem, remedy)


def _ending(data: bytes, name: str) -> str:
    ending = PurePath(name).suffix.casefold().removeprefix(".")
    is_archive = data.startswith(b"PK\x03\x04")
    if ending not in SUFFIXES:
        shown = f"'.{on_one_line(shortened(ending))}' files are" if ending else "the file is"
        raise _RefusedError(f"{shown} not CSV or Excel", "save it as CSV or .xlsx")
    if len(data) > MOST_BYTES:
        problem = f"the file has {len(data):,} bytes, more than the {MOST_BYTES:,} allowed"
        raise _RefusedError(problem, "keep the table alone, without pictures and other sheets")
    if not data.strip():
        raise _RefusedError("the file is empty", "write the headings and one item per row")
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        problem = "the file has a password, or is of an old Excel"
        raise _RefusedError(problem, "save it without a password, as .xlsx or CSV")
    if is_archive != (ending == "xlsx"):
        problem = "the file is a workbook" if is_archive else "the file is no Excel workbook"
        raise _RefusedError(problem, f"name it {'.xlsx' if is_archive else '.csv'}")
    return ending


def _text_rows(data: bytes) -> list[list[str]]:
    coding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(coding)
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise _RefusedError("the text is not UTF-8", "save it as CSV UTF-8 or .xlsx", row) from None
    if "\0" in text:
        row = text.count("\n", 0, text.index("\0")) + 1
        raise _RefusedError("the file is no text", "save it as CSV UTF-8 or .xlsx", row)
    first = text.lstrip().partition("\n")[0]
    separator = max(_SEPARATORS, key=first.count)
    lines = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        return [row[: MOST_COLUMNS + 1] for row in islice(lines, MOST_ROWS + 2)]
    except csv.Error:
        problem = "the rows cannot be separated into cells"
        raise _RefusedError(problem, "close each quotation mark, or save it as .xlsx") from None


def _workbook_rows(data: bytes) -> list[list[str]]:
    from openpyxl import load_workbook  # noqa: PLC0415 - slow to load

    remedy = "open it in a spreadsheet program and save it again"
    try:
        with ZipFile(BytesIO(data)) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
    except (BadZipFile, ValueError, OSError, NotImplementedError):
        raise _RefusedError("the workbook is damaged", remedy) from None
    if unpacked > MOST_UNPACKED:
        problem = f"the workbook unpacks to {unpacked:,} bytes, more than {MOST_UNPACKED:,}"
        raise _RefusedError(problem, "keep the table alone in a new workbook")
    try:
        book = load_workbook(BytesIO(data), read_only=True, data_only=True, keep_links=False)
        rows = book.worksheets[0].iter_rows(
            max_row=MOST_ROWS + 2, max_col=MOST_COLUMNS + 1, values_only=True
        )
        return [[*map(_cell_text, row)] for row in rows]
    except Exception:  # noqa: BLE001 - openpyxl raises whatever a damaged part leads to
        raise _RefusedError("the workbook is damaged", remedy) from None


def _cell_text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, int | float) and not isinstance(cell, bool) and abs(cell) < 1e15:
        return f"{'-' if cell < 0 else ''}{number_text(cell)}"
    return str(cell)


def _frame(rows: list[list[str]]) -> pd.DataFrame:
    """Return the rows below the headings, without empty rows and columns."""
    import pandas as pd  # noqa: PLC0415 - slow to load

    width = max(map(len, rows), default=0)
    cells = pd.DataFrame([row + [""] * (width - len(row)) for row in rows], dtype=object)
    cells = cells.map(str.strip)
    cells.index = cells.index + 1
    cells = cells[(cells != "").any(axis=1)]
    if len(cells) < 2:
        raise _RefusedError("the file holds no items", "write one item per row below the headings")
    if cells.index[-1] > MOST_ROWS + 1:
        problem = f"the table goes beyond row {MOST_ROWS + 1:,}"
        raise _RefusedError(problem, f"keep at most {MOST_ROWS:,} rows")
    cells = cells.loc[:, (cells != "").any(axis=0)]
    places = [int(place) for place in cells.columns.to_list()]
    if places[-1] >= MOST_COLUMNS:
        problem = f"the table has more than {MOST_COLUMNS} columns"
        raise _RefusedError(problem, "delete the columns that are not needed")
    headings = [
        " ".join(str(text).split()) or f"column {column_letter(place)}"
        for place, text in zip(places, cells.iloc[0], strict=True)
    ]
    row = int(cells.index[0])
    for heading in headings:
        if headings.count(heading) > 1:
            problem = f"two columns are called '{shortened(heading, LONGEST_QUOTED)}'"
            raise _RefusedError(problem, "rename one of them", row)
    table = cells.iloc[1:]
    table.columns = headings
    return table
