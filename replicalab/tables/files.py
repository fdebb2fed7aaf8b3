"""The rows of a CSV file, read with pandas.

This file brings pandas in, and is imported with the first table only.
"""

from __future__ import annotations

import csv
import re
from io import StringIO
from typing import Final, NoReturn

import pandas as pd

from replicalab.errors import CellFault, TableError
from replicalab.tables.cells import MOST_COLUMNS, MOST_ROWS, SAVE_AS, SheetRow

_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_DELIMITERS: Final = ",;\t"
_TOO_WIDE: Final = re.compile(r"Expected \d+ fields in line (\d+), saw (\d+)")
_OPEN_QUOTE: Final = re.compile(r"EOF inside string starting at row (\d+)")


def csv_rows(data: bytes, source: str) -> list[SheetRow]:
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
    first = text.lstrip().partition("\n")[0].partition("\r")[0]
    delimiter = max(_DELIMITERS, key=re.sub(r'"[^"]*"', "", first).count)
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
    if len(frame) > MOST_ROWS:
        remedy = "keep the items that your studies may need"
        _refuse(source, None, f"the file has more than {MOST_ROWS:,} rows", remedy)
    rows = enumerate(frame.to_numpy(dtype=object).tolist(), start=1)
    return [SheetRow(number, cells) for number, cells in rows if any(str(c).strip() for c in cells)]


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
