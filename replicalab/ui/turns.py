"""Runs of pages take turns, as long as each is short.

Python computes for one run at a time whatever we do. Of twenty runs that share it all end late;
one after the other, the first ends at once and the last no later. A run that takes long, for it
waits for a model or computes a batch, gives its turn up: nobody waits for it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

LONGEST_TURN: Final = 0.1
"""Seconds after which a run no longer keeps others waiting."""


class Turns:
    """The turns of the runs of one process, each in a thread of its own.

    Args:
        longest: seconds after which a turn no longer keeps others waiting.
    """

    def __init__(self, longest: float = LONGEST_TURN) -> None:
        self._longest = longest
        self._lock = Lock()
        self._ends = 0.0

    @contextmanager
    def one(self) -> Iterator[None]:
        """Take a turn: wait until whoever has one is done, or has had it for too long."""
        took = self._take()
        try:
            yield
        finally:
            if took:
                self._lock.release()

    def _take(self) -> bool:
        """Return whether a turn was taken; where not, one that takes long has it still."""
        took = self._lock.acquire(blocking=False)
        while not took and (left := self._ends - time.monotonic()) > 0:
            took = self._lock.acquire(timeout=left)
        if took:
            self._ends = time.monotonic() + self._longest
        return took
