"""The concessions of a negotiation: what each side gave up, step by step.

The Scientist's position is the plan on the table; the Lab Manager's is its standing offer, or the
plan that it accepts.
"""

from typing import NamedTuple

from replicalab.assessment import Assessment
from replicalab.models import LabManagerActionType, Role
from replicalab.negotiation.records import Negotiation
from replicalab.planner import PlanStep
from replicalab.planner.steps import field_steps


class Concession(NamedTuple):
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


def ledger(negotiation: Negotiation) -> list[Concession]:
    """Return every step of both sides, in order; none in a negotiation without a second plan."""
    concessions: list[Concession] = []
    first: dict[Role, Assessment] = {}
    last: dict[Role, Assessment] = {}
    for done in negotiation.rounds:
        accepts = done.answer and done.answer.action_type is LabManagerActionType.ACCEPT
        offered = done.plan if accepts else done.after.offer
        for who, plan in ((Role.SCIENTIST, done.plan), (Role.LAB_MANAGER, offered)):
            if plan is None or (who in last and last[who].plan == plan.plan):
                continue
            if who in last:
                total = PlanStep(first[who], plan)
                concessions.append(Concession(done.number, who, PlanStep(last[who], plan), total))
            first.setdefault(who, plan)
            last[who] = plan
    return concessions


def concession_steps(negotiation: Negotiation) -> list[Concession]:
    """Return what the Scientist moved, a field at a time in the planner's order.

    One leap to another plan is so many steps as fields differ; another rationale is none.
    """
    steps = []
    for whole in ledger(negotiation):
        if whole.who is Role.SCIENTIST:
            first = whole.total.before
            for step in field_steps(whole.step.before, whole.step.after):
                if [each.field for each in step.fields] != ["rationale"]:
                    total = PlanStep(first, step.after)
                    steps.append(Concession(whole.round_number, whole.who, step, total))
    return steps
