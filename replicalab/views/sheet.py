"""A lab's own sheet of items in words: what its columns and words may mean, what is read of it."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from replicalab.characters import on_one_line
from replicalab.lexicon import (
    CREDITS,
    amount_text,
    capitalised,
    count_text,
    joined,
    quoted,
    shortened,
)
from replicalab.scenarios import ItemState, Lab, SheetColumn, SheetKind, SheetState
from replicalab.tables.mapped import ReadRow, items_of
from replicalab.tables.opening import ItemTable
from replicalab.tables.proposal import Questions
from replicalab.tables.sheet import NotPlain
from replicalab.views import blocks
from replicalab.views.blocks import Cell, Column, Group, Status, Table

COLUMNS: Final[dict[SheetColumn, str]] = {
    "name": "Name of the item",
    "kind": "Equipment or reagent",
    "state": "Where it stands",
    "until": "Booked until",
    "free_from": "Free from",
    "price": "Price",
}
"""What a column may hold, by its name in a mapping."""
KINDS: Final[dict[SheetKind, str]] = {
    "equipment": "equipment",
    "reagent": "reagent",
    "left out": "leave these rows out",
}
STATES: Final[dict[SheetState, str]] = {
    "available": "available",
    "booked": "booked",
    "out of stock": "out of stock",
    "not said": "as the study says",
    "left out": "leave these rows out",
}
MOST_SHOWN: Final = 200
_MOST_HEADING: Final = 60
_MOST_NEWS: Final = 5


def heading_text(table: ItemTable) -> str:
    """Return a row of headings as one of several: ``row 4: Item, Qty, Price``."""
    plain = [str(cell) for cell in table.header.cells if not isinstance(cell, NotPlain)]
    cells = [text for cell in plain if (text := on_one_line(cell))]
    return f"row {table.header.number}: {shortened(', '.join(cells), _MOST_HEADING)}"


def first_day_text(lab: Lab) -> str:
    """Return on which date the days of a sheet count from: ``Day 1 is Mon 7 Dec 2026 …``."""
    worked = "" if lab.weekends else "; weekends do not count"
    return f"Day 1 is {lab.dated(1).strip(' ()')}, as the lab\u2019s calendar says{worked}."


def form_text(name: str, asked: Questions, *, known: bool) -> str:
    """Return what stands above the form; ``known`` if the lab's last sheet had the same columns."""
    file = on_one_line(shortened(name, _MOST_HEADING))
    if not known:
        return (
            f"{file} is not in the form of the template. This is a proposal of how to read it: "
            "change what is wrong. Nothing is taken before you take it."
        )
    first_day = asked.first_day.begun if asked.first_day.asks else None
    day = f" Day 1 is {first_day}." if first_day else ""
    shown = quoted(shortened(each, _MOST_HEADING) for each in asked.news[:_MOST_NEWS])
    more = [f"{len(asked.news) - _MOST_NEWS} more"] if len(asked.news) > _MOST_NEWS else []
    new = f" New in it: {joined([*shown, *more])}." if shown else ""
    return (
        f"{file} has the columns of this lab’s last sheet, and is read as that one was.{day}{new}"
    )


def western_text() -> str:
    """Return what is said of a text that is read as Windows-1252."""
    return "Its letters are read as Windows-1252; see below whether they are right."


def price_text(currency: str, lab: Lab) -> str:
    """Return how a price becomes the lab's money; empty where it is, or no currency is named."""
    if currency in ("", lab.currency):
        return ""
    return f"1 {currency} is taken as {lab.money(1)}."


def mapping_problem(message: str) -> str:
    """Return in a sentence why a mapping reads nothing yet."""
    problem, _, remedy = message.removeprefix("Value error, ").partition("; ")
    return f"{capitalised(problem)}: {remedy or 'choose otherwise'}."


def words_problem(column: SheetColumn, most: int) -> str:
    """Return what is said of a column with too many different words."""
    return (
        f"More than {most} different words stand in the column of “{COLUMNS[column]}”, and only "
        "the first can be given a meaning: choose another column."
    )


def count_of_rows_text(rows: Sequence[ReadRow]) -> str:
    """Return what comes of the rows: ``38 items of 40 rows; 2 rows are left out, …``."""
    parts = [
        (sum(row.same_as is not None for row in rows), "repeated"),
        (sum(bool(row.left_out) for row in rows), "left out"),
        (sum(bool(row.faults) for row in rows), "not read"),
    ]
    read = f"{count_text(len(items_of(rows)), 'item')} of {count_text(len(rows), 'row')}"
    others = [f"{count_text(number, 'row')} {said}" for number, said in parts if number]
    return f"{'; '.join([read, *others])}."


def rows_panel(rows: Sequence[ReadRow], currency: str = CREDITS) -> Group:
    """Return by row what is not read and why, and what is read and how, priced in a currency."""
    unread, read = ([row for row in rows if bool(row.item) is is_read] for is_read in (False, True))
    parts = (
        (_unread_table, unread, "not read"),
        (partial(_read_table, currency=currency), read, "read"),
    )
    return blocks.group(
        blocks.Sentence(count_of_rows_text(rows)),
        *(
            _part(draw(some[:MOST_SHOWN]), said, len(some[MOST_SHOWN:]))
            for draw, some, said in parts
        ),
    )


def _part(table: Table, said: str, more: int) -> Group | None:
    if not table.rows:
        return None
    rest = f"{count_text(more, 'more row')} {said}." if more else ""
    heading = blocks.Heading(capitalised(said), part=True)
    return blocks.group(heading, table, blocks.Sentence(rest, quiet=True))


def _unread_table(rows: Sequence[ReadRow]) -> Table:
    cells = [
        (Cell(str(row.number)), Cell(_name(row)), Cell(_why(row), status=_status(row)))
        for row in rows
    ]
    columns = ("Row", "Item", "Why")
    return blocks.table("Rows that are not read", columns, cells, kind="rows")


def _status(row: ReadRow) -> Status | None:
    return Status.FAIL if row.faults else None


def _why(row: ReadRow) -> str:
    if row.left_out:
        return f"left out: {on_one_line(row.left_out)}"
    faults = (f"{f.column}: {f.problem}; {f.remedy}" for f in row.faults)
    return on_one_line(". ".join(faults))


def _name(row: ReadRow) -> str:
    return on_one_line(shortened(row.label, _MOST_HEADING)) or "–"


def _read_table(rows: Sequence[ReadRow], currency: str) -> Table:
    cells = []
    for row in rows:
        if item := row.item:
            price = "by rate" if item.price is None else amount_text(item.price)
            same = f"the same as row {row.same_as}" if row.same_as else ""
            named = Cell(_name(row), note=same or item.category)
            day = row.day.isoformat() if row.day else ""
            standing = Cell(_standing(row), note=day)
            cells.append((Cell(str(row.number)), named, standing, Cell(price)))
    money = capitalised(CREDITS) if currency == CREDITS else currency
    columns = ("Row", "Item", "Where it stands", Column(money, "number"))
    return blocks.table("Rows that are read", columns, cells, kind="rows")


def _standing(row: ReadRow) -> str:
    if row.item is None or row.item.state is None:
        return STATES["not said"]
    until = row.item.until
    booked = row.item.state is ItemState.BOOKED and until is not None
    return f"{row.item.state} until day {until}" if booked else str(row.item.state)


def taken_text(name: str, items: int, differ: int, unread: int = 0) -> str:
    """Return what came of a file of items."""
    rest = f" {count_text(unread, 'row')} could not be read." if unread else ""
    read, differs = count_text(items, "item"), "differs" if differ == 1 else "differ"
    return f"{read} read from {name}; {differ:,} {differs} from the study’s lab.{rest}"
