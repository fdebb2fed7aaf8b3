"""What a judge, who knows the hidden reference, makes of a finished negotiation.

Shown after the end and never to an agent. The reward is for ranking many runs, and for nothing
else: rigor × feasibility × fidelity, each a share, so that no part can make up for a missing one.
"""

from __future__ import annotations

from typing import NamedTuple

from replicalab.assessment import Assessment
from replicalab.errors import NegotiationError
from replicalab.models import DIMENSIONS
from replicalab.negotiation.records import Negotiation, Outcome


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
        if evidence.void:
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
