"""The library as the pages have it: one for the whole process, and whose entries are whose."""

from __future__ import annotations

from threading import Lock

from replicalab.library import Library, Owner
from replicalab.ui import visitor


class _Shelf:
    """The library, opened when it is first asked for; what cannot be opened is tried anew."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._library: Library | None = None

    def opened(self) -> Library:
        with self._lock:
            if self._library is None:
                self._library = Library()
            return self._library


_SHELF = _Shelf()


def shelf() -> Library:
    """Return the library, the same for every visitor.

    Raises:
        LibraryError: it cannot be opened; the text says why, and what to do.
    """
    return _SHELF.opened()


def owner() -> Owner:
    """Return whose entries this visitor's are."""
    return Owner.of(visitor.secret())
