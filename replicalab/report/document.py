"""A document before it is drawn: its parts, and what stands in them, the same for every form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from replicalab.panels.drawing import Bar
from replicalab.text.verdicts import Status

NOT_GIVEN = "not given"
"""What stands where nobody has said why."""


class Said(NamedTuple):
    """What only whoever registers a plan can say; empty where they do not.

    Attributes:
        title: of the registration.
        authors: who registers.
        reasons: why a field of the reference protocol is changed, by its name in the protocol.
    """

    title: str = ""
    authors: str = ""
    reasons: Mapping[str, str] = MappingProxyType({})


class Cell(NamedTuple):
    """What stands in a row under one name.

    Attributes:
        text: as people read it.
        number: the same as a spreadsheet calculates with it, None for a text.
        status: its sign, None for none.
        bar: a picture of it below the text, None for none.
    """

    text: str
    number: float | None = None
    status: Status | None = None
    bar: Bar | None = None


@dataclass(frozen=True)
class Table:
    """A table; the first cell of a row is its heading.

    Attributes:
        caption: what it is.
        names: of its columns.
        rows: as many cells in each as there are names.
        total: whether the last row is the sum of the others.
    """

    caption: str
    names: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: bool = False


@dataclass(frozen=True)
class Sentence:
    """A paragraph; behind a sign, and a few words that stand out, where it is a verdict."""

    text: str
    lead: str = ""
    status: Status | None = None
    quiet: bool = False


@dataclass(frozen=True)
class Listing:
    """Sentences of one kind, each for itself."""

    texts: tuple[str, ...]


Block = Sentence | Listing | Table


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
        compact: whether it is to fit one page.
        authors: whose it is, empty where nobody says.
    """

    title: str
    about: str
    parts: tuple[Part, ...]
    foot: tuple[str, ...]
    compact: bool = False
    authors: str = ""

    @property
    def tables(self) -> Iterator[Table]:
        """Its tables, in their order."""
        for part in self.parts:
            yield from (block for block in part.blocks if isinstance(block, Table))


def part(title: str, *blocks: Block | None) -> Part:
    """Return a part of those blocks that say anything."""
    return Part(title, tuple(block for block in blocks if block is not None and _says(block)))


def _says(block: Block) -> bool:
    match block:
        case Sentence():
            return bool(block.text or block.status)
        case Listing():
            return bool(block.texts)
        case Table():
            return bool(block.rows)


def row(*cells: Cell | str) -> tuple[Cell, ...]:
    """Return a row of cells; a text alone is a cell."""
    return tuple(Cell(cell) if isinstance(cell, str) else cell for cell in cells)
