"""Criteria of success against printed values, simulation and quadrature."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from replicalab.designs.planning_effects import Basis, Criterion, chance

# --- printed values: Micheloud & Held (2022), predictive prior ----------------------------------


@pytest.mark.parametrize(
    ("alpha", "of_2", "of_4"),
    [
        (0.1, 2.64240442300288, 0.440562894751761),  # printed as one-sided at 0.05
        (0.05, 3.51088218947353, 0.567658970548963),
    ],
)
def test_printed_size_has_its_probability(alpha: float, of_2: float, of_4: float) -> None:
    for z, printed in ((2, of_2), (4, of_4)):
        found = chance(Criterion.SIGNIFICANT, printed, Basis(z, alpha))
        assert found == pytest.approx(0.8, abs=1e-12)


@pytest.mark.parametrize(("c", "printed"), [(0.5, 0.153164887002923), (2, 0.376346981956041)])
def test_power_for_significance_is_the_printed_one(c: float, printed: float) -> None:
    assert chance(Criterion.SIGNIFICANT, c, Basis(1)) == pytest.approx(printed, abs=1e-14)


def test_sizes_of_an_original_of_p_0_005_are_the_printed_ones() -> None:
    basis = Basis(float(stats.norm.isf(0.0025)))
    assert chance(Criterion.SIGNIFICANT, 1.337889, basis) == pytest.approx(0.8, abs=5e-7)
    assert chance(Criterion.SIGNIFICANT, 2, basis) == pytest.approx(0.8770, abs=5e-5)


# --- simulation and quadrature ------------------------------------------------------------------


def met(name: Criterion, t: Any, c: float, of: Basis) -> Any:
    """Return which estimates meet a criterion, by its definition and scipy alone."""
    s = 1 / math.sqrt(c)
    decided: dict[Criterion, Any] = {
        Criterion.SIGNIFICANT: stats.norm.sf(t / s) <= of.alpha / 2,
        Criterion.PREDICTION: abs(t - of.z) / math.sqrt(1 + s * s) <= stats.norm.isf(of.alpha / 2),
        Criterion.SMALL_TELESCOPES: stats.norm.cdf((t - of.telescope) / s) >= of.alpha,
    }
    return decided[name]


SETTINGS: Final = (
    (0.7, Basis(2.6, 0.05, 1.5)),
    (3.0, Basis(2.6, 0.1, 1.5)),
    (1.0, Basis(1.2, 0.1, 1.4)),
)


@pytest.mark.parametrize("name", Criterion)
def test_chance_of_a_criterion_is_that_of_a_simulation(name: Criterion) -> None:
    draws, rng = 100_000, np.random.default_rng(7)
    for c, basis in SETTINGS:
        effect = basis.z + rng.normal(0, 1, draws)
        t = effect + rng.normal(0, 1 / math.sqrt(c), draws)
        share = float(met(name, t, c, basis).mean())
        found = chance(name, c, basis)
        error = math.sqrt(max(found * (1 - found), 1e-6) / draws)
        assert found == pytest.approx(share, abs=4.5 * error)


@pytest.mark.parametrize("name", Criterion)
def test_chance_of_a_criterion_is_that_of_a_grid(name: Criterion) -> None:
    for c, basis in SETTINGS:
        sd = math.sqrt(1 + 1 / c)
        t = basis.z + sd * np.linspace(-9, 9, 400_001)
        density = stats.norm.pdf(t, basis.z, sd)
        share = float(density[met(name, t, c, basis)].sum() / density.sum())
        assert chance(name, c, basis) == pytest.approx(share, abs=2e-5)


ENDS: Final = st.sampled_from([0.0, 5e-324, 1e-9, 0.5, 1.0, 3.0, 40.0, 1e6, 1e12])


@given(
    ENDS,
    st.sampled_from([5e-324, 1e-12, 0.05, 0.5, 0.9, 1 - 1e-12]),
    ENDS,
    st.sampled_from(Criterion),
)
def test_chance_at_the_ends_of_what_is_valid_is_a_probability(
    z: float, alpha: float, telescope: float, name: Criterion
) -> None:
    for c in (0.0, 1e-12, 0.3, 1.0, 7.0, 1e12):
        assert 0 <= chance(name, c, Basis(z, alpha, telescope)) <= 1
