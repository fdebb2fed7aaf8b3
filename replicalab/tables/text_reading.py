"""The rows of a CSV file: of one in the form of the template with pandas, of any other one by one.

This file brings pandas in, and is imported with the first file only.
"""

import csv
import re
from collections.abc import Iterator
from io import StringIO
from typing import Final

import pandas as pd

from replicalab.errors import CellFault, TableError
from replicalab.tables.row_reader import FEWER, MOST_FILLED, refuse
from replicalab.tables.sheet import MOST_COLUMNS, MOST_ROWS, SAVE_AS, SheetRow

_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_DELIMITERS: Final = ",;\t"
_HEAD: Final = 4_000
"""So many characters of a file show its separator."""
# Control characters, and bytes that Windows-1252 leaves open: a picture, or another encoding.
_NO_LETTERS: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x81\x8d\x8f\x90\x9d]")
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
        refuse(source, None, f"the file has more than {MOST_ROWS:,} rows", FEWER)
    rows = enumerate(frame.to_numpy(dtype=object).tolist(), start=1)
    return [SheetRow(number, cells) for number, cells in rows if any(str(c).strip() for c in cells)]


def csv_sheet(data: bytes, source: str, *, western: bool) -> tuple[list[SheetRow], bool]:
    """Return the rows of a CSV file whose table may begin anywhere, and whether it is western.

    The separator is the one that most of its first rows hold. A text that is not UTF-8 is western,
    read as Windows-1252, where it may be, and unless it holds what no text does.

    Raises:
        TableError: it is not CSV, or too large.
    """
    coding = "utf-16" if data.startswith(_UTF_16) else "utf-8-sig"
    try:
        text, western = data.decode(coding), False
    except UnicodeDecodeError:
        western = western and coding != "utf-16" and not _NO_LETTERS.search(data)
        text = data.decode("cp1252" if western else coding, errors="replace")
    return list(_loose_rows(text, source)), western


def _loose_rows(text: str, source: str) -> Iterator[SheetRow]:
    head = text[:_HEAD].splitlines()
    held = {each: sum(each in line for line in head) for each in _DELIMITERS}
    delimiter = max(held, key=lambda each: (held[each], text.count(each, 0, _HEAD)))
    number = filled = 0
    try:
        for number, cells in enumerate(
            csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True), start=1
        ):
            if number > MOST_ROWS:
                refuse(source, None, f"the file has more than {MOST_ROWS:,} rows", FEWER)
            while cells and not cells[-1].strip():
                del cells[-1]
            if len(cells) > MOST_COLUMNS:
                problem = f"{len(cells):,} values stand here, and {MOST_COLUMNS} are read at most"
                refuse(source, number, problem, "delete the columns that are not needed")
            if cells:
                filled += 1
                if filled > MOST_FILLED:
                    problem = f"the file has more than {MOST_FILLED:,} rows with values"
                    refuse(source, None, problem, FEWER)
                yield SheetRow(number, list[object](cells))
    except csv.Error:
        problem = "a quotation mark here does not enclose a whole value, or a value is far too long"
        refuse(source, number + 1, problem, "close the quotation mark, or remove it")


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
        refuse(source, None, problem, "close its quotes, or shorten it")
    if width > MOST_COLUMNS:
        refuse(source, None, f"its first row has {width:,} columns", "keep those that are read")
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
