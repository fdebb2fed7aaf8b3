"""Blocks of a view: facts, sentences, lists and tables, which `replicalab.render` draws."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Literal, NamedTuple

from replicalab import lexicon
from replicalab.scenarios import Lab

NOT_GIVEN = lexicon.NOT_GIVEN


class Status(StrEnum):
    """The sign of a verdict. Only a plan without a caution passes."""

    PASS = "pass"
    CAUTION = "caution"
    FAIL = "fail"


class Verdict(NamedTuple):
    """A sentence with a sign; ``title`` is its short form for narrow places."""

    status: Status
    title: str
    text: str


class Bar(NamedTuple):
    """A bar and its marks, all as shares of its width."""

    to: float
    limit: float | None = None  # the mark of a limit or a target
    floor: float | None = None  # the mark of a floor, drawn dotted
    begins: float = 0.0
    before: float | None = None  # its former end; a loss since is drawn behind the bar
    interval: tuple[float, float] | None = None  # around ``to``
    text: str = ""  # before it


@dataclass(frozen=True)
class Sentence:
    """A paragraph, after a sign and a bold ``lead`` if it is a verdict."""

    text: str
    lead: str = ""
    status: Status | None = None
    quiet: bool = False
    link: str = ""  # the address of its last word

    @property
    def linked(self) -> tuple[str, str]:
        """Its text before the linked word, and that word; an empty word without a link."""
        if not self.link:
            return self.text, ""
        before, space, last = self.text.rpartition(" ")
        return before + space, last


class Cell(NamedTuple):
    """A cell of a table."""

    text: str = ""
    number: float | None = None  # for a spreadsheet; None for a text
    status: Status | None = None
    bar: Bar | None = None  # for forms that draw
    shade: Status | None = None  # colours the bar of a cell without a sign
    note: str = ""  # less prominent, after the text
    more: Sentence | None = None  # unfolded by a click on its lead, or else on the text
    link: str = ""  # a relative address


class Column(NamedTuple):
    """A column of a table; its bars have a column of their own, a document draws them below."""

    name: str
    look: str = ""  # of its cells: ``number`` flush right, ``fixed`` on one line, ``quiet``
    bar: str = ""  # whether a page draws the bars ``before`` or ``after`` the texts
    picture: str = ""  # the heading of the bars for screen readers
    is_seen: bool = True  # whether the heading is visible, not only read out
    order: str = ""  # the sort order by it, ``ascending`` or ``descending``
    meaning: str = ""  # the definition of the name, shown on hover, focus and tap
    shows_picture: bool = False  # whether the heading of the bars is visible


@dataclass(frozen=True)
class Table:
    """A table; the first cell of a row is its heading."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    below: tuple[tuple[str, ...], ...] = ()  # lines of text below each row
    totals: int = 0  # the number of last rows that are sums of the others
    kind: str = ""  # the class of its look
    scrolls: bool = False  # whether it may be wider than a page, in a box of its own
    places: tuple[str, ...] = ()  # the anchor below each row for a button of the page

    @property
    def names(self) -> tuple[str, ...]:
        """The headings of its columns."""
        return tuple(column.name for column in self.columns)


Value = str | int | float | bool | None


class Fact(NamedTuple):
    """One value of a plan, study or lab."""

    key: str  # its name for programs, an identifier
    label: str
    value: Value = None
    unit: str = ""  # of a number: ``samples``, a currency, or a measure such as ``power``
    status: Status | None = None
    note: str = ""  # a caveat, shown after the value
    text: str = ""  # the value for people, with its unit; formatted from the value if empty

    @property
    def shown(self) -> str:
        """The value for people."""
        if self.text or isinstance(self.value, str):
            return self.text or str(self.value)
        if self.value is None:
            return "none"
        return f"{lexicon.amount_text(self.value)} {self.unit}".rstrip()

    @property
    def cell(self) -> Cell:
        """The fact as a cell of a table."""
        number = None if isinstance(self.value, str | None) else float(self.value)
        return Cell(self.shown, number, self.status, note=self.note)


def count(key: str, label: str, number: float, noun: str) -> Fact:
    """Return a number of things; ``noun`` is in the singular."""
    text = lexicon.count_text(number, noun)
    return Fact(key, label, number, lexicon.plural(noun, 2), text=text)


def money(key: str, label: str, amount: float, lab: Lab) -> Fact:
    """Return an amount of money in the currency of a lab."""
    return Fact(key, label, amount, lab.currency, text=lab.money(amount))


@dataclass(frozen=True)
class Heading:
    """A title; ``part`` is one inside a panel, ``meaning`` the definition of its words."""

    text: str
    level: int = 3
    part: bool = False
    meaning: str = ""


@dataclass(frozen=True)
class Listing:
    """A list of sentences."""

    items: tuple[Sentence, ...]


@dataclass(frozen=True)
class Fold:
    """Blocks that a page shows on demand."""

    summary: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Group:
    """Blocks that belong together: below each other, or ``in_columns`` on a wide page."""

    blocks: tuple[Block, ...]
    in_columns: bool = False


@dataclass(frozen=True)
class Panel:
    """A template and the values that fill it."""

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
    cells = tuple(row(*texts) for texts in rows)
    lines = tuple(map(tuple, below))
    return Table(caption, named, cells, lines, totals, kind, scrolls, tuple(places))


def facts_table(caption: str, facts: Iterable[Fact]) -> Table:
    """Return facts as rows of label and value."""
    columns = (Column("Fact", is_seen=False), Column("Value", is_seen=False))
    return table(caption, columns, [(fact.label, fact.cell) for fact in facts])


def row(*cells: Cell | str) -> tuple[Cell, ...]:
    """Return a row of cells; a text alone is a cell."""
    return tuple(Cell(cell) if isinstance(cell, str) else cell for cell in cells)


def number_cell(value: float) -> Cell:
    """Return a number as a cell."""
    return Cell(lexicon.amount_text(value), value)


def listing(texts: Iterable[Sentence | str]) -> Listing:
    """Return a list of sentences; a text alone is one."""
    return Listing(tuple(Sentence(text) if isinstance(text, str) else text for text in texts))


def panel(template: str, **facts: object) -> Panel:
    """Return a panel of a template."""
    return Panel(template, facts)


def says(block: Block | None) -> bool:
    """Return whether a block has any content."""
    match block:
        case Heading() | Sentence():
            return bool(block.text or getattr(block, "status", None))
        case Listing(items=content) | Table(rows=content):
            return bool(content)
        case Fold(blocks=inner) | Group(blocks=inner):
            return any(map(says, inner))
    return block is not None


def group(*blocks: Block | None, in_columns: bool = False) -> Group:
    """Return the blocks that have any content as one."""
    return Group(tuple(block for block in blocks if block and says(block)), in_columns)


def sentences_panel(
    texts: Iterable[str],
    *,
    title: str = "",
    level: int = 3,
    verdict: Verdict | None = None,
    quiet: bool = False,
) -> Group:
    """Return sentences under a heading, the first after a verdict's sign."""
    sentences = [Sentence(text, quiet=quiet) for text in texts if text]
    if verdict and sentences:
        sentences[0] = Sentence(sentences[0].text, f"{verdict.title}.", verdict.status, quiet)
    return group(Heading(title, level), *sentences)


Paper = Literal["A4", "letter"]


@dataclass(frozen=True)
class Part:
    """A part of a document under its title; one without blocks is not drawn."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """A document for export."""

    title: str
    about: str  # its kind, its study and its date
    parts: tuple[Part, ...]
    foot: tuple[str, ...]  # its sources and the version that made it
    on: date
    compact: bool = False  # whether it is to fit one page
    authors: str = ""
    values: Mapping[str, object] = field(default_factory=dict)  # a form's answers by its own ids

    @property
    def blocks(self) -> list[Block | str]:
        """All content in one list."""
        drawn = (part for part in self.parts if part.blocks)
        parts = [block for part in drawn for block in (Heading(part.title), *part.blocks)]
        return [Heading(self.title), self.about, *parts, *self.foot]

    @property
    def tables(self) -> Iterator[Table]:
        """Its tables in order."""
        for part in self.parts:
            yield from (block for block in part.blocks if isinstance(block, Table))


def part(title: str, *blocks: Block | None) -> Part:
    """Return a part of the blocks that have any content."""
    return Part(title, group(*blocks).blocks)
