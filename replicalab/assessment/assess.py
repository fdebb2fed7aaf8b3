"""A plan judged once: its seven checks, with the values that they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from replicalab import models, scenarios
from replicalab.assessment import findings
from replicalab.assessment.dimensions import DIMENSION_ROWS, Slack
from replicalab.assessment.phrases import dimensions_text, failing_text
from replicalab.assessment.plan_in_lab import words_of_plan
from replicalab.models import NotebookTable


class Cliff(NamedTuple):
    """A step of one ``noun`` that loses the ``endpoint``, or adds or saves a staff unit."""

    noun: str
    more: bool
    endpoint: bool = False


# Errors on paper that another dimension reports if it fails
_REPORTED_BY: Final = {
    findings.IssueCategory.DURATION: models.Dimension.SCHEDULE,
    findings.IssueCategory.EQUIPMENT: models.Dimension.EQUIPMENT,
    findings.IssueCategory.REAGENT: models.Dimension.REAGENTS,
}
# Values that depend on the study, not on the lab
_IN_ANY_LAB: Final = "parts violations missing_elements dropped evidence broken_wishes".split()
# Values that depend on the wording, not on samples or days
_BY_WORDING: Final = (
    "items missing_items control_keys parts violations missing_elements "
    "substitutions dropped evidence_factor".split()
)


def assess(plan: models.Protocol, pack: scenarios.Pack) -> Assessment:
    return Assessment(plan, pack)


@dataclass(frozen=True, repr=False)
class Assessment(findings.PlanWithFindings, NotebookTable):
    """A plan in a lab with its check; each value is computed when first read."""

    def __repr__(self) -> str:
        counts = self.counts
        return f"<Assessment of {counts.samples} samples, {counts.days} days in {self.pack!r}>"

    def in_lab(self, pack: scenarios.Pack) -> Assessment:
        """Return the same plan in another lab of its study; values of the study are kept."""
        return self._with_values(Assessment(self.plan, pack), _IN_ANY_LAB)

    def revised(self, plan: models.Protocol) -> Assessment:
        """Return another plan in the same lab; if the wording is the same, its values are kept."""
        alike = words_of_plan(plan) == words_of_plan(self.plan)
        return self._with_values(Assessment(plan, self.pack), _BY_WORDING if alike else ())

    def _with_values(self, other: Assessment, names: Sequence[str]) -> Assessment:
        values = vars(self)
        vars(other).update((name, values[name]) for name in names if name in values)
        return other

    @cached_property
    def failing(self) -> list[str]:
        measured = [(key, *row.measured(self)) for key, row in DIMENSION_ROWS.items()]
        return [key for key, used, limit in measured if used > limit]

    @property
    def fails_text(self) -> str:
        """The failing dimensions: ``budget and schedule fail``."""
        return failing_text(self.pack, self.failing)

    @property
    def still_fails_text(self) -> str:
        return failing_text(self.pack, self.failing, still=True)

    @property
    def feasible(self) -> bool:
        return not self.failing

    @property
    def passes(self) -> bool:
        """Whether all dimensions pass and there is evidence."""
        return self.feasible and not self.evidence.void_reason

    @cached_property
    def slack(self) -> dict[str, Slack]:
        return {key: Slack(key, *row.measured(self)) for key, row in DIMENSION_ROWS.items()}

    @cached_property
    def reasons(self) -> dict[str, list[str]]:
        rows, failing = DIMENSION_ROWS.items(), self.failing
        return {key: row.reasons(self) if key in failing else [] for key, row in rows}

    @cached_property
    def check(self) -> findings.FeasibilityCheckResult:
        """The seven checks, in the document's form."""
        reasons = self.reasons
        # One validation of plain data takes half the time of one for each model in it.
        return findings.FeasibilityCheckResult.model_validate(
            {
                **{d: {"ok": not reasons[d], "reasons": reasons[d]} for d in models.DIMENSIONS},
                "estimated_cost": self.cost,
                "required_staff": self.staff,
                "substitution_options": {i.label: [*i.options] for i in self.items if i.options},
                "validation_result": self._validation,
                "currency": self.pack.lab.currency,
            }
        )

    @property
    def _paper_alone(self) -> list[findings.Finding]:
        failing, errors = self.failing, self.error_findings
        return [finding for finding in errors if _REPORTED_BY.get(finding[1]) not in failing]

    @property
    def causes(self) -> list[str]:
        """The failing dimensions, without a protocol that only repeats others."""
        # Too many days, and an item without a replacement, are errors on paper too.
        return [d for d in self.failing if d != models.Dimension.PROTOCOL or self._paper_alone]

    @property
    def repeated(self) -> list[str]:
        """The other failing dimensions that errors on paper repeat."""
        others = (_REPORTED_BY.get(category) for _, category, _ in self.error_findings)
        return [other for other in dict.fromkeys(others) if other and other in self.failing]

    @property
    def reasons_once(self) -> list[tuple[str, str]]:
        """Pairs of a failing dimension and a reason; a repeated error refers to the other one."""
        messages = [message for _, _, message in self._paper_alone]
        if self.repeated:
            messages.append(f"see {dimensions_text(self.pack, self.repeated)}.")
        reasons = self.reasons | {models.Dimension.PROTOCOL: messages}
        return [(dimension, reason) for dimension, why in reasons.items() for reason in why]

    @property
    def cliffs(self) -> tuple[Cliff, ...]:
        """The single steps that add or save a staff unit, or lose the endpoint."""
        cliffs = [
            Cliff(step.noun, more=step.number == step.threshold)
            for step in self.staff_steps
            if 0 <= step.number - step.threshold <= 1
        ]
        if self.counts.days == self.pack.min_days:
            cliffs.append(Cliff("day", more=False, endpoint=True))
        return tuple(cliffs)
