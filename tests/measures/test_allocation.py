"""The allocation of samples to units and of units to arms: printed values, and every other one."""

from __future__ import annotations

import math
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from replicalab.measures.allocation import UnitCosts, optimal_allocation

# The example of Shen & Kelcey (2020).
COSTS: Final = UnitCosts(sample=1, unit=5, treated_sample=1, treated_unit=50)
HALF: Final = (0.5, 0.5)


def loss(n: float, p: float, costs: UnitCosts, rho: float, explained: tuple[float, float]) -> float:
    """Return variance times cost of one unit on average."""
    variance = rho * (1 - explained[1]) + (1 - rho) * (1 - explained[0]) / n
    plain = (costs.sample * n + costs.unit) * (1 - p)
    return variance / (p * (1 - p)) * (plain + (costs.treated_sample * n + costs.treated_unit) * p)


def test_allocation_is_the_printed_one() -> None:
    found = optimal_allocation(COSTS, 0.2, HALF)
    assert found
    # The printed one comes from a numerical search, which ends 3e-6 short of the least.
    assert found == pytest.approx((8.878572, 0.326828), abs=5e-6)
    assert found.share == pytest.approx(0.326828, abs=5e-7)


def test_allocation_of_units_with_so_many_samples_is_the_printed_one() -> None:
    found = optimal_allocation(COSTS, 0.2, HALF, per_unit=20)
    assert found
    assert found == pytest.approx((20, 0.3740667), abs=5e-8)


def test_allocation_of_even_arms_is_raudenbush_s() -> None:
    # Equal costs: n is the root of the cost ratio times (1 - rho) / rho, here of 20 and 19.
    found = optimal_allocation(UnitCosts(2, 40, 2, 40), 0.05)
    assert found
    assert found == pytest.approx((math.sqrt(20 * 19), 0.5))


@given(
    st.tuples(*[st.floats(0.1, 1000)] * 4),
    st.floats(0.005, 0.95),
    st.tuples(st.floats(0, 0.9), st.floats(0, 0.9)),
)
def test_no_other_allocation_has_less_variance_for_its_cost(
    costs: tuple[float, float, float, float], rho: float, explained: tuple[float, float]
) -> None:
    at = UnitCosts(*costs)
    found = optimal_allocation(at, rho, explained)
    assert found

    def of(point: tuple[float, float]) -> float:
        return math.log(loss(math.exp(point[0]), 1 / (1 + math.exp(-point[1])), at, rho, explained))

    best = optimize.minimize(of, (1.0, 0.0), method="Nelder-Mead", options={"xatol": 1e-8})
    assert math.log(loss(*found, at, rho, explained)) <= best.fun + 1e-9


@pytest.mark.parametrize(
    ("costs", "rho"),
    [
        (UnitCosts(0, 5, 0, 50), 0.2),  # as many samples in a unit as there are
        (UnitCosts(1, 0, 1, 0), 0.2),  # as many units as samples
        (UnitCosts(0, 0, 0, 0), 0.2),
        (COSTS, 0.0),
        (COSTS, 1.0),
    ],
)
def test_there_is_no_allocation_where_one_level_is_free_or_does_not_vary(
    costs: UnitCosts, rho: float
) -> None:
    assert optimal_allocation(costs, rho) is None


@pytest.mark.parametrize("costs", [(1e-9, 1e9, 1e9, 1e-9), (1e9, 1e-9, 0.0, 1e9), (0, 1, 1, 0)])
def test_allocation_at_the_ends_of_costs_is_a_number(costs: tuple[float, ...]) -> None:
    for rho in (1e-9, 0.5, 1 - 1e-9):
        found = optimal_allocation(UnitCosts(*costs), rho)
        assert found is None or (0 < found.per_unit < math.inf and 0 < found.share < 1)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"correlation": -0.1}, "correlation is -0.1; give a number from 0 to 1"),
        ({"correlation": math.nan}, "correlation is nan; give a number from 0 to 1"),
        ({"explained": (0.5, 1.0)}, r"explained\[1\] is 1.0; give a number from 0 to below 1"),
        ({"per_unit": 0.0}, "per_unit is 0.0; give a number above 0"),
        ({"share": 1.0}, "share is 1.0; give a number between 0 and 1"),
        ({"kept": 0.0}, "kept is 0.0; give a number above 0, at most 1"),
        ({"costs": UnitCosts(1, -5, 1, 50)}, "costs.unit is -5; give a number 0 or more"),
    ],
)
def test_numbers_that_no_design_has_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}$"):
        optimal_allocation(**{"costs": COSTS, "correlation": 0.2, **changes})


def test_dropout_makes_units_larger_by_its_root() -> None:
    # With half of the samples left, twice as many are as good, at half the price of each.
    found, whole = (optimal_allocation(COSTS, 0.2, kept=kept) for kept in (0.5, 1.0))
    half = optimal_allocation(COSTS._replace(sample=2, treated_sample=2), 0.2)
    assert found
    assert whole
    assert half
    assert found == pytest.approx((2 * half.per_unit, half.share))
    assert found.per_unit > whole.per_unit
