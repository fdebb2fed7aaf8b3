"""The test of r by the density of r; two shares by SciPy's Fisher test; both by simulation."""

import math
from functools import cache
from itertools import pairwise, product
from typing import Any, Final

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import integrate, special, stats

from replicalab.assessment import evidence_value, smallest_detectable_effect
from replicalab.designs.exact_tests import correlation_power, largest_h, other_share, shares_power
from replicalab.limits import MOST_PER_GROUP
from replicalab.scenarios import Design
from tests.factories import make_design
from tests.tiers import one_in

ALPHAS: Final = (1e-3, 0.05, 0.2)
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
def test_correlation_power_agrees_with_the_density(rho: float, n: int, alpha: float) -> None:
    bound = critical_r(n, alpha)
    inside, _ = integrate.quad(density_of_r, -bound, bound, args=(n, rho), epsabs=1e-10)
    assert correlation_power(n, rho, alpha) == pytest.approx(1 - inside, abs=1e-7)
    wrong, _ = integrate.quad(density_of_r, -1, -bound, args=(n, rho), epsabs=1e-10)
    right = correlation_power(n, rho, alpha / 2, 1)
    assert right == pytest.approx(1 - inside - wrong, abs=1e-7)
    # The test of the other direction fails to reject at a level of 1 - alpha / 2.
    assert correlation_power(n, rho, 1 - alpha / 2, 1) == pytest.approx(1 - wrong, abs=1e-7)


@pytest.mark.parametrize(
    ("r", "n", "sides"), [(0.1, 782, 2), (0.3, 84, 2), (0.5, 29, 2), (0.3, 67, 1), (0.5, 23, 1)]
)
def test_correlation_samples_agree_with_gpower(r: float, n: int, sides: int) -> None:
    assert correlation_power(n - 1, r, 0.05, sides) < 0.80 <= correlation_power(n, r, 0.05, sides)


@pytest.mark.long
@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize(("n", "rho"), [(4, 0.9), (8, 0.6), (40, 0.3)])
def test_correlation_power_agrees_with_simulation(n: int, rho: float, sides: int) -> None:
    random, rounds = np.random.default_rng(20261124), 200_000
    one = random.standard_normal((rounds, n))
    other = rho * one + math.sqrt(1 - rho * rho) * random.standard_normal((rounds, n))
    one -= one.mean(axis=1, keepdims=True)
    other -= other.mean(axis=1, keepdims=True)
    squares = (one**2).sum(axis=1) * (other**2).sum(axis=1)
    r = (one * other).sum(axis=1) / np.sqrt(squares)
    size = abs(r) if sides == 2 else r
    value = float((size > critical_r(n, 0.05 * 2 / sides)).mean())
    error = 4 * math.sqrt(value * (1 - value) / rounds)
    assert correlation_power(n, rho, 0.05, sides) == pytest.approx(value, abs=error)


@pytest.mark.parametrize(
    ("sides", "alpha", "r"),
    one_in(25, product([2, 1], [0.05, 1e-150, 1e-3, 0.9], [1e-9, 0.1, 0.3, 0.6, 0.9, 0.999999])),
)
def test_power_of_a_correlation_never_falls_with_n(sides: int, alpha: float, r: float) -> None:
    sizes = [*range(3, 60), *(round(10 ** (k / 8)) for k in range(15, 49))]
    powers = [correlation_power(n, r, alpha, sides) for n in sizes]
    assert all(extra > one * (1 - 1e-11) for one, extra in pairwise(powers))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 201, 10**4, 10**9])
def test_correlation_power_is_a_share_at_extremes(n: int) -> None:
    for r, alpha in product(ALL_SIZES, (5e-324, 1e-12, 0.05, 0.5, 1 - 2**-53)):
        two, one = (correlation_power(n, r, alpha, sides) for sides in (2, 1))
        assert 0 <= two <= one + 1e-12 <= 1 + 1e-12
        assert (two >= alpha) == (one >= alpha) == (n > 2)


SHARES: Final = ((0.5, 0.3), (0.9, 0.1), (1.0, 0.7), (0.3, 0.0), (0.05, 0.01), (0.8, 0.75))


def h_of(one: float, other: float) -> float:
    return 2 * math.asin(math.sqrt(one)) - 2 * math.asin(math.sqrt(other))


@cache
def rejected(each: int, alpha: float, sides: int = 2) -> frozenset[tuple[int, int]]:
    """Return the pairs of counts that SciPy's test rejects; (each - b, each - a) is as (a, b)."""
    tail = "two-sided" if sides == 2 else "greater"
    pairs = [
        (a, b)
        for a in range(each + 1)
        for b in range(each - a + 1)
        if stats.fisher_exact([[a, each - a], [b, each - b]], tail)[1] <= alpha * (1 + 1e-12)
    ]
    return frozenset([*pairs, *((each - b, each - a) for a, b in pairs)])


def brute_force(each: int, one: float, other: float, alpha: float, sides: int = 2) -> float:
    first = stats.binom.pmf(range(each + 1), each, one)
    second = stats.binom.pmf(range(each + 1), each, other)
    return float(sum(first[a] * second[b] for a, b in rejected(each, alpha, sides)))


@pytest.mark.parametrize(
    ("most", "alpha", "sides"),
    one_in(4, [(12, 0.05, 2), (18, 0.05, 2), (18, 1e-3, 2), (18, 0.3, 2),
               (12, 0.05, 1), (18, 0.05, 1), (18, 0.7, 1)]),
)  # fmt: skip
@pytest.mark.parametrize(("one", "other"), SHARES)
def test_power_of_shares_agrees_with_brute_force(
    one: float, other: float, most: int, alpha: float, sides: int
) -> None:
    powers = [
        0.0,
        *(brute_force(number, one, other, alpha, sides) for number in range(1, most + 1)),
    ]
    for n in range(2 * most + 1):
        value = shares_power(n, h_of(one, other), one, alpha, sides)
        limit = max(powers[: n // 2 + 1])
        assert value == pytest.approx(limit, abs=1e-9)


@pytest.mark.long
@pytest.mark.parametrize(("one", "other"), [(0.5, 0.35), (0.03, 0.005)])
def test_power_of_shares_agrees_with_hypergeometric(one: float, other: float) -> None:
    limit = 0.0
    for number in range(1, 121):
        limit = max(limit, power_by_totals(number, one, other, 0.05))
        value = shares_power(2 * number, h_of(one, other), one, 0.05)
        assert value == pytest.approx(limit, abs=1e-9)


def power_by_totals(each: int, one: float, other: float, alpha: float) -> float:
    first = stats.binom.pmf(np.arange(each + 1), each, one)
    second = stats.binom.pmf(np.arange(each + 1), each, other)
    power = 0.0
    for total in range(2 * each + 1):
        x = np.arange(max(0, total - each), min(each, total) + 1)
        chance = stats.hypergeom.pmf(x, 2 * each, each, total)
        p = [chance[chance <= custom * (1 + 1e-7)].sum() for custom in chance]
        inside = np.array(p) <= alpha
        power += float((first[x] * second[total - x])[inside].sum())
    return power


@pytest.mark.long
@pytest.mark.parametrize("sides", [1, 2])
def test_power_of_shares_agrees_with_simulation(sides: int) -> None:
    random, rounds, number = np.random.default_rng(20261124), 200_000, 30
    counts = random.binomial(number, [[0.6], [0.25]], size=(2, rounds))
    value = (
        sum(
            int(((counts[0] == a) & (counts[1] == b)).sum())
            for a, b in rejected(number, 0.05, sides)
        )
        / rounds
    )
    error = 4 * math.sqrt(value * (1 - value) / rounds)
    exact = shares_power(2 * number, h_of(0.6, 0.25), 0.6, 0.05, sides)
    assert exact == pytest.approx(value, abs=error)


@pytest.mark.parametrize(("sides", "alpha"), one_in(4, product([2, 1], [0.05, 1e-12, 1e-3, 0.5])))
def test_power_of_two_shares_never_falls_with_n(sides: int, alpha: float) -> None:
    sizes = [*range(120), 200, 201, 400, *range(990, 1060)]
    sizes += [3998, 4000, 4001, 4002, 5000, 10**5, 10**9]
    for one, other in ((0.5, 0.3), (1.0, 0.9), (0.2, 0.15), (0.02, 0.0)):
        powers = [shares_power(n, h_of(one, other), one, alpha, sides) for n in sizes]
        assert all(b >= a for a, b in pairwise(powers))


@pytest.mark.parametrize("sides", [1, 2])
def test_large_groups_have_a_corrected_z_test(sides: int) -> None:
    number = 4 * MOST_PER_GROUP
    # The size without a correction that Fleiss, Levin & Paik's corrected one comes from.
    plain = (number - 1 / 0.05) ** 2 / number
    critical = stats.norm.isf(0.05 / sides) * math.sqrt(2 * 0.475 * 0.525)
    spread = math.sqrt(0.5 * 0.5 + 0.45 * 0.55)
    expected = stats.norm.cdf((0.05 * math.sqrt(plain) - critical) / spread)
    value = shares_power(2 * number, h_of(0.5, 0.45), 0.5, 0.05, sides)
    assert value == pytest.approx(expected, abs=1e-6)
    # The last enumerated size has the steps of the counts, and hardly less.
    last, near = (
        shares_power(2 * item, h_of(0.5, 0.4), 0.5, 0.05, sides)
        for item in (MOST_PER_GROUP, MOST_PER_GROUP + 10)
    )
    assert 0 <= near - last < 0.02


@pytest.mark.parametrize(
    ("size", "baseline"),
    one_in(7, product([0.0, 5e-324, 1e-9, 0.5, math.pi, 1e15], [5e-324, 1e-9, 0.5, 1 - 2**-53, 1])),
)
def test_power_of_shares_is_a_share_at_extremes(size: float, baseline: float) -> None:
    cases = [*product((0, 1, 2, 3, 41, 400), (5e-324, 0.05, 1 - 2**-53)), (10**9, 0.05)]
    for (n, alpha), sides in product(cases, (1, 2)):
        assert 0 <= shares_power(n, size, baseline, alpha, sides) <= 1


def of_shares(one: float = 0.5, other: float = 0.3, **changes: Any) -> Design:
    effects = {"effect_published": None, "sesoi": None, "effect_planning": h_of(one, other)}
    return make_design(kind="two_proportions", **{**effects, "baseline": one, **changes})


def test_baseline_selects_fishers_test() -> None:
    design = of_shares()
    power = evidence_value(design, 24, design.effect_planning)
    assert power == pytest.approx(max(brute_force(m, 0.5, 0.3, 0.05) for m in range(1, 13)))
    without = of_shares(baseline=None)
    assert evidence_value(without, 24, design.effect_planning) > power + 0.05


@pytest.mark.parametrize(
    ("baseline", "sides", "n", "alpha", "target"),
    one_in(
        11,
        [
            (*case, *numbers)
            for case in ((0.04, 2), (0.3, 2), (0.5, 2), (0.3, 1), (0.95, 2), (1.0, 2), (1.0, 1))
            for numbers in product((7, 40, 201, 640, 1000, 3001), (0.01, 0.2), (0.5, 0.9))
        ],
    ),
)
def test_detectable_share_reaches_the_target(
    baseline: float, sides: int, n: int, alpha: float, target: float
) -> None:
    design = of_shares(
        baseline, baseline / 2, alpha=alpha, sides=sides, target=target, floor=0.1, dropout=0.0
    )
    value, limit = smallest_detectable_effect(design, n), largest_h(baseline)
    if value is None:
        assert shares_power(n, limit, baseline, alpha, sides) < target
        return
    assert shares_power(n, value, baseline, alpha, sides) >= target
    assert shares_power(n, value * (1 - 1e-10), baseline, alpha, sides) < target
    through = smallest_detectable_effect(design, n, factor=0.25)
    assert through == pytest.approx(value * 4, rel=1e-12)


def test_detectable_share_agrees_with_brute_force() -> None:
    design = of_shares(0.9, 0.3, target=0.7, floor=0.1, dropout=0.0)
    value = smallest_detectable_effect(design, 24)
    assert value
    for size, reaches in ((value * (1 + 1e-7), True), (value * (1 - 1e-7), False)):
        other = other_share(0.9, size)
        power = max(brute_force(number, 0.9, other, 0.05) for number in range(1, 13))
        assert (power >= 0.7) == reaches


FAULTY: Final = (0.0, -0.1, 1.1, 1e308, math.nan, math.inf, 10**9, "half")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"baseline": 0.1, "effect_planning": 0.9}, "assume at most 0.6435, or give the higher"),
        *(({"baseline": wrong}, "baseline") for wrong in FAULTY),
    ],
)
def test_a_baseline_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        of_shares(**changes)
