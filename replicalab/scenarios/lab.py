"""A lab: its means, rates, calendar and missing items, and the expected outcome."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import MAXYEAR, date, datetime
from enum import StrEnum
from typing import Annotated, Any, Final, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field

from replicalab import models
from replicalab.designs import EvidenceTier
from replicalab.errors import Refusal
from replicalab.lexicon import CREDITS, count_text, label_key, money_text
from replicalab.scenarios import field_types

FIRST_YEAR: Final = 1970
LAST_YEAR: Final = 2100  # of a start date; later days may lie beyond

_ISO: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# English in every locale.
_WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = tuple("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split())
_WEEK, _WORKED = 7, 5


def read_date(value: object) -> date:
    """Return the date in a text such as 2026-12-07; raises ValueError."""
    day = value if isinstance(value, date) and not isinstance(value, datetime) else None
    if isinstance(value, str) and _ISO.fullmatch(value):
        try:
            day = date.fromisoformat(value)
        except ValueError:
            day = None
    if day is None or not FIRST_YEAR <= day.year <= LAST_YEAR:
        text = repr(value if day is None else day.isoformat())[:60]
        remedy = f"write one of {FIRST_YEAR} to {LAST_YEAR} as year-month-day, such as 2026-12-07"
        raise Refusal(f"{text} is not a date that a lab can start on", remedy).error
    return day


StartDate = Annotated[date, BeforeValidator(read_date), Field(json_schema_extra={"maxLength": 10})]
"""The date from which a lab's days count."""


def date_of(day: int, start: date, *, weekends: bool) -> date | None:
    """Return the date of a lab's day; day 1 is the first working day from the start date on.

    Without weekends, Saturdays and Sundays are no days of the lab. None before day 1 and beyond
    the last year that has a date.
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


def date_text(day: date) -> str:
    """Return a date that is clear in every country: ``Mon 7 Dec 2026``."""
    return f"{_WEEKDAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]} {day.year}"


COST_PER_SAMPLE: Final = 10.0
COST_PER_DAY: Final = 50.0

Dimensions = Annotated[list[models.Dimension], Field(max_length=len(models.DIMENSIONS))]


class CostModel(models.Record):
    """A lab's rates in its currency."""

    per_sample: field_types.Rate = COST_PER_SAMPLE
    per_day: field_types.Rate = COST_PER_DAY
    per_control: field_types.Rate = 25.0
    per_equipment_item: field_types.Rate = 100.0
    per_reagent: field_types.Rate = 75.0
    per_staff_day: field_types.Rate = 0.0
    overhead_percent: field_types.Percent = 0.0

    def rate(self, category: str) -> float:
        return self.per_equipment_item if category == "equipment" else self.per_reagent


class StaffModel(models.Record):
    """A lab's staffing steps: people for every plan, and one more above each threshold."""

    base: field_types.Step = 1
    sample_threshold: field_types.Step = 20
    control_threshold: field_types.Step = 2
    day_threshold: field_types.Step = 5
    equipment_threshold: field_types.Step = 2


class Difficulty(StrEnum):
    """The three labs of every study."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class ExpectedOutcome(models.Record):
    """The author's expectation for the reference protocol in this lab, seed 0.

    Attributes:
        fails: the dimensions that the reference protocol fails.
        answer: the Lab Manager's answer.
        still_fails: the dimensions that no change of the Lab Manager's repairs.
        sample_size: of the plan after the answer (of the partial revision when it rejects).
        duration_days: of that plan.
        credits: the cost of that plan.
        evidence: the evidence of that plan, null if void.
        verdict: its place relative to target and floor.
        largest_sample: the largest sample with which that plan fits the lab.
    """

    fails: Dimensions = Field(default_factory=list)
    answer: models.LabManagerActionType
    still_fails: Dimensions = Field(default_factory=list)
    sample_size: models.Count
    duration_days: models.Count
    credits: models.Credits
    evidence: field_types.Effect | None
    verdict: EvidenceTier
    largest_sample: models.Count | None = None


class Lab(models.Record):
    """One of a study's three labs.

    Attributes:
        booked: booked items, and the last day of each booking.
        out_of_stock: items that are missing on every day.
        equipment: further equipment, not listed by the study.
        reagents: further reagents, not listed by the study.
        prices: prices of items, instead of their rate.
        cost_model: the lab's own rates.
        staff_model: the lab's own staffing steps.
        currency: the name of a unit of cost.
        start_date: the calendar date from which its days count, null if unknown.
        weekends: whether Saturdays and Sundays count as days.
        expected: the outcome when the reference protocol is proposed here.
    """

    budget: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
    days: field_types.Whole
    staff: field_types.Whole
    start_day: field_types.Whole = 1
    booked: Annotated[dict[field_types.Label, models.Count], field_types.Many] = Field(
        default_factory=dict
    )
    out_of_stock: Annotated[list[field_types.Label], field_types.Many] = Field(default_factory=list)
    equipment: Annotated[list[field_types.Label], field_types.Many] = Field(default_factory=list)
    reagents: Annotated[list[field_types.Label], field_types.Many] = Field(default_factory=list)
    prices: Annotated[dict[field_types.Label, field_types.Rate], field_types.Many] = Field(
        default_factory=dict
    )
    cost_model: CostModel = CostModel()
    staff_model: StaffModel = StaffModel()
    currency: field_types.Currency = CREDITS
    start_date: StartDate | None = None
    weekends: models.Flag = True
    expected: ExpectedOutcome | None = None

    @property
    def days_left(self) -> int:
        """The days from the start day on; 0 if it is after the last day."""
        return max(0, self.days - self.start_day + 1)

    def money(self, amount: float, word: str = "") -> str:
        """Return an amount of its currency: ``1,250 credits``, ``2,600 EUR``, ``10 more EUR``."""
        return money_text(amount, self.currency, word)

    def dated(self, day: int, word: str = "") -> str:
        """Return the date of a day in brackets: `` (to Mon 7 Dec 2026)``; empty if unknown."""
        text = self._date(day)
        return f" ({f'{word} ' if word else ''}{text})" if text else ""

    def dated_span(self, first: int, last: int) -> str:
        """Return the dates of some days: `` (from Mon 7 Dec 2026 to Fri 18 Dec 2026)``."""
        begins, ends = self._date(first), self._date(last)
        return f" (from {begins} to {ends})" if begins and ends else ""

    def _date(self, day: int) -> str:
        moment = self.start_date and date_of(day, self.start_date, weekends=self.weekends)
        return date_text(moment) if moment else ""

    @property
    def days_text(self) -> str:
        """Its days: ``30 days``, ``17 working days from day 14 on``."""
        return f"{self._counted_days}{self.start_text}"

    @property
    def _counted_days(self) -> str:
        noun = "day" if self.weekends or self.start_date is None else "working day"
        return count_text(self.days_left, noun)

    @property
    def start_text(self) -> str:
        """The first day: `` from day 14 on``; empty if day 1, undated."""
        dated = self.dated(self.start_day)
        return f" from day {self.start_day}{dated} on" if self.start_day > 1 or dated else ""

    @property
    def left_text(self) -> str:
        """The days left: ``17 days are left (start on day 14 of 30)``; empty if all are."""
        if self.start_day == 1:
            return ""
        are, day = "is" if self.days_left == 1 else "are", self.dated(self.start_day)
        start = f"(start on day {self.start_day}{day} of {self.days})"
        return f"{self._counted_days} {are} left {start}"

    def with_means(self, *, released: Iterable[str] = (), **means: float | None) -> Lab:
        """Return this lab with another budget, days, staff or start day, and items released."""
        free = set(map(label_key, released))
        update: dict[str, object] = {
            "booked": {i: day for i, day in self.booked.items() if label_key(i) not in free},
            "out_of_stock": [i for i in self.out_of_stock if label_key(i) not in free],
            "expected": None,
        }
        update |= {name: value for name, value in means.items() if value is not None}
        return self.model_copy(update=update)


def _within_bounds(lab: Lab) -> Lab:
    for name in ("budget", "days", "staff"):
        if (limit := getattr(lab, name)) > field_types.MOST:
            remedy = f"a study's lab has at most {field_types.MOST:,}"
            raise Refusal(f"{name} is {limit:,.0f}", remedy, name).error
    start, days = lab.start_day, lab.days
    if start > days:
        problem = f"start_day {start:,} is beyond the {days:,} days"
        raise Refusal(problem, "start on one", "start_day").error
    return lab


WrittenLab = Annotated[Lab, AfterValidator(_within_bounds)]
"""A lab as a study's author may write it; one that is asked for more may be larger."""


class Labs(models.Record):
    """The three labs, by difficulty.

    Attributes:
        easy: the lab that can run the reference protocol.
        medium: a lab that needs some changes of the protocol.
        hard: a lab that needs many changes.
    """

    easy: WrittenLab
    medium: WrittenLab
    hard: WrittenLab

    def at(self, difficulty: Difficulty) -> Lab:
        lab: Lab = getattr(self, difficulty.value)
        return lab


class AmountGroup(StrEnum):
    """The use of an amount."""

    MEANS = "limits of a plan"
    RATES = "cost of a plan"
    MONEY = "cost of a plan, in labs that count it"
    STEPS = "staff that a plan needs"


class LabAmount(NamedTuple):
    """A number of a lab, as forms, `LabOverrides`, comparisons and lists of changes show it."""

    key: str
    label: str
    group: AmountGroup
    help: str
    unit: str = ""  # ``credits`` for the lab's currency
    noun: str = ""  # ``9 days``; empty for the label, ``overhead 5 %``
    is_shared: bool = False  # whether the Scenarios page takes it for all studies

    @property
    def part(self) -> str:
        """The dictionary of `LabOverrides` that holds it; empty for a field of its own."""
        return {AmountGroup.MEANS: "", AmountGroup.STEPS: "steps"}.get(self.group, "rates")

    @property
    def bounds(self) -> Any:
        if self.key == "overhead_percent":
            return field_types.Percent
        return {"": field_types.AtLeastOne, "steps": field_types.Step, "rates": field_types.Rate}[
            self.part
        ]

    def label_in(self, currency: str, term: Callable[[str], str] = str) -> str:
        """Return the label with the unit: ``Budget, EUR``."""
        unit, label = currency if self.unit == CREDITS else self.unit, term(self.label)
        return f"{label}, {unit}" if unit else label

    def text(self, value: float, currency: str) -> str:
        """Return a value with its noun: ``9 days``, ``2,600 EUR``."""
        is_money = self.unit == CREDITS
        return money_text(value, currency) if is_money else count_text(value, self.noun)

    def of(self, lab: Lab) -> float:
        holders = {"": lab, "rates": lab.cost_model, "steps": lab.staff_model}
        value: float = getattr(holders[self.part], self.key)
        return value


_MEANS, _RATES, _MONEY, _STEPS = AmountGroup
_ABOVE: Final = "A plan with more needs one more staff unit."
_ITEM: Final = "The cost of one {} without a price of its own."
_ROWS: Final = (
    LabAmount(
        "budget", "Budget", _MEANS, "The most that a plan may cost.", CREDITS, "credit", True
    ),
    LabAmount("days", "Days", _MEANS, "The last day of the lab.", "", "day", True),
    LabAmount("start_day", "Start day", _MEANS, "The first day that a plan may use."),
    LabAmount(
        "staff", "Staff units", _MEANS, "The most that a plan may need.", "", "staff unit", True
    ),
    LabAmount("per_sample", "A sample", _RATES, "The cost of one sample.", CREDITS),
    LabAmount("per_day", "A day", _RATES, "The cost of one day.", CREDITS),
    LabAmount("per_control", "A control", _RATES, "The cost of one control.", CREDITS),
    LabAmount("per_equipment_item", "A piece of equipment", _RATES, _ITEM.format("piece"), CREDITS),
    LabAmount("per_reagent", "A reagent", _RATES, _ITEM.format("reagent"), CREDITS),
    LabAmount(
        "per_staff_day",
        "A staff unit a day",
        _MONEY,
        "The cost of each staff unit that a plan needs, per day.",
        CREDITS,
    ),
    LabAmount("overhead_percent", "Overhead", _MONEY, "Added to all other costs.", "%"),
    LabAmount("base", "Staff for every plan", _STEPS, "The need of the smallest plan."),
    LabAmount("sample_threshold", "Staff unit above … samples", _STEPS, _ABOVE),
    LabAmount("control_threshold", "Staff unit above … controls", _STEPS, _ABOVE),
    LabAmount("day_threshold", "Staff unit above … days", _STEPS, _ABOVE),
    LabAmount("equipment_threshold", "Staff unit above … equipment", _STEPS, _ABOVE),
)
AMOUNTS: Final = {row.key: row for row in _ROWS}
"""The amounts by key, in the order of forms and tables."""
LAB_CONSTRAINTS: Final = {
    "budget": ("lab budget", "budget", ""),
    "time_limit": ("duration", "days_left", "days"),
    "staff": ("staff needed", "staff", "staff units"),
}
"""Every lab's own constraints: label, attribute of `Lab`, and unit, empty for the currency."""


def amounts_in(*groups: AmountGroup) -> list[LabAmount]:
    return [row for row in AMOUNTS.values() if row.group in groups]
