"""Many negotiations: study × lab × seed × Scientist × Lab Manager, on any executor.

A job says all that fixes a negotiation between rules, so a result depends on nothing else, and one
that is lost with its worker is simply worked out again. Results come as they are ready, each job's
once; whoever stops listening keeps what has come.
Source of the intervals: Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from functools import lru_cache
from itertools import product
from math import isclose, sqrt
from multiprocessing import get_context
from signal import SIG_IGN, SIGINT, signal
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from replicalab.errors import ReplicaLabError
from replicalab.models import Count, Record
from replicalab.negotiation import (
    MOST_ROUNDS,
    LabManagerKind,
    Outcome,
    ScientistKind,
    negotiate,
    setup_for,
)
from replicalab.scenarios import (
    MAX_ROUNDS,
    MAX_SEED,
    Difficulty,
    EvidenceTier,
    Identifier,
    OwnLab,
    Pack,
    Question,
    Study,
    load_scenario,
    pack_of,
    parse_study,
)

MOST_JOBS: Final = 100_000
_CHUNK: Final = 8
"""So many jobs are sent at a time: to send one takes about as long as to play it."""
_AHEAD: Final = 3
"""So many chunks for each worker are on their way at once."""
_TRIES: Final = 3
"""So often a chunk is begun whose worker dies with it."""
_Z: Final = 1.959963984540054
"""The 97.5 % point of the normal distribution: intervals are of 95 %."""

Rule = Literal[ScientistKind.BASELINE, ScientistKind.EVIDENCE_AWARE]


class Job(Record):
    """One negotiation between rules, which opens with the study's own plan.

    Attributes:
        study: the id of a study on the shelf.
        text: the file of a study of one's own, which ``study`` then names; empty for the shelf's.
        lab, seed: which of its labs.
        own_lab, question: what is said in place of the study.
        scientist, lab_manager, max_rounds: who plays, and how long.
    """

    study: Identifier
    text: str = ""
    lab: Difficulty
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] = 0
    own_lab: OwnLab = OwnLab()
    question: Question = Question()
    scientist: Rule = ScientistKind.EVIDENCE_AWARE
    lab_manager: LabManagerKind = LabManagerKind.REFERENCE
    max_rounds: Annotated[int, Field(ge=1, le=MOST_ROUNDS)] = MAX_ROUNDS


class Ending(Record):
    """How a job ended; of one that could not be played only why.

    Attributes:
        outcome: what the ending is called.
        rounds: how many were played.
        feasible: whether the last plan passes all seven dimensions.
        samples, days, credits: of that plan; 0 where none was put forward.
        evidence: what it would show, None where it is void or there is none.
        tier: where that stands to target and floor.
        wishes_broken: how many of the study's wishes it breaks, None where an earlier version did
            not say, or there is no plan.
        error: why the job could not be played; empty where it was.
    """

    outcome: Outcome | None = None
    rounds: Count = 0
    feasible: bool = False
    samples: Count = 0
    days: Count = 0
    credits: float = 0.0
    evidence: float | None = None
    tier: EvidenceTier | None = None
    wishes_broken: Count | None = None
    error: str = ""


class Result(Ending):
    """A job, and how it ended."""

    job: Job


def jobs_of(
    studies: Sequence[str],
    labs: Sequence[Difficulty] = tuple(Difficulty),
    seeds: Sequence[int] = (0,),
    *,
    scientists: Sequence[Rule] = (ScientistKind.EVIDENCE_AWARE,),
    lab_managers: Sequence[LabManagerKind] = (LabManagerKind.REFERENCE,),
    max_rounds: int = MAX_ROUNDS,
) -> list[Job]:
    """Return every combination as a job, in that order.

    Raises:
        ValueError: there are more than `MOST_JOBS`, or a value that no job can have.
    """
    choices = (studies, labs, seeds, scientists, lab_managers)
    number = 1
    for each in choices:
        number *= len(each)
    if number > MOST_JOBS:
        raise ValueError(
            f"{number:,} negotiations are asked for; a batch has at most {MOST_JOBS:,}"
        )
    return [
        Job(
            study=study, lab=lab, seed=seed, scientist=scientist, lab_manager=lab_manager,
            max_rounds=max_rounds,
        )
        for study, lab, seed, scientist, lab_manager in product(*choices)
    ]  # fmt: skip


def failure_text(error: Exception) -> str:
    """Return what went wrong, without the path that an error of the system names."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{type(error).__name__}: {said}"


# --- one job ----------------------------------------------------------------------------------


def run_job(job: Job) -> Result:
    """Return how a job ends; never raises for a job that cannot be played."""
    try:
        pack = _pack(job)
        setup = setup_for(
            pack,
            pack.reference_protocol,
            max_rounds=job.max_rounds,
            scientist=job.scientist,
            lab_manager=job.lab_manager,
        )
        played = negotiate(setup, pack)
    except ReplicaLabError as error:
        return Result(job=job, error=str(error))
    plan = played.final_plan
    if plan is None:
        return Result(job=job, outcome=played.outcome, rounds=len(played.rounds))
    return Result(
        job=job,
        outcome=played.outcome,
        rounds=len(played.rounds),
        feasible=plan.feasible,
        samples=plan.counts.samples,
        days=plan.counts.days,
        credits=plan.cost,
        evidence=None if plan.evidence.void else plan.evidence.value,
        tier=plan.evidence.tier,
        wishes_broken=len(plan.broken_wishes),
    )


def _pack(job: Job) -> Pack:
    if job.text:
        pack = pack_of(_study(job.text), job.lab, job.seed)
    else:
        pack = load_scenario(job.study, job.lab, job.seed)
    return pack.with_own(job.own_lab, job.question)


def played_again(results: Sequence[Result], most: int) -> list[tuple[Result, Result]]:
    """Return at most so many of these results, evenly taken, each with what comes of it now."""
    step = max(1, -(-len(results) // most))
    return [(result, run_job(result.job)) for result in results[::step]]


def is_same(was: Result, now: Result) -> bool:
    """Return whether two results agree, but for what another machine's rounding does.

    A result of before has no number of broken wishes, and so no other one.
    """
    if was.wishes_broken is None:
        now = now.model_copy(update={"wishes_broken": None})
    if was.evidence is None or now.evidence is None:
        return was == now
    evidence = was.evidence if isclose(was.evidence, now.evidence, rel_tol=1e-9) else now.evidence
    return was == now.model_copy(update={"evidence": evidence})


@lru_cache(maxsize=8)
def _study(text: str) -> Study:
    return parse_study(text, "the study's file")


# --- many -------------------------------------------------------------------------------------


def run_batch(
    jobs: Iterable[Job], executor: Executor | None = None, workers: int | None = None
) -> Iterator[Result]:
    """Yield the result of each job once, as they are ready.

    To stop, close the iterator (or leave the loop): what has not begun is not begun.

    Args:
        jobs: what to play; equal jobs are each played.
        executor: any of `concurrent.futures`, or one like them; stays open. None is a process for
            each core, closed in the end: one that dies is replaced, and its jobs are begun again,
            at most `_TRIES` times. A job that cannot be played is a result with an error.
        workers: how many processes instead, or how many workers an executor has that does not say.
    """
    run = _Run(deque(_Sent(chunk) for chunk in _chunks(jobs)), executor, workers)
    try:
        while run.waiting or run.running:
            run.send()
            yield from run.received()
    finally:
        run.close()


class _Sent(NamedTuple):
    """Jobs that are sent together, and how often they were sent before."""

    jobs: list[Job]
    tries: int = 0


class _Run:
    """A batch under way.

    What was under way in a pool that broke is sent again one job at a time and alone: so it is
    known which job it is that kills its worker, and no other one is blamed for it.
    """

    def __init__(
        self, waiting: deque[_Sent], executor: Executor | None, workers: int | None
    ) -> None:
        self.waiting, self.running = waiting, dict[Future[list[Result]], _Sent]()
        self._is_ours, self._pool = executor is None, executor or _processes(workers)
        self._workers = workers or _workers(self._pool)
        self._is_broken = False

    def send(self) -> None:
        """Send what may be under way at once."""
        while self.waiting and self._has_room(self.waiting[0]):
            chunk = self.waiting.popleft()
            try:
                self.running[self._pool.submit(_run_chunk, chunk.jobs)] = chunk
            except BrokenExecutor:
                self._is_broken = True
                self.waiting.appendleft(chunk)
                break

    def _has_room(self, chunk: _Sent) -> bool:
        if self._is_broken or any(each.tries for each in self.running.values()):
            return False
        return len(self.running) < (1 if chunk.tries else _AHEAD * self._workers)

    def received(self) -> Iterator[Result]:
        """Wait for something to come back, and yield it."""
        for done in wait(self.running, return_when=FIRST_COMPLETED).done if self.running else ():
            chunk = self.running.pop(done)
            try:
                results = done.result()
            except BrokenExecutor:
                self._is_broken = True
                yield from self._put_back(chunk)
            except Exception as error:  # noqa: BLE001 - a cluster loses a worker in its own words
                yield from self._put_back(chunk, failure_text(error))
            else:
                yield from results
        if self._is_broken:
            for chunk in self.running.values():
                yield from self._put_back(chunk)
            self.running.clear()
            yield from self._replaced()

    def _put_back(self, chunk: _Sent, why: str = "") -> Iterator[Result]:
        """Let jobs wait that were under way, each on its own; yield those that had their tries."""
        tries = chunk.tries + 1
        if tries < _TRIES:
            self.waiting.extendleft(_Sent([job], tries) for job in reversed(chunk.jobs))
        else:
            died = why or f"its process died {tries} times; play it alone to see why"
            yield from (Result(job=job, error=died) for job in chunk.jobs)

    def _replaced(self) -> Iterator[Result]:
        """Take a new pool for a broken one; of somebody else's yield what it will never play."""
        if self._is_ours:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool, self._is_broken = _processes(self._workers), False
            return
        died = "the executor no longer takes jobs; play the rest with a new one"
        yield from (Result(job=job, error=died) for chunk in self.waiting for job in chunk.jobs)
        self.waiting.clear()

    def close(self) -> None:
        """Begin nothing more; a pool of ours is left to end what it is at."""
        for future in self.running:
            future.cancel()
        if self._is_ours:
            self._pool.shutdown(wait=False, cancel_futures=True)


def _run_chunk(jobs: list[Job]) -> list[Result]:
    return [run_job(job) for job in jobs]


def _chunks(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    chunk: list[Job] = []
    for job in jobs:
        chunk.append(job)
        if len(chunk) == _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _processes(workers: int | None) -> ProcessPoolExecutor:
    # A forked child of a server with threads may stop at a lock that one of them held. Ctrl-C goes
    # to every process of a terminal: this one stops the batch, and a worker ends what it is at.
    return ProcessPoolExecutor(
        workers or os.cpu_count(),
        mp_context=get_context("spawn"),
        initializer=signal,
        initargs=(SIGINT, SIG_IGN),
    )


def _workers(pool: Executor) -> int:
    most = getattr(pool, "_max_workers", None)
    return most if isinstance(most, int) else os.cpu_count() or 1


# --- what came of it --------------------------------------------------------------------------


class Share(NamedTuple):
    """How often an outcome came, as a share, with its 95 % interval by Wilson's formula."""

    number: int
    of: int

    @property
    def value(self) -> float:
        """The share itself."""
        return self.number / self.of

    @property
    def interval(self) -> tuple[float, float]:
        """The lower and the upper end, within [0, 1]."""
        n, p, z = self.of, self.value, _Z
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        low = 0.0 if self.number == 0 else max(0.0, centre - half)
        return low, 1.0 if self.number == n else min(1.0, centre + half)


class Summary(NamedTuple):
    """The outcomes of all seeds of one study in one lab between the same players.

    Attributes:
        shares: of each outcome that came.
        failed: how many jobs could not be played.
    """

    study: str
    lab: Difficulty
    scientist: ScientistKind
    lab_manager: LabManagerKind
    shares: dict[Outcome, Share]
    failed: int


def summaries(results: Iterable[Result]) -> list[Summary]:
    """Return the outcomes by study, lab and players, in the order in which they first came."""
    groups: dict[tuple[str, Difficulty, Rule, LabManagerKind], list[Result]] = {}
    for result in results:
        job = result.job
        key = job.study, job.lab, job.scientist, job.lab_manager
        groups.setdefault(key, []).append(result)
    found = []
    for key, group in groups.items():
        times = Counter(result.outcome for result in group if result.outcome is not None)
        played = times.total()
        shares = {each: Share(times[each], played) for each in Outcome if times[each]}
        found.append(Summary(*key, shares, len(group) - played))
    return found
