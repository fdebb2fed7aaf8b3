"""What was saved, read back: one way for every file, which trusts nothing in it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from pydantic import ValidationError
from pydantic_core import from_json

from replicalab.errors import NegotiationError, TraceError
from replicalab.lexicon import amount_text
from replicalab.negotiation.attempts import readable
from replicalab.negotiation.earlier import converted
from replicalab.negotiation.transcript import Transcript

MOST_BYTES: Final = 5 * 2**20
"""The largest file that is read, 5 MiB: fifty rounds with three attempts of a model each fit."""
FOLDER: Final = Path(__file__).with_name("recordings")

_REMEDY: Final = "load a file that was saved here and not edited since"


def load(text: str) -> Transcript:
    """Return the transcript that was saved, by this version or an earlier one.

    Raises:
        TraceError: the text is no saved negotiation, or too long for one, or lists more than a
            plan can need; the message names the first place at fault.
    """
    size = len(text) if len(text) > MOST_BYTES else len(text.encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        raise TraceError(
            f"the file: {amount_text(size)} bytes, and {amount_text(MOST_BYTES)} are read at most; "
            f"{_REMEDY}"
        )
    try:
        data = from_json(readable(text))
    except ValueError as error:
        raise TraceError(f"the file: Invalid JSON: {error}; {_REMEDY}") from error
    if not isinstance(data, dict):
        raise TraceError(f"the file: it holds no JSON object; {_REMEDY}")
    try:
        earlier = data.get("format", 1) == 1
        transcript = Transcript.model_validate(converted(data) if earlier else data)
    except ValidationError as error:
        raise TraceError(f"{_first_fault(error)}; {_REMEDY}") from error
    except NegotiationError as error:
        raise TraceError(f"setup.opening: {error}") from error
    if transcript.start is None and not earlier:
        raise TraceError(f"start: it is missing; {_REMEDY}")
    return transcript


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    value = first["input"]
    why = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return f"the file: {why}"
    shown = f" is {value!r}" if isinstance(value, int | float) else ""
    return f"{'.'.join(map(str, first['loc']))}{shown}: {why}"


def shipped_recordings() -> tuple[Transcript, ...]:
    """Return the recordings that come with the application, by file name.

    Raises:
        TraceError: one of them cannot be read; the message names the file.
    """
    return _recordings_in(FOLDER)


@cache
def _recordings_in(folder: Path) -> tuple[Transcript, ...]:
    found = []
    for file in sorted(folder.glob("*.json")):
        try:
            found.append(load(file.read_text(encoding="utf-8")))
        except (TraceError, OSError, UnicodeDecodeError) as error:
            raise TraceError(f"{file.name}: {error}") from error
    return tuple(found)
