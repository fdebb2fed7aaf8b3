"""The options of units, arms and what counts as replicated: a field of their records each."""

import argparse
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from replicalab.cli.lab_options import decimal
from replicalab.cli.printing import CommandError
from replicalab.lexicon import joined, shortened
from replicalab.measures import GROUPINGS, KINDS
from replicalab.measures.success import CRITERIA, Criterion, Prior
from replicalab.scenarios import QUESTION_RECORDS, Study
from replicalab.scenarios.fields import MOST


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


def _side(text: str) -> int | float:
    number = decimal(text)
    return int(number) if number.is_integer() else number


class RecordOption(NamedTuple):
    """An option of units, arms or what counts as replicated.

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


_CRITERIA: Final = ", ".join(Criterion)
_PRIORS: Final = ", ".join(Prior)
_WITH_SIDES: Final = [name for name, row in CRITERIA.items() if row.has_sides]
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
    "replicated": RecordOption(
        "replication",
        "criteria",
        "NAME,NAME",
        f"what counts as replicated, all of them together: {_CRITERIA}",
        f"some of {_CRITERIA}, each once",
        _names,
    ),
    "replication_prior": RecordOption(
        "replication", "prior", "NAME", f"what is assumed of the effect: {_PRIORS}", _PRIORS, str
    ),
    "replication_tau": RecordOption(
        "replication", "tau", "NUMBER", "the SD of the effect from study to study", "0 or more"
    ),
    "replication_margin": RecordOption(
        "replication", "margin", "NUMBER", "the half-width of the range of equivalence", "above 0"
    ),
    "replication_sides": RecordOption(
        "replication", "sides", "1|2", "of the test and of the sceptical p-value", "1 or 2", _side
    ),
    "plan_with": RecordOption(
        "replication",
        "plan_with",
        "NAME",
        "what plans are judged by: power or success",
        "power or success",
        str,
    ),
}
"""The options, by name."""


def add_records(group: argparse._ArgumentGroup) -> None:
    """Add the options."""
    for name, each in RECORD_OPTIONS.items():
        option = f"--{name.replace('_', '-')}"
        group.add_argument(option, type=each.read, metavar=each.unit, help=each.about)


def records(asked: argparse.Namespace, study: Study) -> dict[str, Any]:
    """Return units, arms and criteria that are asked: the study's own, with what is given of them.

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
    chosen = found.get("replication")
    if chosen and asked.replication_sides is not None and not chosen.has_sides:
        raise CommandError(
            f"--replication-sides {asked.replication_sides} plays no part in "
            f"{joined([*chosen.criteria], 'and')}; leave it out, or let one of "
            f"{joined(_WITH_SIDES, 'and')} count"
        )
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
