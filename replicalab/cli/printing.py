"""How an answer is written: plain text or JSON, on any terminal and in any encoding."""

import codecs
import errno
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple, TextIO

from replicalab.characters import shown
from replicalab.scenarios.folders import at_once

EXIT: Final = {
    0: "passes: the plan is feasible, the players agreed, the transcript replays, all is done",
    1: "does not",
    2: "bad input, or a file or a language model that fails; the message says what to do",
    130: "stopped by Ctrl-C; a batch, or a language model's negotiation, tells what it had",
    141: "whoever read the answer went away",
}
"""What each exit code means."""

# What stands for a sign where the encoding of the terminal lacks it.
_PLAIN: Final = dict(
    zip(
        map(ord, "✓✕−–·×→±…\u2018\u2019⟨⟩\u2068\u2069"),
        ("+", "x", "-", "-", "-", "x", "->", "+-", "...", "'", "'", "<", ">", "", ""),
        strict=True,
    )
)
_NARROWEST: Final = 40


class CommandError(ValueError):
    """Something that a command cannot take: with the value, the place and the remedy."""


class Answer(NamedTuple):
    """What a command answers.

    Attributes:
        code: its exit code, a key of `EXIT`.
        lines: in words, made as they are written.
        data: the same for a program; plain data.
    """

    code: int
    lines: Iterable[str]
    data: Callable[[], object]


# --- on standard output and standard error --------------------------------------------------------


def tell(answer: Answer, *, as_json: bool) -> None:
    """Write an answer to standard output."""
    if as_json:
        _write(sys.stdout, json.dumps(answer.data(), indent=1, allow_nan=False))
        return
    tell_lines(answer.lines)


def tell_lines(lines: Iterable[str]) -> None:
    """Write lines to standard output, where somebody may be waiting for them."""
    for line in lines:
        for part in _wrapped(shown(line), sys.stdout):
            _write(sys.stdout, part)
    sys.stdout.flush()


def say(text: str, end: str = "\n") -> None:
    """Write to standard error, where what is no answer belongs."""
    _write(sys.stderr, "\n".join(map(shown, text.split("\n"))), end)
    sys.stderr.flush()


def _wrapped(line: str, stream: TextIO) -> list[str]:
    """Return a line in as many as a terminal needs; a file or a pipe gets it whole."""
    width = shutil.get_terminal_size().columns
    if not stream.isatty() or len(line) <= width or width < _NARROWEST:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False)


def _write(stream: TextIO, text: str, end: str = "\n") -> None:
    coding = stream.encoding or "utf-8"
    stream.write(text.encode(coding, "replicalab.plain").decode(coding) + end)


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN)
    try:
        text.encode(error.encoding)
    except UnicodeEncodeError:
        text = text.encode("ascii", "backslashreplace").decode()
    return text, error.end


codecs.register_error("replicalab.plain", _plain)


# --- files ----------------------------------------------------------------------------------------


def check_writable(path: Path) -> None:
    """Check that a file can be written, before what it is to hold has cost anything.

    Raises:
        CommandError: it cannot.
    """
    if path.is_dir():
        raise _unwritable(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    if path.exists() and not path.is_file():
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
    """Write a file as a whole, and return a line that says so.

    Raises:
        CommandError: it cannot be written.
    """
    data = held.encode() if isinstance(held, str) else held
    part = _part(path)
    try:
        if path.exists() and not path.is_file():  # /dev/stdout, a pipe
            with open(path, "wb", opener=at_once) as file:
                os.set_blocking(file.fileno(), True)
                file.write(data)
            return ""
        # Renamed once it is whole: whoever reads meanwhile has the old file or the new one.
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise _unwritable(path, error) from None
    return f"Saved: {path}"
