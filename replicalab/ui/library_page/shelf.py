"""The library of this process, the owner of a visitor's entries, and saving in the background."""

from __future__ import annotations

import atexit
import logging
import time
from collections.abc import Callable
from threading import Condition, Lock, Thread
from typing import TYPE_CHECKING, Final, NamedTuple

from replicalab import library, server
from replicalab.errors import LibraryBusyError, LibraryError, LibraryStorageError

if TYPE_CHECKING:
    from replicalab.library import Library

_REOPEN_SECONDS: Final = 2.0  # after a failure, so that no page waits twice
_RETRY_SECONDS: Final = 5.0
_RETRIES: Final = 24  # two minutes, until a database is back
_EXIT_SECONDS: Final = 5.0  # to save the rest when the process ends
_PATIENCE: Final = 5  # times its delay that a state which keeps changing waits at most
_LOG: Final = logging.getLogger(__name__)

Save = Callable[[], object]


class Shelf:
    """The library, opened on first use."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._library: Library | None = None
        self._failure: tuple[float, LibraryError] | None = None

    def open(self) -> Library:
        with self._lock:
            if self._failure and time.monotonic() - self._failure[0] < _REOPEN_SECONDS:
                raise self._failure[1]
            if self._library is None:
                try:
                    self._library = library.Library()
                except LibraryError as error:
                    self._failure = time.monotonic(), error
                    raise
            return self._library


SHELF = Shelf()


def shelf() -> Library:
    """Return the library, the same for every visitor; raise LibraryError if it cannot be opened."""
    if server.is_demo():
        raise LibraryError(server.DEMO_TEXT)
    return SHELF.open()


def owner() -> library.Owner:
    """Return the owner of this visitor's entries: the person who signed in, or the browser."""
    return library.Owner.of(server.visitor())


class _Job(NamedTuple):
    save: Save
    due: float
    since: float
    failures: int = 0


class Writer:
    """A thread that saves, of each place only the latest state."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._jobs: dict[str, _Job] = {}
        self._busy = False
        self._thread: Thread | None = None

    def later(self, place: str, save: Save, seconds: float = 0.0) -> None:
        """Save after some seconds, in place of the save that waits there; return at once."""
        now = time.monotonic()
        with self._changed:
            since = self._jobs[place].since if place in self._jobs else now
            due = min(now + seconds, since + _PATIENCE * seconds)
            self._jobs[place] = _Job(save, due, since)
            if self._thread is None:
                self._thread = Thread(target=self._run, name="library writer", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def finish(self) -> None:
        """Return once every waiting save was tried."""
        with self._changed:
            for place, job in self._jobs.items():
                self._jobs[place] = job._replace(due=0.0)
            self._changed.notify_all()
            self._changed.wait_for(lambda: not (self._busy or self._due()), _EXIT_SECONDS)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not (place := self._due()):
                    next_due = min((job.due for job in self._jobs.values()), default=None)
                    pause = None if next_due is None else max(0.0, next_due - time.monotonic())
                    self._changed.wait(pause)
                job, self._busy = self._jobs.pop(place), True
            self._try(place, job)
            with self._changed:
                self._busy = False
                self._changed.notify_all()

    def _due(self) -> str | None:
        now = time.monotonic()
        return next((place for place, job in self._jobs.items() if job.due <= now), None)

    def _try(self, place: str, job: _Job) -> None:
        try:
            job.save()
        except (LibraryBusyError, LibraryStorageError):
            if job.failures < _RETRIES:
                due = time.monotonic() + _RETRY_SECONDS
                with self._changed:  # a newer state has priority
                    self._jobs.setdefault(place, job._replace(due=due, failures=job.failures + 1))
        except LibraryError:
            return  # a retry would fail too; the caller has noted why
        except Exception:  # noqa: BLE001 - our own bug, and other saves wait for this thread
            _LOG.exception("'%s' could not be saved", place)


_WRITER: Final = Writer()
atexit.register(_WRITER.finish)

later = _WRITER.later
finish = _WRITER.finish
