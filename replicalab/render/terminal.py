"""Blocks as rich renderables: a page's words, fitted to the width of the terminal."""

from collections.abc import Iterator
from typing import Final, TextIO

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from replicalab.characters import shown
from replicalab.facts import blocks
from replicalab.facts.blocks import Status

SIGNS: Final = {Status.PASS: "pass", Status.CAUTION: "CAUTION", Status.FAIL: "FAIL"}
_STYLES: Final = {Status.PASS: "green", Status.CAUTION: "yellow", Status.FAIL: "bold red"}
_PIPE_WIDTH: Final = 100


class AnswerConsole(Console):
    """A console that leaves a broken pipe to its caller."""

    def __init__(self, stream: TextIO) -> None:
        width = None if stream.isatty() else _PIPE_WIDTH
        super().__init__(file=stream, width=width, markup=False, highlight=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Raise the error again."""
        raise BrokenPipeError


def renderables(*parts: blocks.Block | str) -> Iterator[RenderableType]:
    """Yield blocks as renderables; a text is a sentence."""
    for part in parts:
        match part:
            case str():
                yield Padding.indent(sign(None, part), 2)
            case blocks.Heading():
                yield heading(part.text)
            case blocks.Sentence():
                yield Padding.indent(sign(part.status, f"{part.lead} {part.text}".strip()), 2)
            case blocks.Listing(items=inner) | blocks.Group(blocks=inner):
                yield from renderables(*inner)
            case blocks.Table():
                yield from _table(part)
            case blocks.Fold():
                yield from (heading(part.summary), *renderables(*part.blocks))
            case _:
                raise TypeError(f"{type(part).__name__} has no form in a terminal")


def heading(text: str) -> Text:
    return Text(f"\n{shown(text)}", "bold")


def sign(status: Status | None, text: str) -> Text:
    """Return a text behind the sign of its status."""
    if status is None:
        return Text(shown(text))
    return Text.assemble((SIGNS[status], _STYLES[status]), f": {shown(text)}" if text else "")


def _table(table: blocks.Table) -> Iterator[RenderableType]:
    names = [column.name if column.is_seen else "" for column in table.columns]
    grid = RichTable(box=None, show_header=any(names), padding=(0, 2, 0, 0), header_style="bold")
    for column, name in zip(table.columns, names, strict=True):
        grid.add_column(Text(shown(name)), justify="right" if "number" in column.look else "left")
    for row in table.rows:
        grid.add_row(*map(_cell, row))
    yield Padding.indent(grid, 2)
    for row, texts in zip(table.rows, table.below, strict=False):
        yield from renderables(*(f"{row[0].text}: {text}" for text in texts))


def _cell(cell: blocks.Cell) -> Text:
    more = cell.more.text if cell.more else ""
    text = "; ".join(filter(None, (f"{cell.text} {cell.note}".strip(), more)))
    return sign(cell.status, " ".join(text.split()))
