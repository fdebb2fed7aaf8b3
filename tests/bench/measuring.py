"""Shared by the benchmarks: their bars, a stopwatch, and empty caches."""

import sys
import time
from collections.abc import Callable
from typing import Final

import pytest

from replicalab.designs import distributions, kinds, parts
from replicalab.scenarios import loading

BARS: Final[dict[str, tuple[float, float | None]]] = {
    "check / validating the plan": (12, 7),
    "new plan / validating the plan": (12, 7),
    "check in sentences / validating the plan": (50, None),
    "suggest / validating the plan": (80, None),
    "compose / validating the plan": (15, None),
    "prompt / validating the plan": (3.5, 2),
    "pack / validating the plan": (16, None),
    "negotiation / validating the plan": (500, 190),
    "job of a batch / validating the plan": (1150, None),  # with the exact optimum, for its score
    "seconds for a million plans on arrays": (0.1, None),
    "least_loss, ms": (20, 5),
    "import of replicalab.agents / of pydantic": (4.5, 2.5),
    "all studies, ms": (1000, None),
    "a thousand runs listed / read by sqlite3": (12, 6),
    "a thousand runs searched / read by sqlite3": (6, 3),
    "an edit on Protocol": (1.3, 1.0),
    "a point on Trade-offs": (1.3, 0.8),
    "a slider on Trade-offs": (2.0, 1.3),
    "a click on what is beside, Compare": (2.0, 1.5),
    "a round of a negotiation": (1.5, 0.9),
    "a slide": (1.0, 0.4),
    "move between pages": (2.0, 1.2),
    "cold start": (1.5, 1.2),
    "thirty people, p95": (0.3, None),
    "a further session, MiB": (0.6, 0.3),
}
"""The bar of each figure, beyond which a benchmark fails, and its aim.

Ratios to a yardstick in the same run, unless the name gives a unit.
"""


def say(capsys: pytest.CaptureFixture[str], line: str) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\n{line}")


def hold(capsys: pytest.CaptureFixture[str], name: str, figure: float, detail: str = "") -> None:
    value, aim = BARS[name]
    aimed = "" if aim is None else f", aim {aim:g}"
    say(capsys, f"{name}: {figure:.2f} (bar {value:g}{aimed}) {detail}".rstrip())
    assert figure <= value, f"{name} is past its bar"


def best(
    work: Callable[[], object],
    *,
    cold: bool = False,
    times: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    def once() -> float:
        if cold:
            forget()
        began = clock()
        work()
        return clock() - began

    return min(once() for _ in range(times))


def forget() -> None:
    for module in (parts, kinds, distributions, loading):
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()
