"""The visitors' batches: one each, in processes of their own, bounded in number.

A batch belongs to its visitor, so a rerun, another page and a reload find it again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import Final, Self

from replicalab.lexicon import count_text
from replicalab.library import KeptBatch
from replicalab.limits import MOST_BATCHES, MOST_HELD, MOST_PAGE_JOBS, MOST_PLAYED_AGAIN
from replicalab.negotiation.batch import Result, failure_text, played_again, run_batch
from replicalab.negotiation.case import Case

IN_USE_SECONDS: Final = 3600.0  # after the last look, a finished batch may be dropped
AWAY_SECONDS: Final = 600.0  # after the last look, a running batch may be stopped for another
_NOTICES_KEPT: Final = 1_000  # of dropped batches, the latest
_NICENESS: Final = 10  # pages go first
_WORKERS: Final = max(1, (os.cpu_count() or 1) // (MOST_BATCHES + 1))  # one share is the pages'

_NONE_CHOSEN: Final = "Nothing is chosen: choose at least one of each."
_TOO_MANY: Final = (
    "These are {number}, and a batch here has at most {most:,}: choose fewer, or run them by "
    "python -m replicalab batch."
)
_SERVER_IS_BUSY: Final = "This server runs {most} batches, the most at once: try again in a minute."
_IS_UNDER_WAY: Final = "Your batch is under way: stop it, or let it end."
_NO_ROOM: Final = "This server has no room for another batch: try again in an hour."
_STOPPED: Final = "another visitor's batch took its place: you were away for 10 minutes."
_DROPPED: Final = "Your last batch was dropped, as this server had no room. "


@dataclass(eq=False)
class VisitorBatch:
    """A visitor's batch.

    Attributes:
        is_over: whether no more results come: all have, or it was stopped.
        kept_as: its name in the library, if it was opened from there.
        missing: jobs of an opened batch without a result.
        again: results of an opened batch, each with that of playing it again.
        before: the visitor's batch before it.
    """

    jobs: Sequence[Case]
    came: list[Result] = field(default_factory=list)
    is_over: bool = False
    problem: str = ""
    seen: float = 0.0
    kept_as: str = ""
    missing: int = 0
    again: Sequence[tuple[Result, Result]] = ()
    before: VisitorBatch | None = None
    _stop: Event = field(default_factory=Event)

    @classmethod
    def opened(cls, name: str, kept: KeptBatch) -> Self:
        """Return a batch of the library, with some of its negotiations played again."""
        came = kept.came()
        return cls(
            [result.job for result in came],
            came,
            is_over=True,
            kept_as=name,
            missing=kept.asked - len(came),
            again=played_again(came, MOST_PLAYED_AGAIN),
        )

    @property
    def number(self) -> int:
        """The number of negotiations that were asked for."""
        return len(self.jobs) + self.missing

    @property
    def is_stopping(self) -> bool:
        """Whether it was stopped."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Begin no more negotiations; results stay."""
        self._stop.set()

    def run(self) -> None:
        """Play every job, until it is stopped."""
        cases = {_key(job): job for job in self.jobs}
        results = run_batch(self.jobs, workers=_WORKERS, niceness=_NICENESS)
        try:
            for result in results:
                if self.is_stopping:
                    break
                # The result has a copy of its job from another process; keep one of the two.
                self.came.append(result.model_copy(update={"job": cases[_key(result.job)]}))
        except Exception as error:  # noqa: BLE001 - nothing above a thread reports it
            self.problem = failure_text(error)
        finally:
            results.close()
            self.is_over = True


def _key(job: Case) -> tuple[object, ...]:
    return job.study, job.lab, job.seed, job.scientist, job.lab_manager


def _size(batch: VisitorBatch) -> int:
    return len(batch.jobs) + (len(batch.before.jobs) if batch.before else 0)


class Batches:
    """The batches of all visitors, for any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._batches: dict[str, VisitorBatch] = {}
        self._dropped: dict[str, str] = {}

    def of(self, owner: str) -> VisitorBatch | None:
        """Return a visitor's batch, if any; it counts as looked at."""
        with self._lock:
            batch = self._batches.get(owner)
            if batch is not None:
                batch.seen = self._clock()
            return batch

    def dropped(self, owner: str) -> str:
        """Return the notice about a visitor's dropped batch; empty if none was."""
        return self._dropped.get(owner, "")

    def begin(self, owner: str, jobs: Sequence[Case]) -> str:
        """Begin a batch in place of the visitor's last, or return why not."""
        with self._lock:
            if refused := self._refusal(owner, len(jobs)):
                return refused
            batch = self._put(owner, VisitorBatch(jobs))
        Thread(target=batch.run, name="batch", daemon=True).start()
        return ""

    def show(self, owner: str, batch: VisitorBatch) -> str:
        """Show a finished batch in place of the visitor's last, or return why not."""
        with self._lock:
            if refused := self._conflict(owner, len(batch.jobs)):
                return refused
            self._put(owner, batch)
        return ""

    def back(self, owner: str) -> None:
        """Swap the visitor's last batch and the one before."""
        with self._lock:
            last = self._batches.get(owner)  # it may just have been dropped
            if last is not None and last.is_over and last.before is not None:
                first, last.before = last.before, None
                first.before, first.seen = last, self._clock()
                self._batches[owner] = first

    def _put(self, owner: str, batch: VisitorBatch) -> VisitorBatch:
        last = self._batches.get(owner)
        if last is not None:
            batch.before = last if last.came else last.before
            last.before = None
            if self._held(owner) + _size(batch) > MOST_HELD:
                batch.before = None
        batch.seen = self._clock()
        self._batches[owner] = batch
        self._dropped.pop(owner, None)
        return batch

    def _refusal(self, owner: str, number: int) -> str:
        if not number:
            return _NONE_CHOSEN
        if number > MOST_PAGE_JOBS:
            return _TOO_MANY.format(number=count_text(number, "negotiation"), most=MOST_PAGE_JOBS)
        if refused := self._conflict(owner, number):
            return refused
        return "" if self._has_slot(owner) else _SERVER_IS_BUSY.format(most=MOST_BATCHES)

    def _conflict(self, owner: str, number: int) -> str:
        batch = self._batches.get(owner)
        if batch is not None and not batch.is_over:
            return _IS_UNDER_WAY
        self._make_room(owner, number)
        return _NO_ROOM if self._held(owner) + number > MOST_HELD else ""

    def _has_slot(self, owner: str) -> bool:
        others = self._others(owner).values()
        running = [batch for batch in others if not batch.is_over and not batch.is_stopping]
        if len(running) < MOST_BATCHES:
            return True
        unseen = min(running, key=lambda batch: batch.seen)
        if self._clock() - unseen.seen <= AWAY_SECONDS:
            return False
        unseen.problem = _STOPPED
        unseen.stop()
        return True

    def _others(self, owner: str) -> dict[str, VisitorBatch]:
        others = (pair for pair in self._batches.items() if pair[0] != owner)
        return dict(sorted(others, key=lambda pair: pair[1].seen))

    def _held(self, without: str = "") -> int:
        return sum(map(_size, self._others(without).values()))

    def _make_room(self, owner: str, number: int) -> None:
        # First batches of the library, then long unused ones; the longest unused first.
        for key, batch in self._others(owner).items():
            if self._held() + number <= MOST_HELD:
                return
            if batch.before is not None and batch.before.kept_as:
                batch.before = None
            if batch.kept_as:
                remedy = f"Open {batch.kept_as} again from the library."
                self._drop(key, remedy, batch.before)
        for key, batch in self._others(owner).items():
            if self._held() + number <= MOST_HELD:
                return
            if batch.is_over and self._clock() - batch.seen > IN_USE_SECONDS:
                self._drop(key, "Run it again.")

    def _drop(self, owner: str, remedy: str, before: VisitorBatch | None = None) -> None:
        last = self._batches.pop(owner)
        if before is not None:
            before.seen = last.seen
            self._batches[owner] = before
        self._dropped.pop(owner, None)
        self._dropped[owner] = f"{_DROPPED}{remedy}"
        if len(self._dropped) > _NOTICES_KEPT:
            del self._dropped[next(iter(self._dropped))]


BATCHES: Final = Batches()  # not a cache of Streamlit, which any session can clear
