"""A lab's inventory as a table: what may stand in each column, read back and written.

Nothing is half-taken: a file is read as a whole, or refused with each fault by row and column.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import Final, TypeVar

from replicalab.characters import on_one_line
from replicalab.errors import CellFault, TableError
from replicalab.lexicon import joined, label_key, shortened
from replicalab.models import LARGEST_COUNT, LONGEST_LABEL
from replicalab.scenarios import MOST, MOST_OWN_ITEMS, Guesser, ItemState, OwnItem, Pack
from replicalab.tables.sheet import (
    LONGEST_QUOTED,
    SheetRow,
    Value,
    column_at,
    number_of,
    quoted_cell,
    require_readable,
    require_short,
    sheet,
    unguarded,
)

COLUMNS: Final = ("name", "kind", "state", "until", "price")
REQUIRED: Final = COLUMNS[:2]
KINDS: Final = ("equipment", "reagent")
STATES: Final = tuple(state.value for state in ItemState)

MOST_BYTES: Final = 2 * 2**20
"""The largest file that is read, 2 MiB; a full inventory has some 30 KiB."""
MOST_TOLD: Final = 20
"""Of more faults than these, the rest are only counted."""
SUFFIXES: Final = ("csv", "tsv", "txt", "xlsx")
"""How the names of files end that are read; all but the last are text."""

T = TypeVar("T")


def read_inventory(data: bytes, name: str) -> tuple[OwnItem, ...]:
    """Return the items of a lab that a file lists, in its order.

    Raises:
        TableError: with every fault, by row and column, and its remedy.
    """
    source = on_one_line(shortened(name, LONGEST_QUOTED)).strip() or "the file"
    rows = _rows(data, name, source)
    if not rows:
        remedy = "write the items below the columns " + joined(COLUMNS)
        raise TableError(source, [CellFault(None, "", "the file holds no rows", remedy)])
    header, *rest = rows
    for place, cell in enumerate(header.cells):
        try:
            require_readable(cell)
        except ValueError as error:  # the file is in another encoding, or no table
            fault = CellFault(header.number, column_at(place), *error.args)
            raise TableError(source, [fault]) from None
    columns, faults = _columns(header)
    if not faults and len(rest) > MOST_OWN_ITEMS:
        problem = f"the file lists {len(rest):,} items"
        remedy = f"keep those that your studies may need, {MOST_OWN_ITEMS} at most"
        faults = [CellFault(None, "", problem, remedy)]
    elif not faults and not rest:
        problem = "no item stands below this row"
        faults = [CellFault(header.number, "", problem, "write one item a row")]
    if faults:
        raise _refusal(source, faults)
    reading = _Reading(columns)
    items = [item for row in rest if (item := reading.item(row))]
    if reading.faults:
        raise _refusal(source, reading.faults)
    return tuple(items)


def _rows(data: bytes, name: str, source: str) -> list[SheetRow]:
    from replicalab.tables.reading import csv_rows, workbook_rows  # noqa: PLC0415 - pandas, late

    ending = PurePath(name).suffix.casefold().removeprefix(".")
    packed, old = data.startswith(b"PK\x03\x04"), data.startswith(b"\xd0\xcf\x11\xe0")
    problem, remedy = "", "save it as CSV or .xlsx"
    if not data:
        return []
    if ending not in SUFFIXES:
        said = on_one_line(shortened(ending))
        problem = f"'.{said}' files are not read" if said else "its name has no ending"
    elif len(data) > MOST_BYTES:
        problem = f"the file has {len(data):,} bytes, more than the {MOST_BYTES:,} allowed"
        remedy = "keep the table alone, without pictures and other sheets"
    elif old:
        problem = "the file has a password, or is of an old Excel"
        remedy = "save it without a password, as .xlsx or CSV"
    elif ending != "xlsx" and packed:
        problem, remedy = "the file is a workbook and no text", "save it as CSV, or name it .xlsx"
    elif ending == "xlsx" and not packed:
        problem, remedy = "the file is no Excel workbook", "save it as .xlsx, or name it .csv"
    if problem:
        raise TableError(source, [CellFault(None, "", problem, remedy)])
    return (workbook_rows if ending == "xlsx" else csv_rows)(data, source)


def _refusal(source: str, faults: Sequence[CellFault]) -> TableError:
    return TableError(source, faults[:MOST_TOLD], max(0, len(faults) - MOST_TOLD))


def _columns(header: SheetRow) -> tuple[dict[str, int], list[CellFault]]:
    """Return where each column stands, and what is wrong with their names."""
    found: dict[str, int] = {}
    faults: list[CellFault] = []
    guesser = Guesser()
    for place, cell in enumerate(header.cells):
        try:
            if not (column := _key(cell)):
                continue
            if column not in COLUMNS:
                remedy = guesser.remedy(shortened(column), COLUMNS)
                raise ValueError(f"{quoted_cell(column)} is no column here", remedy)
            if column in found:
                raise ValueError(f"a second column is called '{column}'", "keep one of the two")
            found[column] = place
        except ValueError as error:
            faults.append(CellFault(header.number, column_at(place), *error.args))
    if not found:
        problem, remedy = "the first row names no column", "name them: " + ", ".join(COLUMNS)
        return found, [CellFault(header.number, "", problem, remedy)]
    for column in REQUIRED:
        if column not in found:
            faults += [CellFault(header.number, column, "this column is missing", "add it")]
    return found, faults


def _key(cell: object) -> str:
    """Return a name or a choice as it is compared: whatever its casing, spaces, hyphens, lines."""
    return label_key(str(cell).replace("_", " ").replace("-", " "))


class _Reading:
    """Reads the rows below a header, and gathers what is wrong in them."""

    def __init__(self, columns: dict[str, int]) -> None:
        self.faults: list[CellFault] = []
        self._columns = columns
        self._guesser = Guesser()
        self._seen: dict[str, int] = {}

    def item(self, row: SheetRow) -> OwnItem | None:
        """Return the item of a row, None where anything is wrong with it."""
        before = len(self.faults)
        self._require_named_columns(row)
        label = self._taken(row, "name", self._label)
        category = self._taken(row, "kind", self._one_of(KINDS))
        state = self._taken(row, "state", self._one_of(STATES))
        until = self._taken(row, "until", _day)
        price = self._taken(row, "price", _price)
        faulty = {fault.column for fault in self.faults[before:]}
        if until is not None and state != ItemState.BOOKED and "state" not in faulty:
            problem = f"a day stands here, and the item is not {ItemState.BOOKED}"
            remedy = f"write {ItemState.BOOKED} as its state, or leave the day empty"
            self._add(row, "until", problem, remedy)
        first = self._seen.setdefault(label_key(label), row.number) if label else row.number
        if first != row.number:
            problem = f"{quoted_cell(label)} stands in row {first} already"
            self._add(row, "name", problem, "list it once")
        if len(self.faults) > before:
            return None
        return OwnItem.model_validate(
            {"label": label, "category": category, "state": state, "until": until, "price": price}
        )

    def _add(self, row: SheetRow, column: str, problem: str, remedy: str) -> None:
        self.faults.append(CellFault(row.number, column, problem, remedy))

    def _taken(self, row: SheetRow, column: str, read: Callable[[object], T]) -> T | None:
        """Return what a cell says, None where it is empty or wrong."""
        place = self._columns.get(column, len(row.cells))
        cell = row.cells[place] if place < len(row.cells) else ""
        try:
            if cell != "" and (not isinstance(cell, str) or cell.strip()):
                require_readable(cell)
                return read(cell)
            if column in REQUIRED:
                raise ValueError("it is empty", "write one")
        except ValueError as error:
            self._add(row, column, *error.args)
        return None

    def _require_named_columns(self, row: SheetRow) -> None:
        named = {*self._columns.values()}
        for place, cell in enumerate(row.cells):
            if place not in named and str(cell).strip():
                problem = f"{quoted_cell(cell)} stands under no column"
                remedy = "remove it; a value that holds a separator goes in quotes"
                self._add(row, column_at(place), problem, remedy)

    @staticmethod
    def _label(cell: object) -> str:
        if isinstance(cell, str):
            label = unguarded(cell.strip()).strip()
            require_short(label, LONGEST_LABEL)
            return label
        raise ValueError(f"{quoted_cell(cell)} is a number", "write it as text")

    def _one_of(self, known: Sequence[str]) -> Callable[[object], str]:
        def read(cell: object) -> str:
            if (key := _key(cell)) in known:
                return key
            problem = f"{quoted_cell(cell)} is not known here"
            raise ValueError(problem, self._guesser.remedy(shortened(key), known))

        return read


def _day(cell: object) -> int:
    day = number_of(cell, "12")
    if day != int(day):
        raise ValueError(f"{quoted_cell(cell)} is no whole day", "write one such as 12")
    if day > LARGEST_COUNT:
        raise ValueError(f"{quoted_cell(cell)} is too far away", f"write at most {LARGEST_COUNT}")
    return int(day)


def _price(cell: object) -> float:
    price = number_of(cell, "12.5")
    if price > MOST:
        raise ValueError(f"{quoted_cell(cell)} is too large", f"write at most {MOST}")
    return float(price)


# --- the template -------------------------------------------------------------------------------


def inventory_template(pack: Pack) -> str:
    """Return what a lab has of its study's items as CSV, to be changed and read back."""
    return sheet(COLUMNS, [_row(pack, *item) for item in _items(pack)])


def _items(pack: Pack) -> Iterator[tuple[str, str]]:
    """Yield each item that a plan may list here, with its kind: needed, replacing, and others."""
    study, lab = pack.study, pack.lab
    seen: set[str] = set()
    for kind, needed, others in (
        (KINDS[0], study.equipment, lab.equipment),
        (KINDS[1], study.reagents, lab.reagents),
    ):
        keys = {*map(label_key, needed)}
        swaps = [
            swap.alternative for swap in study.substitutions if label_key(swap.original) in keys
        ]
        for label in (*needed, *swaps, *others):
            if label_key(label) not in seen:
                seen.add(label_key(label))
                yield label, kind


def _row(pack: Pack, label: str, kind: str) -> list[Value]:
    key, lab = label_key(label), pack.lab
    booked = {label_key(item): day for item, day in lab.booked.items()}
    prices = {label_key(item): price for item, price in lab.prices.items()}
    state, until = ItemState.AVAILABLE, None
    if key in map(label_key, lab.out_of_stock):
        state = ItemState.OUT_OF_STOCK
    elif key in booked:
        state, until = ItemState.BOOKED, booked[key]
    return [label, kind, state.value, "" if until is None else until, prices.get(key, "")]
