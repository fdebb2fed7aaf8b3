"""The batches that visitors run: one each, in processes of their own, bounded in number.

It knows no page. A batch belongs to its visitor, not to a page or a session: a rerun, another page
and a reload find it again, with all that has come.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import Final, Self

from replicalab.batch import Result, failure_text, played_again, run_batch
from replicalab.case import Case
from replicalab.lexicon import count_text
from replicalab.library import KeptBatch

MOST_JOBS: Final = 10_000  # Of one batch here; the command line runs more
MOST_AT_ONCE: Final = 3  # So many batches are under way at once, whoever runs them
PLAYED_AGAIN: Final = 20
"""So many negotiations of a batch from the library are played again when it is opened."""
MOST_HELD: Final = 60_000  # The most jobs of all batches here, some 2 KiB each
IN_USE_SECONDS: Final = 3600.0
"""How long after it was last looked at a batch is not given up for another."""
AWAY_SECONDS: Final = 600.0
"""How long after it was last looked at a batch under way may give way to another visitor's."""
_NOTICES_KEPT: Final = 1_000  # For so many visitors it is noted that a batch gave way, the latest
_POLITE: Final = 10  # How much less of a core they get than a page, in the unit of `os.nice`
# Processes for each batch; they give way to the pages.
_WORKERS: Final = max(1, (os.cpu_count() or 1) // (MOST_AT_ONCE + 1))


# Why a batch is refused.
_NONE_CHOSEN: Final = "Nothing is chosen: choose at least one of each."
_TOO_MANY: Final = (
    "These are {number}, and a batch here has at most {most:,}: choose fewer, or run them by "
    "python -m replicalab batch."
)
_SERVER_IS_BUSY: Final = (
    "{most} batches of others are under way, the most that this server runs at once: try again in "
    "a minute."
)
_IS_UNDER_WAY: Final = "Your batch is under way: stop it, or let it end."
_NO_ROOM: Final = "This server has no room for another batch: try again in an hour."


@dataclass(eq=False)
class VisitorBatch:
    """A visitor's batch.

    Attributes:
        jobs: what is asked for.
        came: what has come of it; only ever added to.
        is_over: whether nothing more comes: all has, or it was stopped.
        problem: why it broke off; empty where it did not.
        seen: when its visitor last looked at it.
        kept_as: its name in the library, where it was opened from there.
        missing: how many more jobs it had than are known, as that keeps only what came.
        again: some of what came of an opened one, each with what comes of it now.
        before: the visitor's batch before it, which comes back on demand.
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
        """Return a batch out of the library, some of it played again."""
        came = kept.came()
        return cls(
            [result.job for result in came],
            came,
            is_over=True,
            kept_as=name,
            missing=kept.asked - len(came),
            again=played_again(came, PLAYED_AGAIN),
        )

    @property
    def number(self) -> int:
        """How many negotiations were asked for."""
        return len(self.jobs) + self.missing

    def stop(self) -> None:
        """Begin nothing more; what has come stays."""
        self._stop.set()

    @property
    def is_stopping(self) -> bool:
        """Whether it was stopped."""
        return self._stop.is_set()

    def run(self) -> None:
        """Play every job, until it is stopped."""
        cases = {_key(job): job for job in self.jobs}
        results = run_batch(self.jobs, workers=_WORKERS, niceness=_POLITE)
        try:
            for result in results:
                if self.is_stopping:
                    break
                # One job for both: what came from another process is a copy.
                self.came.append(result.model_copy(update={"job": cases[_key(result.job)]}))
        except Exception as error:  # noqa: BLE001 - a thread has nobody to tell
            self.problem = failure_text(error)
        finally:
            results.close()
            self.is_over = True


def _key(job: Case) -> tuple[object, ...]:
    return job.study, job.lab, job.seed, job.scientist, job.lab_manager


def _size(batch: VisitorBatch) -> int:
    """Return how many jobs a batch holds in memory, with the one before it."""
    return len(batch.jobs) + (len(batch.before.jobs) if batch.before else 0)


class Batches:
    """Every visitor's batch; any thread may ask."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Hold none yet."""
        self._clock, self._lock = clock, Lock()
        self._found: dict[str, VisitorBatch] = {}
        self._gave_way: dict[str, str] = {}

    def of(self, owner: str) -> VisitorBatch | None:
        """Return a visitor's batch, now looked at; None where there is none."""
        with self._lock:
            batch = self._found.get(owner)
            if batch is not None:
                batch.seen = self._clock()
            return batch

    def gave_way(self, owner: str) -> str:
        """Return what became of a visitor's batch that gave way to another's; empty for none."""
        return self._gave_way.get(owner, "")

    def begin(self, owner: str, jobs: Sequence[Case]) -> str:
        """Begin a batch in place of the visitor's last; return why not, and change nothing."""
        with self._lock:
            if refused := self._refusal(owner, len(jobs)):
                return refused
            batch = self._put(owner, VisitorBatch(jobs))
        Thread(target=batch.run, name="batch", daemon=True).start()
        return ""

    def show(self, owner: str, batch: VisitorBatch) -> str:
        """Show a batch that is over in place of the visitor's last; return why not."""
        with self._lock:
            if refused := self._busy(owner) or self._full(owner, len(batch.jobs)):
                return refused
            self._put(owner, batch)
        return ""

    def back(self, owner: str) -> None:
        """Show the batch before the visitor's last again, and that one as the one before."""
        with self._lock:
            last = self._found.get(owner)  # it may just have given way
            if last is not None and last.is_over and last.before is not None:
                first, last.before = last.before, None
                first.before, first.seen = last, self._clock()
                self._found[owner] = first

    def _put(self, owner: str, batch: VisitorBatch) -> VisitorBatch:
        """Give a visitor a batch; the last one comes back on demand, unless nothing came of it."""
        last = self._found.get(owner)
        if last is not None:
            batch.before = last if last.came else last.before
            last.before = None
            if self._held(owner) + _size(batch) > MOST_HELD:
                batch.before = None
        batch.seen = self._clock()
        self._found[owner] = batch
        self._gave_way.pop(owner, None)
        return batch

    def _refusal(self, owner: str, number: int) -> str:
        if not number:
            return _NONE_CHOSEN
        if number > MOST_JOBS:
            return _TOO_MANY.format(number=count_text(number, "negotiation"), most=MOST_JOBS)
        if refused := self._busy(owner):
            return refused
        if refused := self._full(owner, number):
            return refused
        if not self._has_slot(owner):
            return _SERVER_IS_BUSY.format(most=MOST_AT_ONCE)
        return ""

    def _has_slot(self, owner: str) -> bool:
        """Return whether one more batch may begin; the one unseen for longest gives way."""
        under_way = {
            key: batch
            for key, batch in self._others(owner).items()
            if not batch.is_over and not batch.is_stopping
        }
        if len(under_way) < MOST_AT_ONCE:
            return True
        unseen = min(under_way.values(), key=lambda batch: batch.seen)
        if self._clock() - unseen.seen <= AWAY_SECONDS:
            return False
        unseen.problem = "it gave way to another visitor’s: you were away for 10 minutes."
        unseen.stop()
        return True

    def _busy(self, owner: str) -> str:
        batch = self._found.get(owner)
        if batch is not None and not batch.is_over:
            return _IS_UNDER_WAY
        return ""

    def _full(self, owner: str, number: int) -> str:
        """Return why there is no room for so many; what is long unused has given way."""
        self._make_room(owner, number)
        if self._held(owner) + number > MOST_HELD:
            return _NO_ROOM
        return ""

    def _others(self, owner: str) -> dict[str, VisitorBatch]:
        return {key: batch for key, batch in self._found.items() if key != owner}

    def _held(self, without: str) -> int:
        return sum(map(_size, self._others(without).values()))

    def _make_room(self, owner: str, number: int) -> None:
        """Let go of what the library has, then of what is over and was not looked at for long.

        Of each the longest first. What was opened from the library can be opened again.
        """
        for key, batch in sorted(self._others(owner).items(), key=lambda each: each[1].seen):
            if self._held("") + number <= MOST_HELD:
                return
            if batch.before is not None and batch.before.kept_as:
                batch.before = None
            if batch.kept_as:
                how = f"Open {batch.kept_as} again from the library."
                self._let_go(key, how, batch.before)
        for key, batch in sorted(self._others(owner).items(), key=lambda each: each[1].seen):
            if self._held("") + number <= MOST_HELD:
                return
            if batch.is_over and self._clock() - batch.seen > IN_USE_SECONDS:
                self._let_go(key, "Run it again.")

    def _let_go(self, owner: str, how: str, before: VisitorBatch | None = None) -> None:
        """Let go of a visitor's batch, and note how it is got back; the one before comes back."""
        last = self._found.pop(owner)
        if before is not None:
            before.seen = last.seen
            self._found[owner] = before
        self._gave_way.pop(owner, None)
        lost = "The batch that was here gave way to another visitor’s, as this server had no room."
        self._gave_way[owner] = f"{lost} {how}"
        if len(self._gave_way) > _NOTICES_KEPT:
            del self._gave_way[next(iter(self._gave_way))]


BATCHES: Final = Batches()
"""Those of this server; not a cache of Streamlit's, which any session can have cleared."""
