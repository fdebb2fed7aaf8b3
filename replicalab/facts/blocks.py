"""What a view is made of: sentences, lists and tables, the same for every form that draws them.

A block holds what is said and its numbers, never how it looks: `replicalab.render` draws it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Literal, NamedTuple

from replicalab import lexicon
from replicalab.lexicon import amount_text

NOT_GIVEN = lexicon.NOT_GIVEN  # What stands where nobody has said why


class Status(StrEnum):
    """How a verdict is to be shown. Only what holds in every respect is a pass."""

    PASS = "pass"
    CAUTION = "caution"
    FAIL = "fail"


class Verdict(NamedTuple):
    """A sentence and how to show it; ``title`` is its two or three words for narrow places."""

    status: Status
    title: str
    text: str


class Bar(NamedTuple):
    """A bar, and what is marked on it, all as shares of its width.

    Attributes:
        to: where it ends.
        limit: the mark of a limit or a target.
        floor: the mark of a floor, which looks another way.
        begins: where it begins.
        before: where it ended before; what was lost since is seen behind it.
        interval: the ends of an interval around ``to``.
    """

    to: float
    limit: float | None = None
    floor: float | None = None
    begins: float = 0.0
    before: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Sentence:
    """A paragraph; behind a sign, and a few words that stand out, where it is a verdict.

    ``link`` is the address that its last word leads to, empty for none.
    """

    text: str
    lead: str = ""
    status: Status | None = None
    quiet: bool = False
    link: str = ""

    @property
    def linked(self) -> tuple[str, str]:
        """Its text up to the word that leads somewhere, and that word, empty where none does."""
        if not self.link:
            return self.text, ""
        before, space, last = self.text.rpartition(" ")
        return before + space, last


class Cell(NamedTuple):
    """What stands in a row under one name.

    Attributes:
        text: as people read it.
        number: the same as a spreadsheet calculates with it, None for a text.
        status: its sign, None for none.
        bar: a picture of it, for forms that draw.
        shade: the status that colours the bar, where the cell has no sign.
        note: what stands behind the text, less prominent.
        more: what a page unfolds on demand; its lead, or else the text, is what is clicked.
        link: where a click on the text leads on a page, relative to it; empty for nowhere.
    """

    text: str = ""
    number: float | None = None
    status: Status | None = None
    bar: Bar | None = None
    shade: Status | None = None
    note: str = ""
    more: Sentence | None = None
    link: str = ""


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        name: its heading.
        look: how a page sets its cells: ``number`` flush right, ``fixed`` on one line, ``quiet``.
        bar: where a page draws the bars of its cells, in a column of their own: ``before`` or
            ``after`` the texts; a document draws them below the texts.
        picture: the heading of that column, which is only read out; empty for none.
        is_seen: whether the heading is shown, and not only read out.
        order: how the table is sorted by it, ``ascending`` or ``descending``; empty if it is not.
        meaning: what the name means; a page shows it on hover, focus and tap.
    """

    name: str
    look: str = ""
    bar: str = ""
    picture: str = ""
    is_seen: bool = True
    order: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class Table:
    """A table; the first cell of a row is its heading.

    Attributes:
        caption: what it is.
        columns: in their order.
        rows: as many cells in each as there are columns.
        below: what is said below each row; empty where nothing is below any.
        totals: how many of the last rows are sums of the others.
        kind: which of the tables it is, for its look; empty for a plain one.
        scrolls: whether it may be wider than a page, and then scrolls in a box of its own.
        places: the name of a place below each row, over which a page lays a button; empty for none.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    below: tuple[tuple[str, ...], ...] = ()
    totals: int = 0
    kind: str = ""
    scrolls: bool = False
    places: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The headings of its columns."""
        return tuple(column.name for column in self.columns)


@dataclass(frozen=True)
class Heading:
    """The title of what follows; ``part`` is one inside a panel.

    ``meaning`` says what its words mean; a page shows it on hover, focus and tap.
    """

    text: str
    level: int = 3
    part: bool = False
    meaning: str = ""


@dataclass(frozen=True)
class Listing:
    """Sentences of one kind, one below the other."""

    items: tuple[Sentence, ...]


@dataclass(frozen=True)
class Fold:
    """Blocks that a page shows on demand only."""

    summary: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Group:
    """Blocks that belong together: below each other, or ``beside`` each other on a wide page."""

    blocks: tuple[Block, ...]
    beside: bool = False


@dataclass(frozen=True)
class Panel:
    """What is laid out by a template of its own, and the facts that the template is filled with."""

    template: str
    facts: Mapping[str, object]


Block = Heading | Sentence | Listing | Table | Fold | Group | Panel


def table(
    caption: str,
    columns: Iterable[Column | str],
    rows: Iterable[Iterable[Cell | str]],
    *,
    below: Iterable[Iterable[str]] = (),
    totals: int = 0,
    kind: str = "",
    scrolls: bool = False,
    places: Iterable[str] = (),
) -> Table:
    """Return a table; a column may be its name alone, a cell its text alone."""
    named = tuple(Column(column) if isinstance(column, str) else column for column in columns)
    stored = tuple(row(*item) for item in rows)
    lines = tuple(map(tuple, below))
    return Table(caption, named, stored, lines, totals, kind, scrolls, tuple(places))


def plain_table(caption: str, names: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    """Return a table of nothing but text."""
    return table(caption, names, rows, kind="plain")


def row(*cells: Cell | str) -> tuple[Cell, ...]:
    """Return a row of cells; a text alone is a cell."""
    return tuple(Cell(cell) if isinstance(cell, str) else cell for cell in cells)


def number_cell(value: float) -> Cell:
    """Return a number as a cell."""
    return Cell(amount_text(value), value)


def listing(texts: Iterable[Sentence | str]) -> Listing:
    """Return a list of sentences; a text alone is one."""
    return Listing(tuple(Sentence(text) if isinstance(text, str) else text for text in texts))


def panel(template: str, **facts: object) -> Panel:
    """Return a panel of that template."""
    return Panel(template, facts)


def says(block: Block | None) -> bool:
    """Return whether a block says anything."""
    match block:
        case None:
            return False
        case Heading() | Sentence():
            return bool(block.text or getattr(block, "status", None))
        case Listing():
            return bool(block.items)
        case Table():
            return bool(block.rows)
        case Fold() | Group():
            return any(map(says, block.blocks))
        case Panel():
            return True


def group(*blocks: Block | None, beside: bool = False) -> Group:
    """Return those blocks that say anything as one."""
    return Group(tuple(block for block in blocks if block is not None and says(block)), beside)


def sentences_panel(
    texts: Iterable[str],
    *,
    title: str = "",
    level: int = 3,
    verdict: Verdict | None = None,
    quiet: bool = False,
) -> Group:
    """Return some sentences under a heading of that level, the first behind a verdict's sign."""
    sentences = [Sentence(text, quiet=quiet) for text in texts if text]
    if verdict and sentences:
        sentences[0] = Sentence(sentences[0].text, f"{verdict.title}.", verdict.status, quiet)
    return group(Heading(title, level), *sentences)


def listed_panel(title: str, lines: Iterable[str]) -> Group:
    """Return a short list under its title."""
    return group(Heading(title, 2, part=True), listing(lines))


# --- a document -----------------------------------------------------------------------------


Paper = Literal["A4", "letter"]  # What a form that has pages is laid out for


@dataclass(frozen=True)
class Part:
    """A part of a document under its title; one without blocks is not drawn."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """A document that leaves.

    Attributes:
        title: what it is about.
        about: what kind of document it is, of what, and its date.
        parts: in their order.
        foot: what it was made from, and with which version.
        on: its date.
        compact: whether it is to fit one page.
        authors: whose it is, empty where nobody says.
        values: of a form, its answers by its own ids, for JSON.
    """

    title: str
    about: str
    parts: tuple[Part, ...]
    foot: tuple[str, ...]
    on: date
    compact: bool = False
    authors: str = ""
    values: Mapping[str, object] = field(default_factory=dict)

    @property
    def blocks(self) -> list[Block | str]:
        """All content below each other."""
        parts = [block for part in self.parts for block in (Heading(part.title), *part.blocks)]
        return [Heading(self.title), self.about, *parts, *self.foot]

    @property
    def tables(self) -> Iterator[Table]:
        """Its tables, in their order."""
        for part in self.parts:
            yield from (block for block in part.blocks if isinstance(block, Table))


def part(title: str, *blocks: Block | None) -> Part:
    """Return a part of those blocks that say anything."""
    return Part(title, group(*blocks).blocks)
