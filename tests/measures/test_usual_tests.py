"""What is told beside an evidence: the usual test at this n, and what has the wrong sign."""

from __future__ import annotations

import math
from itertools import product
from typing import Final

import numpy as np
import pytest
from scipy import stats

from replicalab.measures import KINDS, DesignKind, DesignParameters
from replicalab.measures.rows import WORTH_TELLING
from replicalab.measures.usual_tests import (
    fisher_power_beside_none,
    log_rank_power,
    middle_fisher_power,
)
from tests.tiers import one_in

ALPHAS: Final = (1e-3, 0.05, 0.2)
SIMULATED: Final = 40_000


def told(
    kind: DesignKind, n: int, effect: float, alpha: float = 0.05, margin: float = 0.0
) -> dict[str, float]:
    """Return what the usual tests of a kind have, by name, where that is told."""
    values = KINDS[kind].usual_values(n, effect, DesignParameters(alpha=alpha, margin=margin))
    return {name: value for name, value, _ in values}


# --- two shares -------------------------------------------------------------------------------


def fisher_power(n: int, one: float, other: float, alpha: float) -> float:
    """Return the power of SciPy's Fisher test, over all tables."""
    first, second = n // 2, n - n // 2
    seen = stats.binom.pmf(range(first + 1), first, one)
    beside = stats.binom.pmf(range(second + 1), second, other)
    return sum(
        float(seen[a] * beside[b])
        for a, b in product(range(first + 1), range(second + 1))
        if stats.fisher_exact([[a, first - a], [b, second - b]])[1] <= alpha
    )


@pytest.mark.parametrize(
    ("h", "n", "alpha"), one_in(4, product([0.3, 1.1, 2.5], [2, 3, 10, 11, 30], ALPHAS))
)
def test_power_of_fishers_test_is_that_of_all_tables(h: float, n: int, alpha: float) -> None:
    away = math.sin(h / 2) / 2
    middle, beside_none = fisher_power(n, 0.5 + away, 0.5 - away, alpha), math.sin(h / 2) ** 2
    assert middle_fisher_power(n, h, alpha) == pytest.approx(middle, abs=1e-9)
    assert fisher_power_beside_none(n, h, alpha) == pytest.approx(
        fisher_power(n, beside_none, 0.0, alpha), abs=1e-9
    )


# --- survival ---------------------------------------------------------------------------------


def power_of_all_courses(n: int, events: int, ratio: float, alpha: float) -> float:
    """Return the power of the log-rank test over every order in which events can fall."""
    bound, power = stats.norm.isf(alpha / 2), 0.0
    for arms in product((True, False), repeat=events):
        left, other = n // 2, n - n // 2
        chance, excess, variance = 1.0, 0.0, 0.0
        for in_first in arms:
            share, falls = left / (left + other), left * ratio / (left * ratio + other)
            chance *= falls if in_first else 1 - falls
            if not chance:
                break
            excess += in_first - share
            variance += share * (1 - share)
            left, other = left - in_first, other - (not in_first)
        if chance and excess**2 > bound**2 * variance + 1e-12:
            power += chance
    return power


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("ratio", [0.1, 0.7])
@pytest.mark.parametrize(("n", "events"), [(2, 1), (5, 3), (10, 10), (13, 11), (999, 9)])
def test_power_of_the_log_rank_test_is_that_of_all_courses_of_events(
    n: int, events: int, ratio: float, alpha: float
) -> None:
    expected = power_of_all_courses(n, events, ratio, alpha)
    assert log_rank_power(n, events, math.log(ratio), alpha) == pytest.approx(expected, abs=0.003)


def test_a_fraction_of_an_event_is_a_chance_of_one_more() -> None:
    few, more = (log_rank_power(20, events, 1.5, 0.05) for events in (9, 10))
    assert log_rank_power(20, 9.25, 1.5, 0.05) == pytest.approx(few + 0.25 * (more - few), abs=0.01)


def simulated_log_rank(n: int, events: int, ratio: float, alpha: float) -> float:
    """Return how often the log-rank test of simulated survival times rejects at so many events."""
    random = np.random.default_rng(20261123)
    first, rejected, batch = n // 2, 0, max(1, 4_000_000 // n)
    rounds = -(-SIMULATED // batch)
    for _ in range(rounds):
        times = random.exponential(size=(batch, n))
        times[:, :first] /= ratio
        early = np.argsort(times, axis=1)[:, :events] < first
        gone: np.ndarray = np.cumsum(early, axis=1) - early
        left, at_risk = first - gone, n - np.arange(events)
        share = left / at_risk
        excess = (early - share).sum(axis=1)
        variance = (share * (1 - share)).sum(axis=1)
        rejected += (excess**2 > stats.norm.isf(alpha / 2) ** 2 * variance).sum()
    return rejected / (rounds * batch)


@pytest.mark.parametrize(
    ("events", "times", "alpha", "shift"),
    one_in(8, product([40, 200, 201, 300], [10.0, 1.0, 1.2], [1e-3, 0.05, 0.2], [2.0])),
)
def test_power_of_the_log_rank_test_is_that_of_simulated_times(
    events: int, times: float, alpha: float, shift: float
) -> None:
    """At its worst, where all have an event and these are taken in steps, it is 0.02 off."""
    n, ratio = round(times * events), math.exp(-2 * shift / math.sqrt(events))
    expected = simulated_log_rank(n, events, ratio, alpha)
    found = log_rank_power(n, events, math.log(ratio), alpha)
    assert found == pytest.approx(expected, abs=0.01 if events <= 200 else WORTH_TELLING)


# --- what is told -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "n", "effect", "values"),
    [
        (DesignKind.TWO_PROPORTIONS, 10, 1.4, [0.446, 0.099]),
        (DesignKind.SURVIVAL, 10, 0.2, [0.564]),
        (DesignKind.SURVIVAL, 10, 5.0, [0.564]),
        (DesignKind.SURVIVAL, 800, 0.8, []),
        (DesignKind.EQUIVALENCE, 8, 0.0, [0.0067]),
        (DesignKind.EQUIVALENCE, 200, 0.0, []),
        (DesignKind.PRECISION, 1, 0.3, []),
    ],
)
def test_usual_test_is_told_where_it_has_another_power(
    kind: DesignKind, n: int, effect: float, values: list[float]
) -> None:
    found = told(kind, n, effect, margin=0.72 if n == 8 else 0.5)
    assert [*found.values()] == pytest.approx(values, abs=1e-3)


@pytest.mark.parametrize("n", [2, 1000])
def test_precision_is_told_with_a_t_interval(n: int) -> None:
    expected = stats.t.isf(0.025, n - 1) * 0.3 / math.sqrt(n)
    assert told(DesignKind.PRECISION, n, 0.3) == {
        "a t-interval (SD estimated)": pytest.approx(expected, rel=1e-9)
    }


@pytest.mark.long
@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 0.01, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.49])
def test_equivalence_is_no_more_above_the_tests_of_all_samples_than_is_said(alpha: float) -> None:
    row = KINDS[DesignKind.EQUIVALENCE]
    assert "at most 0.02" in row.method
    for n, margin, part in product(range(3, 40), np.geomspace(0.05, 20, 60), (0, 0.7)):
        given = DesignParameters(alpha=alpha, margin=float(margin))
        for value in row.usual_values(n, float(part * margin), given):
            assert -0.02 < value.more < 0


# Of these the usual test is another one where samples share units: see test_clusters.py.
_OF_UNITS: Final = {DesignKind.TWO_GROUP, DesignKind.PAIRED, DesignKind.ONE_SAMPLE}
COMPARED: Final = [kind for kind, row in KINDS.items() if row.usual_tests and kind not in _OF_UNITS]
ENDS: Final = {
    DesignKind.TWO_PROPORTIONS: (5e-324, 1e-9, 0.5, math.pi, 1e15),
    DesignKind.PRECISION: (0.0, 5e-324, 0.5, 1e15),
    DesignKind.EQUIVALENCE: (0.0, 1e-9, 0.5, 1.0),
    DesignKind.SURVIVAL: (5e-324, 1e-9, 0.5, 1 - 2**-53, 2.0, 1.7e308),
}


@pytest.mark.parametrize("kind", COMPARED)
@pytest.mark.parametrize("n", [1, 2, 3, 201, 10**4, 10**9])
def test_what_is_told_is_a_value_at_the_ends_of_what_is_valid(kind: DesignKind, n: int) -> None:
    for effect, alpha in product(ENDS[kind], (5e-324, 1e-12, 0.05, 0.5, 1 - 2**-53)):
        values = told(kind, n, effect, alpha=alpha, margin=1.0).values()
        assert all(value >= 0 for value in values)
        assert KINDS[kind].scale.lower_is_better or all(value <= 1 for value in values)


# --- the wrong sign ---------------------------------------------------------------------------


def wrong_sign(kind: DesignKind, n: int, effect: float, alpha: float = 0.05) -> float | None:
    return KINDS[kind].wrong_sign_share(n, effect, DesignParameters(alpha=alpha))


@pytest.mark.parametrize(("n", "d"), [(3, 0.1), (10, 0.1), (20, 0.2), (50, 0.1)])
def test_wrong_sign_of_a_t_test_is_the_other_tail_of_the_noncentral_t(n: int, d: float) -> None:
    root, bound = math.sqrt((n // 2) * (n - n // 2) / n), stats.t.isf(0.025, n - 2)
    two = stats.nct.cdf(-bound, n - 2, d * root)
    assert wrong_sign(DesignKind.TWO_GROUP, n, d) == pytest.approx(two, abs=1e-9)
    one = stats.nct.cdf(-stats.t.isf(0.025, n - 1), n - 1, d * math.sqrt(n))
    for kind in (DesignKind.PAIRED, DesignKind.ONE_SAMPLE):
        assert wrong_sign(kind, n, d) == (pytest.approx(one, abs=1e-9) if one > 0.005 else None)


@pytest.mark.parametrize(
    ("kind", "n", "effect", "shift"),
    [
        (DesignKind.TWO_PROPORTIONS, 100, 0.05, 0.25),
        (DesignKind.SURVIVAL, 100, math.exp(-0.05), 0.25),
    ],
)
def test_wrong_sign_of_a_z_test_is_its_other_tail(
    kind: DesignKind, n: int, effect: float, shift: float
) -> None:
    expected = stats.norm.sf(stats.norm.isf(0.025) + shift)
    assert wrong_sign(kind, n, effect) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_sign_is_told_where_it_counts_and_where_there_is_a_sign(kind: DesignKind) -> None:
    if not KINDS[kind].wrong_sign:
        given = DesignParameters(alpha=0.05, groups=3, margin=0.5)
        assert KINDS[kind].wrong_sign_share(20, 0.01, given) is None
        return
    small, large = (0.99, 0.3) if kind is DesignKind.SURVIVAL else (0.01, 0.7)
    share = wrong_sign(kind, 20, small)
    assert share is not None
    assert 0.02 < share < 0.025
    assert wrong_sign(kind, 20, large) is None
    assert wrong_sign(kind, 20, small, alpha=0.005) is None
