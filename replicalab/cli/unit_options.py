"""The options of experimental units and of two arms: each stands for a field of their records."""

import argparse
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from replicalab.cli.lab_options import decimal
from replicalab.cli.printing import CommandError
from replicalab.lexicon import shortened
from replicalab.measures import GROUPINGS
from replicalab.scenarios import QUESTION_RECORDS, Study


class UnitOption(NamedTuple):
    """An option of units or arms.

    Attributes:
        record: the field of the question that it is a part of.
        field: of that record.
        remedy: what to write in place of a value that cannot be.
    """

    record: str
    field: str
    unit: str
    about: str
    remedy: str


_COST: Final = "0 or more"
UNIT_OPTIONS: Final = {
    "unit": UnitOption(
        "units", "name", "NAME", "what is treated as one, such as tank", "1 to 30 characters"
    ),
    "unit_samples": UnitOption(
        "units", "samples", "NUMBER", "samples in one unit, on average", "1 or more, such as 16"
    ),
    "unit_icc": UnitOption(
        "units",
        "icc",
        "NUMBER",
        "the intraclass correlation of samples in one unit",
        "from 0 to 1, such as 0.1",
    ),
    "unit_cost": UnitOption("units", "cost", "PRICE", "what one unit costs", _COST),
    "unit_sample_cost": UnitOption(
        "units", "sample_cost", "PRICE", "what a sample costs besides the lab's rate", _COST
    ),
    "arm_share": UnitOption(
        "arms",
        "share",
        "NUMBER",
        "the share of samples in the first of two arms",
        "from 0.05 to 0.95, such as 0.25",
    ),
    "first_arm_cost": UnitOption(
        "arms", "first_cost", "PRICE", "what a sample of the first arm costs besides", _COST
    ),
    "second_arm_cost": UnitOption(
        "arms", "second_cost", "PRICE", "what a sample of the second arm costs besides", _COST
    ),
}
"""The options of units and arms, by name."""


def add_units(group: argparse._ArgumentGroup) -> None:
    """Add them."""
    for name, each in UNIT_OPTIONS.items():
        read = str if each.field == "name" else decimal
        option = f"--{name.replace('_', '-')}"
        group.add_argument(option, type=read, metavar=each.unit, help=each.about)


def units_and_arms(asked: argparse.Namespace, study: Study) -> dict[str, Any]:
    """Return the units and the arms that are asked: the study's own, with what is given of them.

    Raises:
        CommandError: a value that none can have, or units of which neither says what they are.
    """
    found: dict[str, Any] = {}
    for record in GROUPINGS:
        own = getattr(study.design, record)
        given = {
            each.field: value
            for name, each in UNIT_OPTIONS.items()
            if each.record == record and (value := getattr(asked, name)) is not None
        }
        if given:
            found[record] = _made(record, {**(dict(own) if own else {}), **given})
    return found


def _made(record: str, values: dict[str, Any]) -> Any:
    try:
        return QUESTION_RECORDS[record].model_validate(values)
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]["loc"][0]
    named = ((n, each) for n, each in UNIT_OPTIONS.items() if each.record == record)
    name, option = next((n, each) for n, each in named if each.field == wrong)
    called = f"--{name.replace('_', '-')}"
    if wrong not in values:
        raise CommandError(f"{called} is missing, and the study has no {record}; add it")
    value = values[wrong]
    text = shortened(value) if isinstance(value, str) else f"{value:g}"
    raise CommandError(f"{called} '{text}' is out of range; write {option.remedy}")
