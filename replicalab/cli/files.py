"""The files of a command: read whole, and written as a whole; ``-`` is standard input or output."""

import errno
import os
import stat
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Final

from replicalab.cli.printing import CommandError
from replicalab.documents import MOST_BYTES
from replicalab.scenarios.folders import at_once

STANDARD: Final = "-"
# The options whose file is written.
_WRITTEN: Final = ("save", "csv")
# What may be read from a file each; the names of the arguments.
_READ: Final = ("study", "lab", "plan", "replay", "answers")
# Where the shell puts a pipe that it opened itself.
_HANDED_OVER: Final = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


def called(path: Path | str) -> str:
    """Return what a file is called in a message."""
    return "standard input" if str(path) == STANDARD else str(path)


# --- read ---------------------------------------------------------------------------------------


def content(path: Path) -> bytes:
    """Return what a file holds.

    A pipe that the shell hands over, ``<(…)`` or ``/dev/stdin``, is read to its end; one that has a
    name of its own may never end.

    Raises:
        CommandError: it cannot be read, or is larger than any file that is.
    """
    name = called(path)
    try:
        held = standard_input() if str(path) == STANDARD else _held(path)
    except OSError as error:
        why = error.strerror or "no such file"
        raise CommandError(
            f"'{name}' cannot be read ({why}); name a file that exists and may be read"
        ) from None
    except ValueError:
        raise CommandError(f"{str(path)!r} is no path; name a file") from None
    if len(held) > MOST_BYTES:
        raise CommandError(
            f"'{name}' has more than {MOST_BYTES:,} bytes, which no file that is read here has; "
            "name another"
        )
    return held


def _held(path: Path) -> bytes:
    with open(path, "rb", opener=at_once) as file:
        mode = os.fstat(file.fileno()).st_mode
        if stat.S_ISFIFO(mode) and not str(path).startswith(_HANDED_OVER):
            raise OSError(errno.EINVAL, "a named pipe is not waited for")
        if not stat.S_ISREG(mode):
            # It was opened without waiting; read so, a pipe would end at its first pause.
            os.set_blocking(file.fileno(), True)
        return file.read(MOST_BYTES + 1)


@cache
def standard_input() -> bytes:
    """Return what standard input holds: it is read once, whatever asks for it.

    Raises:
        OSError: it is closed.
    """
    if sys.stdin is None:
        raise OSError(errno.EBADF, "it is closed")
    return sys.stdin.buffer.read(MOST_BYTES + 1)


def check_standard_input(asked: SimpleNamespace) -> None:
    """Check that no two things are to be read from standard input, which holds one file.

    Raises:
        CommandError: two are.
    """
    values = [getattr(asked, name, None) for name in _READ]
    listed = [each for value in values for each in (value if isinstance(value, list) else [value])]
    number = sum(str(each) == STANDARD for each in listed)
    if number > 1:
        holds = f"'{STANDARD}' is named {number} times, and standard input holds one file"
        raise CommandError(f"{holds}; name files in place of the others")


# --- written ------------------------------------------------------------------------------------


def fills_standard_output(asked: SimpleNamespace) -> bool:
    """Return whether a file goes to standard output, in place of the answer.

    Raises:
        CommandError: the answer is wanted there, too.
    """
    for name in _WRITTEN:
        if str(getattr(asked, name, None)) == STANDARD:
            if asked.as_json:
                both = "the file and the answer as JSON would stand in one stream"
                raise CommandError(f"--{name} {STANDARD}: {both}; leave out it or --json")
            return True
    return False


def check_writable(path: Path) -> None:
    """Check that a file can be written, before what it is to hold has cost anything.

    Raises:
        CommandError: it cannot.
    """
    if path.is_dir():
        raise _unwritable(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    if str(path) == STANDARD or (path.exists() and not path.is_file()):
        return
    part = _part(path)
    try:
        part.touch()
        part.unlink()
    except OSError as error:
        raise _unwritable(path, error) from None


def _part(path: Path) -> Path:
    return path.with_name(f".{path.name}.part")


def _unwritable(path: Path, error: OSError) -> CommandError:
    problem = f"'{path}' cannot be written ({error.strerror})"
    return CommandError(f"{problem}; name a file in a folder that may be written")


def written(path: Path, held: str | bytes) -> str:
    """Write a file as a whole, and return a line that names it.

    Raises:
        CommandError: it cannot be written.
        OSError: standard output cannot.
    """
    data = held.encode() if isinstance(held, str) else held
    if str(path) == STANDARD:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return ""
    part = _part(path)
    try:
        if path.exists() and not path.is_file():  # /dev/stdout, a pipe
            with open(path, "wb", opener=at_once) as file:
                os.set_blocking(file.fileno(), True)
                file.write(data)
            return ""
        # Renamed once it is whole: whoever reads meanwhile has the old file or the new one.
        part.unlink(missing_ok=True)
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise _unwritable(path, error) from None
    return f"Saved: {path}"
