"""Any table as it leaves: what is calculated nowhere, and numbers as they are."""

from __future__ import annotations

import csv
import io

import pytest

from replicalab.tables import sheet


def read(text: str) -> list[list[str]]:
    """Return what a program reads of a CSV file."""
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))


def test_sheet_is_read_back_row_by_row_with_quotes_and_lines_within_a_cell() -> None:
    rows = [('say "so"', 1, 2.5), ("two\nlines", 0, 1e-9), ("a,b", 3000.0, 0.766)]
    found = sheet(("text", "count", "value"), rows)
    assert found.startswith("\ufeff")
    assert read(found) == [
        ["text", "count", "value"],
        ['say "so"', "1", "2.5"],
        ["two\nlines", "0", "0.000000001"],
        ["a,b", "3000", "0.766"],
    ]


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\uff1d"])
def test_text_that_a_spreadsheet_would_calculate_leaves_as_text(sign: str) -> None:
    [[cell]] = read(sheet(("study",), [(f"{sign}cmd|' /C calc'!A0",)]))[1:]
    assert cell == f"'{sign}cmd|' /C calc'!A0"
