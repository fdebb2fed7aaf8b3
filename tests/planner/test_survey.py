"""A study in a lab at a glance: its least-loss plan, and where it stands beside other studies."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.models import Dimension
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


def test_order_of_small_labs_is_the_rule_step_by_step() -> None:
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
def test_share_is_of_the_target_and_never_more_than_all_of_it(study: str, share: float) -> None:
    result = surveyed(load_scenario(study, "medium").with_own(RICH, EvidenceAssumptions()))
    assert result.share == pytest.approx(share, abs=0.005 / 0.8)


def test_plan_that_shows_nothing_reaches_nothing_of_its_target() -> None:
    result, failing = (
        surveyed(
            load_scenario(study, "medium").with_own(
                LabOverrides(budget=budget, days=4, staff=2), EvidenceAssumptions()
            )
        )
        for study, budget in (("eco_reef_fish", 1000), ("chem_suzuki_ppb", 900))
    )
    assert result.best.evidence.void_reason
    assert result.share == 0
    assert result.best.feasible
    assert failing.best.failing == [Dimension.BUDGET]
    assert result.rank < failing.rank, "what fits comes first, whatever the evidence"
