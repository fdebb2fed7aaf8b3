"""What a judge, who knows the hidden reference, makes of a finished negotiation.

Shown after the end and never to an agent. The reward is for ranking many runs, and for nothing
else: rigor × feasibility × fidelity, each a share, so that no part can make up for a missing one.
"""

from __future__ import annotations

from dataclasses import dataclass

from replicalab.agents import FeasibilityCheckResult
from replicalab.concessions import PlanPrice, price
from replicalab.errors import NegotiationError
from replicalab.evidence import Evidence
from replicalab.models import DIMENSIONS, Protocol
from replicalab.negotiation.records import Outcome, Trace
from replicalab.scenarios import Pack
from replicalab.validation import missing_elements


@dataclass(frozen=True)
class Judgement:
    """A plan held against the hidden reference.

    Attributes:
        agreed: whether both sides accepted a plan.
        required, missing: the elements that the reference requires, and those not addressed.
        price: what the plan costs, buys and gives up.
        passing: how many of the seven dimensions pass.
        attained: how much of the evidence target the plan reaches, at most 1.
    """

    agreed: bool
    required: tuple[str, ...]
    missing: tuple[str, ...]
    price: PlanPrice
    passing: int
    attained: float

    @property
    def coverage(self) -> float:
        """The share of the required elements that the plan addresses; 1 when none is required."""
        return 1 - len(self.missing) / len(self.required) if self.required else 1.0

    @property
    def rigor(self) -> float:
        """Coverage × the share of the evidence target that is reached."""
        return self.coverage * self.attained

    @property
    def feasibility(self) -> float:
        """The share of the seven dimensions that pass."""
        return self.passing / len(DIMENSIONS)

    @property
    def fidelity(self) -> float:
        """1 / (1 + the fidelity given up by substitutions and dropped controls)."""
        return 1 / (1 + self.price.loss)

    @property
    def reward(self) -> float:
        """Rigor × feasibility × fidelity, 0 without an agreement; in [0, 1]."""
        return self.rigor * self.feasibility * self.fidelity if self.agreed else 0.0


def judge(trace: Trace, scenario: Pack) -> Judgement | None:
    """Return the judgement of the last plan, None when no plan was ever on the table.

    Raises:
        NegotiationError: the negotiation is not finished.
    """
    if trace.outcome is None:
        raise NegotiationError("the negotiation is not finished; a judge speaks after the end")
    last = trace.rounds[-1]
    if last.plan is None or last.check is None:
        return None
    return judge_plan(last.plan, last.check, scenario, agreed=trace.outcome is not Outcome.NO_DEAL)


def judge_plan(
    plan: Protocol,
    check: FeasibilityCheckResult,
    scenario: Pack,
    *,
    agreed: bool,
) -> Judgement:
    """Return the judgement of a checked plan."""
    priced = price(plan, scenario)
    return Judgement(
        agreed=agreed,
        required=tuple(scenario.hidden_reference_spec.required_elements),
        missing=tuple(missing_elements(plan, scenario)),
        price=priced,
        passing=len(DIMENSIONS) - len(check.failing),
        attained=_attained(priced.evidence),
    )


def _attained(evidence: Evidence) -> float:
    if evidence.void:
        return 0.0
    return evidence.row.scale.attained(evidence.value, evidence.target)
