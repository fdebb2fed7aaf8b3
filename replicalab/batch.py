"""Many negotiations: study × lab × seed × Scientist × Lab Manager, on any executor.

A job says all that fixes a negotiation between rules, so a result depends on nothing else, and one
that is lost with its worker is simply worked out again. A language model plays where it is handed
in, in threads. Results come as they are ready, each job's once; whoever stops listening keeps what
has come.
Source of the intervals: Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.
"""

from __future__ import annotations

import os
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
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import islice, product
from math import fsum, isclose, prod, sqrt
from signal import SIG_IGN, SIGINT, signal
from typing import Annotated, Any, Final, Literal, NamedTuple, cast

from pydantic import Field

from replicalab.agents.scientist_policy import GenerateFn
from replicalab.case import Case, JobCase
from replicalab.errors import NegotiationError, ReplicaLabError
from replicalab.lexicon import shortened
from replicalab.limits import LONGEST_TEXT, MOST_JOBS
from replicalab.models import Count, Record
from replicalab.negotiation import (
    LabManagerKind,
    Outcome,
    ScientistKind,
    negotiate,
    readable,
    score,
)
from replicalab.notebook import Framed
from replicalab.scenarios import MAX_ROUNDS, Difficulty, EvidenceTier

MODELS_AT_ONCE: Final = 4
"""So many negotiations a language model plays at once, where nothing else is said."""
CHUNK_JOBS: Final = 8  # sending one job takes about as long as playing it
CHUNKS_AHEAD: Final = 3  # for each worker
MAX_ATTEMPTS: Final = 3  # per chunk, if its worker dies
POOL_IDLE_SECONDS: Final = 60
PROCESS_DIED: Final = f"its process died {MAX_ATTEMPTS} times; play it alone to see why"
EXECUTOR_BROKE: Final = "the executor accepts no more jobs; play the rest with a new one"
_ROUNDING: Final = 1e-12  # What is 0 here may be that on another machine
_Z: Final = 1.959963984540054  # The 97.5 % point of the normal distribution: intervals are of 95 %

Rule = Literal[ScientistKind.STEP_BY_STEP, ScientistKind.DIRECT, ScientistKind.BASELINE]
Seat = Rule | Literal[ScientistKind.MODEL]  # Who may be the Scientist of a job


class JobEnding(Record):
    """How a job ended; of one that could not be played only why.

    Attributes:
        feasible: whether the last plan passes all seven dimensions.
        samples, days, credits: of that plan; 0 where none was put forward.
        evidence: what it would show, None where it is void or there is none.
        tier: where that stands to target and floor.
        wishes_broken: how many of the study's wishes it breaks; None without a plan.
        regret: how far it is from the best there was, see `Score`; None if the job could not be
            played.
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
    regret: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    error: str = ""


class Result(JobEnding):
    """A job, and how it ended."""

    job: JobCase


def jobs_of(
    studies: Sequence[str | Case],
    labs: Sequence[str] = tuple(Difficulty),
    seeds: Sequence[int] = (0,),
    *,
    scientists: Sequence[str] = (ScientistKind.STEP_BY_STEP,),
    lab_managers: Sequence[str] = (LabManagerKind.REFERENCE,),
    max_rounds: int = MAX_ROUNDS,
) -> list[Case]:
    """Return every combination as a job, in that order; a study is an id, or a case to begin with.

    Raises:
        NegotiationError: there are more than `MOST_JOBS`.
        pydantic.ValidationError: a job cannot have one of the values.
    """
    begun = [{"study": study} if isinstance(study, str) else dict(study) for study in studies]
    choices = (begun, labs, seeds, scientists, lab_managers)
    number = prod(map(len, choices))
    if number > MOST_JOBS:
        raise NegotiationError(
            f"{number:,} negotiations are asked for; a batch has at most {MOST_JOBS:,}"
        )
    names = ("lab", "seed", "scientist", "lab_manager")
    return [
        Case(**{**case, **dict(zip(names, chosen, strict=True)), "max_rounds": max_rounds})
        for case, *chosen in product(*choices)
    ]


@dataclass(frozen=True)
class Batch(Framed):
    """The results of jobs, in their order; some are missing if Ctrl-C stopped the batch.

    Attributes:
        asked: the number of jobs.
    """

    results: tuple[Result, ...]
    asked: int

    @property
    def stopped(self) -> bool:
        """Whether results are missing."""
        return len(self.results) < self.asked

    @property
    def summaries(self) -> list[Summary]:
        """The share of each outcome, with its interval, by study, lab and players."""
        return summaries(self.results)


def collect(
    jobs: Sequence[Case],
    results: Generator[Result],
    progress: Callable[[int, int], object] | None = None,
) -> Batch:
    """Return the results of a batch; after Ctrl-C those that came.

    Args:
        jobs: the negotiations.
        results: their results in any order, such as from `run_batch`.
        progress: a function of the number of results and the number of jobs.
    """

    def key(job: Case) -> tuple[object, ...]:
        return job.study, job.text, job.lab, job.seed, job.scientist, job.lab_manager

    came: list[Result] = []
    with suppress(KeyboardInterrupt), closing(results):
        for result in results:
            came.append(result)
            if progress:
                progress(len(came), len(jobs))
    places = {key(job): at for at, job in enumerate(jobs)}
    came.sort(key=lambda result: places[key(result.job)])
    return Batch(tuple(came), len(jobs))


def failure_text(error: BaseException) -> str:
    """Return what went wrong, without the path that an error of the system names."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{type(error).__name__}: {text}"


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
    plan, result = played.final_plan, score(played)
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
        job=job, outcome=played.outcome, rounds=len(played.rounds), regret=result.regret, **numbers
    )


def _unplayed(job: Case, why: str) -> Result:
    return Result(job=job, error=shortened(readable(why), LONGEST_TEXT))


def played_again(results: Sequence[Result], most: int) -> list[tuple[Result, Result]]:
    """Return at most so many of these results, evenly taken, each with what comes of it now."""
    step = max(1, -(-len(results) // most))
    return [(result, run_job(result.job)) for result in results[::step]]


def is_same(was: Result, now: Result) -> bool:
    """Return whether two results agree, but for the rounding of another machine."""
    for name in ("evidence", "regret"):
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
    niceness: int = 0,
) -> Generator[Result]:
    """Yield the result of each job once, as soon as it is ready.

    To stop, close the iterator or leave the loop: no further job is started.

    Args:
        jobs: the negotiations; equal jobs are each played.
        executor: any executor with the interface of `concurrent.futures`; it stays open. None
            starts a process for each core and ends them. If a worker dies, its jobs are tried
            again, `MAX_ATTEMPTS` times in all. A job that cannot be played gives a result with an
            error.
        workers: the number of processes, or of an executor's workers if it does not say.
        generate_fn: the language model for jobs with one; it is called from several threads. The
            default is `MODELS_AT_ONCE` threads, and each job is sent alone.
        niceness: the increment for `os.nice` in processes that this function starts.
    """
    pool = executor or _new_pool(workers, generate_fn, niceness)
    size, arguments = (1, (generate_fn,)) if generate_fn else (CHUNK_JOBS, ())
    custom = getattr(pool, "_max_workers", None)
    limit = CHUNKS_AHEAD * (workers or (custom if isinstance(custom, int) else os.cpu_count() or 1))

    def submit(chunk: _Chunk) -> Future[list[Result]]:
        nonlocal pool
        try:
            return pool.submit(_run_chunk, chunk.jobs, *arguments)
        except BrokenExecutor as error:
            if executor is None:
                pool = _new_pool(workers, generate_fn, niceness)
                return pool.submit(_run_chunk, chunk.jobs, *arguments)
            failed: Future[list[Result]] = Future()
            failed.set_exception(error)
            return failed

    remaining = iter(jobs)
    waiting = deque(_Chunk(chunk) for chunk in iter(lambda: list(islice(remaining, size)), []))
    running: dict[Future[list[Result]], _Chunk] = {}
    try:
        while waiting or running:
            # A chunk that lost its worker runs alone, so that only the job to blame fails again.
            while waiting and len(running) < (1 if waiting[0].attempts else limit):
                chunk = waiting.popleft()
                running[submit(chunk)] = chunk
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                chunk, failure = running.pop(done), done.exception()
                if not isinstance(failure, Exception):  # a result, or Ctrl-C in a thread
                    yield from done.result()
                elif chunk.attempts + 1 < MAX_ATTEMPTS:
                    single = [_Chunk([job], chunk.attempts + 1) for job in chunk.jobs]
                    waiting.extendleft(reversed(single))
                else:
                    error = _loss_text(failure, is_own=executor is None)
                    yield from (Result(job=job, error=error) for job in chunk.jobs)
    finally:
        _stop(pool, running, is_own=executor is None)


def _new_pool(workers: int | None, generate_fn: GenerateFn | None, niceness: int) -> Executor:
    if generate_fn:
        return ThreadPoolExecutor(workers or MODELS_AT_ONCE)
    return process_pool(workers or os.cpu_count() or 1, niceness)


def _loss_text(failure: BaseException, *, is_own: bool) -> str:
    if not isinstance(failure, BrokenExecutor):
        return failure_text(failure)
    return PROCESS_DIED if is_own else EXECUTOR_BROKE


def _stop(pool: Executor, running: Iterable[Future[list[Result]]], *, is_own: bool) -> None:
    """Cancel the jobs in another's pool; end an own one without waiting for running jobs."""
    if not is_own:
        for future in running:
            future.cancel()
    elif isinstance(pool, ThreadPoolExecutor):
        pool.shutdown(wait=False, cancel_futures=True)
    else:
        pool.shutdown(wait=False, kill_workers=True)  # type: ignore[call-arg]  # loky's own


class _Chunk(NamedTuple):
    """Jobs that run together, and how often they lost their worker."""

    jobs: list[Case]
    attempts: int = 0


def _run_chunk(jobs: list[Case], generate_fn: GenerateFn | None = None) -> list[Result]:
    return [run_job(job, generate_fn) for job in jobs]


# --- processes ----------------------------------------------------------------------------------


def process_pool(workers: int, niceness: int = 0) -> Executor:
    """Return a pool of processes that do not import the main module of this process.

    Inside a Streamlit server the main module is the page that asked.

    Args:
        workers: the number of processes; an idle one ends after `POOL_IDLE_SECONDS`.
        niceness: the increment for `os.nice`.
    """
    from loky import ProcessPoolExecutor  # noqa: PLC0415 - only batches need it

    return cast(
        Executor,
        ProcessPoolExecutor(
            workers, timeout=POOL_IDLE_SECONDS, initializer=_start_worker, initargs=(niceness,)
        ),
    )


def _start_worker(niceness: int) -> None:
    signal(SIGINT, SIG_IGN)  # Ctrl-C reaches every process of a terminal; the parent stops the pool
    if hasattr(os, "nice"):
        os.nice(niceness)


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
        value: the mean regret.
    """

    number: int
    value: float


def mean_regret(results: Iterable[Result]) -> MeanRegret | None:
    """Return the mean regret of those results that have one, None where none has."""
    values = [result.regret for result in results if result.regret is not None]
    return MeanRegret(len(values), fsum(values) / len(values)) if values else None


def regrets(results: Iterable[Result]) -> dict[ScientistKind, MeanRegret]:
    """Return the mean regret of each Scientist, in the order in which they first came."""
    groups: dict[ScientistKind, list[Result]] = {}
    for result in results:
        groups.setdefault(result.job.scientist, []).append(result)
    means = {player: mean_regret(group) for player, group in groups.items()}
    return {player: mean for player, mean in means.items() if mean}


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
    outcome = []
    for key, group in groups.items():
        times = Counter(result.outcome for result in group if result.outcome is not None)
        played = times.total()
        shares = {item: Share(times[item], played) for item in Outcome if times[item]}
        outcome.append(Summary(*key, shares, len(group) - played, mean_regret(group)))
    return outcome
