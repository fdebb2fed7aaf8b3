"""A lab's list of items from CSV or Excel: read, with faults by row and column, and written."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from io import BytesIO, StringIO
from itertools import groupby, islice, zip_longest
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias
from zipfile import ZipFile

from pydantic import ValidationError

from replicalab import limits, tables
from replicalab.characters import on_one_line
from replicalab.errors import CellFault, TableError
from replicalab.features.sheets import cells
from replicalab.features.sheets.cells import Answers, Problem, quoted
from replicalab.lexicon import CREDITS, label_key, shortened
from replicalab.scenarios import ItemState, OwnItem, Pack, known_names
from replicalab.scenarios.reading import record_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd

Table: TypeAlias = "pd.DataFrame"
_Rows: TypeAlias = "dict[int, list[str]]"
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
_PARTS: Final = {"label": "name", "category": "kind", "state": "state", "price": "price"}
_ID: Final = re.compile(r"#?[A-Za-z]{0,4}[-_ ./]?[0-9][0-9._-]*|[0-9a-fA-F-]{32,}")
_ABOVE: Final = 20  # rows that may be above the headings


def _heading_key(heading: str) -> str:
    """Return a heading in the form in which headings are compared: ``Price (EUR)`` is ``price``."""
    return label_key(re.sub(r"[(\[].*?[)\]]|[_\-./:*#]", " ", heading))


def _refuse(name: str, faults: list[CellFault]) -> None:
    if faults:
        source = on_one_line(shortened(name)).strip() or "the file"
        faults.sort(key=lambda fault: (fault.row or 0, fault.column))
        most = limits.MOST_FAULTS
        raise TableError(source, faults[:most], len(faults[most:])) from None


def read_table(data: bytes, name: str, heading: int | None = None) -> Table:
    """Return a file's cells as texts, without its empty rows and columns.

    The headings are in the row ``heading``, by default the one with the most names of fields;
    ``attrs["heading"]`` holds it. The index holds the row numbers of the spreadsheet. A column
    without a heading is called by its letter (``column F``).

    Raises:
        TableError: the file is too large, damaged, empty, or of another kind.
    """
    try:
        if len(data) > limits.MOST_SHEET_BYTES:
            problem = f"the file has more than {limits.MOST_SHEET_BYTES:,} bytes: {len(data):,}"
            raise Problem(problem, "keep the table alone, without pictures and other sheets")
        is_workbook = data.startswith(b"PK\x03\x04") or name.casefold().endswith(".xlsx")
        rows = _workbook_rows(data) if is_workbook else _text_rows(data)
        return _frame(_filled(rows), heading)
    except Problem as refused:
        problem, remedy, *row = refused.args
        _refuse(name, [CellFault(row[0] if row else None, "", problem, remedy)])
        raise


def _text_rows(data: bytes) -> Iterator[list[str]]:
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise Problem("the text is not UTF-8", "save it as CSV UTF-8 or .xlsx", row) from None
    lines = [line for line in text[:20_000].splitlines() if line.strip()][:10] or [""]

    def headings(mark: str) -> tuple[int, int]:
        fields = max(_matches(line.replace('"', "").split(mark)) for line in lines)
        return fields, lines[0].count(mark)

    mark, row, width = max(",;\t", key=headings), 1, 2
    broken = "a quotation mark is not closed", "close or delete it, or save the table as .xlsx"
    try:
        for texts in csv.reader(StringIO(text, newline=""), delimiter=mark, strict=True):
            # A cell of several lines with the separators of a whole row has swallowed a row.
            if any("\n" in cell and cell.count(mark) >= width for cell in texts):
                raise Problem(*broken, row)
            yield texts
            row, width = row + 1, max(width, len(texts) - 1)
    except csv.Error:
        raise Problem(*broken, row) from None


def _workbook_rows(data: bytes) -> Iterator[tuple[object, ...]]:
    from openpyxl import load_workbook  # noqa: PLC0415 - slow to load

    try:
        with ZipFile(BytesIO(data)) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
        if unpacked > (most := limits.MOST_UNPACKED):
            problem = f"the workbook unpacks to {unpacked:,} bytes, more than {most:,}"
            raise Problem(problem, "keep the table alone in a new workbook")
        book = load_workbook(BytesIO(data), read_only=True, data_only=True, keep_links=False)
        first = book.worksheets[0]
        first.reset_dimensions()  # a file may state fewer rows than it has
        yield from first.iter_rows(max_col=limits.MOST_SHEET_COLUMNS + 1, values_only=True)
    except Problem:
        raise
    except Exception:  # noqa: BLE001 - openpyxl raises any error for a damaged part
        remedy = "open it in a spreadsheet program and save it as .xlsx without one"
        raise Problem("the workbook is damaged or has a password", remedy) from None


def _filled(rows: Iterable[Sequence[object]]) -> _Rows:
    """Return the filled rows by their numbers; those beyond the limit without their cells."""
    filled: _Rows = {}
    for number, row in enumerate(islice(rows, limits.MOST_COUNTED_ROWS + 2), start=1):
        if any(texts := [*map(_cell_text, row[: limits.MOST_SHEET_COLUMNS + 1])]):
            filled[number] = texts if len(filled) <= limits.MOST_SHEET_ROWS + _ABOVE else []
    return filled


def _cell_text(cell: object) -> str:
    if isinstance(cell, int | float) and not isinstance(cell, bool) and abs(cell) < 1e15:
        return f"{'-' if cell < 0 else ''}{tables.number_text(cell)}"
    return "" if cell is None else str(cell).strip()


def _matches(row: Iterable[str]) -> int:
    return len({*map(_heading_key, row)} & _FIELD_OF.keys())


def _heading_row(rows: _Rows) -> int:
    """Return the row with the most names of fields: at least two, else the first of two cells."""
    first = [*rows][:_ABOVE]
    default = next((n for n in first if sum(map(bool, rows[n])) > 1), first[0])
    best = max(first, key=lambda number: _matches(rows[number]))
    return best if _matches(rows[best]) > max(1, _matches(rows[default])) else default


def _frame(rows: _Rows, heading: int | None) -> Table:
    import pandas as pd  # noqa: PLC0415 - slow to load
    from openpyxl.utils import get_column_letter  # noqa: PLC0415 - slow to load

    most, counted = limits.MOST_SHEET_ROWS, limits.MOST_COUNTED_ROWS
    top = heading if heading in rows else _heading_row(rows) if rows else 0
    below = sum(number > top for number in rows)
    if not below:
        raise Problem("the file holds no items", "write one item per row below the headings")
    if below > most or not all(rows.values()):
        has = f"more than {counted:,}" if below > counted else f"{below:,}"
        problem = f"{most:,} rows at most below the headings; this sheet has {has}"
        raise Problem(problem, "keep the rows that your studies may need")
    columns = dict(enumerate(zip_longest(*rows.values(), fillvalue="")))
    frame = pd.DataFrame(columns, [*rows], dtype=object).loc[top:]
    filled = (frame != "").any()
    if filled[limits.MOST_SHEET_COLUMNS :].any():
        problem = f"the table has more than {limits.MOST_SHEET_COLUMNS} columns"
        raise Problem(problem, "delete the columns that are not needed")
    keys = frame.loc[top].map(_heading_key)
    # Of two tables side by side, both name items, or all headings of one repeat.
    parts = [[*group] for is_filled, group in groupby(keys.index, filled.get) if is_filled]
    named = [part for part in parts if "name" in keys[part].map(_FIELD_OF.get).array]
    every = [*filter(None, keys)]
    half = len(every) // 2
    if len(named) > 1 or (half > 1 and every[:half] == every[half:]):
        problem = "two tables are side by side"
        raise Problem(problem, "keep one of them, or write one below the other", top)
    places = [place for place, is_filled in enumerate(filled) if is_filled]
    titles = [
        " ".join(text.split()) or f"column {get_column_letter(place + 1)}"
        for place, text in zip(places, frame.loc[top, places], strict=True)
    ]
    same = [*map(label_key, titles)]
    if repeated := [title for title in titles if same.count(label_key(title)) > 1]:
        problem = f"two columns are called '{shortened(repeated[0])}'"
        raise Problem(problem, "rename one of them", top)
    frame = frame.iloc[1:, places].set_axis(titles, axis=1)
    frame.attrs["heading"] = top
    return frame


def proposed_columns(frame: Table) -> dict[str, str]:
    """Return a heading for each field, as far as one fits; ids are no names, kinds or states."""
    headings: dict[str, str] = {_heading_key(text): text for text in reversed(frame.columns)}
    proposed: dict[str, str] = {}
    for field, words in HEADINGS.items():
        fitting = [headings[word] for word in words.split(", ") if word in headings]
        if field in ("name", "kind", "state"):
            fitting = [h for h in fitting if not _all_match(frame[h], cells.NUMBER)]
            ids = [h for h in fitting if _all_match(frame[h], _ID)]
            fitting = [h for h in fitting if h not in ids] + ids
        if fitting:
            proposed[field] = fitting[0]
    return proposed


def _all_match(column: Iterable[str], pattern: re.Pattern[str]) -> bool:
    return all(pattern.fullmatch(text) for text in column if text)


class Reading(NamedTuple):
    """The items of a sheet, and notes on cells that were not taken as they are."""

    items: tuple[OwnItem, ...]
    notes: list[CellFault]


def read_inventory(data: bytes, name: str) -> Reading:
    """Read a file whose columns are fields.

    Raises:
        TableError: every fault by row and column, with its remedy.
    """
    frame = read_table(data, name)
    fields = {heading: label_key(heading) for heading in frame.columns}
    missing = {*REQUIRED}.difference(fields.values())
    faults = [CellFault(None, field, "this column is missing", "add it") for field in missing]
    for heading, field in fields.items():
        filled = frame[heading][frame[heading] != ""]
        if len(filled) and field not in HEADINGS:
            problem = f"{quoted(filled.iloc[0])} is in no column of an inventory"
            remedy = known_names(shortened(field), [*HEADINGS])
            place = on_one_line(shortened(heading))
            faults.append(CellFault(int(filled.index[0]), place, problem, remedy))
    _refuse(name, faults)
    return read_items(frame.set_axis([*fields.values()], axis=1), name, Answers(numbers="days"))


class Questions(NamedTuple):
    """Whether a sheet has dates, dates of either order, and numbers among them."""

    dates: bool
    order: bool
    numbers: bool
    day_first: bool | None  # if its dates allow only one order


def questions(frame: Table) -> Questions:
    """Return the open questions about the dates of a sheet."""
    texts = [text for field in DATED if field in frame for text in frame[field] if text]
    dates = {text: cells.dates_of(text) for text in map(tables.unguarded, texts)}
    orders = {True, False}.intersection(*filter(None, dates.values()))
    return Questions(
        dates=any(dates.values()),
        order=len(orders) != 1 and any(len({*found.values()}) > 1 for found in dates.values()),
        numbers=any(cells.NUMBER.fullmatch(text) and not dates[text] for text in dates),
        day_first=orders.pop() if len(orders) == 1 else None,
    )


class _Row(NamedTuple):
    number: int
    item: OwnItem
    first: float
    last: float
    expiry: float


def read_items(frame: Table, name: str, how: Answers = Answers()) -> Reading:  # noqa: B008
    """Read a table whose columns are fields; rows of one item with bookings are its periods.

    Raises:
        TableError: every fault by row and column, with its remedy.
    """
    if how.day_first is None:
        how = how._replace(day_first=questions(frame).day_first)
    signs = [sign for text in frame.get("price", ()) if (sign := cells.money_of(text)[0])]
    own = how.currency if how.currency != CREDITS else ""
    how = how._replace(currency=own or next(iter(signs), ""))
    faults: list[CellFault] = []
    notes: list[CellFault] = []
    by_label: dict[str, list[_Row]] = defaultdict(list)
    for number, texts in zip(map(int, frame.index), frame.to_dict("records"), strict=True):
        if row := _row(number, texts, how, faults):
            by_label[label_key(row.item.label)].append(row)
        if row and row.item.price is None and (price := texts.get("price", "").strip()):
            unit = f" in {how.currency}" if how.currency else ""
            problem = f"{quoted(price)} is no price of one item{unit}"
            notes.append(CellFault(number, "price", problem, "its price is missing"))
    for first, *others in by_label.values():
        for other in others:
            same = first.item.model_copy(update={"label": other.item.label})
            if other.item.state != ItemState.BOOKED or other.item != same:
                problem = f"{quoted(other.item.label)} is in row {first.number} already"
                faults.append(CellFault(other.number, "name", problem, "list it once"))
    if len(by_label) > limits.MOST_OWN_ITEMS:
        problem = f"{limits.MOST_OWN_ITEMS} items at most; this sheet has {len(by_label)}"
        faults.append(CellFault(None, "", problem, "keep those that your studies name"))
    _refuse(name, faults)
    return Reading(tuple(_in_periods(rows, how, notes) for rows in by_label.values()), notes)


def _row(
    number: int, texts: Mapping[Any, str], how: Answers, faults: list[CellFault]
) -> _Row | None:
    values: dict[str, Any] = dict.fromkeys(HEADINGS) | cells.EMPTY
    wrong: dict[str, Sequence[str]] = {}
    for field, text in texts.items():
        try:
            values[field] = cells.read_cell(field, text.strip(), how)
        except Problem as refused:
            wrong[field] = refused.args
    try:
        item = OwnItem.model_validate({part: values[field] for part, field in _PARTS.items()})
    except ValidationError as error:
        for fault in record_error(error, OwnItem, "").faults:
            wrong.setdefault(_PARTS[fault.path], (fault.problem, fault.remedy))
    first, last, expiry = (values[field] for field in DATED)
    field, day = ("until", last) if isfinite(last) else ("from", first)
    if last < first:
        wrong["until"] = f"day {last} is before the first day {first}", "correct one of the two"
    if not wrong and isfinite(day) and item.state != ItemState.BOOKED:
        if "state" in texts:
            problem = f"day {day} is given, but the item is not booked"
            wrong[field] = problem, "write booked as its state, or leave the day empty"
        item = item.model_copy(update={"state": ItemState.BOOKED})
    if wrong:
        faults.extend(CellFault(number, field, *args) for field, args in wrong.items())
        return None
    if values["quantity"] == ItemState.OUT_OF_STOCK or item.state is None:
        item = item.model_copy(update={"state": values["quantity"] or item.state})
    return _Row(number, item, first, last, expiry)


def _in_periods(rows: Sequence[_Row], how: Answers, notes: list[CellFault]) -> OwnItem:
    """Return an item with its state on the start day; later days become notes."""
    number, item = rows[0][:2]
    expiry, label = min(row.expiry for row in rows), quoted(item.label)
    later = "a plan that begins or ends then cannot use it"
    if item.state is ItemState.BOOKED and expiry > how.start_day:
        until, reached = 0.0, how.start_day - 1.0
        for row in sorted(rows, key=lambda row: row.first):
            if row.first <= reached + 1:
                until, reached = max(until, row.last), max(reached, row.last)
            elif row.first <= how.last_day:
                end = f" to {row.last}" if row.last < inf else ""
                notes.append(
                    CellFault(number, "", f"{label} is booked from day {row.first}{end}", later)
                )
        state = ItemState.BOOKED if until >= 1 else ItemState.AVAILABLE
        day = int(until) if 1 <= until < inf else None
        item = item.model_copy(update={"state": state, "until": day})
    if expiry <= how.start_day:
        notes.append(CellFault(number, "", f"{label} has expired", "out of stock"))
        return item.model_copy(update={"state": ItemState.OUT_OF_STOCK})
    if expiry <= how.last_day:
        notes.append(CellFault(number, "", f"{label} expires on day {expiry}", later))
    return item


def rows_named(frame: Table, pack: Pack) -> Table:
    """Return the rows of the items that a study or its lab knows."""
    known = {*map(label_key, pack.known_items)}
    return frame[[label_key(str(label)) in known for label in frame["name"]]]


def inventory_template(pack: Pack) -> str:
    """Return a lab's stock of its study's items as CSV, to be changed and read back."""
    study, lab = pack.study, pack.lab
    booked = {label_key(item): day for item, day in lab.booked.items()}
    prices = {label_key(item): price for item, price in lab.prices.items()}
    states = dict.fromkeys(booked, ItemState.BOOKED)
    states |= dict.fromkeys(map(label_key, lab.out_of_stock), ItemState.OUT_OF_STOCK)
    rows: dict[str, list[tables.Value]] = {}
    for kind in ("equipment", "reagents"):
        needed = getattr(study, kind)
        keys = {*map(label_key, needed)}
        swaps = [
            swap.alternative for swap in study.substitutions if label_key(swap.original) in keys
        ]
        for label in (*needed, *swaps, *getattr(lab, kind)):
            state = states.get(key := label_key(label), ItemState.AVAILABLE)
            until = booked[key] if state is ItemState.BOOKED else ""
            row = [label, kind.removesuffix("s"), state.value, until, prices.get(key, "")]
            rows.setdefault(key, row)
    return tables.sheet(COLUMNS, rows.values())
