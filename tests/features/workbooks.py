"""Workbooks of tests: as a spreadsheet writes them, and with parts changed by hand."""

import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from openpyxl import Workbook

from replicalab.features.sheets import COLUMNS

SHEET = "xl/worksheets/sheet1.xml"


def workbook(*rows: Sequence[object], change: Callable[[Any], object] | None = None) -> bytes:
    book = Workbook()
    for row in (COLUMNS, *rows):
        book.active.append(list(row))
    if change:
        change(book)
    file = BytesIO()
    book.save(file)
    return file.getvalue()


def with_parts(data: bytes, **parts: bytes | str) -> bytes:
    file = BytesIO()
    with ZipFile(BytesIO(data)) as old, ZipFile(file, "w", ZIP_DEFLATED) as new:
        for info in old.infolist():
            if info.filename not in parts:
                new.writestr(info.filename, old.read(info))
        for name, part in parts.items():
            new.writestr(name, part)
    return file.getvalue()


@contextmanager
def bounded_memory() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        limit = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert limit < 50 * 10**6
