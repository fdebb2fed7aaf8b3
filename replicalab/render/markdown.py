"""A document as Markdown: the same sentences and tables, every text as text."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from replicalab.characters import on_one_line, shown
from replicalab.facts.blocks import Block, Cell, Document, Listing, Sentence, Status, Table
from replicalab.tables import Value, sheet, workbook

_SIGNS: Final = {Status.PASS: "✓ ", Status.CAUTION: "! ", Status.FAIL: "✕ "}
# The marks of a link, an image, a list, a formula or a reaction.
_MARKUP: Final = re.compile(
    r"[\\`*_{}\[\]<>#!|~$^&@/=]|(?<=\bwww)\.|:(?=\S)|^[-+](?=\s)|(?<=^\d)[.)](?=\s)"
    r"|(?<=^\d\d)[.)](?=\s)",
    re.IGNORECASE,
)


def markdown(document: Document) -> str:
    """Return a document as Markdown, as GitHub and registries read it."""
    return "\n\n".join(_blocks(document)) + "\n"


def escape(text: str) -> str:
    """Return a foreign text on one line, without any markup."""
    return _MARKUP.sub(r"\\\g<0>", on_one_line(text))


def _blocks(document: Document) -> Iterator[str]:
    yield f"# {escape(document.title)}"
    if document.authors:
        yield escape(document.authors)
    yield escape(document.about)
    for part in document.parts:
        if part.blocks:
            yield f"## {escape(part.title)}"
            yield from map(_block, part.blocks)
    yield "---"
    yield from map(escape, document.foot)


def _block(block: Block) -> str:
    match block:
        case Sentence():
            lead = f"**{escape(block.lead)}**" if block.lead else ""
            sign = _SIGNS[block.status] if block.status else ""
            message, word = map(escape, block.linked)
            message += f" [{word}]({block.link})" if word else ""
            return f"{sign}{' '.join(filter(None, (lead, message)))}"
        case Listing():
            texts = (f"{item.lead} {item.text}".strip() for item in block.items)
            return "\n".join(f"- {escape(text)}" for text in texts)
        case Table():
            rows = [map(escape, block.names), ("---" for _ in block.names)]
            rows += [map(_cell, row) for row in block.rows]
            lines = (f"| {' | '.join(cells)} |" for cells in rows)
            return "\n".join([f"**{escape(block.caption)}**", "", *lines])
    raise TypeError(f"a {type(block).__name__} is no block of a document")


def _cell(cell: Cell) -> str:
    sign = _SIGNS[cell.status] if cell.status else ""
    return f"{sign}{escape(f'{cell.text} {cell.note}'.strip())}"


def csv_tables(document: Document) -> dict[str, str]:
    """Return each table of a document as the text of a CSV file, by its caption."""
    return {table.caption: sheet(table.names, _rows(table)) for table in document.tables}


def excel(document: Document) -> bytes:
    """Return the tables of a document as one workbook, a sheet each."""
    sheets = {table.caption: [table.names, *_rows(table)] for table in document.tables}
    return workbook(sheets, document.title, document.authors)


def _rows(table: Table) -> Iterable[list[Value]]:
    return [[*map(_value, row)] for row in table.rows]


def _value(cell: Cell) -> Value:
    return shown(cell.text) if cell.number is None else cell.number
