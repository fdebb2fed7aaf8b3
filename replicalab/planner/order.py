"""The order of all plans for a lab; every recommendation, score and challenge goes by it."""

from fractions import Fraction
from typing import Final, NamedTuple

from replicalab.assessment import Assessment, assess
from replicalab.models import Protocol
from replicalab.planner.limits import TIER_RANK, step_of
from replicalab.planner.steps import differences

ORDER: Final = (
    "Least loss ranks plans by failing checks, evidence tier, minimum days, soft constraints "
    "missed, fidelity lost, evidence up to the study's own, days and samples cut, fields changed "
    "and cost."
)
"""The order in one sentence."""

GivenUp = tuple[int, int, int, int, int, float]
"""The terms of a rank up to the evidence, which do not depend on the revised plan."""


class Rank(NamedTuple):
    """The place of a plan in the order; the smaller rank is the better plan.

    Attributes:
        failing: dimensions that fail.
        tier: 0 meets the target, 1 is above the floor, 2 is below it.
        endpoint_lost: 1 if the plan has fewer days than the study's endpoint needs.
        wishes: the study's soft constraints that the plan misses.
        loss: fidelity given up; each substitution counts 0 to 3, each dropped control 1.
        evidence: in steps of 0.01, at best that of the study's protocol; see `evidence_step`.
        cuts: the shares of the study's days and samples that are cut, added up.
        changes: fields that differ from the revised plan.
        credits: the plan's cost.
        samples, days: up to the study's; negative, since more are better.
    """

    failing: int
    tier: int
    endpoint_lost: int
    wishes: int
    loss: int
    evidence: float
    cuts: Fraction
    changes: int
    credits: float
    samples: int
    days: int

    @property
    def given_up(self) -> GivenUp:
        """The terms up to the evidence."""
        return self[:6]


def rank(plan: Assessment, original: Protocol, study: Assessment | None = None) -> Rank:
    """Return the rank of a plan as a revision of the original.

    ``study`` is the study's own protocol in this lab, if it is judged already.
    """
    pack, counts = plan.pack, plan.counts
    study = study or assess(pack.reference_protocol, pack)
    own, design = study.counts, pack.design
    return Rank(
        len(plan.failing),
        TIER_RANK[plan.evidence.tier],
        int(counts.days < pack.min_days),
        len(plan.broken_wishes),
        plan.fidelity_loss,
        max(step_of(plan.evidence, design), step_of(study.evidence, design)),
        _cut(counts.samples, own.samples) + _cut(counts.days, own.days),
        len(differences(original, plan.plan)),
        plan.cost,
        -min(counts.samples, own.samples),
        -min(counts.days, own.days),
    )


def _cut(number: int, of_study: int) -> Fraction:
    return Fraction(of_study - number, of_study) if number < of_study else Fraction(0)
