"""`python -m tests.library.child ACT URL` says "ready", awaits a line, and prints each act."""

import os
import sys
from contextlib import suppress
from itertools import count
from tempfile import TemporaryDirectory
from typing import Final

from replicalab.errors import LibraryBusyError, LibraryError
from replicalab.library import EntryKind, Library
from tests.library.making import ANN, make_plan

_NOBODY: Final = 65534


def plan_of(number: int) -> str:
    technique = f"number {number} " + "x" * (number % 5 * 900)
    plan = {"sample_size": number, "duration_days": 3, "controls": [], "required_equipment": []}
    plan |= {"technique": technique, "required_reagents": [], "rationale": "a test"}
    return make_plan(1, plan=plan)


def save(library: Library, number: int) -> None:
    entry = library.keep(ANN, EntryKind.PLAN, f"plan {number}", plan_of(number))
    print("saved", entry.id, 1, number, flush=True)  # noqa: T201
    if number % 2:
        library.update(ANN, entry.id, plan_of(number + 1), base_version=1)
        print("saved", entry.id, 2, number + 1, flush=True)  # noqa: T201


def save_once(url: str) -> None:
    for _ in range(10):  # of five seconds each, for four libraries on a slow disk
        with suppress(LibraryBusyError):
            save(Library(url), os.getpid())
            return


def save_on(url: str) -> None:
    library = Library(url)
    for number in count(1 + len(library.entries(ANN))):
        save(library, number)


def open_as_nobody(url: str) -> None:
    with TemporaryDirectory() as folder:  # import before: an unprivileged user may not be able to
        Library(f"sqlite:///{folder}/library.db").close()
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
    try:
        save(Library(url), 1)
    except LibraryError as error:
        print(f"{type(error).__name__}: {error}", flush=True)  # noqa: T201


if __name__ == "__main__":
    print("ready", flush=True)  # noqa: T201
    sys.stdin.readline()
    acts = {"save_once": save_once, "save_on": save_on, "open_as_nobody": open_as_nobody}
    acts[sys.argv[1]](sys.argv[2])
