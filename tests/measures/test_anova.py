"""Analysis of variance: published sample sizes and powers, and the noncentral F of SciPy."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

import pytest
from scipy import stats

from replicalab.assessment import evidence_value
from replicalab.measures.beta import upper_logit
from replicalab.measures.distributions import f_test_power, t_test_power
from replicalab.scenarios import DesignKind
from tests.measures.designs import design_of

DEGREES: Final = ((1, 1), (1, 20), (2, 3), (2, 156), (3, 176), (6, 30), (50, 300), (300, 10**6))
ALPHAS: Final = (1e-12, 1e-6, 0.001, 0.05, 0.5, 0.999)
SHIFTS: Final = (0.1, 0.5, 1.0, 2.0, 3.2, 5.0, 9.0, 21.0)


def power(groups: int, n: int, effect: float, alpha: float = 0.05) -> float:
    return evidence_value(design_of(DesignKind.ANOVA, alpha, groups=groups), n, effect)


def scipy_power(groups: int, each: int, effect: float, alpha: float) -> float:
    df1, df2 = groups - 1, groups * (each - 1)
    shift = groups * each * effect**2
    return float(stats.ncf.sf(stats.f.isf(alpha, df1, df2), df1, df2, shift))


# --- published sample sizes -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "effect", "in_all"),
    # G*Power 3.1, "ANOVA: Fixed effects, omnibus, one-way", power .80 at alpha .05: total N.
    [
        (3, 0.10, 969),
        (3, 0.25, 159),
        (3, 0.40, 66),
        (4, 0.10, 1096),
        (4, 0.25, 180),
        (4, 0.40, 76),
        (5, 0.25, 200),
    ],
)
def test_power_reaches_80_percent_at_the_published_sample_size(
    groups: int, effect: float, in_all: int
) -> None:
    assert power(groups, in_all, effect) >= 0.80
    assert power(groups, in_all - 1, effect) < 0.80
    assert scipy_power(groups, in_all // groups, effect, 0.05) >= 0.80
    assert scipy_power(groups, in_all // groups - 1, effect, 0.05) < 0.80


@pytest.mark.parametrize(
    ("groups", "effect", "each"),
    # Cohen (1992), A power primer, Psychol. Bull. 112, 155-159, Table 2, alpha .05; from tables
    # 8.4.4 of his book of 1988. His n per group are rounded: .80 within 0.012.
    [
        *[(3, 0.10, 322), (3, 0.25, 52), (3, 0.40, 21)],
        *[(4, 0.10, 274), (4, 0.25, 45), (4, 0.40, 18)],
        *[(5, 0.10, 240), (5, 0.25, 39), (5, 0.40, 16)],
        *[(6, 0.10, 215), (6, 0.25, 35), (6, 0.40, 14)],
        *[(7, 0.10, 195), (7, 0.25, 32), (7, 0.40, 13)],
    ],
)
def test_power_agrees_with_cohens_primer(groups: int, effect: float, each: int) -> None:
    assert power(groups, groups * each, effect) == pytest.approx(0.80, abs=0.012)


@pytest.mark.parametrize(
    ("groups", "each", "effect", "printed", "within"),
    [
        # R's ?pwr.anova.test; Cohen (1988), exercise 8.1, p. 355.
        (4, 20, 0.28, 0.5149793, 5e-8),
        # R's ?power.anova.test: variances 1 between and 3 within; f² = (k - 1) / k × 1/3.
        (4, 5, 0.5, 0.3535594, 5e-8),
    ],
)
def test_power_agrees_with_the_printed_value(
    groups: int, each: int, effect: float, printed: float, within: float
) -> None:
    assert power(groups, groups * each, effect) == pytest.approx(printed, abs=within)
    assert scipy_power(groups, each, effect, 0.05) == pytest.approx(printed, abs=within)


@pytest.mark.parametrize(
    ("groups", "effect", "target", "each"),
    [
        # R's pwr: k = 3 and 5 at f = .25 (quoted in course notes), and Cohen's exercise 8.10.
        (3, 0.25, 0.80, 52.3966),
        (5, 0.25, 0.80, 39.1534),
        (4, 0.28, 0.80, 35.75789),
        # R's ?power.anova.test: variances 1 and 3; means 120 to 150 within a variance of 500.
        (4, 0.5, 0.80, 11.92613),
        (4, math.sqrt(125 / 500), 0.90, 15.18834),
    ],
)
def test_power_is_reached_between_the_whole_numbers_around_the_printed_size(
    groups: int, effect: float, target: float, each: float
) -> None:
    assert power(groups, groups * int(each), effect) < target
    assert power(groups, groups * (int(each) + 1), effect) >= target


# --- samples that fill no group ---------------------------------------------------------------


@pytest.mark.parametrize("groups", [2, 3, 7])
def test_samples_beyond_equal_groups_do_not_count(groups: int) -> None:
    full = power(groups, groups * 9, 0.4)
    assert [power(groups, groups * 9 + more, 0.4) for more in range(groups)] == [full] * groups
    assert power(groups, groups * 10, 0.4) > full


@pytest.mark.parametrize(("groups", "n"), [(2, 3), (3, 5), (3, 0), (10**9, 10**6)])
def test_there_is_no_test_with_less_than_two_samples_a_group(groups: int, n: int) -> None:
    assert power(groups, n, 5.0) == 0.0


@pytest.mark.parametrize("n", [4, 20, 128, 1000])
def test_two_groups_are_the_t_test_at_half_the_effect(n: int) -> None:
    t_test = evidence_value(design_of(DesignKind.TWO_GROUP), n, 0.5)
    assert power(2, n, 0.25) == pytest.approx(t_test, abs=1e-13)


# --- the noncentral F -------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("df1", "df2"), DEGREES)
def test_f_power_agrees_with_scipy(df1: int, df2: int, alpha: float) -> None:
    # SciPy's own critical value is off by 1e-6 at the smallest levels; its tail is not.
    critical = math.exp(upper_logit(df1 / 2, df2 / 2, alpha)) * df2 / df1
    assert stats.f.sf(critical, df1, df2) == pytest.approx(alpha, rel=1e-9)
    for shift in SHIFTS:
        expected = stats.ncf.sf(critical, df1, df2, shift**2)
        found = f_test_power(shift, df1, df2, alpha)
        assert found == pytest.approx(expected, abs=1e-9), shift


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("df", [1, 2, 7, 60, 10**4, 10**6])
def test_f_power_of_one_degree_of_freedom_is_the_t_test(df: int, alpha: float) -> None:
    for shift in (0.0, *SHIFTS, 22.3, 22.4, 30.0, 1e3):
        expected = t_test_power(shift, df, alpha)
        assert f_test_power(shift, 1, df, alpha) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("alpha", [1e-12, 1e-6, 0.05, 0.5])
@pytest.mark.parametrize(("df1", "df2"), [(2, 2), (2, 3), (5, 6), (100, 300), (10**5, 10**6)])
def test_f_power_does_not_jump_where_the_method_changes(df1: int, df2: int, alpha: float) -> None:
    # Below a shift of sqrt(500) the Poisson mixture is summed, above it the quadrature answers.
    below, above = (
        f_test_power(math.sqrt(500) * (1 + step), df1, df2, alpha) for step in (-1e-13, 1e-13)
    )
    assert above == pytest.approx(below, abs=1e-11)


@pytest.mark.parametrize("alpha", [1e-150, 1e-12, 0.02, 0.999, 1 - 2**-53])
@pytest.mark.parametrize(("df1", "df2"), [(1, 1), (2, 2), (2, 10**6), (499_999, 500_000)])
def test_f_power_is_a_share_for_any_alpha_and_shift(df1: int, df2: int, alpha: float) -> None:
    shifts = (0.0, 1e-9, 1.0, 20.0, 30.0, 1e3, 1e15, 1e60, 1e300, math.inf)
    powers = [f_test_power(shift, df1, df2, alpha) for shift in shifts]
    assert all(0 <= power <= 1 for power in powers)
    assert all(more >= fewer - 1e-14 for fewer, more in pairwise(powers))
    assert powers[0] == pytest.approx(alpha, rel=1e-12)
