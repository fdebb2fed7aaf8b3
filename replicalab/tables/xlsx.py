"""A workbook before it is opened: is it bounded, and what stands in it that is no plain value?

An .xlsx file is a zip of XML parts. Both can grow a thousandfold while they are unpacked, and the
sizes in a zip's headers are its author's word. So no more is unpacked than is read, and every part
is first read as a stream that keeps nothing: what is too large, too deep, or declares entities is
refused before openpyxl builds anything of it. What openpyxl opens are the parts that were read,
packed anew. The same stream notes what pandas does not tell: formulas, errors and merged cells.
"""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from io import BytesIO
from typing import Final
from xml.parsers import expat
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from replicalab.characters import on_one_line
from replicalab.errors import CellFault, TableError
from replicalab.lexicon import shortened
from replicalab.tables.cells import column_at

MOST_ROWS: Final = 20_000
MOST_COLUMNS: Final = 30
MOST_FILLED: Final = 1_000
"""The most rows of a sheet with a value in them; more are counted here, and not read again."""
MOST_PARTS: Final = 200
MOST_UNPACKED: Final = 6 * 2**20
"""The most bytes of all parts; 10,000 rows of an inventory have some 3 MiB."""
MOST_ELEMENTS: Final = 300_000
"""The most elements of sheets and of their texts, which are read one after another."""
MOST_READ: Final = 150_000
"""The most elements times sheets: many sheets may be one part, read for each of them."""
MOST_OTHER_ELEMENTS: Final = 20_000
"""The most of styles and other parts, which are held at once; of their attributes as many."""
MOST_BETWEEN_CELLS: Final = 2_000
"""The most within a cell, or before and after the rows of a sheet."""
DEEPEST: Final = 50
LONGEST_TAG: Final = 32 * 2**10
"""The most bytes of a tag: all its attributes are gathered in one step, which nobody interrupts."""
LONGEST_FORMAT: Final = 300
"""The most characters of a number's format, where a spreadsheet takes 255."""
LONGEST_AREAS: Final = 2_000
"""The most characters of all areas that are to be printed.

Both are searched by openpyxl, in steps that nobody interrupts and that take the square of the time.
"""
MOST_TOLD: Final = 20

_REMEDY: Final = "copy the table's values into a new workbook, or save it as CSV"
_PIECE: Final = 16 * 2**10
_OF_A_SPREADSHEET: Final = "_xlnm."
_CELL: Final = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")


class _RefusedError(Exception):
    """A part that is not read on; holds the problem and the remedy."""


def bounded(data: bytes, source: str) -> tuple[bytes, TableError | None]:
    """Return a workbook that is safe to open, and what in it is no plain value, None if nothing is.

    Raises:
        TableError: it is no workbook, or one that is too large.
    """
    scan = _Scan()
    try:
        with ZipFile(BytesIO(data)) as archive:
            _require_usual(archive.infolist())
            parts = _unpacked(archive)
        for part in parts.values():
            scan.read(part)
        if scan.work > MOST_READ:
            raise _RefusedError("the workbook holds more than is read", _REMEDY)
    except _RefusedError as error:
        raise TableError(source, [CellFault(None, "", *error.args)]) from None
    except (
        BadZipFile,
        zlib.error,
        ValueError,
        LookupError,
        EOFError,
        OSError,
        NotImplementedError,
    ):
        problem, remedy = "the workbook is damaged", "save it anew, as .xlsx or CSV"
        raise TableError(source, [CellFault(None, "", problem, remedy)]) from None
    return _packed(parts), TableError(source, scan.faults, scan.more) if scan.faults else None


def _require_usual(parts: list[ZipInfo]) -> None:
    if len(parts) > MOST_PARTS:
        raise _RefusedError(f"the workbook has {len(parts):,} parts", _REMEDY)
    if any(part.flag_bits & 1 for part in parts):
        raise _RefusedError("the workbook has a password", "save it without one")
    if any(part.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for part in parts):
        raise _RefusedError("the workbook is packed in an unusual way", _REMEDY)
    if not any(part.filename == "xl/workbook.xml" for part in parts):
        raise _RefusedError("the file is no Excel workbook", "save it as .xlsx or CSV")


def _unpacked(archive: ZipFile) -> dict[str, bytes]:
    """Return the parts of a workbook by name, unpacked no further than they are read."""
    parts: dict[str, bytes] = {}
    left = MOST_UNPACKED
    for part in archive.infolist():
        with archive.open(part) as stream:
            parts[part.filename] = held = stream.read(left + 1)
        left -= len(held)
        if left < 0:
            problem = f"the workbook has more than {MOST_UNPACKED:,} bytes once it is unpacked"
            raise _RefusedError(problem, _REMEDY)
    return parts


def _packed(parts: dict[str, bytes]) -> bytes:
    """Return parts as a workbook without anything behind, between or instead of them."""
    file = BytesIO()
    with ZipFile(file, "w", ZIP_STORED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return file.getvalue()


class _Scan:
    """Reads every part of a workbook, one after another, and keeps only what is wrong."""

    def __init__(self) -> None:
        self.faults: list[CellFault] = []
        self.more = 0
        self._streamed = self._others = self._attributes = self._sheets = self._areas = 0

    @property
    def work(self) -> int:
        """How many elements a reader may have to read."""
        return max(1, self._sheets) * (self._streamed + self._others)

    def read(self, part: bytes) -> None:
        """Read a part; one that is not XML, a picture, or breaks off is read so far."""
        self._root, self._depth, self._between, self._named = "", 0, 0, 0
        self._row = self._column = self._cells = self._filled = self._last_filled = 0
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._doctype
        with suppress(expat.ExpatError):
            for at in range(0, len(part), _PIECE):
                parser.Parse(part[at : at + _PIECE], False)
                # What is not yet told, because it has no end so far, would be told all at once.
                if at + _PIECE - parser.CurrentByteIndex > LONGEST_TAG + _PIECE:
                    raise _RefusedError("the workbook holds more than is read", _REMEDY)
            parser.Parse(b"", True)
        if self._filled > MOST_FILLED:
            remedy = "keep the items that your studies may need"
            raise _RefusedError(f"a sheet has {self._filled:,} rows with values", remedy)

    def _doctype(self, *_: object) -> None:
        raise _RefusedError("the workbook declares entities of its own", _REMEDY)

    def _end(self, _: str) -> None:
        self._depth -= 1
        if self._depth < self._named:
            self._named = 0

    def _text(self, text: str) -> None:
        self._areas += len(text) if self._named else 0
        if self._areas > LONGEST_AREAS:
            raise _RefusedError("the workbook holds more than is read", _REMEDY)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(":")[2]
        self._root = self._root or tag
        self._depth += 1
        streamed = self._root in ("worksheet", "sst")
        self._streamed += streamed
        self._others += not streamed
        self._attributes += 0 if streamed else len(attributes)
        self._sheets += tag == "sheet"
        self._between = 0 if tag in ("row", "c", "si") else self._between + 1
        if tag == "definedName" and attributes.get("name", "").startswith(_OF_A_SPREADSHEET):
            self._named = self._named or self._depth
        if (
            self._depth > DEEPEST
            or (tag == "numFmt" and len(attributes.get("formatCode", "")) > LONGEST_FORMAT)
            or self._streamed > MOST_ELEMENTS
            or max(self._others, self._attributes) > MOST_OTHER_ELEMENTS
            or (streamed and self._between > MOST_BETWEEN_CELLS)
        ):
            raise _RefusedError("the workbook holds more than is read", _REMEDY)
        if self._root == "worksheet":
            self._in_sheet(tag, attributes)

    def _in_sheet(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in ("v", "is", "f"):
            self._filled += self._row != self._last_filled
            self._last_filled = self._row
        if tag == "row":
            self._next_row(attributes.get("r", ""))
        elif tag == "c":
            self._next_cell(attributes)
        elif tag == "f":
            self._add_cell("a formula stands here", "write its value")
        elif tag == "mergeCell":
            cells = on_one_line(shortened(attributes.get("ref", ""), 20))
            remedy = "unmerge them, and fill in each"
            self._add(CellFault(None, "", f"the cells {cells} are merged", remedy))

    def _next_row(self, number: str) -> None:
        row = int(number) if re.fullmatch("[0-9]{1,7}", number) else self._row + 1
        if row > MOST_ROWS:
            problem = f"a sheet goes down to row {row:,}"
            remedy = f"keep at most {MOST_ROWS:,}; delete the empty rows below the table"
            raise _RefusedError(problem, remedy)
        if row <= self._row:
            raise _RefusedError("the rows of a sheet are out of order", _REMEDY)
        self._row, self._column, self._cells = row, 0, 0

    def _next_cell(self, attributes: dict[str, str]) -> None:
        place = _CELL.fullmatch(attributes.get("r", ""))
        self._column = _number_of(place[1]) if place else self._column + 1
        self._cells += 1
        if max(self._column, self._cells) > MOST_COLUMNS:
            problem = f"row {self._row} of a sheet has more than {MOST_COLUMNS} columns"
            raise _RefusedError(problem, "keep those that are read; delete the others")
        if attributes.get("t") == "e":
            self._add_cell("an error stands here", "write a value")

    def _add_cell(self, problem: str, remedy: str) -> None:
        self._add(CellFault(self._row, column_at(self._column - 1), problem, remedy))

    def _add(self, fault: CellFault) -> None:
        if len(self.faults) < MOST_TOLD:
            self.faults.append(fault)
        else:
            self.more += 1


def _number_of(letters: str) -> int:
    number = 0
    for each in letters:
        number = number * 26 + ord(each) - ord("A") + 1
    return number
