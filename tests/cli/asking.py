"""How a test asks a command: in this process, or in one of its own."""

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from replicalab.cli import main

ROOT: Final = Path(__file__).resolve().parents[2]


class CommandResult(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


class Asking:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, line: str) -> CommandResult:
        code = main(shlex.split(line))
        result = self._capsys.readouterr()
        return CommandResult(code, result.out, result.err)


def _hear_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def started(line: str, **settings: Any) -> subprocess.Popen[str]:
    """Start a command in its own process, which hears Ctrl-C even from tests in the background."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    record: dict[str, Any] = {**pipes, "preexec_fn": _hear_interrupts, **settings}
    command = [sys.executable, "-W", "error", "-m", "replicalab", *shlex.split(line)]
    return subprocess.Popen(command, cwd=ROOT, text=True, **record)
