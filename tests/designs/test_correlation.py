"""The power of the test of r, against the density of r, printed sizes and simulation."""

from __future__ import annotations

import math
from itertools import pairwise, product
from typing import Final

import numpy as np
import pytest
from scipy import integrate, special, stats

from replicalab.designs.exact_tests import correlation_power, correlation_wrong_sign

ALPHAS: Final = (1e-3, 0.05, 0.2)
ALL_ALPHAS: Final = (5e-324, 1e-12, 0.05, 0.5, 1 - 2**-53)
ALL_SIZES: Final = (5e-324, 1e-9, 0.5, 0.99, math.nextafter(1, 0))


def density_of_r(r: float, n: int, rho: float) -> float:
    """Return the density of a sample correlation, as by Hotelling (1953)."""
    log = (
        math.log(n - 2)
        + math.lgamma(n - 1)
        - math.lgamma(n - 0.5)
        - math.log(2 * math.pi) / 2
        + (n - 1) / 2 * math.log1p(-rho * rho)
        + (n - 4) / 2 * math.log1p(-r * r)
        - (n - 1.5) * math.log1p(-rho * r)
    )
    return math.exp(log) * float(special.hyp2f1(0.5, 0.5, n - 0.5, (rho * r + 1) / 2))


def critical_r(n: int, alpha: float) -> float:
    t = stats.t.isf(alpha / 2, n - 2)
    return float(t / math.sqrt(n - 2 + t * t))


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("n", [5, 6, 30, 200])
@pytest.mark.parametrize("rho", [0.0, 0.05, 0.5, 0.9, 0.99])
def test_power_of_the_t_test_of_r_is_that_of_the_distribution_of_r(
    rho: float, n: int, alpha: float
) -> None:
    bound = critical_r(n, alpha)
    inside, _ = integrate.quad(density_of_r, -bound, bound, args=(n, rho), epsabs=1e-10)
    assert correlation_power(n, rho, alpha) == pytest.approx(1 - inside, abs=1e-7)
    wrong, _ = integrate.quad(density_of_r, -1, -bound, args=(n, rho), epsabs=1e-10)
    assert correlation_wrong_sign(n, rho, alpha) == pytest.approx(wrong, abs=1e-7)


@pytest.mark.parametrize(("r", "n"), [(0.1, 782), (0.3, 84), (0.5, 29)])
def test_samples_of_a_correlation_are_those_of_gpowers_exact_model(r: float, n: int) -> None:
    """G*Power 3.1, bivariate normal model, two tails, alpha .05, power .80, as papers quote it."""
    assert correlation_power(n - 1, r, 0.05) < 0.80 <= correlation_power(n, r, 0.05)


@pytest.mark.long
@pytest.mark.parametrize(("n", "rho"), [(4, 0.9), (8, 0.6), (40, 0.3)])
def test_power_of_a_correlation_is_that_of_simulated_pairs(n: int, rho: float) -> None:
    random, rounds = np.random.default_rng(20261124), 200_000
    one = random.standard_normal((rounds, n))
    other = rho * one + math.sqrt(1 - rho * rho) * random.standard_normal((rounds, n))
    one -= one.mean(axis=1, keepdims=True)
    other -= other.mean(axis=1, keepdims=True)
    squares = (one**2).sum(axis=1) * (other**2).sum(axis=1)
    r = (one * other).sum(axis=1) / np.sqrt(squares)
    found = float((abs(r) > critical_r(n, 0.05)).mean())
    error = 4 * math.sqrt(found * (1 - found) / rounds)
    assert correlation_power(n, rho, 0.05) == pytest.approx(found, abs=error)


@pytest.mark.parametrize("alpha", [1e-150, 1e-12, 1e-3, 0.05, 0.2, 0.9])
def test_power_of_a_correlation_never_falls_with_n(alpha: float) -> None:
    """The planner relies on it; rounding may take 1e-13 of a power."""
    sizes = [*range(3, 60), *(round(10 ** (k / 8)) for k in range(15, 49))]
    for r in (1e-9, 0.01, 0.1, 0.3, 0.6, 0.9, 0.99, 0.999999):
        powers = [correlation_power(n, r, alpha) for n in sizes]
        falls = [(a - b) / a for a, b in pairwise(powers) if b < a]
        assert max(falls, default=0.0) < 1e-11, (alpha, r)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 201, 10**4, 10**9])
def test_power_of_a_correlation_is_one_at_the_ends_of_what_is_valid(n: int) -> None:
    for r, alpha in product(ALL_SIZES, ALL_ALPHAS):
        power, wrong = correlation_power(n, r, alpha), correlation_wrong_sign(n, r, alpha)
        assert 0 <= wrong <= power <= 1
        assert (power >= alpha) == (n > 2)
        assert wrong <= alpha / 2 + 1e-15
