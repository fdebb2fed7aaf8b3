"""Runs of pages take turns, and one that takes long keeps nobody."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from replicalab.ui.turns import Turns

FOREVER = 60.0


def test_short_runs_never_overlap() -> None:
    turns, inside, most = Turns(FOREVER), 0, 0

    def run(_: int) -> None:
        nonlocal inside, most
        with turns.one():
            inside += 1
            most = max(most, inside)
            Event().wait(0.001)
            inside -= 1

    with ThreadPoolExecutor(20) as threads:
        list(threads.map(run, range(100)))
    assert most == 1


def test_run_that_takes_long_keeps_nobody() -> None:
    turns, may_end = Turns(longest=0.02), Event()

    def take_long() -> None:
        with turns.one():
            assert may_end.wait(FOREVER)

    with ThreadPoolExecutor(2) as threads:
        long = threads.submit(take_long)
        passed = [threads.submit(_pass, turns).result(FOREVER) for _ in range(3)]
        assert (passed, long.done()) == ([True] * 3, False)
        may_end.set()
        long.result(FOREVER)
    with turns.one():
        pass


def _pass(turns: Turns) -> bool:
    with turns.one():
        return True


def test_run_that_fails_gives_its_turn_back() -> None:
    turns = Turns(FOREVER)
    with pytest.raises(ValueError, match="broken"), turns.one():
        raise ValueError("broken")
    assert _pass(turns)
