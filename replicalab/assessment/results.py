"""What a check answers: the findings on paper and the seven dimensions, as the document names them.

Source: docs/methods.md, The check.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Final, Self

from pydantic import Field, ModelWrapValidatorHandler, computed_field, model_validator

from replicalab.lexicon import CREDITS, count_text
from replicalab.models import DIMENSIONS, Count, Credits, Dimension, Flag, NonEmptyText, Record


class Severity(StrEnum):
    """How much a finding matters: an error makes the plan invalid, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


class IssueCategory(StrEnum):
    """What a finding is about."""

    SAMPLE_SIZE = "sample_size"
    DURATION = "duration"
    THROUGHPUT = "throughput"
    CONTROLS = "controls"
    SAMPLE_CONTROLS = "sample_controls"
    CONSTRAINT = "constraint"
    EQUIPMENT = "equipment"
    REAGENT = "reagent"
    DUPLICATE_CONTROLS = "duplicate_controls"
    DUPLICATE_EQUIPMENT = "duplicate_equipment"
    DUPLICATE_REAGENTS = "duplicate_reagents"
    REQUIRED_ELEMENT = "required_element"
    """Its messages quote the hidden reference: for a judge, never for the Scientist."""


class ValidationIssue(Record):
    """One finding."""

    severity: Severity
    category: IssueCategory
    message: NonEmptyText


class ValidationResult(Record):
    """All findings; ``valid`` is True exactly when none is an error."""

    valid: Flag
    issues: list[ValidationIssue]

    @model_validator(mode="after")
    def _valid_means_no_error(self) -> Self:
        if self.valid != (not self.errors):
            raise ValueError(f"valid is {self.valid} with {count_text(len(self.errors), 'error')}")
        return self

    @property
    def errors(self) -> list[ValidationIssue]:
        """The findings that make the plan invalid."""
        return [issue for issue in self.issues if issue.severity is Severity.ERROR]

    @property
    def paper_warnings(self) -> list[ValidationIssue]:
        """The warnings that no other dimension reports: all but those on missing items."""
        items = (IssueCategory.EQUIPMENT, IssueCategory.REAGENT)
        return [
            issue
            for issue in self.issues
            if issue.severity is Severity.WARNING and issue.category not in items
        ]


class DimensionCheck(Record):
    """Whether one dimension passes, and why not."""

    ok: Flag = True
    reasons: list[NonEmptyText] = Field(default_factory=list)


_COMPUTED: Final = ("feasible", "summary")


def _passes(dimension: Dimension) -> property:
    return property(lambda self: dimension not in self.failing, doc=f"Whether {dimension} passes.")


class FeasibilityCheckResult(Record):
    """The seven dimensions of one plan in one lab, with its cost, in ``currency``, and staff need.

    ``feasible`` and ``summary`` are computed: they appear in a dump, and loading a dump in which
    they contradict the dimensions is refused.
    """

    protocol: DimensionCheck
    budget: DimensionCheck
    equipment: DimensionCheck
    reagents: DimensionCheck
    schedule: DimensionCheck
    staff: DimensionCheck
    policy: DimensionCheck
    estimated_cost: Credits
    required_staff: Count
    substitution_options: dict[str, list[str]]
    validation_result: ValidationResult
    currency: NonEmptyText = CREDITS

    @model_validator(mode="wrap")
    @classmethod
    def _load_a_dump(cls, data: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, Mapping):
            return handler(data)
        record = {name: data[name] for name in _COMPUTED if name in data}
        result = handler({key: value for key, value in data.items() if key not in record})
        for name, value in record.items():
            if value != getattr(result, name):
                raise ValueError(f"{name} is {value!r} but the dimensions give another value")
        return result

    def check(self, dimension: Dimension) -> DimensionCheck:
        """Return the check of one dimension."""
        check: DimensionCheck = getattr(self, dimension)
        return check

    @cached_property
    def failing(self) -> list[Dimension]:
        """The dimensions that fail, in the document's order."""
        return [dimension for dimension in DIMENSIONS if not self.check(dimension).ok]

    protocol_ok = _passes(Dimension.PROTOCOL)
    budget_ok = _passes(Dimension.BUDGET)
    equipment_ok = _passes(Dimension.EQUIPMENT)
    reagents_ok = _passes(Dimension.REAGENTS)
    schedule_ok = _passes(Dimension.SCHEDULE)
    staff_ok = _passes(Dimension.STAFF)

    @computed_field  # type: ignore[prop-decorator]  # mypy cannot type a decorated property
    @property
    def feasible(self) -> bool:
        """Whether all seven dimensions pass."""
        return not self.failing

    @computed_field  # type: ignore[prop-decorator]  # mypy cannot type a decorated property
    @property
    def summary(self) -> str:
        """One sentence: feasible, or which dimensions fail."""
        failing = self.failing
        if not failing:
            return "Feasible: all seven dimensions pass."
        return f"Not feasible: {', '.join(failing)} {'fails' if len(failing) == 1 else 'fail'}."
