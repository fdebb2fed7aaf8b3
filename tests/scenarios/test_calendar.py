"""The calendar of a lab, with and without weekends, and invalid dates."""

import calendar
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from replicalab.scenarios import LabOverrides
from replicalab.scenarios.lab import date_of, date_text
from tests.strategies import start_dates

MONDAY = date(2026, 12, 7)


@pytest.mark.parametrize(
    ("day", "start", "weekends", "found"),
    [
        (1, MONDAY, True, "Mon 7 Dec 2026"), (6, MONDAY, True, "Sat 12 Dec 2026"),
        (5, MONDAY, False, "Fri 11 Dec 2026"), (6, MONDAY, False, "Mon 14 Dec 2026"),
        (1, date(2026, 12, 5), False, "Mon 7 Dec 2026"),
        (1, date(2026, 12, 6), False, "Mon 7 Dec 2026"),
        (2, date(2026, 12, 4), False, "Mon 7 Dec 2026"),
        (60, date(2024, 1, 1), True, "Thu 29 Feb 2024"),
        (1, date(1970, 1, 1), True, "Thu 1 Jan 1970"),
        (1, date(2100, 12, 31), True, "Fri 31 Dec 2100"),
    ],
)  # fmt: skip
def test_day_has_its_calendar_date(day: int, start: date, weekends: bool, found: str) -> None:
    existing = date_of(day, start, weekends=weekends)
    assert existing is not None
    assert date_text(existing) == found


@given(start_dates, st.integers(1, 800), st.booleans())
def test_date_agrees_with_counting_day_by_day(start: date, day: int, weekends: bool) -> None:
    at, rest = start - timedelta(days=1), day
    while rest:
        at += timedelta(days=1)
        rest -= weekends or calendar.weekday(at.year, at.month, at.day) < calendar.SATURDAY
    assert date_of(day, start, weekends=weekends) == at


@pytest.mark.parametrize("weekends", [True, False])
def test_day_out_of_range_has_no_date(weekends: bool) -> None:
    assert date_of(0, MONDAY, weekends=weekends) is None
    assert date_of(10**9, MONDAY, weekends=weekends) is None
    assert date_of(2**60, MONDAY, weekends=weekends) is None


@pytest.mark.parametrize(
    "value",
    [
        *("", " 2026-12-07", "2026-12-7", "07.12.2026", "2026-13-01", "2026-02-30", "20261207"),
        *(
            "1969-12-31", "2101-01-01", "2026-12-07T00:00:00", "\u0662\u0660\u0662\u0666-12-07",
            "x" * 10**4,
        ),
        *(0, 5, 1.5, True, datetime(2026, 12, 7, tzinfo=UTC), date(1969, 12, 31), ["2026-12-07"]),
    ],
)  # fmt: skip
def test_invalid_date_is_refused_with_a_remedy(value: object) -> None:
    with pytest.raises(ValidationError) as caught:
        LabOverrides.model_validate({"start_date": value})
    [error] = caught.value.errors()
    assert error["loc"] == ("start_date",)
    assert str(value)[:20] in error["msg"] or repr(value)[:60] in error["msg"]
    assert "write one of 1970 to 2100 as year-month-day, such as 2026-12-07" in error["msg"]
