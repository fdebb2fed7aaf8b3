"""Tables as CSV, workbooks and data frames, with texts that no spreadsheet takes for a formula."""

import csv
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from io import SEEK_END, BytesIO, StringIO
from types import MappingProxyType
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from replicalab.characters import on_one_line

# openpyxl uses lxml if installed; the standard parser limits the expansion of entities.
# It reads this setting once, at import.
os.environ.setdefault("OPENPYXL_LXML", "False")

Value = str | float  # A text, or a number that a spreadsheet calculates with

_NOT_IN_TITLES: Final = re.compile(r"[\[\]:*?/\\']")
_TITLE_LENGTH: Final = 28  # A workbook takes 31 characters; a number follows where two begin alike
_CELL_LENGTH: Final = 32_767  # characters that a workbook takes of a cell
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
    """Return a workbook; the first row of each sheet is its heading."""
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
        sheet = book.create_sheet(_NOT_IN_TITLES.sub(" ", on_one_line(name))[:_TITLE_LENGTH])
        for down, row in enumerate(rows, start=1):
            for across, value in enumerate(row, start=1):
                cell = sheet.cell(down, across)
                if isinstance(value, str):
                    # Set after the value: openpyxl takes what begins with = for a formula.
                    cell.value = on_one_line(value)[:_CELL_LENGTH]
                    cell.data_type = "s"
                else:
                    cell.value = value
                cell.font = Font(bold=down == 1)
    saved = BytesIO()
    book.save(saved)
    book.properties.modified = _UNDATED  # saving set it to the time of day
    return undated(saved.getvalue(), {ARC_CORE: tostring(book.properties.to_tree())})


def frame(columns: Sequence[str], rows: Iterable[Mapping[str, object] | Sequence[object]]) -> Any:
    """Return rows as a pandas data frame, which has these columns even without rows."""
    import pandas as pd  # noqa: PLC0415 - slow to load

    return pd.DataFrame([*rows], columns=[*columns])


def undated(archive: bytes, parts: Mapping[str, bytes] = MappingProxyType({})) -> bytes:
    """Return a ZIP archive without the times of its files, with some parts replaced."""
    file = BytesIO()
    with ZipFile(BytesIO(archive)) as dated, ZipFile(file, "w") as made:
        for name in dated.namelist():
            part = parts.get(name) or dated.read(name)
            made.writestr(ZipInfo(name), part, ZIP_DEFLATED)  # ZipInfo's own date is 1980
    return file.getvalue()


_FORMULA: Final = "=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20"
_TO_GUARD: Final = re.compile(rf"'*[{_FORMULA}]")
_GUARDED: Final = re.compile(rf"'+[{_FORMULA}]")

# A thousand to one reader, one and a fraction to another.
TWO_WAYS: Final = re.compile(r"([1-9][0-9]{0,2})[.,]([0-9]{3})")


def guarded(text: str) -> str:
    """Return a text with an apostrophe if a spreadsheet would take it for a formula."""
    return f"'{text}" if _TO_GUARD.match(text) else text


def unguarded(text: str) -> str:
    return text[1:] if _GUARDED.match(text) else text


def number_text(number: float) -> str:
    """Return a number in full precision that is read in one way only."""
    whole, _, decimals = format(Decimal(repr(abs(number))), "f").partition(".")
    decimals = decimals.rstrip("0")
    text = f"{whole}.{decimals}" if decimals else whole
    return f"{text}0" if TWO_WAYS.fullmatch(text) else text
