"""How an answer is written: plain text or JSON, on any terminal and in any encoding."""

import codecs
import json
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, TextIO

from replicalab.characters import shown

EXIT: Final = {
    0: "passes: the plan is feasible, the players agreed, the transcript replays, all is done",
    1: "does not",
    2: "bad input, or a file or a language model that fails; the message says what to do",
    70: "ReplicaLab itself fails, by no fault of the input; --debug shows where",
    130: "stopped by Ctrl-C (serve: 1); a batch, or a model's negotiation, tells what it had",
    141: "whoever read the answer went away",
}
"""What each exit code means."""
SCHEMA: Final = 1
"""Of every answer as JSON: the next number where a value is renamed, moved or taken away."""

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
        data: the same for a program; plain data by its names.
    """

    code: int
    lines: Iterable[str]
    data: Callable[[], Mapping[str, object]]


# --- on standard output and standard error --------------------------------------------------------


def tell(answer: Answer, *, as_json: bool) -> None:
    """Write an answer to standard output."""
    if as_json:
        told = {"schema": SCHEMA, **answer.data()}
        _write(sys.stdout, json.dumps(told, indent=1, allow_nan=False))
        return
    tell_lines(answer.lines)


def tell_lines(lines: Iterable[str]) -> None:
    """Write lines to standard output, where somebody may be waiting for them."""
    for line in lines:
        for part in _wrapped(shown(line), sys.stdout):
            _write(sys.stdout, part)
    sys.stdout.flush()


def say(text: str, end: str = "\n") -> None:
    """Write to standard error, where what is no answer belongs; to nobody where it is closed."""
    if sys.stderr is None:
        return
    _write(sys.stderr, "\n".join(map(shown, text.split("\n"))), end)
    sys.stderr.flush()


def is_watched() -> bool:
    """Return whether standard error is a terminal, on which progress may be written over."""
    return sys.stderr is not None and sys.stderr.isatty()


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
