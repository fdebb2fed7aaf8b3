"""A lab's list of items from CSV or Excel: read, with faults by row and column, and written."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from io import BytesIO, StringIO
from itertools import islice, zip_longest
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, TypeAlias
from zipfile import ZipFile

from replicalab import limits
from replicalab.characters import described, hidden, on_one_line
from replicalab.errors import CellFault, TableError
from replicalab.lexicon import label_key, shortened
from replicalab.scenarios import MOST, ItemState, OwnItem, Pack, known_names
from replicalab.tables import TWO_WAYS, Value, number_text, sheet, unguarded

if TYPE_CHECKING:
    import pandas as pd

Table: TypeAlias = "pd.DataFrame"
SUFFIXES: Final = ("csv", "tsv", "txt", "xlsx")
"""Endings of readable files; all but the last are text."""
_SEPARATORS: Final = ",;\t"
COLUMNS: Final = ("name", "kind", "state", "until", "price")
REQUIRED: Final = COLUMNS[:2]
KINDS: Final = ("equipment", "reagent")
STATES: Final = tuple(state.value for state in ItemState)
_WORDS: Final = {"kind": KINDS, "state": STATES}
_NUMBER: Final = re.compile(r"[0-9]{1,20}(?:[.,][0-9]{1,400})?")  # 326 for the smallest price


def source_of(name: str) -> str:
    """Return a file's name for messages."""
    return on_one_line(shortened(name)).strip() or "the file"


def read_table(data: bytes, name: str) -> Table:
    """Return a file's cells as texts, without its empty rows and columns.

    The first row holds the headings. The index holds the row numbers of the spreadsheet. A column
    without a heading is called by its letter (``column F``).

    Raises:
        TableError: the file is too large, damaged, empty, or of another kind.
    """
    try:
        rows = _workbook_rows(data) if _ending(data, name) == "xlsx" else _text_rows(data)
        return _frame(rows)
    except _RefusedError as error:
        raise TableError(source_of(name), error.args) from None


class _RefusedError(Exception):
    def __init__(self, problem: str, remedy: str, row: int | None = None) -> None:
        super().__init__(CellFault(row, "", problem, remedy))


def _ending(data: bytes, name: str) -> str:
    ending = PurePath(name).suffix.casefold().removeprefix(".")
    is_archive = data.startswith(b"PK\x03\x04")
    if ending not in SUFFIXES:
        raise _RefusedError("the file is neither CSV nor .xlsx", "save it as CSV or .xlsx")
    if len(data) > limits.MOST_SHEET_BYTES:
        problem = (
            f"the file has {len(data):,} bytes, more than the {limits.MOST_SHEET_BYTES:,} allowed"
        )
        raise _RefusedError(problem, "keep the table alone, without pictures and other sheets")
    if not data.strip():
        raise _RefusedError("the file is empty", "write the headings and one item per row")
    if is_archive and ending != "xlsx":
        raise _RefusedError("the file is a workbook", "name it .xlsx")
    if ending == "xlsx" and not is_archive:
        problem = "the file is no Excel workbook, or has a password"
        raise _RefusedError(problem, "save it as .xlsx without a password, or name it .csv")
    return ending


def _text_rows(data: bytes) -> list[list[str]]:
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise _RefusedError("the text is not UTF-8", "save it as CSV UTF-8 or .xlsx", row) from None
    separator = max(_SEPARATORS, key=text.lstrip().partition("\n")[0].count)
    try:
        return _texts(csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        problem = "the rows cannot be separated into cells"
        raise _RefusedError(problem, "close each quotation mark, or save it as .xlsx") from None


def _workbook_rows(data: bytes) -> list[list[str]]:
    from openpyxl import load_workbook  # noqa: PLC0415 - slow to load

    try:
        with ZipFile(BytesIO(data)) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
        if unpacked <= limits.MOST_UNPACKED:
            book = load_workbook(BytesIO(data), read_only=True, data_only=True, keep_links=False)
            first = book.worksheets[0]
            first.reset_dimensions()  # a file may state fewer rows than it has
            return _texts(first.iter_rows(max_col=limits.MOST_SHEET_COLUMNS + 1, values_only=True))
    except Exception:  # noqa: BLE001 - openpyxl raises any error for a damaged part
        remedy = "open it in a spreadsheet program and save it again"
        raise _RefusedError("the workbook is damaged", remedy) from None
    problem = f"the workbook unpacks to {unpacked:,} bytes, more than {limits.MOST_UNPACKED:,}"
    raise _RefusedError(problem, "keep the table alone in a new workbook")


def _texts(rows: Iterable[Sequence[object]]) -> list[list[str]]:
    return [
        [*map(_cell_text, row[: limits.MOST_SHEET_COLUMNS + 1])]
        for row in islice(rows, limits.MOST_SHEET_ROWS + 1)
    ]


def _cell_text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, int | float) and not isinstance(cell, bool) and abs(cell) < 1e15:
        return f"{'-' if cell < 0 else ''}{number_text(cell)}"
    return str(cell).strip()


def _frame(texts: list[list[str]]) -> Table:
    import pandas as pd  # noqa: PLC0415 - slow to load
    from openpyxl.utils import get_column_letter  # noqa: PLC0415 - slow to load

    if len(texts) > limits.MOST_SHEET_ROWS:
        problem = f"the sheet has more than {limits.MOST_SHEET_ROWS:,} rows"
        raise _RefusedError(problem, "delete the rows below the table, empty ones too")
    rows = {number: row for number, row in enumerate(texts, start=1) if any(row)}
    if len(rows) < 2:
        raise _RefusedError("the file holds no items", "write one item per row below the headings")
    if len(rows) > limits.MOST_OWN_ITEMS + 1:
        problem = f"the table has more than {limits.MOST_OWN_ITEMS} rows below its headings"
        raise _RefusedError(problem, "keep the items that your studies may need")
    columns = enumerate(zip_longest(*rows.values(), fillvalue=""))
    filled = {place: cells for place, cells in columns if any(cells)}
    if max(filled) >= limits.MOST_SHEET_COLUMNS:
        problem = f"the table has more than {limits.MOST_SHEET_COLUMNS} columns"
        raise _RefusedError(problem, "delete the columns that are not needed")
    table: dict[str, tuple[str, ...]] = {}
    for place, (first, *rest) in filled.items():
        heading = " ".join(first.split()) or f"column {get_column_letter(place + 1)}"
        if label_key(heading) in map(label_key, table):
            problem = f"two columns are called '{shortened(heading)}'"
            raise _RefusedError(problem, "rename one of them", min(rows))
        table[heading] = tuple(rest)
    return pd.DataFrame(table, index=[*rows][1:], dtype=object)


def columns_of(frame: Table) -> dict[str, str]:
    """Return the headings that equal the name of an inventory's column, by that name."""
    headings = {label_key(heading): heading for heading in frame.columns}
    return {column: headings[column] for column in COLUMNS if column in headings}


def read_inventory(data: bytes, name: str) -> tuple[OwnItem, ...]:
    """Return the items of a file with the columns of `COLUMNS`, in its order.

    Raises:
        TableError: every fault by row and column, with its remedy.
    """
    frame = read_table(data, name)
    columns = columns_of(frame)
    faults = [
        CellFault(None, column, "this column is missing", "add it")
        for column in REQUIRED
        if column not in columns
    ]
    for heading in frame.columns.difference([*columns.values()], sort=False):
        texts = frame[heading][frame[heading] != ""]
        if not texts.empty:
            problem = f"{_quoted(texts.iloc[0])} is in no column of an inventory"
            remedy = known_names(shortened(label_key(heading)), COLUMNS)
            place = on_one_line(shortened(heading))
            faults.append(CellFault(int(texts.index.to_list()[0]), place, problem, remedy))
    _refuse(name, faults)
    return read_items(frame[[*columns.values()]].set_axis([*columns], axis=1), name)


def read_items(frame: Table, name: str) -> tuple[OwnItem, ...]:
    """Return the items of a table with some of `COLUMNS`; raises TableError likewise."""
    faults: list[CellFault] = []
    items: list[OwnItem] = []
    rows: dict[str, int] = {}
    for row, cells in zip(map(int, frame.index), frame.to_dict("records"), strict=True):
        values: dict[str, object] = {}
        for column in COLUMNS:
            try:
                values[column] = _value(column, str(cells.get(column) or "").strip())
            except ValueError as error:
                faults.append(CellFault(row, column, *error.args))
        if len(values) == len(COLUMNS):
            fields = {"label": values.pop("name"), "category": values.pop("kind"), **values}
            items.append(item := OwnItem.model_validate(fields))
            if (first := rows.setdefault(label_key(item.label), row)) != row:
                problem = f"{_quoted(item.label)} is in row {first} already"
                faults.append(CellFault(row, "name", problem, "list it once"))
            if item.until is not None and item.state is not ItemState.BOOKED:
                problem = f"day {item.until} is given, but the item is not {ItemState.BOOKED}"
                remedy = f"write {ItemState.BOOKED} as its state, or leave the day empty"
                faults.append(CellFault(row, "until", problem, remedy))
    _refuse(name, faults)
    return tuple(items)


def _refuse(name: str, faults: list[CellFault]) -> None:
    if faults:
        raise TableError(
            source_of(name), faults[: limits.MOST_FAULTS], len(faults[limits.MOST_FAULTS :])
        )


def _value(column: str, text: str) -> object:
    """Return the value of a cell, None if empty; a ValueError has the problem and the remedy."""
    text = unguarded(text)
    if not text and column in REQUIRED:
        raise ValueError("the cell is empty", "write a value, or delete the row")
    if not text:
        return None
    if places := hidden(text):
        problem = f"{_quoted(text)} holds {described(text[places[0]])}, which is invisible"
        raise ValueError(problem, "remove it")
    if column == "name":
        if len(text) > limits.LONGEST_LABEL:
            problem = f"{_quoted(text)} has {len(text):,} characters"
            raise ValueError(problem, f"write at most {limits.LONGEST_LABEL}")
        return text
    if words := _WORDS.get(column):
        word = label_key(text.replace("_", " ").replace("-", " "))
        if word not in words:
            remedy = known_names(shortened(word), words)
            raise ValueError(f"{_quoted(text)} is no {column} of an item", remedy)
        return word
    if column == "price":
        return _number(text, "a number such as 12.5", MOST)
    day = _number(text, example := "a day such as 12", limits.LARGEST_COUNT)
    if day % 1:
        raise ValueError(f"{_quoted(text)} is no whole day", f"write {example}")
    return int(day)


def _number(text: str, example: str, most: float) -> float:
    if two := TWO_WAYS.fullmatch(text):
        whole, rest = two.groups()
        decimal = number_text(float(f"{whole}.{rest}"))
        problem = f"{_quoted(text)} can be read in two ways"
        raise ValueError(problem, f"write {whole}{rest} or {decimal}")
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{_quoted(text)} is no number from 0 on", f"write {example}")
    number = float(text.replace(",", "."))
    if number > most:
        raise ValueError(f"{_quoted(text)} is too large", f"write at most {most:,}")
    return number


def _quoted(text: str) -> str:
    return f"'{on_one_line(shortened(text))}'"


def inventory_template(pack: Pack) -> str:
    """Return a lab's stock of its study's items as CSV, to be changed and read back."""
    study, lab = pack.study, pack.lab
    booked = {label_key(item): day for item, day in lab.booked.items()}
    prices = {label_key(item): price for item, price in lab.prices.items()}
    states = dict.fromkeys(booked, ItemState.BOOKED)
    states |= dict.fromkeys(map(label_key, lab.out_of_stock), ItemState.OUT_OF_STOCK)
    rows: dict[str, list[Value]] = {}
    for kind, needed, others in (
        (KINDS[0], study.equipment, lab.equipment),
        (KINDS[1], study.reagents, lab.reagents),
    ):
        keys = {*map(label_key, needed)}
        swaps = [
            swap.alternative for swap in study.substitutions if label_key(swap.original) in keys
        ]
        for label in (*needed, *swaps, *others):
            key = label_key(label)
            state = states.get(key, ItemState.AVAILABLE)
            until = booked[key] if state is ItemState.BOOKED else ""
            rows.setdefault(key, [label, kind, state.value, until, prices.get(key, "")])
    return sheet(COLUMNS, rows.values())
