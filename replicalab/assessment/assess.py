"""A plan judged once: everything that is known of a plan in a lab."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

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
from replicalab.assessment.dimensions import DIMENSION_ROWS, Finding, Slack, findings
from replicalab.assessment.evidence import (
    Evidence,
    planned_evidence,
    smallest_detectable_effect,
)
from replicalab.assessment.fidelity import used_substitutions
from replicalab.assessment.results import (
    DimensionCheck,
    FeasibilityCheckResult,
    Severity,
    ValidationIssue,
    ValidationResult,
)
from replicalab.assessment.rules import Violation, violations
from replicalab.lexicon import label_key, parts_of
from replicalab.measures import Given, UsualValue
from replicalab.models import PROTOCOL_FIELDS, Dimension, Protocol, wording_of
from replicalab.scenarios import (
    AllowedSubstitution,
    Bounds,
    Control,
    Item,
    Limit,
    Pack,
)


class Cliff(NamedTuple):
    """A small step of a plan that changes a lot: one ``noun`` ``more``, or one less.

    It loses the study's ``endpoint``, or else adds or saves a staff unit.
    """

    noun: str
    more: bool
    endpoint: bool = False


_IN_ANY_LAB: Final = (
    "parts",
    "violations",
    "missing_elements",
    "dropped",
    "evidence",
    "broken_wishes",
)
"""What of a plan depends on its study, and on no lab."""


if TYPE_CHECKING:
    from functools import cached_property as once
else:

    class once:  # noqa: N801 - a decorator, and read as one
        """A fact of an Assessment, worked out when it is first read and held from then on.

        `functools.cached_property` takes a lock until Python 3.12. A check reads ten facts, and
        the locks took a quarter of its time.
        """

        def __init__(self, work):
            self.work, self.name, self.__doc__ = work, work.__name__, work.__doc__

        def __get__(self, plan, owner):
            if plan is None:
                return self
            fact = vars(plan)[self.name] = self.work(plan)
            return fact


_WORDING: Final = tuple(
    name for name in PROTOCOL_FIELDS if name not in ("sample_size", "duration_days")
)
_BY_WORDING: Final = (
    "items",
    "parts",
    "violations",
    "missing_elements",
    "substitutions",
    "dropped",
    "evidence_factor",
)
"""What of a plan depends on its wording, and neither on its samples nor on its days."""


def assess(plan: Protocol, pack: Pack) -> Assessment:
    """Return everything that is known of a plan in a lab."""
    return Assessment(plan, pack)


@dataclass(frozen=True)
class Assessment:
    """A plan in a lab; each thing about it is worked out once, when it is first asked for."""

    plan: Protocol
    pack: Pack

    def in_lab(self, pack: Pack) -> Assessment:
        """Return the same plan in another lab of its study; what no lab changes is kept."""
        there = Assessment(self.plan, pack)
        vars(there).update((name, vars(self)[name]) for name in _IN_ANY_LAB if name in vars(self))
        return there

    def revised(self, plan: Protocol) -> Assessment:
        """Return another plan in the same lab; what its wording leaves as it was is kept."""
        there, own = Assessment(plan, self.pack), self.plan
        if all(getattr(plan, name) == getattr(own, name) for name in _WORDING):
            facts = vars(self)
            vars(there).update((name, facts[name]) for name in _BY_WORDING if name in facts)
        return there

    @once
    def counts(self) -> Counts:
        """The numbers that cost and staff depend on."""
        return counts_of(self.plan, self.pack)

    # --- what it needs ----------------------------------------------------------------------

    @once
    def cost(self) -> float:
        """What it costs, in credits."""
        return credits_needed(self.counts, self.pack.cost_model)

    @property
    def cost_terms(self) -> tuple[CostTerm, ...]:
        """The five terms of the cost, in the document's order."""
        own = own_prices(self.plan, self.pack)
        return cost_terms(self.counts, self.pack.cost_model, own)

    @once
    def staff(self) -> int:
        """How many staff units it needs."""
        return int(staff(self.counts, self.pack.staff_model))

    @property
    def staff_steps(self) -> tuple[StaffStep, ...]:
        """The steps that each may add a staff unit."""
        return staff_steps(self.counts, self.pack.staff_model)

    @once
    def items(self) -> tuple[Item, ...]:
        """What it lists as equipment, then as reagents, each label once, in its order."""
        return (
            *self._items("equipment", self.plan.required_equipment),
            *self._items("reagent", self.plan.required_reagents),
        )

    def _items(self, category: str, labels: list[str]) -> list[Item]:
        inventory = self.pack.inventory
        items = [inventory.item(label, category) for label in dict.fromkeys(labels)]
        if len(items) == len(labels):
            return items
        return [item._replace(times=labels.count(item.label)) for item in items]

    # --- the check --------------------------------------------------------------------------

    @once
    def parts(self) -> frozenset[str]:
        """The words of all its texts, folded; an apostrophe ends one."""
        plan = self.plan
        labels = (*plan.controls, *plan.required_equipment, *plan.required_reagents)
        return parts_of("\n".join((plan.technique, plan.rationale, *labels)))

    @once
    def violations(self) -> tuple[Violation, ...]:
        """The phrases by which its wording breaks a restriction."""
        rules = [rule for rule in self.pack.policy_rules if rule.may_be_broken(self.parts)]
        # Most plans say no phrase that is forbidden, so their texts need not be gathered.
        return tuple(violations(wording_of(self.plan).texts, self.parts, rules)) if rules else ()

    @once
    def missing_elements(self) -> tuple[str, ...]:
        """The required elements of the hidden reference that it does not address."""
        spec = self.pack.hidden_reference_spec
        elements = zip(spec.required_elements, spec.element_words, strict=True)
        return tuple(element for element, words in elements if not words <= self.parts)

    @property
    def broken_limits(self) -> list[Limit]:
        """The study's own constraints that its numbers break, in the study's order."""
        return [limit for limit in self.pack.limits if not limit.allows(self.bounded(limit))]

    @once
    def broken_wishes(self) -> tuple[Limit, ...]:
        """The study's soft constraints that its numbers break, in the study's order."""
        return tuple(limit for limit in self.broken_limits if not limit.hard)

    def bounded(self, limit: Limit) -> float:
        """Return the number of the plan that a constraint bounds."""
        if limit.number is Bounds.EVIDENCE:
            return self.evidence.value
        return float(self.counts.days if limit.number is Bounds.DAYS else self.counts.samples)

    @once
    def findings(self) -> tuple[Finding, ...]:
        """What is to be said of it on paper, in a fixed order."""
        return tuple(findings(self))

    @property
    def errors(self) -> list[str]:
        """The findings that make it invalid."""
        return [message for severity, _, message in self.findings if severity is Severity.ERROR]

    @once
    def validation(self) -> ValidationResult:
        """The findings, in the document's form."""
        issues = [
            ValidationIssue.trusted(
                {"severity": severity, "category": category, "message": message}
            )
            for severity, category, message in self.findings
        ]
        return ValidationResult.trusted({"valid": not self.errors, "issues": issues})

    @once
    def reasons(self) -> dict[Dimension, list[str]]:
        """Why it fails each of the seven dimensions; nothing where it passes."""
        return {dimension: row.reasons(self) for dimension, row in DIMENSION_ROWS.items()}

    @once
    def check(self) -> FeasibilityCheckResult:
        """The seven checks, in the document's form."""
        fields: dict[str, object] = {
            dimension.value: DimensionCheck.trusted({"ok": not why, "reasons": list(why)})
            for dimension, why in self.reasons.items()
        }
        fields["estimated_cost"] = self.cost
        fields["required_staff"] = self.staff
        fields["substitution_options"] = {i.label: list(i.options) for i in self.items if i.options}
        fields["validation_result"] = self.validation
        return FeasibilityCheckResult.trusted(fields)

    @once
    def failing(self) -> list[Dimension]:
        """The dimensions that fail, in the document's order."""
        return [dimension for dimension, why in self.reasons.items() if why]

    @property
    def causes(self) -> list[Dimension]:
        """The failing dimensions with a reason of their own, which a table tells."""
        return self.check.causes

    @property
    def feasible(self) -> bool:
        """Whether all seven dimensions pass."""
        return not self.failing

    @once
    def slack(self) -> dict[Dimension, Slack]:
        """The seven dimensions in numbers, in the document's order."""
        return {d: Slack(d, row.used(self), row.limit(self)) for d, row in DIMENSION_ROWS.items()}

    @property
    def cliffs(self) -> tuple[Cliff, ...]:
        """The small steps that change a lot: a staff unit more or less, the endpoint lost."""
        found = [
            Cliff(step.noun, more=step.number == step.threshold)
            for step in self.staff_steps
            if 0 <= step.number - step.threshold <= 1
        ]
        if self.counts.days == self.pack.min_days:
            found.append(Cliff("day", more=False, endpoint=True))
        return tuple(found)

    # --- what it is worth -------------------------------------------------------------------

    @once
    def substitutions(self) -> tuple[AllowedSubstitution, ...]:
        """The substitutions that it has made."""
        listed = {item.key for item in self.items}
        return tuple(used_substitutions(listed, self.pack.allowed_substitutions))

    @once
    def dropped(self) -> tuple[Control, ...]:
        """The study's controls that it does without, in the study's order."""
        kept = set(map(label_key, self.plan.controls))
        return tuple(each for each in self.pack.controls if label_key(each.name) not in kept)

    @property
    def substitution_loss(self) -> int:
        """The part of the fidelity loss that its substitutions declare."""
        return sum(row.fidelity_loss for row in self.substitutions)

    @property
    def fidelity_loss(self) -> int:
        """The fidelity given up: each substitution by its 0-3, each dropped control 1."""
        return self.substitution_loss + len(self.dropped)

    @once
    def evidence_factor(self) -> float:
        """What its substitutions leave of the planning effect, in (0, 1]."""
        return math.prod(row.evidence_factor for row in self.substitutions)

    @once
    def evidence(self) -> Evidence:
        """What its sample is worth at the study's planning effect."""
        return self.evidence_at(None)

    @once
    def detectable_effect(self) -> float | None:
        """The smallest effect, as the study's own endpoint shows it, that it detects.

        A substitution's factor makes every effect look smaller, so the effect must be larger by it.
        None where no test exists, without evidence, and where no effect is large enough.
        """
        if self.evidence.void:
            return None
        return smallest_detectable_effect(
            self.pack.design, self.evidence.able, self.evidence_factor
        )

    @once
    def usual_values(self) -> tuple[UsualValue, ...]:
        """What the usual tests have, where they differ from its evidence enough to be told."""
        return tuple(self.evidence.row.usual_values(*self._planned)) if self._planned else ()

    @once
    def wrong_sign_share(self) -> float | None:
        """How much of its power is significant with the wrong sign; None where too little."""
        return self.evidence.row.wrong_sign_share(*self._planned) if self._planned else None

    @property
    def _planned(self) -> tuple[int, float | None, Given] | None:
        """The samples that count, the effect as it is seen, and what else a formula is given."""
        evidence, design = self.evidence, self.pack.design
        given = Given.by(design, self.evidence_factor)
        return None if evidence.void else (evidence.counted, evidence.effect, given)

    def evidence_at(self, effect: float | None) -> Evidence:
        """Return what its sample is worth at another effect; None is the planning effect.

        Raises:
            ValueError: the kind has no such effect.
        """
        return planned_evidence(self.plan, self.pack, self.evidence_factor, effect)
