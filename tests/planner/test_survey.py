"""A study in a lab at a glance: its least-loss plan, and where it stands beside other studies."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.planner import SurveyedStudy, surveyed
from replicalab.scenarios import EvidenceAssumptions, EvidenceTier, LabOverrides, load_scenario
from tests.planner.brute_force import ranked
from tests.planner.small_labs import small_lab

RICH: Final = LabOverrides(budget=3000, days=40)
TIERS: Final = [EvidenceTier.MEETS_TARGET, EvidenceTier.ABOVE_FLOOR, EvidenceTier.BELOW_FLOOR]


def rule(found: SurveyedStudy) -> tuple[float, ...]:
    """Return by what a study is worth less than another, first things first."""
    best = found.best
    tier = TIERS.index(best.evidence.tier)
    wishes = int(ranked(best, found.reference.plan)[3])
    return (
        *(len(best.failing), tier, wishes),
        *(-round(share(found), 12), best.fidelity_loss, best.cost),
    )


def share(found: SurveyedStudy) -> float:
    """Return how much of its target a plan reaches."""
    evidence = found.best.evidence
    if evidence.void_reason or not evidence.value:
        return 0
    is_width = evidence.measure == "half-width"
    reached = evidence.target / evidence.value if is_width else evidence.value / evidence.target
    return min(1.0, reached)


def test_order_of_studies_follows_the_rule() -> None:
    studies = sorted((surveyed(small_lab(seed)[1]) for seed in range(100)), key=lambda e: e.rank)
    worth = [rule(study) for study in studies]
    assert worth == sorted(worth)
    assert {len(study.best.failing) for study in studies} >= {0, 1}
    assert {study.best.evidence.tier for study in studies} == set(EvidenceTier)


@pytest.mark.parametrize(
    ("study", "share"),
    [
        ("ml_resnet_cifar10", 1.0),  # power 0.88 of 0.80
        ("fin_momentum", 0.52 / 0.8),
        ("phys_millikan", 1.0),  # ±1.43 % of ±1.50 %
        ("math_four_colour", 247 / 633),
    ],
)
def test_share_of_the_target_is_at_most_one(study: str, share: float) -> None:
    result = surveyed(load_scenario(study, "medium").with_own(RICH, EvidenceAssumptions()))
    assert result.share == pytest.approx(share, abs=0.005 / 0.8)
