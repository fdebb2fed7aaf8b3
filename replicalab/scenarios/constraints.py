"""A study's constraints on a plan, and the ranges that some of them set."""

import math
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Final, NamedTuple, Self

from pydantic import Field, StringConstraints, model_validator

from replicalab.errors import Refusal
from replicalab.lexicon import amount_text, measured_text
from replicalab.limits import LONGEST_TEXT
from replicalab.models import Flag, Record
from replicalab.scenarios.field_types import MOST, Finite, Identifier, Label

_ROUNDING: Final = 1e-12  # of a computed number that equals its bound, such as 1.0 × n / n


class Comparator(StrEnum):
    """How a constraint's quantity bounds the plan."""

    AT_MOST = "<="
    AT_LEAST = ">="
    EQUAL = "="

    @property
    def words(self) -> str:
        return {"<=": "at most", ">=": "at least", "=": "exactly"}[self.value]


# The class keeps its name: study.schema.json gives it to editors.
class Bounds(StrEnum):
    """The number of a plan that a constraint bounds."""

    SAMPLES = "samples"
    DAYS = "days"
    SAMPLES_PER_CONDITION = "samples_per_condition"
    EVIDENCE = "evidence"


class ScenarioConstraint(Record):
    """A requirement of the study or the lab.

    Attributes:
        key: its short name.
        label: the bounded quantity, for people.
        quantity: the bound, null if not a number.
        unit: of the quantity.
        comparator: at most, at least or exactly.
        hard: whether it may never be broken.
        details: anything more.
        bounds: the number of the plan that it bounds: samples (n), days, samples_per_condition
            or evidence; null if it is stated for people only.
        conditions: how many conditions share the samples equally; samples_per_condition only.
    """

    key: Identifier
    label: Label
    quantity: Finite | None
    unit: Label | None
    comparator: Comparator
    hard: Flag
    details: Annotated[str, StringConstraints(max_length=LONGEST_TEXT)] = ""
    bounds: Bounds | None = None
    conditions: Annotated[int, Field(strict=True, ge=2, le=1000)] | None = None

    @model_validator(mode="after")
    def _bound_can_be_held(self) -> Self:
        if (self.conditions is None) == (self.bounds is Bounds.SAMPLES_PER_CONDITION):
            raise Refusal(
                f"conditions is {self.conditions} and bounds is {self.bounds}",
                "give conditions with samples_per_condition, and only with it",
            ).error
        if self.bounds is None:
            return self
        if self.quantity is None:
            raise Refusal(f"bounds is {self.bounds} without a quantity", "give one").error
        counted = self.bounds is not Bounds.EVIDENCE
        if counted and not (0 <= self.quantity <= MOST and self.quantity.is_integer()):
            remedy = f"{self.bounds} is a whole number from 0 to {MOST:,}"
            raise Refusal(f"quantity is {self.quantity:g}", remedy).error
        return self

    @property
    def bound_text(self) -> str:
        """The bound in words: ``at least 4 runs``; empty without a quantity."""
        if self.quantity is None:
            return ""
        number = f"{self.quantity:z,.12g}".replace("-", "\u2212")
        return f"{self.comparator.words} {number}{f' {self.unit}' if self.unit else ''}"

    @property
    def agent_text(self) -> str:
        text = f"[{'hard' if self.hard else 'soft'}] {self.label}"
        if self.quantity is not None:
            text += f" {self.comparator} {measured_text(self.quantity, self.unit)}"
        return f"{text} ({self.details})" if self.details else text


class StudyLimit(NamedTuple):
    """A range of samples, days or evidence that a constraint allows, its ends included."""

    constraint: ScenarioConstraint
    number: Bounds
    least: float
    most: float

    @property
    def hard(self) -> bool:
        return self.constraint.hard

    @property
    def text(self) -> str:
        """The range in words: ``at least 4 runs in each of 2 conditions: at least 8 in all``."""
        bound, conditions = self.constraint.bound_text, self.constraint.conditions
        if conditions is None:
            return bound
        end = self.least if math.isfinite(self.least) else self.most
        total = f"{self.constraint.comparator.words} {amount_text(end)} in all"
        return f"{bound} in each of {conditions} conditions: {total}"

    @property
    def asked_text(self) -> str:
        """The constraint: ``'follow-up' should be at least 36 days``."""
        return f"'{self.constraint.label}' should be {self.text}"

    @property
    def kept_text(self) -> str:
        return f"'{self.constraint.label}' ({self.text})"

    def allows(self, value: float) -> bool:
        return self.least - _ROUNDING <= value <= self.most + _ROUNDING

    def is_further(self, value: float, than: float) -> bool:
        """Return whether a value is further outside the range than another one outside it."""
        return value < than < self.least - _ROUNDING or value > than > self.most + _ROUNDING


def limits_of(constraints: Iterable[ScenarioConstraint]) -> tuple[StudyLimit, ...]:
    # Shared equally, n samples leave n // k for the smallest of k conditions and that or one more
    # for the largest. So each has at least q exactly from n = k·q on, and at most q exactly up to
    # there.
    limits = []
    for rule in constraints:
        if rule.bounds is not None:
            bound = (rule.quantity or 0.0) * (rule.conditions or 1)
            least = -math.inf if rule.comparator is Comparator.AT_MOST else bound
            most = math.inf if rule.comparator is Comparator.AT_LEAST else bound
            shared = rule.bounds is Bounds.SAMPLES_PER_CONDITION
            limits.append(StudyLimit(rule, Bounds.SAMPLES if shared else rule.bounds, least, most))
    return tuple(limits)


def hard_range(limits: Iterable[StudyLimit], number: Bounds) -> tuple[float, float]:
    """Return the range that the hard limits allow; out of order if they contradict each other."""
    hard = [limit for limit in limits if limit.hard and limit.number is number]
    return (
        max((limit.least for limit in hard), default=-math.inf),
        min((limit.most for limit in hard), default=math.inf),
    )
