"""The options of units and arms: a field of their records each."""

import argparse
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from replicalab.cli.lab_options import decimal
from replicalab.cli.printing import CommandError
from replicalab.lexicon import shortened
from replicalab.measures import GROUPINGS, KINDS
from replicalab.scenarios import QUESTION_RECORDS, Study
from replicalab.scenarios.fields import MOST


class RecordOption(NamedTuple):
    """An option of units or arms.

    Attributes:
        record: the field of the question that it is a part of.
        field: of that record.
        remedy: what to write in place of a value that cannot be.
        read: what reads it.
    """

    record: str
    field: str
    unit: str
    about: str
    remedy: str
    read: Callable[[str], Any] = decimal


RECORD_OPTIONS: Final = {
    "unit": RecordOption(
        "units", "name", "NAME", "what is treated as one, such as tank", "1 to 30 characters", str
    ),
    "unit_samples": RecordOption(
        "units",
        "samples",
        "NUMBER",
        "samples in one unit, on average",
        f"1 to {MOST:,}, such as 16",
    ),
    "unit_icc": RecordOption(
        "units",
        "icc",
        "NUMBER",
        "the intraclass correlation of samples in one unit",
        "from 0 to 1, such as 0.1",
    ),
    "arm_share": RecordOption(
        "arms",
        "share",
        "NUMBER",
        "the share of samples in the first of two arms",
        "from 0.05 to 0.95, such as 0.25",
    ),
}
"""The options, by name."""


def add_records(group: argparse._ArgumentGroup) -> None:
    """Add the options."""
    for name, each in RECORD_OPTIONS.items():
        option = f"--{name.replace('_', '-')}"
        group.add_argument(option, type=each.read, metavar=each.unit, help=each.about)


def records(asked: argparse.Namespace, study: Study) -> dict[str, Any]:
    """Return units and arms that are asked: the study's own, with what is given of them.

    Raises:
        CommandError: a value that none can have or that plays no part, or a record of which
            neither says what it needs.
    """
    found: dict[str, Any] = {}
    for record in QUESTION_RECORDS:
        own = getattr(study.design, record)
        given = {
            each.field: value
            for name, each in RECORD_OPTIONS.items()
            if each.record == record and (value := getattr(asked, name)) is not None
        }
        if given:
            _check_kind(record, asked, study)
            found[record] = _made(record, {**(dict(own) if own else {}), **given})
    return found


def _check_kind(record: str, asked: argparse.Namespace, study: Study) -> None:
    """Raise where the kind of a study's design has no units, or no arms."""
    row = KINDS[study.design.kind]
    if record not in GROUPINGS or row.uses(record):
        return
    options = [name for name, each in RECORD_OPTIONS.items() if each.record == record]
    name, value = next((n, v) for n in options if (v := getattr(asked, n)) is not None)
    raise CommandError(
        f"--{name.replace('_', '-')} '{shortened(str(value))}' plays no part in {row.named} "
        f"design, which has no {GROUPINGS[record]}; leave it out for {study.scenario_id}"
    )


def _made(record: str, values: dict[str, Any]) -> Any:
    try:
        return QUESTION_RECORDS[record].model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        wrong = next(iter(first["loc"]), None)
    if wrong is None:
        raise CommandError(f"{record}: {first['msg'].removeprefix('Value error, ')}")
    named = ((n, each) for n, each in RECORD_OPTIONS.items() if each.record == record)
    name, option = next((n, each) for n, each in named if each.field == wrong)
    called = f"--{name.replace('_', '-')}"
    if wrong not in values:
        raise CommandError(f"{called} is missing, and the study has no {record}; add it")
    if first["type"] == "value_error":
        raise CommandError(f"{called}: {first['msg'].removeprefix('Value error, ')}")
    value = values[wrong]
    said = ", ".join(value) if isinstance(value, tuple) else value
    text = shortened(said) if isinstance(said, str) else f"{said:g}"
    raise CommandError(f"{called} '{text}' is out of range; write {option.remedy}")
