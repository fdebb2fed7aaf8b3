"""Samples in units and in unlike arms: against scipy, printed values, and simulation."""

import math
from collections.abc import Callable
from itertools import pairwise, product
from typing import Final

import numpy as np
import pytest
from scipy import stats

from replicalab.assessment import evidence_value, smallest_detectable_effect
from replicalab.designs import (
    KINDS,
    LEAST_SHARE,
    DesignParameters,
    arms_of,
    design_effect,
    units_of,
)
from replicalab.scenarios import Arms, Units
from tests.designs.examples import design_of, t_power
from tests.tiers import one_in

FISH: Final = DesignParameters(alpha=0.05, per_unit=16.0, icc=0.1)
"""Four tanks of 16 in each of two arms."""

SHARES: Final = (LEAST_SHARE, 0.1, 1 / 3, 0.37, 0.5, 0.62, 0.75, 1 - LEAST_SHARE)
ARMED: Final = [kind for kind, row in KINDS.items() if "arms" in row.optional]
CLUSTERED: Final = [kind for kind, row in KINDS.items() if "units" in row.optional]


def value(kind: str, n: int, effect: float, given: DesignParameters) -> float:
    return KINDS[kind].value(n, effect, given)


@pytest.mark.parametrize(
    ("n", "share", "arms"),
    [
        (128, 0.75, (96, 32)), (7, 0.5, (3, 4)), (3, 0.95, (2, 1)), (2, 0.05, (1, 1)),
        (20, 0.05, (1, 19)), (10**9, 0.5, (5 * 10**8, 5 * 10**8)),
    ],
)  # fmt: skip
def test_arms_have_rounded_shares(n: int, share: float, arms: tuple[int, int]) -> None:
    assert arms_of(n, share) == arms


@pytest.mark.parametrize("share", SHARES)
def test_arms_never_shrink(share: float) -> None:
    sizes = np.arange(3000)
    pairs = [arms_of(int(n), share) for n in sizes]
    assert [*zip(*(part.tolist() for part in arms_of(sizes, share)), strict=True)] == pairs
    for (one, other), (extra, further) in pairwise(pairs[1:]):
        assert (one <= extra, other <= further) == (True, True)
        assert extra + further == one + other + 1
    assert all(min(arms) >= 1 for arms in pairs[2:])


def test_units_ignore_rounding_errors() -> None:
    assert [units_of(n, 16.0) for n in (0, 1, 16, 17, 64)] == [0, 1, 1, 2, 4]
    assert math.ceil(21 / 1.4) == 16  # of 15 units: 21 / 1.4 is a little more in doubles
    assert units_of(21, 1.4) == 15
    assert [units_of(n, 1e9) for n in (0, 1, 2, 10**9, 10**9 + 2)] == [0, 1, 1, 1, 2]
    assert units_of(np.array([0, 1, 2]), 1e9).tolist() == [0, 1, 1]
    assert units_of(np.array([64, 65]), 16.0).tolist() == [4, 5]


def test_design_effect_is_the_ratio_of_variances() -> None:
    # The variance of a sum adds up every pair of samples: those within a unit go together.
    within = np.full((21, 21), 0.05) + np.eye(21) * 0.95
    assert design_effect(21, 0.05) == pytest.approx(within.sum() / 21)


def test_clustered_fish_have_a_third_of_power() -> None:
    shift = 0.5 * math.sqrt(32 / (1 + 15 * 0.1))
    by_normal = stats.norm.cdf(shift - 1.959964) + stats.norm.cdf(-shift - 1.959964)
    assert by_normal == pytest.approx(0.432, abs=5e-4)
    result = value("two_group", 128, 0.5, FISH)
    assert result == pytest.approx(t_power(shift, 6, 0.05), abs=1e-9)
    assert result == pytest.approx(0.326, abs=5e-4)
    independent = value("two_group", 128, 0.5, DesignParameters(alpha=0.05))
    assert independent == pytest.approx(0.801, abs=5e-4)


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("n", [20, 61, 400])
def test_power_of_unequal_arms_agrees_with_scipy(n: int, share: float, sides: int) -> None:
    first = round(share * n)
    shift = 0.6 * math.sqrt(first * (n - first) / n)
    parameters = DesignParameters(alpha=0.02, sides=sides, share=share)
    expected = t_power(shift, n - 2, 0.02, sides)
    assert value("two_group", n, 0.6, parameters) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("correlation", [0.0, 0.03, 0.5, 1.0])
def test_one_group_is_a_t_test_of_units(correlation: float, sides: int) -> None:
    parameters = DesignParameters(alpha=0.05, sides=sides, per_unit=5.0, icc=correlation)
    expected = t_power(0.4 * math.sqrt(50 / (1 + 4 * correlation)), 9, 0.05, sides)
    for kind in ("one_sample", "paired"):
        assert value(kind, 50, 0.4, parameters) == pytest.approx(expected, abs=1e-9)


def test_design_effect_reduces_shares_and_correlations() -> None:
    parameters = DesignParameters(alpha=0.05, per_unit=11.0, icc=0.1)  # a design effect of 2
    plain = DesignParameters(alpha=0.05)
    assert value("two_proportions", 440, 0.3, parameters) == pytest.approx(
        value("two_proportions", 220, 0.3, plain), abs=1e-12
    )
    shift, critical = math.atanh(0.2) * math.sqrt(220 - 3), stats.norm.isf(0.025)
    by_z = stats.norm.sf(critical - shift) + stats.norm.cdf(-critical - shift)
    assert value("correlation", 440, 0.2, parameters) == pytest.approx(by_z, abs=1e-12)


@pytest.mark.parametrize("planned", [None, 320])
@pytest.mark.parametrize("kind", CLUSTERED)
def test_units_of_one_sample_change_nothing(kind: str, planned: int | None) -> None:
    single = DesignParameters(alpha=0.05, per_unit=1.0, icc=0.7, planned=planned)
    plain = DesignParameters(alpha=0.05)
    for n in (4, 5, 31, 200):
        assert value(kind, n, 0.3, single) == pytest.approx(value(kind, n, 0.3, plain), abs=1e-12)


@pytest.mark.parametrize("kind", CLUSTERED)
def test_each_arm_needs_two_units(kind: str) -> None:
    parameters = DesignParameters(alpha=0.05, per_unit=10.0, icc=0.01)
    arms = KINDS[kind].groups
    assert value(kind, 10 * arms, 0.9, parameters) == 0
    assert value(kind, 20 * arms, 0.9, parameters) > 0.05


@pytest.mark.parametrize("kind", ARMED)
def test_equal_arms_are_the_default(kind: str) -> None:
    even, unlike = (DesignParameters(alpha=0.05, margin=0.9, share=share) for share in (0.5, 0.8))
    plain = DesignParameters(alpha=0.05, margin=0.9)
    effect = 0.1 if kind == "equivalence" else 0.5
    for n in (2, 3, 50, 51):
        assert value(kind, n, effect, even) == value(kind, n, effect, plain)
    assert 0 < value(kind, 50, effect, unlike) < value(kind, 50, effect, plain)


def test_unequal_arms_have_their_effective_size() -> None:
    # 20 and 80 are worth as much as 32 and 32; of survival nothing else counts.
    unlike, plain = DesignParameters(alpha=0.05, share=0.2), DesignParameters(alpha=0.05)
    assert value("survival", 100, 0.5, unlike) == pytest.approx(
        value("survival", 64, 0.5, plain), abs=1e-12
    )
    power = value("equivalence", 100, 0.0, unlike._replace(margin=0.8))
    root, free, rng = 4.0, 98, np.random.default_rng(5)
    seen = rng.standard_normal(400_000), np.sqrt(rng.chisquare(free, 400_000) / free)
    within = np.abs(seen[0]) < 0.8 * root - stats.t.ppf(0.95, free) * seen[1]
    assert power == pytest.approx(within.mean(), abs=0.003)


def worth_of(counted: int, units: int, correlation: float) -> float:
    return 1 / (correlation / units + (1 - correlation) / counted)


@pytest.mark.parametrize(("dropout", "left"), [(0.1, (57, 58)), (0.3, (44, 45)), (0.8, (12, 13))])
def test_dropout_leaves_smaller_tanks_and_as_many(dropout: float, left: tuple[int, int]) -> None:
    # A tank is gone only with its last fish: of 64 in 4 tanks 44 are left, of 11 each.
    design = design_of(
        "two_group",
        effect_planning=0.5,
        dropout=dropout,
        units=Units(name="tank", samples=16.0, icc=0.1),
    )
    one, other = (worth_of(number, 4, 0.1) for number in left)
    expected = t_power(0.5 * math.sqrt(one * other / (one + other)), 6, 0.05)
    assert evidence_value(design, 128, 0.5) == pytest.approx(expected, abs=1e-9)
    minimum = smallest_detectable_effect(design, 128)
    assert minimum
    shift = minimum * math.sqrt(one * other / (one + other))
    assert t_power(shift, 6, 0.05) == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize(("n", "effect"), [(32, 0.3), (5, 0.9)])
def test_dropout_leaves_at_most_one_unit_a_sample(n: int, effect: float) -> None:
    # Half of 2 a unit: on average one is left of each.
    pairs = DesignParameters(alpha=0.05, per_unit=2.0, icc=0.7, planned=64)
    expected = t_power(effect * math.sqrt(n), n - 1)
    assert value("one_sample", n, effect, pairs) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("kind", "dropout"), one_in(4, product(CLUSTERED, [0.07, 0.5, 0.93])))
def test_evidence_of_units_never_falls(kind: str, dropout: float) -> None:
    for share, per_unit, correlation in product((0.05, 0.4, 0.5), (1.5, 16.0), (0.0, 0.3, 1.0)):
        units = Units(name="tank", samples=per_unit, icc=correlation)
        arms = Arms(share=share) if kind in ARMED else None
        design = design_of(kind, dropout=dropout, units=units, arms=arms)
        values = [evidence_value(design, n, 0.4) for n in range(1, 400)]
        assert all(extra >= one - 1e-12 for one, extra in pairwise(values))


def falls(kind: str, effect: float, given: DesignParameters, sizes: range) -> list[int]:
    values = [value(kind, n, effect, given) for n in sizes]
    return [
        n for n, (one, extra) in zip(sizes, pairwise(values), strict=False) if extra < one - 1e-12
    ]


@pytest.mark.parametrize(("kind", "share"), one_in(5, product(ARMED, SHARES)))
def test_evidence_of_unequal_arms_never_falls(kind: str, share: float) -> None:
    effects = (0.0, 0.2) if kind == "equivalence" else (0.6,)
    for effect in effects:
        for margin in (0.25, 0.5, 1.0):
            parameters = DesignParameters(alpha=0.05, margin=margin, share=share)
            assert falls(kind, effect, parameters, range(1, 400)) == []


@pytest.mark.parametrize("alpha", one_in(6, [1e-2, 1e-9, 1e-5, 1e-3, 0.3, 0.45, 0.7]))
def test_unequal_equivalence_never_falls(alpha: float) -> None:
    # In arms of 1 to 19 the power fell with one more sample of the larger, far above twice alpha.
    for share, margin in product((LEAST_SHARE, 0.25, 0.95), (0.2, 0.7, 2.0, 3.0, 6.0)):
        parameters = DesignParameters(alpha=alpha, margin=margin, share=share)
        assert falls("equivalence", 0.0, parameters, range(1, 130)) == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("units", "per_unit", "correlation", "planned"),
    [(4, 16, 0.1, 16), (9, 5, 0.3, 5), (4, 16, 0.1, 20), (9, 5, 0.3, 10)],
)
def test_power_agrees_with_simulated_unit_means(
    units: int, per_unit: int, correlation: float, planned: int
) -> None:
    rng, times = np.random.default_rng(11), 100_000
    means = []
    for effect in (0.5, 0.0):
        of_units = rng.normal(effect, math.sqrt(correlation), (times, units))
        noise = rng.normal(0, math.sqrt((1 - correlation) / per_unit), (times, units))
        means.append(of_units + noise)
    rejected = stats.ttest_ind(*means, axis=1).pvalue < 0.05
    parameters = DesignParameters(
        alpha=0.05, per_unit=planned, icc=correlation, planned=2 * units * planned
    )
    result = value("two_group", 2 * units * per_unit, 0.5, parameters)
    assert result == pytest.approx(rejected.mean(), abs=0.006)


@pytest.mark.parametrize("formula", [KINDS[kind].formula for kind in ARMED])
def test_ends_of_what_is_valid_give_a_power(
    formula: Callable[[int, float, DesignParameters], float],
) -> None:
    for share in (LEAST_SHARE, 1 - LEAST_SHARE):
        for per_unit in (1.0, 1e9):
            for correlation in (0.0, 1.0, None):
                parameters = DesignParameters(
                    alpha=0.05, margin=0.5, share=share, per_unit=per_unit, icc=correlation
                )
                for n in (1, 2, 3, 10**6, 10**9):
                    assert 0 <= formula(n, 0.1, parameters) <= 1
