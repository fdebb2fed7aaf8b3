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

from replicalab.library import KeptBatch
from replicalab.limits import MOST_BATCHES, MOST_HELD, MOST_PAGE_JOBS, MOST_PLAYED_AGAIN
from replicalab.negotiation.batch import Result, failure_text, played_again, run_batch
from replicalab.negotiation.case import Case

IN_USE_SECONDS: Final = 3600.0  # after the last look, a finished batch may be dropped
AWAY_SECONDS: Final = 600.0  # after the last look, a running batch may be stopped for another
_NOTICES_KEPT: Final = 1_000  # of dropped batches, the latest
_NICENESS: Final = 10  # pages go first
_WORKERS: Final = max(1, (os.cpu_count() or 1) // (MOST_BATCHES + 1))  # one share is the pages'


@dataclass(eq=False)
class VisitorBatch:
    """A visitor's batch."""

    jobs: Sequence[Case]
    results: list[Result] = field(default_factory=list)
    is_over: bool = False
    problem: str = ""
    seen: float = 0.0
    kept_as: str = ""  # its name in the library, if it was opened from there
    missing: int = 0  # jobs of an opened batch without a result
    again: Sequence[tuple[Result, Result]] = ()  # of an opened batch: each, and played again
    before: VisitorBatch | None = None
    _stop: Event = field(default_factory=Event)

    @classmethod
    def from_library(cls, name: str, saved: KeptBatch) -> Self:
        """Return a batch of the library, with some of its negotiations played again."""
        results = saved.unpack()
        return cls(
            [result.job for result in results],
            results,
            is_over=True,
            kept_as=name,
            missing=saved.asked - len(results),
            again=played_again(results, MOST_PLAYED_AGAIN),
        )

    @property
    def number(self) -> int:
        return len(self.jobs) + self.missing

    @property
    def is_stopping(self) -> bool:
        return self._stop.is_set()

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        cases = {_key(job): job for job in self.jobs}
        stream = run_batch(self.jobs, workers=_WORKERS, niceness=_NICENESS)
        try:
            for result in stream:
                if self.is_stopping:
                    break
                # The result has a copy of its job from another process; keep one of the two.
                self.results.append(result.model_copy(update={"job": cases[_key(result.job)]}))
        except Exception as error:  # noqa: BLE001 - nothing above a thread reports it
            self.problem = failure_text(error)
        finally:
            stream.close()
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
        """Return a visitor's batch, if any; it counts as seen."""
        with self._lock:
            batch = self._batches.get(owner)
            if batch is not None:
                batch.seen = self._clock()
            return batch

    def notice_for(self, owner: str) -> str:
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
            batch.before = last if last.results else last.before
            last.before = None
            if self._held(owner) + _size(batch) > MOST_HELD:
                batch.before = None
        batch.seen = self._clock()
        self._batches[owner] = batch
        self._dropped.pop(owner, None)
        return batch

    def _refusal(self, owner: str, number: int) -> str:
        if not number:
            return "A field is empty: choose at least one value in each."
        if number > MOST_PAGE_JOBS:
            return (
                f"A batch here has at most {MOST_PAGE_JOBS:,} negotiations, and this one "
                f"{number:,}: choose fewer, or run them by python -m replicalab batch."
            )
        if refused := self._conflict(owner, number):
            return refused
        others = self._others(owner).values()
        running = [batch for batch in others if not batch.is_over and not batch.is_stopping]
        if len(running) < MOST_BATCHES:
            return ""
        unseen = running[0]
        if self._clock() - unseen.seen <= AWAY_SECONDS:
            return (
                f"This server runs {MOST_BATCHES} batches, the most at once: try again in a minute."
            )
        unseen.problem = "another visitor's batch took its place: you were away for 10 minutes."
        unseen.stop()
        return ""

    def _conflict(self, owner: str, number: int) -> str:
        batch = self._batches.get(owner)
        if batch is not None and not batch.is_over:
            return "Your batch is under way: stop it, or let it end."
        self._make_room(owner, number)
        if self._held(owner) + number > MOST_HELD:
            return "This server has no room for another batch: try again in an hour."
        return ""

    def _others(self, owner: str) -> dict[str, VisitorBatch]:
        """Return the batches of other visitors, the longest unused first."""
        others = (pair for pair in self._batches.items() if pair[0] != owner)
        return dict(sorted(others, key=lambda pair: pair[1].seen))

    def _held(self, without: str = "") -> int:
        return sum(map(_size, self._others(without).values()))

    def _make_room(self, owner: str, number: int) -> None:
        # First batches of the library, then long unused ones.
        others = sorted(self._others(owner).items(), key=lambda pair: not pair[1].kept_as)
        for key, batch in others:
            if self._held() + number <= MOST_HELD:
                return
            if batch.before is not None and batch.before.kept_as:
                batch.before = None
            unused = batch.is_over and self._clock() - batch.seen > IN_USE_SECONDS
            if not batch.kept_as and not unused:
                continue
            del self._batches[key]
            if batch.kept_as and batch.before is not None:
                batch.before.seen = batch.seen
                self._batches[key] = batch.before
            again = (
                f"Open {batch.kept_as} again from the library."
                if batch.kept_as
                else "Run it again."
            )
            self._dropped.pop(key, None)
            self._dropped[key] = f"Your last batch was dropped, as this server had no room. {again}"
            if len(self._dropped) > _NOTICES_KEPT:
                del self._dropped[next(iter(self._dropped))]


BATCHES: Final = Batches()  # not a cache of Streamlit, which any session can clear
