"""Findings on paper, and the result of a check; source: docs/methods.md, The check."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Final, Self

from pydantic import Field, ModelWrapValidatorHandler, computed_field, model_validator

from replicalab import models
from replicalab.assessment.phrases import PlanInWords, bounded_text, wishes_text
from replicalab.assessment.plan_in_lab import PlanInLab
from replicalab.lexicon import CREDITS, capitalised, count_text, repeated_labels
from replicalab.models import Dimension, NonEmptyText, Record
from replicalab.scenarios import Bounds, StudyLimit


class Severity(StrEnum):
    """How much a finding matters: an error makes the plan invalid, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


class IssueCategory(StrEnum):
    """The subject of a finding."""

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
    """All findings; ``valid`` is True if there is no error."""

    valid: models.Flag
    issues: list[ValidationIssue]

    @model_validator(mode="after")
    def _valid_means_no_error(self) -> Self:
        if self.valid != (not self.errors):
            raise ValueError(f"valid is {self.valid} with {count_text(len(self.errors), 'error')}")
        return self

    @property
    def errors(self) -> list[ValidationIssue]:
        return [issue for issue in self.issues if issue.severity is Severity.ERROR]

    @property
    def paper_warnings(self) -> list[ValidationIssue]:
        """The warnings except those on missing items, which other dimensions report."""
        items = (IssueCategory.EQUIPMENT, IssueCategory.REAGENT)
        return [
            issue
            for issue in self.issues
            if issue.severity is Severity.WARNING and issue.category not in items
        ]


class DimensionCheck(Record):
    """The result of one dimension, with the reasons if it fails."""

    ok: models.Flag = True
    reasons: list[NonEmptyText] = Field(default_factory=list)


_COMPUTED: Final = ("feasible", "summary")


def _passes(dimension: Dimension) -> property:
    return property(lambda self: dimension not in self.failing, doc=f"Whether {dimension} passes.")


class FeasibilityCheckResult(Record):
    """The seven dimensions of a plan in a lab; a dump that contradicts them is refused."""

    protocol: DimensionCheck
    budget: DimensionCheck
    equipment: DimensionCheck
    reagents: DimensionCheck
    schedule: DimensionCheck
    staff: DimensionCheck
    policy: DimensionCheck
    estimated_cost: models.Credits
    required_staff: models.Count
    substitution_options: dict[str, list[str]]
    validation_result: ValidationResult
    currency: NonEmptyText = CREDITS

    @model_validator(mode="wrap")
    @classmethod
    def _load_a_dump(cls, data: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, Mapping):
            return handler(data)
        record = {name: data[name] for name in _COMPUTED if name in data}
        if not record:
            return handler(data)
        result = handler({key: value for key, value in data.items() if key not in record})
        for name, value in record.items():
            if value != getattr(result, name):
                raise ValueError(f"{name} is {value!r} but the dimensions give another value")
        return result

    def check(self, dimension: Dimension) -> DimensionCheck:
        check: DimensionCheck = getattr(self, dimension)
        return check

    @cached_property
    def failing(self) -> list[Dimension]:
        return [dimension for dimension in models.DIMENSIONS if not self.check(dimension).ok]

    protocol_ok = _passes(Dimension.PROTOCOL)
    budget_ok = _passes(Dimension.BUDGET)
    equipment_ok = _passes(Dimension.EQUIPMENT)
    reagents_ok = _passes(Dimension.REAGENTS)
    schedule_ok = _passes(Dimension.SCHEDULE)
    staff_ok = _passes(Dimension.STAFF)

    @computed_field  # type: ignore[prop-decorator]  # mypy cannot type a decorated property
    @property
    def feasible(self) -> bool:
        return not self.failing

    @computed_field  # type: ignore[prop-decorator]  # mypy cannot type a decorated property
    @property
    def summary(self) -> str:
        """One sentence: feasible, or the failing dimensions."""
        failing = self.failing
        if not failing:
            return "Feasible: all seven dimensions pass."
        return f"Not feasible: {', '.join(failing)} {'fails' if len(failing) == 1 else 'fail'}."


Finding = tuple[Severity, IssueCategory, str]
_ERROR, _WARNING = Severity
_DUPLICATES: Final = {
    "controls": IssueCategory.DUPLICATE_CONTROLS,
    "required_equipment": IssueCategory.DUPLICATE_EQUIPMENT,
    "required_reagents": IssueCategory.DUPLICATE_REAGENTS,
}


def findings_of(plan: PlanInLab) -> Iterator[Finding]:
    """Yield the findings on a plan in its lab, except elements of the hidden reference."""
    yield from _number_findings(plan)
    for limit in plan.broken_limits:
        if limit.hard:
            must = f"the study's '{limit.constraint.label}' must be {limit.text}."
            yield _ERROR, IssueCategory.CONSTRAINT, f"{_planned(limit, plan)}; {must}"
        else:
            yield _WARNING, IssueCategory.CONSTRAINT, f"{capitalised(wishes_text(plan, [limit]))}."
    for name, category in _DUPLICATES.items():
        for label in repeated_labels(getattr(plan.plan, name)):
            yield _WARNING, category, f"'{label}' is listed more than once, and billed so."
    for item in plan.missing_items:
        label, category = item.label, IssueCategory(item.category)
        opening = f"'{label}' is {plan.pack.study.term(item.status)}"
        if item.is_irreplaceable:
            yield _ERROR, category, f"{opening} and nothing may replace it."
        elif item.options:
            yield _WARNING, category, f"{opening}; could use '{item.options[0]}'."
        else:
            yield _WARNING, category, f"'{label}' is not in this lab's inventory."


def count_errors(plan: PlanInLab) -> int:
    # Without a sentence: a search judges a thousand plans without reading any.
    return (
        sum(_number_errors(plan))
        + sum([limit.hard for limit in plan.broken_limits])
        + sum([item.is_irreplaceable for item in plan.missing_items])
    )


def _number_errors(plan: PlanInLab) -> tuple[bool, bool, bool, bool]:
    samples, days, controls, *_ = plan.counts
    return samples < 1, days < 1, days > plan.pack.lab.days_left, 0 < controls >= samples


def _number_findings(plan: PlanInLab) -> Iterator[Finding]:
    samples, days, controls, *_ = plan.counts
    no_samples, no_days, too_long, only_controls = _number_errors(plan)
    lab, minimum = plan.pack.lab, plan.pack.min_days
    exist, rate = plan.pack.design.population_max, plan.pack.samples_per_day
    if no_samples:
        lack = f"Sample size is {samples}; plan at least 1 sample."
        yield _ERROR, IssueCategory.SAMPLE_SIZE, lack
    if no_days:
        yield _ERROR, IssueCategory.DURATION, f"{_duration(days)}; plan at least 1 day."
    if too_long:
        has = lab.left_text or f"this lab has {lab.days_left}"
        yield _ERROR, IssueCategory.DURATION, f"{_duration(days)}; {has}."
    if days < minimum != 1:
        lost = f"{_duration(days)}; below {minimum} the study's endpoint is lost."
        yield _WARNING, IssueCategory.DURATION, lost
    if exist is not None and samples > exist:
        beyond = f"the study has {exist:,}, so {samples - exist:,} cannot count."
        yield _WARNING, IssueCategory.THROUGHPUT, f"{samples:,} samples planned; {beyond}"
    if rate is not None and samples > rate.value * days:
        planned = f"{count_text(samples, 'sample')} in {count_text(days, 'day')}"
        beyond = f"at {rate.value} a day only {rate.value * days} of them can count."
        yield _WARNING, IssueCategory.THROUGHPUT, f"{planned}; {beyond}"
    if not controls:
        none = "No controls: nothing guards the result against artefacts."
        yield _WARNING, IssueCategory.CONTROLS, none
    elif only_controls:
        planned = f"{count_text(controls, 'control')} for {count_text(samples, 'sample')}"
        remain = f"no experimental samples remain; plan at least {controls + 1} samples."
        yield _ERROR, IssueCategory.SAMPLE_CONTROLS, f"{planned}: {remain}"


def _duration(days: int) -> str:
    return f"Duration is {count_text(days, 'day')}"


def _planned(limit: StudyLimit, plan: PlanInLab) -> str:
    if limit.number is Bounds.SAMPLES:
        return f"Sample size is {plan.counts.samples:,}"
    if limit.number is Bounds.DAYS:
        return _duration(plan.counts.days)
    if plan.evidence.void_reason:
        return "The plan yields no evidence"
    return f"The planned {plan.evidence.measure} is {bounded_text(limit, plan)}"


class PlanWithFindings(PlanInWords):
    """A plan in a lab with its findings on paper."""

    @cached_property
    def _findings(self) -> tuple[Finding, ...]:
        return tuple(findings_of(self))

    @property
    def findings(self) -> tuple[Finding, ...]:
        lacks = [f"Not addressed by the plan: {element}." for element in self.missing_elements]
        warning = Severity.WARNING, IssueCategory.REQUIRED_ELEMENT
        return *self._findings, *((*warning, lack) for lack in lacks)

    @property
    def error_findings(self) -> list[Finding]:
        return [finding for finding in self._findings if finding[0] is Severity.ERROR]

    @property
    def errors(self) -> list[str]:
        return [message for _, _, message in self.error_findings]

    @cached_property
    def validation(self) -> ValidationResult:
        return ValidationResult.model_validate(self._validation)

    @property
    def _validation(self) -> dict[str, object]:
        names = ValidationIssue.model_fields
        issues = [dict(zip(names, finding, strict=True)) for finding in self.findings]
        return {"valid": not self.errors, "issues": issues}
