"""Who gave what: each step of each side in a negotiation, with what it saved and what it cost.

The Scientist's position is the plan on the table; the Lab Manager's is its standing offer, or the
plan that it accepts.
"""

from __future__ import annotations

from typing import NamedTuple

from replicalab.assessment import Assessment
from replicalab.models import LabManagerActionType, Role
from replicalab.negotiation.records import Negotiation
from replicalab.planner import PlanStep


class Gift(NamedTuple):
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
    def counts(self) -> bool:
        """Whether the step moves credits, evidence or fidelity; other words alone do not."""
        step = self.step
        same_loss = step.before.fidelity_loss == step.after.fidelity_loss
        return step.credits_saved != 0 or step.evidence_changed or not same_loss

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
    gifts: list[Gift] = []
    first: dict[Role, Assessment] = {}
    last: dict[Role, Assessment] = {}
    for done in negotiation.rounds:
        accepts = done.facts.answer is LabManagerActionType.ACCEPT
        offered = done.plan if accepts else done.after.offer
        for who, plan in ((Role.SCIENTIST, done.plan), (Role.LAB_MANAGER, offered)):
            if plan is None or (who in last and last[who].plan == plan.plan):
                continue
            if who in last:
                total = PlanStep(first[who], plan)
                gifts.append(Gift(done.number, who, PlanStep(last[who], plan), total))
            first.setdefault(who, plan)
            last[who] = plan
    return gifts
