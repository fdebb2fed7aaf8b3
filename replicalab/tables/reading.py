"""The rows of a workbook, read with openpyxl from parts whose size is bounded first.

This file brings openpyxl in, and is imported with the first workbook only.

An .xlsx file is a zip of XML parts. Both can grow a thousandfold while they are unpacked, and the
sizes in a zip's headers are its author's word. So no more is unpacked than may be read, a part is
bounded by its bytes before a parser sees it, and of openpyxl only those readers run that the values
of cells need: `load_workbook` also searches names and print areas with patterns that took a 5 KB
workbook 8 seconds, in one step during which no other visitor is answered.
"""

import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from openpyxl.packaging.manifest import Manifest
from openpyxl.reader.strings import read_string_table
from openpyxl.reader.workbook import WorkbookParser
from openpyxl.styles.stylesheet import apply_stylesheet
from openpyxl.utils import column_index_from_string
from openpyxl.worksheet._reader import CELL_TAG, FORMULA_TAG, MERGE_TAG, ROW_TAG, WorkSheetParser
from openpyxl.xml.constants import ARC_CONTENT_TYPES, ARC_WORKBOOK, SHARED_STRINGS
from openpyxl.xml.functions import fromstring, iterparse

from replicalab.characters import on_one_line
from replicalab.errors import CellFault, TableError
from replicalab.lexicon import joined, quoted, shortened
from replicalab.tables.row_reader import FEWER, MOST_FILLED, refusal, refuse
from replicalab.tables.sheet import (
    LONGEST_QUOTED,
    MOST_COLUMNS,
    MOST_ROWS,
    NotPlain,
    SheetRow,
    column_at,
)

MOST_PARTS: Final = 200
MOST_UNPACKED: Final = 6 * 2**20
"""The most bytes of all parts; 10,000 rows of an inventory have some 3 MiB."""
MOST_ELEMENTS: Final = 150_000
"""The most elements of all sheets together, and of their shared texts."""
MOST_WHOLE: Final = 20_000
"""The most elements, and the most attributes, of a part that is read as a whole, as the styles."""
MOST_BETWEEN_CELLS: Final = 2_000
"""The most elements within a cell, or before and after the rows of a sheet."""
MOST_SHEETS_NAMED: Final = 5

_UNMERGE: Final = "unmerge them, and fill in each"
_AREA: Final = re.compile(r"([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})")
_REMEDY: Final = "copy the table's values into a new workbook, or save it as CSV"
# A parser gathers all attributes of a tag in one step, which holds every other thread: 400,000
# took half a second. A tag ends before the next "<", and each attribute has its "=".
_CROWDED_TAG: Final = re.compile(rb"<(?:[^<=]*+=){1000}")
# openpyxl searches a format for dates in a time that grows with the square of its length.
_LONG_FORMAT: Final = re.compile(rb"""formatCode\s*+=\s*+(?:"[^"]{301}|'[^']{301})""")
# Only of UTF-8 do the bytes say what a parser will see; spreadsheets write nothing else.
_OTHER_CODING: Final = re.compile(
    rb"""(?:\xef\xbb\xbf)?<\?xml\s[^>]*?encoding\s*+=\s*+["'](?!utf-8["'])""", re.IGNORECASE
)


class _RefusedError(Exception):
    """The workbook is not read on; holds the problem and the remedy."""


def workbook_rows(data: bytes, source: str) -> list[SheetRow]:
    """Return the rows of the one sheet of a workbook that has any.

    Raises:
        TableError: it is no workbook, too large, or holds what is not a plain value.
    """
    filled, faults = _filled_sheets(data, source)
    if len(filled) > 1:
        titles = [shortened(title, LONGEST_QUOTED) for title in filled][:MOST_SHEETS_NAMED]
        problem = f"{len(filled)} of its sheets hold something: {joined(quoted(titles))}"
        refuse(source, None, problem, "keep the inventory alone, or save its sheet as CSV")
    if faults:
        raise refusal(source, faults)
    return next(iter(filled.values()), [])


def workbook_sheets(data: bytes, source: str) -> dict[str, list[SheetRow]]:
    """Return the rows of each sheet of a workbook that has any, by its title.

    What is no plain value is a `NotPlain` in its cell; so are merged cells but for the first.

    Raises:
        TableError: it is no workbook, or too large.
    """
    return _filled_sheets(data, source)[0]


def _filled_sheets(data: bytes, source: str) -> tuple[dict[str, list[SheetRow]], list[CellFault]]:
    reader = _Reader()
    try:
        filled = {title: rows for title, rows in reader.sheets(_unpacked(data)) if rows}
    except _RefusedError as error:
        raise TableError(source, [CellFault(None, "", *error.args)]) from None
    except Exception:  # noqa: BLE001 - a broken workbook trips zipfile and openpyxl up in any way
        problem, remedy = "the workbook is damaged", "save it anew, as .xlsx or CSV"
        raise TableError(source, [CellFault(None, "", problem, remedy)]) from None
    return filled, reader.faults


def _unpacked(data: bytes) -> dict[str, bytes]:
    """Return the parts of a workbook by name, unpacked no further than they are read."""
    parts: dict[str, bytes] = {}
    left = MOST_UNPACKED
    with ZipFile(BytesIO(data)) as archive:
        if len(archive.infolist()) > MOST_PARTS:
            raise _RefusedError(f"the workbook has {len(archive.infolist()):,} parts", _REMEDY)
        for part in archive.infolist():
            if part.flag_bits & 1:
                raise _RefusedError("the workbook has a password", "save it without one")
            if part.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
                raise _RefusedError("the workbook is packed in an unusual way", _REMEDY)
            with archive.open(part) as stream:
                parts[part.filename] = held = stream.read(left + 1)
            left -= len(held)
            if left < 0:
                problem = f"the workbook has more than {MOST_UNPACKED:,} bytes once it is unpacked"
                raise _RefusedError(problem, _REMEDY)
    if ARC_WORKBOOK not in parts:
        raise _RefusedError("the file is no Excel workbook", "save it as .xlsx or CSV")
    return parts


class _Archive:
    """The parts of a workbook, each bounded as it is opened, where openpyxl wants a `ZipFile`."""

    def __init__(self, parts: dict[str, bytes]) -> None:
        self.parts = parts

    def read(self, name: str) -> bytes:
        """Return a part that will be held as a whole."""
        part = self._bounded(name, MOST_WHOLE)
        if part.count(b"=") > MOST_WHOLE or _LONG_FORMAT.search(part):
            _refuse_more()
        return part

    def open(self, name: str) -> BytesIO:
        """Return a part that is read as a stream."""
        return BytesIO(self._bounded(name, MOST_ELEMENTS))

    def _bounded(self, name: str, most_elements: int) -> bytes:
        part = self.parts[name]
        if b"\0" in part or _OTHER_CODING.match(part):
            raise ValueError("it is not UTF-8")
        if b"<!DOCTYPE" in part:
            raise _RefusedError("the workbook declares entities of its own", _REMEDY)
        if part.count(b"<") - part.count(b"</") > most_elements or _CROWDED_TAG.search(part):
            _refuse_more()
        return part


def _refuse_more() -> None:
    raise _RefusedError("the workbook holds more than is read", _REMEDY)


class _Reader:
    """Reads the sheets of a workbook, and gathers what in them is no plain value."""

    def __init__(self) -> None:
        self.faults: list[CellFault] = []
        self._elements = self._covered = 0

    def sheets(self, parts: dict[str, bytes]) -> Iterator[tuple[str, list[SheetRow]]]:
        """Yield the title and the rows of each sheet; of several that are one part, each."""
        archive = _Archive(parts)
        texts = Manifest.from_tree(fromstring(archive.read(ARC_CONTENT_TYPES))).find(SHARED_STRINGS)
        strings = read_string_table(archive.open(texts.PartName[1:])) if texts else []
        reader = WorkbookParser(archive, ARC_WORKBOOK, keep_links=False)
        reader.parse()
        apply_stylesheet(archive, reader.wb)  # which formats are dates
        for sheet, relation in reader.find_sheets():
            if relation.target not in parts or "chartsheet" in relation.Type:
                continue
            parser = WorkSheetParser(
                archive.open(relation.target),
                strings,
                data_only=True,  # else every formula is parsed, with patterns again
                epoch=reader.wb.epoch,
                date_formats=reader.wb._date_formats,  # noqa: SLF001 - nowhere public
                timedelta_formats=reader.wb._timedelta_formats,  # noqa: SLF001
            )
            yield sheet.name, self._rows(parser)

    def _rows(self, sheet: WorkSheetParser) -> list[SheetRow]:
        rows: list[SheetRow] = []
        last = filled = cells = between = 0
        for event, element in iterparse(sheet.source, ("start", "end")):
            if event == "start":
                self._elements += 1
                between = 0 if element.tag in (ROW_TAG, CELL_TAG) else between + 1
                cells = 0 if element.tag == ROW_TAG else cells + (element.tag == CELL_TAG)
                _require_narrow(cells, last + 1)
                if between > MOST_BETWEEN_CELLS or self._elements > MOST_ELEMENTS:
                    _refuse_more()
            elif element.tag == ROW_TAG:
                number, found = sheet.parse_row(element)
                _require_in_order(number, last)
                last = number
                formulas = [cell.find(FORMULA_TAG) is not None for cell in element]
                row = SheetRow(number, self._cells(number, found, formulas))
                element.clear()
                if any(str(cell).strip() for cell in row.cells):
                    filled += 1
                    rows += [row] if filled <= MOST_FILLED else []
            elif element.tag == MERGE_TAG:
                for merged in element:
                    merged_cells = on_one_line(shortened(merged.get("ref", ""), 20))
                    problem = f"the cells {merged_cells} are merged"
                    self.faults.append(CellFault(None, "", problem, _UNMERGE))
                    self._cover(rows, merged.get("ref", ""))
        if filled > MOST_FILLED:
            raise _RefusedError(f"a sheet has {filled:,} rows with values", FEWER)
        return rows

    def _cover(self, rows: list[SheetRow], ref: str) -> None:
        """Put into all cells that are merged, but for the first, that they are."""
        if not (found := _AREA.fullmatch(ref)):
            return
        first, last = (column_index_from_string(found[n]) for n in (1, 3))
        top, bottom = int(found[2]), int(found[4])
        merged = NotPlain(f"it is merged with the cell {found[1]}{top}", _UNMERGE)
        for row in rows:
            if not top <= row.number <= bottom:
                continue
            end = min(last, MOST_COLUMNS)
            row.cells.extend([""] * (end - len(row.cells)))
            for place in range(first - 1 + (row.number == top), end):
                row.cells[place] = merged
                self._covered += 1
            if self._covered > MOST_ELEMENTS:  # of areas that lie over each other
                _refuse_more()

    def _cells(
        self, number: int, found: list[dict[str, Any]], formulas: list[bool]
    ) -> list[object]:
        """Return what stands in a row, from its first column on; what is empty is ''."""
        width = max((cell["column"] for cell in found), default=0)
        _require_narrow(width, number)
        cells: list[object] = [""] * width
        for cell, is_formula in zip(found, formulas, strict=True):
            place, value = cell["column"] - 1, cell["value"]
            if is_formula or cell["data_type"] == "e":
                formula = NotPlain("a formula stands here", "write its value")
                value = formula if is_formula else NotPlain("an error stands here", "write a value")
                self.faults.append(CellFault(number, column_at(place), *value))
            elif isinstance(value, float) and value == int(value):
                value = int(value)
            cells[place] = "" if value is None else value
        return cells


def _require_narrow(columns: int, row: int) -> None:
    if columns > MOST_COLUMNS:
        problem = f"row {row} of a sheet has more than {MOST_COLUMNS} columns"
        raise _RefusedError(problem, "keep those that are read; delete the others")


def _require_in_order(row: int, last: int) -> None:
    if row > MOST_ROWS:
        problem = f"a sheet goes down to row {row:,}"
        remedy = f"keep at most {MOST_ROWS:,}; delete the empty rows below the table"
        raise _RefusedError(problem, remedy)
    if row <= last:
        raise _RefusedError("the rows of a sheet are out of order", _REMEDY)
