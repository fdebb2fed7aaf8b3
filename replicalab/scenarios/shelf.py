"""The files of a study folder: which there are, and what each of them holds.

A folder is anybody's, so nothing in it is trusted: only regular files that lie below it are read,
and never more of one than `MAX_BYTES`. What is wrong with a file is an answer, not an accident.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from replicalab.errors import Fault, ScenarioError
from replicalab.scenarios.checking import checked_study, is_identifier
from replicalab.scenarios.reading import (
    MAX_BYTES,
    Document,
    read_document,
    readable_text,
    require_size,
)
from replicalab.scenarios.study import Study

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


def study_files(folder: StudyFolder, stem: str = "") -> Iterator[StudyFile]:
    """Yield the folder's study files in order of their names; with ``stem`` only those so named.

    Raises:
        OSError: the folder cannot be listed.
    """
    root = os.path.realpath(folder.path)
    for place, domain in _places(folder):
        linked = place.is_symlink()
        for path in _named(place, stem) if stem else _all(place):
            inside = not (linked or path.is_symlink()) or _lies_in(path, root)
            yield _file(path, _shown(path, folder.path), domain, inside=inside)


def _places(folder: StudyFolder) -> Iterator[tuple[Path, str | None]]:
    with os.scandir(folder.path) as entries:
        inside = sorted(e.name for e in entries if not _is_study(e.name) and e.is_dir())
    if folder.flat:
        yield folder.path, None
    for name in inside:
        if not name.startswith("."):
            yield folder.path / name, name


def _named(place: Path, stem: str) -> list[Path]:
    paths = [f"{place}/{stem}{suffix}" for suffix in SUFFIXES]
    return [Path(path) for path in paths if os.path.lexists(path)]


def _all(place: Path) -> list[Path]:
    """Return a place's study files but hidden ones; the place itself if it cannot be listed."""
    try:
        with os.scandir(place) as entries:
            names = sorted(entry.name for entry in entries if _is_study(entry.name))
    except OSError:
        return [place]
    return [place / name for name in names if not name.startswith(".")]


def _is_study(name: str) -> bool:
    return name.endswith(SUFFIXES)


def _lies_in(path: Path, root: str) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(root)


def _shown(path: Path, folder: Path) -> str:
    return printable("/".join((folder.name, *path.relative_to(folder).parts)))


def printable(name: str) -> str:
    """Return a name of a file or folder without the letters that no page can show."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in name)


def _status(path: Path) -> tuple[int, tuple[int, ...], str]:
    """Return a path's kind, its state, and why these cannot be had, "" when they can."""
    try:
        found = path.stat()
    except OSError as error:
        return 0, (), error.strerror or "no such file"
    state = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
    return found.st_mode, state, ""


def _file(path: Path, name: str, domain: str | None, *, inside: bool) -> StudyFile:
    mode, state, problem = _status(path)
    if not inside:
        problem = "it is a link that leaves the folder"
    elif not problem and stat.S_ISDIR(mode):
        problem = "it is a folder" if _is_study(path.name) else "its files cannot be listed"
    elif not problem and not stat.S_ISREG(mode):
        problem = "it is not a regular file"
    return StudyFile(path, name, domain, state, problem)


def read_study(file: StudyFile) -> Study:
    """Return the study in a file; the same one until the file changes.

    Raises:
        ScenarioError: the file cannot be read, holds no study, or has the wrong name or place.
    """
    outcome = _outcome(file)
    if isinstance(outcome, ScenarioError):
        raise ScenarioError(outcome.source, outcome.faults, outcome.more)
    return outcome


@lru_cache(maxsize=1024)
def _outcome(file: StudyFile) -> Study | ScenarioError:
    """Return the study in a file or what is wrong with it: a raised error would not be cached."""
    try:
        document = read_document(_content(file), file.name)
        study = checked_study(document, file.name)
        if faults := _misplaced(study, document, file):
            raise ScenarioError(file.name, faults)
    except ScenarioError as error:
        return error
    return study


def read_text(file: StudyFile) -> str:
    """Return the text of a file.

    Raises:
        ScenarioError: the file cannot be read or is too large.
    """
    return readable_text(_content(file), file.name)


def _content(file: StudyFile) -> bytes:
    if file.problem:
        raise unreadable(file.name, file.problem)
    try:
        with file.path.open("rb") as opened:
            require_size(os.fstat(opened.fileno()).st_size, file.name)
            return opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise unreadable(file.name, str(error.strerror)) from None


def unreadable(name: str, problem: str) -> ScenarioError:
    """Return the error for a file that cannot be read, and why."""
    said = f"the file cannot be read ({problem})"
    return ScenarioError(name, [Fault("", said, "check that it is a readable file")])


def _misplaced(study: Study, document: Document, file: StudyFile) -> list[Fault]:
    places = (
        ("scenario_id", study.scenario_id, file.path.stem, "file's name"),
        ("domain_id", study.domain_id, file.domain or study.domain_id, "folder's name"),
    )
    return [
        Fault(
            field,
            f"'{written}' is not the {part}",
            _move(found, written),
            document.line((field,)),
        )
        for field, written, found, part in places
        if written != found
    ]


def _move(found: str, written: str) -> str:
    if is_identifier(found):
        return f"write '{found}', or move the file"
    return f"rename it to '{written}'"
