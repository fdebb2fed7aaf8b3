"""The least number that will do: of smooth powers, of steps, and of what never does."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from replicalab.designs.distributions import least_reaching


@given(st.floats(1e-9, 1e12), st.floats(0.001, 50), st.floats(0.02, 0.999999))
@example(root=1.0, steep=1.0, wanted=0.5)
def test_least_effect_is_that_of_a_power_worked_backwards(
    root: float, steep: float, wanted: float
) -> None:
    at = stats.norm.ppf(wanted)
    found = least_reaching(
        lambda x: float(stats.norm.cdf(at + steep * (x / root - 1))), wanted, 1e15
    )
    assert found is not None
    if stats.norm.cdf(at - steep) < wanted:
        assert found == pytest.approx(root, rel=1e-11 / min(1.0, steep) * (1 + abs(at)))


@given(st.floats(1e-9, 1e12), st.floats(0, 0.5), st.floats(0.51, 1))
def test_least_effect_of_a_step_is_where_it_rises(root: float, low: float, high: float) -> None:
    asked = list[float]()

    def power(x: float) -> float:
        asked.append(x)
        return high if x >= root else low

    found = least_reaching(power, 0.505, 1e15)
    assert found is not None
    assert root <= found <= root * (1 + 1e-11)
    assert len(asked) < 250


def test_least_effect_is_none_where_nothing_reaches_and_zero_where_all_does() -> None:
    assert least_reaching(lambda _: 0.4, 0.5, 1e15) is None
    assert least_reaching(lambda _: 0.4, 0.4, 1e15) == 0
    assert least_reaching(lambda x: x, 1.0, 1.0) == pytest.approx(1.0, rel=1e-12)
    assert least_reaching(lambda x: min(1.0, x), math.nextafter(1, 0), 1e15) == pytest.approx(1)
