"""A lab's inventory as a table: what may stand in each column, read back and written.

Nothing is half-taken: a file is read as a whole, or refused with each fault by row and column.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from replicalab.errors import CellFault, TableError
from replicalab.lexicon import joined, label_key, shortened
from replicalab.scenarios import (
    MOST,
    MOST_OWN_ITEMS,
    Guesser,
    ItemState,
    OwnItem,
    Pack,
    SheetMapping,
    word_key,
)
from replicalab.tables.mapped import mapped_items
from replicalab.tables.opening import OpenFile, checked_ending, open_file, source_of, table_for
from replicalab.tables.row_reader import RowReader, day_in, refusal, too_many
from replicalab.tables.sheet import (
    SheetRow,
    Value,
    column_at,
    number_of,
    quoted_cell,
    require_readable,
    sheet,
)

COLUMNS: Final = ("name", "kind", "state", "until", "price")
REQUIRED: Final = COLUMNS[:2]
KINDS: Final = ("equipment", "reagent")
STATES: Final = tuple(state.value for state in ItemState)


def read_inventory(
    data: bytes, name: str, mapping: SheetMapping | None = None
) -> tuple[OwnItem, ...]:
    """Return the items of a lab that a file lists, in its order.

    Args:
        data: the file.
        name: its name, by whose ending it is read.
        mapping: how a sheet of another form is read, such as `LabOverrides.sheet`; a file with the
            columns of `COLUMNS` is read without it.

    Raises:
        TableError: with every fault, by row and column, and its remedy.
    """
    found = open_inventory(data, name, western=mapping is not None and mapping.western)
    if found.refusal is None:
        return found.items
    if found.file and mapping and (table := table_for(found.file, mapping)):
        return mapped_items(table, mapping, found.file.source)
    raise found.refusal


class FoundInventory(NamedTuple):
    """What a file holds.

    Attributes:
        items: those of a file in the form of the template.
        file: the sheets of any other.
        refusal: why the file is not in that form, None where it is.
    """

    items: tuple[OwnItem, ...] = ()
    file: OpenFile | None = None
    refusal: TableError | None = None


def open_inventory(data: bytes, name: str, *, western: bool = True) -> FoundInventory:
    """Return the items of a file, or, where it is not in the form of the template, its sheets.

    Args:
        data: the file.
        name: its name, by whose ending it is read.
        western: whether a text that is not UTF-8 may be read as Windows-1252.

    Raises:
        TableError: it holds no table, or more than is read.
    """
    try:
        return FoundInventory(_strict(data, name))
    except TableError as error:
        # All that was read would be held with the error while the file is read again.
        refusal = error.with_traceback(None)
        refusal.__context__ = None
    try:
        return FoundInventory(file=open_file(data, name, western=western), refusal=refusal)
    except TableError:
        raise refusal from None


def has_template_columns(file: OpenFile) -> bool:
    """Return whether a file begins with the columns of the template that every item needs."""
    first = next(file.tables())
    return all(first.place_of(column) is not None for column in REQUIRED)


def _strict(data: bytes, name: str) -> tuple[OwnItem, ...]:
    """Return the items of a file in the form of the template."""
    source = source_of(name)
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
        faults = [too_many(len(rest))]
    elif not faults and not rest:
        problem = "no item stands below this row"
        faults = [CellFault(header.number, "", problem, "write one item a row")]
    if faults:
        raise refusal(source, faults)
    reading = _Reading(columns)
    items = [item for row in rest if (item := reading.item(row))]
    if reading.faults:
        raise refusal(source, reading.faults)
    return tuple(items)


def _rows(data: bytes, name: str, source: str) -> list[SheetRow]:
    if not data:
        return []
    if checked_ending(data, name) == "xlsx":
        from replicalab.tables.reading import workbook_rows  # noqa: PLC0415 - openpyxl, late

        return workbook_rows(data, source)
    from replicalab.tables.text_reading import csv_rows  # noqa: PLC0415 - pandas, late

    return csv_rows(data, source)


def _columns(header: SheetRow) -> tuple[dict[str, int], list[CellFault]]:
    """Return where each column stands, and what is wrong with their names."""
    found: dict[str, int] = {}
    faults: list[CellFault] = []
    guesser = Guesser()
    for place, cell in enumerate(header.cells):
        try:
            if not (column := word_key(str(cell))):
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


class _Reading(RowReader):
    """Reads the rows below a header in the form of the template."""

    def __init__(self, columns: dict[str, int]) -> None:
        super().__init__(columns)
        self._guesser = Guesser()
        self._seen: dict[str, int] = {}

    def item(self, row: SheetRow) -> OwnItem | None:
        """Return the item of a row, None where anything is wrong with it."""
        before = len(self.faults)
        self._require_named_columns(row)
        label = self.taken(row, "name", self.label, required=True)
        category = self.taken(row, "kind", self._one_of(KINDS), required=True)
        state = self.taken(row, "state", self._one_of(STATES))
        until = self.taken(row, "until", day_in)
        price = self.taken(row, "price", _price)
        faulty = {fault.column for fault in self.faults[before:]}
        if until is not None and state != ItemState.BOOKED and "state" not in faulty:
            problem = f"a day stands here, and the item is not {ItemState.BOOKED}"
            remedy = f"write {ItemState.BOOKED} as its state, or leave the day empty"
            self.add(row, "until", problem, remedy)
        first = self._seen.setdefault(label_key(label), row.number) if label else row.number
        if first != row.number:
            problem = f"{quoted_cell(label)} stands in row {first} already"
            self.add(row, "name", problem, "list it once")
        if len(self.faults) > before:
            return None
        return OwnItem.model_validate(
            {"label": label, "category": category, "state": state, "until": until, "price": price}
        )

    def _require_named_columns(self, row: SheetRow) -> None:
        named = {*self.columns.values()}
        for place, cell in enumerate(row.cells):
            if place not in named and str(cell).strip():
                problem = f"{quoted_cell(cell)} stands under no column"
                remedy = "remove it; a value that holds a separator goes in quotes"
                self.add(row, column_at(place), problem, remedy)

    def _one_of(self, known: Sequence[str]) -> Callable[[object], str]:
        def read(cell: object) -> str:
            if (key := word_key(str(cell))) in known:
                return key
            problem = f"{quoted_cell(cell)} is not known here"
            raise ValueError(problem, self._guesser.remedy(shortened(key), known))

        return read


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
