"""A lab's inventory as a table: read with every fault by row and column, and written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from replicalab.characters import described, hidden, on_one_line
from replicalab.errors import CellFault, TableError
from replicalab.lexicon import label_key, shortened
from replicalab.models import LARGEST_COUNT, LONGEST_LABEL
from replicalab.scenarios import MOST, MOST_OWN_ITEMS, Guesser, ItemState, OwnItem, Pack
from replicalab.tables.reading import LONGEST_QUOTED, read_table, source_of
from replicalab.tables.sheet import TWO_WAYS, Value, number_text, sheet, unguarded

if TYPE_CHECKING:
    import pandas as pd

MAX_NUMBER_CHARS: Final = 400  # the smallest price, written in full, has 326
COLUMNS: Final = ("name", "kind", "state", "until", "price")
REQUIRED: Final = COLUMNS[:2]
KINDS: Final = ("equipment", "reagent")
STATES: Final = tuple(state.value for state in ItemState)
_WORDS: Final = {"kind": KINDS, "state": STATES}
MOST_FAULTS: Final = 20  # The most faults that one message lists
_NUMBER: Final = re.compile(r"[0-9]{1,20}(?:[.,][0-9]{1,400})?")


class InventoryTable(NamedTuple):
    """A table with the columns of an inventory, and the name of its file."""

    source: str
    frame: pd.DataFrame

    def choose(self, columns: Mapping[str, str], fixed: Mapping[str, str]) -> InventoryTable:
        """Return the columns of an inventory, by the headings that hold them.

        A heading of ``fixed`` gives every row the same text, unless the table has that heading.
        """
        frame = self.frame.iloc[:, :0].copy()
        for column, heading in columns.items():
            frame[column] = self.frame[heading] if heading in self.frame else fixed[heading]
            if words := _WORDS.get(column):
                keys = frame[column].map(word_key)
                frame[column] = frame[column].mask(keys.isin(words), keys)
        return InventoryTable(self.source, frame)


def read_inventory(data: bytes, name: str) -> tuple[OwnItem, ...]:
    """Return the items of a file with the columns of `COLUMNS`, in its order.

    Args:
        data: the file.
        name: its name, by whose ending it is read.

    Raises:
        TableError: with every fault, by row and column, and its remedy.
    """
    frame = read_table(data, name)
    frame = frame.rename(columns=word_key)
    source, guesser = source_of(name), Guesser()
    columns = [*map(str, frame.columns)]
    faults = [
        CellFault(None, column, "this column is missing", "add it")
        for column in REQUIRED
        if column not in columns
    ]
    for column in columns:
        if re.fullmatch("column [a-z]{1,2}", column):
            texts = frame[column]
            row = texts[texts != ""].index.to_list()[0]
            remedy = "remove it; quote a value that holds a separator"
            place = f"column {column[7:].upper()}"
            faults.append(CellFault(row, place, f"{_quoted(texts[row])} has no heading", remedy))
        elif columns.count(column) > 1:
            problem = f"two columns are called {_quoted(column)}"
            faults.append(CellFault(None, "", problem, "rename one of them"))
        elif column not in COLUMNS:
            remedy = guesser.remedy(shortened(column), COLUMNS)
            faults.append(CellFault(None, "", f"{_quoted(column)} is no column here", remedy))
    if faults := [*dict.fromkeys(faults)]:
        raise TableError(source, faults[:MOST_FAULTS], len(faults[MOST_FAULTS:]))
    return read_items(InventoryTable(source, frame))


def read_items(table: InventoryTable) -> tuple[OwnItem, ...]:
    """Return the items of a table that has the columns name and kind, and may have the others.

    Raises:
        TableError: with every fault, by row and column, and its remedy.
    """
    faults: list[CellFault] = []
    items: dict[str, OwnItem] = {}
    rows: dict[str, int] = {}
    guesser = Guesser()
    if len(table.frame) > MOST_OWN_ITEMS:
        problem = f"the file lists {len(table.frame):,} items"
        remedy = f"keep the {MOST_OWN_ITEMS} that your studies may need"
        raise TableError(table.source, [CellFault(None, "", problem, remedy)])
    for row, cells in zip(table.frame.index, table.frame.to_dict("records"), strict=True):
        texts = {str(column): str(text or "").strip() for column, text in cells.items()}
        values: dict[str, object] = {}
        for column in COLUMNS:
            try:
                values[column] = _value(column, texts.get(column, ""), guesser)
            except ValueError as error:
                faults.append(CellFault(int(row), column, *error.args))
        if len(values) == len(COLUMNS):
            item = _item(values)
            first = rows.setdefault(label_key(item.label), int(row))
            items.setdefault(label_key(item.label), item)
            faults += _row_faults(int(row), first, item)
    if faults:
        raise TableError(table.source, faults[:MOST_FAULTS], len(faults[MOST_FAULTS:]))
    return tuple(items.values())


def _row_faults(row: int, first: int, item: OwnItem) -> Iterator[CellFault]:
    if first != row:
        problem = f"{_quoted(item.label)} is in row {first} already"
        yield CellFault(row, "name", problem, "list it once")
    if item.until is not None and item.state is not ItemState.BOOKED:
        problem = f"day {item.until} is given, but the item is not {ItemState.BOOKED}"
        remedy = f"write {ItemState.BOOKED} as its state, or leave the day empty"
        yield CellFault(row, "until", problem, remedy)


def _item(values: Mapping[str, object]) -> OwnItem:
    fields = {"label": values["name"], "category": values["kind"]}
    return OwnItem.model_validate(fields | {name: values[name] for name in COLUMNS[2:]})


def _value(column: str, text: str, guesser: Guesser) -> object:
    """Return the value of a cell, None if empty.

    Raises:
        ValueError: with the problem and the remedy.
    """
    text = unguarded(text)
    if not text and column in REQUIRED:
        raise ValueError("the cell is empty", "write a value, or delete the row")
    if not text:
        return None
    if places := hidden(text):
        problem = f"{_quoted(text)} holds {described(text[places[0]])}, which is invisible"
        raise ValueError(problem, "remove it")
    limit = LONGEST_LABEL if column == "name" else MAX_NUMBER_CHARS
    if len(text) > limit:
        problem = f"{_quoted(text)} has {len(text):,} characters"
        raise ValueError(problem, f"write at most {limit}")
    if column == "name":
        return text
    if words := _WORDS.get(column):
        if word_key(text) not in words:
            remedy = guesser.remedy(shortened(word_key(text)), words)
            raise ValueError(f"{_quoted(text)} is no {column} of an item", remedy)
        return word_key(text)
    if column == "until":
        day = _number(text, "a day such as 12", LARGEST_COUNT)
        if day != int(day):
            raise ValueError(f"{_quoted(text)} is no whole day", "write a day such as 12")
        return int(day)
    return _number(text, "a number such as 12.5", MOST)


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


def _quoted(text: object) -> str:
    return f"'{on_one_line(shortened(str(text), LONGEST_QUOTED))}'"


def word_key(text: str) -> str:
    """Return a heading or word without casing, hyphens and underscores, for comparison."""
    return label_key(text.replace("_", " ").replace("-", " "))


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
