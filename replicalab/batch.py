"""Many negotiations: study × lab × seed × Scientist × Lab Manager, on any executor.

A job says all that fixes a negotiation between rules, so a result depends on nothing else, and one
that is lost with its worker is simply worked out again. A language model plays where it is handed
in, in threads. Results come as they are ready, each job's once; whoever stops listening keeps what
has come.
Source of the intervals: Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.
"""

import logging
import os
import pickle
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import suppress
from itertools import islice, product
from math import fsum, isclose, prod, sqrt
from pathlib import Path
from signal import SIG_IGN, SIGINT, signal
from threading import Lock, local
from typing import Annotated, Any, BinaryIO, Final, Literal, NamedTuple, ParamSpec, TypeVar, cast

from pydantic import Field

from replicalab.agents.scientist_policy import GenerateFn
from replicalab.case import Case, JobCase
from replicalab.errors import ReplicaLabError
from replicalab.lexicon import shortened
from replicalab.models import LONGEST_TEXT, Count, Record
from replicalab.negotiation import (
    LabManagerKind,
    Outcome,
    ScientistKind,
    negotiate,
    readable,
    score,
)
from replicalab.scenarios import MAX_ROUNDS, Difficulty, EvidenceTier

MOST_JOBS: Final = 100_000
MODELS_AT_ONCE: Final = 4
"""So many negotiations a language model plays at once, where nothing else is said."""
_CHUNK: Final = 8  # So many jobs are sent at a time: to send one takes about as long as to play it
_AHEAD: Final = 3  # So many chunks for each worker are on their way at once
_TRIES: Final = 3  # So often a chunk is begun whose worker dies with it
_SAID_SINCE: Final = ("wishes_broken", "evidence_short", "wishes_short", "fidelity_short")
_ROUNDING: Final = 1e-12  # What is 0 here may be that on another machine
_Z: Final = 1.959963984540054  # The 97.5 % point of the normal distribution: intervals are of 95 %

_LOG: Final = logging.getLogger(__name__)
_ROOT: Final = Path(__file__).parents[1]
_P = ParamSpec("_P")
_R = TypeVar("_R")

Rule = Literal[ScientistKind.BASELINE, ScientistKind.EVIDENCE_AWARE]
Seat = Rule | Literal[ScientistKind.MODEL]
"""Who may be the Scientist of a job."""


class JobEnding(Record):
    """How a job ended; of one that could not be played only why.

    Attributes:
        feasible: whether the last plan passes all seven dimensions.
        samples, days, credits: of that plan; 0 where none was put forward.
        evidence: what it would show, None where it is void or there is none.
        tier: where that stands to target and floor.
        wishes_broken: how many of the study's wishes it breaks, None where an earlier version did
            not say, or there is no plan.
        evidence_short, wishes_short, fidelity_short: by how much it is short of the best there was,
            see `Score`; None where an earlier version did not say.
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
    evidence_short: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    wishes_short: Count | None = None
    fidelity_short: Count | None = None
    error: str = ""

    @property
    def regret(self) -> float | None:
        """All together, 0 where nothing better could be had; None where nothing is known of it."""
        if self.evidence_short is None or self.fidelity_short is None:
            return None
        return self.evidence_short + (self.wishes_short or 0) + self.fidelity_short


class Result(JobEnding):
    """A job, and how it ended."""

    job: JobCase


def jobs_of(
    studies: Sequence[str | Case],
    labs: Sequence[Difficulty] = tuple(Difficulty),
    seeds: Sequence[int] = (0,),
    *,
    scientists: Sequence[Seat] = (ScientistKind.EVIDENCE_AWARE,),
    lab_managers: Sequence[LabManagerKind] = (LabManagerKind.REFERENCE,),
    max_rounds: int = MAX_ROUNDS,
) -> list[Case]:
    """Return every combination as a job, in that order; a study is an id, or a case to begin with.

    Raises:
        ValueError: there are more than `MOST_JOBS`, or a value that no job can have.
    """
    begun = [{"study": each} if isinstance(each, str) else dict(each) for each in studies]
    choices = (begun, labs, seeds, scientists, lab_managers)
    number = prod(map(len, choices))
    if number > MOST_JOBS:
        raise ValueError(
            f"{number:,} negotiations are asked for; a batch has at most {MOST_JOBS:,}"
        )
    names = ("lab", "seed", "scientist", "lab_manager")
    return [
        Case(**{**case, **dict(zip(names, chosen, strict=True)), "max_rounds": max_rounds})
        for case, *chosen in product(*choices)
    ]


def in_order(jobs: Sequence[Case], results: Iterable[Result]) -> list[Result]:
    """Return the results of a batch in the order of its jobs."""

    def key(job: Case) -> tuple[object, ...]:
        return job.study, job.text, job.lab, job.seed, job.scientist, job.lab_manager

    places = {key(job): at for at, job in enumerate(jobs)}
    return sorted(results, key=lambda result: places[key(result.job)])


def failure_text(error: Exception) -> str:
    """Return what went wrong, without the path that an error of the system names."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{type(error).__name__}: {said}"


# --- one job ----------------------------------------------------------------------------------


def run_job(job: Case, generate_fn: GenerateFn | None = None) -> Result:
    """Return how a job ends; never raises for a job that cannot be played.

    A language model's is played with ``generate_fn``, whatever that raises.
    """
    try:
        pack = job.pack()
        played = negotiate(job.setup(pack), pack, generate_fn)
    except ReplicaLabError as error:
        return _unplayed(job, str(error))
    except Exception as error:
        if job.scientist is not ScientistKind.MODEL:
            raise
        return _unplayed(job, failure_text(error))
    if played.outcome is None:
        return _unplayed(job, "no language model is at hand to play it; hand one in")
    plan, found = played.final_plan, score(played)
    numbers: dict[str, Any] = {}
    if plan is not None:
        numbers = {
            "feasible": plan.feasible,
            "samples": plan.counts.samples,
            "days": plan.counts.days,
            "credits": plan.cost,
            "evidence": None if plan.evidence.void_reason else plan.evidence.value,
            "tier": plan.evidence.tier,
            "wishes_broken": len(plan.broken_wishes),
        }
    return Result(
        job=job,
        outcome=played.outcome,
        rounds=len(played.rounds),
        evidence_short=found.evidence_short,
        wishes_short=found.wishes_short,
        fidelity_short=found.fidelity_short,
        **numbers,
    )


def _unplayed(job: Case, why: str) -> Result:
    return Result(job=job, error=shortened(readable(why), LONGEST_TEXT))


def played_again(results: Sequence[Result], most: int) -> list[tuple[Result, Result]]:
    """Return at most so many of these results, evenly taken, each with what comes of it now."""
    step = max(1, -(-len(results) // most))
    return [(result, run_job(result.job)) for result in results[::step]]


def is_same(was: Result, now: Result) -> bool:
    """Return whether two results agree, but for what another machine's rounding does.

    A result of before lacks what is said since, and so has no other one.
    """
    lacking = {name: None for name in _SAID_SINCE if getattr(was, name) is None}
    now = now.model_copy(update=lacking)
    for name in ("evidence", "evidence_short"):
        old, new = getattr(was, name), getattr(now, name)
        if (
            old is not None
            and new is not None
            and isclose(old, new, rel_tol=1e-9, abs_tol=_ROUNDING)
        ):
            now = now.model_copy(update={name: old})
    return was == now


# --- many -------------------------------------------------------------------------------------


def run_batch(
    jobs: Iterable[Case],
    executor: Executor | None = None,
    workers: int | None = None,
    generate_fn: GenerateFn | None = None,
) -> Generator[Result]:
    """Yield the result of each job once, as they are ready.

    To stop, close the iterator (or leave the loop): what has not begun is not begun.

    Args:
        jobs: what to play; equal jobs are each played.
        executor: any of `concurrent.futures`, or one like them; stays open. None is a process for
            each core, closed in the end. Jobs that are lost with their worker are begun again, at
            most `_TRIES` times. A job that cannot be played is a result with an error.
        workers: how many processes instead, or how many workers an executor has that does not say.
        generate_fn: the language model of the jobs in which one plays; it is asked from several
            threads. With it None for the executor is so many threads, by default `MODELS_AT_ONCE`,
            and a job is sent alone, so that none waits for another's answer.
    """
    pool: Executor = executor or (
        ThreadPoolExecutor(workers or MODELS_AT_ONCE)
        if generate_fn
        else Workers(workers or os.cpu_count() or 1)
    )
    size, given = (1, (generate_fn,)) if generate_fn else (_CHUNK, ())
    own = getattr(pool, "_max_workers", None)
    most = _AHEAD * (workers or (own if isinstance(own, int) else os.cpu_count() or 1))
    left = iter(jobs)
    waiting = deque(_Sent(chunk) for chunk in iter(lambda: list(islice(left, size)), []))
    running: dict[Future[list[Result]], _Sent] = {}
    try:
        while waiting or running:
            while waiting and len(running) < most:
                sent = waiting.popleft()
                try:
                    running[pool.submit(_run_chunk, sent.jobs, *given)] = sent
                except BrokenExecutor:
                    died = "the executor no longer takes jobs; play the rest with a new one"
                    for each in (sent, *waiting):
                        yield from (Result(job=job, error=died) for job in each.jobs)
                    waiting.clear()
            for done in wait(running, return_when=FIRST_COMPLETED).done if running else ():
                sent = running.pop(done)
                try:
                    results = done.result()
                except Exception as error:  # noqa: BLE001 - a cluster loses a worker in its own words
                    # Each alone: so only the job that kills its worker is blamed for it.
                    again = [_Sent([job], sent.tries + 1) for job in sent.jobs]
                    if sent.tries + 1 < _TRIES:
                        waiting.extendleft(reversed(again))
                        continue
                    killed = f"its process died {_TRIES} times; play it alone to see why"
                    why = killed if isinstance(error, WorkerDiedError) else failure_text(error)
                    results = [Result(job=job, error=why) for job in sent.jobs]
                yield from results
    finally:
        for future in running:
            future.cancel()
        if executor is None:
            # Who closes the iterator has gone on: it must not wait for what is still running.
            pool.shutdown(wait=False, cancel_futures=True)


class _Sent(NamedTuple):
    """Jobs that are sent together, and how often they were sent before."""

    jobs: list[Case]
    tries: int = 0


def _run_chunk(jobs: list[Case], generate_fn: GenerateFn | None = None) -> list[Result]:
    return [run_job(job, generate_fn) for job in jobs]


# --- processes of our own -----------------------------------------------------------------------


class WorkerDiedError(Exception):
    """A process ended at its work."""


class Workers(ThreadPoolExecutor):
    """An executor with processes of its own; one that dies is replaced by the next call.

    A child of `multiprocessing` runs the main module of its parent once more; in a server that is
    the page which asked. These begin with nothing but this package, and end with their parent:
    nobody writes to them any more then. They take ``polite`` less of a core, in the unit of
    `os.nice`.
    """

    def __init__(self, number: int, polite: int = 0) -> None:
        super().__init__(number, thread_name_prefix="worker")
        self._serve = f"from replicalab.batch import serve; serve({polite})"
        self._mine, self._lock = local(), Lock()
        self._all: list[subprocess.Popen[bytes]] = []

    def submit(self, fn: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_R]:
        """Return what a function of a module comes to in another process."""
        return super().submit(self._ask, pickle.dumps((fn, args, kwargs)))

    def _ask(self, call: bytes) -> _R:  # type: ignore[type-var]  # as the call has it
        process = self._process()
        try:
            _send(cast(BinaryIO, process.stdin), call)
            came, error = pickle.loads(_received(cast(BinaryIO, process.stdout)))  # noqa: S301
        except (OSError, EOFError) as lost:
            self._mine.process = None
            raise WorkerDiedError("its process died; play it alone to see why") from lost
        if error is not None:
            raise error
        return cast(_R, came)

    def _process(self) -> subprocess.Popen[bytes]:
        found: subprocess.Popen[bytes] | None = getattr(self._mine, "process", None)
        if found is None:
            try:
                found = self._mine.process = subprocess.Popen(  # noqa: S603  # our own words only
                    [sys.executable, "-c", self._serve],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    cwd=_ROOT,
                )
            except OSError as error:
                _LOG.warning("A batch needs %s, which cannot be run: %s", sys.executable, error)
                why = f"this server's Python cannot be run once more: {error.strerror}"
                raise OSError(error.errno, why) from error
            with self._lock:
                self._all.append(found)
        return found

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes once they are idle; at once, and with no answer, where cancelled."""
        super().shutdown(wait=False, cancel_futures=cancel_futures)
        with self._lock:
            for process in self._all if cancel_futures else ():
                process.kill()
        super().shutdown(wait=True)
        with self._lock:
            for process in self._all:
                with suppress(OSError):  # it has died, and something was not sent yet
                    cast(BinaryIO, process.stdin).close()
                cast(BinaryIO, process.stdout).close()
                process.wait()
            self._all.clear()


def serve(polite: int) -> None:
    """Work as one of the processes, until nobody asks any more."""
    # Ctrl-C goes to every process of a terminal: who asked stops the batch, and then this one.
    signal(SIGINT, SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(polite)
    asked, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed while working is no answer
    while True:
        try:
            function, args, kwargs = pickle.loads(_received(asked))  # noqa: S301 - from our server
        except EOFError:
            return
        answer: tuple[object, Exception | None]
        try:
            answer = function(*args, **kwargs), None
        except Exception as error:  # noqa: BLE001 - sent to whoever asked
            answer = None, error
        _send(answers, pickle.dumps(answer))


def _send(pipe: BinaryIO, what: bytes) -> None:
    pipe.write(len(what).to_bytes(8))
    pipe.write(what)
    pipe.flush()


def _received(pipe: BinaryIO) -> bytes:
    size = int.from_bytes(_exactly(pipe, 8))
    return _exactly(pipe, size)


def _exactly(pipe: BinaryIO, size: int) -> bytes:
    found = pipe.read(size)
    if len(found) < size:
        raise EOFError
    return found


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
        # At the ends the formula is exact, but its floats may miss 0 and 1 by a last digit.
        low = 0.0 if self.number == 0 else max(0.0, centre - half)
        return low, 1.0 if self.number == n else min(1.0, centre + half)


class MeanRegret(NamedTuple):
    """How far results are from the best there was, on the mean: 0 is optimal, see `Score`.

    Attributes:
        number: of how many results.
    """

    number: int
    evidence_short: float
    fidelity_short: float
    wishes_short: float = 0.0

    @property
    def value(self) -> float:
        """The mean regret."""
        return self.evidence_short + self.wishes_short + self.fidelity_short


def mean_regret(results: Iterable[Result]) -> MeanRegret | None:
    """Return the mean regret of those results that have one, None where none has."""
    parts = [
        (result.evidence_short, result.fidelity_short, result.wishes_short or 0)
        for result in results
        if result.evidence_short is not None and result.fidelity_short is not None
    ]
    if not parts:
        return None
    means = (fsum(column) / len(parts) for column in zip(*parts, strict=True))
    return MeanRegret(len(parts), *means)


def regrets(results: Iterable[Result]) -> dict[ScientistKind, MeanRegret]:
    """Return the mean regret of each Scientist, in the order in which they first came."""
    groups: dict[ScientistKind, list[Result]] = {}
    for result in results:
        groups.setdefault(result.job.scientist, []).append(result)
    means = {player: mean_regret(group) for player, group in groups.items()}
    return {player: found for player, found in means.items() if found}


class Summary(NamedTuple):
    """The outcomes of all seeds of one study in one lab between the same players.

    Attributes:
        shares: of each outcome that came.
        failed: how many jobs could not be played.
        regret: on the mean; None where nothing is known of it.
    """

    study: str
    lab: Difficulty
    scientist: ScientistKind
    lab_manager: LabManagerKind
    shares: dict[Outcome, Share]
    failed: int
    regret: MeanRegret | None = None


def summaries(results: Iterable[Result]) -> list[Summary]:
    """Return the outcomes by study, lab and players, in the order in which they first came."""
    groups: dict[tuple[str, Difficulty, ScientistKind, LabManagerKind], list[Result]] = {}
    for result in results:
        job = result.job
        key = job.study, job.lab, job.scientist, job.lab_manager
        groups.setdefault(key, []).append(result)
    found = []
    for key, group in groups.items():
        times = Counter(result.outcome for result in group if result.outcome is not None)
        played = times.total()
        shares = {each: Share(times[each], played) for each in Outcome if times[each]}
        found.append(Summary(*key, shares, len(group) - played, mean_regret(group)))
    return found
