"""Five sheets of forty rows as labs keep them, how each is mapped, and what stands in it.

What is expected is written beside what is written into the sheet, never read from it.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from io import StringIO
from typing import Any, Final, NamedTuple

from openpyxl import Workbook

from replicalab.scenarios import ItemState, OwnItem, SheetMapping, by_meaning
from tests.tables.workbooks import saved

ROWS: Final = 40
DAY_ONE: Final = date(2026, 5, 4)


class Messy(NamedTuple):
    """A sheet.

    Attributes:
        items: what is in it, each once.
        repeated: how many of its rows say what another says.
        left_out: how many of its rows are left out by their state.
    """

    name: str
    data: bytes
    mapping: SheetMapping
    items: tuple[OwnItem, ...]
    repeated: int = 0
    left_out: int = 0


def item(label: str, category: str, state: str | None = None, **said: Any) -> OwnItem:
    named = ItemState(state) if state else None
    return OwnItem.model_validate({"label": label, "category": category, "state": named, **said})


def _csv(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    text = StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return text.getvalue()


def german() -> Messy:
    """Return an export of Windows: titles above, decimal commas, thousands, states in German."""
    rows, items = [["Institut für Zellbiologie"], ["Bestand, Stand 30.04.2026"], []], []
    rows.append(["Lfd. Nr.", "Artikelbezeichnung", "Warengruppe", "Zustand", "Einzelpreis (€)"])
    words = (("verfügbar", "available"), ("defekt", "out of stock"), ("ausgeliehen", "booked"))
    for n in range(ROWS):
        word, state = words[n % 3]
        group, kind = (("Gerät", "equipment"), ("Chemikalie", "reagent"))[n % 2]
        rows.append([str(n + 1), f"Größe {n:02d}", group, word, f"{n + 1}.{n:03d},{n:02d} €"])
        price = (n + 1) * 1000 + n + n / 100
        items.append(item(f"Größe {n:02d}", kind, state, price=price))
    mapping = SheetMapping.model_validate(
        {
            "columns": {
                "name": "Artikelbezeichnung",
                "kind": "Warengruppe",
                "state": "Zustand",
                "price": "Einzelpreis (€)",
            },
            "kinds": by_meaning({"gerät": "equipment", "chemikalie": "reagent"}),
            "states": by_meaning(dict(words)),
            "comma": True,
            "currency": "EUR",
            "western": True,
        }
    )
    return Messy("bestand.csv", _csv(rows, ";").encode("cp1252"), mapping, tuple(items))


def second_sheet() -> Messy:
    """Return a workbook: a cover sheet, the data on the second one below a merged title."""
    book, items = Workbook(), []
    book.active.title = "Read me"
    book.active.append(["Equipment of the imaging core"])
    book.active.append(["Ask Kim before you book"])
    sheet = book.create_sheet("Instruments")
    sheet.append(["Imaging core: instruments"])
    sheet.merge_cells("A1:D1")
    sheet.append([])
    sheet.append(["Item name", "Qty", "Unit cost", "Room"])
    for n in range(ROWS):
        sheet.append([f"Microscope {n:02d}", n % 4, 100 + n / 4, f"R {n}"])
        state = "available" if n % 4 else "out of stock"
        items.append(item(f"Microscope {n:02d}", "equipment", state, price=100 + n / 4))
    mapping = SheetMapping.model_validate(
        {
            "columns": {"name": "Item name", "state": "Qty", "price": "Unit cost"},
            "kind": "equipment",
            "states": by_meaning({"0": "out of stock", "more than 0": "available"}),
        }
    )
    return Messy("core.xlsx", saved(book), mapping, tuple(items))


def states_in_words() -> Messy:
    """Return a list of states: on order, broken, in use, retired, and an answer in a dash."""
    words = (
        ("In stock", "available"),
        ("on-order", "out of stock"),
        ("Broken", "out of stock"),
        ("in use", "booked"),
        ("retired", None),
        ("-", ""),
    )
    rows, items, left_out = [["Item", "Category", "Status", "Remark"]], [], 0
    for n in range(ROWS):
        word, state = words[n % 6]
        rows.append(
            [f"Thing {n:02d}", "Consumable" if n % 2 else "Device", word, "see folder, p. 3"]
        )
        if state is None:
            left_out += 1
        else:
            kind = "reagent" if n % 2 else "equipment"
            items.append(item(f"Thing {n:02d}", kind, state or None))
    mapping = SheetMapping.model_validate(
        {
            "columns": {"name": "Item", "kind": "Category", "state": "Status"},
            "kinds": by_meaning({"consumable": "reagent", "device": "equipment"}),
            "states": by_meaning(
                {
                    "in stock": "available",
                    "on order": "out of stock",
                    "broken": "out of stock",
                    "in use": "booked",
                    "retired": "left out",
                }
            ),
        }
    )
    data = _csv(rows, ",").encode()
    return Messy("states.csv", data, mapping, tuple(items), left_out=left_out)


def dates_and_currency() -> Messy:
    """Return a workbook with dates of two kinds, free from which on, and prices with their sign."""
    book, items = Workbook(), []
    book.active.append(["Article", "Verfügbar ab", "Price"])
    for n in range(ROWS):
        free = DAY_ONE + timedelta(days=n - 5)
        cell: object = datetime(free.year, free.month, free.day)  # noqa: DTZ001 - as Excel has it
        if n % 3 == 1:
            cell = f"{free:%d/%m/%Y}"
        elif n % 3 == 2:
            cell = None
        book.active.append([f"Reagent {n:02d}", cell, f"€ {n},{n:03d}.50" if n else "€ 0.50"])
        # Free from the date of day n - 4 on, so booked until the day before it.
        until = n - 5
        state = None if cell is None else ("booked" if until > 0 else "available")
        said = {"until": until} if state == "booked" else {}
        price = n * 1000 + n + 0.5
        items.append(item(f"Reagent {n:02d}", "reagent", state, price=price, **said))
    mapping = SheetMapping.model_validate(
        {
            "columns": {"name": "Article", "free_from": "Verfügbar ab", "price": "Price"},
            "kind": "reagent",
            "first_day": DAY_ONE,
            "day_first": True,
            "comma": False,
            "currency": "EUR",
        }
    )
    return Messy("orders.xlsx", saved(book), mapping, tuple(items))


def repeated_rows() -> Messy:
    """Return a sheet with columns that nobody needs, and rows that say what others say."""
    names = ["ID", "Name", "Name", "Available?", "Owner", "Unit cost", "Link"]
    rows, items = [names], []
    for n in range(ROWS):
        k = n if n < 30 else n - 30
        label = f"Kit {k:02d}" if n < 30 else f" kit  {k:02d}"
        answer = "no" if k % 5 == 0 else "yes"
        rows.append([f"#{n}", label, f"K{n}", answer, "a; b", f"{k}.5", "https://example.org"])
        if n < 30:
            state = "out of stock" if k % 5 == 0 else "available"
            items.append(item(f"Kit {k:02d}", "reagent", state, price=k + 0.5))
    mapping = SheetMapping.model_validate(
        {
            "columns": {"name": "Name", "state": "Available?", "price": "Unit cost"},
            "kind": "reagent",
            "states": by_meaning({"yes": "available", "no": "out of stock"}),
            "comma": False,
        }
    )
    data = _csv(rows, "\t").encode("utf-16")
    return Messy("kits.txt", data, mapping, tuple(items), repeated=10)


MESSY: Final[dict[str, Callable[[], Messy]]] = {
    each.__name__: each
    for each in (german, second_sheet, states_in_words, dates_and_currency, repeated_rows)
}
