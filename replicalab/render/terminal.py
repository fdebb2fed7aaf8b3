"""Blocks as plain text, line by line: what a page shows, in the same words and order."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Final

from replicalab.characters import shown
from replicalab.views.blocks import (
    Block,
    Cell,
    Fold,
    Group,
    Heading,
    Listing,
    Panel,
    Sentence,
    Status,
    Table,
    Verdict,
)

SIGNS: Final = {Status.PASS: "pass", Status.CAUTION: "CAUTION", Status.FAIL: "FAIL"}
_INDENT: Final = "  "


def lines(*blocks: Block) -> Iterator[str]:
    """Yield blocks as lines; a table and a fold begin after an empty one."""
    for block in blocks:
        match block:
            case Heading():
                yield from ("", block.text)
            case Sentence():
                yield f"{_INDENT}{sentence(block)}"
            case Listing():
                yield from (f"{_INDENT}{sentence(item)}" for item in block.items)
            case Table():
                yield from _table(block)
            case Fold():
                yield from section(block.summary, lines(*block.blocks))
            case Group():
                yield from lines(*block.blocks)
            case Panel():
                raise TypeError(f"'{block.template}' is laid out for a page alone")


def sentence(block: Sentence) -> str:
    """Return a sentence behind its sign and its lead."""
    sign = f"{SIGNS[block.status]}:" if block.status else ""
    return " ".join(filter(None, (sign, block.lead, block.text)))


def verdict_line(verdict: Verdict) -> str:
    """Return a verdict behind its sign."""
    return f"{SIGNS[verdict.status]}: {verdict.text}"


def cell_text(cell: Cell) -> str:
    """Return a cell behind its sign."""
    return f"{SIGNS[cell.status]} {cell.text}" if cell.status else cell.text


def _table(table: Table) -> Iterator[str]:
    """Yield a table, its headings where a page shows them; a sign has a column of its own."""
    signed = [any(row[at].status for row in table.rows) for at in range(len(table.columns))]
    heads: list[str] = []
    right: list[int] = []
    for column, has_sign in zip(table.columns, signed, strict=True):
        heads += [""] * has_sign
        if "number" in column.look:
            right.append(len(heads))
        heads.append(column.name if column.is_seen else "")
    rows: list[list[str]] = []
    for row in table.rows:
        cells = []
        for cell, has_sign in zip(row, signed, strict=True):
            cells += [SIGNS[cell.status] if cell.status else ""] if has_sign else []
            more = cell.more.text if cell.more else ""
            said = " ".join(filter(None, (cell.text, cell.note)))
            cells.append("; ".join(filter(None, (said, more))))
        rows.append(cells)
    set_in = list(columns([heads, *rows], right))
    if any(heads):
        yield set_in[0]
    for at, line in enumerate(set_in[1:]):
        yield line
        yield from (f"{_INDENT * 4}{text}" for text in (table.below[at] if table.below else ()))


def records(table: Table) -> Iterator[str]:
    """Yield a table that is too wide for lines: each row numbered, its cells below each other."""
    for number, (first, *others) in enumerate(table.rows, start=1):
        yield f"{_INDENT}{number}. {cell_text(first)}"
        for column, cell in zip(table.columns[1:], others, strict=True):
            text = " ".join(filter(None, (cell_text(cell), cell.note)))
            yield f"{_INDENT}   {column.name}: {text}"


def columns(
    rows: Iterable[Sequence[str]], right: Sequence[int] = (), most: int = 0
) -> Iterator[str]:
    """Yield rows as lines, with their columns below each other.

    Args:
        rows: of as many cells each.
        right: the columns that are flush right.
        most: a longer cell takes several lines; 0 for no such limit.
    """
    held: list[Sequence[str]] = []
    for row in rows:
        cells = [shown(" ".join(cell.split())) for cell in row]
        parts = [textwrap.wrap(cell, most) if most else [cell] for cell in cells]
        held += zip_longest(*parts, fillvalue="")
    widths = [max(map(len, column)) for column in zip(*held, strict=True)]
    for line in held:
        padded = (
            f"{cell:>{width}}" if at in right else f"{cell:<{width}}"
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        yield f"{_INDENT}{'  '.join(padded)}".rstrip()


def section(title: str, texts: Iterable[str]) -> Iterator[str]:
    """Yield a title and what stands below it, after an empty line; nothing where nothing does."""
    held = [line for line in texts if line]
    if held:
        yield from ("", title, *held)


def indented(texts: Iterable[str]) -> Iterator[str]:
    """Yield each text that says something, indented."""
    yield from (f"{_INDENT}{text}" for text in texts if text)
