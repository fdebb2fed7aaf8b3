"""What is particular to some kinds: their groups, margins and ratios, simulated and by hand."""

from __future__ import annotations

import math
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import stats

from replicalab.assessment import (
    Evidence,
    assumed_effects,
    evidence_of,
    evidence_value,
    smallest_detectable_effect,
)
from replicalab.measures import KINDS, DesignParameters
from replicalab.models import Protocol
from replicalab.scenarios import DesignKind, Pack
from tests.factories import make_pack, make_protocol
from tests.measures.designs import design_of
from tests.measures.test_distributions import quad_tost, scipy_power


def bought(plan: Protocol, pack: Pack, factor: float = 1.0) -> Evidence:
    return evidence_of(plan.sample_size, plan.duration_days, pack, factor)


# --- groups -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "groups"), [(13, (6, 7)), (12, (6, 6)), (3, (1, 2))])
def test_power_of_two_groups_splits_an_odd_sample(n: int, groups: tuple[int, int]) -> None:
    expected = scipy_power(0.9 * math.sqrt(math.prod(groups) / n), n - 2, 0.05)
    found = evidence_value(design_of(DesignKind.TWO_GROUP), n, 0.9)
    assert found == pytest.approx(expected, abs=1e-8)


def anova_power(groups: int, n: int, effect: float) -> float:
    return evidence_value(design_of(DesignKind.ANOVA, groups=groups), n, effect)


@pytest.mark.parametrize("groups", [2, 3, 7])
def test_samples_beyond_equal_groups_do_not_count(groups: int) -> None:
    full = anova_power(groups, groups * 9, 0.4)
    assert [anova_power(groups, groups * 9 + n, 0.4) for n in range(groups)] == [full] * groups
    assert anova_power(groups, groups * 10, 0.4) > full


@pytest.mark.parametrize(("groups", "n"), [(2, 3), (3, 5), (3, 0), (10**9, 10**6)])
def test_there_is_no_test_with_less_than_two_samples_a_group(groups: int, n: int) -> None:
    assert anova_power(groups, n, 5.0) == 0.0


@pytest.mark.parametrize("n", [4, 20, 128, 1000])
def test_two_groups_are_the_t_test_at_half_the_effect(n: int) -> None:
    t_test = evidence_value(design_of(DesignKind.TWO_GROUP), n, 0.5)
    assert anova_power(2, n, 0.25) == pytest.approx(t_test, abs=1e-13)


# --- margins ----------------------------------------------------------------------------------


def tost(n: int, difference: float, margin: float, alpha: float = 0.05) -> float:
    return evidence_value(design_of(DesignKind.EQUIVALENCE, alpha, margin=margin), n, difference)


@pytest.mark.parametrize(
    ("n", "difference", "margin", "alpha"),
    [(20, 0.0, 1.2, 0.05), (41, 0.2, 0.9, 0.05), (100, -0.1, 0.6, 0.025), (12, 0.3, 1.0, 0.2)],
)
def test_equivalence_agrees_with_simulated_tests(
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
    exact = tost(n, difference, margin, alpha)
    assert 0.2 < exact < 0.9
    assert share == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / runs))


def test_equivalence_is_out_of_reach_of_few_samples_and_certain_with_many() -> None:
    assert tost(20, 0.0, 0.2) < 0.01
    assert tost(1000, 0.0, 0.5) == pytest.approx(1.0, abs=1e-9)
    assert tost(10**6, 0.49, 0.5) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_equivalence_at_the_margin_comes_to_alpha(alpha: float) -> None:
    assert tost(10**4, 0.5, 0.5, alpha) == pytest.approx(alpha, abs=1e-12)
    assert tost(40, 0.5, 0.5, alpha) <= alpha
    assert tost(10**4, 0.6, 0.5, alpha) < alpha


@hypothesis.given(
    n=st.integers(3, 300) | st.integers(3, 10**6),
    margin=st.floats(0.001, 5),
    part=st.floats(0, 0.999),
    alpha=st.floats(1e-12, 0.999) | st.sampled_from([0.01, 0.05, 0.1]),
)
def test_equivalence_never_falls_with_samples_or_margin(
    n: int, margin: float, part: float, alpha: float
) -> None:
    here = tost(n, part * margin, margin, alpha)
    assert 0 <= here <= 1
    assert tost(n + 1, part * margin, margin, alpha) >= here - 1e-12
    assert tost(n, part * margin, margin * 1.01, alpha) >= here - 1e-12


@pytest.mark.parametrize("n", range(3, 30))
def test_equivalence_is_that_of_the_test_unless_a_smaller_one_has_more(n: int) -> None:
    # With three samples the SD comes out far too small by chance more often than with ten.
    each = {}
    for size in {*range(3, min(n, 8) + 1), n}:
        end = 0.8 * math.sqrt(size // 2 * (size - size // 2) / size)
        each[size] = quad_tost(end, end, size - 2, 0.05)
    best = each[n] if each[n] >= 0.1 else max(each.values())
    assert tost(n, 0.0, 0.8) == pytest.approx(best, abs=1e-9)
    assert best - each[n] < 0.02


@pytest.mark.parametrize("alpha", [1e-12, 0.3, 0.5, 0.999])
@pytest.mark.parametrize("n", [3, 4, 1000, 10**6])
def test_equivalence_is_a_share_at_any_margin(n: int, alpha: float) -> None:
    for difference in (0.0, 1e-300, 0.3, 1e6, 1e15, 1e308):
        for margin in (5e-324, 1e-300, 0.5, 1e6, 1e308):
            numbers = DesignParameters(alpha=alpha, margin=margin)
            assert 0 <= KINDS[DesignKind.EQUIVALENCE].value(n, difference, numbers) <= 1


@pytest.mark.parametrize(("n", "planned", "seen"), [(200, 0.2, 0.1), (100, 0.0, 0.0)])
def test_a_substitution_shrinks_the_difference_and_the_margin(
    n: int, planned: float, seen: float
) -> None:
    # With a factor of one half a true difference of 0.2 is seen as 0.1; so is the margin of 0.8 as
    # 0.4, for a difference as large as that must not pass. It costs evidence even where no
    # difference is assumed.
    design = design_of(DesignKind.EQUIVALENCE, margin=0.8, effect_planning=planned)
    pack, plan = make_pack(design=design), make_protocol(sample_size=n)
    found = bought(plan, pack, factor=0.5)
    assert (found.effect, found.factor) == (seen, 0.5)
    assert found.value == pytest.approx(tost(n, seen, 0.4), abs=1e-15)
    assert found.value < bought(plan, pack).value


@pytest.mark.parametrize("factor", [1.0, 0.8])
def test_the_smallest_margin_is_the_one_that_the_study_itself_could_show(factor: float) -> None:
    design = design_of(DesignKind.EQUIVALENCE, margin=0.8, effect_planning=0.1)
    found = smallest_detectable_effect(design, 140, factor)
    assert found is not None
    assert tost(140, 0.1 * factor, found * factor) == pytest.approx(design.target, abs=1e-9)


# --- ratios -----------------------------------------------------------------------------------


def survival_power(n: int, ratio: float, event_share: float) -> float:
    return evidence_value(design_of(DesignKind.SURVIVAL, event_share=event_share), n, ratio)


@pytest.mark.parametrize("n", [40, 160, 1000])
def test_survival_is_the_power_of_the_normal_statistic(n: int) -> None:
    shift = abs(math.log(0.7)) * math.sqrt(0.6 * n / 4)
    critical = stats.norm.isf(0.025)
    expected = stats.norm.sf(critical - shift) + stats.norm.cdf(-critical - shift)
    assert survival_power(n, 0.7, 0.6) == pytest.approx(expected, rel=1e-12)
    assert survival_power(n, 1 / 0.7, 0.6) == pytest.approx(expected, rel=1e-12)


def rejected(times: np.ndarray[Any, Any], seen: np.ndarray[Any, Any], first: int) -> float:
    """Return the share of studies, one a row, whose log-rank test rejects at 5 %, two-sided."""
    order = np.argsort(times, axis=1)
    treated = np.take_along_axis(np.arange(times.shape[1])[None, :] < first, order, axis=1)
    event = np.take_along_axis(seen, order, axis=1)
    at_risk = np.arange(times.shape[1], 0, -1)[None, :]
    share = treated[:, ::-1].cumsum(axis=1)[:, ::-1] / at_risk
    excess = ((treated - share) * event).sum(axis=1)
    variance = (share * (1 - share) * event).sum(axis=1)
    return float(np.mean(np.abs(excess) > stats.norm.isf(0.025) * np.sqrt(variance)))


@pytest.mark.parametrize(
    ("n", "ratio", "event_share"), [(248, 0.7, 1.0), (412, 0.7, 0.6), (120, 0.6, 0.9)]
)
def test_survival_is_near_the_power_of_simulated_log_rank_tests(
    n: int, ratio: float, event_share: float
) -> None:
    # An approximation: good to two hundredths at these sizes and ratios, and called one.
    rng, runs = np.random.default_rng(1981), 4000
    hazards = np.where(np.arange(n) < n // 2, ratio, 1.0)
    times = rng.exponential(1, (runs, n)) / hazards
    watched = np.quantile(times, event_share)
    found = rejected(np.minimum(times, watched), times <= watched, n // 2)
    assert found == pytest.approx(survival_power(n, ratio, event_share), abs=0.02 + 0.02)


def test_a_substitution_multiplies_the_logarithm() -> None:
    pack = make_pack(design=design_of(DesignKind.SURVIVAL, effect_planning=0.49))
    plan = make_protocol(sample_size=200)
    assert bought(plan, pack, factor=0.5).effect == pytest.approx(0.7)
    assert bought(plan, pack).effect == 0.49


def test_assumed_hazard_ratios_keep_their_side_and_are_halved_in_the_log() -> None:
    design = design_of(DesignKind.SURVIVAL, effect_published=0.64, effect_planning=0.7, sesoi=0.85)
    labels, effects = zip(*assumed_effects(design), strict=True)
    assert labels == ("as published", "halved", "smallest of interest")
    assert effects == pytest.approx((0.64, 0.8, 0.85), rel=1e-15)


@pytest.mark.parametrize(("planned", "found"), [(0.7, 0.7001), (1.4, 1 / 0.7001)])
def test_the_smallest_detectable_ratio_is_on_the_planned_side_of_one(
    planned: float, found: float
) -> None:
    design = design_of(DesignKind.SURVIVAL, effect_planning=planned, event_share=1.0)
    assert smallest_detectable_effect(design, 247) == pytest.approx(found, abs=2e-4)
