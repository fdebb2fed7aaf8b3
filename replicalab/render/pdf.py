"""A document as PDF, from its HTML and without a browser: WeasyPrint, where it is installed."""

import ctypes
import json
import logging
import os
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from replicalab.errors import PrintError
from replicalab.render.html import document_html
from replicalab.views.blocks import Document, Paper

# Of the type of a brief, the first as the stylesheet has it: the largest that fits one page.
_SIZES: Final = (0.72, 0.66, 0.6, 0.55)

_WEASYPRINT: Final = "WeasyPrint"
_PANGO: Final = "Pango, a library of WeasyPrint,"
# What Pango is called on Linux, on macOS and on Windows.
_PANGO_FILES: Final = ("libpango-1.0.so.0", "libpango-1.0.dylib", "libpango-1.0-0", "pango-1.0-0")
_REMEDY: Final = (
    "run pip install weasyprint, and have Pango on the system (on Debian: "
    "apt-get install libpango-1.0-0 libpangoft2-1.0-0), or print the HTML from a browser"
)


def pdf(document: Document, paper: Paper = "A4") -> bytes:
    """Return a document as tagged PDF on that paper.

    Raises:
        PrintError: WeasyPrint, or the Pango that it draws with, is not installed.
    """
    return printed(document_html(document), paper, compact=document.compact)


def printed(text: str, paper: Paper, *, compact: bool) -> bytes:
    """Return a document's HTML as tagged PDF; a compact one as large as it fits one page.

    Raises:
        PrintError: as for `pdf`.
    """
    try:
        from weasyprint import CSS, HTML  # noqa: PLC0415 - optional, and slow to load
        from weasyprint.urls import URLFetcher  # noqa: PLC0415
    except (ImportError, OSError) as error:
        missing = _WEASYPRINT if isinstance(error, ImportError) else _PANGO
        raise PrintError(_not_installed(missing)) from error
    # It warns of what only screens need, such as clip-path.
    logging.getLogger("weasyprint").setLevel(logging.ERROR)
    # No file of the server, no other machine: whatever a page names, it is printed without that.
    nothing = URLFetcher(allowed_protocols=())
    read = HTML(string=text, url_fetcher=nothing)
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
        return _not_installed(_WEASYPRINT)
    return "" if any(map(_loads, _PANGO_FILES)) else _not_installed(_PANGO)


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _not_installed(what: str) -> str:
    return f"no PDF: {what} is not installed; {_REMEDY}"


SECONDS: Final = 30.0
"""After which it is ended; a report of a shipped study takes some two."""
_HOME: Final = Path(__file__).parents[2]
_RUN: Final = f"import sys; from {__name__} import main; sys.exit(main())"
_LAZIER: Final = 10
# How that process ends where it says why there is no PDF; what else it says is for its makers.
_REFUSED: Final = 3
_FAILED: Final = "no PDF: making it failed; print the HTML from a browser"


def pdf_apart(document: Document, paper: Paper = "A4", seconds: float = SECONDS) -> bytes:
    """Return what `pdf` returns, made in another process.

    Raises:
        PrintError: nothing can be printed here, or it takes too long.
    """
    [made] = pdfs_apart([document], paper, seconds)
    return made


def pdfs_apart(
    documents: Sequence[Document], paper: Paper = "A4", seconds: float = SECONDS
) -> list[bytes]:
    """Return what `pdf` returns of each, made in one other process: starting it takes a second.

    Raises:
        PrintError: nothing can be printed here, or it takes longer than ``seconds`` for each.
    """
    seconds *= len(documents)
    pages = [(document_html(each), each.compact) for each in documents]
    asked = {"paper": paper, "pages": pages}
    try:
        made = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-c", _RUN],
            input=json.dumps(asked).encode(),
            capture_output=True,
            cwd=_HOME,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PrintError(
            f"no PDF: it is not done after {seconds:g} s; print the HTML from a browser"
        ) from None
    except OSError as error:
        raise PrintError(_FAILED) from error
    if made.returncode == _REFUSED:
        raise PrintError(made.stderr.decode(errors="replace").strip().splitlines()[-1])
    if made.returncode:
        raise PrintError(_FAILED)
    return [b64decode(line) for line in made.stdout.splitlines()]


def main() -> int:
    """Print the pages that come in, with less of the processor than those who wait for a page."""
    if hasattr(os, "nice"):
        os.nice(_LAZIER)
    asked = json.load(sys.stdin.buffer)
    try:
        for page, compact in asked["pages"]:
            data = printed(page, asked["paper"], compact=compact)
            sys.stdout.buffer.write(b64encode(data) + b"\n")
    except PrintError as error:
        sys.stderr.write(str(error))
        return _REFUSED
    return 0
