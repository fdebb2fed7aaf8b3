"""A lab: its means, its rates, what is booked or missing in it, and what its author expects there.

Amounts are in the lab's currency, credits where it names no other. The usual rates and staffing
steps, which a lab has unless it names its own, are those of docs/methods.md, The check.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from replicalab import models
from replicalab.designs import EvidenceTier
from replicalab.lexicon import CREDITS, label_key, money_text
from replicalab.scenarios import fields
from replicalab.scenarios.calendar import StartDate, date_of, date_text

COST_PER_SAMPLE: Final = 10.0
COST_PER_DAY: Final = 50.0
COST_PER_CONTROL: Final = 25.0
COST_PER_EQUIPMENT_ITEM: Final = 100.0
COST_PER_REAGENT: Final = 75.0
STAFF_BASE: Final = 1
STAFF_SAMPLE_THRESHOLD: Final = 20
STAFF_CONTROL_THRESHOLD: Final = 2
STAFF_DAY_THRESHOLD: Final = 5
STAFF_EQUIPMENT_THRESHOLD: Final = 2

Dimensions = Annotated[list[models.Dimension], Field(max_length=len(models.DIMENSIONS))]


class CostModel(models.Record):
    """A lab's rates in its currency; the usual ones where it names none.

    Attributes:
        per_sample: for each sample.
        per_day: for each day.
        per_control: for each control.
        per_equipment_item: for each piece of equipment.
        per_reagent: for each reagent.
        per_staff_day: for each staff unit that a plan needs, for each of its days.
        overhead_percent: on the sum of all other costs, in percent.
    """

    per_sample: fields.Rate = COST_PER_SAMPLE
    per_day: fields.Rate = COST_PER_DAY
    per_control: fields.Rate = COST_PER_CONTROL
    per_equipment_item: fields.Rate = COST_PER_EQUIPMENT_ITEM
    per_reagent: fields.Rate = COST_PER_REAGENT
    per_staff_day: fields.Rate = 0.0
    overhead_percent: fields.Percent = 0.0

    def rate(self, category: str) -> float:
        """Return what an item of that category costs: ``equipment`` or ``reagent``."""
        return self.per_equipment_item if category == "equipment" else self.per_reagent


class StaffModel(models.Record):
    """A lab's staffing steps; the usual ones where it names none.

    Attributes:
        base: people that every plan needs.
        sample_threshold: one more above so many samples.
        control_threshold: one more above so many controls.
        day_threshold: one more above so many days.
        equipment_threshold: one more above so many pieces of equipment.
    """

    base: fields.Step = STAFF_BASE
    sample_threshold: fields.Step = STAFF_SAMPLE_THRESHOLD
    control_threshold: fields.Step = STAFF_CONTROL_THRESHOLD
    day_threshold: fields.Step = STAFF_DAY_THRESHOLD
    equipment_threshold: fields.Step = STAFF_EQUIPMENT_THRESHOLD


class Difficulty(StrEnum):
    """The three labs of every study."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class ExpectedOutcome(models.Record):
    """What the author says happens when the reference protocol is proposed in this lab, seed 0.

    Attributes:
        fails: the dimensions that the reference protocol fails.
        answer: the Lab Manager's answer.
        still_fails: the dimensions that no change of the Lab Manager's repairs.
        sample_size: of the plan after the answer (of the partial revision when it rejects).
        duration_days: of that plan.
        credits: what that plan costs.
        evidence: what that plan buys, null where it is void.
        verdict: where that stands to target and floor.
        largest_sample: the largest sample with which that plan fits the lab.
    """

    fails: Dimensions = Field(default_factory=list)
    answer: models.LabManagerActionType
    still_fails: Dimensions = Field(default_factory=list)
    sample_size: models.Count
    duration_days: models.Count
    credits: models.Credits
    evidence: fields.Effect | None
    verdict: EvidenceTier
    largest_sample: models.Count | None = None


class Lab(models.Record):
    """One of a study's three labs: its means, and what is missing in it.

    Attributes:
        budget: in its currency.
        days: how long the lab can give, counted from its first day.
        staff: staff units.
        start_day: the day on which work begins; those before it are not worked on.
        booked: items that are booked, and the last day on which they are.
        out_of_stock: items that are missing, whatever the day.
        equipment: what is here beside the study's equipment.
        reagents: what is here beside the study's reagents.
        prices: what an item costs here in place of its rate.
        cost_model: the lab's own rates.
        staff_model: the lab's own staffing steps.
        currency: what a unit of cost is called.
        start_date: the calendar date from which its days count, null where none is known.
        weekends: whether Saturdays and Sundays count as days.
        expected: what happens here when the reference protocol is proposed.
    """

    budget: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
    days: fields.Whole
    staff: fields.Whole
    start_day: fields.Whole = 1
    booked: Annotated[dict[fields.Label, models.Count], fields.Many] = Field(default_factory=dict)
    out_of_stock: Annotated[list[fields.Label], fields.Many] = Field(default_factory=list)
    equipment: Annotated[list[fields.Label], fields.Many] = Field(default_factory=list)
    reagents: Annotated[list[fields.Label], fields.Many] = Field(default_factory=list)
    prices: Annotated[dict[fields.Label, fields.Rate], fields.Many] = Field(default_factory=dict)
    cost_model: CostModel = CostModel()
    staff_model: StaffModel = StaffModel()
    currency: fields.Currency = CREDITS
    start_date: StartDate | None = None
    weekends: models.Flag = True
    expected: ExpectedOutcome | None = None

    @property
    def days_left(self) -> int:
        """How many days there are from the start day on; 0 where it lies after the last."""
        rest = self.days - self.start_day + 1
        return rest if rest > 0 else 0

    def money(self, amount: float, word: str = "") -> str:
        """Return an amount of its currency: ``1,250 credits``, ``2,600 EUR``, ``10 more EUR``."""
        return money_text(amount, self.currency, word)

    def dated(self, day: int, word: str = "") -> str:
        """Return the date of a day as it follows the day: `` (Mon 7 Dec 2026)``; empty if none.

        A word may stand before it: `` (to Mon 7 Dec 2026)``.
        """
        text = self._date(day)
        return f" ({f'{word} ' if word else ''}{text})" if text else ""

    def dated_span(self, first: int, last: int) -> str:
        """Return the dates of some days: `` (from Mon 7 Dec 2026 to Fri 18 Dec 2026)``."""
        begins, ends = self._date(first), self._date(last)
        return f" (from {begins} to {ends})" if begins and ends else ""

    def _date(self, day: int) -> str:
        result = self.start_date and date_of(day, self.start_date, weekends=self.weekends)
        return date_text(result) if result else ""

    def with_means(
        self,
        *,
        budget: float | None = None,
        days: int | None = None,
        staff: int | None = None,
        start_day: int | None = None,
        released: Iterable[str] = (),
    ) -> Lab:
        """Return this lab with other means, None leaving what it has, and some items released."""
        free = set(map(label_key, released))
        means = {"budget": budget, "days": days, "staff": staff, "start_day": start_day}
        return self.model_copy(
            update={
                **{name: value for name, value in means.items() if value is not None},
                "booked": {i: day for i, day in self.booked.items() if label_key(i) not in free},
                "out_of_stock": [i for i in self.out_of_stock if label_key(i) not in free],
                "expected": None,
            }
        )


def _within_bounds(lab: Lab) -> Lab:
    for name, limit in (("budget", lab.budget), ("days", lab.days), ("staff", lab.staff)):
        if limit > fields.MOST:
            raise ValueError(f"{name} is {limit:,.0f}; a study's lab has at most {fields.MOST:,}")
    if lab.start_day > lab.days:
        raise ValueError(
            f"start_day {lab.start_day:,} is beyond the {lab.days:,} days; start on one"
        )
    return lab


WrittenLab = Annotated[Lab, AfterValidator(_within_bounds)]
"""A lab as a study's author may write it; one that is asked for more may be larger."""


class Labs(models.Record):
    """The three labs, by difficulty.

    Attributes:
        easy: the lab that can run the reference protocol.
        medium: a lab in which something must give.
        hard: a lab in which a lot must give.
    """

    easy: WrittenLab
    medium: WrittenLab
    hard: WrittenLab

    def at(self, difficulty: Difficulty) -> Lab:
        """Return the lab of that difficulty."""
        lab: Lab = getattr(self, difficulty.value)
        return lab
