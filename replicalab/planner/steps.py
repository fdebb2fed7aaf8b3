"""A step from one plan to another: what changes, what that saves, and what it loses.

Used in a suggestion (change by change), in a negotiation's ledger (round by round), and
wherever two plans are compared.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from replicalab.assessment import Assessment
from replicalab.assessment.dimensions import SuggestionChange, apply_changes
from replicalab.lexicon import label_key
from replicalab.models import PROTOCOL_FIELDS, Protocol, revise
from replicalab.scenarios import Control

# The order of the planner's and the Lab Manager's changes: what is lost is worded for it.
_IN_TURN: Final = (
    "technique",
    "required_equipment",
    "required_reagents",
    "controls",
    "duration_days",
    "sample_size",
    "rationale",
)


class FieldChange(NamedTuple):
    """A protocol field in which two plans differ; of lists only the labels that differ."""

    field: str
    before: int | str | tuple[str, ...]
    after: int | str | tuple[str, ...]


class PlanStep(NamedTuple):
    """A step from one plan to another, and the suggested change that it makes, if it is one."""

    before: Assessment
    after: Assessment
    change: SuggestionChange | None = None

    @property
    def credits_saved(self) -> float:
        """Credits that the step saves; negative when it costs."""
        return self.before.cost - self.after.cost

    @property
    def evidence_changed(self) -> bool:
        """Whether the step moves the evidence at the precision shown."""
        return self.before.evidence.text != self.after.evidence.text

    @property
    def evidence_falls(self) -> bool:
        """Whether the evidence is worse after the step, at the precision shown."""
        before, after = self.before.evidence, self.after.evidence
        return self.evidence_changed and not after.row.scale.reaches(after.value, before.value)

    @property
    def newly_dropped(self) -> list[Control]:
        """The study's controls that the step gives up."""
        before = {control.name for control in self.before.dropped}
        return [control for control in self.after.dropped if control.name not in before]

    @property
    def fields(self) -> list[FieldChange]:
        """Every field that differs, in the protocol's order."""
        return differences(self.before.plan, self.after.plan)


def change_steps(
    plan: Assessment, changes: Iterable[SuggestionChange], known: list[Assessment] | None = None
) -> list[PlanStep]:
    """Return each of a suggestion's changes to a plan as a step, applied one after the other.

    ``known`` are plans of the same lab that are judged already; it grows.
    """
    steps, known = [], [plan] if known is None else known
    for change in changes:
        after = judged(apply_changes(plan.plan, [change]), plan, known)
        steps.append(PlanStep(plan, after, change))
        plan = after
    return steps


def field_steps(before: Assessment, after: Assessment) -> list[PlanStep]:
    """Return the way from one plan to another, one field at a time in the planner's order."""
    steps: list[PlanStep] = []
    differing = {change.field for change in differences(before.plan, after.plan)}
    for name in (field for field in _IN_TURN if field in differing):
        start = steps[-1].after if steps else before
        revised = revise(start.plan, **{name: getattr(after.plan, name)})
        steps.append(PlanStep(start, judged(revised, start, [before, after])))
    return steps


def judged(revised: Protocol, plan: Assessment, known: list[Assessment]) -> Assessment:
    """Return a revised plan's assessment: the known one, or a new one, which is known then."""
    for same in known:
        if same.plan == revised:
            return same
    known.append(plan.revised(revised))
    return known[-1]


def differences(before: Protocol, after: Protocol) -> list[FieldChange]:
    """Return every field in which two plans differ; labels only as they come or go."""
    changes = []
    for name in PROTOCOL_FIELDS:
        old, new = getattr(before, name), getattr(after, name)
        if old == new:
            continue
        if not isinstance(old, list):
            changes.append(FieldChange(name, old, new))
        elif any(labels := (_only(old, new), _only(new, old))):
            changes.append(FieldChange(name, *labels))
    return changes


def _only(these: list[str], others: list[str]) -> tuple[str, ...]:
    rest = Counter(map(label_key, others))
    texts = []
    for label in these:
        rest[label_key(label)] -= 1
        if rest[label_key(label)] < 0:
            texts.append(label)
    return tuple(texts)
