"""Who gave what: each step of each side in a negotiation, with what it saved and what it cost.

The Scientist's position is the plan on the table; the Lab Manager's is its standing offer, or the
plan that it accepts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from replicalab.assessment import Assessment
from replicalab.models import LabManagerActionType, Role
from replicalab.negotiation.records import Negotiation, Round
from replicalab.planner import PlanStep


@dataclass(frozen=True)
class Gift:
    """One step of one side.

    Attributes:
        round_number: counted from 0.
        who: the side that moved.
        step: from its position before to the one after.
        total: from its first position to the one after.
    """

    round_number: int
    who: Role
    step: PlanStep
    total: PlanStep

    @property
    def gives(self) -> bool:
        """Whether the step goes towards the other side.

        The Scientist gives back credits, or gives up evidence or fidelity; the Lab Manager spends
        more.
        """
        step = self.step
        if self.who is Role.LAB_MANAGER:
            return step.credits_saved < 0
        gives_up = step.after.fidelity_loss > step.before.fidelity_loss or _is_weaker(step)
        return step.credits_saved > 0 or gives_up


def _is_weaker(step: PlanStep) -> bool:
    """Return whether a step gives up evidence, at the precision shown."""
    old, new = step.before.evidence, step.after.evidence
    if not step.evidence_changed or old.void:
        return False
    return bool(new.void) or (new.value < old.value) is not new.row.scale.lower_is_better


def ledger(negotiation: Negotiation) -> list[Gift]:
    """Return every step of both sides, in order; none in a negotiation without a second plan."""
    found: list[Gift] = []
    for who in (Role.SCIENTIST, Role.LAB_MANAGER):
        positions = list(_positions(who, negotiation))
        found += [
            Gift(number, who, PlanStep(before, after), PlanStep(positions[0][1], after))
            for (_, before), (number, after) in pairwise(positions)
            if before.plan != after.plan
        ]
    return sorted(found, key=lambda gift: (gift.round_number, gift.who is Role.LAB_MANAGER))


def _positions(who: Role, negotiation: Negotiation) -> Iterator[tuple[int, Assessment]]:
    for done in negotiation.rounds:
        position = done.plan if who is Role.SCIENTIST else _managers_position(done)
        if position is not None:
            yield done.number, position


def _managers_position(done: Round) -> Assessment | None:
    answer = done.answer.action_type if done.answer else None
    if answer is LabManagerActionType.ACCEPT:
        return done.plan
    if answer is LabManagerActionType.SUGGEST_ALTERNATIVE and done.offer:
        return done.offer.after
    return None
