"""What is wrong with a file's values, in words its author can act on.

pydantic finds the faults. Messages stay short, whatever the file holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import accumulate
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
_MOST_LISTED, _LONGEST_LIST = 30, 400  # Known names in a message, and their characters

_REMEDIES: Final = {
    "string_type": "must be text, in quotes if it looks like a number or true or false",
    "string_too_short": "must not be empty",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "list_type": "must be a list, one '- entry' per line",
    "dict_type": "must be 'key: value' lines, or {} for none",
    "model_type": "must be 'key: value' lines",
    "string_pattern_mismatch": "must be as it was saved",
}
IDENTIFIER_REMEDY: Final = "must be lower-case letters, digits and _, beginning with a letter"
_PATTERNS: Final = {
    f"^{IDENTIFIER}$": IDENTIFIER_REMEDY,
    f"^{CURRENCY}$": "must be 1 to 8 letters or €, £ or ¥, such as EUR",
    DOI: "must be a bare DOI such as 10.1000/xyz123, or null",
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
        compared = short[: self._left]
        self._left -= len(compared)
        near = get_close_matches(name, compared, n=1)
        guess = f"did you mean '{near[0]}'? " if near else ""
        lengths = accumulate(len(label) + 2 for label in known[:_MOST_LISTED])
        listed = known[: max(1, sum(length <= _LONGEST_LIST for length in lengths))]
        rest = f" and {len(known) - len(listed)} more" if len(listed) < len(known) else ""
        return f"{guess}known: {', '.join(listed) or 'none'}{rest}"


def _in_words(
    detail: ErrorDetails, path: FieldPath, guesser: Guesser, record: type[Record]
) -> tuple[str, str]:
    kind, message = detail["type"], detail["msg"].removeprefix("Value error, ")
    if kind == "missing":
        return "this field is missing", "add it"
    if kind == "extra_forbidden":
        return "unknown key", guesser.remedy(str(path[-1]), _known_keys(path[:-1], record))
    if kind == "unknown_label":
        problem = f"'{shortened(detail['input'], LONGEST_QUOTED)}' is not in this study"
        return problem, guesser.remedy(detail["input"], detail["ctx"]["known"])
    if kind == "repeated_label":
        problem = f"'{shortened(detail['input'], LONGEST_QUOTED)}' is listed already"
        return problem, "list it once, or choose another name"
    if kind == "value_error":
        problem, _, remedy = message.partition("; ")
        return problem, remedy or "change one of them"
    pattern = detail.get("ctx", {}).get("pattern", "")
    remedy = _PATTERNS.get(pattern) or _REMEDIES.get(kind) or _must(message)
    return f"{shown(detail['input'])} is not allowed", remedy


def _must(message: str) -> str:
    return re.sub(r"^\w+ should", "must", message).partition(" after validation")[0]


def shown(value: object) -> str:
    """Return a value of a file as a message quotes it, short whatever it is."""
    if isinstance(value, dict):
        return "a block of keys"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if value is None or isinstance(value, bool):
        return {None: "an empty value", True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= LONGEST_QUOTED else f"{text[: LONGEST_QUOTED - 1]}…"


def _known_keys(path: FieldPath, record: type[Record]) -> list[str]:
    for step in path:
        if isinstance(step, str) and step in record.model_fields:
            record = _record_in(record.model_fields[step].annotation) or record
    return list(record.model_fields)


def _record_in(annotation: object) -> type[Record] | None:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return annotation
    return next((record for part in get_args(annotation) if (record := _record_in(part))), None)
