"""Any table as it leaves: numbers to the last digit, texts that no spreadsheet calculates."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from io import SEEK_END, BytesIO, StringIO
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from replicalab.characters import on_one_line
from replicalab.tables.cells import guarded, number_text

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
    saved, file = BytesIO(), BytesIO()
    book.save(saved)
    book.properties.modified = _UNDATED  # saving set it to the time of day
    with ZipFile(saved) as dated, ZipFile(file, "w") as undated:
        for name in dated.namelist():
            part = dated.read(name) if name != ARC_CORE else tostring(book.properties.to_tree())
            undated.writestr(ZipInfo(name), part, ZIP_DEFLATED)  # ZipInfo's own date is 1980
    return file.getvalue()
