"""Many negotiations on any executor; intervals by Wilson (1927), J. Am. Stat. Assoc. 22, 209."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent import futures
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice, product
from math import fsum, inf, isclose, prod, sqrt
from operator import attrgetter
from signal import SIG_IGN, SIGINT, signal
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import Field

from replicalab import errors, lexicon, limits, models, negotiation, scenarios
from replicalab.agents.scientist_policy import GenerateFn
from replicalab.designs.distributions import t_critical
from replicalab.negotiation import LabManagerKind, Outcome, ScientistKind
from replicalab.negotiation.case import Case, JobCase

MODELS_AT_ONCE: Final = 4  # negotiations that a language model plays by default
CHUNK_JOBS: Final = 8  # sending one job takes about as long as playing it
CHUNKS_AHEAD: Final = 3  # for each worker
MAX_ATTEMPTS: Final = 3  # per chunk, if its worker dies
POOL_IDLE_SECONDS: Final = 60
PROCESS_DIED: Final = f"its process died {MAX_ATTEMPTS} times; play it alone to see why"
EXECUTOR_BROKE: Final = "the executor accepts no more jobs; play the rest with a new one"
_ROUNDING: Final = 1e-12  # of a value that is 0 on another machine
_ALPHA: Final = 0.05  # of 95 % intervals
_Z: Final = 1.959963984540054  # the 97.5 % point of the normal distribution: 95 % intervals

Rule = Literal[ScientistKind.STEP_BY_STEP, ScientistKind.DIRECT, ScientistKind.BASELINE]
Seat = Rule | Literal[ScientistKind.MODEL]  # the Scientist of a job


class JobEnding(models.Record):
    """How a job ended; ``regret`` is None, and ``error`` says why, if it was not played."""

    outcome: Outcome | None = None
    rounds: models.Count = 0
    feasible: bool = False
    samples: models.Count = 0
    days: models.Count = 0
    credits: float = 0.0
    evidence: float | None = None
    tier: scenarios.EvidenceTier | None = None
    wishes_broken: models.Count | None = None
    regret: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    error: str = ""


class Result(JobEnding):
    """A job and how it ended."""

    job: JobCase


def jobs_of(
    studies: Sequence[str | Case],
    labs: Sequence[str] = tuple(scenarios.Difficulty),
    seeds: Sequence[int] = (0,),
    *,
    scientists: Sequence[str] = (ScientistKind.STEP_BY_STEP,),
    lab_managers: Sequence[str] = (LabManagerKind.REFERENCE,),
    max_rounds: int = scenarios.MAX_ROUNDS,
) -> list[Case]:
    """Return every combination as a job; a study is an id, or a case with further fields.

    Raises NegotiationError beyond `MOST_JOBS`, and ValidationError for a wrong value.
    """
    starts = [dict(study) if isinstance(study, Case) else {"study": study} for study in studies]
    choices = (starts, labs, seeds, scientists, lab_managers)
    number = prod(map(len, choices))
    if number > limits.MOST_JOBS:
        problem = f"{number:,} negotiations are asked for"
        raise errors.NegotiationError(f"{problem}; a batch has at most {limits.MOST_JOBS:,}")
    names = ("lab", "seed", "scientist", "lab_manager")
    rounds = {"max_rounds": max_rounds}
    pairs = ((start, zip(names, values, strict=True)) for start, *values in product(*choices))
    return [Case(**{**start, **dict(values), **rounds}) for start, values in pairs]


@dataclass(frozen=True)
class Batch(models.NotebookTable):
    """The results of ``asked`` jobs, in their order; some are missing after Ctrl-C."""

    results: tuple[Result, ...]
    asked: int

    @property
    def stopped(self) -> bool:
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
    """Return the results of a batch, in any order; after Ctrl-C the finished ones."""
    done: list[Result] = []
    with suppress(KeyboardInterrupt), closing(results):
        for result in results:
            done.append(result)
            if progress:
                progress(len(done), len(jobs))
    key = attrgetter("study", "text", "lab", "seed", "scientist", "lab_manager")
    places = {key(job): at for at, job in enumerate(jobs)}
    done.sort(key=lambda result: places[key(result.job)])
    return Batch(tuple(done), len(jobs))


def failure_text(error: BaseException) -> str:
    """Return the error without the path that a system error names."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{type(error).__name__}: {text}"


def run_job(job: Case, generate_fn: GenerateFn | None = None) -> Result:
    """Return how a job ends; one that cannot be played has an error and raises nothing."""
    try:
        pack = job.pack()
        played = negotiation.negotiate(job.setup(pack), pack, generate_fn)
    except errors.ReplicaLabError as error:
        return _unplayed(job, str(error))
    except Exception as error:
        if job.scientist is not ScientistKind.MODEL:
            raise
        return _unplayed(job, failure_text(error))
    if played.outcome is None:
        return _unplayed(job, "no language model is at hand to play it; hand one in")
    plan, regret = played.final_plan, negotiation.score(played).regret
    ended = Result(job=job, outcome=played.outcome, rounds=len(played.rounds), regret=regret)
    if plan is None:
        return ended
    return ended.model_copy(
        update={
            "feasible": plan.feasible,
            "samples": plan.counts.samples,
            "days": plan.counts.days,
            "credits": plan.cost,
            "evidence": None if plan.evidence.void_reason else plan.evidence.value,
            "tier": plan.evidence.tier,
            "wishes_broken": len(plan.broken_wishes),
        }
    )


def _unplayed(job: Case, why: str) -> Result:
    return Result(job=job, error=lexicon.shortened(negotiation.as_utf8(why), limits.LONGEST_TEXT))


def played_again(results: Sequence[Result], most: int) -> list[tuple[Result, Result]]:
    """Return at most ``most`` results, evenly spaced, each with its result when played now."""
    step = max(1, -(-len(results) // most))
    return [(result, run_job(result.job)) for result in results[::step]]


def is_same(was: Result, now: Result) -> bool:
    """Return whether two results agree, apart from the rounding of another machine."""
    for name in ("evidence", "regret"):
        old, new = getattr(was, name), getattr(now, name)
        both = old is not None and new is not None
        if both and isclose(old, new, rel_tol=1e-9, abs_tol=_ROUNDING):
            now = now.model_copy(update={name: old})
    return was == now


def run_batch(
    jobs: Iterable[Case],
    executor: Executor | None = None,
    workers: int | None = None,
    generate_fn: GenerateFn | None = None,
    niceness: int = 0,
) -> Generator[Result]:
    """Yield the result of each job once, as soon as it is ready.

    To stop, close the iterator or leave the loop. If a worker dies, its jobs are tried again,
    `MAX_ATTEMPTS` times in all. ``executor`` is any of `concurrent.futures`, which stays open; None
    starts ``workers`` processes with that ``niceness``. ``generate_fn`` is called from several
    threads.
    """
    pool = executor or _new_pool(workers, generate_fn, niceness)
    size, arguments = (1, (generate_fn,)) if generate_fn else (CHUNK_JOBS, ())
    pool_size = getattr(pool, "_max_workers", None)
    pool_size = pool_size if isinstance(pool_size, int) else os.cpu_count() or 1
    limit = CHUNKS_AHEAD * (workers or pool_size)

    def submit(chunk: _Chunk) -> Future[list[Result]]:
        nonlocal pool
        try:
            return pool.submit(_run_chunk, chunk.jobs, *arguments)
        except BrokenExecutor as error:
            if executor is None:
                pool = _new_pool(workers, generate_fn, niceness)
                return submit(chunk)
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
            for done in futures.wait(running, return_when=futures.FIRST_COMPLETED).done:
                chunk, failure = running.pop(done), done.exception()
                if not isinstance(failure, Exception):  # a result, or Ctrl-C in a thread
                    yield from done.result()
                elif chunk.attempts + 1 < MAX_ATTEMPTS:
                    single = [_Chunk([job], chunk.attempts + 1) for job in chunk.jobs]
                    waiting.extendleft(reversed(single))
                else:
                    error = failure_text(failure)
                    if isinstance(failure, BrokenExecutor):
                        error = PROCESS_DIED if executor is None else EXECUTOR_BROKE
                    yield from (Result(job=job, error=error) for job in chunk.jobs)
    finally:
        _stop(pool, running, is_own=executor is None)


def _new_pool(workers: int | None, generate_fn: GenerateFn | None, niceness: int) -> Executor:
    if generate_fn:
        return ThreadPoolExecutor(workers or MODELS_AT_ONCE)
    return process_pool(workers or os.cpu_count() or 1, niceness)


def _stop(pool: Executor, running: Iterable[Future[list[Result]]], *, is_own: bool) -> None:
    if not is_own:
        for future in running:
            future.cancel()
    elif isinstance(pool, ThreadPoolExecutor):
        pool.shutdown(wait=False, cancel_futures=True)
    else:
        pool.shutdown(wait=False, kill_workers=True)  # type: ignore[call-arg]  # loky's own


class _Chunk(NamedTuple):
    jobs: list[Case]
    attempts: int = 0  # that lost their worker


def _run_chunk(jobs: list[Case], generate_fn: GenerateFn | None = None) -> list[Result]:
    return [run_job(job, generate_fn) for job in jobs]


def process_pool(workers: int, niceness: int = 0) -> Executor:
    """Return a pool of processes that do not import the main module, a page in Streamlit."""
    from loky import ProcessPoolExecutor  # noqa: PLC0415 - only batches need it

    start = partial(_start_worker, niceness)
    pool: Executor = ProcessPoolExecutor(workers, timeout=POOL_IDLE_SECONDS, initializer=start)
    return pool


def _start_worker(niceness: int) -> None:
    signal(SIGINT, SIG_IGN)  # Ctrl-C reaches every process of a terminal; the parent stops the pool
    if hasattr(os, "nice"):
        os.nice(niceness)


class Share(NamedTuple):
    """The share of an outcome, with its 95 % interval by Wilson's formula."""

    number: int
    of: int

    @property
    def value(self) -> float:
        return self.number / self.of

    @property
    def interval(self) -> tuple[float, float]:
        n, p, z = self.of, self.value, _Z
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        # At the ends the formula is exact, but its floats may miss 0 and 1 by a last digit.
        low = 0.0 if self.number == 0 else max(0.0, centre - half)
        return low, 1.0 if self.number == n else min(1.0, centre + half)


class MeanRegret(NamedTuple):
    """The mean regret of ``number`` results."""

    number: int
    value: float


def mean_regret(results: Iterable[Result]) -> MeanRegret | None:
    values = [result.regret for result in results if result.regret is not None]
    return MeanRegret(len(values), fsum(values) / len(values)) if values else None


def regrets(results: Iterable[Result]) -> dict[ScientistKind, MeanRegret]:
    groups = _grouped(results, "scientist").items()
    return {player: mean for (player,), group in groups if (mean := mean_regret(group))}


def in_pairs(results: Iterable[Result]) -> dict[ScientistKind, list[float]]:
    """Return the regrets of each Scientist minus those of the first on the same cases."""
    case = attrgetter("study", "text", "lab", "seed", "lab_manager")
    played = {
        player: {case(result.job): result.regret for result in group if result.regret is not None}
        for (player,), group in _grouped(results, "scientist").items()
    }
    first = next(iter(played.values()), {})
    return {
        player: [regret - first[place] for place, regret in own.items() if place in first]
        for player, own in played.items()
    }


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return a mean with its 95 % t interval, which is infinite for one value."""
    number, mean = len(values), fsum(values) / len(values)
    if number < 2:
        return mean, -inf, inf
    spread = fsum((value - mean) ** 2 for value in values) / (number - 1)
    half = t_critical(number - 1, _ALPHA) * sqrt(spread / number)
    return mean, mean - half, mean + half


def _grouped(results: Iterable[Result], *fields: str) -> dict[tuple[Any, ...], list[Result]]:
    groups: dict[tuple[Any, ...], list[Result]] = {}
    for result in results:
        key = tuple(getattr(result.job, name) for name in fields)
        groups.setdefault(key, []).append(result)
    return groups


class Summary(NamedTuple):
    """The outcomes of all seeds of a study in a lab; ``failed`` counts jobs not played."""

    study: str
    lab: scenarios.Difficulty
    scientist: ScientistKind
    lab_manager: LabManagerKind
    shares: dict[Outcome, Share]
    failed: int
    regret: MeanRegret | None = None


def summaries(results: Iterable[Result]) -> list[Summary]:
    """Return the outcomes by study, lab and players."""
    rows = []
    groups = _grouped(results, "study", "lab", "scientist", "lab_manager")
    for (study, lab, scientist, manager), group in groups.items():
        counts = Counter(result.outcome for result in group if result.outcome is not None)
        played = counts.total()
        shares = {outcome: Share(counts[outcome], played) for outcome in Outcome if counts[outcome]}
        failed, regret = len(group) - played, mean_regret(group)
        rows.append(Summary(study, lab, scientist, manager, shares, failed, regret))
    return rows
