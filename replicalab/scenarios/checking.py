"""What is wrong with a file's values, in words its author can act on.

pydantic finds the faults. Messages stay short, whatever the file holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, get_args

from pydantic import ValidationError

from replicalab.characters import on_one_line
from replicalab.errors import Fault, ScenarioError
from replicalab.lexicon import shortened
from replicalab.models import Record
from replicalab.scenarios.fields import CURRENCY, DOI, IDENTIFIER
from replicalab.scenarios.reading import LONGEST_QUOTED, Document, FieldPath, dotted
from replicalab.scenarios.study import WRITTEN_STUDY, Study

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MOST_FAULTS: Final = 50  # More faults of a file are only counted
MOST_COMPARED: Final = 200  # Known names that are compared with the unknown ones of a file
LONGEST_COMPARED: Final = 60  # A comparison takes the cube of the length
_LONGEST_LIST: Final = 400  # Characters of the known names in a message

_REMEDIES: Final = {  # By kind of error, or by pattern
    "string_type": "must be text, in quotes if it looks like a number or true or false",
    "string_too_short": "must not be empty",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "list_type": "must be a list, one '- entry' per line",
    "dict_type": "must be 'key: value' lines, or {} for none",
    "model_type": "must be 'key: value' lines",
    f"^{IDENTIFIER}$": "must be lower-case letters, digits and _, beginning with a letter",
    f"^{CURRENCY}$": "must be 1 to 8 letters or €, £ or ¥, such as EUR",
    DOI: "must be a bare DOI such as 10.1000/xyz123, or null",
    "string_pattern_mismatch": "must be as it was saved",
}


def checked_study(document: Document) -> Study:
    """Return the study that a document holds.

    Raises:
        ScenarioError: with every fault by line, column, path, value and remedy.
    """
    try:
        return WRITTEN_STUDY.validate_python(document.data)
    except ValidationError as error:
        refused = record_error(error, Study, document.source, document)
    raise refused  # without the many errors that it was made from


def record_error(
    error: ValidationError, record: type[Record], source: str, document: Document | None = None
) -> ScenarioError:
    """Return what pydantic found wrong in a file that holds a record, in the file's order."""
    guesser, faults = Guesser(), []
    details = error.errors(include_url=False)
    if document:
        details.sort(key=lambda detail: document.place(detail["loc"]))
    for detail in details[:MOST_FAULTS]:
        path: FieldPath = tuple(step for step in detail["loc"] if step != "[key]")
        problem, remedy = _in_words(detail, path, guesser, record)
        place = document.place(path) if document else (0, 0)
        faults.append(Fault(on_one_line(dotted(path)), problem, remedy, *place))
    return ScenarioError(source, faults, max(0, len(details) - MOST_FAULTS))


class Guesser:
    """Says what is known in place of an unknown name, and which of it was probably meant."""

    def __init__(self) -> None:
        self._left = MOST_COMPARED

    def remedy(self, name: str, known: Sequence[str]) -> str:
        """Return the remedy for an unknown name: the nearest known one, and the known ones."""
        short = [label for label in known if max(len(name), len(label)) <= LONGEST_COMPARED]
        near = get_close_matches(name, short[: self._left], n=1)
        self._left -= len(short[: self._left])
        guess = f"did you mean '{near[0]}'? " if near else ""
        return f"{guess}known: {shortened(', '.join(known), _LONGEST_LIST) or 'none'}"


def _in_words(
    detail: ErrorDetails, path: FieldPath, guesser: Guesser, record: type[Record]
) -> tuple[str, str]:
    kind, message = detail["type"], detail["msg"].removeprefix("Value error, ")
    if kind == "missing":
        return "this field is missing", "add it"
    if kind == "extra_forbidden":
        return "unknown key", guesser.remedy(str(path[-1]), _known_keys(path[:-1], record))
    if kind == "unknown_label":
        return message, guesser.remedy(detail["input"], detail["ctx"]["known"])
    if kind == "value_error":
        problem, _, remedy = message.partition("; ")
        return problem, remedy or "change one of them"
    own = _REMEDIES.get(detail.get("ctx", {}).get("pattern", "")) or _REMEDIES.get(kind)
    must = re.sub(r"^\w+ should", "must", message).partition(" after validation")[0]
    return f"{shown(detail['input'])} is not allowed", own or must


def shown(value: object) -> str:
    """Return a value of a file as a message quotes it, short whatever it is."""
    if isinstance(value, dict):
        return "a block of keys"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if value is None or isinstance(value, bool):
        return {None: "an empty value", True: "true", False: "false"}[value]
    return shortened(repr(value), LONGEST_QUOTED)


def _known_keys(path: FieldPath, record: type[Record]) -> list[str]:
    for step in path:
        if isinstance(step, str) and step in record.model_fields:
            record = _record_in(record.model_fields[step].annotation) or record
    return list(record.model_fields)


def _record_in(annotation: object) -> type[Record] | None:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return annotation
    return next((record for part in get_args(annotation) if (record := _record_in(part))), None)
