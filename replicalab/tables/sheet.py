"""Any table as it leaves: numbers to the last digit, texts that no spreadsheet calculates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from io import BytesIO
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from replicalab.characters import on_one_line
from replicalab.tables.cells import guarded, number_text

Value = str | float
"""A text, or a number that a spreadsheet calculates with."""

_NOT_IN_TITLES: Final = re.compile(r"[\[\]:*?/\\']")
_LONGEST_TITLE: Final = 28
"""A workbook takes 31 characters; a number follows where two begin alike."""
_LONGEST_TEXT: Final = 32_767
"""What a workbook takes of a cell."""
_UNDATED: Final = datetime(2000, 1, 1)  # noqa: DTZ001 - a workbook's time has no zone
"""Of every workbook, so that the same tables make the same file."""


def sheet(columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """Return rows as CSV for a spreadsheet; it begins with a byte order mark."""
    from replicalab.tables.files import csv_text  # noqa: PLC0415 - pandas, with the first table

    return csv_text([*map(guarded, columns)], [[*map(_cell, row)] for row in rows])


def _cell(value: Value) -> str:
    if isinstance(value, str):
        return guarded(value)
    return f"{'-' if value < 0 else ''}{number_text(value)}"


def workbook(
    sheets: Mapping[str, Iterable[Sequence[Value]]], title: str = "", authors: str = ""
) -> bytes:
    """Return a workbook of some sheets, the first row of each its heading.

    Args:
        sheets: the rows of each, by its title.
        title: of the workbook, empty for none.
        authors: whose it is, empty where nobody says.
    """
    from openpyxl import Workbook  # noqa: PLC0415 - slow to load
    from openpyxl.styles import Font  # noqa: PLC0415

    book = Workbook()
    book.remove(book.active)
    book.properties.created = book.properties.modified = _UNDATED
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
    file = BytesIO()
    book.save(file)
    return _undated(file)


def _undated(written: BytesIO) -> bytes:
    """Return a workbook without the time at which each of its parts was written."""
    file = BytesIO()
    with ZipFile(written) as dated, ZipFile(file, "w") as undated:
        for name in dated.namelist():
            undated.writestr(ZipInfo(name), dated.read(name), ZIP_DEFLATED)
    return file.getvalue()
