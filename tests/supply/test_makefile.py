"""The Makefile's environments: built anew where the lists change, with what a person had put in."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
PYTHON: Final = """#!/bin/sh
# Makes an environment with itself as its Python, and notes what is installed into it.
case "$*" in
"-m venv --clear "*) rm -rf "$4"; mkdir -p "$4/bin"; cp "$0" "$4/bin/python" ;;
*install*) echo "$@" | sed 's/.*version-check //' >> installed; test ! -e refused ;;
esac
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with the Makefile, lists of nothing, and an environment that is up to date."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for part in ("", "-pdf", "-postgres", "-dev"):
        (tmp_path / f"requirements{part}.txt").touch()
    stub = tmp_path / "python"
    stub.write_text(PYTHON)
    stub.chmod(0o755)
    made(tmp_path)
    return tmp_path


def made(clone: Path, *, fails: bool = False) -> list[str]:
    """Bring the environment up to date, and return what was installed, or was to be."""
    for name in ("installed", "refused"):
        (clone / name).unlink(missing_ok=True)
    if fails:
        (clone / "refused").touch()
    done = subprocess.run(
        ["make", "PYTHON=./python", ".venv/.app"],  # noqa: S607 - the system's
        cwd=clone,
        env={**os.environ, "MAKEFLAGS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode != 0) is fails, done.stderr
    noted = clone / "installed"
    return noted.read_text().splitlines() if noted.exists() else []


def put_in(clone: Path, *names: str) -> None:
    for name in names:
        (clone / ".venv" / "lib" / "python3.11" / "site-packages" / name).mkdir(parents=True)


def update(clone: Path) -> None:
    """Let the app's list be newer than its environment."""
    os.utime(clone / "requirements.txt", (2e9, 2e9))
    (clone / ".venv" / ".app").unlink(missing_ok=True)


def test_environment_is_built_with_the_apps_own_list_alone(clone: Path) -> None:
    update(clone)
    assert made(clone) == ["-r requirements.txt"]


def test_what_was_put_in_beside_the_app_is_there_after_an_update(clone: Path) -> None:
    put_in(clone, "weasyprint", "psycopg", "distributed-2026.8.0.dist-info", "somebody")
    update(clone)
    assert made(clone) == [
        "-r requirements.txt",
        "-r requirements-pdf.txt",
        "-r requirements-postgres.txt",
        "distributed==2026.8.0",
    ]
    update(clone)
    assert made(clone) == ["-r requirements.txt"], "the stub has put nothing in"


def test_update_that_fails_on_its_way_forgets_nothing(clone: Path) -> None:
    put_in(clone, "weasyprint")
    update(clone)
    made(clone, fails=True)
    assert not (clone / ".venv" / "lib").exists()
    assert made(clone) == ["-r requirements.txt", "-r requirements-pdf.txt"]


def test_what_the_tests_brought_comes_from_their_list_with_its_hashes(clone: Path) -> None:
    put_in(clone, "distributed-2026.8.0.dist-info")
    (clone / ".venv" / ".dev").touch()
    update(clone)
    assert made(clone) == ["-r requirements.txt"]
