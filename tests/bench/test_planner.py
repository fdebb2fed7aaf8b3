"""What the planner costs on the dearest shipped lab."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import pytest

from replicalab.planner import asks, frontier, least_loss
from replicalab.scenarios import Difficulty, Pack, list_scenarios, load_scenario
from tests.bench.measuring import BARS, forget, hold, say

pytestmark = pytest.mark.bench

LABS: Final = [load_scenario(s.scenario_id, lab) for s in list_scenarios() for lab in Difficulty]
TURNS: Final = 5

SEARCHES: Final[dict[str, Callable[[Pack], object]]] = {
    "least_loss": lambda pack: least_loss(pack.reference_protocol, pack),
    "asks": lambda pack: asks(pack.reference_protocol, pack),
    "frontier": lambda pack: frontier(pack, pack.reference_protocol),
}


def milliseconds(work: Callable[[Pack], object], lab: int) -> float:
    """Return the best of several times of one call, each with empty caches."""

    def once() -> float:
        forget()
        began = time.perf_counter()
        work(LABS[lab])
        return (time.perf_counter() - began) * 1000

    return min(once() for _ in range(TURNS))


@pytest.mark.parametrize("name", SEARCHES)
def test_search_on_the_dearest_study(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    taken, lab = max((milliseconds(SEARCHES[name], lab), lab) for lab in range(len(LABS)))
    pack = LABS[lab]
    where = f"on {pack.scenario_id} {pack.difficulty}, the dearest lab"
    if f"{name}, ms" in BARS:
        hold(capsys, f"{name}, ms", taken, where)
    else:
        say(capsys, f"{name}: {taken:.1f} ms {where}")
