"""A plan judged once: everything that is known of a plan in a lab."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Final, NamedTuple

from replicalab import models, scenarios
from replicalab.assessment import results
from replicalab.assessment.costs import (
    CostTerm,
    Counts,
    StaffStep,
    cost_terms,
    counts_of,
    credits_needed,
    own_prices,
    staff,
    staff_steps,
)
from replicalab.assessment.dimensions import DIMENSION_ROWS, Slack
from replicalab.assessment.evidence import Evidence, evidence_of, smallest_detectable_effect
from replicalab.assessment.paper import Finding, Violation, element_findings, findings, violations
from replicalab.assessment.phrases import dimensions_text
from replicalab.lexicon import label_key, parts_of
from replicalab.notebook import Framed


class Cliff(NamedTuple):
    """A small step of a plan that changes a lot: one ``noun`` ``more``, or one less.

    It loses the study's ``endpoint``, or else adds or saves a staff unit.
    """

    noun: str
    more: bool
    endpoint: bool = False


# The errors on paper that are failures of another dimension too, where that one fails.
_REPORTED_BY: Final = {
    results.IssueCategory.DURATION: models.Dimension.SCHEDULE,
    results.IssueCategory.EQUIPMENT: models.Dimension.EQUIPMENT,
    results.IssueCategory.REAGENT: models.Dimension.REAGENTS,
}

# What of a plan depends on its study, and on no lab.
_IN_ANY_LAB: Final = (
    "other_labels",
    "parts",
    "violations",
    "missing_elements",
    "dropped",
    "evidence",
    "broken_wishes",
)


# A plan's texts, and its lists of them.
_WORDS: Final = attrgetter(
    *[name for name in models.PROTOCOL_FIELDS if name not in models.NUMBER_FIELDS]
)
# What of a plan depends on its wording, and neither on its samples nor on its days.
_BY_WORDING: Final = (
    "items",
    "missing_items",
    "control_keys",
    "other_labels",
    "parts",
    "violations",
    "missing_elements",
    "substitutions",
    "dropped",
    "evidence_factor",
)


def assess(plan: models.Protocol, pack: scenarios.Pack) -> Assessment:
    """Return everything that is known of a plan in a lab."""
    return Assessment(plan, pack)


@dataclass(frozen=True, repr=False)
class Assessment(Framed):
    """A plan in a lab; each thing about it is worked out once, when it is first asked for."""

    plan: models.Protocol
    pack: scenarios.Pack

    def __repr__(self) -> str:
        counts = self.counts
        return f"<Assessment of {counts.samples} samples, {counts.days} days in {self.pack!r}>"

    def in_lab(self, pack: scenarios.Pack) -> Assessment:
        """Return the same plan in another lab of its study; what no lab changes is kept."""
        plan = Assessment(self.plan, pack)
        vars(plan).update((name, vars(self)[name]) for name in _IN_ANY_LAB if name in vars(self))
        return plan

    def revised(self, plan: models.Protocol) -> Assessment:
        """Return another plan in the same lab; what its wording leaves as it was is kept."""
        existing, protocol = Assessment(plan, self.pack), self.plan
        if _WORDS(plan) == _WORDS(protocol):
            facts = vars(self)
            vars(existing).update((name, facts[name]) for name in _BY_WORDING if name in facts)
        return existing

    @cached_property
    def counts(self) -> Counts:
        """The numbers that cost and staff depend on."""
        return counts_of(self.plan, self.pack)

    # --- what it needs ----------------------------------------------------------------------

    @cached_property
    def cost(self) -> float:
        """What it costs, in the lab's currency."""
        return credits_needed(self.counts, self.pack)

    @property
    def cost_terms(self) -> tuple[CostTerm, ...]:
        """The terms of the cost, in the document's order."""
        pair = own_prices(self.plan, self.pack)
        return cost_terms(self.counts, self.pack, pair)

    @cached_property
    def staff(self) -> int:
        """How many staff units it needs."""
        return int(staff(self.counts, self.pack.staff_model))

    @property
    def staff_steps(self) -> tuple[StaffStep, ...]:
        """The steps that each may add a staff unit."""
        return staff_steps(self.counts, self.pack.staff_model)

    @cached_property
    def items(self) -> tuple[scenarios.Item, ...]:
        """What it lists as equipment, then as reagents, each label once, in its order."""
        plan, items = self.plan, self.pack.inventory.items
        return (
            *items(plan.required_equipment, "equipment"),
            *items(plan.required_reagents, "reagent"),
        )

    @cached_property
    def missing_items(self) -> tuple[scenarios.Item, ...]:
        """Those of them that this lab lacks or does not know."""
        free = scenarios.ItemStatus.AVAILABLE
        return tuple([item for item in self.items if item.status is not free])

    @cached_property
    def control_keys(self) -> tuple[str, ...]:
        """The keys of its controls, as often as it lists them."""
        record = self.pack.control_keys
        return tuple([record.get(name) or label_key(name) for name in self.plan.controls])

    # --- the check --------------------------------------------------------------------------

    @cached_property
    def parts(self) -> frozenset[str]:
        """The words of all its texts, folded; an apostrophe ends one."""
        values = _WORDS(self.plan)
        texts = [value if isinstance(value, str) else "\n".join(value) for value in values]
        return parts_of("\n".join(texts))

    @cached_property
    def other_labels(self) -> set[str]:
        """The labels that it lists and its study has not, or not as one line without harm."""
        plan = self.plan
        listed = {*plan.controls, *plan.required_equipment, *plan.required_reagents}
        return listed - self.pack.study.harmless_labels

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """The phrases by which its wording breaks a restriction."""
        plan, study = self.plan, self.pack.study
        if not study.may_forbid("\n".join((plan.technique, plan.rationale, *self.other_labels))):
            return ()
        return tuple(violations(models.texts_of(plan), self.parts, study.policy_rules))

    @cached_property
    def missing_elements(self) -> tuple[str, ...]:
        """The required elements of the hidden reference that it does not address."""
        spec, parts = self.pack.study.hidden_reference, self.parts
        elements = zip(spec.required_elements, spec.element_words, strict=True)
        return tuple(element for element, words in elements if not words <= parts)

    @cached_property
    def broken_limits(self) -> list[scenarios.StudyLimit]:
        """The study's own constraints that its numbers break, in the study's order."""
        limits = self.pack.limits
        return [limit for limit in limits if not limit.allows(self.bounded(limit))]

    @cached_property
    def broken_wishes(self) -> tuple[scenarios.StudyLimit, ...]:
        """The study's soft constraints that its numbers break, in the study's order."""
        return tuple(limit for limit in self.broken_limits if not limit.hard)

    def bounded(self, limit: scenarios.StudyLimit) -> float:
        """Return the number of the plan that a constraint bounds."""
        if limit.number is scenarios.Bounds.EVIDENCE:
            return self.evidence.value
        return float(
            self.counts.days if limit.number is scenarios.Bounds.DAYS else self.counts.samples
        )

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The findings about it on paper, in a fixed order."""
        return *self._findings, *element_findings(self)

    @cached_property
    def _findings(self) -> tuple[Finding, ...]:
        return tuple(findings(self))

    @cached_property
    def errors(self) -> list[str]:
        """The findings that make it invalid."""
        return [message for _, _, message in self._error_findings]

    @cached_property
    def validation(self) -> results.ValidationResult:
        """The findings, in the document's form."""
        return results.ValidationResult.model_validate(self._validation)

    @property
    def _validation(self) -> dict[str, object]:
        names = results.ValidationIssue.model_fields
        issues = [dict(zip(names, finding, strict=True)) for finding in self.findings]
        return {"valid": not self.errors, "issues": issues}

    @cached_property
    def reasons(self) -> dict[str, list[str]]:
        """Why it fails each dimension; nothing where it passes."""
        rows, failing = DIMENSION_ROWS.items(), self.failing
        return {text: row.reasons(self) if text in failing else [] for text, row in rows}

    @property
    def reasons_once(self) -> list[tuple[str, str]]:
        """Why dimensions fail, each fact once: an error that another reports refers to that one."""
        paper = [message for _, _, message in self._paper_alone]
        if self.repeated:
            paper.append(f"see {dimensions_text(self.pack, self.repeated)}.")
        reasons = self.reasons | {models.Dimension.PROTOCOL: paper}
        return [(dimension, reason) for dimension, why in reasons.items() for reason in why]

    @cached_property
    def check(self) -> results.FeasibilityCheckResult:
        """The seven checks, in the document's form."""
        reasons = self.reasons
        # One validation of plain data takes half the time of one for each model in it.
        return results.FeasibilityCheckResult.model_validate(
            {
                **{d: {"ok": not reasons[d], "reasons": reasons[d]} for d in models.DIMENSIONS},
                "estimated_cost": self.cost,
                "required_staff": self.staff,
                "substitution_options": {i.label: [*i.options] for i in self.items if i.options},
                "validation_result": self._validation,
                "currency": self.pack.lab.currency,
            }
        )

    def _measured(self) -> Iterator[tuple[str, tuple[float, float]]]:
        """Yield each dimension with what is used of it, and the limit."""
        return ((key, row.measured(self)) for key, row in DIMENSION_ROWS.items())

    @cached_property
    def failing(self) -> list[str]:
        """The dimensions that fail, in the document's order."""
        return [key for key, (used, limit) in self._measured() if used > limit]

    @property
    def causes(self) -> list[str]:
        """The failing dimensions with a reason of their own: protocol may only repeat others'."""
        # Too many days, and an item that nothing may replace, are errors on paper too.
        return [d for d in self.failing if d != models.Dimension.PROTOCOL or self._paper_alone]

    @property
    def repeated(self) -> list[str]:
        """The other failing dimensions that errors on paper repeat."""
        others = (_REPORTED_BY.get(category) for _, category, _ in self._error_findings)
        return [
            dimension
            for dimension in dict.fromkeys(others)
            if dimension is not None and dimension in self.failing
        ]

    @property
    def _error_findings(self) -> list[Finding]:
        return [finding for finding in self._findings if finding[0] is results.Severity.ERROR]

    @property
    def _paper_alone(self) -> list[Finding]:
        """The errors on paper that no other failing dimension reports."""
        failing, errors = self.failing, self._error_findings
        return [finding for finding in errors if _REPORTED_BY.get(finding[1]) not in failing]

    @property
    def lab_feasible(self) -> bool:
        """Whether the five lab constraints pass."""
        return not any(dimension in self.failing for dimension in models.LAB_DIMENSIONS)

    @property
    def feasible(self) -> bool:
        """Whether all dimensions pass."""
        return not self.failing

    @cached_property
    def slack(self) -> dict[str, Slack]:
        """The dimensions in numbers, in the document's order."""
        return {key: Slack(key, *amounts) for key, amounts in self._measured()}

    @property
    def cliffs(self) -> tuple[Cliff, ...]:
        """The small steps that change a lot: a staff unit more or less, the endpoint lost."""
        cliffs = [
            Cliff(step.noun, more=step.number == step.threshold)
            for step in self.staff_steps
            if 0 <= step.number - step.threshold <= 1
        ]
        if self.counts.days == self.pack.min_days:
            cliffs.append(Cliff("day", more=False, endpoint=True))
        return tuple(cliffs)

    # --- what it is worth -------------------------------------------------------------------

    @cached_property
    def substitutions(self) -> tuple[scenarios.AllowedSubstitution, ...]:
        """The substitutions that it has made."""
        listed = {item.key for item in self.items}
        return tuple(used_substitutions(listed, self.pack.allowed_substitutions))

    @cached_property
    def dropped(self) -> tuple[scenarios.Control, ...]:
        """The study's controls that it does without, in the study's order."""
        keys = self.pack.control_keys
        listed = self.control_keys
        return tuple(control for control in self.pack.controls if keys[control.name] not in listed)

    @property
    def substitution_loss(self) -> int:
        """The part of the fidelity loss that its substitutions declare."""
        return sum(row.fidelity_loss for row in self.substitutions)

    @property
    def fidelity_loss(self) -> int:
        """The fidelity given up: each substitution by its 0-3, each dropped control 1."""
        return self.substitution_loss + len(self.dropped)

    @cached_property
    def evidence_factor(self) -> float:
        """What its substitutions leave of the planning effect, in (0, 1]."""
        return math.prod(row.evidence_factor for row in self.substitutions)

    @cached_property
    def evidence(self) -> Evidence:
        """What its sample is worth at the study's planning effect."""
        return self.evidence_at(None)

    @cached_property
    def detectable_effect(self) -> float | None:
        """The smallest effect, as the study's own endpoint shows it, that it detects.

        A substitution's factor makes every effect look smaller, so the effect must be larger by it.
        None where no test exists, without evidence, and where no effect is large enough.
        """
        if self.evidence.void_reason:
            return None
        return smallest_detectable_effect(
            self.pack.design, self.evidence.able, self.evidence_factor
        )

    def evidence_at(self, effect: float | None) -> Evidence:
        """Return what its sample is worth at another effect; None is the planning effect.

        Raises:
            ValueError: the kind has no such effect.
        """
        plan, factor = self.plan, self.evidence_factor
        return evidence_of(plan.sample_size, plan.duration_days, self.pack, factor, effect)


class _Row(NamedTuple):
    """A substitution that a plan may have made.

    The sum of the costs orders sets of rows by loss, then by file order: the bits below the loss
    say which rows are taken, the first in the highest bit, so that of two sets with the same loss
    the one that takes the earlier row costs less.
    """

    original: str
    alternative: str
    cost: int


def used_substitutions(
    listed: Collection[str], rows: Sequence[scenarios.AllowedSubstitution]
) -> list[scenarios.AllowedSubstitution]:
    """Return those of the substitutions that a plan has made which lists items of these keys."""
    possible = [
        (row, label_key(row.original), label_key(row.alternative))
        for row in rows
        if label_key(row.alternative) in listed and label_key(row.original) not in listed
    ]
    alike = len({o for _, o, _ in possible}) == len({a for _, _, a in possible}) == len(possible)
    if alike:  # each stands for one item and each item has one: nothing to choose
        return [row for row, _, _ in possible]
    limit = len(possible)
    chosen = _assigned(
        [
            _Row(original, other, (row.fidelity_loss << limit) - (1 << (limit - 1 - place)))
            for place, (row, original, other) in enumerate(possible)
        ]
    )
    return [possible[place][0] for place in sorted(chosen)]


def _assigned(rows: list[_Row]) -> set[int]:
    """Return the places of the rows of the cheapest assignment that covers most originals."""
    # It grows by one original at a time, each time along the cheapest path that frees an
    # alternative (successive shortest paths), so that it is the cheapest of its size throughout.
    taken: dict[str, int] = {}  # alternative -> place of the row that takes it
    while (path := _cheapest_path(rows, taken)) is not None:
        for place in path:  # later rows take over what the rows before them let go
            taken[rows[place].alternative] = place
    return set(taken.values())


def _cheapest_path(rows: list[_Row], taken: dict[str, int]) -> list[int] | None:
    """Return the rows to take so that one original more is covered, None where none can be."""
    # Bellman-Ford over the originals: an original is reached by taking its alternative from it.
    covered = {rows[place].original for place in taken.values()}
    best: dict[str, tuple[int, list[int]]] = {
        row.original: (0, []) for row in rows if row.original not in covered
    }
    changed = True
    while changed:
        changed = False
        for place, row in enumerate(rows):
            holder = taken.get(row.alternative)
            if row.original not in best or holder is None or holder == place:
                continue
            cost, path = best[row.original]
            further = (cost + row.cost - rows[holder].cost, [*path, place])
            freed = rows[holder].original
            if freed not in best or further[0] < best[freed][0]:
                best[freed], changed = further, True
    ends = [
        (best[row.original][0] + row.cost, [*best[row.original][1], place])
        for place, row in enumerate(rows)
        if row.alternative not in taken and row.original in best
    ]
    return min(ends)[1] if ends else None
