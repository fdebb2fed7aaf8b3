"""PDF for whoever asks: one is made at a time on this server, and few may wait for their turn."""

from __future__ import annotations

from threading import BoundedSemaphore, Lock
from typing import Final

from replicalab.errors import PrintError
from replicalab.report import Document, Paper, pdf_apart

MOST_WAITING: Final = 3
"""Each holds the run of its visitor's page."""
_BUSY: Final = "no PDF: others are being made; ask again in a minute, or print the HTML"


class Press:
    """Makes one PDF at a time; any thread may ask."""

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
        self._turn = Lock()
        self._room = BoundedSemaphore(most_waiting)

    def pdf(self, document: Document, paper: Paper) -> bytes:
        """Return a document as PDF.

        Raises:
            PrintError: too many are waiting, or it cannot be made.
        """
        if not self._room.acquire(blocking=False):
            raise PrintError(_BUSY)
        try:
            with self._turn:
                return pdf_apart(document, paper)
        finally:
            self._room.release()


PRESS: Final = Press()
"""The server's."""
