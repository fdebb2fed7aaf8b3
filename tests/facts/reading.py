"""Blocks as a page shows them, read back from their HTML."""

from xml.etree import ElementTree

from replicalab.facts.blocks import Block
from replicalab.render.html import html
from tests.ui.reading import bars_in, heard


def tree(*blocks: Block) -> ElementTree.Element:
    return ElementTree.fromstring(f"<panel>{html(*blocks)}</panel>")  # noqa: S314  # ours


def words(*blocks: Block) -> str:
    return "".join(tree(*blocks).itertext())


def rows(*blocks: Block) -> list[list[str]]:
    table = tree(*blocks).findall(".//table")[-1]
    return [[heard(cell) for cell in row] for row in table.iter("tr")]


def bars(*blocks: Block) -> list[tuple[float, float, list[float]]]:
    result = []
    for bar in bars_in(tree(*blocks)):
        ends = dict(part.split(":") for part in bar.attrib["style"].split(";"))
        marks = [float(mark.attrib["style"].split(":")[1]) for mark in bar.iterfind("b")]
        result.append((float(ends["--from"]), float(ends["--to"]), marks))
    return result
