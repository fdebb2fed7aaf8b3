"""What is wrong with a study file, in words its author can act on.

pydantic finds what is wrong within a field; what is wrong between fields, such as a booked item
that the study does not use, is found here. Messages stay short, whatever the file holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import accumulate
from typing import TYPE_CHECKING, Final, get_args

from pydantic import ValidationError

from replicalab.characters import on_one_line
from replicalab.errors import Fault, ScenarioError
from replicalab.lexicon import label_key, repeated_labels, shortened
from replicalab.models import Record
from replicalab.scenarios.fields import CURRENCY, DOI, IDENTIFIER
from replicalab.scenarios.lab import Difficulty
from replicalab.scenarios.pack import LAB_CONSTRAINT_KEYS
from replicalab.scenarios.reading import LONGEST_QUOTED, FieldPath, YamlDocument, dotted
from replicalab.scenarios.study import Design, Study

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MOST_FAULTS: Final = 50  # Of more faults in a file than these, the rest are only counted
MOST_COMPARED: Final = 200
"""So many known names are compared with unknown ones for a file, to guess which was meant."""
LONGEST_COMPARED: Final = 60
"""No guess is made about longer names: a comparison takes the cube of the length."""

_MOST_KNOWN: Final = 30
# Of known names, a message lists so many, and no more than so many characters.
_LONGEST_LIST: Final = 400

_REMEDIES: Final = {
    "string_type": "must be text, in quotes if it looks like a number or true or false",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must have at least one entry",
    "too_long": "must have at most {max_length} entries",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "list_type": "must be a list, one '- entry' per line",
    "dict_type": "must be 'key: value' lines, or {{}} for none",
    "model_type": "must be 'key: value' lines",
}
IDENTIFIER_REMEDY: Final = "must be lower-case letters, digits and _, beginning with a letter"
_PATTERNS: Final = {
    f"^{IDENTIFIER}$": IDENTIFIER_REMEDY,
    f"^{CURRENCY}$": "must be 1 to 8 letters or €, £ or ¥, such as EUR",
    DOI: "must be a bare DOI such as 10.1000/xyz123, or null",
}


def is_identifier(name: object) -> bool:
    """Return whether a study or a domain may be called so."""
    return isinstance(name, str) and bool(re.fullmatch(IDENTIFIER, name))


Finding = tuple[FieldPath, str, str]  # Where something is wrong, what, and what to do about it


def checked_study(document: YamlDocument, source: str) -> Study:
    """Return the study that a document holds.

    Raises:
        ScenarioError: with what is wrong, in file order, and how many more faults there are.
    """
    guesser = Guesser()
    try:
        study = Study.model_validate(document.data)
    except ValidationError as error:
        findings = [in_words(detail, guesser) for detail in error.errors(include_url=False)]
    else:
        unknown = [
            (path, f"'{shortened(label, LONGEST_QUOTED)}' is not in this study", label, known)
            for path, label, known in _references(study)
            if label_key(label) not in map(label_key, known)
        ]
        findings = [
            (path, what, guesser.remedy(label, known)) for path, what, label, known in unknown
        ]
        findings += [*_repeated(study), *_known_already(study)]
        if not findings:
            return study
    faults = [
        Fault(dotted(path), problem, remedy, document.line(path))
        for path, problem, remedy in findings
    ]
    faults.sort(key=lambda fault: (fault.line or 0, fault.path))
    raise ScenarioError(source, faults[:MOST_FAULTS], max(0, len(faults) - MOST_FAULTS))


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
        lengths = accumulate(len(label) + 2 for label in known)
        fitting = sum(length <= _LONGEST_LIST for length in lengths)
        listed = known[: min(max(fitting, 1), _MOST_KNOWN)]
        rest = f" and {len(known) - len(listed)} more" if len(listed) < len(known) else ""
        return f"{guess}known: {', '.join(listed) or 'none'}{rest}"


def record_error(error: ValidationError, record: type[Record], source: str) -> ScenarioError:
    """Return what pydantic found wrong in a file that holds a record, by place."""
    guesser, details = Guesser(), error.errors(include_url=False)
    findings = (in_words(detail, guesser, record) for detail in details[:MOST_FAULTS])
    faults = [
        Fault(on_one_line(dotted(path)), problem, remedy) for path, problem, remedy in findings
    ]
    return ScenarioError(source, faults, max(0, len(details) - MOST_FAULTS))


def in_words(detail: ErrorDetails, guesser: Guesser, record: type[Record] = Study) -> Finding:
    """Return what pydantic found wrong in a record's data."""
    path: FieldPath = tuple(step for step in detail["loc"] if step != "[key]")
    kind = detail["type"]
    if kind == "missing":
        return path, "this field is missing", "add it"
    if kind == "extra_forbidden":
        return path, "unknown key", guesser.remedy(str(path[-1]), _known_keys(path[:-1], record))
    if kind == "value_error":
        problem, _, remedy = detail["msg"].removeprefix("Value error, ").partition("; ")
        return path, problem, remedy or "change one of them"
    if kind == "string_pattern_mismatch":
        remedy = _PATTERNS.get(detail["ctx"]["pattern"], "must be as it was saved")
    elif kind in _REMEDIES:
        remedy = _REMEDIES[kind].format(**detail.get("ctx", {}))
    else:
        remedy = detail["msg"].replace("Input should be", "must be")
    return path, f"{shown(detail['input'])} is not allowed", remedy


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


def _references(study: Study) -> Iterator[tuple[FieldPath, str, list[str]]]:
    """Yield each label that must also stand in another list, with its place and that list."""
    plan, equipment, reagents = study.reference_protocol, study.equipment, study.reagents
    for field, labels, known in (
        ("required_equipment", plan.required_equipment, equipment),
        ("required_reagents", plan.required_reagents, reagents),
        ("controls", plan.controls, [control.name for control in study.controls]),
    ):
        for place, label in enumerate(labels):
            yield ("reference_protocol", field, place), label, known
    for place, swap in enumerate(study.substitutions):
        yield ("substitutions", place, "original"), swap.original, [*equipment, *reagents]
    for level in Difficulty:
        lab = study.labs.at(level)
        items = [*equipment, *reagents, *lab.equipment, *lab.reagents]
        for item in lab.booked:
            yield ("labs", level.value, "booked", item), item, items
        for place, item in enumerate(lab.out_of_stock):
            yield ("labs", level.value, "out_of_stock", place), item, items
        items = [*items, *(swap.alternative for swap in study.substitutions)]
        for item in lab.prices:
            yield ("labs", level.value, "prices", item), item, items
    for field in study.design.why:
        yield ("design", "why", field), field, [*Design.model_fields]


def _known_already(study: Study) -> Iterator[Finding]:
    """Yield the items that a lab lists although they are listed elsewhere already."""
    known = {*map(label_key, (*study.equipment, *study.reagents))}
    for level in Difficulty:
        lab = study.labs.at(level)
        equipment = known | {*map(label_key, lab.equipment)}
        for field, labels, taken, why in (
            ("equipment", lab.equipment, known, "is an item of the study"),
            ("reagents", lab.reagents, equipment, "is an item of this lab already"),
            ("out_of_stock", lab.out_of_stock, {*map(label_key, lab.booked)}, "is booked as well"),
        ):
            for place, label in enumerate(labels):
                if label_key(label) in taken:
                    problem = f"'{shortened(label, LONGEST_QUOTED)}' {why}"
                    yield ("labs", level.value, field, place), problem, "list it once"


def _repeated(study: Study) -> Iterator[Finding]:
    for level in Difficulty:
        lab = study.labs.at(level)
        for field, labels in (
            ("booked", [*lab.booked]),
            ("out_of_stock", lab.out_of_stock),
            ("equipment", lab.equipment),
            ("reagents", lab.reagents),
            ("prices", [*lab.prices]),
        ):
            for label in repeated_labels(labels):
                problem = f"'{shortened(label, LONGEST_QUOTED)}' is listed twice"
                yield ("labs", level.value, field), problem, "list it once"
    for field, keyed, taken in (
        ("constraints", study.constraints, LAB_CONSTRAINT_KEYS),
        ("policy_rules", study.policy_rules, ()),
    ):
        seen: set[str] = set()
        for place, key in enumerate(entry.key for entry in keyed):
            path: FieldPath = (field, place, "key")
            if key in taken:
                remedy = "choose another key: every lab adds this one itself"
                yield path, f"'{key}' is taken", remedy
            elif key in seen:
                yield path, f"'{key}' is used twice", "choose another key"
            seen.add(key)
