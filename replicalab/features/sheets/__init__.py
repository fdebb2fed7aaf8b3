"""A lab's list of items from CSV or Excel: read, with faults by row and column, and written."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from io import BytesIO, StringIO
from itertools import groupby, islice, zip_longest
from math import inf
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias
from zipfile import ZipFile

from replicalab import limits
from replicalab.characters import on_one_line
from replicalab.errors import CellFault, TableError
from replicalab.features.sheets import cells
from replicalab.features.sheets.cells import KINDS, Answers, quoted
from replicalab.lexicon import CREDITS, label_key, shortened
from replicalab.scenarios import ItemState, OwnItem, Pack, known_names
from replicalab.tables import Value, number_text, sheet, unguarded

if TYPE_CHECKING:
    import pandas as pd

Table: TypeAlias = "pd.DataFrame"
SUFFIXES: Final = ("csv", "tsv", "txt", "xlsx")
"""Endings of readable files; all but the last are text."""
_SEPARATORS: Final = ",;\t"
COLUMNS: Final = ("name", "kind", "state", "until", "price")
"""The columns of the template."""
REQUIRED: Final = COLUMNS[:2]
DATED: Final = ("from", "until", "expiry")
HEADINGS: Final = {
    "name": "name, item, item name, title, product, product name, description, instrument, "
    "instruments, equipment, device, reagent, reagents, chemical, chemical name, compound, "
    "antibody, material, resource",
    "kind": "kind, type, item type, category title, category, class",
    "state": "state, status title, status, availability",
    "quantity": "quantity, qty, stock, in stock, amount, on hand, quantity in stock, amount left",
    "from": "from, booked from, reserved from, start, start date, booking start, begin",
    "until": "until, booked until, reserved until, booked to, to, end, end date, booking end",
    "expiry": "expiry, expiry date, expiration date, expiration, expires, expires on, exp date, "
    "use by, best before",
    "price": "price, unit price, cost, unit cost, list price, price per unit",
}
"""Headings of each field, the most fitting first."""
_FIELD_OF: Final = {word: field for field, row in HEADINGS.items() for word in row.split(", ")}
_ID: Final = re.compile(r"#?[A-Za-z]{0,4}[-_ ./]?[0-9][0-9._-]*|[0-9a-fA-F-]{32,}")


def heading_key(heading: str) -> str:
    """Return a heading in the form in which headings are compared: ``Price (EUR)`` is ``price``."""
    return label_key(re.sub(r"[(\[].*?[)\]]|[_\-./:*#]", " ", heading))


def source_of(name: str) -> str:
    """Return a file's name for messages."""
    return on_one_line(shortened(name)).strip() or "the file"


def read_table(data: bytes, name: str, heading: int | None = None) -> Table:
    """Return a file's cells as texts, without its empty rows and columns.

    The headings are in the row ``heading``, by default the one with the most names of fields;
    ``attrs["heading"]`` holds it. The index holds the row numbers of the spreadsheet. A column
    without a heading is called by its letter (``column F``).

    Raises:
        TableError: the file is too large, damaged, empty, or of another kind.
    """
    try:
        rows = _workbook_rows(data) if _ending(data, name) == "xlsx" else _text_rows(data)
        return _frame(rows, heading)
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
        problem = f"the file has more than {limits.MOST_SHEET_BYTES:,} bytes: {len(data):,}"
        raise _RefusedError(problem, "keep the table alone, without pictures and other sheets")
    if not data.strip():
        raise _RefusedError("the file is empty", "write the headings and one item per row")
    if is_archive and ending != "xlsx":
        raise _RefusedError("the file is a workbook", "name it .xlsx")
    if ending == "xlsx" and not is_archive:
        problem = "the file is no Excel workbook, or has a password"
        raise _RefusedError(problem, "save it as .xlsx without a password, or name it .csv")
    return ending


_Rows: TypeAlias = dict[int, list[str]]
_ABOVE: Final = 20  # rows that may be above the headings


def _text_rows(data: bytes) -> _Rows:
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise _RefusedError("the text is not UTF-8", "save it as CSV UTF-8 or .xlsx", row) from None
    lines = [line for line in text[:20_000].splitlines() if line.strip()][:10] or [""]

    def headings(separator: str) -> tuple[int, int]:
        fields = max(_matches(line.replace('"', "").split(separator)) for line in lines)
        return fields, lines[0].count(separator)

    return _texts(_csv_rows(text, max(_SEPARATORS, key=headings)))


def _csv_rows(text: str, mark: str) -> Iterable[list[str]]:
    row, width = 1, 2
    broken = "a quotation mark is not closed", "close or delete it, or save the table as .xlsx"
    try:
        for texts in csv.reader(StringIO(text, newline=""), delimiter=mark, strict=True):
            # A cell of several lines with the separators of a whole row has swallowed a row.
            if any("\n" in cell and cell.count(mark) >= width for cell in texts):
                raise _RefusedError(*broken, row)
            yield texts
            row, width = row + 1, max(width, len(texts) - 1)
    except csv.Error:
        raise _RefusedError(*broken, row) from None


def _workbook_rows(data: bytes) -> _Rows:
    from openpyxl import load_workbook  # noqa: PLC0415 - slow to load

    try:
        with ZipFile(BytesIO(data)) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
        if unpacked <= limits.MOST_UNPACKED:
            book = load_workbook(BytesIO(data), read_only=True, data_only=True, keep_links=False)
            first = book.worksheets[0]
            first.reset_dimensions()  # a file may state fewer rows than it has
            return _texts(first.iter_rows(max_col=limits.MOST_SHEET_COLUMNS + 1, values_only=True))
    except _RefusedError:
        raise
    except Exception:  # noqa: BLE001 - openpyxl raises any error for a damaged part
        remedy = "open it in a spreadsheet program and save it again"
        raise _RefusedError("the workbook is damaged", remedy) from None
    problem = f"the workbook unpacks to {unpacked:,} bytes, more than {limits.MOST_UNPACKED:,}"
    raise _RefusedError(problem, "keep the table alone in a new workbook")


def _texts(rows: Iterable[Sequence[object]]) -> _Rows:
    """Return the filled rows by their numbers; refuse those above the limit with their count."""
    filled: _Rows = {}
    count = 0
    for number, row in enumerate(islice(rows, limits.MOST_COUNTED_ROWS + 2), start=1):
        if count > limits.MOST_SHEET_ROWS + _ABOVE:
            count += any(row)
        elif any(row) and any(texts := [*map(_cell_text, row[: limits.MOST_SHEET_COLUMNS + 1])]):
            count += 1
            filled[number] = texts
    if count > limits.MOST_SHEET_ROWS + _ABOVE:
        _refuse_rows(count - 1)
    return filled


def _refuse_rows(count: int) -> None:
    most, counted = limits.MOST_SHEET_ROWS, limits.MOST_COUNTED_ROWS
    has = f"more than {counted:,}" if count > counted else f"{count:,}"
    problem = f"{most:,} rows at most below the headings; this sheet has {has}"
    raise _RefusedError(problem, "keep the rows that your studies may need")


def _cell_text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, int | float) and not isinstance(cell, bool) and abs(cell) < 1e15:
        return f"{'-' if cell < 0 else ''}{number_text(cell)}"
    return str(cell).strip()


def _matches(row: Iterable[str]) -> int:
    return len({heading_key(cell) for cell in row} & _FIELD_OF.keys())


def _heading_row(rows: _Rows) -> int:
    """Return the row with the most names of fields: at least two, else the first of two cells."""
    first = [*rows][:_ABOVE]
    default = next((n for n in first if sum(map(bool, rows[n])) > 1), first[0])
    best = max(first, key=lambda number: _matches(rows[number]))
    is_better = _matches(rows[best]) > max(1, _matches(rows[default]))
    return best if is_better else default


def _frame(rows: _Rows, heading: int | None) -> Table:
    import pandas as pd  # noqa: PLC0415 - slow to load
    from openpyxl.utils import get_column_letter  # noqa: PLC0415 - slow to load

    top = heading if heading in rows else _heading_row(rows) if rows else 0
    rows = {number: row for number, row in rows.items() if number >= top}
    if len(rows) < 2:
        raise _RefusedError("the file holds no items", "write one item per row below the headings")
    if len(rows) > limits.MOST_SHEET_ROWS + 1:
        _refuse_rows(len(rows) - 1)
    columns = [*zip_longest(*rows.values(), fillvalue="")]
    filled = {place: texts for place, texts in enumerate(columns) if any(texts)}
    if max(filled) >= limits.MOST_SHEET_COLUMNS:
        problem = f"the table has more than {limits.MOST_SHEET_COLUMNS} columns"
        raise _RefusedError(problem, "delete the columns that are not needed")
    _refuse_two_tables(columns, top)
    table: dict[str, tuple[str, ...]] = {}
    for place, (first, *rest) in filled.items():
        title = " ".join(first.split()) or f"column {get_column_letter(place + 1)}"
        if label_key(title) in map(label_key, table):
            problem = f"two columns are called '{shortened(title)}'"
            raise _RefusedError(problem, "rename one of them", top)
        table[title] = tuple(rest)
    frame = pd.DataFrame(table, index=[*rows][1:], dtype=object)
    frame.attrs["heading"] = top
    return frame


def _refuse_two_tables(columns: Sequence[tuple[str, ...]], top: int) -> None:
    """Refuse two tables side by side: both name items, or all headings of one repeat."""
    tables = [[*group] for is_filled, group in groupby(columns, any) if is_filled]
    keys = [[heading_key(column[0]) for column in table] for table in tables]
    named = [table for table in keys if "name" in map(_FIELD_OF.get, table)]
    every = [key for table in keys for key in table if key]
    half = len(every) // 2
    if len(named) > 1 or (half > 1 and every[:half] == every[half:]):
        problem = "two tables are side by side"
        raise _RefusedError(problem, "keep one of them, or write one below the other", top)


def columns_of(frame: Table) -> dict[str, str]:
    """Return the headings that equal a field of an inventory, by that field."""
    headings = {label_key(heading): heading for heading in frame.columns}
    return {field: headings[field] for field in HEADINGS if field in headings}


def proposed_columns(frame: Table) -> dict[str, str]:
    """Return a heading for each field, as far as one fits; ids are no names, kinds or states."""
    headings = {heading_key(heading): heading for heading in reversed(frame.columns)}
    proposed: dict[str, str] = {}
    for field, words in HEADINGS.items():
        fitting = [headings[word] for word in words.split(", ") if word in headings]
        if field in ("name", "kind", "state"):
            number = [h for h in fitting if _all_match(frame[h], cells.NUMBER)]
            ids = [h for h in fitting if h not in number and _all_match(frame[h], _ID)]
            fitting = [h for h in fitting if h not in number and h not in ids] + ids
        if fitting:
            proposed[field] = fitting[0]
    return proposed


def _all_match(column: Iterable[str], pattern: re.Pattern[str]) -> bool:
    return all(pattern.fullmatch(text) for text in column if text)


def read_inventory(
    data: bytes, name: str, notes: list[CellFault] | None = None
) -> tuple[OwnItem, ...]:
    """Return the items of a file whose columns are fields, in its order.

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
            problem = f"{quoted(texts.iloc[0])} is in no column of an inventory"
            remedy = known_names(shortened(label_key(heading)), [*HEADINGS])
            place = on_one_line(shortened(heading))
            faults.append(CellFault(int(texts.index.to_list()[0]), place, problem, remedy))
    _refuse(name, faults)
    chosen = frame[[*columns.values()]].set_axis([*columns], axis=1)
    reading = read_items(chosen, name, Answers(numbers="days"))
    if notes is not None:
        notes.extend(reading.notes)
    return reading.items


class Reading(NamedTuple):
    """The items of a sheet, and notes on cells that were not taken as they are."""

    items: tuple[OwnItem, ...]
    notes: list[CellFault]


class _Row(NamedTuple):
    number: int
    item: OwnItem
    first: float
    last: float
    expiry: float


class Questions(NamedTuple):
    """The open questions about the dates of a sheet."""

    dates: bool
    order: bool
    numbers: bool


def questions(frame: Table) -> Questions:
    """Return whether a sheet has dates, dates of either order, and numbers among them."""
    texts = [unguarded(text) for text in _dated(frame)]
    dates = [cells.dates_of(text) for text in texts]
    is_number = [bool(cells.NUMBER.fullmatch(text)) for text in texts]
    either = any(len({*found.values()}) > 1 for found in dates)
    return Questions(
        dates=any(dates),
        order=either and _order(frame) is None,
        numbers=any(n and not found for n, found in zip(is_number, dates, strict=True)),
    )


def _dated(frame: Table) -> list[str]:
    return [text for field in DATED if field in frame for text in frame[field] if text]


def _order(frame: Table) -> bool | None:
    """Return whether the day comes first, if the dates of a sheet allow only one order."""
    dates = [found for text in _dated(frame) if (found := cells.dates_of(unguarded(text)))]
    orders = {True, False}.intersection(*dates)
    return orders.pop() if len(orders) == 1 else None


def read_items(frame: Table, name: str, how: Answers = Answers()) -> Reading:  # noqa: B008
    """Return the items of a table whose columns are fields; raises TableError likewise.

    Rows of one item with bookings are its periods.
    """
    if how.day_first is None:
        how = how._replace(day_first=_order(frame))
    signs = [sign for text in frame.get("price", ()) if (sign := cells.sign_of(text))]
    how = how._replace(currency=how.currency if how.currency != CREDITS else "")
    how = how._replace(currency=how.currency or (signs or [""])[0])
    faults: list[CellFault] = []
    notes: list[CellFault] = []
    by_label: dict[str, list[_Row]] = defaultdict(list)
    for number, texts in zip(map(int, frame.index), frame.to_dict("records"), strict=True):
        values: dict[str, object] = {}
        for field in HEADINGS:
            text = str(texts.get(field) or "").strip()
            try:
                values[field] = cells.read_cell(field, text, how)
            except ValueError as error:
                faults.append(CellFault(number, field, *error.args))
                continue
            if field == "price" and text and values[field] is None:
                unit = f" in {how.currency}" if how.currency else ""
                problem = f"{quoted(text)} is no price of one item{unit}"
                notes.append(CellFault(number, field, problem, "its price is missing"))
        if len(values) == len(HEADINGS):
            row, fault = _row(number, values, has_states="state" in frame)
            faults += [fault] if fault else []
            by_label[label_key(row.item.label)].append(row)
    items = []
    for rows in by_label.values():
        faults += _repeated(rows)
        item, more = _in_periods(rows, how)
        items.append(item)
        notes += more
    if len(items) > limits.MOST_OWN_ITEMS:
        problem = f"{limits.MOST_OWN_ITEMS} items at most; this sheet has {len(items)}"
        faults.insert(0, CellFault(None, "", problem, "keep those that your studies name"))
    _refuse(name, sorted(faults, key=lambda fault: fault.row or 0))
    return Reading(tuple(items), notes)


def _row(
    number: int, values: dict[str, object], *, has_states: bool
) -> tuple[_Row, CellFault | None]:
    first, last, expiry = (values[field] for field in DATED)
    state, fault = values["state"], None
    field, day = ("from", first) if last is None else ("until", last)
    if day is not None and state != ItemState.BOOKED:
        if has_states:
            problem = f"day {day} is given, but the item is not {ItemState.BOOKED}"
            remedy = f"write {ItemState.BOOKED} as its state, or leave the day empty"
            fault = CellFault(number, field, problem, remedy)
        state = ItemState.BOOKED
    if values["quantity"] is ItemState.OUT_OF_STOCK or state is None:
        state = values["quantity"] or state
    begins = -inf if first is None else float(str(first))
    ends = inf if last is None else float(str(last))
    if ends < begins:
        problem = f"day {last} is before the first day {first}"
        fault = CellFault(number, "until", problem, "correct one of the two")
    item = OwnItem.model_validate(
        {"label": values["name"], "category": values["kind"], "state": state}
        | {"price": values["price"]}
    )
    expires = inf if expiry is None else float(str(expiry))
    return _Row(number, item, begins, ends, expires), fault


def _repeated(rows: Sequence[_Row]) -> list[CellFault]:
    first, *others = rows
    return [
        CellFault(
            row.number,
            "name",
            f"{quoted(row.item.label)} is in row {first.number} already",
            "list it once",
        )
        for row in others
        if {first.item.state, row.item.state} != {ItemState.BOOKED}
        or (first.item.category, first.item.price) != (row.item.category, row.item.price)
    ]


def _in_periods(rows: Sequence[_Row], how: Answers) -> tuple[OwnItem, list[CellFault]]:
    """Return an item with its state on the start day, and notes on its later days."""
    number, item = rows[0][:2]
    expiry = min(row.expiry for row in rows)
    notes: list[tuple[str, str]] = []
    if item.state is ItemState.BOOKED:
        until, reached = 0.0, how.start_day - 1.0
        for row in sorted(rows, key=lambda row: row.first):
            if row.first <= reached + 1:
                until, reached = max(until, row.last), max(reached, row.last)
            elif row.first <= how.last_day:
                to = f" to {row.last:.0f}" if row.last < inf else ""
                notes.append((f"{quoted(item.label)} is booked from day {row.first:.0f}{to}", ""))
        state = ItemState.BOOKED if until >= 1 else ItemState.AVAILABLE
        day = int(until) if 1 <= until < inf else None
        item = item.model_copy(update={"state": state, "until": day})
    if expiry <= how.start_day:
        notes = [(f"{quoted(item.label)} has expired", "out of stock")]
        item = item.model_copy(update={"state": ItemState.OUT_OF_STOCK, "until": None})
    elif expiry <= how.last_day:
        notes.append((f"{quoted(item.label)} expires on day {expiry:.0f}", ""))
    later = "a plan that begins or ends then cannot use it"
    return item, [CellFault(number, "", problem, end or later) for problem, end in notes]


def rows_named(frame: Table, pack: Pack) -> Table:
    """Return the rows of the items that a study or its lab knows."""
    known = {*map(label_key, pack.known_items)}
    return frame[[label_key(str(label)) in known for label in frame["name"]]]


def _refuse(name: str, faults: list[CellFault]) -> None:
    if faults:
        raise TableError(
            source_of(name), faults[: limits.MOST_FAULTS], len(faults[limits.MOST_FAULTS :])
        )


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
