"""The items of a lab's own sheet, read as its mapping says: what comes of each row, and why."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import NamedTuple, TypeVar

from replicalab.errors import CellFault, TableError
from replicalab.lexicon import label_key
from replicalab.scenarios import MOST_OWN_ITEMS, ItemState, OwnItem, SheetColumn, SheetMapping
from replicalab.scenarios.calendar import day_of
from replicalab.tables.opening import ItemTable
from replicalab.tables.row_reader import LEFT_OUT, RowReader, day_in, refusal, too_many
from replicalab.tables.sheet import SheetRow, quoted_cell, require_readable
from replicalab.tables.values import NOTHING, date_in, price_in, word_in

T = TypeVar("T")


class ReadRow(NamedTuple):
    """What came of a row.

    Attributes:
        number: as a spreadsheet counts it.
        label: what stands in the column of names.
        item: None where the row is not read.
        faults: why it cannot be read.
        day: the date that the end of its booking was worked out from.
        same_as: the row that says the same.
        left_out: the word, or the name, by which the mapping leaves it out.
    """

    number: int
    label: str
    item: OwnItem | None = None
    faults: tuple[CellFault, ...] = ()
    day: date | None = None
    same_as: int | None = None
    left_out: str = ""


def read_rows(table: ItemTable, mapping: SheetMapping) -> list[ReadRow]:
    """Return what comes of each row of a table."""
    reader = _MappedReader(table, mapping)
    return [reader.read(row) for row in table.rows]


def mapped_items(table: ItemTable, mapping: SheetMapping, source: str) -> tuple[OwnItem, ...]:
    """Return the items of a table that is read as a whole, but for what its mapping leaves out.

    Raises:
        TableError: with every fault, by row and column, and its remedy.
    """
    rows = read_rows(table, mapping)
    if faults := [fault for row in rows for fault in row.faults]:
        raise refusal(source, faults)
    items = items_of(rows)
    if len(items) > MOST_OWN_ITEMS:
        raise TableError(source, [too_many(len(items))])
    return items


def items_of(rows: Sequence[ReadRow]) -> tuple[OwnItem, ...]:
    """Return the items of the rows that are read, each once."""
    return tuple(row.item for row in rows if row.item and row.same_as is None)


class _MappedReader(RowReader):
    """Reads the rows of a table as its mapping says."""

    def __init__(self, table: ItemTable, mapping: SheetMapping) -> None:
        headings = mapping.columns.items()
        places = {column: table.place_of(heading) for column, heading in headings}
        super().__init__({name: place for name, place in places.items() if place is not None})
        self._mapping = mapping
        self._items: dict[str, tuple[int, OwnItem]] = {}
        self._without = {*map(label_key, mapping.without)}
        self._day: date | None = None

    def column_named(self, column: str) -> str:
        named = (heading for name, heading in self._mapping.columns.items() if name == column)
        return next(named, column)

    def read(self, row: SheetRow) -> ReadRow:
        """Return what comes of a row."""
        mapping, self.faults, self._day = self._mapping, [], None
        label = self.taken(row, "name", self.label, required=True)
        said = self._text(row, "name")
        if label_key(said) in self._without:
            return ReadRow(row.number, said, left_out=said)
        kind: str | None = mapping.kind
        if "kind" in mapping.columns:
            kind = self.taken(row, "kind", _meant(mapping.kind_of), required=True)
        state = self._cell(row, "state", _meant(mapping.state_of))
        if LEFT_OUT in (kind, state):
            column: SheetColumn = "kind" if kind == LEFT_OUT else "state"
            return ReadRow(row.number, said, left_out=self._text(row, column))
        until = self._until(row)
        price = self._cell(row, "price", self._price)
        standing = self._standing(row, state, until)
        if self.faults:
            return ReadRow(row.number, said, faults=tuple(self.faults))
        values = {"label": label, "category": kind, "state": standing, "price": price}
        until = until if standing == ItemState.BOOKED else None
        item = OwnItem.model_validate({**values, "until": until})
        number, first = self._items.setdefault(label_key(item.label), (row.number, item))
        if number == row.number:
            return ReadRow(row.number, said, item, day=self._day)
        if first == item.model_copy(update={"label": first.label}):
            return ReadRow(row.number, said, item, same_as=number)
        problem = f"{quoted_cell(label)} stands in row {number} already, and otherwise"
        self.add(row, "name", problem, "keep one of the two, or name them apart")
        return ReadRow(row.number, said, faults=tuple(self.faults))

    def _standing(self, row: SheetRow, state: str | None, until: int | None) -> str | None:
        """Return where an item stands; a day without a state, or after it, is a booking."""
        state = None if state == "not said" else state
        if until is None:
            return state
        if state in (None, ItemState.BOOKED):
            # Day 0 and before: the booking is over when the lab begins.
            return ItemState.BOOKED if until > 0 else ItemState.AVAILABLE
        if state == ItemState.AVAILABLE and until <= 0:
            return state
        column = "until" if "until" in self._mapping.columns else "free_from"
        problem = f"the item is {state}, and a day says until when it is booked"
        remedy = f"let {quoted_cell(self._text(row, 'state'))} mean booked, or correct the row"
        self.add(row, column, problem, remedy)
        return None

    def _until(self, row: SheetRow) -> int | None:
        """Return the last day on which an item is booked, of the lab's days."""
        until = self._cell(row, "until", self._day_of)
        free = self._cell(row, "free_from", self._day_of)
        return free - 1 if free is not None else until

    def _day_of(self, cell: object) -> int:
        self._day = day = date_in(cell, day_first=self._mapping.day_first)
        if day is None:
            require_readable(cell)
            if isinstance(cell, str) and not cell.strip().isdecimal():
                remedy = "write a day such as 12, or a date such as 2026-05-31"
                raise ValueError(f"{quoted_cell(cell)} is no day and no date", remedy)
            return day_in(cell)
        if self._mapping.first_day is None:
            problem = f"{quoted_cell(cell)} is a date, and day 1 has none"
            raise ValueError(problem, "say on which date the lab's day 1 falls")
        return day_of(day, self._mapping.first_day, weekends=self._mapping.weekends)

    def _price(self, cell: object) -> float:
        require_readable(cell)
        return price_in(cell, comma=self._mapping.comma, currency=self._mapping.currency)

    def _cell(self, row: SheetRow, column: str, read: Callable[[object], T]) -> T | None:
        """Return what a cell says of which a dash says nothing."""
        if self._text(row, column) in NOTHING:
            return None
        return self.taken(row, column, read, plain=False)

    def _text(self, row: SheetRow, column: str) -> str:
        return str(self.cell(row, column)).strip()


def _meant(words: Mapping[str, str]) -> Callable[[object], str]:
    """Return what reads a word as what it means."""

    def read(cell: object) -> str:
        if (word := word_in(cell)) in words:
            return words[word]
        problem = f"nothing says what {quoted_cell(cell)} means"
        raise ValueError(problem, "choose what it means, or correct the cell")

    return read
