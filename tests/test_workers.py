"""Processes beside a server: what they come to, that they die alone, and that they end."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from replicalab.batch import WorkerDiedError, Workers


def where() -> tuple[int, bool, int]:
    """Return in which process this runs, whether a page's libraries are there, how polite it is."""
    os.write(1, b"printed at work")  # no answer
    return os.getpid(), "streamlit" in sys.modules, os.nice(0)


def fail() -> None:
    raise ValueError("as it said")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_work_is_done_in_another_process_which_a_death_replaces_and_an_error_does_not() -> None:
    with Workers(1, polite=10) as workers:
        first, has_pages, nice = workers.submit(where).result()
        assert first != os.getpid()
        assert not has_pages
        assert nice > os.nice(0)
        with pytest.raises(ValueError, match="as it said"):
            workers.submit(fail).result()
        assert workers.submit(where).result()[0] == first
        with pytest.raises(WorkerDiedError):
            workers.submit(die).result()
        second = workers.submit(where).result()[0]
        assert second != first
    with pytest.raises(ProcessLookupError):  # it ends with its executor
        os.kill(second, 0)
