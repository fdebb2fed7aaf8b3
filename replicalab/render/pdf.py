"""A document as PDF: its HTML, printed by WeasyPrint."""

import logging
from importlib.util import find_spec
from typing import Final

from replicalab.errors import PrintError
from replicalab.facts.blocks import Document, Paper
from replicalab.render.html import document_html

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
    """Return a document as tagged PDF on that paper.

    Raises:
        PrintError: WeasyPrint or Pango is not installed.
    """
    return print_html(document_html(document), paper, compact=document.compact)


def print_html(text: str, paper: Paper, *, compact: bool) -> bytes:
    """Return HTML as tagged PDF, without reading any file or address that it names.

    Raises:
        PrintError: as for `pdf`.
    """
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
