"""Tables that leave: a spreadsheet calculates none of their texts, and loses no digit."""

from __future__ import annotations

from io import BytesIO

import openpyxl
import pytest

from replicalab.tables import Value, csv_file, excel_file

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\uff1d1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_csv_guards_what_would_be_calculated(text: str) -> None:
    line = csv_file(["a"], [[text]]).splitlines()[1]
    assert not line.strip('"').startswith(("=", "+", "-", "@", "\t", "\uff1d"))


def test_csv_writes_numbers_as_numbers() -> None:
    lines = csv_file(["a", "b", "c"], [[-1050.0, 0.1 + 0.2, 3]]).splitlines()
    assert lines[1] == '"-1050","0.30000000000000004","3"'


@pytest.mark.parametrize("text", FORMULAS)
def test_workbook_keeps_a_text_a_text(text: str) -> None:
    book = openpyxl.load_workbook(BytesIO(excel_file({"one": [["a"], [text]]})))
    cell = book["one"]["A2"]
    assert (cell.data_type, cell.value) == ("s", " ".join(text.split()))


def test_workbook_has_a_sheet_for_each_table_whatever_it_is_called() -> None:
    titles = ["a/b:c*d?e[f]g\\h", "x" * 40, "x" * 41, "'quoted'"]
    book = openpyxl.load_workbook(BytesIO(excel_file({title: [["a"]] for title in titles})))
    assert len(book.sheetnames) == len(titles)
    assert all(len(name) <= 31 for name in book.sheetnames)


def test_workbook_of_the_same_tables_is_the_same_file() -> None:
    tables: dict[str, list[list[Value]]] = {"one": [["a"], [1.5]]}
    assert excel_file(tables) == excel_file(tables)
