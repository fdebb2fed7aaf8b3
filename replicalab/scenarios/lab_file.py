"""A lab of one's own as a small file, JSON: what leaves, and what is taken of one that arrives."""

from __future__ import annotations

import json
from typing import Final, Literal, NoReturn

from pydantic import ValidationError

from replicalab.characters import on_one_line
from replicalab.errors import Fault, ScenarioError
from replicalab.lexicon import shortened
from replicalab.models import Record
from replicalab.scenarios.checking import MOST_FAULTS, Guesser, in_words
from replicalab.scenarios.own import OwnLab
from replicalab.scenarios.reading import LONGEST_QUOTED, MOST_VALUES, dotted, readable_text

FORMAT: Final = 1
MOST_BYTES: Final = 512 * 1024
"""The largest file that is read: 200 items of 300 characters, each written as an escape, fit."""
SOURCE: Final = "the lab's file"

_REMEDY: Final = "load a file that was saved as a lab here"


class _LabFile(Record):
    """What a file holds."""

    format: Literal[1]
    lab: OwnLab


def lab_json(own_lab: OwnLab) -> str:
    """Return a lab as the text of a file; what it leaves to the study is left out."""
    lab = own_lab.model_dump(mode="json", exclude_defaults=True)
    return json.dumps({"format": FORMAT, "lab": lab}, ensure_ascii=False, indent=1) + "\n"


def read_lab(data: bytes) -> OwnLab:
    """Return the lab that `lab_json` wrote.

    Raises:
        ScenarioError: with every fault, by place, and its remedy.
    """
    held = _parsed(readable_text(data, SOURCE, MOST_BYTES))
    if not isinstance(held, dict):
        _refuse("", "the file holds no lab", _REMEDY)
    if _holds_more(held, MOST_VALUES):
        _refuse("", f"the file holds more than {MOST_VALUES:,} values", "shorten it")
    told = held.get("format")
    if isinstance(told, int) and told > FORMAT:
        remedy = "read it there, or save it here again"
        _refuse("format", f"{shortened(str(told))} is of a newer version", remedy)
    try:
        return _LabFile.model_validate(held).lab
    except ValidationError as error:
        guesser, details = Guesser(), error.errors(include_url=False)
    found = (in_words(detail, guesser, _LabFile) for detail in details[:MOST_FAULTS])
    faults = [Fault(on_one_line(dotted(path)), problem, remedy) for path, problem, remedy in found]
    raise ScenarioError(SOURCE, faults, max(0, len(details) - MOST_FAULTS))


def _parsed(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_each_once, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        near = on_one_line(shortened(text[error.pos :].partition("\n")[0]))
        problem = f"at '{near}' it is not JSON" if near else "the file breaks off"
        raise ScenarioError(SOURCE, [Fault("", problem, _REMEDY, error.lineno)]) from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, ScenarioError):
            raise
        _refuse("", "it holds a number that is too long, or is nested too deeply", _REMEDY)


def _holds_more(held: object, most: int) -> bool:
    """Return whether there are more values than so many, lists and blocks counted."""
    waiting, count = [held], 0
    while waiting and count <= most:
        value = waiting.pop()
        count += 1
        if isinstance(value, list | dict):
            waiting += value.values() if isinstance(value, dict) else value
    return count > most


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    held: dict[str, object] = {}
    for key, value in pairs:
        if key in held:
            said = on_one_line(shortened(key, LONGEST_QUOTED))
            _refuse("", f"'{said}' stands twice in one place", "keep one of the two")
        held[key] = value
    return held


def _no_number(said: str) -> NoReturn:
    _refuse("", f"{said} is no number", "write one")


def _refuse(path: str, problem: str, remedy: str) -> NoReturn:
    raise ScenarioError(SOURCE, [Fault(path, problem, remedy)])
