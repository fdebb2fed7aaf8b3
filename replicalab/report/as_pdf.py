"""A document as PDF, from its HTML and without a browser: WeasyPrint, where it is installed."""

from __future__ import annotations

import logging
from typing import Final, Literal, NoReturn

from replicalab.errors import PrintError
from replicalab.report.as_html import html
from replicalab.report.document import Document

Paper = Literal["A4", "letter"]
_SIZES: Final = (0.72, 0.66, 0.6)
"""Of the type of a brief, the first as the stylesheet has it: the largest that fits one page."""

_REMEDY: Final = (
    "run pip install -r requirements-pdf.txt, and have Pango on the system (on Debian: "
    "apt-get install libpango-1.0-0 libpangoft2-1.0-0), or print the HTML from a browser"
)


def pdf(document: Document, paper: Paper = "A4") -> bytes:
    """Return a document as tagged PDF on that paper.

    Raises:
        PrintError: WeasyPrint, or the Pango that it draws with, is not installed.
    """
    try:
        from weasyprint import CSS, HTML  # noqa: PLC0415 - optional, and slow to load
    except (ImportError, OSError) as error:
        missing = (
            "WeasyPrint" if isinstance(error, ImportError) else "Pango, a library of WeasyPrint,"
        )
        raise PrintError(f"no PDF: {missing} is not installed; {_REMEDY}") from error
    # It warns of what only screens need, such as clip-path.
    logging.getLogger("weasyprint").setLevel(logging.ERROR)
    page = HTML(string=html(document), url_fetcher=_fetch_nothing)
    for size in _SIZES if document.compact else _SIZES[:1]:
        sheet = f"@page {{ size: {paper} }} .compact main.rl {{ font-size: {size}rem !important }}"
        drawn = page.render(stylesheets=[CSS(string=sheet)], pdf_variant="pdf/ua-1")
        if len(drawn.pages) == 1:
            break
    data: bytes = drawn.write_pdf(pdf_variant="pdf/ua-1")
    return data


def _fetch_nothing(url: str, *_: object, **__: object) -> NoReturn:
    raise ValueError(f"a document fetches nothing, and asks for {url}")
