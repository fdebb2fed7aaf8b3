"""The calendar of a lab: the date of each of its days, and how a date is written.

Day 1 is the first working day from the start date on. Where weekends do not count, Saturdays and
Sundays are no days of the lab at all: plans, bookings and the start day skip them alike.
"""

import re
from datetime import MAXYEAR, date, datetime
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

FIRST_YEAR: Final = 1970
LAST_YEAR: Final = 2100  # A start date lies within these years; the days that follow may lie beyond

_ISO: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_REMEDY: Final = f"write one of {FIRST_YEAR} to {LAST_YEAR} as year-month-day, such as 2026-12-07"
# English whatever the machine's locale.
_WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = tuple("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split())
_WEEK, _WORKED = 7, 5


def read_date(said: object) -> date:
    """Return the date that a text in the form 2026-12-07 names.

    Raises:
        ValueError: it names none, or one outside the years that a lab may start in.
    """
    day = said if isinstance(said, date) and not isinstance(said, datetime) else None
    if isinstance(said, str) and _ISO.fullmatch(said):
        try:
            day = date.fromisoformat(said)
        except ValueError:
            day = None
    if day is None or not FIRST_YEAR <= day.year <= LAST_YEAR:
        text = repr(said if day is None else day.isoformat())
        raise ValueError(f"{text[:60]} is not a date that a lab can start on; {_REMEDY}")
    return day


StartDate = Annotated[date, BeforeValidator(read_date), Field(json_schema_extra={"maxLength": 10})]
"""The date from which a lab's days count."""


def date_of(day: int, start: date, *, weekends: bool) -> date | None:
    """Return the date of a lab's day, the first being day 1.

    None before the first day, and beyond the last year that has a date.

    Args:
        day: which day.
        start: the start date.
        weekends: whether Saturdays and Sundays count.
    """
    if day < 1:
        return None
    first, later = start.toordinal(), day - 1
    if not weekends:
        weekday = start.weekday()
        if weekday >= _WORKED:
            first, weekday = first + _WEEK - weekday, 0
        weeks, rest = divmod(weekday + later, _WORKED)
        later = weeks * _WEEK + rest - weekday
    number = first + later
    return date.fromordinal(number) if number <= date(MAXYEAR, 12, 31).toordinal() else None


def day_of(day: date, start: date, *, weekends: bool) -> int:
    """Return which day of a lab a date is, the first being day 1; 0 or less before it.

    A Saturday or a Sunday that does not count is the day before it.

    Args:
        day: the date.
        start: the start date.
        weekends: whether Saturdays and Sundays count.
    """
    return _days_up_to(day.toordinal(), weekends) - _days_up_to(start.toordinal() - 1, weekends)


def _days_up_to(ordinal: int, weekends: bool) -> int:
    """Return how many days count up to one, it included; the first of all is a Monday."""
    weeks, rest = divmod(ordinal, _WEEK)
    return ordinal if weekends else weeks * _WORKED + min(rest, _WORKED)


def date_text(day: date) -> str:
    """Return a date that everyone reads in one way: ``Mon 7 Dec 2026``."""
    return f"{_WEEKDAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]} {day.year}"
