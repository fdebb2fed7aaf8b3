"""PDF from a process of its own: it takes no turn from those who use the pages, and can be ended.

`main` is what that process runs: a page's HTML comes in as JSON, PDF goes out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from replicalab.errors import PrintError
from replicalab.report.as_html import html
from replicalab.report.as_pdf import Paper, printed
from replicalab.report.document import Document

SECONDS: Final = 30.0
"""After which it is ended; a report of a shipped study takes some two."""
_HOME: Final = Path(__file__).parents[2]
_RUN: Final = f"import sys; from {__name__} import main; sys.exit(main())"
_LAZIER: Final = 10
_TOLD: Final = 3
"""How that process ends where it says why there is no PDF; what else it says is for its makers."""
_FAILED: Final = "no PDF: making it failed; print the HTML from a browser"


def pdf_apart(document: Document, paper: Paper = "A4", seconds: float = SECONDS) -> bytes:
    """Return what `pdf` returns, made in another process.

    Raises:
        PrintError: nothing can be printed here, or it takes too long.
    """
    asked = {"page": html(document), "paper": paper, "compact": document.compact}
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
    if made.returncode == _TOLD:
        raise PrintError(made.stderr.decode(errors="replace").strip().splitlines()[-1])
    if made.returncode:
        raise PrintError(_FAILED)
    return made.stdout


def main() -> int:
    """Print the page that comes in, with less of the processor than those who wait for a page."""
    if hasattr(os, "nice"):
        os.nice(_LAZIER)
    asked = json.load(sys.stdin.buffer)
    try:
        data = printed(asked["page"], asked["paper"], compact=asked["compact"])
    except PrintError as error:
        sys.stderr.write(str(error))
        return _TOLD
    sys.stdout.buffer.write(data)
    return 0
