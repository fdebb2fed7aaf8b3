"""Power and detection against published tables, SciPy, quadrature and exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from replicalab.measures.distributions import (
    detection_probability,
    normal_cdf,
    t_critical,
    t_test_power,
    z_critical,
    z_test_power,
)

ALPHAS: Final = (0.001, 0.01, 0.05, 0.1, 0.5)
FREEDOMS: Final = (1, 2, 3, 4, 7, 10, 22, 62, 126, 298, 1000, 10**5, 10**6)
SHIFTS: Final = (0.0, 0.1, 0.5, 1.0, 2.0, 2.8, 4.0, 6.0, 10.0, 30.0)
EXTREME_ALPHAS: Final = (1e-12, 0.999)

MPMATH_CRITICAL: Final = (
    (1, 0.05, 12.706204736174704),
    (2, 1e-12, 999999.99999925001),
    (3, 0.021, 4.4590220753730197),
    (3, 1e-12, 13016.380799879968),
    (4, 0.05, 2.7764451051977943),
    (7, 0.999, 0.0012987305550741417),
    (10, 0.02, 2.7637694581126962),
    (30, 1e-06, 6.1190756203842168),
    (126, 0.05, 1.9789706019906287),
    (1000, 0.5, 0.67473516460700944),
    (1000000, 1e-12, 7.1305992679193231),
)

MPMATH_POWER: Final = (
    (0.01, 1, 0.05, 0.050002489710835116),
    (2.8, 1, 0.05, 0.1739794183051178),
    (2.8, 3, 1e-12, 1.9020713827660646e-11),
    (3.2, 10, 0.01, 0.53848605683064546),
    (2.5, 33, 0.05, 0.67967374392696539),
    (2.8284271247461903, 126, 0.05, 0.80145955792225414),
    (1.0, 1000, 0.999, 0.99939346918125966),
    (8.0, 1000000, 1e-12, 0.80768347471600295),
    (25.0, 1, 0.05, 0.95017664037442497),
    (60.0, 2, 0.001, 0.97265442351074003),
    (40.0, 3, 1e-06, 0.036927038723486012),
    (300.0, 5, 1e-12, 0.17878829961535228),
)


def scipy_power(shift: float, df: int, alpha: float) -> float:
    """Return the power from SciPy's noncentral t: NaN where its lower tail fails."""
    critical = stats.t.isf(alpha / 2, df)
    upper = stats.nct.sf(critical, df, shift)
    return float(upper + stats.nct.cdf(-critical, df, shift))


def quad_power(shift: float, df: int, alpha: float) -> float:
    """Return the power by adaptive quadrature over SciPy's chi density of the scale."""
    critical = stats.t.isf(alpha / 2, df)
    scale = stats.chi(df, scale=1 / math.sqrt(df))

    def given(s: float) -> float:
        tails = stats.norm.cdf(shift - critical * s) + stats.norm.cdf(-shift - critical * s)
        return float(tails * scale.pdf(s))

    turn = shift / critical
    spread = 10 / math.sqrt(df)
    points = [p for p in (max(1 - spread, 1e-9), turn, 1.0) if 0 < p < 1 + spread]
    value, _ = integrate.quad(
        given, 0, 1 + spread, points=sorted(points), limit=500, epsabs=1e-12, epsrel=1e-12
    )
    return float(value)


# Student's t table, two-sided 5 % and 1 % points, as printed in statistics textbooks (e.g. Fisher
# & Yates, Statistical Tables, Table III).
@pytest.mark.parametrize(
    ("df", "five", "one"),
    [
        (1, 12.706, 63.657),
        (2, 4.303, 9.925),
        (5, 2.571, 4.032),
        (10, 2.228, 3.169),
        (30, 2.042, 2.750),
        (120, 1.980, 2.617),
    ],
)
def test_t_critical_agrees_with_the_printed_table(df: int, five: float, one: float) -> None:
    assert t_critical(df, 0.05) == pytest.approx(five, abs=5e-4)
    assert t_critical(df, 0.01) == pytest.approx(one, abs=5e-4)


@pytest.mark.parametrize("alpha", [*ALPHAS, *EXTREME_ALPHAS, 0.0199, 0.0201, 1e-6, 0.99])
@pytest.mark.parametrize("df", FREEDOMS)
def test_t_critical_agrees_with_scipy(df: int, alpha: float) -> None:
    # SciPy keeps about twelve digits here (its own tail probability differs from alpha by that).
    assert t_critical(df, alpha) == pytest.approx(stats.t.isf(alpha / 2, df), rel=1e-10)


@pytest.mark.parametrize(
    ("df", "alpha", "exact"),
    # By mpmath at 40 digits: the root of betainc(df/2, 1/2, 0, df/(df + t²)) = alpha.
    MPMATH_CRITICAL,
)
def test_t_critical_agrees_with_mpmath(df: int, alpha: float, exact: float) -> None:
    assert t_critical(df, alpha) == pytest.approx(exact, rel=2e-14)


def test_t_power_agrees_with_the_examples_of_r() -> None:
    # ?power.t.test: n = 20, delta = 1, sd = 1 gives 0.8689528 (0.8689530 with strict = TRUE).
    assert t_test_power(math.sqrt(10), 38, 0.05) == pytest.approx(0.8689530, abs=5e-8)
    # ?pwr.t.test: Cohen 1988, exercise 2.5, p. 47, and exercise 2.1, p. 40.
    assert t_test_power(0.2 * math.sqrt(60), 59, 0.10) == pytest.approx(0.4555818, abs=5e-8)
    assert t_test_power(2 / 2.8 * math.sqrt(15), 58, 0.05) == pytest.approx(0.7764889, abs=5e-8)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("df", FREEDOMS)
def test_t_power_agrees_with_scipy_wherever_scipy_has_an_answer(df: int, alpha: float) -> None:
    answers = 0
    for shift in SHIFTS:
        expected = scipy_power(shift, df, alpha)
        if not math.isnan(expected):
            answers += 1
            assert t_test_power(shift, df, alpha) == pytest.approx(expected, abs=1e-8)
    assert answers >= 4


@pytest.mark.parametrize("df", [1, 2, 5, 18, 58, 98, 298])
@pytest.mark.parametrize("shift", [0.5, 2.8, 6.0, 10.0, 20.0, 40.0])
def test_t_power_agrees_with_quadrature(df: int, shift: float) -> None:
    assert t_test_power(shift, df, 0.05) == pytest.approx(quad_power(shift, df, 0.05), abs=1e-9)


@pytest.mark.parametrize(
    ("shift", "df", "alpha", "exact"),
    # By mpmath at 40 digits: the mixture of the normal over the chi density, integrated piecewise.
    # The last rows are too far out for the sum of the Poisson mixture and test the quadrature.
    MPMATH_POWER,
)
def test_t_power_agrees_with_mpmath(shift: float, df: int, alpha: float, exact: float) -> None:
    assert t_test_power(shift, df, alpha) == pytest.approx(exact, abs=1e-13)


@pytest.mark.parametrize("df", [1, 2, 3, 5])
@pytest.mark.parametrize("alpha", [0.05, 0.001, 1e-6])
def test_t_power_does_not_jump_where_the_method_changes(df: int, alpha: float) -> None:
    # Below a shift of sqrt(500) the Poisson mixture is summed, above it the quadrature answers.
    below, above = (
        t_test_power(math.sqrt(500) * (1 + step), df, alpha) for step in (-1e-13, 1e-13)
    )
    assert above == pytest.approx(below, abs=1e-12)


def test_t_power_of_unequal_groups_agrees_with_r() -> None:
    # pwr.t2n.test(d = 0.1, n1 = 20, n2 = 30), quoted in statsmodels/stats/tests/test_power.py.
    shift = 0.1 * math.sqrt(20 * 30 / 50)
    assert t_test_power(shift, 48, 0.05) == pytest.approx(0.0633081832564667, abs=1e-12)


def test_z_power_of_unequal_groups_agrees_with_r() -> None:
    # The vignette of pwr: pwr.2p2n.test(h = 0.2, n1 = 543, n2 = 675) is "about 93 %".
    shift = 0.2 * math.sqrt(543 * 675 / (543 + 675))
    assert z_test_power(shift, 0.05) == pytest.approx(0.93, abs=5e-3)


@pytest.mark.parametrize("alpha", [5e-324, 1e-300, 1e-150, 1e-12, 0.02, 0.999, 1 - 2**-53])
@pytest.mark.parametrize("df", [1, 2, 3, 4, 10, 10**6])
def test_t_power_is_a_share_for_any_alpha_and_shift(df: int, alpha: float) -> None:
    shifts = (0.0, 1e-9, 1.0, 20.0, 30.0, 1e3, 1e60, 1e300, math.inf)
    powers = [t_test_power(shift, df, alpha) for shift in shifts]
    assert all(0 <= power <= 1 for power in powers)
    assert powers == sorted(powers)


def test_t_power_answers_where_scipy_returns_nan() -> None:
    # The case of the contract: 100 samples in two groups, d = 2.
    shift = 2 * math.sqrt(25)
    assert math.isnan(scipy_power(shift, 98, 0.05))
    assert t_test_power(shift, 98, 0.05) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("df", FREEDOMS)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_t_power_without_effect_is_alpha(df: int, alpha: float) -> None:
    assert t_test_power(0.0, df, alpha) == pytest.approx(alpha, rel=1e-9)


@given(st.floats(0, 60), st.floats(0, 10), st.sampled_from(FREEDOMS), st.sampled_from(ALPHAS))
def test_t_power_grows_with_the_shift_and_ignores_its_sign(
    shift: float, more: float, df: int, alpha: float
) -> None:
    power = t_test_power(shift, df, alpha)
    assert alpha - 1e-9 <= power <= 1
    assert t_test_power(-shift, df, alpha) == power
    assert t_test_power(shift + more, df, alpha) >= power - 1e-12


@pytest.mark.parametrize("shift", [1e3, 1e6, 1e12])
@pytest.mark.parametrize("df", FREEDOMS)
def test_t_power_of_an_enormous_effect_is_one(df: int, shift: float) -> None:
    assert t_test_power(shift, df, 0.05) == 1.0


@pytest.mark.parametrize("alpha", [*ALPHAS, *EXTREME_ALPHAS])
@pytest.mark.parametrize("shift", [*SHIFTS, -2.8, 1e6])
def test_z_power_agrees_with_scipy(shift: float, alpha: float) -> None:
    critical = stats.norm.isf(alpha / 2)
    expected = stats.norm.sf(critical - shift) + stats.norm.cdf(-critical - shift)
    assert z_test_power(shift, alpha) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("x", [-30.0, -8.0, -1.96, 0.0, 1.0, 8.0])
def test_normal_cdf_agrees_with_scipy_in_both_tails(x: float) -> None:
    assert normal_cdf(x) == pytest.approx(stats.norm.cdf(x), rel=1e-12)


@pytest.mark.parametrize("alpha", [1e-100, 1e-12, 0.05, 0.5, 0.999])
def test_z_critical_agrees_with_scipy_for_tiny_alphas_too(alpha: float) -> None:
    assert z_critical(alpha) == pytest.approx(stats.norm.isf(alpha / 2), rel=1e-13)


# The "rule of three" exactly: the least n with 1 - (1 - p)^n >= 0.95. 59 for 5 % is also Wilks's
# number for a one-sided 95 % / 95 % tolerance limit (Wilks 1941).
@pytest.mark.parametrize(("share", "least"), [(0.01, 299), (0.05, 59), (0.1, 29)])
def test_detection_needs_the_published_number_of_units(share: float, least: int) -> None:
    assert detection_probability(least, share, None) >= 0.95
    assert detection_probability(least - 1, share, None) < 0.95


@pytest.mark.parametrize("population", [1, 2, 10, 97, 633, 10_000, 10**6])
@pytest.mark.parametrize("share", [0.0, 0.005, 0.01, 0.2, 0.5, 0.9, 1.0])
def test_detection_agrees_with_the_hypergeometric(population: int, share: float) -> None:
    bad = round(share * population)
    steps = np.unique(np.linspace(0, min(population, 2000), 40, dtype=int))
    for n in map(int, steps):
        expected = stats.hypergeom.sf(0, population, bad, n)
        assert detection_probability(n, share, population) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("population", [10**3, 10**6, 10**9, 10**12, 10**15])
@pytest.mark.parametrize("n", [1, 7, 300])
def test_detection_is_exact_in_any_population(population: int, n: int) -> None:
    bad = population // 100
    none = math.prod(Fraction(population - bad - i, population - i) for i in range(n))
    expected = float(1 - none)
    assert detection_probability(n, 0.01, population) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    ("n", "bad", "population"),
    # Around the number of factors from which on they are summed by an integral, and far beyond.
    [
        (400, 1000, 10**6),
        (401, 1000, 10**6),
        (401, 401, 53_000),
        (5000, 401, 10**5),
        (10**4, 10**5, 10**9),
    ],
)
def test_detection_is_exact_for_many_factors(n: int, bad: int, population: int) -> None:
    fewer, more = sorted((n, bad))
    none = math.prod(Fraction(population - more - i, population - i) for i in range(fewer))
    found = detection_probability(n, bad / population, population)
    assert found == pytest.approx(float(1 - none), abs=1e-13)


@pytest.mark.parametrize("population", [10**4, 10**6, 10**9])
def test_detection_in_a_large_population_stays_a_share_that_grows(population: int) -> None:
    sizes = [0, 1, 399, 400, 401, 402, 9000, 10**5, 10**6, 10**9]
    for share in (1e-9, 1e-5, 1e-3, 0.3, 0.999):
        found = [detection_probability(min(n, population), share, population) for n in sizes]
        assert all(0 <= value <= 1 for value in found)
        assert found == sorted(found)


def test_detection_is_certain_once_every_good_unit_is_examined() -> None:
    assert detection_probability(8, 0.2, 10) < 1
    assert detection_probability(9, 0.2, 10) == 1.0
    assert detection_probability(10, 0.2, 10) == 1.0


def test_detection_of_nothing_is_impossible() -> None:
    assert detection_probability(10, 0.0, 10) == 0.0
    assert detection_probability(10**6, 0.0, None) == 0.0
    # A share so small that it rounds to no unit at all.
    assert detection_probability(10, 0.01, 10) == 0.0


def test_detection_without_units_is_impossible() -> None:
    assert detection_probability(0, 0.5, None) == 0.0
    assert detection_probability(0, 0.5, 100) == 0.0


@given(st.integers(1, 10**13), st.floats(0, 1), st.integers(0, 3000))
def test_detection_is_a_share_that_grows_with_n(population: int, share: float, n: int) -> None:
    for units in (population, None):
        here, next_one = (detection_probability(k, share, units) for k in (n, n + 1))
        assert 0 <= here <= next_one <= 1
