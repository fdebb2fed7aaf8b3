"""A plan in a lab: its needs, wording, fidelity and evidence."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Final, NamedTuple

from replicalab import lexicon, models, scenarios
from replicalab.assessment import costs
from replicalab.assessment.evidence import Evidence, evidence_of, smallest_detectable_effect
from replicalab.lexicon import label_key

# All fields of a plan but its numbers
words_of_plan: Final = attrgetter(
    *[name for name in models.PROTOCOL_FIELDS if name not in models.NUMBER_FIELDS]
)


@dataclass(frozen=True, repr=False)
class PlanInLab:
    """A plan in a lab; each value is computed when first read."""

    plan: models.Protocol
    pack: scenarios.Pack

    @cached_property
    def counts(self) -> costs.Counts:
        return costs.counts_of(self.plan, self.pack)

    @cached_property
    def cost(self) -> float:
        return costs.credits_needed(self.counts, self.pack)

    @property
    def cost_terms(self) -> tuple[costs.CostTerm, ...]:
        return costs.cost_terms(self.counts, self.pack, costs.own_prices(self.plan, self.pack))

    @cached_property
    def staff(self) -> int:
        return int(costs.staff(self.counts, self.pack.staff_model))

    @property
    def staff_steps(self) -> tuple[costs.StaffStep, ...]:
        return costs.staff_steps(self.counts, self.pack.staff_model)

    @cached_property
    def items(self) -> tuple[scenarios.Item, ...]:
        plan, items = self.plan, self.pack.inventory.items
        return (
            *items(plan.required_equipment, "equipment"),
            *items(plan.required_reagents, "reagent"),
        )

    @cached_property
    def missing_items(self) -> tuple[scenarios.Item, ...]:
        free = scenarios.ItemStatus.AVAILABLE
        return tuple([item for item in self.items if item.status is not free])

    @cached_property
    def control_keys(self) -> tuple[str, ...]:
        keys = self.pack.control_keys
        return tuple([keys.get(name) or label_key(name) for name in self.plan.controls])

    @cached_property
    def parts(self) -> frozenset[str]:
        """The words of all its texts, folded; an apostrophe ends a word."""
        values = words_of_plan(self.plan)
        texts = [value if isinstance(value, str) else "\n".join(value) for value in values]
        return lexicon.parts_of("\n".join(texts))

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        rules = self.pack.study.policy_rules
        return tuple(violations(models.texts_of(self.plan), self.parts, rules))

    @cached_property
    def missing_elements(self) -> tuple[str, ...]:
        elements = self.pack.study.hidden_reference.required_elements
        return tuple(text for text in elements if not lexicon.content_words(text) <= self.parts)

    @cached_property
    def broken_limits(self) -> list[scenarios.StudyLimit]:
        limits = self.pack.limits
        return [limit for limit in limits if not limit.allows(self.bounded(limit))]

    @cached_property
    def broken_wishes(self) -> tuple[scenarios.StudyLimit, ...]:
        return tuple(limit for limit in self.broken_limits if not limit.hard)

    def bounded(self, limit: scenarios.StudyLimit) -> float:
        if limit.number is scenarios.Bounds.EVIDENCE:
            return self.evidence.value
        counts = self.counts
        return float(counts.days if limit.number is scenarios.Bounds.DAYS else counts.samples)

    @cached_property
    def substitutions(self) -> tuple[scenarios.AllowedSubstitution, ...]:
        listed = {item.key for item in self.items}
        return tuple(used_substitutions(listed, self.pack.allowed_substitutions))

    @cached_property
    def dropped(self) -> tuple[scenarios.Control, ...]:
        """The study's controls that the plan lacks, in the study's order."""
        keys, listed = self.pack.control_keys, self.control_keys
        return tuple(control for control in self.pack.controls if keys[control.name] not in listed)

    @property
    def fidelity_loss(self) -> int:
        """The fidelity given up: 0-3 for each substitution, 1 for each dropped control."""
        return sum(row.fidelity_loss for row in self.substitutions) + len(self.dropped)

    @cached_property
    def evidence_factor(self) -> float:
        """The share of the planning effect that the substitutions leave, in (0, 1]."""
        return math.prod(row.evidence_factor for row in self.substitutions)

    @cached_property
    def evidence(self) -> Evidence:
        return self.evidence_at(None)

    def evidence_at(self, effect: float | None) -> Evidence:
        plan, factor = self.plan, self.evidence_factor
        return evidence_of(plan.sample_size, plan.duration_days, self.pack, factor, effect)

    @cached_property
    def detectable_effect(self) -> float | None:
        """The smallest effect on the study's own endpoint that the plan detects, or None."""
        if self.evidence.void_reason:
            return None
        return smallest_detectable_effect(
            self.pack.design, self.evidence.usable, self.evidence_factor
        )


class _SubstitutionRow(NamedTuple):
    original: str
    alternative: str
    cost: int


def used_substitutions(
    listed: Collection[str], rows: Sequence[scenarios.AllowedSubstitution]
) -> list[scenarios.AllowedSubstitution]:
    """Return the substitutions made by a plan that lists items of these keys."""
    possible = [
        (row, label_key(row.original), label_key(row.alternative))
        for row in rows
        if label_key(row.alternative) in listed and label_key(row.original) not in listed
    ]
    alike = len({o for _, o, _ in possible}) == len({a for _, _, a in possible}) == len(possible)
    if alike:  # one alternative per item and one item per alternative: nothing to choose
        return [row for row, _, _ in possible]
    # The sum of the costs orders sets of rows by loss, then by file order: the bits below the loss
    # are the rows taken, the first in the highest bit.
    limit = len(possible)
    choices = [
        _SubstitutionRow(original, other, (row.fidelity_loss << limit) - (1 << (limit - 1 - place)))
        for place, (row, original, other) in enumerate(possible)
    ]
    # The assignment that covers most originals grows by one original at a time, each time along
    # the cheapest path that frees an alternative (successive shortest paths), so that it is the
    # cheapest of its size throughout.
    taken: dict[str, int] = {}  # alternative -> place of the row that takes it
    while (path := _cheapest_path(choices, taken)) is not None:
        for place in path:  # later rows take the alternatives that earlier ones free
            taken[choices[place].alternative] = place
    return [possible[place][0] for place in sorted(taken.values())]


def _cheapest_path(rows: list[_SubstitutionRow], taken: dict[str, int]) -> list[int] | None:
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


NEGATIONS: Final = frozenset(
    "no not never without none nobody nothing neither nor cannot avoid avoids avoiding refuse "
    "refuses forbid forbids forbidden prohibit prohibits prohibited".split()
)
_NEGATING_IDIOMS: Final = ("instead of", "rather than")
_NOT_A_NEGATION: Final = ("not only", "no doubt", "no matter", "not just", "not merely")
_CLAUSE_END: Final = re.compile(
    r"[,;:!?()\[\]\n\u2014]|\s\u2013\s|-{2,}|\.(?![^\W_])"
    r"|\b(?:but|however|although|though|yet|then|instead(?!\s+of\b))\b"
)


class Violation(NamedTuple):
    """A phrase that breaks a rule, and the protocol field that contains it."""

    restriction: str
    phrase: str
    field: str


def violations(
    texts: Sequence[tuple[str, str]], parts: frozenset[str], rules: Sequence[scenarios.PolicyRule]
) -> list[Violation]:
    """Return every forbidden phrase once per field, in the order of the rules.

    ``texts`` are pairs of a protocol field and a text, ``parts`` all their words as
    `lexicon.parts_of` gives them.
    """
    broken = [
        Violation(rule.restriction, phrase, field)
        for rule in rules
        for phrase, wanted in zip(rule.forbidden_phrases, rule.phrase_parts, strict=True)
        # Most phrases have a word that no text of the plan has, so no text need be searched.
        if wanted <= parts
        for field, text in texts
        if breaks(text, phrase)
    ]
    return list(dict.fromkeys(broken))


def breaks_policy(texts: Iterable[str], pack: scenarios.Pack) -> bool:
    fields = [("", text) for text in texts]
    parts = lexicon.parts_of("\n".join(text for _, text in fields))
    return bool(violations(fields, parts, pack.policy_rules))


def breaks(text: str, phrase: str) -> bool:
    """Return whether a clause of ``text`` contains ``phrase`` with no negation before it."""
    wanted = lexicon.words_of(phrase)
    for part in _CLAUSE_END.split(lexicon.folded(text)):
        clause = lexicon.words_of(part)
        before, match, _ = f" {clause} ".partition(f" {wanted} ")
        if clause and match and not _negated(before):
            return True
    return False


def _negated(before: str) -> bool:
    words = f"{before} "
    for idiom in _NOT_A_NEGATION:
        words = words.replace(f" {idiom} ", " ")
    if any(f" {idiom} " in words for idiom in _NEGATING_IDIOMS):
        return True
    return any(word in NEGATIONS or word.endswith("n't") for word in words.split())
