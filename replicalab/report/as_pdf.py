"""A document as PDF, from its HTML and without a browser: WeasyPrint, where it is installed."""

from __future__ import annotations

import ctypes
import logging
from functools import cache
from importlib.util import find_spec
from typing import Final, Literal

from replicalab.errors import PrintError
from replicalab.report.as_html import html
from replicalab.report.document import Document

Paper = Literal["A4", "letter"]
_SIZES: Final = (0.72, 0.66, 0.6, 0.55)
"""Of the type of a brief, the first as the stylesheet has it: the largest that fits one page."""

_WEASYPRINT: Final = "WeasyPrint"
_PANGO: Final = "Pango, a library of WeasyPrint,"
_PANGO_FILES: Final = ("libpango-1.0.so.0", "libpango-1.0.dylib", "libpango-1.0-0", "pango-1.0-0")
"""What Pango is called on Linux, on macOS and on Windows."""
_REMEDY: Final = (
    "run pip install -r requirements-pdf.txt, and have Pango on the system (on Debian: "
    "apt-get install libpango-1.0-0 libpangoft2-1.0-0), or print the HTML from a browser"
)


def pdf(document: Document, paper: Paper = "A4") -> bytes:
    """Return a document as tagged PDF on that paper.

    Raises:
        PrintError: WeasyPrint, or the Pango that it draws with, is not installed.
    """
    return printed(html(document), paper, compact=document.compact)


def printed(page: str, paper: Paper, *, compact: bool) -> bytes:
    """Return a document's HTML as tagged PDF; a compact one as large as it fits one page.

    Raises:
        PrintError: as for `pdf`.
    """
    try:
        from weasyprint import CSS, HTML  # noqa: PLC0415 - optional, and slow to load
        from weasyprint.urls import URLFetcher  # noqa: PLC0415
    except (ImportError, OSError) as error:
        missing = _WEASYPRINT if isinstance(error, ImportError) else _PANGO
        raise PrintError(_told(missing)) from error
    # It warns of what only screens need, such as clip-path.
    logging.getLogger("weasyprint").setLevel(logging.ERROR)
    # No file of the server, no other machine: whatever a page names, it is printed without that.
    nothing = URLFetcher(allowed_protocols=())
    read = HTML(string=page, url_fetcher=nothing)
    for size in _SIZES if compact else _SIZES[:1]:
        sheet = f"@page {{ size: {paper} }} .compact main.rl {{ font-size: {size}rem !important }}"
        drawn = read.render(
            stylesheets=[CSS(string=sheet, url_fetcher=nothing)], pdf_variant="pdf/ua-1"
        )
        if len(drawn.pages) == 1:
            break
    data: bytes = drawn.write_pdf(pdf_variant="pdf/ua-1")
    return data


@cache
def missing() -> str:
    """Return why nothing can be printed here, and what to do; empty where it can.

    It is found out without loading WeasyPrint, which takes half a second.
    """
    if find_spec("weasyprint") is None:
        return _told(_WEASYPRINT)
    return "" if any(map(_loads, _PANGO_FILES)) else _told(_PANGO)


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _told(what: str) -> str:
    return f"no PDF: {what} is not installed; {_REMEDY}"
