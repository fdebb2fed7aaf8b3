"""Files, standard streams and answers of commands."""

import errno
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic_core import to_jsonable_python

from replicalab.characters import shown
from replicalab.limits import MOST_FILE_BYTES
from replicalab.render.terminal import AnswerConsole, rendered

if TYPE_CHECKING:
    from replicalab.facts.blocks import Block

SCHEMA: Final = 2  # Version of every JSON answer: it rises if a value is renamed, moved or removed
STANDARD: Final = "-"


class CommandError(ValueError):
    """Bad input to a command: a message with value, place and remedy."""


class Answer(NamedTuple):
    """The answer of a command."""

    code: int  # exit code
    blocks: Iterable["Block | str | None"]  # for people
    data: Callable[[], Mapping[str, object]]  # for programs
    file: str | bytes = ""  # content for ``--save``


def finish(function: Callable[[Any], Answer], options: Any) -> int:
    """Run a command, save its file, print its answer, and return its exit code."""
    save: Path | None = options.save
    fills = str(save) == STANDARD
    if fills and options.as_json:
        raise CommandError(f"--save {STANDARD} and --json both fill standard output; omit one")
    if save:
        _require_writable(save)
    answer = function(options)
    saved = _write(save, answer.file) if save and answer.file else ""
    if options.as_json:
        data = to_jsonable_python({"schema": SCHEMA, **answer.data()}, inf_nan_mode="null")
        sys.stdout.write(json.dumps(data, indent=1, allow_nan=False) + "\n")
    elif not fills:
        show([*answer.blocks, saved])
    sys.stdout.flush()
    return answer.code


def show(blocks: Iterable["Block | str | None"]) -> None:
    """Print blocks and sentences."""
    console = AnswerConsole(sys.stdout)
    for part in rendered(*(block for block in blocks if block)):
        console.print(part)


def say(text: str, end: str = "\n") -> None:
    """Write to standard error, unless it is closed."""
    if sys.stderr is not None:
        sys.stderr.write("\n".join(map(shown, text.split("\n"))) + end)
        sys.stderr.flush()


def called(path: Path) -> str:
    """Return the name of a file in a message."""
    return "standard input" if str(path) == STANDARD else str(path)


@cache
def content(path: Path) -> bytes:
    """Return the content of a file, which is read only once, because it may be a pipe."""
    name = called(path)
    try:
        if str(path) != STANDARD:
            with path.open("rb") as file:
                data = file.read(MOST_FILE_BYTES + 1)
        elif sys.stdin is None:
            raise OSError(errno.EBADF, "it is closed")
        else:
            data = sys.stdin.buffer.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        why, remedy = error.strerror or "no such file", "name a file that exists and may be read"
        raise CommandError(f"'{name}' cannot be read ({why}); {remedy}") from None
    if len(data) > MOST_FILE_BYTES:
        raise CommandError(f"'{name}' has more than {MOST_FILE_BYTES:,} bytes; name a smaller file")
    return data


def _require_writable(path: Path) -> None:
    target = path if path.exists() else path.parent
    if str(path) != STANDARD and (path.is_dir() or not os.access(target, os.W_OK)):
        why = "it is a folder" if path.is_dir() else "no access to its folder"
        remedy = "name a file in a folder that may be written"
        raise CommandError(f"'{path}' cannot be written ({why}); {remedy}")


def _write(path: Path, content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    if str(path) == STANDARD:
        sys.stdout.buffer.write(data)
        return ""
    path.write_bytes(data)
    return f"Saved: {path}"
