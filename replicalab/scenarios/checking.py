"""What is wrong with a study file, in words its author can act on.

pydantic finds the faults inside one field; `cross_faults` finds the ones between fields, such as
a booked item that the study does not use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, get_args

from pydantic import ValidationError

from replicalab.errors import Fault, ScenarioError
from replicalab.lexicon import label_key, repeated_labels
from replicalab.models import Record
from replicalab.scenarios.lab import Difficulty
from replicalab.scenarios.pack import LAB_CONSTRAINTS
from replicalab.scenarios.reading import Document, FieldPath, dotted
from replicalab.scenarios.study import Design, Study

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_SHOWN_LENGTH: Final = 60

_REMEDIES: Final = {
    "string_type": "must be text, in quotes if it looks like a number or true or false",
    "string_too_short": "must not be empty",
    "too_short": "must have at least one entry",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "list_type": "must be a list, one '- entry' per line",
    "dict_type": "must be 'key: value' lines, or {} for none",
    "model_type": "must be 'key: value' lines",
}
_PATTERN_REMEDIES: Final = {
    "doi": "must be a bare DOI such as 10.1000/xyz123, or null",
}
IDENTIFIER_REMEDY: Final = "must be lower-case letters, digits and _, beginning with a letter"
_MOST_KNOWN: Final = 30
"""Of more known names than these, a message lists only the first."""


def is_identifier(name: object) -> bool:
    """Return whether a study or a domain may be called so."""
    return isinstance(name, str) and bool(re.fullmatch("[a-z][a-z0-9_]{0,63}", name))


def checked_study(document: Document, source: str) -> Study:
    """Return the study that a document holds.

    Raises:
        ScenarioError: with every fault found, in file order.
    """
    try:
        study = Study.model_validate(document.data)
    except ValidationError as error:
        raise ScenarioError(source, field_faults(error, document)) from None
    if faults := cross_faults(study, document):
        raise ScenarioError(source, faults)
    return study


def field_faults(error: ValidationError, document: Document) -> list[Fault]:
    """Return one fault per error that pydantic found, in file order."""
    return in_file_order(_field_fault(detail, document) for detail in error.errors())


def in_file_order(faults: Iterable[Fault]) -> list[Fault]:
    """Return the faults sorted by line; those of no line come first."""
    return sorted(faults, key=lambda fault: (fault.line or 0, fault.path))


def known_or_nearest(name: str, known: Iterable[str]) -> str:
    """Return the remedy for an unknown name: the nearest known one, and all of them."""
    names = list(known)
    near = get_close_matches(name, names, n=1)
    guess = f"did you mean '{near[0]}'? " if near else ""
    more = len(names) - _MOST_KNOWN
    rest = f" and {more} more" if more > 0 else ""
    return f"{guess}known: {', '.join(names[:_MOST_KNOWN]) or 'none'}{rest}"


def _field_fault(detail: ErrorDetails, document: Document) -> Fault:
    path: FieldPath = tuple(step for step in detail["loc"] if step != "[key]")
    problem, remedy = _in_words(detail, path)
    return Fault(dotted(path), problem, remedy, document.line(path))


def _in_words(detail: ErrorDetails, path: FieldPath) -> tuple[str, str]:
    kind = detail["type"]
    if kind == "missing":
        return "this field is missing", "add it"
    if kind == "extra_forbidden":
        return "unknown key", known_or_nearest(str(path[-1]), _known_keys(path[:-1]))
    if kind == "value_error":
        problem, _, remedy = detail["msg"].removeprefix("Value error, ").partition("; ")
        return problem, remedy or "change one of them"
    return f"{_shown(detail['input'])} is not allowed", _remedy(detail, path)


def _remedy(detail: ErrorDetails, path: FieldPath) -> str:
    if detail["type"] == "string_pattern_mismatch":
        return _PATTERN_REMEDIES.get(str(path[-1]), IDENTIFIER_REMEDY)
    said = detail["msg"].replace("Input should be", "must be")
    return _REMEDIES.get(detail["type"], said)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a block of keys"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if value is None or isinstance(value, bool):
        return {None: "an empty value", True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= _SHOWN_LENGTH else f"{text[: _SHOWN_LENGTH - 1]}…"


def _known_keys(path: FieldPath) -> list[str]:
    record: type[Record] = Study
    for step in path:
        if isinstance(step, str) and step in record.model_fields:
            record = _record_in(record.model_fields[step].annotation) or record
    return list(record.model_fields)


def _record_in(annotation: object) -> type[Record] | None:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return annotation
    return next((found for part in get_args(annotation) if (found := _record_in(part))), None)


def cross_faults(study: Study, document: Document) -> list[Fault]:
    """Return what does not fit between the fields of a study, in file order."""
    found = (
        Fault(dotted(path), problem, remedy, document.line(path))
        for path, problem, remedy in (
            *_unknown_labels(study),
            *_repeated_missing_items(study),
            *_repeated_keys(study),
        )
    )
    return in_file_order(found)


Finding = tuple[FieldPath, str, str]


def _unknown_labels(study: Study) -> Iterator[Finding]:
    for path, label, known in _references(study):
        if label_key(label) not in set(map(label_key, known)):
            yield path, f"'{label}' is not in this study", known_or_nearest(label, known)


def _references(study: Study) -> Iterator[tuple[FieldPath, str, list[str]]]:
    """Yield every label that must also stand in another list, with that list."""
    plan = study.reference_protocol
    controls = [control.name for control in study.controls]
    for field, labels, known in (
        ("required_equipment", plan.required_equipment, study.equipment),
        ("required_reagents", plan.required_reagents, study.reagents),
        ("controls", plan.controls, controls),
    ):
        for place, label in enumerate(labels):
            yield ("reference_protocol", field, place), label, known
    for place, swap in enumerate(study.substitutions):
        original: FieldPath = ("substitutions", place, "original")
        yield original, swap.original, [*study.equipment, *study.reagents]
    for difficulty in Difficulty:
        lab = study.labs.at(difficulty)
        for item in lab.booked:
            yield ("labs", difficulty.value, "booked", item), item, study.equipment
        for place, item in enumerate(lab.out_of_stock):
            yield ("labs", difficulty.value, "out_of_stock", place), item, study.reagents
    for field in study.design.why:
        yield ("design", "why", field), field, list(Design.model_fields)


def _repeated_missing_items(study: Study) -> Iterator[Finding]:
    for difficulty in Difficulty:
        lab = study.labs.at(difficulty)
        for field, labels in (("booked", [*lab.booked]), ("out_of_stock", lab.out_of_stock)):
            for label in repeated_labels(labels):
                yield (
                    ("labs", difficulty.value, field),
                    f"'{label}' is listed twice",
                    "list it once",
                )


def _repeated_keys(study: Study) -> Iterator[Finding]:
    keys = [constraint.key for constraint in study.constraints]
    for place, key in enumerate(keys):
        if key in LAB_CONSTRAINTS:
            remedy = "choose another key: every lab adds this one itself"
            yield ("constraints", place, "key"), f"'{key}' is taken", remedy
        elif key in keys[:place]:
            yield ("constraints", place, "key"), f"'{key}' is used twice", "choose another key"
    rules = [rule.key for rule in study.policy_rules]
    for place, key in enumerate(rules):
        if key in rules[:place]:
            yield ("policy_rules", place, "key"), f"'{key}' is used twice", "choose another key"
