"""Any table as it leaves, and what a cell says: texts that no spreadsheet takes for a formula."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from io import SEEK_END, BytesIO, StringIO
from math import inf
from types import MappingProxyType
from typing import Final, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from replicalab.characters import described, hidden, on_one_line
from replicalab.lexicon import shortened

Value = str | float
"""A text, or a number that a spreadsheet calculates with."""

_NOT_IN_TITLES: Final = re.compile(r"[\[\]:*?/\\']")
_LONGEST_TITLE: Final = 28  # A workbook takes 31 characters; a number follows where two begin alike
_LONGEST_TEXT: Final = 32_767  # What a workbook takes of a cell
# Of every workbook, so that the same tables make the same file.
_UNDATED: Final = datetime(2000, 1, 1)  # noqa: DTZ001 - a workbook's time has no zone


def sheet(columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """Return rows as CSV for a spreadsheet; it begins with a byte order mark."""
    text = StringIO("\ufeff", newline="")
    text.seek(0, SEEK_END)
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([map(_cell, row) for row in [columns, *rows]])
    return text.getvalue()


def _cell(value: Value) -> str:
    if isinstance(value, str):
        return guarded(value)
    return f"{'-' if value < 0 else ''}{number_text(value)}"


def workbook(
    sheets: Mapping[str, Iterable[Sequence[Value]]], title: str = "", authors: str = ""
) -> bytes:
    """Return a workbook of some sheets, the first row of each its heading."""
    from openpyxl import Workbook  # noqa: PLC0415 - slow to load
    from openpyxl.styles import Font  # noqa: PLC0415
    from openpyxl.xml.constants import ARC_CORE  # noqa: PLC0415
    from openpyxl.xml.functions import tostring  # noqa: PLC0415

    book = Workbook()
    book.remove(book.active)
    book.properties.created = _UNDATED
    book.properties.title = on_one_line(title) or None
    book.properties.creator = on_one_line(authors) or None
    for name, rows in sheets.items():
        sheet = book.create_sheet(_NOT_IN_TITLES.sub(" ", on_one_line(name))[:_LONGEST_TITLE])
        for down, row in enumerate(rows, start=1):
            for across, value in enumerate(row, start=1):
                cell = sheet.cell(down, across)
                if isinstance(value, str):
                    # Set after the value: openpyxl takes what begins with = for a formula.
                    cell.value = on_one_line(value)[:_LONGEST_TEXT]
                    cell.data_type = "s"
                else:
                    cell.value = value
                cell.font = Font(bold=down == 1)
    saved = BytesIO()
    book.save(saved)
    book.properties.modified = _UNDATED  # saving set it to the time of day
    return undated(saved.getvalue(), {ARC_CORE: tostring(book.properties.to_tree())})


def undated(archive: bytes, parts: Mapping[str, bytes] = MappingProxyType({})) -> bytes:
    """Return a ZIP archive without the times of its files, and with these parts for its own."""
    file = BytesIO()
    with ZipFile(BytesIO(archive)) as dated, ZipFile(file, "w") as made:
        for name in dated.namelist():
            part = parts.get(name) or dated.read(name)
            made.writestr(ZipInfo(name), part, ZIP_DEFLATED)  # ZipInfo's own date is 1980
    return file.getvalue()


# --- cells ------------------------------------------------------------------------------------

MOST_ROWS: Final = 20_000
MOST_COLUMNS: Final = 30
"""The most of a table that are read, empty ones counted."""
LONGEST_QUOTED: Final = 60
"""The most characters that a message quotes of a table's own."""
LONGEST_CELL: Final = 400
"""The most characters of any cell; the smallest number has some 340."""
SAVE_AS: Final = "save it as CSV UTF-8"

# What a spreadsheet takes for a formula where a text begins with it, full-width forms too.
_FORMULA: Final = "=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20"
_TO_GUARD: Final = re.compile(rf"'*[{_FORMULA}]")
_GUARDED: Final = re.compile(rf"'+[{_FORMULA}]")

_NUMBER: Final = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
# A thousand to one reader, one and a fraction to another.
_TWO_WAYS: Final = re.compile(r"([1-9][0-9]{0,2})[.,]([0-9]{3})")
_GROUPED: Final = re.compile(
    r"[0-9]{1,3}(?:[.,' \u00a0\u2009\u202f\u2019][0-9]{3})+(?:[.,][0-9]+)?"
)


class SheetRow(NamedTuple):
    """A row that is not empty: its number, as a spreadsheet counts, and what its cells hold."""

    number: int
    cells: list[object]


class NotPlain(NamedTuple):
    """What a cell holds that is no plain value, such as a formula, and what to do about it."""

    problem: str
    remedy: str

    def __str__(self) -> str:
        return "a value that is not plain"


def guarded(text: str) -> str:
    """Return a text as it leaves: an apostrophe before what a spreadsheet would calculate."""
    return f"'{text}" if _TO_GUARD.match(text) else text


def unguarded(text: str) -> str:
    """Return what `guarded` was given."""
    return text[1:] if _GUARDED.match(text) else text


def quoted_cell(cell: object) -> str:
    """Return what a cell holds as a message quotes it, short whatever it is."""
    if isinstance(cell, datetime) and cell.time() == time():
        cell = cell.date()
    text = str(cell).upper() if isinstance(cell, bool) else str(cell)
    return f"'{on_one_line(shortened(text, LONGEST_QUOTED))}'"


def require_readable(cell: object) -> None:
    """Refuse what no column takes.

    Raises:
        ValueError: with the problem and the remedy.
    """
    said = quoted_cell(cell)
    if isinstance(cell, NotPlain):
        raise ValueError(*cell)
    if isinstance(cell, bool):
        raise ValueError(f"{said} is true or false", "write a text or a number")
    if isinstance(cell, date | time | timedelta):
        raise ValueError(
            f"{said} is a date or a time", "write a text, or the number of a day, such as 12"
        )
    if not isinstance(cell, str):
        return
    require_short(cell, LONGEST_CELL)
    if "\ufffd" in cell:
        raise ValueError(f"{said} holds a character that could not be read", SAVE_AS)
    if places := hidden(cell):
        letter = cell[places[0]]
        remedy = "remove it" if letter != "\0" else SAVE_AS
        raise ValueError(f"{said} holds {described(letter)}, which is not seen", remedy)


def require_short(text: str, most: int) -> None:
    """Refuse a text of more characters.

    Raises:
        ValueError: with the problem and the remedy.
    """
    if len(text) > most:
        problem = f"{quoted_cell(text)} has {len(text):,} characters"
        raise ValueError(problem, f"write at most {most}")


def column_at(place: int) -> str:
    """Return what a column without a name is called, 0 being the first: ``column AA``."""
    letters, left = "", place + 1
    while left:
        left, last = divmod(left - 1, 26)
        letters = chr(ord("A") + last) + letters
    return f"column {letters}"


def number_of(cell: object, example: str) -> Decimal:
    """Return the number in a cell, 0 or more.

    Raises:
        ValueError: it holds none, or one that two people read in two ways; with the remedy.
    """
    said = quoted_cell(cell)
    if isinstance(cell, int | float):
        if 0 <= cell < inf:
            # repr is the shortest text of a float; Decimal(cell) would have all its binary digits.
            return Decimal(repr(cell))
        raise ValueError(f"{said} is not 0 or more", f"write a number such as {example}")
    text = str(cell).strip()
    if two := _TWO_WAYS.fullmatch(text):
        whole, rest = two.groups()
        one = f"{whole}.{rest.rstrip('0')}".removesuffix(".")
        raise ValueError(f"{said} can be read in two ways", f"write {whole}{rest} or {one}")
    if _NUMBER.fullmatch(text):
        return Decimal(text.replace(",", "."))
    if _GROUPED.fullmatch(text):
        raise ValueError(
            f"{said} has its digits in groups", "write it without, and one point: 1250.50"
        )
    raise ValueError(f"{said} is no number that is 0 or more", f"write digits, such as {example}")


def number_text(number: float) -> str:
    """Return a number as `number_of` reads it, to the last digit."""
    whole, _, decimals = format(Decimal(repr(abs(number))), "f").partition(".")
    decimals = decimals.rstrip("0")
    text = f"{whole}.{decimals}" if decimals else whole
    return f"{text}0" if _TWO_WAYS.fullmatch(text) else text
