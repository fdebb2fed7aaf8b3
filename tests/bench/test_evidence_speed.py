"""What evidence costs. Printed by `make bench`, never asserted."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import pytest

from replicalab.assessment import evidence_curve, smallest_detectable_effect
from replicalab.measures import distributions
from tests.bench.measuring import forget, say
from tests.factories import make_design

pytestmark = pytest.mark.bench

DESIGNS: Final = {
    "two groups, n = 4 to 2003": (make_design(), range(4, 2004), 0.3),
    "two groups, alpha = 1e-12": (make_design(alpha=1e-12), range(4, 2004), 0.3),
    "two groups, a million": (make_design(), range(10**6 - 2000, 10**6), 0.003),
    "correlation": (make_design(kind="correlation"), range(4, 2004), 0.3),
    "analysis of variance, three groups": (make_design(kind="anova"), range(6, 2006), 0.25),
    "equivalence": (make_design(kind="equivalence"), range(4, 2004), 0.1),
    "survival": (make_design(kind="survival"), range(4, 2004), 0.7),
    "audit of a million": (make_design(kind="audit", population_max=10**6), range(2000), 0.01),
}


def microseconds(work: Callable[[], object], times: int = 5) -> float:
    """Return the best of several times of one call, each with empty caches."""

    def once() -> float:
        forget()
        began = time.perf_counter()
        work()
        return (time.perf_counter() - began) * 1e6

    return min(once() for _ in range(times))


@pytest.mark.parametrize("name", DESIGNS)
def test_cost_of_one_cold_value(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    design, counts, effect = DESIGNS[name]
    sizes: Sequence[int] = counts
    cost = microseconds(lambda: evidence_curve(design, sizes, effect)) / len(sizes)
    say(capsys, f"{name}: {cost:.1f} microseconds a value")


@pytest.mark.parametrize("n", [10, 128, 10**4])
def test_cost_of_the_smallest_detectable_effect(n: int, capsys: pytest.CaptureFixture[str]) -> None:
    cost = microseconds(lambda: smallest_detectable_effect(make_design(), n))
    say(capsys, f"smallest detectable effect at n = {n}: {cost / 1000:.2f} ms")


def test_dearest_t_test_power(capsys: pytest.CaptureFixture[str]) -> None:
    shifts = [0.25 * step for step in range(1, 400)]
    cost = max(
        (microseconds(partial(distributions.t_test_power, shift, df, 0.05)), shift, df)
        for shift in shifts
        for df in (1, 2, 3, 10, 100)
        if shift < 20 * math.sqrt(df)
    )
    say(capsys, "dearest power: {:.0f} microseconds (shift {}, df {})".format(*cost))
