"""Processes beside a server: what they come to, that they die alone, and that they end."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter

import pytest

from replicalab.batch import WorkerDiedError, Workers, jobs_of, run_batch, run_job


def where() -> tuple[int, bool, int]:
    """Return in which process this runs, whether a page's libraries are there, how polite it is."""
    os.write(1, b"printed at work")  # no answer
    return os.getpid(), "streamlit" in sys.modules, os.nice(0)


def fail() -> None:
    raise ValueError("as it said")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_work_is_done_in_another_process_without_the_servers_main_module() -> None:
    with Workers(1, polite=10) as workers:
        found, has_pages, nice = workers.submit(where).result()
        assert found != os.getpid()
        assert not has_pages
        assert nice > os.nice(0)
        assert workers.submit(where).result()[0] == found


def test_error_at_work_is_told_and_ends_no_process() -> None:
    with Workers(1) as workers:
        before = workers.submit(where).result()[0]
        with pytest.raises(ValueError, match="as it said"):
            workers.submit(fail).result()
        assert workers.submit(where).result()[0] == before


def test_process_that_dies_is_replaced() -> None:
    with Workers(1) as workers:
        before = workers.submit(where).result()[0]
        with pytest.raises(WorkerDiedError):
            workers.submit(die).result()
        assert workers.submit(where).result()[0] != before


def test_processes_end_with_their_executor() -> None:
    with Workers(2) as workers:
        found = {workers.submit(where).result()[0] for _ in range(4)}
    for each in found:
        with pytest.raises(ProcessLookupError):
            os.kill(each, 0)


def test_batch_gives_each_result_once_on_them() -> None:
    jobs = jobs_of(("psy_stroop",), seeds=range(12))
    with Workers(2) as workers:
        found = list(run_batch(jobs, workers))
    assert Counter(map(repr, found)) == Counter(repr(run_job(job)) for job in jobs)
