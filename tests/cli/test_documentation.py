"""docs/commands.md holds the help of every command as it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from replicalab.cli import COMMANDS
from tests.cli.asking import ROOT, Asking
from tests.golden import REWRITE

FILE: Final = ROOT / "docs" / "commands.md"
OPENING: Final = """# The commands

The dashboard, and what it answers without a browser: `python -m replicalab COMMAND`, from this
folder and with the environment of `make run` (`.venv/bin/python`); where it is installed,
`replicalab COMMAND` from any. Every answer is plain text, or JSON with `--json`; progress, and what
is wrong, is on standard error.

A study is named by its id or by the path of its file; where nothing else is said, its medium lab
and its own plan are meant. A plan's file is its fields in JSON, and its study's id, as `plan
--save` writes it; one of another study is judged, and told on standard error. A lab's file is the
one that the dashboard saves. A transcript replays here and there; in a plan's place it stands for
the plan on which it ended, or that is on the table.
"""


def _text(ask: Asking) -> str:
    parts = [OPENING, _block(ask, "")]
    for command in COMMANDS:
        name = command.__name__.rpartition(".")[2]
        parts += [f"## {name}\n", _block(ask, name)]
    return "\n".join(parts)


def _block(ask: Asking, name: str) -> str:
    return f"```text\n{ask(f'{name} --help').out}```\n"


def test_commands_are_documented_as_their_help_says(
    ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text = _text(ask)
    if os.environ.get(REWRITE):
        Path(FILE).write_text(text, encoding="utf-8")
    # Versions of Python break the lines of a help differently.
    assert FILE.read_text(encoding="utf-8").split() == text.split(), "make golden writes it anew"
