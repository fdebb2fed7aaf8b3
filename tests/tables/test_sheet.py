"""Any table as it leaves: what is calculated nowhere, and numbers as they are."""

from __future__ import annotations

import csv
import io
import time
from datetime import datetime, timezone, tzinfo
from types import SimpleNamespace
from typing import Self

import openpyxl
import pytest

from replicalab.tables import Value, sheet, workbook


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


def test_negative_number_leaves_with_its_sign() -> None:
    assert read(sheet(("credits",), [(-1050.0,)]))[1:] == [["-1050"]]


# --- as a workbook --------------------------------------------------------------------------

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\uff1d1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_workbook_keeps_a_text_a_text(text: str) -> None:
    book = openpyxl.load_workbook(io.BytesIO(workbook({"one": [["a"], [text]]})))
    cell = book["one"]["A2"]
    assert (cell.data_type, cell.value) == ("s", " ".join(text.split()))


def test_workbook_has_a_sheet_for_each_table_whatever_it_is_called() -> None:
    titles = ["a/b:c*d?e[f]g\\h", "x" * 40, "x" * 41, "'quoted'"]
    book = openpyxl.load_workbook(io.BytesIO(workbook({title: [["a"]] for title in titles})))
    assert len(book.sheetnames) == len(titles)
    assert all(len(name) <= 31 for name in book.sheetnames)


def test_workbook_of_the_same_tables_is_the_same_file_at_any_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables: dict[str, list[list[Value]]] = {"one": [["a"], [1.5]]}
    earlier = workbook(tables)
    # A zip writes the time of each part, and openpyxl that of saving into docProps/core.xml.
    monkeypatch.setattr(time, "time", lambda: 2_000_000_000.0)
    later = SimpleNamespace(datetime=Later, timezone=timezone)
    monkeypatch.setattr("openpyxl.writer.excel.datetime", later)
    assert workbook(tables) == earlier


class Later(datetime):
    """A clock that stands still in another year."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls(2033, 5, 18, tzinfo=tz)
