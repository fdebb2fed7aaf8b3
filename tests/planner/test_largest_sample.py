"""The most samples that a lab can afford with everything else as planned."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.assessment import assess
from replicalab.models import Protocol, revise
from replicalab.planner import largest_sample
from replicalab.scenarios import (
    Bounds,
    Pack,
    StaffModel,
)
from tests.factories import make_design, make_pack, make_protocol, make_throughput
from tests.planner.brute_force import can_count
from tests.planner.small_labs import opened, shipped
from tests.tiers import EVERY_LAB

_MOST: Final = 60


def _fits(plan: Protocol, samples: int, pack: Pack) -> bool:
    sized = assess(revise(plan, sample_size=samples), pack)
    held = [limit for limit in pack.limits if limit.hard and limit.number is Bounds.SAMPLES]
    return (
        sized.cost <= pack.lab.budget
        and sized.staff <= pack.lab.staff
        and len(plan.controls) < samples <= can_count(plan.duration_days, pack)
        and all(limit.allows(samples) for limit in held)
    )


def test_largest_sample_is_the_last_that_fits_of_all_tried() -> None:
    nones = bounded = 0
    for seed in range(500):
        plan, pack = opened(seed).yours.plan, opened(seed).yours.pack
        found = largest_sample(plan, pack)
        fitting = [n for n in range(1, _MOST) if _fits(plan, n, pack)]
        if found is not None and found >= _MOST:
            assert fitting == list(range(min(fitting), _MOST))
            assert _fits(plan, found, pack)
            continue
        assert found == max(fitting, default=None)
        nones, bounded = nones + (found is None), bounded + (found is not None)
    assert min(nones, bounded) > 50


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
def test_largest_sample_of_a_shipped_lab_is_the_published_one(study: str, lab: str) -> None:
    options = shipped(study, lab)
    pack, published = options.yours.pack, options.yours.pack.expected
    assert published is not None
    if published.largest_sample is not None:
        found = largest_sample(options.offered.plan, pack)
        assert found is not None
        assert min(found, options.yours.counts.samples) == published.largest_sample


@pytest.mark.parametrize(
    ("pack", "largest"),
    [
        (make_pack(budget=650 + 10 * 57.9), 57),
        (make_pack(staff=1), 20),
        (make_pack(samples_per_day=make_throughput(value=6)), 30),
        (make_pack(design=make_design(population_max=44)), 44),
        (make_pack(budget=650 + 20), None),
        (make_pack(staff=1, staff_model=StaffModel(base=2)), None),
        (make_pack(design=make_design(population_max=2)), None),
    ],
)
def test_largest_sample_is_bounded_by(pack: Pack, largest: int | None) -> None:
    # The plan without samples costs 650 credits and has two controls.
    assert largest_sample(make_protocol(), pack) == largest
