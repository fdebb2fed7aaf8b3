"""Many negotiations: each job once, whatever happens to a worker; shares with their intervals."""

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event, Lock, active_count
from typing import Any, Final

import pytest

from replicalab import scenarios
from replicalab.errors import ModelError
from replicalab.negotiation import RULED_LAB_MANAGERS, Outcome, ScientistKind, batch
from replicalab.negotiation.case import Case
from tests.negotiation.playing import ACCEPT, propose, said
from tests.scripted import ScriptedGenerate
from tests.tiers import one_in

STUDY: Final = "psy_stroop"
AWARE: Final = ScientistKind.DIRECT
RULES: Final = (ScientistKind.BASELINE, AWARE)
JOBS: Final = batch.jobs_of(
    (STUDY, "math_four_colour"), seeds=range(3), scientists=RULES, lab_managers=RULED_LAB_MANAGERS
)


def test_jobs_are_every_combination_in_order() -> None:
    assert len(JOBS) == 2 * 3 * 3 * 2 * 2
    assert len(set(map(repr, JOBS))) == len(JOBS)
    assert (JOBS[0].study, JOBS[0].lab, JOBS[0].seed) == (STUDY, scenarios.Difficulty.EASY, 0)
    with pytest.raises(ValueError, match="300,000 negotiations are asked for"):
        batch.jobs_of((STUDY,), seeds=range(100_000))


def test_job_uses_own_study_lab_and_question() -> None:
    job = Case(study=STUDY, lab=scenarios.Difficulty.MEDIUM)
    rich = job.model_copy(update={"own_lab": scenarios.LabOverrides(budget=10**6)})
    assert (
        batch.run_job(job.model_copy(update={"text": scenarios.study_text(STUDY)})).outcome
        is batch.run_job(job).outcome
    )
    assert batch.run_job(rich).credits > batch.run_job(job).credits
    askew = {"question": scenarios.EvidenceAssumptions(target=0.1)}
    for changes, error in (askew, "out of order"), ({"study": "gone"}, "'gone' is unknown"):
        wrong = batch.run_job(job.model_copy(update=changes))
        assert wrong.outcome is None
        assert error in wrong.error


@pytest.mark.parametrize("make", one_in(2, [ThreadPoolExecutor, batch.process_pool]))
def test_any_executor_gives_each_result_once(make: Callable[[int], Executor]) -> None:
    with make(2) as executor:
        results = list(batch.run_batch(JOBS, executor))
        assert executor.submit(int).result() == 0  # it stays open
    assert Counter(map(repr, results)) == Counter(repr(batch.run_job(job)) for job in JOBS)


def test_closed_batch_starts_nothing_more() -> None:
    begun = []

    class Counting(ThreadPoolExecutor):
        def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
            begun.append(args)
            return super().submit(*args, **kwargs)

    many = JOBS * 50
    with Counting(1) as executor:
        results = batch.run_batch(many, executor)
        first = next(results)
        results.close()
    assert first == batch.run_job(JOBS[0])
    assert len(begun) <= batch.CHUNKS_AHEAD + 1


def worker_state() -> tuple[int, bool, int]:
    return os.getpid(), "streamlit" in sys.modules, os.nice(0)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_pool_runs_in_another_process() -> None:
    with batch.process_pool(1, niceness=10) as pool:
        process, has_streamlit, niceness = pool.submit(worker_state).result()
        assert process != os.getpid()
        assert not has_streamlit
        assert niceness > os.nice(0)
        with pytest.raises(BrokenExecutor):
            pool.submit(die).result()


def deadly(jobs: list[Case]) -> list[batch.Result]:
    for job in jobs:
        once = Path(os.environ["DEADLY"])
        if job.seed == 9 or (job.seed == 7 and not once.exists()):
            once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return [batch.run_job(job) for job in jobs]


@pytest.fixture
def deadly_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEADLY", str(tmp_path / "once"))
    monkeypatch.setattr(batch, "_run_chunk", deadly)


@pytest.mark.long
@pytest.mark.usefixtures("deadly_jobs")
def test_killed_worker_loses_no_job() -> None:
    jobs = batch.jobs_of((STUDY,), (scenarios.Difficulty.MEDIUM,), seeds=range(40))
    results = {result.job.seed: result for result in batch.run_batch(jobs)}
    assert sorted(results) == list(range(40))
    assert [seed for seed, result in results.items() if result.error] == [9]
    assert results[9].error == "its process died 3 times; play it alone to see why"
    assert results[7] == batch.run_job(jobs[7])


def test_failed_chunk_is_played_again() -> None:
    class LostWorkerError(Exception):
        pass

    class Losing(ThreadPoolExecutor):
        """Fails chunks with seed 9 each time, those with seed 3 once."""

        lost = 0

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            seeds = {job.seed for job in args[0]}
            if 9 in seeds or (3 in seeds and not self.lost):
                self.lost += 1
                failed: Future[Any] = Future()
                failed.set_exception(LostWorkerError("gone"))
                return failed
            return super().submit(fn, *args, **kwargs)

    jobs = batch.jobs_of((STUDY,), (scenarios.Difficulty.MEDIUM,), seeds=range(20))
    with Losing(1) as executor:
        results = list(batch.run_batch(jobs, executor))
    assert sorted(result.job.seed for result in results) == list(range(20))
    [lost] = [result for result in results if result.error]
    assert (lost.job.seed, lost.error) == (9, "LostWorkerError: gone")


MODEL: Final = ScientistKind.MODEL
ONE: Final = Case(study=STUDY, lab=scenarios.Difficulty.MEDIUM, scientist=MODEL)
REFERENCE: Final = scenarios.load_scenario(STUDY, "medium").reference_protocol
PROPOSAL: Final = said(propose(REFERENCE))


def takes_the_offer(messages: list[dict[str, str]]) -> str:
    offered = "The Lab Manager's standing offer" in messages[-1]["content"]
    return said(ACCEPT) if offered else PROPOSAL


def test_model_without_valid_action_has_full_regret() -> None:
    result = batch.run_job(ONE, lambda _: "garbage")
    assert (result.outcome, result.rounds, result.error) == (Outcome.NO_DEAL, 1, "")
    assert result.regret == 11


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (ModelError("no answer; start it"), "no answer; start it"),
        (ZeroDivisionError("mine"), "ZeroDivisionError: mine"),
        (OSError(13, "Permission denied", "/home/ann/key"), "PermissionError: Permission denied"),
        (ValueError("\ud800" + "x" * 10**6), "ValueError: \ufffd" + "x" * 3987 + "…"),
    ],
)
def test_failing_model_gives_a_result_with_error(failure: Exception, error: str) -> None:
    generate = ScriptedGenerate([failure])
    [result] = batch.run_batch([ONE], None, 1, generate)
    assert (result.outcome, result.regret, result.error) == (None, None, error)
    assert len(generate.sent) == 1, "it is paid for once"


def test_models_play_a_few_at_once() -> None:
    jobs = batch.jobs_of([STUDY], ["medium"], range(9), scientists=(AWARE, MODEL))
    numbers, limit, lock, last = list[int](), list[int](), Lock(), Event()

    def slow(messages: list[dict[str, str]]) -> str:
        with lock:
            numbers.append(1)
            first = len(numbers) == 1
            limit.append(active_count())
        if first:
            assert last.wait(20)
        return takes_the_offer(messages)

    before, came = active_count(), []
    for result in batch.run_batch(jobs, generate_fn=slow):
        came.append(result)
        if len(came) == len(jobs) - 1:
            last.set()
    assert Counter(result.job.scientist for result in came) == {AWARE: 9, MODEL: 9}
    assert {result.outcome for result in came if result.job.scientist is MODEL} == {Outcome.AGREED}
    assert came[-1].job.scientist is MODEL
    assert max(limit) - before <= batch.MODELS_AT_ONCE


def test_mean_regret_of_each_player() -> None:
    job, other = JOBS[0], ONE
    results = [
        batch.Result(job=job, outcome=Outcome.AGREED, regret=7.5),
        batch.Result(job=job, outcome=Outcome.NO_DEAL, regret=11),
        batch.Result(job=job, outcome=Outcome.AGREED, regret=7.75),
        batch.Result(job=job, outcome=Outcome.AGREED),
        batch.Result(job=other, outcome=Outcome.AGREED, regret=0),
        batch.Result(job=job, error="gone"),
    ]
    assert batch.regrets(results) == {
        job.scientist: batch.MeanRegret(3, 8.75),
        MODEL: batch.MeanRegret(1, 0),
    }
    assert [summary.regret and summary.regret.number for summary in batch.summaries(results)] == [
        3,
        1,
    ]
    assert batch.regrets(results[3:4]) == {}
    assert batch.summaries(results[3:4])[0].regret is None


@pytest.mark.parametrize(
    ("number", "of", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0000),
    ],
)
def test_interval_of_a_share_is_wilsons(number: int, of: int, low: float, high: float) -> None:
    assert batch.Share(number, of).interval == pytest.approx((low, high), abs=5e-5)


def test_summaries_have_shares_and_failures() -> None:
    job, other = JOBS[0], JOBS[1]
    results = [
        batch.Result(job=job, outcome=Outcome.AGREED),
        batch.Result(job=job.model_copy(update={"seed": 1}), outcome=Outcome.AGREED),
        batch.Result(job=job.model_copy(update={"seed": 2}), outcome=Outcome.NO_DEAL),
        batch.Result(job=job.model_copy(update={"seed": 3}), error="gone"),
        batch.Result(job=other, outcome=Outcome.FALSE_AGREEMENT),
    ]
    first, second = batch.summaries(results)
    assert first.shares == {Outcome.AGREED: batch.Share(2, 3), Outcome.NO_DEAL: batch.Share(1, 3)}
    assert (first.failed, second.failed) == (1, 0)
    assert second.shares == {Outcome.FALSE_AGREEMENT: batch.Share(1, 1)}
