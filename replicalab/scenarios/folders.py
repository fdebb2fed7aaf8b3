"""The files of a study folder: which there are, and what may be read of them.

A folder is anybody's, so nothing in it is trusted: only regular files below it are read, and never
more of one than `MOST_STUDY_BYTES`. What is wrong with a file is an answer, not an accident.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from replicalab.errors import Fault, ScenarioError
from replicalab.limits import MOST_STUDY_BYTES
from replicalab.scenarios.reading import require_size

SUFFIXES: Final = (".yaml", ".yml", ".YAML", ".YML")


class StudyFolder(NamedTuple):
    """A folder of studies; in a ``flat`` one they may also lie outside a domain's folder."""

    path: Path
    flat: bool = False


class StudyFile(NamedTuple):
    """A file at one moment: when any part differs, it is read again.

    Attributes:
        path: where it is.
        name: what to call it in a message.
        domain: the domain's folder that it lies in, None for one that lies in none.
        state: its times, size and inode.
        problem: why it may not be read, "" when it may.
    """

    path: Path
    name: str
    domain: str | None
    state: tuple[int, ...]
    problem: str


def files_in(folder: StudyFolder) -> Iterator[StudyFile]:
    """Yield the folder's study files in order of their names; none if it cannot be listed."""
    top = os.fspath(folder.path)
    try:
        with os.scandir(top) as entries:
            domains = sorted(e.name for e in entries if not _is_study(e.name) and e.is_dir())
    except OSError:
        return
    places: list[tuple[str, str | None]] = [(top, None)] if folder.flat else []
    places += [(f"{top}/{name}", name) for name in domains if not name.startswith(".")]
    for place, domain in places:
        for file in _names(place):
            path = Path(place, file)
            linked = path.is_symlink() or Path(place).is_symlink()
            root = os.path.realpath(top) if linked else ""
            inside = not linked or Path(os.path.realpath(path)).is_relative_to(root)
            name = "/".join(filter(None, (folder.path.name, domain, file)))
            yield StudyFile(path, printable(name), domain, *_state(path, inside))


def _names(place: str) -> list[str]:
    """Return a place's study files but hidden ones; "", for itself, if it cannot be listed."""
    try:
        with os.scandir(place) as entries:
            names = sorted(entry.name for entry in entries if _is_study(entry.name))
    except OSError:
        return [""]
    return [name for name in names if not name.startswith(".")]


def _is_study(name: str) -> bool:
    return name.endswith(SUFFIXES)


def _state(path: Path, inside: bool) -> tuple[tuple[int, ...], str]:
    """Return a file's times, size and inode, and why it may not be read, "" when it may."""
    leaves = "" if inside else "it is a link that leaves the folder"
    try:
        facts = path.stat()
    except OSError as error:
        return (), leaves or error.strerror or "no such file"
    kind = ""
    if stat.S_ISDIR(facts.st_mode):
        kind = "it is a folder" if _is_study(path.name) else "its files cannot be listed"
    elif not stat.S_ISREG(facts.st_mode):
        kind = "it is not a regular file"
    state = (facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino)
    return state, leaves or kind


def printable(name: str) -> str:
    """Return a name of a file or folder without the letters that no page can show."""
    if name.isprintable():
        return name
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in name)


def content(file: StudyFile) -> bytes:
    """Return what a file holds.

    Raises:
        ScenarioError: it cannot be read, or is too large.
    """
    if file.problem:
        raise unreadable(file.name, file.problem)
    try:
        with file.path.open("rb") as opened:
            require_size(os.fstat(opened.fileno()).st_size, file.name)
            return opened.read(MOST_STUDY_BYTES + 1)
    except OSError as error:
        raise unreadable(file.name, str(error.strerror)) from None


def content_at(path: Path) -> bytes:
    """Return what a study's file holds, wherever it lies.

    Raises:
        ScenarioError: it is no regular file, or too large.
        OSError: it cannot be opened.
    """
    name = printable(path.name)
    try:
        with open(path, "rb", opener=at_once) as opened:
            facts = os.fstat(opened.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise unreadable(name, "it is not a regular file")
            require_size(facts.st_size, name)
            return opened.read(MOST_STUDY_BYTES + 1)
    except ScenarioError:
        raise
    except ValueError:
        raise unreadable(name, "no file can have that name") from None


def at_once(path: str, flags: int) -> int:
    """Open a file, a pipe too, without waiting for anybody at its other end."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def unreadable(name: str, problem: str) -> ScenarioError:
    """Return the error for a file that cannot be read, and why."""
    message = f"the file cannot be read ({problem})"
    return ScenarioError(name, [Fault("", message, "check that it is a readable file")])
