"""What changes between two plans, and what each change saves and loses.

Used beside a suggestion (change by change) and in a negotiation's ledger (round by round).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from replicalab.agents.suggestions import SuggestionChange, apply_changes
from replicalab.costs import counts_of, credits_needed
from replicalab.evidence import Evidence, fidelity_loss, planned_evidence
from replicalab.lexicon import count_text, label_key
from replicalab.models import FIELD_LABELS, PROTOCOL_FIELDS, Protocol
from replicalab.scenarios import Control, Pack


@dataclass(frozen=True)
class PlanPrice:
    """What a plan costs (credits), what it buys, and what it gives up of the study.

    Attributes:
        fidelity_loss: the sum of its substitutions' losses, 0 to 3 each.
        dropped: the study's controls that the plan does without.
    """

    credits: float
    evidence: Evidence
    fidelity_loss: int
    dropped: tuple[Control, ...] = ()

    @property
    def loss(self) -> int:
        """The fidelity given up in all: a dropped control counts 1, as a declared deviation."""
        return self.fidelity_loss + len(self.dropped)


@dataclass(frozen=True)
class Concession:
    """One step from a plan to the next.

    Attributes:
        label: what changed, for people.
        before, after: the values as text.
        old, new: the price of the plan before and after this step.
    """

    label: str
    before: str
    after: str
    old: PlanPrice
    new: PlanPrice

    @property
    def credits_saved(self) -> float:
        """Credits that the step saves; negative when it costs."""
        return self.old.credits - self.new.credits

    @property
    def evidence_changed(self) -> bool:
        """Whether the step moves the evidence at the precision shown."""
        return self.old.evidence.text != self.new.evidence.text

    @property
    def evidence_text(self) -> str:
        """What happens to the evidence: ``power 0.86 → 0.58``, or that nothing does."""
        old, new = self.old.evidence, self.new.evidence
        if not self.evidence_changed:
            return f"{old.text}, unchanged"
        if old.void or new.void:
            return f"{old.text} → {new.text}"
        return f"{old.measure} {old.amount(old.value)} → {new.amount(new.value)}"


def price(protocol: Protocol, scenario: Pack) -> PlanPrice:
    """Return what a plan costs and buys in a study's lab."""
    return PlanPrice(
        credits_needed(counts_of(protocol), scenario.cost_model),
        planned_evidence(protocol, scenario),
        fidelity_loss(protocol, scenario),
        tuple(dropped_controls(protocol, scenario)),
    )


def dropped_controls(protocol: Protocol, scenario: Pack) -> list[Control]:
    """Return the study's controls that a plan does without, in the study's order."""
    kept = set(map(label_key, protocol.controls))
    return [control for control in scenario.controls if label_key(control.name) not in kept]


def change_concessions(
    protocol: Protocol, changes: Sequence[SuggestionChange], scenario: Pack
) -> list[Concession]:
    """Return each change of a suggestion with its price, applied one after the other."""
    found = []
    for change in changes:
        revised = apply_changes(protocol, [change])
        found.append(
            Concession(
                FIELD_LABELS[change.field],
                change.original,
                change.revised,
                price(protocol, scenario),
                price(revised, scenario),
            )
        )
        protocol = revised
    return found


def plan_concession(before: Protocol, after: Protocol, scenario: Pack) -> Concession:
    """Return the whole step from one plan to another as one concession."""
    fields = plan_differences(before, after)
    return Concession(
        ", ".join(field for field, _, _ in fields) or "Nothing",
        "; ".join(old for _, old, _ in fields) or "the same plan",
        "; ".join(new for _, _, new in fields) or "the same plan",
        price(before, scenario),
        price(after, scenario),
    )


def plan_differences(before: Protocol, after: Protocol) -> list[tuple[str, str, str]]:
    """Return (field label, before, after) for every field that differs; items only as changed."""
    return list(_differences(before, after))


def _differences(before: Protocol, after: Protocol) -> Iterator[tuple[str, str, str]]:
    for name in PROTOCOL_FIELDS:
        old, new = getattr(before, name), getattr(after, name)
        if old == new:
            continue
        if isinstance(old, list):
            gone, come = _only(old, new), _only(new, old)
            if gone or come:
                yield FIELD_LABELS[name], ", ".join(gone) or "\u2013", ", ".join(come) or "\u2013"
        else:
            yield FIELD_LABELS[name], _text(name, old), _text(name, new)


def _only(these: list[str], others: list[str]) -> list[str]:
    """Return the labels of ``these`` that ``others`` does not have, or has less often."""
    left = Counter(map(label_key, others))
    found = []
    for label in these:
        left[label_key(label)] -= 1
        if left[label_key(label)] < 0:
            found.append(label)
    return found


def _text(name: str, value: int) -> str:
    return count_text(value, "day") if name == "duration_days" else str(value)


def protections(protocol: Protocol, scenario: Pack) -> list[str]:
    """Return what the plan's controls protect against, a control's own name where unknown."""
    known = {label_key(control.name): control.protects_against for control in scenario.controls}
    return [known.get(label_key(label), label) for label in protocol.controls]
