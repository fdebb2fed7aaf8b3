"""How an answer is written: plain text or JSON, on any terminal and in any encoding."""

import codecs
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
    2: "bad input, or a file that cannot be read or written; the message says what to do",
    130: "stopped by Ctrl-C; a batch tells what it had",
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
    for line in answer.lines:
        for part in _wrapped(shown(line), sys.stdout):
            _write(sys.stdout, part)


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


def written(path: Path, held: str | bytes) -> str:
    """Write a file as a whole, and return a line that says so.

    Raises:
        CommandError: it cannot be written.
    """
    data = held.encode() if isinstance(held, str) else held
    part = path.with_name(f".{path.name}.part")
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
        problem = f"'{path}' cannot be written ({error.strerror})"
        raise CommandError(f"{problem}; name a file in a folder that may be written") from None
    return f"Saved: {path}"
