"""Exported tables: no formulas, and exact numbers."""

import csv
import time
from datetime import datetime, timezone, tzinfo
from io import BytesIO, StringIO
from types import SimpleNamespace
from typing import Final, Self

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.tables import Value, guarded, number_text, sheet, unguarded, workbook


def read(text: str) -> list[list[str]]:
    return list(csv.reader(StringIO(text.removeprefix("\ufeff"), newline="")))


def test_sheet_is_read_back() -> None:
    rows = [('say "so"', 1, 2.5), ("two\nlines", 0, 1e-9), ("a,b", -3000.0, 0.766)]
    text = sheet(("text", "count", "value"), rows)
    assert text.startswith("\ufeff")
    assert read(text) == [
        ["text", "count", "value"],
        ['say "so"', "1", "2.5"],
        ["two\nlines", "0", "0.000000001"],
        ["a,b", "-3000", "0.766"],
    ]


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\uff1d"])
def test_formula_leaves_as_text(sign: str) -> None:
    text = f"{sign}cmd|' /C calc'!A0"
    [[cell]] = read(sheet(("study",), [(text,)]))[1:]
    assert cell == f"'{text}"
    saved = openpyxl.load_workbook(BytesIO(workbook({"one": [["a"], [text]]})))["one"]["A2"]
    assert (saved.data_type, saved.value) == ("s", " ".join(text.split()))


def test_workbook_has_a_sheet_per_table() -> None:
    titles = ["a/b:c*d?e[f]g\\h", "x" * 40, "x" * 41, "'quoted'"]
    book = openpyxl.load_workbook(BytesIO(workbook({title: [["a"]] for title in titles})))
    assert len(book.sheetnames) == len(titles)
    assert all(len(name) <= 31 for name in book.sheetnames)


def test_workbook_is_the_same_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    tables: dict[str, list[list[Value]]] = {"one": [["a"], [1.5]]}
    earlier = workbook(tables)
    # A zip writes the time of each part, and openpyxl that of saving into docProps/core.xml.
    monkeypatch.setattr(time, "time", lambda: 2_000_000_000.0)
    later = SimpleNamespace(datetime=Later, timezone=timezone)
    monkeypatch.setattr("openpyxl.writer.excel.datetime", later)
    assert workbook(tables) == earlier


class Later(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls(2033, 5, 18, tzinfo=tz)


DANGEROUS: Final = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"


@given(st.text(f"'{DANGEROUS}ab", max_size=6) | st.text())
def test_guard_is_removed_again(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(tuple(DANGEROUS))


@given(st.floats(0, 1e9) | st.integers(0, 10**15))
def test_number_is_read_as_it_was_written(number: float) -> None:
    assert float(number_text(number)) == number
