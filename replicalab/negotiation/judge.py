"""What came of a negotiation: what each side gave, and what a judge makes of its end.

The Scientist's position is the plan on the table; the Lab Manager's is its standing offer, or the
plan that it accepts. The judge knows the hidden reference, and is shown after the end and never to
an agent. The reward is for ranking many runs, and for nothing else: rigor × feasibility × fidelity,
each a share, so that no part can make up for a missing one.
"""

from typing import NamedTuple

from replicalab.assessment import Assessment
from replicalab.errors import NegotiationError
from replicalab.models import DIMENSIONS, LabManagerActionType, Role
from replicalab.negotiation.records import Negotiation, Outcome
from replicalab.planner import PlanStep
from replicalab.planner.steps import field_steps


class Judgement(NamedTuple):
    """A plan held against the hidden reference; ``agreed`` where both sides accepted it."""

    plan: Assessment
    agreed: bool

    @property
    def required(self) -> int:
        """How many elements the reference requires."""
        return len(self.plan.pack.hidden_reference_spec.required_elements)

    @property
    def missing(self) -> tuple[str, ...]:
        """The required elements that the plan does not address."""
        return self.plan.missing_elements

    @property
    def coverage(self) -> float:
        """The share of the required elements that the plan addresses; 1 when none is required."""
        return 1 - len(self.missing) / self.required if self.required else 1.0

    @property
    def attained(self) -> float:
        """How much of the evidence target the plan reaches, at most 1."""
        evidence = self.plan.evidence
        if evidence.void_reason:
            return 0.0
        return evidence.row.scale.attained(evidence.value, evidence.target)

    @property
    def rigor(self) -> float:
        """Coverage × the share of the evidence target that is reached."""
        return self.coverage * self.attained

    @property
    def feasibility(self) -> float:
        """The share of the seven dimensions that pass."""
        return 1 - len(self.plan.failing) / len(DIMENSIONS)

    @property
    def fidelity(self) -> float:
        """1 / (1 + the fidelity given up by substitutions and dropped controls)."""
        return 1 / (1 + self.plan.fidelity_loss)

    @property
    def reward(self) -> float:
        """Rigor × feasibility × fidelity, 0 without an agreement; in [0, 1]."""
        return self.rigor * self.feasibility * self.fidelity if self.agreed else 0.0


def judge(negotiation: Negotiation) -> Judgement | None:
    """Return the judgement of the last plan, None when no plan was ever on the table.

    Raises:
        NegotiationError: the negotiation is not finished.
    """
    if negotiation.outcome is None:
        raise NegotiationError("the negotiation is not finished; a judge speaks after the end")
    plan = negotiation.final_plan
    return Judgement(plan, negotiation.outcome is not Outcome.NO_DEAL) if plan else None


# --- who gave what ------------------------------------------------------------------------------


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
        accepts = done.facts.answer is LabManagerActionType.ACCEPT
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
