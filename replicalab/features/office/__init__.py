"""A document as a Word file, in Word's own styles, and as PDF, its HTML printed by WeasyPrint."""

from __future__ import annotations

import logging
from datetime import datetime
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Final

from replicalab.characters import on_one_line
from replicalab.documents import Printout
from replicalab.errors import PrintError
from replicalab.facts.blocks import Block, Cell, Document, Listing, Paper, Sentence, Status, Table
from replicalab.lexicon import shortened
from replicalab.render.html import document_html
from replicalab.tables import undated

if TYPE_CHECKING:
    from docx.document import Document as WordFile
    from docx.table import _Cell
    from docx.text.paragraph import Paragraph

_SIGNS: Final = {Status.PASS: "✓ ", Status.CAUTION: "! ", Status.FAIL: "✕ "}
_PAPERS_MM: Final = {"A4": (210, 297), "letter": (215.9, 279.4)}
_MARGIN_MM: Final = 16
_TEXT_PT: Final = 10
_TABLE_PT: Final = 9
_PROPERTY_LENGTH: Final = 254  # Word takes 255


def docx(document: Document, paper: Paper = "A4") -> bytes:
    """Return a document as a Word file on that paper; the same bytes each time."""
    from docx import Document as new_file  # noqa: N813, PLC0415 - slow to load
    from docx.shared import Mm, Pt  # noqa: PLC0415

    file: WordFile = new_file()
    about = file.core_properties
    about.title = shortened(on_one_line(document.title), _PROPERTY_LENGTH)
    about.author = shortened(on_one_line(document.authors), _PROPERTY_LENGTH)
    about.comments = about.last_modified_by = about.keywords = ""
    about.language = "en"
    about.created = about.modified = datetime.combine(document.on, datetime.min.time())
    page = file.sections[0]
    page.page_width, page.page_height = map(Mm, _PAPERS_MM[paper])
    page.left_margin = page.right_margin = page.top_margin = page.bottom_margin = Mm(_MARGIN_MM)
    normal = file.styles["Normal"]
    normal.font.size, normal.paragraph_format.space_after = Pt(_TEXT_PT), Pt(4)
    file.add_paragraph(on_one_line(document.title), "Title")
    for line in filter(None, (document.authors, document.about)):
        file.add_paragraph(on_one_line(line))
    for part in filter(lambda part: part.blocks, document.parts):
        file.add_paragraph(on_one_line(part.title), "Heading 1")
        for block in part.blocks:
            _add(file, block)
    for line in document.foot:
        file.add_paragraph(on_one_line(line))
    saved = BytesIO()
    file.save(saved)
    return undated(saved.getvalue())


def _add(file: WordFile, block: Block) -> None:
    match block:
        case Sentence():
            _write(file.add_paragraph(), block)
        case Listing():
            for item in block.items:
                _write(file.add_paragraph(style="List Bullet"), item)
        case Table():
            caption = file.add_paragraph(on_one_line(block.caption), "Caption")
            caption.paragraph_format.keep_with_next = True
            drawn = file.add_table(len(block.rows) + 1, len(block.columns), "Light List")
            rows = [tuple(map(Cell, block.names)), *block.rows]
            for at, (line, row) in enumerate(zip(drawn.rows, rows, strict=True)):
                is_bold = at == 0 or at > len(block.rows) - block.totals
                for place, cell in zip(line.cells, row, strict=True):
                    _fill(place, cell, is_bold=is_bold)
            file.add_paragraph()
        case _:
            raise TypeError(f"a {type(block).__name__} is no block of a document")


def _write(line: Paragraph, sentence: Sentence) -> None:
    """Write a sentence; the address of its link follows in brackets."""
    line.add_run(_SIGNS[sentence.status] if sentence.status else "").bold = True
    if sentence.lead:
        line.add_run(f"{on_one_line(sentence.lead)} ").bold = True
    line.add_run(on_one_line(sentence.text))
    if sentence.link:
        line.add_run(f" ({sentence.link})")


def _fill(place: _Cell, cell: Cell, *, is_bold: bool) -> None:
    from docx.shared import Pt  # noqa: PLC0415

    [line] = place.paragraphs
    line.paragraph_format.space_after = Pt(1)
    sign = _SIGNS[cell.status] if cell.status else ""
    line.add_run(f"{sign}{on_one_line(cell.text)}").bold = is_bold
    if cell.note:
        line.add_run(f" {on_one_line(cell.note)}")
    for run in line.runs:
        run.font.size = Pt(_TABLE_PT)


_SIZES: Final = (0.72, 0.66, 0.6, 0.55)
"""Font sizes of a compact document in rem: the largest that fits one page is taken."""
_NOT_INSTALLED: Final = (
    "no PDF: WeasyPrint, or the library Pango that it needs, is not installed; run pip install "
    "weasyprint, and have Pango on the system (on Debian: apt-get install libpango-1.0-0 "
    "libpangoft2-1.0-0), or print the HTML from a browser"
)


def missing() -> str:
    """Say that WeasyPrint is not installed, and the remedy; empty if it is."""
    return "" if find_spec("weasyprint") else _NOT_INSTALLED


def pdf(document: Document, paper: Paper = "A4") -> bytes:
    """Return a document as tagged PDF on that paper; without WeasyPrint raise PrintError."""
    return print_html(document_html(document), paper, compact=document.compact)


def print_html(text: str, paper: Paper, *, compact: bool) -> bytes:
    """Return HTML as tagged PDF, without reading any file or address that it names."""
    try:
        from weasyprint import CSS, HTML  # noqa: PLC0415 - optional, and slow to load
        from weasyprint.urls import URLFetcher  # noqa: PLC0415
    except (ImportError, OSError) as error:
        raise PrintError(_NOT_INSTALLED) from error
    logging.getLogger("weasyprint").setLevel(logging.ERROR)  # it warns of screen-only CSS
    refusing = URLFetcher(allowed_protocols=())
    html = HTML(string=text, url_fetcher=refusing)
    for size in _SIZES if compact else _SIZES[:1]:
        sheet = f"@page {{ size: {paper} }} .compact main.rl {{ font-size: {size}rem !important }}"
        styles = [CSS(string=sheet, url_fetcher=refusing)]
        pages = html.render(stylesheets=styles, pdf_variant="pdf/ua-1")
        if len(pages.pages) == 1:
            break
    data: bytes = pages.write_pdf(pdf_variant="pdf/ua-1")
    return data


def section(page: Printout) -> bytes:
    return {"docx": docx, "pdf": pdf}[page.kind](page.document, page.paper)
