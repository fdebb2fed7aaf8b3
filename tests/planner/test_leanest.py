"""The fewest samples that would do as well, held against every smaller sample."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.assessment import Assessment, assess
from replicalab.models import revise
from replicalab.planner import leanest
from replicalab.scenarios import EvidenceTier, load_scenario
from tests.factories import change_pack, make_constraint
from tests.planner.small_labs import opened, shipped
from tests.tiers import EVERY_LAB

TARGET: Final = EvidenceTier.MEETS_TARGET


def meets(plan: Assessment, samples: int) -> bool:
    """Return whether a plan of so many samples meets the target, and paper allows them."""
    found = assess(revise(plan.plan, sample_size=samples), plan.pack)
    hard = [limit for limit in found.broken_limits if limit.hard and limit.number != "days"]
    return found.evidence.tier is TARGET and samples > plan.counts.controls and not hard


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
def test_leanest_plan_meets_the_target_and_no_smaller_one_does(study: str, lab: str) -> None:
    yours = shipped(study, lab).yours
    for plan in (yours, assess(revise(yours.plan, sample_size=2000), yours.pack)):
        lean = leanest(plan)
        if plan.evidence.tier is not TARGET:
            assert lean is None
        elif lean is None:
            assert not meets(plan, plan.counts.samples - 1)
        else:
            assert lean.plan == revise(plan.plan, sample_size=lean.counts.samples)
            assert meets(plan, lean.counts.samples)
            assert not meets(plan, lean.counts.samples - 1)


def test_leanest_plan_of_a_small_lab_is_the_first_of_all_that_meets_the_target() -> None:
    spare = 0
    for seed in range(300):
        plan = opened(seed).yours
        sizes = range(1, plan.counts.samples)
        first = next((n for n in sizes if meets(plan, n)), None)
        if plan.evidence.tier is not TARGET or not meets(plan, plan.counts.samples):
            continue
        lean = leanest(plan)
        assert (lean.counts.samples if lean else None) == first, seed
        spare += lean is not None
    assert spare > 5


def test_leanest_plan_keeps_to_the_studys_own_fewest_samples() -> None:
    pack = load_scenario("psy_stroop", "easy")
    bound = make_constraint(key="n", bounds="samples", comparator=">=", quantity=60.0)
    plan = pack.reference_protocol
    lean, held = (leanest(assess(plan, p)) for p in (pack, change_pack(pack, constraints=[bound])))
    assert lean
    assert held
    assert lean.counts.samples < 60 == held.counts.samples
