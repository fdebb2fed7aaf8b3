"""Read a CSV file or the first sheet of a workbook as a data frame of texts."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import BytesIO, StringIO
from itertools import islice, zip_longest
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, TypeAlias
from zipfile import ZipFile

from replicalab import limits
from replicalab.characters import on_one_line
from replicalab.errors import CellFault, TableError
from replicalab.lexicon import label_key, shortened
from replicalab.tables import number_text

if TYPE_CHECKING:
    import pandas as pd

Table: TypeAlias = "pd.DataFrame"
SUFFIXES: Final = ("csv", "tsv", "txt", "xlsx")
"""Endings of readable files; all but the last are text."""
_SEPARATORS: Final = ",;\t"


def source_of(name: str) -> str:
    """Return a file's name for messages."""
    return on_one_line(shortened(name)).strip() or "the file"


def read_table(data: bytes, name: str) -> Table:
    """Return a file's cells as texts, without its empty rows and columns.

    The first row holds the headings. The index holds the row numbers of the spreadsheet. A column
    without a heading is called by its letter (``column F``).

    Raises:
        TableError: the file is too large, damaged, empty, or of another kind.
    """
    try:
        rows = _workbook_rows(data) if _ending(data, name) == "xlsx" else _text_rows(data)
        return _frame(rows)
    except _RefusedError as error:
        raise TableError(source_of(name), error.args) from None


class _RefusedError(Exception):
    def __init__(self, problem: str, remedy: str, row: int | None = None) -> None:
        super().__init__(CellFault(row, "", problem, remedy))


def _ending(data: bytes, name: str) -> str:
    ending = PurePath(name).suffix.casefold().removeprefix(".")
    is_archive = data.startswith(b"PK\x03\x04")
    if ending not in SUFFIXES:
        raise _RefusedError("the file is neither CSV nor .xlsx", "save it as CSV or .xlsx")
    if len(data) > limits.MOST_SHEET_BYTES:
        problem = (
            f"the file has {len(data):,} bytes, more than the {limits.MOST_SHEET_BYTES:,} allowed"
        )
        raise _RefusedError(problem, "keep the table alone, without pictures and other sheets")
    if not data.strip():
        raise _RefusedError("the file is empty", "write the headings and one item per row")
    if is_archive and ending != "xlsx":
        raise _RefusedError("the file is a workbook", "name it .xlsx")
    if ending == "xlsx" and not is_archive:
        problem = "the file is no Excel workbook, or has a password"
        raise _RefusedError(problem, "save it as .xlsx without a password, or name it .csv")
    return ending


def _text_rows(data: bytes) -> list[list[str]]:
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise _RefusedError("the text is not UTF-8", "save it as CSV UTF-8 or .xlsx", row) from None
    separator = max(_SEPARATORS, key=text.lstrip().partition("\n")[0].count)
    try:
        return _texts(csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        problem = "the rows cannot be separated into cells"
        raise _RefusedError(problem, "close each quotation mark, or save it as .xlsx") from None


def _workbook_rows(data: bytes) -> list[list[str]]:
    from openpyxl import load_workbook  # noqa: PLC0415 - slow to load

    try:
        with ZipFile(BytesIO(data)) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
        if unpacked <= limits.MOST_UNPACKED:
            book = load_workbook(BytesIO(data), read_only=True, data_only=True, keep_links=False)
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # a file may state fewer rows than it has
            return _texts(sheet.iter_rows(max_col=limits.MOST_SHEET_COLUMNS + 1, values_only=True))
    except Exception:  # noqa: BLE001 - openpyxl raises any error for a damaged part
        remedy = "open it in a spreadsheet program and save it again"
        raise _RefusedError("the workbook is damaged", remedy) from None
    problem = f"the workbook unpacks to {unpacked:,} bytes, more than {limits.MOST_UNPACKED:,}"
    raise _RefusedError(problem, "keep the table alone in a new workbook")


def _texts(rows: Iterable[Sequence[object]]) -> list[list[str]]:
    """Return the cells as texts, up to one row and one column too many."""
    return [
        [*map(_cell_text, row[: limits.MOST_SHEET_COLUMNS + 1])]
        for row in islice(rows, limits.MOST_SHEET_ROWS + 1)
    ]


def _cell_text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, int | float) and not isinstance(cell, bool) and abs(cell) < 1e15:
        return f"{'-' if cell < 0 else ''}{number_text(cell)}"
    return str(cell).strip()


def _frame(texts: list[list[str]]) -> Table:
    import pandas as pd  # noqa: PLC0415 - slow to load
    from openpyxl.utils import get_column_letter  # noqa: PLC0415 - slow to load

    if len(texts) > limits.MOST_SHEET_ROWS:
        problem = f"the sheet has more than {limits.MOST_SHEET_ROWS:,} rows"
        raise _RefusedError(problem, "delete the rows below the table, empty ones too")
    rows = {number: row for number, row in enumerate(texts, start=1) if any(row)}
    if len(rows) < 2:
        raise _RefusedError("the file holds no items", "write one item per row below the headings")
    if len(rows) > limits.MOST_OWN_ITEMS + 1:
        problem = f"the table has more than {limits.MOST_OWN_ITEMS} rows below its headings"
        raise _RefusedError(problem, "keep the items that your studies may need")
    columns = enumerate(zip_longest(*rows.values(), fillvalue=""))
    filled = {place: cells for place, cells in columns if any(cells)}
    if max(filled) >= limits.MOST_SHEET_COLUMNS:
        problem = f"the table has more than {limits.MOST_SHEET_COLUMNS} columns"
        raise _RefusedError(problem, "delete the columns that are not needed")
    table: dict[str, tuple[str, ...]] = {}
    for place, (first, *rest) in filled.items():
        heading = " ".join(first.split()) or f"column {get_column_letter(place + 1)}"
        if label_key(heading) in map(label_key, table):
            problem = f"two columns are called '{shortened(heading)}'"
            raise _RefusedError(problem, "rename one of them", min(rows))
        table[heading] = tuple(rest)
    return pd.DataFrame(table, index=[*rows][1:], dtype=object)
