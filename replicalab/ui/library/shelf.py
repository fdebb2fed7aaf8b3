"""The library of this process, and the owner of a visitor's entries."""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING, Final

from replicalab import library, server
from replicalab.errors import LibraryError

if TYPE_CHECKING:
    from replicalab.library import Library

_RETRY_SECONDS: Final = 2.0  # after a failure, so that no page waits twice


class _Shelf:
    """The library, opened on first use."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._library: Library | None = None
        self._failure: tuple[float, LibraryError] | None = None

    def opened(self) -> Library:
        with self._lock:
            if self._failure and time.monotonic() - self._failure[0] < _RETRY_SECONDS:
                raise self._failure[1]
            if self._library is None:
                try:
                    self._library = library.Library()
                except LibraryError as error:
                    self._failure = time.monotonic(), error
                    raise
            return self._library


_SHELF = _Shelf()


def shelf() -> Library:
    """Return the library, the same for every visitor.

    Raises:
        LibraryError: it cannot be opened.
    """
    return _SHELF.opened()


def owner() -> library.Owner:
    """Return the owner of this visitor's entries: the person who signed in, or the browser."""
    return library.Owner.of(server.visitor())


def keep_beside(
    whose: library.Owner, kind: library.EntryKind, name: str, content: str, *, notes: str = ""
) -> library.Entry:
    """Save a new entry, with a number after its name if that is taken.

    Raises:
        LibraryError: it cannot be saved.
    """
    [entry] = shelf().keep_beside(whose, (kind, name, content), notes=notes)
    return entry
