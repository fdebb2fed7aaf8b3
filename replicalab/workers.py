"""Processes that work for a server whose own main module they must not run.

A child of `multiprocessing` runs the main module of its parent once more; under Streamlit that is
the page which asked. These begin with nothing but this package, give way to whoever waits for a
page, and end with the server: nobody writes to them any more then.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock, local
from typing import BinaryIO, Final, ParamSpec, TypeVar, cast

_ROOT: Final = Path(__file__).parents[1]
_SERVE: Final = "from replicalab.workers import serve; serve()"
_POLITE: Final = 10
"""How much less of a core they get than a page, in the unit of `os.nice`."""
_P = ParamSpec("_P")
_R = TypeVar("_R")


class WorkerDiedError(Exception):
    """A process ended at its work."""


class Workers(ThreadPoolExecutor):
    """An executor with processes of its own; one that dies is replaced by the next call."""

    def __init__(self, number: int) -> None:
        super().__init__(number, thread_name_prefix="worker")
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
        """Return this thread's process."""
        found: subprocess.Popen[bytes] | None = getattr(self._mine, "process", None)
        if found is None:
            found = self._mine.process = subprocess.Popen(  # noqa: S603  # our own words only
                [sys.executable, "-c", _SERVE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=_ROOT,
            )
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


def serve() -> None:
    """Work as one of the processes, until nobody asks any more."""
    if hasattr(os, "nice"):
        os.nice(_POLITE)
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
        except Exception as error:  # noqa: BLE001 - told to whoever asked
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
