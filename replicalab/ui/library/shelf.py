"""The library as the pages have it: one for the whole process, and whose entries are whose."""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING, Final

from replicalab import library, server
from replicalab.errors import LibraryError
from replicalab.library import Entry, EntryKind, Owner

if TYPE_CHECKING:
    from replicalab.library import Library

# So long nobody tries again to open what could not be opened: no page waits for it twice.
_REST_SECONDS: Final = 2.0


class _Shelf:
    """The library, opened when it is first asked for; what cannot be opened is tried anew."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._library: Library | None = None
        self._failed: tuple[float, LibraryError] | None = None

    def opened(self) -> Library:
        with self._lock:
            if self._failed and time.monotonic() - self._failed[0] < _REST_SECONDS:
                raise self._failed[1]
            if self._library is None:
                try:
                    self._library = library.Library()
                except LibraryError as error:
                    self._failed = time.monotonic(), error
                    raise
            return self._library


_SHELF = _Shelf()


def shelf() -> Library:
    """Return the library, the same for every visitor.

    Raises:
        LibraryError: it cannot be opened; the text says why, and what to do.
    """
    return _SHELF.opened()


def owner() -> Owner:
    """Return whose entries this visitor's are: the person's who signed in, or the browser's."""
    return Owner.of(server.visitor())


def keep_beside(
    whose: Owner, kind: EntryKind, name: str, content: str, *, notes: str = ""
) -> Entry:
    """Return a new entry, with a number after its name where another has that name.

    Raises:
        LibraryError: it cannot be kept.
    """
    [entry] = shelf().keep_beside(whose, (kind, name, content), notes=notes)
    return entry
