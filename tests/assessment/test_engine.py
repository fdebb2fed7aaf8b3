"""Our check against a second engine, over plans and labs drawn at random."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from replicalab.assessment import assess
from replicalab.models import Protocol, revise
from replicalab.scenarios import Pack
from tests.assessment import engine
from tests.factories import change_pack
from tests.planner.small_labs import FORBIDDEN, small_lab

BATCH = 250
PLANS = 8
"""So many plans are tried in each lab."""


def plans(plan: Protocol, pack: Pack, rng: Random) -> Iterator[Protocol]:
    """Yield plans near a lab's limits, with items that it has, lacks, may replace or not know."""
    items = [
        *pack.study.equipment,
        *pack.study.reagents,
        *(row.alternative for row in pack.study.substitutions),
        "crystal ball",
    ]
    yield plan
    for _ in range(PLANS - 1):
        yield revise(
            plan,
            sample_size=rng.randint(0, 25),
            duration_days=rng.randint(0, 7),
            required_equipment=rng.choices(items, k=rng.randint(0, 4)),
            required_reagents=rng.choices(items, k=rng.randint(0, 3)),
            controls=rng.choices(["blank", "Blank", "an open  flame control"], k=rng.randint(0, 3)),
        )


@pytest.mark.parametrize(
    "first",
    [0, 250, *(pytest.param(n, marks=pytest.mark.long) for n in range(500, 16_000, BATCH))],
)
def test_check_is_what_a_second_engine_says(first: int) -> None:
    for seed in range(first, first + BATCH):
        original, pack = small_lab(seed)
        pack = change_pack(pack, constraints=[])
        for plan in plans(original, pack, Random(seed)):
            found = assess(plan, pack)
            assert {d.value for d in found.failing} == engine.failing(plan, pack, FORBIDDEN), seed
            assert found.cost == engine.cost(plan, pack)
            assert found.staff == engine.people(plan, pack)
