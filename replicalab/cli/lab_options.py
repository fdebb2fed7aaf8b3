"""The options of a lab's calendar and money, and how their texts are read."""

import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from datetime import date
from math import isfinite
from typing import Final, NamedTuple

from replicalab.lexicon import shortened
from replicalab.scenarios import MOST, fields
from replicalab.scenarios.calendar import read_date


class LabOption(NamedTuple):
    """An option of the calendar and the money of a lab.

    Attributes:
        field: of `LabOverrides`, or of its rates where ``is_rate``.
        read: reads its text.
    """

    field: str
    unit: str
    about: str
    read: Callable[[str], object]
    is_rate: bool = False


def decimal(text: str, remedy: str = "write one such as 0.05") -> float:
    """Return the number that a text is; of one that is none, say what to write."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise ArgumentTypeError(f"'{text}' is no number; {remedy}")
    return number


def between(
    least: float, most: float, remedy: str = "write one such as 40"
) -> Callable[[str], float]:
    """Return what reads a number between two others."""

    def read(text: str) -> float:
        number = decimal(text, remedy)
        if not least <= number <= most:
            raise ArgumentTypeError(f"'{text}' is no number from {least:,} to {most:,}")
        return number

    return read


def _currency(text: str) -> str:
    """Return the name of a currency."""
    if not re.fullmatch(fields.CURRENCY, text):
        remedy = "write 1 to 8 letters or €, £ or ¥, such as EUR"
        raise ArgumentTypeError(f"'{shortened(text)}' is no currency; {remedy}")
    return text


def _date(text: str) -> date:
    try:
        return read_date(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def _worked(text: str) -> bool:
    if text not in _WORKED:
        raise ArgumentTypeError(f"'{shortened(text)}' is not known; write {' or '.join(_WORKED)}")
    return _WORKED[text]


_WORKED: Final = {"yes": True, "no": False}
MONEY_OPTIONS: Final = {
    "currency": LabOption("currency", "NAME", "what a unit of cost is called", _currency),
    "staff_price": LabOption(
        "per_staff_day",
        "PRICE",
        "for each staff unit that a plan needs, for each of its days",
        between(0, MOST),
        is_rate=True,
    ),
    "overhead": LabOption(
        "overhead_percent",
        "PERCENT",
        "on all other costs, in percent",
        between(0, fields.MOST_PERCENT, "write percent without its sign, such as 15"),
        is_rate=True,
    ),
    "start_date": LabOption(
        "start_date", "DATE", "from which days count, such as 2026-12-07", _date
    ),
    "weekends": LabOption("weekends", "YES|NO", "whether weekends count as days", _worked),
}
"""The options of a lab's calendar and money."""
