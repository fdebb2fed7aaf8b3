"""Any table as it leaves: numbers to the last digit, texts that no spreadsheet calculates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from replicalab.tables.cells import guarded, number_text


def sheet(columns: Sequence[str], rows: Iterable[Sequence[str | float]]) -> str:
    """Return rows as CSV for a spreadsheet; it begins with a byte order mark."""
    from replicalab.tables.files import csv_text  # noqa: PLC0415 - pandas, with the first table

    return csv_text(columns, [[*map(_cell, row)] for row in rows])


def _cell(value: str | float) -> str:
    return guarded(value) if isinstance(value, str) else number_text(value)
