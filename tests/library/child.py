"""`python -m tests.library.child ACT URL` prints each act; after "ready" it awaits a line."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

from replicalab.errors import LibraryBusyError, LibraryError
from replicalab.library import EntryKind, Library
from tests.library.making import ANN, make_plan

Done = TypeVar("Done")

_NOBODY = 65534
_MOST_TRIES: Final = 10  # of five seconds each, for four libraries on a slow disk


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def wait() -> None:
    say("ready")
    sys.stdin.readline()


def plan_of(number: int) -> str:
    technique = f"number {number} " + "x" * (number % 5 * 900)
    plan = {"sample_size": number, "duration_days": 3, "controls": [], "required_equipment": []}
    plan |= {"technique": technique, "required_reagents": [], "rationale": "a test"}
    return make_plan(1, plan=plan)


def once_free(do: Callable[[], Done]) -> Done:
    for _ in range(_MOST_TRIES):
        with suppress(LibraryBusyError):
            return do()
    return do()


def save(library: Library, number: int) -> None:
    content, text = plan_of(number), plan_of(number + 1)
    entry = once_free(lambda: library.keep(ANN, EntryKind.PLAN, f"plan {number}", content))
    say(f"saved {entry.id} 1 {number}")
    if number % 2:
        once_free(lambda: library.update(ANN, entry.id, text, base_version=1))
        say(f"saved {entry.id} 2 {number + 1}")


def save_once(url: str) -> None:
    wait()
    library = once_free(lambda: Library(url))
    save(library, os.getpid())
    library.close()


def save_on(url: str) -> None:
    library = Library(url)
    begun = len(library.entries(ANN))
    for number in count(begun + 1):
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
        say(f"{type(error).__name__}: {error}")


ACTS = {act.__name__: act for act in (save_once, save_on, open_as_nobody)}

if __name__ == "__main__":
    ACTS[sys.argv[1]](sys.argv[2])
