"""The rows of a file, CSV or Excel, read with pandas; and rows as CSV.

This file brings pandas in, and is imported with the first table only.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Iterable, Sequence
from io import BytesIO, StringIO
from typing import Final, NoReturn

import pandas as pd

from replicalab.errors import CellFault, TableError
from replicalab.lexicon import joined, quoted, shortened
from replicalab.tables.cells import LONGEST_QUOTED, SAVE_AS, Row
from replicalab.tables.xlsx import MOST_COLUMNS, MOST_ROWS, bounded

MOST_SHEETS_NAMED: Final = 5

_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_DELIMITERS: Final = ",;\t"
_TOO_WIDE: Final = re.compile(r"Expected \d+ fields in line (\d+), saw (\d+)")
_OPEN_QUOTE: Final = re.compile(r"EOF inside string starting at row (\d+)")


def csv_rows(data: bytes, source: str) -> list[Row]:
    """Return the rows of a CSV file that are not empty.

    The separator is the one that its first row holds most of. Bytes that are no text become
    U+FFFD, which no cell may hold.

    Raises:
        TableError: it is not CSV.
    """
    coding = "utf-16" if data.startswith(_UTF_16) else "utf-8-sig"
    text = data.decode(coding, errors="replace")
    if not text.strip():
        return []
    delimiter = _delimiter(text)
    width = _width(text, delimiter, source)
    try:
        frame = pd.read_csv(
            StringIO(text, newline=""),
            sep=delimiter,
            header=None,
            names=list(range(width + 1)),
            index_col=False,
            dtype=str,
            keep_default_na=False,
            skip_blank_lines=False,
            nrows=MOST_ROWS + 1,
        )
    except ValueError as error:
        raise _csv_error(str(error), width, source) from None
    return _not_empty(frame, source)


def _delimiter(text: str) -> str:
    line = text.lstrip().partition("\n")[0].partition("\r")[0]
    bare = re.sub(r'"[^"]*"', "", line)
    return max(_DELIMITERS, key=bare.count)


def _width(text: str, delimiter: str, source: str) -> int:
    """Return how many columns there are down to the header, the first row that is not empty."""
    width = 0
    try:
        for cells in csv.reader(StringIO(text, newline=""), delimiter=delimiter):
            width = max(width, len(cells))
            if any(map(str.strip, cells)):
                break
    except csv.Error:
        problem = "its first row holds a value that never ends, or is far too long"
        _refuse(source, None, problem, "close its quotes, or shorten it")
    if width > MOST_COLUMNS:
        _refuse(source, None, f"its first row has {width:,} columns", "keep those that are read")
    return width


def _csv_error(said: str, width: int, source: str) -> TableError:
    row, problem, remedy = None, "the file is not readable as CSV", SAVE_AS
    if found := _TOO_WIDE.search(said):
        row = int(found[1])
        problem = f"{int(found[2]):,} values stand here, under {width} columns"
        remedy = "remove those too many; a value that holds a separator goes in quotes"
    elif found := _OPEN_QUOTE.search(said):
        row = int(found[1]) + 1
        problem, remedy = "a quotation mark opens here and nothing closes it", "close or remove it"
    return TableError(source, [CellFault(row, "", problem, remedy)])


def _refuse(source: str, row: int | None, problem: str, remedy: str) -> NoReturn:
    raise TableError(source, [CellFault(row, "", problem, remedy)])


def _not_empty(frame: pd.DataFrame, source: str) -> list[Row]:
    if len(frame) > MOST_ROWS:
        remedy = "keep the items that your studies may need"
        _refuse(source, None, f"the file has more than {MOST_ROWS:,} rows", remedy)
    rows = enumerate(frame.to_numpy(dtype=object).tolist(), start=1)
    return [Row(number, cells) for number, cells in rows if any(str(c).strip() for c in cells)]


def workbook_rows(data: bytes, source: str) -> list[Row]:
    """Return the rows of the one sheet of a workbook that has any.

    Raises:
        TableError: it is no workbook, too large, or holds what is not a plain value.
    """
    data, not_plain = bounded(data, source)
    # What a workbook has beside values is of no concern here, and openpyxl warns of it.
    warnings.filterwarnings("ignore", module=r"openpyxl\.")
    try:
        frames = pd.read_excel(
            BytesIO(data),
            sheet_name=None,
            header=None,
            dtype=object,
            keep_default_na=False,
            engine="openpyxl",
        )
    except Exception:  # noqa: BLE001 - a broken workbook trips openpyxl up in any way
        remedy = "open it in a spreadsheet and save it anew, as .xlsx or CSV"
        _refuse(source, None, "the workbook cannot be read", remedy)
    filled = {str(title): rows for title, f in frames.items() if (rows := _not_empty(f, source))}
    if len(filled) > 1:
        titles = [shortened(title, LONGEST_QUOTED) for title in filled][:MOST_SHEETS_NAMED]
        problem = f"{len(filled)} of its sheets hold something: {joined(quoted(titles))}"
        _refuse(source, None, problem, "keep the inventory alone, or save its sheet as CSV")
    if not_plain:
        raise not_plain
    return next(iter(filled.values()), [])


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows as CSV for a spreadsheet, every value in quotes; see `cells.guarded`."""
    frame = pd.DataFrame([*rows], columns=[*columns], dtype=object)
    text = frame.to_csv(index=False, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    return f"\ufeff{text}"
