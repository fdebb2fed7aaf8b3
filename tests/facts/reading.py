"""Blocks as a page shows them, read back from their HTML."""

from __future__ import annotations

from xml.etree import ElementTree

from replicalab.facts.blocks import Block
from replicalab.render.html import html
from tests.ui.reading import bars_in, heard


def tree(*blocks: Block) -> ElementTree.Element:
    """Return the HTML of blocks as a tree."""
    return ElementTree.fromstring(f"<panel>{html(*blocks)}</panel>")  # noqa: S314  # ours


def words(*blocks: Block) -> str:
    """Return the words of blocks."""
    return "".join(tree(*blocks).itertext())


def rows(*blocks: Block) -> list[list[str]]:
    """Return the rows of the last table in some blocks, as heard, its header first."""
    table = tree(*blocks).findall(".//table")[-1]
    return [[heard(cell) for cell in row] for row in table.iter("tr")]


def bars(*blocks: Block) -> list[tuple[float, float, list[float]]]:
    """Return start, end and marks of each bar, as shares of its cell."""
    result = []
    for bar in bars_in(tree(*blocks)):
        ends = dict(part.split(":") for part in bar.attrib["style"].split(";"))
        marks = [float(mark.attrib["style"].split(":")[1]) for mark in bar.iterfind("b")]
        result.append((float(ends["--from"]), float(ends["--to"]), marks))
    return result
