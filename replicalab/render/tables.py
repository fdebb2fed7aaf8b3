"""The tables of a document for a spreadsheet: numbers as numbers, texts as texts."""

from collections.abc import Iterable

from replicalab.characters import shown
from replicalab.tables import Value, sheet, workbook
from replicalab.views.blocks import Cell, Document, Table


def csv_tables(document: Document) -> dict[str, str]:
    """Return each table of a document as the text of a CSV file, by its caption."""
    return {table.caption: sheet(table.names, _rows(table)) for table in document.tables}


def excel(document: Document) -> bytes:
    """Return the tables of a document as one workbook, a sheet each."""
    sheets = {table.caption: [table.names, *_rows(table)] for table in document.tables}
    return workbook(sheets, document.title, document.authors)


def _rows(table: Table) -> Iterable[list[Value]]:
    return [[*map(_value, row)] for row in table.rows]


def _value(cell: Cell) -> Value:
    return shown(cell.text) if cell.number is None else cell.number
