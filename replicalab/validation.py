"""Is the plan sound on paper? Findings with a severity, a category and a message.

`validate_protocol` never raises: an unsound plan is an answer, not an accident.
Source: the behaviour contract, section 3 (and section 6 for throughput).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from typing import Final, Self

from pydantic import model_validator

from replicalab.evidence import planned_evidence
from replicalab.lexicon import count_text, repeated_labels, told_apart
from replicalab.models import Flag, NonEmptyText, Protocol, Record, Wording, wording_of
from replicalab.scenarios import Bounds, ItemStatus, Limit, Pack, PackKey


class Severity(StrEnum):
    """How much a finding matters: an error makes the plan invalid, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


ITEM_CATEGORIES: Final = ("equipment", "reagent")
"""The categories of missing items, which have dimensions of their own."""


class ValidationIssue(Record):
    """One finding."""

    severity: Severity
    category: NonEmptyText
    message: NonEmptyText


class ValidationResult(Record):
    """All findings; ``valid`` is True exactly when none is an error."""

    valid: Flag
    issues: list[ValidationIssue]

    @model_validator(mode="after")
    def _valid_means_no_error(self) -> Self:
        if self.valid != (not self.errors):
            raise ValueError(f"valid is {self.valid} with {len(self.errors)} errors")
        return self

    @property
    def errors(self) -> list[ValidationIssue]:
        """The findings that make the plan invalid."""
        return [issue for issue in self.issues if issue.severity is Severity.ERROR]

    @property
    def warnings(self) -> list[ValidationIssue]:
        """The findings that do not."""
        return [issue for issue in self.issues if issue.severity is Severity.WARNING]

    @property
    def paper_warnings(self) -> list[ValidationIssue]:
        """The warnings that no other dimension reports: all but those on missing items."""
        return [issue for issue in self.warnings if issue.category not in ITEM_CATEGORIES]


REQUIRED_ELEMENT: Final = "required_element"
"""The category whose messages quote the hidden reference: for a judge, never for the Scientist."""

_UNIMPORTANT_WORDS: Final = frozenset(
    "a an the of for to in on at by with and or is are be must per from as".split()
)


def validate_protocol(protocol: Protocol, scenario: Pack) -> ValidationResult:
    """Return every finding about a plan, in the contract's order."""
    issues = [
        *_sample_issues(protocol),
        *_duration_issues(protocol, scenario),
        *_throughput_issues(protocol, scenario),
        *_control_issues(protocol),
        *_constraint_issues(protocol, scenario),
        *_wording_issues(scenario.key, wording_of(protocol)),
    ]
    valid = all(issue.severity is not Severity.ERROR for issue in issues)
    return ValidationResult(valid=valid, issues=issues)


@lru_cache(maxsize=4096)
def _wording_issues(key: PackKey, wording: Wording) -> tuple[ValidationIssue, ...]:
    """Return what depends on no number of the plan, kept per wording."""
    return (
        *_duplicate_issues(wording),
        *_item_issues(wording.equipment, "equipment", key.pack),
        *_item_issues(wording.reagents, "reagent", key.pack),
        *_required_element_issues(wording, key.pack),
    )


def _error(category: str, message: str) -> ValidationIssue:
    return ValidationIssue(severity=Severity.ERROR, category=category, message=message)


def _warning(category: str, message: str) -> ValidationIssue:
    return ValidationIssue(severity=Severity.WARNING, category=category, message=message)


def _sample_issues(protocol: Protocol) -> Iterator[ValidationIssue]:
    if protocol.sample_size < 1:
        yield _error(
            "sample_size", f"Sample size is {protocol.sample_size}; plan at least 1 sample."
        )


def _duration_issues(protocol: Protocol, scenario: Pack) -> Iterator[ValidationIssue]:
    days, limit = protocol.duration_days, scenario.lab.days
    planned = count_text(days, "day")
    if days < 1:
        yield _error("duration", f"Duration is {planned}; plan at least 1 day.")
    if days > limit:
        yield _error("duration", f"Duration is {planned}; this lab has {limit}.")
    if days < scenario.min_days:
        yield _warning(
            "duration",
            f"Duration is {planned}; below {scenario.min_days} the study's endpoint is lost.",
        )


def _throughput_issues(protocol: Protocol, scenario: Pack) -> Iterator[ValidationIssue]:
    exist = scenario.design.population_max
    if exist is not None and protocol.sample_size > exist:
        yield _warning(
            "throughput",
            f"{protocol.sample_size:,} samples planned; the study has {exist:,}, so "
            f"{protocol.sample_size - exist:,} cannot count.",
        )
    if scenario.samples_per_day is None:
        return
    most = scenario.samples_per_day.value * protocol.duration_days
    if protocol.sample_size > most:
        yield _warning(
            "throughput",
            f"{count_text(protocol.sample_size, 'sample')} in "
            f"{count_text(protocol.duration_days, 'day')}; at "
            f"{scenario.samples_per_day.value} a day only {most} of them can count.",
        )


def _control_issues(protocol: Protocol) -> Iterator[ValidationIssue]:
    controls, samples = len(protocol.controls), protocol.sample_size
    if not controls:
        yield _warning("controls", "No controls: nothing guards the result against artefacts.")
    elif controls >= samples:
        yield _error(
            "sample_controls",
            f"{count_text(controls, 'control')} for {count_text(samples, 'sample')}: no "
            f"experimental samples remain; plan at least {controls + 1} samples.",
        )


def broken_constraints(protocol: Protocol, scenario: Pack) -> list[Limit]:
    """Return the study's own constraints that a plan's numbers break, in the study's order."""
    return [
        limit for limit in scenario.limits if not limit.allows(_bounded(limit, protocol, scenario))
    ]


def _bounded(limit: Limit, protocol: Protocol, scenario: Pack) -> float:
    """Return the number of the plan that a constraint bounds."""
    if limit.number is Bounds.EVIDENCE:
        return planned_evidence(protocol, scenario).value
    return protocol.duration_days if limit.number is Bounds.DAYS else protocol.sample_size


def _constraint_issues(protocol: Protocol, scenario: Pack) -> Iterator[ValidationIssue]:
    for limit in broken_constraints(protocol, scenario):
        issue, force = (_error, "must") if limit.hard else (_warning, "should")
        planned, label = _planned_text(limit, protocol, scenario), limit.constraint.label
        yield issue("constraint", f"{planned}; the study's '{label}' {force} be {limit.text}.")


def _planned_text(limit: Limit, protocol: Protocol, scenario: Pack) -> str:
    if limit.number is Bounds.SAMPLES:
        return f"Sample size is {protocol.sample_size:,}"
    if limit.number is Bounds.DAYS:
        return f"Duration is {count_text(protocol.duration_days, 'day')}"
    evidence = planned_evidence(protocol, scenario)
    if evidence.void:
        return "The plan yields no evidence"
    bound = limit.constraint.quantity or 0.0
    value = told_apart(evidence.value, [bound], 2, lambda v, digits: f"{v:.{digits}f}")
    return f"The planned {evidence.measure} is {value}"


def _duplicate_issues(wording: Wording) -> Iterator[ValidationIssue]:
    for category, labels in (
        ("controls", wording.controls),
        ("equipment", wording.equipment),
        ("reagents", wording.reagents),
    ):
        for label in repeated_labels(labels):
            yield _warning(
                f"duplicate_{category}", f"'{label}' is listed more than once, and billed so."
            )


def _item_issues(
    labels: tuple[str, ...], category: str, scenario: Pack
) -> Iterator[ValidationIssue]:
    for label in dict.fromkeys(labels):
        status = scenario.inventory.status(label, category)
        if status is ItemStatus.AVAILABLE:
            continue
        alternatives = scenario.inventory.alternatives(label)
        if status is ItemStatus.UNKNOWN:
            yield _warning(category, f"'{label}' is not in this lab's inventory.")
        elif alternatives:
            yield _warning(category, f"'{label}' is {status}; could use '{alternatives[0]}'.")
        else:
            yield _error(category, f"'{label}' is {status} and nothing may replace it.")


def _required_element_issues(wording: Wording, scenario: Pack) -> Iterator[ValidationIssue]:
    for element in _missing_elements(wording, scenario):
        yield _warning(REQUIRED_ELEMENT, f"Not addressed by the plan: {element}.")


def missing_elements(protocol: Protocol, scenario: Pack) -> list[str]:
    """Return the required elements of the hidden reference that the plan does not address."""
    return _missing_elements(wording_of(protocol), scenario)


def _missing_elements(wording: Wording, scenario: Pack) -> list[str]:
    said = frozenset[str]().union(*(element_words(text) for _, text in wording.texts))
    required = scenario.hidden_reference_spec.required_elements
    return [element for element in required if not element_words(element) <= said]


def element_words(text: str) -> frozenset[str]:
    """Return the words that count when a required element is looked for in a plan."""
    return frozenset(re.findall(r"[^\W_]+", text.casefold())) - _UNIMPORTANT_WORDS
