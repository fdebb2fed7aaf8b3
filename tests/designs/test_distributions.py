"""Power, detection and the least number that does, against tables, SciPy and quadrature."""

import math
from fractions import Fraction
from itertools import pairwise, product
from typing import Final

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import integrate, stats

from replicalab.designs import distributions
from tests.tiers import one_in

MPMATH_CRITICAL: Final = (
    (1, 0.05, 12.706204736174704), (2, 1e-12, 999999.99999925001), (3, 0.021, 4.4590220753730197),
    (3, 1e-12, 13016.380799879968), (4, 0.05, 2.7764451051977943),
    (7, 0.999, 0.0012987305550741417), (10, 0.02, 2.7637694581126962),
    (30, 1e-06, 6.1190756203842168), (126, 0.05, 1.9789706019906287),
    (1000, 0.5, 0.67473516460700944), (1000000, 1e-12, 7.1305992679193231),
)  # fmt: skip
"""By mpmath at 40 digits: the root of betainc(df/2, 1/2, 0, df/(df + t²)) = alpha."""

MPMATH_POWER: Final = (
    (0.01, 1, 0.05, 0.050002489710835116), (2.8, 1, 0.05, 0.1739794183051178),
    (2.8, 3, 1e-12, 1.9020713827660646e-11), (3.2, 10, 0.01, 0.53848605683064546),
    (2.5, 33, 0.05, 0.67967374392696539), (2.8284271247461903, 126, 0.05, 0.80145955792225414),
    (1.0, 1000, 0.999, 0.99939346918125966), (8.0, 1000000, 1e-12, 0.80768347471600295),
    (25.0, 1, 0.05, 0.95017664037442497), (60.0, 2, 0.001, 0.97265442351074003),
    (40.0, 3, 1e-06, 0.036927038723486012), (300.0, 5, 1e-12, 0.17878829961535228),
)  # fmt: skip
"""By mpmath at 40 digits: the mixture of the normal over the chi density, integrated piecewise.

The last rows are too far out for the sum of the Poisson mixture and test the quadrature.
"""


@pytest.mark.parametrize("x", [-30.0, -1.96, 0.0, 8.0])
def test_normal_cdf_agrees_with_scipy_in_both_tails(x: float) -> None:
    assert distributions.normal_cdf(x) == pytest.approx(stats.norm.cdf(x), rel=1e-12)


@pytest.mark.parametrize("alpha", [1e-100, 1e-12, 0.05, 0.5, 0.999])
def test_z_critical_agrees_with_scipy(alpha: float) -> None:
    assert distributions.z_critical(alpha) == pytest.approx(stats.norm.isf(alpha / 2), rel=1e-13)


@pytest.mark.parametrize("alpha", [1e-12, 0.01, 0.5, 0.999])
@pytest.mark.parametrize("shift", [0.0, 0.5, 2.8, 10.0, -2.8, 1e6])
def test_z_power_agrees_with_scipy(shift: float, alpha: float) -> None:
    critical = stats.norm.isf(alpha / 2)
    expected = stats.norm.sf(critical - shift) + stats.norm.cdf(-critical - shift)
    assert distributions.z_test_power(shift, alpha) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("df", "alpha", "exact"), MPMATH_CRITICAL)
def test_t_critical_agrees_with_mpmath(df: int, alpha: float, exact: float) -> None:
    assert distributions.t_critical(df, alpha) == pytest.approx(exact, rel=2e-14)


@pytest.mark.parametrize(("shift", "df", "alpha", "exact"), MPMATH_POWER)
def test_t_power_agrees_with_mpmath(shift: float, df: int, alpha: float, exact: float) -> None:
    assert distributions.t_test_power(shift, df, alpha) == pytest.approx(exact, abs=1e-13)


@pytest.mark.parametrize(
    ("power", "printed", "within"),
    [
        # pwr.t2n.test(d = 0.1, n1 = 20, n2 = 30), quoted in statsmodels' test_power.py.
        (
            distributions.t_test_power(0.1 * math.sqrt(20 * 30 / 50), 48, 0.05),
            0.0633081832564667,
            1e-12,
        ),
        # The vignette of pwr: pwr.2p2n.test(h = 0.2, n1 = 543, n2 = 675) is "about 93 %".
        (distributions.z_test_power(0.2 * math.sqrt(543 * 675 / (543 + 675)), 0.05), 0.93, 5e-3),
    ],
)
def test_power_of_unequal_groups_agrees_with_r(power: float, printed: float, within: float) -> None:
    assert power == pytest.approx(printed, abs=within)


@pytest.mark.parametrize("alpha", [1e-12, 1e-6, 0.001, 0.05, 0.5, 0.999])
@pytest.mark.parametrize(
    ("df1", "df2"),
    # With one degree of freedom it is the t-test.
    [(1, 1), (1, 2), (1, 20), (1, 10**5), (2, 3), (3, 176), (50, 300), (300, 10**6)],
)
def test_f_power_agrees_with_scipy(df1: int, df2: int, alpha: float) -> None:
    # SciPy's own critical value is off by 1e-6 at the smallest levels; its tail is not.
    critical = distributions.f_critical(df1, df2, alpha)
    assert stats.f.sf(critical, df1, df2) == pytest.approx(alpha, rel=1e-9)
    for shift in (0.1, 0.5, 1.0, 2.0, 3.2, 5.0, 9.0, 21.0):
        expected = stats.ncf.sf(critical, df1, df2, shift**2)
        value = distributions.f_test_power(shift, df1, df2, alpha)
        assert value == pytest.approx(expected, abs=1e-9), shift


@pytest.mark.parametrize("alpha", [1e-12, 1e-6, 0.001, 0.05, 0.5])
@pytest.mark.parametrize(
    ("df1", "df2", "within"),
    [
        *((1, df, 1e-12) for df in (1, 2, 3, 5)),
        *((*dfs, 1e-11) for dfs in ((2, 2), (2, 3), (5, 6), (100, 300), (10**5, 10**6))),
    ],
)
def test_power_does_not_jump_where_the_method_changes(
    df1: int, df2: int, within: float, alpha: float
) -> None:
    # Below a shift of sqrt(500) the Poisson mixture is summed, above it the quadrature answers.
    below, above = (
        distributions.f_test_power(math.sqrt(500) * (1 + step), df1, df2, alpha)
        for step in (-1e-13, 1e-13)
    )
    assert above == pytest.approx(below, abs=within)


@pytest.mark.parametrize("alpha", [5e-324, 1e-300, 1e-150, 1e-12, 0.02, 0.999, 1 - 2**-53])
@pytest.mark.parametrize(
    ("df1", "df2"),
    [*((1, df) for df in (1, 2, 3, 4, 10, 10**6)), (2, 2), (2, 10**6), (499_999, 500_000)],
)
def test_power_is_always_a_share(df1: int, df2: int, alpha: float) -> None:
    shifts = (0.0, 1e-9, 1.0, 20.0, 30.0, 1e3, 1e15, 1e60, 1e300, math.inf)
    powers = [distributions.f_test_power(shift, df1, df2, alpha) for shift in shifts]
    noise = 0 if df1 == 1 else 1e-14
    assert all(0 <= power <= 1 for power in powers)
    assert all(extra >= fewer - noise for fewer, extra in pairwise(powers))
    assert powers[0] == pytest.approx(max(alpha, 1e-150), rel=1e-12)
    assert powers[-1] == 1.0


def quad_tost(near: float, far: float, df: int, alpha: float) -> float:
    t = stats.t.isf(alpha, df)
    scale = stats.chi(df, scale=1 / math.sqrt(df))
    limit = scale.isf(1e-18)
    top = min(limit, (near + far) / 2 / t) if t > 0 else limit

    def at_scale(s: float) -> float:
        both = stats.norm.cdf(near - t * s) - stats.norm.cdf(t * s - far)
        return float(both * scale.pdf(s))

    bends = [x / t for x in (near - 4, near, near + 4, far - 4, far) if t and 0 < x / t < top]
    points = sorted([*bends, *[p for p in (scale.ppf(1e-9), 1.0) if p < top]])
    value, _ = integrate.quad(at_scale, 0, top, points=points, limit=500, epsabs=1e-13)
    return float(value)


@pytest.mark.parametrize(
    ("df", "alpha", "near", "far"),
    one_in(
        13,
        [
            (*case, *ends)
            for case in product(
                (1, 2, 3, 8, 38, 198, 5000), (0.001, 0.025, 0.05, 0.2, 0.45, 0.5, 0.9)
            )
            for ends in ((0.3, 0.3), (2.0, 2.0), (2.8, 4.2), (0.0, 6.0), (-1.0, 5.0), (9.0, 9.0))
        ],
    ),
)
def test_tost_power_agrees_with_quadrature(df: int, alpha: float, near: float, far: float) -> None:
    expected = quad_tost(near, far, df, alpha)
    assert distributions.tost_power(near, far, df, alpha) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("cv", "ratio", "groups", "crossover", "printed"),
    # The examples and the tests of R's PowerTOST, power.TOST with method "exact" (Owen's Q), for a
    # ratio of means within 0.80 to 1.25: crossovers of 40, 24 and 22, some of 7000 at the edge, and
    # two parallel groups.
    [
        (0.30, 0.95, (20, 20), True, 0.8158453), (0.25, 0.95, (12, 12), True, 0.7391155),
        (0.25, 0.95, (11, 11), True, 0.6953401), (0.39, 1.24, (3500, 3500), True, 0.3511889),
        (0.385, 1.24, (3500, 3500), True, 0.3568784), (0.375, 1.24, (3500, 3500), True, 0.3688277),
        (0.35, 0.95, (52, 49), False, 0.8011186), (0.36, 0.93, (75, 70), False, 0.8256362),
    ],
)  # fmt: skip
def test_tost_power_agrees_with_powertost(
    cv: float, ratio: float, groups: tuple[int, int], crossover: bool, printed: float
) -> None:
    sd = math.sqrt(math.log1p(cv * cv))
    error = sd * math.sqrt(sum(1 / group for group in groups) / (2 if crossover else 1))
    near, far = sorted(math.log(1.25) + sign * math.log(ratio) for sign in (1, -1))
    value = distributions.tost_power(near / error, far / error, sum(groups) - 2, 0.05)
    assert value == pytest.approx(printed, abs=6e-8)


@pytest.mark.parametrize(
    ("n", "bad", "population"),
    [
        *((n, size // 100, size) for n in (1, 7, 300) for size in (10**3, 10**9, 10**15)),
        # As many as there are good ones, and as if all were bad.
        (1, 1, 2),
        (23, 2, 25),
        (9, 97, 97),
        # Around the number of factors from which on they are summed by an integral, and far beyond.
        (400, 1000, 10**6),
        (401, 1000, 10**6),
        (401, 401, 53_000),
        (5000, 401, 10**5),
        (3000, 10**5, 10**9),
    ],
)  # fmt: skip
def test_detection_is_exact_in_any_population(n: int, bad: int, population: int) -> None:
    fewer, extra = sorted((n, bad))
    none = math.prod(Fraction(population - extra - i, population - i) for i in range(fewer))
    expected = float(1 - none)
    value = distributions.detection_probability(n, bad / population, population)
    assert value == pytest.approx(expected, rel=1e-11, abs=0)
    if n > 300:
        assert value == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize(
    ("n", "share", "population"),
    # The last share is so small that it rounds to no unit at all.
    [(10, 0.0, 10), (10**6, 0.0, None), (0, 0.5, None), (0, 0.5, 100), (10, 0.01, 10)],
)
def test_detection_of_nothing_or_by_nothing_is_impossible(
    n: int, share: float, population: int | None
) -> None:
    value = distributions.detection_probability(n, share, population)
    assert (value, math.copysign(1, value)) == (0.0, 1)


@pytest.mark.parametrize(("n", "d"), [(2, 9.0), (3, 0.1), (10, 1.0), (20, 0.2), (50, 0.1)])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.5, 0.8])
def test_one_sided_t_power_matches_scipy(n: int, d: float, alpha: float) -> None:
    expected = stats.nct.sf(stats.t.isf(alpha, n - 1), n - 1, d * math.sqrt(n))
    value = distributions.t_test_power(d * math.sqrt(n), n - 1, alpha, 1)
    assert value == pytest.approx(expected, abs=1e-9)


@given(st.floats(1e-9, 1e12), st.floats(0.001, 50), st.floats(0.02, 0.999999))
@example(root=1.0, steep=1.0, wanted=0.5)
def test_least_effect_inverts_a_power(root: float, steep: float, wanted: float) -> None:
    at = stats.norm.ppf(wanted)
    value = distributions.least_reaching(
        lambda x: float(stats.norm.cdf(at + steep * (x / root - 1))), wanted, 1e15
    )
    assert value is not None
    if stats.norm.cdf(at - steep) < wanted:
        assert value == pytest.approx(root, rel=1e-11 / min(1.0, steep) * (1 + abs(at)))


@given(st.floats(1e-9, 1e12), st.floats(0, 0.5), st.floats(0.51, 1))
def test_least_effect_of_a_step_is_its_edge(root: float, low: float, high: float) -> None:
    values = list[float]()

    def power(x: float) -> float:
        values.append(x)
        return high if x >= root else low

    value = distributions.least_reaching(power, 0.505, 1e15)
    assert value is not None
    assert root <= value <= root * (1 + 1e-11)
    assert len(values) < 250


def test_least_effect_is_none_or_zero_at_extremes() -> None:
    assert distributions.least_reaching(lambda _: 0.4, 0.5, 1e15) is None
    assert distributions.least_reaching(lambda _: 0.4, 0.4, 1e15) == 0
    assert distributions.least_reaching(lambda x: x, 1.0, 1.0) == pytest.approx(1.0, rel=1e-12)
    assert distributions.least_reaching(
        lambda x: min(1.0, x), math.nextafter(1, 0), 1e15
    ) == pytest.approx(1)


@pytest.mark.long
@pytest.mark.parametrize(("n", "d"), [(4, 1.0), (27, 0.5)])
def test_one_sided_t_power_agrees_with_simulation(n: int, d: float) -> None:
    differences = np.random.default_rng(20261128).normal(d, 1, (200_000, n))
    t = differences.mean(axis=1) / differences.std(axis=1, ddof=1) * math.sqrt(n)
    share = float((t > stats.t.isf(0.05, n - 1)).mean())
    error = 4 * math.sqrt(share * (1 - share) / len(t))
    value = distributions.t_test_power(d * math.sqrt(n), n - 1, 0.05, 1)
    assert value == pytest.approx(share, abs=error)
