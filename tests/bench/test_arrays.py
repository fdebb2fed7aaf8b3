"""How many plans a second the arrays judge on one core."""

from __future__ import annotations

import time
from typing import Final

import numpy as np
import pytest

from replicalab.assessment import Counts
from replicalab.planner.region import plans_fit
from replicalab.scenarios import Difficulty, Pack, list_scenarios, load_scenario
from tests.bench.measuring import hold

pytestmark = pytest.mark.bench

PLANS: Final = 1_000_000
TURNS: Final = 5
HIGHEST: Final = Counts(400, 30, 6, 5, 5)


def random_plans() -> Counts:
    """Return a million plans of any size."""
    rng = np.random.default_rng(1)
    return Counts(*(rng.integers(0, most, PLANS) for most in HIGHEST))


def processor_seconds(pack: Pack, counts: Counts) -> float:
    """Return the processor time of all checks of these plans, the best of several turns."""
    taken = []
    for _ in range(TURNS):
        began = time.process_time()
        assert plans_fit(counts, pack).all_ok.shape == (PLANS,)
        taken.append(time.process_time() - began)
    return min(taken)


@pytest.mark.parametrize("study", [study.scenario_id for study in list_scenarios()])
def test_arrays_of_plans(study: str, capsys: pytest.CaptureFixture[str]) -> None:
    seconds = processor_seconds(load_scenario(study, Difficulty.MEDIUM), random_plans())
    hold(capsys, "seconds for a million plans on arrays", seconds, study)
