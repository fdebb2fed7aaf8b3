"""A lab's inventory as a table: read with every fault by row and column, and written."""

from __future__ import annotations

import re
from typing import Final

from replicalab.characters import described, hidden, on_one_line
from replicalab.errors import CellFault, TableError
from replicalab.features.sheets.reading import Table, read_table, source_of
from replicalab.lexicon import label_key, shortened
from replicalab.limits import LARGEST_COUNT, LONGEST_LABEL, MOST_FAULTS
from replicalab.scenarios import MOST, ItemState, OwnItem, Pack, known_names
from replicalab.tables import TWO_WAYS, Value, number_text, sheet, unguarded

COLUMNS: Final = ("name", "kind", "state", "until", "price")
REQUIRED: Final = COLUMNS[:2]
KINDS: Final = ("equipment", "reagent")
STATES: Final = tuple(state.value for state in ItemState)
_WORDS: Final = {"kind": KINDS, "state": STATES}
_NUMBER: Final = re.compile(r"[0-9]{1,20}(?:[.,][0-9]{1,400})?")  # 326 for the smallest price


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
        raise TableError(source_of(name), faults[:MOST_FAULTS], len(faults[MOST_FAULTS:]))


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
        if len(text) > LONGEST_LABEL:
            problem = f"{_quoted(text)} has {len(text):,} characters"
            raise ValueError(problem, f"write at most {LONGEST_LABEL}")
        return text
    if words := _WORDS.get(column):
        word = label_key(text.replace("_", " ").replace("-", " "))
        if word not in words:
            remedy = known_names(shortened(word), words)
            raise ValueError(f"{_quoted(text)} is no {column} of an item", remedy)
        return word
    if column == "price":
        return _number(text, "a number such as 12.5", MOST)
    day = _number(text, example := "a day such as 12", LARGEST_COUNT)
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
