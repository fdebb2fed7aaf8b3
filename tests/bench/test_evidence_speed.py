"""What a value of evidence costs, each with empty caches. Printed, never asserted."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Final

import pytest

from replicalab.assessment import smallest_detectable_effect
from replicalab.measures import KINDS, DesignKind, Given, distributions
from tests.bench.measuring import forget, say
from tests.factories import make_design
from tests.measures.designs import design_of, effect_of

pytestmark = pytest.mark.bench
SIZES: Final = range(30, 530)


def microseconds(work: Callable[[], object], times: int = 5) -> float:
    """Return the best of several times of one call, each with empty caches."""

    def once() -> float:
        forget()
        began = time.perf_counter()
        work()
        return (time.perf_counter() - began) * 1e6

    return min(once() for _ in range(times))


@pytest.mark.parametrize("kind", DesignKind)
def test_cost_of_one_cold_value(kind: DesignKind, capsys: pytest.CaptureFixture[str]) -> None:
    given, effect = Given.by(design_of(kind)), effect_of(kind, 0.3)

    def all_sizes() -> None:
        for n in SIZES:
            KINDS[kind].value(n, effect, given)

    say(capsys, f"{kind}: {microseconds(all_sizes) / len(SIZES):.1f} microseconds a value")


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
