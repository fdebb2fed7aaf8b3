"""What was saved, read back: one way for every file, which trusts nothing in it."""

from __future__ import annotations

from typing import Final, TypeVar

from pydantic import ValidationError

from replicalab.errors import TraceError
from replicalab.lexicon import amount_text
from replicalab.models import MOST_LABELS, PROTOCOL_FIELDS, Protocol, Record, ScientistAction

MOST_BYTES: Final = 5 * 2**20
"""The largest file that is read, 5 MiB: fifty rounds with three attempts of a model each fit."""
_REMEDY: Final = "load a file that was saved here and not edited since"

Kept = TypeVar("Kept", bound=Record)


def loaded(kind: type[Kept], text: str) -> Kept:
    """Return the record that a saved text holds.

    Raises:
        TraceError: the text is too long, or no such record; the message names the first place at
            fault.
    """
    size = len(text) if len(text) > MOST_BYTES else len(text.encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        raise TraceError(
            f"the file: {amount_text(size)} bytes, and {amount_text(MOST_BYTES)} are read at most; "
            f"{_REMEDY}"
        )
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise TraceError(f"{_first_fault(error)}; {_REMEDY}") from error


def list_fault(plan: Protocol | ScientistAction) -> str:
    """Return which list of a plan is longer than a file may hold; empty where none is."""
    for name in PROTOCOL_FIELDS:
        value = getattr(plan, name)
        if isinstance(value, list) and len(value) > MOST_LABELS:
            return (
                f"{name} has {amount_text(len(value))} entries, and {MOST_LABELS} are read at "
                "most; shorten the list"
            )
    return ""


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    value = first["input"]
    why = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return f"the file: {why}"
    shown = f" is {value!r}" if isinstance(value, int | float) else ""
    return f"{'.'.join(map(str, first['loc']))}{shown}: {why}"
