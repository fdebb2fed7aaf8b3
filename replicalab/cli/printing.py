"""The answers of commands on standard output, and messages on standard error."""

import codecs
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from replicalab.characters import shown

if TYPE_CHECKING:
    from rich.console import RenderableType

SCHEMA: Final = 1  # Version of every JSON answer: it rises if a value is renamed, moved or removed

# Signs for encodings that lack the usual ones.
_PLAIN: Final = dict(
    zip(
        map(ord, "✓✕−–·×→±…\u2018\u2019⟨⟩\u2068\u2069"),
        ("+", "x", "-", "-", "-", "x", "->", "+-", "...", "'", "'", "<", ">", "", ""),
        strict=True,
    )
)


class CommandError(ValueError):
    """Bad input to a command: a message with value, place and remedy."""


class Answer(NamedTuple):
    """The answer of a command.

    Attributes:
        code: its exit code.
        lines: texts and renderables for people.
        data: plain data for programs.
        is_silent: whether a file fills standard output instead.
    """

    code: int
    lines: Iterable["RenderableType"]
    data: Callable[[], Mapping[str, object]]
    is_silent: bool = False


def prepare_streams() -> None:
    """Let both streams replace what their encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(errors="replicalab.plain")  # type: ignore[union-attr]


def tell(answer: Answer, *, as_json: bool) -> None:
    """Write an answer to standard output."""
    if as_json:
        data = {"schema": SCHEMA, **answer.data()}
        sys.stdout.write(json.dumps(data, indent=1, allow_nan=False) + "\n")
    elif not answer.is_silent:
        tell_lines(answer.lines)
    sys.stdout.flush()


def tell_lines(lines: Iterable["RenderableType"]) -> None:
    """Write texts and renderables to standard output; a pipe receives a text on one line."""
    from replicalab.render.terminal import AnswerConsole  # noqa: PLC0415 - help needs no views

    console = AnswerConsole(sys.stdout)
    for line in lines:
        if isinstance(line, str):
            console.print(shown(line), soft_wrap=not console.is_terminal)
        else:
            console.print(line)


def say(text: str, end: str = "\n") -> None:
    """Write to standard error, unless it is closed."""
    if sys.stderr is not None:
        sys.stderr.write("\n".join(map(shown, text.split("\n"))) + end)
        sys.stderr.flush()


def is_watched() -> bool:
    """Return whether standard error is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


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
