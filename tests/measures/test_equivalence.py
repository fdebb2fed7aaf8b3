"""Two one-sided t-tests: published values, adaptive quadrature, simulation, and their corners."""

from __future__ import annotations

import math

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import integrate, stats

from replicalab.assessment import evidence_value, planned_evidence, smallest_detectable_effect
from replicalab.measures import KINDS, Given
from replicalab.measures.distributions import tost_power
from replicalab.scenarios import DesignKind
from tests.factories import make_pack, make_protocol
from tests.measures.designs import design_of


def power(n: int, difference: float, margin: float, alpha: float = 0.05) -> float:
    return evidence_value(design_of(DesignKind.EQUIVALENCE, alpha, margin=margin), n, difference)


def quad_power(near: float, far: float, df: int, alpha: float) -> float:
    """Return the power by adaptive quadrature over SciPy's chi density of the scale."""
    t = stats.t.isf(alpha, df)
    scale = stats.chi(df, scale=1 / math.sqrt(df))
    most = scale.isf(1e-18)
    top = min(most, (near + far) / 2 / t) if t > 0 else most

    def given_scale(s: float) -> float:
        both = stats.norm.cdf(near - t * s) - stats.norm.cdf(t * s - far)
        return float(both * scale.pdf(s))

    bends = [x / t for x in (near - 4, near, near + 4, far - 4, far) if t and 0 < x / t < top]
    points = sorted([*bends, *[p for p in (scale.ppf(1e-9), 1.0) if p < top]])
    value, _ = integrate.quad(given_scale, 0, top, points=points, limit=500, epsabs=1e-13)
    return float(value)


def bioequivalence(
    cv: float, ratio: float, groups: tuple[int, int], *, crossover: bool = False
) -> float:
    """Return the power for a ratio of means within 0.80 to 1.25, as R's PowerTOST has it."""
    sd = math.sqrt(math.log1p(cv * cv))
    error = sd * math.sqrt(sum(1 / each for each in groups) / (2 if crossover else 1))
    near, far = (math.log(1.25) + sign * math.log(ratio) for sign in (1, -1))
    near, far = sorted((near, far))
    return tost_power(near / error, far / error, sum(groups) - 2, 0.05)


# --- published values -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cv", "ratio", "groups", "crossover", "printed"),
    # The examples and the tests of R's PowerTOST, power.TOST with method "exact" (Owen's Q):
    # crossovers of 40, 24 and 22, some of 7000 at the edge, and two parallel groups.
    [
        (0.30, 0.95, (20, 20), True, 0.8158453),
        (0.25, 0.95, (12, 12), True, 0.7391155),
        (0.25, 0.95, (11, 11), True, 0.6953401),
        (0.39, 1.24, (3500, 3500), True, 0.3511889),
        (0.385, 1.24, (3500, 3500), True, 0.3568784),
        (0.375, 1.24, (3500, 3500), True, 0.3688277),
        (0.35, 0.95, (52, 49), False, 0.8011186),
        (0.36, 0.93, (75, 70), False, 0.8256362),
    ],
)
def test_power_agrees_with_powertost(
    cv: float, ratio: float, groups: tuple[int, int], crossover: bool, printed: float
) -> None:
    found = bioequivalence(cv, ratio, groups, crossover=crossover)
    assert found == pytest.approx(printed, abs=6e-8)


@pytest.mark.parametrize(
    ("difference", "margin", "target", "each"),
    # R's TOSTER, power_t_TOST(type = "two.sample"), alpha .05: n per group; of the last only the
    # next whole number is printed.
    [
        (0.0, 0.5, 0.80, 69.20),
        (0.1, 0.5, 0.80, 81.44),
        (0.45, 0.5, 0.80, 4946.72),
        (0.0, 0.5, 0.90, 87.5),
    ],
)
def test_power_is_reached_between_the_whole_numbers_around_the_printed_size(
    difference: float, margin: float, target: float, each: float
) -> None:
    assert power(2 * int(each), difference, margin) < target
    assert power(2 * (int(each) + 1), difference, margin) >= target


@pytest.mark.parametrize(("margin", "each"), [(0.3, 191), (0.4, 108), (0.5, 69), (0.6, 48)])
def test_exact_sizes_are_just_above_the_normal_approximation(margin: float, each: int) -> None:
    # Lakens (2017), Soc. Psychol. Pers. Sci. 8, 355-362, by 2 (z(.95) + z(.90))² / margin², each
    # rounded up, for power .80; the exact test takes up to one more in each group.
    z = stats.norm.ppf(0.95) + stats.norm.ppf(0.90)
    assert math.ceil(2 * (z / margin) ** 2) == each
    assert power(2 * (each - 1), 0.0, margin) < 0.80
    assert power(2 * (each + 1), 0.0, margin) >= 0.80


# --- quadrature and simulation ----------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.001, 0.025, 0.05, 0.2, 0.45, 0.5, 0.9])
@pytest.mark.parametrize("df", [1, 2, 3, 8, 38, 198, 5000])
def test_power_agrees_with_quadrature(df: int, alpha: float) -> None:
    for near, far in ((0.3, 0.3), (2.0, 2.0), (2.8, 4.2), (0.0, 6.0), (-1.0, 5.0), (9.0, 9.0)):
        expected = quad_power(near, far, df, alpha)
        assert tost_power(near, far, df, alpha) == pytest.approx(expected, abs=1e-9), (near, far)


@pytest.mark.parametrize(
    ("n", "difference", "margin", "alpha"),
    [(20, 0.0, 1.2, 0.05), (41, 0.2, 0.9, 0.05), (100, -0.1, 0.6, 0.025), (12, 0.3, 1.0, 0.2)],
)
def test_power_agrees_with_simulation(
    n: int, difference: float, margin: float, alpha: float
) -> None:
    rng, runs = np.random.default_rng(20260801), 40_000
    first = n // 2
    one = rng.normal(difference, 1, (runs, first))
    other = rng.normal(0, 1, (runs, n - first))
    squares = one.var(axis=1, ddof=1) * (first - 1) + other.var(axis=1, ddof=1) * (n - first - 1)
    error = np.sqrt(squares / (n - 2) * (1 / first + 1 / (n - first)))
    away = np.abs(one.mean(axis=1) - other.mean(axis=1))
    share = float(np.mean(margin - away > stats.t.isf(alpha, n - 2) * error))
    exact = power(n, difference, margin, alpha)
    assert 0.2 < exact < 0.9
    assert share == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / runs))


# --- corners ----------------------------------------------------------------------------------


def test_power_is_none_for_few_samples_and_all_for_many() -> None:
    assert [power(n, 0.0, 0.5) for n in (0, 1, 2)] == [0.0, 0.0, 0.0]
    assert power(20, 0.0, 0.2) < 0.01
    assert power(1000, 0.0, 0.5) == pytest.approx(1.0, abs=1e-9)
    assert power(10**6, 0.49, 0.5) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_power_at_the_margin_comes_to_alpha(alpha: float) -> None:
    assert power(10**4, 0.5, 0.5, alpha) == pytest.approx(alpha, abs=1e-12)
    assert power(40, 0.5, 0.5, alpha) <= alpha
    assert power(10**4, 0.6, 0.5, alpha) < alpha


@hypothesis.given(
    n=st.integers(3, 300) | st.integers(3, 10**6),
    margin=st.floats(0.001, 5),
    part=st.floats(0, 0.999),
    alpha=st.floats(1e-12, 0.999) | st.sampled_from([0.01, 0.05, 0.1]),
)
def test_power_never_falls_with_samples_or_margin(
    n: int, margin: float, part: float, alpha: float
) -> None:
    here = power(n, part * margin, margin, alpha)
    assert 0 <= here <= 1
    assert power(n + 1, part * margin, margin, alpha) >= here - 1e-12
    assert power(n, part * margin, margin * 1.01, alpha) >= here - 1e-12


@pytest.mark.parametrize("n", range(3, 30))
def test_power_is_that_of_the_test_unless_a_smaller_one_has_more(n: int) -> None:
    # With three samples the SD comes out far too small by chance more often than with ten.
    sizes = [size for size in range(3, n + 1) if size in range(3, 9) or size == n]
    each = {}
    for size in sizes:
        root = math.sqrt(size // 2 * (size - size // 2) / size)
        each[size] = quad_power(0.8 * root, 0.8 * root, size - 2, 0.05)
    best = each[n] if each[n] >= 0.1 else max(each.values())
    assert power(n, 0.0, 0.8) == pytest.approx(best, abs=1e-9)
    assert best - each[n] < 0.02


@pytest.mark.parametrize("alpha", [1e-12, 0.3, 0.5, 0.999])
@pytest.mark.parametrize("n", [3, 4, 1000, 10**6])
def test_power_is_a_share_at_any_margin(n: int, alpha: float) -> None:
    for difference in (0.0, 1e-300, 0.3, 1e6, 1e15, 1e308):
        for margin in (1e-300, 0.5, 1e6, 1e308):
            numbers = Given(alpha=alpha, margin=margin)
            assert 0 <= KINDS[DesignKind.EQUIVALENCE].value(n, difference, numbers) <= 1


# --- a plan -----------------------------------------------------------------------------------


def test_a_substitution_shrinks_the_difference_and_the_margin() -> None:
    # With a factor of one half a true difference of 0.2 is seen as 0.1; so is the margin of 0.8 as
    # 0.4, for a difference as large as that must not pass.
    design = design_of(DesignKind.EQUIVALENCE, margin=0.8, effect_planning=0.2)
    pack, plan = make_pack(design=design), make_protocol(sample_size=200)
    found = planned_evidence(plan, pack, factor=0.5)
    assert (found.effect, found.factor) == (0.1, 0.5)
    assert found.value == pytest.approx(power(200, 0.1, 0.4), abs=1e-15)
    assert found.value < planned_evidence(plan, pack).value


def test_a_substitution_costs_evidence_even_where_no_difference_is_assumed() -> None:
    design = design_of(DesignKind.EQUIVALENCE, margin=0.8)
    pack, plan = make_pack(design=design), make_protocol(sample_size=100)
    found = planned_evidence(plan, pack, factor=0.5)
    assert found.effect == 0.0
    assert found.value == pytest.approx(power(100, 0.0, 0.4), abs=1e-15)


@pytest.mark.parametrize("factor", [1.0, 0.8])
def test_the_smallest_margin_is_the_one_that_the_study_itself_could_show(factor: float) -> None:
    design = design_of(DesignKind.EQUIVALENCE, margin=0.8, effect_planning=0.1)
    found = smallest_detectable_effect(design, 140, factor)
    assert found is not None
    assert power(140, 0.1 * factor, found * factor) == pytest.approx(design.target, abs=1e-9)
