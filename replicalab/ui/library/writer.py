"""Saving in a thread of its own: soon, without a wait, and of each place the last state alone."""

import atexit
import logging
import time
from collections.abc import Callable
from threading import Condition, Thread
from typing import Final, NamedTuple

from replicalab.errors import LibraryBusyError, LibraryError, LibraryStorageError

_AGAIN_SECONDS: Final = 5.0
# What cannot be saved is tried for two minutes, until a database is there again.
_MOST_TRIES: Final = 24
_LAST_SECONDS: Final = 5.0  # So long an ending process waits for what is still to be saved
# However often a state changes, it waits no more than so many times as long as it asked for.
_PATIENCE: Final = 5

_LOG: Final = logging.getLogger(__name__)

Save = Callable[[], object]


class _Job(NamedTuple):
    """What is to be saved: when, since when it waits, and how often it has failed."""

    save: Save
    due: float
    since: float
    failed: int = 0


class Writer:
    """One thread that saves; any thread may ask it to, and goes on at once."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._jobs: dict[str, _Job] = {}
        self._busy = False
        self._thread: Thread | None = None

    def later(self, place: str, save: Save, seconds: float = 0.0) -> None:
        """Have something saved in so many seconds, in place of what waits there."""
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
        """Return once everything that waits has been tried."""
        with self._changed:
            for place, job in self._jobs.items():
                self._jobs[place] = job._replace(due=0.0)
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: not self._busy and not self._due(), timeout=_LAST_SECONDS
            )

    def _run(self) -> None:
        while True:
            with self._changed:
                while not (place := self._due()):
                    self._changed.wait(self._pause())
                job, self._busy = self._jobs.pop(place), True
            self._try(place, job)
            with self._changed:
                self._busy = False
                self._changed.notify_all()

    def _due(self) -> str | None:
        now = time.monotonic()
        return next((place for place, job in self._jobs.items() if job.due <= now), None)

    def _pause(self) -> float | None:
        if not self._jobs:
            return None
        return max(0.0, min(job.due for job in self._jobs.values()) - time.monotonic())

    def _try(self, place: str, job: _Job) -> None:
        """Save; what cannot be saved comes again, unless something newer is there."""
        try:
            job.save()
        except (LibraryBusyError, LibraryStorageError):
            if job.failed >= _MOST_TRIES:
                return
            now = time.monotonic()
            with self._changed:
                again = job._replace(due=now + _AGAIN_SECONDS, failed=job.failed + 1)
                self._jobs.setdefault(place, again)
        except LibraryError:
            return  # another try would not end otherwise; who asked has noted why
        except Exception:  # noqa: BLE001 - a fault of ours, and all others wait for this thread
            _LOG.exception("what waited under '%s' could not be saved", place)


_WRITER: Final = Writer()
atexit.register(_WRITER.finish)

later = _WRITER.later
finish = _WRITER.finish
