"""Is the plan sound on paper? Findings with a severity, a category and a message.

Nothing here raises: an unsound plan is an answer, not an accident.
Source: docs/contract.md, Validation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from replicalab.assessment.results import Severity, ValidationIssue
from replicalab.lexicon import count_text, repeated_labels, told_apart
from replicalab.scenarios import Bounds, ItemStatus, Limit

if TYPE_CHECKING:
    from replicalab.assessment.assess import Assessment

REQUIRED_ELEMENT: Final = "required_element"
"""The category whose messages quote the hidden reference: for a judge, never for the Scientist."""


def findings(plan: Assessment) -> Iterator[ValidationIssue]:
    """Yield every finding about a plan, in a fixed order."""
    yield from _number_findings(plan)
    for limit in plan.broken_limits:
        issue, force = (_error, "must") if limit.hard else (_warning, "should")
        planned, label = _planned_text(limit, plan), limit.constraint.label
        yield issue("constraint", f"{planned}; the study's '{label}' {force} be {limit.text}.")
    yield from _label_findings(plan)
    for element in plan.missing_elements:
        yield _warning(REQUIRED_ELEMENT, f"Not addressed by the plan: {element}.")


def _error(category: str, message: str) -> ValidationIssue:
    return ValidationIssue(severity=Severity.ERROR, category=category, message=message)


def _warning(category: str, message: str) -> ValidationIssue:
    return ValidationIssue(severity=Severity.WARNING, category=category, message=message)


def _number_findings(plan: Assessment) -> Iterator[ValidationIssue]:
    samples, days, controls, *_ = plan.counts
    limit, least = plan.pack.lab.days, plan.pack.min_days
    exist, rate = plan.pack.design.population_max, plan.pack.samples_per_day
    planned, duration = count_text(samples, "sample"), count_text(days, "day")
    if samples < 1:
        yield _error("sample_size", f"Sample size is {samples}; plan at least 1 sample.")
    if days < 1:
        yield _error("duration", f"Duration is {duration}; plan at least 1 day.")
    if days > limit:
        yield _error("duration", f"Duration is {duration}; this lab has {limit}.")
    if days < least:
        yield _warning(
            "duration", f"Duration is {duration}; below {least} the study's endpoint is lost."
        )
    if exist is not None and samples > exist:
        yield _warning(
            "throughput",
            f"{samples:,} samples planned; the study has {exist:,}, so "
            f"{samples - exist:,} cannot count.",
        )
    if rate is not None and samples > rate.value * days:
        yield _warning(
            "throughput",
            f"{planned} in {duration}; at {rate.value} a day only {rate.value * days} of them "
            "can count.",
        )
    if not controls:
        yield _warning("controls", "No controls: nothing guards the result against artefacts.")
    elif controls >= samples:
        yield _error(
            "sample_controls",
            f"{count_text(controls, 'control')} for {planned}: no experimental samples remain; "
            f"plan at least {controls + 1} samples.",
        )


def _planned_text(limit: Limit, plan: Assessment) -> str:
    """Return the number of the plan that a constraint of the study bounds, in words."""
    if limit.number is Bounds.SAMPLES:
        return f"Sample size is {plan.counts.samples:,}"
    if limit.number is Bounds.DAYS:
        return f"Duration is {count_text(plan.counts.days, 'day')}"
    if plan.evidence.void:
        return "The plan yields no evidence"
    bound = limit.constraint.quantity or 0.0
    value = told_apart(plan.evidence.value, [bound], 2, lambda v, digits: f"{v:.{digits}f}")
    return f"The planned {plan.evidence.measure} is {value}"


def _label_findings(plan: Assessment) -> Iterator[ValidationIssue]:
    for category, labels in (
        ("controls", plan.plan.controls),
        ("equipment", plan.plan.required_equipment),
        ("reagents", plan.plan.required_reagents),
    ):
        for label in repeated_labels(labels):
            yield _warning(
                f"duplicate_{category}", f"'{label}' is listed more than once, and billed so."
            )
    for item in plan.items:
        category, label, status = item.category, item.label, item.status
        if status is ItemStatus.UNKNOWN:
            yield _warning(category, f"'{label}' is not in this lab's inventory.")
        elif item.options:
            yield _warning(category, f"'{label}' is {status}; could use '{item.options[0]}'.")
        elif status is not ItemStatus.AVAILABLE:
            yield _error(category, f"'{label}' is {status} and nothing may replace it.")
