"""Interim looks against printed tables, SciPy's multivariate normal and simulated trials."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm

from replicalab.measures.looks import (
    FAMILIES,
    LEAST_ALPHA,
    MOST_ALPHA,
    MOST_POWER,
    LooksFamily,
    SequentialTest,
    evenly,
    fixed_drift,
    sequential_test,
    spent,
    stopping_rule,
)

POCOCK, OBRIEN, HSD = LooksFamily


def of(
    family: LooksFamily, analyses: int, alpha: float, power: float, sides: int = 2, **more: float
) -> SequentialTest:
    """Return the test of evenly spaced analyses."""
    shares = (*evenly(analyses - 1), 1.0)
    return sequential_test(stopping_rule(family, shares, alpha, sides, **more), alpha, power)


# Jennison & Turnbull (2000), tables 2.1 and 2.3: two-sided, of 2 to 5 analyses.
CONSTANTS: Final = [
    (POCOCK, 0.01, (2.772, 2.873, 2.939, 2.986)),
    (POCOCK, 0.05, (2.178, 2.289, 2.361, 2.413)),
    (POCOCK, 0.10, (1.875, 1.992, 2.067, 2.122)),
    (OBRIEN, 0.01, (2.580, 2.595, 2.609, 2.621)),
    (OBRIEN, 0.05, (1.977, 2.004, 2.024, 2.040)),
    (OBRIEN, 0.10, (1.678, 1.710, 1.733, 1.751)),
]


@pytest.mark.parametrize(("family", "alpha", "constants"), CONSTANTS)
def test_constants_agree_with_the_printed_tables(
    family: LooksFamily, alpha: float, constants: tuple[float, ...]
) -> None:
    for analyses, constant in enumerate(constants, start=2):
        rule = of(family, analyses, alpha, 0.9).rule
        power = 0.5 if family is OBRIEN else 0.0
        expected = [constant / share**power for share in rule.shares]
        # Half a unit of the constant's last digit.
        assert rule.bounds == pytest.approx(expected, rel=0.0005 / constant)
        assert rule.bounds[-1] == pytest.approx(constant, abs=0.00051)


@pytest.mark.parametrize(
    ("family", "power", "inflations"),
    # Jennison & Turnbull (2000), tables 2.2 and 2.4: alpha 0.05, of 2 to 5 analyses.
    [
        (POCOCK, 0.8, (1.110, 1.166, 1.202, 1.229)),
        (POCOCK, 0.9, (1.100, 1.151, 1.183, 1.207)),
        (OBRIEN, 0.8, (1.008, 1.017, 1.024, 1.028)),
        (OBRIEN, 0.9, (1.007, 1.016, 1.022, 1.026)),
    ],
)
def test_inflation_agrees_with_the_printed_tables(
    family: LooksFamily, power: float, inflations: tuple[float, ...]
) -> None:
    for analyses, inflation in enumerate(inflations, start=2):
        assert of(family, analyses, 0.05, power).inflation == pytest.approx(inflation, abs=0.00051)


def test_five_one_sided_analyses_that_spend_the_level_agree_with_printed_values() -> None:
    # gsDesign's manual: k = 5, one-sided 0.025, power 0.9, Hwang-Shih-DeCani -4.
    found = of(HSD, 5, 0.025, 0.9, sides=1, gamma=-4.0)
    assert [round(bound, 2) for bound in found.rule.bounds] == [3.25, 2.99, 2.69, 2.37, 2.03]
    assert found.inflation == pytest.approx(1.023, abs=0.0005)
    assert found.expected(effect=False) == pytest.approx(1.0197, abs=0.00005)
    assert found.expected(effect=True) == pytest.approx(0.7366, abs=0.00005)


def test_four_pocock_analyses_agree_with_printed_values() -> None:
    # As printed elsewhere, in percent: 118.3143, 115.6074 and 69.74805; their solver stops at 1e-6.
    found = of(POCOCK, 4, 0.05, 0.9)
    assert found.inflation == pytest.approx(1.183143, abs=1e-6)
    assert found.expected(effect=False) == pytest.approx(1.156074, abs=1e-6)
    assert found.expected(effect=True) == pytest.approx(0.6974805, abs=1e-6)


def going_on(found: SequentialTest, drift: float) -> list[float]:
    """Return the probability of crossing no bound up to each analysis, by SciPy."""
    shares, bounds = np.array(found.rule.shares), np.array(found.rule.bounds)
    low = -bounds if found.rule.sides > 1 else np.full(len(bounds), -np.inf)
    first, second = np.minimum.outer(shares, shares), np.maximum.outer(shares, shares)
    correlations = np.sqrt(first / second)
    left = []
    for k in range(1, len(shares) + 1):
        z = multivariate_normal(drift * np.sqrt(shares[:k]), correlations[:k, :k], seed=1)
        z.maxpts, z.abseps, z.releps = 500_000, 1e-7, 1e-7
        left.append(float(z.cdf(bounds[:k], lower_limit=low[:k])))
    return left


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("family", LooksFamily)
@pytest.mark.parametrize("shares", [(0.5, 1.0), (0.3, 0.35, 1.0), (0.1, 0.9, 0.95, 1.0)])
def test_chances_of_stopping_agree_with_the_multivariate_normal(
    family: LooksFamily, shares: tuple[float, ...], sides: int
) -> None:
    found = sequential_test(stopping_rule(family, shares, 0.05, sides), 0.05, 0.8)
    for drift in (0.0, found.drift):
        crossed = np.cumsum(found.rule.crossings(drift))
        assert [1 - left for left in going_on(found, drift)] == pytest.approx([*crossed], abs=5e-6)


def test_spending_leaves_what_its_formula_says() -> None:
    for gamma in (-20.0, -4.0, 0.0, 1.0, 20.0):
        shares = (0.2, 0.5, 1.0)
        crossed = np.cumsum(stopping_rule(HSD, shares, 0.05, 2, gamma).crossings(0.0))
        # Hwang, Shih & DeCani (1990): alpha (1 - exp(-gamma t)) / (1 - exp(-gamma)).
        ends = [math.exp(-gamma * t) for t in shares]
        spends = [
            (1 - e) / (1 - ends[-1]) if gamma else t for e, t in zip(ends, shares, strict=True)
        ]
        assert [*crossed] == pytest.approx([0.05 * each for each in spends], rel=1e-8)
    assert spent(1.0, -4.0) == 1


def test_test_without_looks_is_the_fixed_one() -> None:
    for family in LooksFamily:
        found = sequential_test(stopping_rule(family, (1.0,), 0.05), 0.05, 0.8)
        assert found.rule.bounds == pytest.approx((norm.isf(0.025),))
        assert found.inflation == pytest.approx(1)
        assert found.ends(effect=True) == (1.0,)
    assert fixed_drift(0.05, 0.9, 1) == pytest.approx(norm.isf(0.05) + norm.isf(0.1))
    assert fixed_drift(0.05, 0.9) == pytest.approx(norm.isf(0.025) + norm.isf(0.1))


@given(
    st.sampled_from(LooksFamily),
    st.lists(st.integers(1, 19), max_size=4, unique=True).map(sorted),
    st.sampled_from((LEAST_ALPHA, 0.001, 0.05, 0.2, MOST_ALPHA)),
    st.sampled_from((0.51, 0.8, 0.99, MOST_POWER)),
    st.sampled_from((1, 2)),
    st.sampled_from((-20.0, -4.0, 0.0, 1.0, 20.0)),
)
def test_any_looks_keep_the_level_and_have_the_power(
    family: LooksFamily, places: list[int], alpha: float, power: float, sides: int, gamma: float
) -> None:
    shares = (*(place / 20 for place in places), 1.0)
    rule = stopping_rule(family, shares, alpha, sides, gamma)
    found = sequential_test(rule, alpha, power)
    assert sum(rule.crossings(0.0)) == pytest.approx(alpha, rel=1e-7)
    assert sum(rule.crossings(found.drift, sides=1)) == pytest.approx(power, abs=1e-8)
    assert found.inflation >= 1 - 1e-9
    for effect in (False, True):
        ends = found.ends(effect=effect)
        assert min(ends) >= 0
        assert sum(ends) == pytest.approx(1)
        assert 0 < found.expected(effect=effect) <= found.inflation + 1e-9
    assert found.expected(effect=True) <= found.expected(effect=False) + 1e-9


@pytest.mark.parametrize("alpha", [0.0, -1.0, math.nan, 1.0, 1e308, 1e-300])
def test_level_without_bounds_is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha is"):
        stopping_rule(POCOCK, (0.5, 1.0), alpha)


@pytest.mark.parametrize("shares", [(), (0.5,), (0.5, 0.5, 1.0), (0.0, 1.0), (math.nan, 1.0)])
def test_shares_that_do_not_rise_to_the_whole_are_refused(shares: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="the shares are"):
        stopping_rule(POCOCK, shares, 0.05)


@pytest.mark.parametrize("power", [0.05, 0.0, math.nan, 1.0, 1e308])
def test_power_that_no_effect_has_is_refused(power: float) -> None:
    with pytest.raises(ValueError, match="the power is"):
        sequential_test(stopping_rule(OBRIEN, (0.5, 1.0), 0.05), 0.05, power)


@pytest.mark.long
@pytest.mark.parametrize("family", LooksFamily)
def test_chances_of_stopping_agree_with_simulated_tests(family: LooksFamily) -> None:
    paths, shares = 400_000, (0.25, 0.5, 0.8, 1.0)
    rule = stopping_rule(family, shares, 0.05)
    found = sequential_test(rule, 0.05, 0.8)
    steps = np.diff((0.0, *shares))
    noise = np.random.default_rng(20).normal(size=(paths, len(shares))) * np.sqrt(steps)
    for drift in (0.0, found.drift):
        z = np.cumsum(noise + drift * steps, axis=1) / np.sqrt(shares)
        beyond = np.abs(z) > rule.bounds
        first = np.where(beyond.any(axis=1), beyond.argmax(axis=1), len(shares))
        for place, chance in enumerate(rule.crossings(drift)):
            error = math.sqrt(chance * (1 - chance) / paths)
            assert np.mean(first == place) == pytest.approx(chance, abs=5 * error + 1e-9)


def test_every_family_has_a_row() -> None:
    assert {*FAMILIES} == {*LooksFamily}
