"""The most samples that a lab can afford, and the fewest that would do as well."""

from typing import Final

import pytest

from replicalab.assessment import Assessment, assess
from replicalab.models import Protocol, revise
from replicalab.planner import largest_sample, leanest
from replicalab.scenarios import Bounds, EvidenceTier, Pack
from tests.factories import make_constraint, make_design, make_pack, make_protocol
from tests.planner.brute_force import can_count
from tests.planner.small_labs import opened
from tests.tiers import batches

_MOST: Final = 60
BATCHES: Final = pytest.mark.parametrize("seeds", batches(300, quick=100, long=2))


def _fits(plan: Protocol, samples: int, pack: Pack) -> bool:
    sized = assess(revise(plan, sample_size=samples), pack)
    limits = [limit for limit in pack.limits if limit.hard and limit.number is Bounds.SAMPLES]
    return (
        sized.cost <= pack.lab.budget
        and sized.staff <= pack.lab.staff
        and len(plan.controls) < samples <= can_count(plan.duration_days, pack)
        and all(limit.allows(samples) for limit in limits)
    )


@BATCHES
def test_largest_sample_matches_trying_all(seeds: range) -> None:
    nones = bounded = 0
    for seed in seeds:
        plan, pack = opened(seed).yours.plan, opened(seed).yours.pack
        number = largest_sample(plan, pack)
        fitting = [n for n in range(1, _MOST) if _fits(plan, n, pack)]
        if number is not None and number >= _MOST:
            assert fitting == list(range(min(fitting), _MOST))
            assert _fits(plan, number, pack)
            continue
        assert number == max(fitting, default=None)
        nones, bounded = nones + (number is None), bounded + (number is not None)
    assert min(nones, bounded) > len(seeds) / 6


TARGET: Final = EvidenceTier.MEETS_TARGET


def meets(plan: Assessment, samples: int) -> bool:
    result = assess(revise(plan.plan, sample_size=samples), plan.pack)
    hard = [limit for limit in result.broken_limits if limit.hard and limit.number != "days"]
    return result.evidence.tier is TARGET and samples > plan.counts.controls and not hard


@BATCHES
def test_leanest_plan_matches_trying_every_sample(seeds: range) -> None:
    spare = 0
    for seed in seeds:
        plan = opened(seed).yours
        lean, sizes = leanest(plan), range(1, plan.counts.samples)
        first = next((n for n in sizes if meets(plan, n)), None)
        if plan.evidence.tier is not TARGET:
            assert lean is None
        if plan.evidence.tier is not TARGET or not meets(plan, plan.counts.samples):
            continue
        assert (lean.counts.samples if lean else None) == first, seed
        spare += lean is not None
    assert spare > len(seeds) / 60


@pytest.mark.parametrize(
    ("share", "asked", "fewest"),
    [
        (0.9, [], 1),  # one file checked has an error in nine of ten cases
        # 1 - 0.6^4 = 0.87 and 1 - 0.6^5 = 0.92; the study insists on both, whichever is first
        (0.4, [0.85, 0.9], 5),
        (0.4, [0.9, 0.85], 5),
        (0.4, [0.85], 4),
    ],
)
def test_leanest_audit_meets_all_bounds(share: float, asked: list[float], fewest: int) -> None:
    pack = make_pack(
        design=make_design(kind="audit", effect_planning=share),
        constraints=[
            make_constraint(
                key=f"k{n}", bounds="evidence", comparator=">=", quantity=value, unit=None
            )
            for n, value in enumerate(asked)
        ],
    )
    lean = leanest(assess(make_protocol(controls=[]), pack))
    assert lean is not None
    assert lean.counts.samples == fewest
