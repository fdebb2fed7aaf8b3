"""What is proposed for a sheet that nobody has mapped: its heading, its columns, its words.

A proposal is never taken by itself: it is what a form begins with, to be confirmed or changed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Final, Generic, NamedTuple, TypeVar

from replicalab.lexicon import label_key
from replicalab.models import LONGEST_LABEL
from replicalab.scenarios import (
    SHEET_COLUMNS,
    ItemCategory,
    SheetColumn,
    SheetKind,
    SheetMapping,
    SheetState,
    word_key,
)
from replicalab.tables.opening import ItemTable, OpenFile, table_for
from replicalab.tables.values import (
    NONE_LEFT,
    SOME_LEFT,
    currency_in,
    is_slashed,
    looks_like_date,
    told_comma,
    told_order,
)

_T = TypeVar("_T")
_Name = TypeVar("_Name", bound=str)

_HEADINGS: Final[Mapping[SheetColumn, str]] = {
    "name": "name, item, items, item name, product, product name, article, material, label,"
    " description, designation, what, artikel, artikelname, artikelbezeichnung, bezeichnung,"
    " produkt, beschreibung, nom, désignation, instrument, instruments, equipment, device, gerät,"
    " geräte, reagent, reagents, reagenz, chemical, chemikalie",
    "kind": "kind, type, category, class, group, equipment or reagent, kategorie, art, typ, klasse,"
    " gruppe, warengruppe, catégorie",
    "state": "state, status, condition, availability, available, in stock, stock, qty, quantity,"
    " on hand, count, zustand, verfügbar, verfügbarkeit, bestand, menge, anzahl, vorrat, lagernd,"
    " état, disponible, quantité",
    "until": "until, booked until, reserved until, in use until, busy until, on loan until,"
    " not before, bis, belegt bis, gebucht bis, reserviert bis, ausgeliehen bis, jusqu'au",
    "free_from": "free from, available from, available again, from, back on, eta, expected,"
    " delivery date, expected delivery, arrives, frei ab, verfügbar ab, wieder verfügbar, ab,"
    " lieferdatum, liefertermin, disponible à partir du",
    "price": "price, cost, unit price, unit cost, list price, preis, einzelpreis, stückpreis,"
    " listenpreis, nettopreis, kosten, prix, prix unitaire",
}
_STATES: Final[Mapping[SheetState, str]] = {
    "available": "available, free, in stock, ok, okay, good, working, functional, ready,"
    " operational, yes, true, y, verfügbar, frei, vorhanden, auf lager, lagernd, einsatzbereit,"
    f" funktioniert, ja, disponible, libre, oui, {SOME_LEFT}",
    "booked": "booked, in use, reserved, on loan, loaned, lent, busy, occupied, gebucht,"
    " reserviert, belegt, in benutzung, in gebrauch, ausgeliehen, verliehen, réservé, occupé",
    "out of stock": "out of stock, broken, defective, defect, out of order, in repair,"
    " under repair, on order, ordered, back order, empty, used up, unavailable, not available,"
    " expired, missing, lost, no, false, n, bestellt, defekt, kaputt, in reparatur, leer,"
    " aufgebraucht, nicht vorhanden, nicht verfügbar, vergriffen, abgelaufen, fehlt, nein,"
    f" en panne, en commande, épuisé, non, {NONE_LEFT}",
    "left out": "retired, disposed, disposed of, scrapped, entsorgt, ausgemustert, verschrottet",
}
_KINDS: Final[Mapping[SheetKind, str]] = {
    "equipment": "equipment, instrument, instruments, device, devices, machine, apparatus, tool,"
    " hardware, gerät, geräte, laborgerät, laborgeräte, ausstattung, appareil, équipement",
    "reagent": "reagent, reagents, chemical, chemicals, consumable, consumables, kit, antibody,"
    " solvent, media, reagenz, reagenzien, chemikalie, chemikalien, verbrauchsmaterial, réactif",
}


def _by_word(meanings: Mapping[_Name, str]) -> dict[str, _Name]:
    return {word_key(word): name for name, words in meanings.items() for word in words.split(",")}


_COLUMN_OF: Final = _by_word(_HEADINGS)
_STATE_OF: Final = _by_word(_STATES)
_KIND_OF: Final = _by_word(_KINDS)
_RANKS: Final = {word: len(_COLUMN_OF) - rank for rank, word in enumerate(_COLUMN_OF)}
# Yes to "in use" is not yes to "in stock", and nothing here tells which a sheet asks.
_ANSWERS: Final = frozenset(map(word_key, "yes,no,true,false,y,n,ja,nein,oui,non".split(",")))
_MARKED: Final = re.compile("[0-9][.,][0-9]")
# A unit in brackets, and marks such as those of "Available?" and "Name*".
_NO_WORDS: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|[^\w' -]")


def proposed_table(file: OpenFile, mapping: SheetMapping | None) -> ItemTable:
    """Return the table of a file that has a lab's columns, or else the most headings we know.

    Of several the first; where no heading is known, the row of the first sheet with most values.
    """
    if mapping and (table := table_for(file, mapping)):
        return table
    return max(file.tables(), key=_rank)


def _rank(table: ItemTable) -> tuple[int, int]:
    cells = [cell for cell in table.header.cells if isinstance(cell, str) and cell.strip()]
    found = [_column_of(cell) for cell in cells if len(cell) <= LONGEST_LABEL]
    return len({known[0] for known in found if known}), len(cells)


def proposed_columns(table: ItemTable, saved: SheetMapping | None = None) -> dict[SheetColumn, str]:
    """Return the heading of each column that we know, by what it holds.

    Where all columns of a lab's last sheet are there, those.
    """
    if saved and table.fits(saved):
        return {column: table.named(each) or each for column, each in saved.columns.items()}
    found: dict[SheetColumn, list[tuple[int, str]]] = {}
    for name in table.names:
        if known := _column_of(name):
            found.setdefault(known[0], []).append((-known[1], name))
    if "until" in found:  # one of the two at most can be read
        found.pop("free_from", None)
    best = {column: min(names, key=lambda each: each[0])[1] for column, names in found.items()}
    return {column: best[column] for column in SHEET_COLUMNS if column in best}


def _column_of(heading: str) -> tuple[SheetColumn, int] | None:
    """Return what a heading says that its column holds, and how plainly, in whole or in part."""
    words = _words_of(heading)
    if words in _COLUMN_OF:
        return _COLUMN_OF[words], LONGEST_LABEL + _RANKS[words]
    within = [each for each in _COLUMN_OF if f" {each} " in f" {words} "]
    longest = max(within, key=len, default="")
    return (_COLUMN_OF[longest], len(longest)) if longest else None


def _words_of(heading: str) -> str:
    return word_key(_NO_WORDS.sub(" ", heading))


def proposed_states(words: Iterable[str], heading: str) -> dict[str, SheetState]:
    """Return what each word of the column of states that we know may mean."""
    asked, known = _STATE_OF.get(_words_of(heading)), _column_of(heading)
    asks_for_it = known is not None and known[0] == "state" and asked in (None, "available")
    told = [w for w in words if w in _STATE_OF and (asks_for_it or w not in _ANSWERS)]
    return {word: _STATE_OF[word] for word in told}


def proposed_kinds(words: Iterable[str]) -> dict[str, SheetKind]:
    """Return what each word of the column of kinds that we know may mean."""
    return {word: _KIND_OF[word] for word in words if word in _KIND_OF}


class Words(NamedTuple, Generic[_Name]):
    """The words of a column as they are written, by their keys, and what some of them mean.

    ``new`` are those that the lab's last sheet did not have.
    """

    written: dict[str, str]
    begun: dict[str, _Name]
    new: list[str]


class Way(NamedTuple, Generic[_T]):
    """Whether something is asked, and what a form begins with; None for not known.

    ``is_new`` is whether the lab's last sheet does not answer it.
    """

    asks: bool
    begun: _T | None
    is_new: bool


class Questions(NamedTuple):
    """What a form asks of a table besides its columns.

    Attributes:
        kind: of all items, where there is no column of kinds; None for not known.
        first_day: asked of a table with dates.
        day_first: of one with dates whose day and month can be exchanged.
        comma: of one with prices that have a mark of decimals or of thousands.
        currencies: those of the prices: that of the last sheet first, then the heading's.
        labels: the names of the items, each once; those ``without`` which it was read last.
        news: the words and currencies that the last sheet did not have.
        is_new: whether anything is asked that the last sheet does not answer.
    """

    kinds: Words[SheetKind]
    states: Words[SheetState]
    kind: ItemCategory | None
    first_day: Way[date]
    day_first: Way[bool]
    comma: Way[bool]
    currencies: list[str]
    labels: list[str]
    without: list[str]
    news: list[str]
    is_new: bool


def questions(
    table: ItemTable, columns: Mapping[SheetColumn, str], saved: SheetMapping | None
) -> Questions:
    """Return what is asked of a table of which these columns are read.

    Args:
        table: the table.
        columns: the headings of its columns, by what they hold.
        saved: what the lab's last sheet was read with; it goes before any proposal.
    """
    said = saved if saved and table.fits(saved) else None
    kind_cells, heading = table.words(columns.get("kind", "")), columns.get("state", "")
    state_cells, price = table.words(heading), columns.get("price", "")
    kinds = _words(kind_cells, proposed_kinds(kind_cells), said.kind_of if said else {})
    begun = proposed_states(state_cells, heading)
    states = _words(state_cells, begun, said.state_of if said else {})
    ends = [columns[name] for name in ("until", "free_from") if name in columns]
    days = [cell for name in ends for cell in table.cells(name)]
    prices = table.cells(price)
    ways = (
        _way(any(map(looks_like_date, days)), said.first_day if said else None, ()),
        _way(any(map(is_slashed, days)), said.day_first if said else None, map(told_order, days)),
        _way(any(map(_has_mark, prices)), said.comma if said else None, map(told_comma, prices)),
    )
    counts = Counter([currency_in(c) for c in (price, *prices) if isinstance(c, str)])
    currency = said.currency if said else ""
    by_heading = currency_in(price)
    named = sorted(
        filter(None, counts),
        key=lambda name: (name != currency, name != by_heading, -counts[name]),
    )
    news = [*kinds.new, *states.new, *(name for name in named if name != currency)]
    is_new = said is None or bool(news) or any(way.is_new for way in ways)
    kind = said.kind if said else None
    labels = _labels(table.cells(columns.get("name", "")))
    left_out = {*map(label_key, said.without)} if said else set()
    without = [label for label in labels if label_key(label) in left_out]
    return Questions(kinds, states, kind, *ways, named, labels, without, news, is_new)


def _labels(cells: Iterable[object]) -> list[str]:
    """Return the names of a column as they are first written, each once."""
    found: dict[str, str] = {}
    for cell in cells:
        if isinstance(cell, str) and len(cell) <= LONGEST_LABEL:
            found.setdefault(label_key(cell), cell)
    return [*found.values()]


def _words(
    written: dict[str, str], proposed: dict[str, _Name], said: dict[str, _Name]
) -> Words[_Name]:
    new = [text for word, text in written.items() if word not in said]
    return Words(written, {**proposed, **said}, new)


def _way(asks: bool, said: _T | None, told: Iterable[_T | None]) -> Way[_T]:
    """Return what is begun with: what was said, or what all tell who tell anything."""
    found = {each for each in told if each is not None}
    agreed = found.pop() if len(found) == 1 else None
    return Way(asks, agreed if said is None else said, asks and said is None)


def _has_mark(cell: object) -> bool:
    return isinstance(cell, str) and bool(_MARKED.search(cell))
