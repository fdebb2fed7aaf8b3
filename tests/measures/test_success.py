"""Criteria of replication against printed values, simulation, and every size tried one by one."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from replicalab.measures.success import (
    CRITERIA,
    PRIORS,
    Basis,
    Criterion,
    Prior,
    Success,
    sceptical_p,
)

CONDITIONAL, PREDICTIVE, SHRUNKEN = Prior
GOLDEN: Final = (1 + math.sqrt(5)) / 2
SIGNIFICANT: Final = (Criterion.SIGNIFICANT,)
NOMINAL: Final = (Criterion.SCEPTICAL_NOMINAL,)


# --- printed values: Micheloud & Held (2022), Held, Micheloud & Pawel (2022) ------------------


@pytest.mark.parametrize(
    ("sides", "prior", "h", "of_2", "of_4"),
    [
        (1, CONDITIONAL, 0, 1.54563930800494, 0.386409827001236),
        (1, PREDICTIVE, 0, 2.64240442300288, 0.440562894751761),
        (1, SHRUNKEN, 0, 5.68097835352188, 0.505683996618901),
        (1, PREDICTIVE, 0.1, 2.95871584108967, 0.452332524054221),
        (2, CONDITIONAL, 0, 1.96221993358727, 0.490554983396818),
        (2, PREDICTIVE, 0, 3.51088218947353, 0.567658970548963),
        (2, SHRUNKEN, 0, 7.6215454064467, 0.652140069510171),
        (2, PREDICTIVE, 0.1, 3.95487118399945, 0.584343691289888),
    ],
)
def test_size_for_significance_is_the_printed_one(
    sides: int, prior: Prior, h: float, of_2: float, of_4: float
) -> None:
    for z, printed in ((2, of_2), (4, of_4)):
        found = Success(Basis(z, 0.05, sides, h), prior, SIGNIFICANT).relative_size(0.8)
        assert found == pytest.approx(printed, rel=1e-12)


@pytest.mark.parametrize(
    ("c", "prior", "h", "printed"),
    [
        (0.5, CONDITIONAL, 0, 0.105128839609805),
        (0.5, PREDICTIVE, 0, 0.153164887002923),
        (0.5, PREDICTIVE, 1, 0.214070597849871),
        (2, CONDITIONAL, 0, 0.29261875345421),
        (2, PREDICTIVE, 0, 0.376346981956041),
        (2, PREDICTIVE, 1, 0.418288337676037),
    ],
)
def test_power_for_significance_is_the_printed_one(
    c: float, prior: Prior, h: float, printed: float
) -> None:
    found = Success(Basis(1, h=h), prior, SIGNIFICANT).chance(c)
    assert found == pytest.approx(printed, abs=1e-14)


@pytest.mark.parametrize(
    ("z_o", "z_r", "c", "golden", "nominal"),
    [
        (4, 4, 0.5, 4.92521679461104e-05, 0.00110127465875785),
        (2, 4, 0.5, 0.00860230836312371, 0.0305443593405044),
        (2, 2, 0.5, 0.0257599721993693, 0.0629176070193166),
        (4, 4, 2, 0.000528949538842483, 0.00502103908823513),
        (2, 4, 2, 0.0165499416760937, 0.0469488618047047),
        (2, 2, 2, 0.050780864777783, 0.0990142962787227),
    ],
)
def test_sceptical_p_is_the_printed_one(
    z_o: float, z_r: float, c: float, golden: float, nominal: float
) -> None:
    assert sceptical_p(z_o, z_r, c) == pytest.approx(nominal, rel=1e-13)
    assert sceptical_p(z_o, z_r, c, golden=True) == pytest.approx(golden, rel=1e-13)


def test_sceptical_p_of_two_sided_p_values_is_the_printed_one() -> None:
    z_o, z_r = (float(stats.norm.isf(p / 2)) for p in (0.01, 0.02))
    assert sceptical_p(z_o, z_r, 2) == pytest.approx(0.05791, abs=5e-6)
    assert sceptical_p(z_o, z_r, 2, golden=True) == pytest.approx(0.02273, abs=5e-6)


@pytest.mark.parametrize(
    ("prior", "printed"),
    [(CONDITIONAL, 0.407463446750989), (PREDICTIVE, 0.469946779033606),
     (SHRUNKEN, 0.544898620253259)],
)  # fmt: skip
def test_size_for_a_sceptical_p_is_the_printed_one(prior: Prior, printed: float) -> None:
    found = Success(Basis(4, sides=1), prior, NOMINAL).relative_size(0.8)
    assert found == pytest.approx(printed, rel=1e-12)
    assert Success(Basis(2, sides=1), prior, NOMINAL).relative_size(0.8) is None


@pytest.mark.parametrize(
    ("sides", "c", "conditional", "predictive"),
    [
        (2, 0.5, 0.430651110224, 0.443281086648),
        (2, 2, 0.874983256919, 0.746689266592804),
        (1, 0.5, 0.621076958271, 0.599376841233),
        (1, 2, 0.977226371859, 0.875842012298),
    ],
)
def test_power_for_a_sceptical_p_is_the_printed_one(
    sides: int, c: float, conditional: float, predictive: float
) -> None:
    for prior, printed in ((CONDITIONAL, conditional), (PREDICTIVE, predictive)):
        found = Success(Basis(3, sides=sides), prior, NOMINAL).chance(c)
        assert found == pytest.approx(printed, abs=1e-12)


def test_sizes_of_an_original_of_p_0_005_are_the_printed_ones() -> None:
    z = float(stats.norm.isf(0.0025))
    found = {prior: Success(Basis(z), prior, SIGNIFICANT) for prior in Prior}
    assert found[CONDITIONAL].relative_size(0.8) == pytest.approx(0.9961, abs=5e-5)
    assert found[PREDICTIVE].relative_size(0.8) == pytest.approx(1.337889, abs=5e-7)
    assert found[PREDICTIVE].chance(2) == pytest.approx(0.8770, abs=5e-5)


def test_sizes_for_a_golden_sceptical_p_are_the_printed_ones() -> None:
    basis = Basis(float(stats.norm.isf(0.00125)), 0.025, 1)
    for prior, printed in ((CONDITIONAL, 0.72048), (PREDICTIVE, 0.95757)):
        found = Success(basis, prior, (Criterion.SCEPTICAL,)).relative_size(0.8)
        assert found == pytest.approx(printed, abs=5e-6)


def test_success_under_heterogeneity_has_the_printed_standard_error() -> None:
    # Pawel, Consonni & Held (2023): .2, standard error .05, tau .08; a standard error of .045455
    # has a probability of success of .8, one-sided at .025.
    basis = Basis(4, 0.025, 1, (0.08 / 0.05) ** 2)
    found = Success(basis, PREDICTIVE, SIGNIFICANT).chance((0.05 / 0.045455) ** 2)
    assert found == pytest.approx(0.8, abs=5e-6)


# --- simulation -------------------------------------------------------------------------------


def met(name: Criterion, t: Any, c: float, of: Basis) -> Any:
    """Return which estimates meet a criterion, by its definition and scipy alone."""
    s = 1 / math.sqrt(c)
    z, by_side = stats.norm.isf(of.alpha / 2), stats.norm.isf(of.alpha / of.sides)
    one = stats.norm.isf(of.alpha)
    # Of the sceptical p-value: the variance of the sceptical prior that just makes the original no
    # longer convincing at the level, and the replication's standardised distance from that prior's
    # middle, at least the level too (Held 2020, section 3).
    level = by_side / (math.sqrt(GOLDEN) if name is Criterion.SCEPTICAL else 1)
    convincing = of.z > level
    prior = 1 / (of.z**2 / level**2 - 1) if convincing else 1.0
    doubted = (t / np.sqrt(prior + s * s) >= level) & convincing
    decided: dict[Criterion, Any] = {
        Criterion.SIGNIFICANT: stats.norm.sf(t / s) <= of.alpha / of.sides,
        Criterion.INTERVAL: (t - z * s <= of.z) & (of.z <= t + z * s),
        Criterion.PREDICTION: abs(t - of.z) / math.sqrt(1 + s * s) <= z,
        Criterion.EQUIVALENCE: (t - one * s >= -of.margin) & (t + one * s <= of.margin),
        Criterion.SMALL_TELESCOPES: stats.norm.cdf((t - of.telescope) / s) >= of.alpha,
        Criterion.SCEPTICAL: doubted,
        Criterion.SCEPTICAL_NOMINAL: doubted,
    }
    return decided[name]


def drawn(prior: Prior, c: float, of: Basis, draws: int) -> Any:
    """Return estimates of replications, drawn study by study."""
    rng = np.random.default_rng(7)
    between = math.sqrt(of.h)
    if prior is CONDITIONAL:
        mean = np.full(draws, of.z)
    elif prior is PREDICTIVE:
        mean = of.z + rng.normal(0, 1, draws) + rng.normal(0, between, draws)
    else:
        kept = max(0.0, 1 - (1 + of.h) / of.z**2)
        mean = rng.normal(kept * of.z, math.sqrt(kept * (1 + of.h)), draws)
    return mean + rng.normal(0, between, draws) + rng.normal(0, 1 / math.sqrt(c), draws)


SETTINGS: Final = (
    (0.7, Basis(2.6, 0.05, 2, 0.0, 1.9, 1.5)),
    (3.0, Basis(2.6, 0.05, 1, 0.3, 4.0, 1.5)),
    (1.0, Basis(1.2, 0.1, 2, 0.0, 3.0, 1.4)),
)


@pytest.mark.long
@pytest.mark.parametrize("prior", Prior)
@pytest.mark.parametrize("name", Criterion)
def test_chance_of_a_criterion_is_that_of_a_simulation(name: Criterion, prior: Prior) -> None:
    draws = 100_000
    for c, basis in SETTINGS:
        share = float(met(name, drawn(prior, c, basis, draws), c, basis).mean())
        found = Success(basis, prior, (name,)).chance(c)
        error = math.sqrt(max(found * (1 - found), 1e-6) / draws)
        assert found == pytest.approx(share, abs=4.5 * error)


@pytest.mark.parametrize("prior", Prior)
def test_chance_of_several_criteria_is_that_of_a_simulation(prior: Prior) -> None:
    draws = 20_000
    for names in (
        (Criterion.SIGNIFICANT, Criterion.INTERVAL),
        (Criterion.SIGNIFICANT, Criterion.EQUIVALENCE, Criterion.PREDICTION),
        tuple(Criterion),
    ):
        for c, basis in SETTINGS:
            t = drawn(prior, c, basis, draws)
            every = np.logical_and.reduce([met(name, t, c, basis) for name in names])
            found = Success(basis, prior, names).chance(c)
            error = math.sqrt(max(found * (1 - found), 1e-6) / draws)
            assert found == pytest.approx(float(every.mean()), abs=4.5 * error)


# --- the search over n ------------------------------------------------------------------------


def chances(of: Success, cs: Any) -> Any:
    """Return the probability at each relative size, by scipy."""
    mean, variance = PRIORS[of.prior].belief(of.basis)
    low, high = np.full_like(cs, -np.inf), np.full_like(cs, np.inf)
    for name in of.criteria:
        ends = CRITERIA[name].range(of.basis)
        for end in filter(None, [ends.low]):
            low = np.maximum(low, end.at + end.by * np.sqrt(1 / cs + end.more))
        for end in filter(None, [ends.high]):
            high = np.minimum(high, end.at + end.by * np.sqrt(1 / cs + end.more))
    sd = np.sqrt(variance + 1 / cs)
    below, above = stats.norm.cdf((low - mean) / sd), stats.norm.cdf((high - mean) / sd)
    return np.maximum(0.0, above - below)


def _assert_search_is_right(seed: int) -> tuple[bool, bool]:
    """Return whether a chance fell with n, and whether the wanted one was reached at all."""
    rng, most = np.random.default_rng(seed), 3000
    names = rng.choice(list(Criterion), size=rng.integers(1, 4), replace=False)
    basis = Basis(
        z=float(rng.uniform(0.3, 5)),
        alpha=float(rng.choice([0.05, 0.01, 0.1])),
        sides=int(rng.choice([1, 2])),
        h=float(rng.choice([0.0, 0.0, 0.2, 2.0])),
        margin=float(rng.uniform(0.3, 6)),
        telescope=float(rng.uniform(1, 2)),
    )
    success = Success(basis, rng.choice(list(Prior)), tuple(Criterion(name) for name in names))
    per_n = float(np.exp(rng.uniform(math.log(2), math.log(2000))))
    every = chances(success, np.arange(1, most + 1) / per_n)
    wanted = float(rng.choice([0.8, rng.uniform(0, 1), every.max() * rng.uniform(0.98, 1.0)]))

    def sized(n: int) -> float:
        return n / per_n

    found = success.fewest(wanted, sized, 1, most)
    reached = np.flatnonzero(every >= wanted - 1e-12)
    # Where rounding decides, either is right.
    if not np.any(abs(every - (wanted - 1e-12)) < 1e-13):
        assert (seed, found) == (seed, int(reached[0]) + 1 if len(reached) else None)
    running = np.maximum.accumulate(every)
    for n in (1, 7, int(rng.integers(2, most)), most):
        assert success.best(sized, 1, n) == pytest.approx(running[n - 1], abs=1e-11)
        # A grid that is finer than the sizes of whole samples, and the peaks as they are told.
        fine = chances(success, np.geomspace(1, n, 4000) / per_n).max()
        assert success.up_to(n / per_n, 1 / per_n) >= max(fine, running[n - 1]) - 1e-11
    for peak in success.peaks:
        assert peak.chance == pytest.approx(float(chances(success, np.array([peak.c]))[0]))
    best = success.fewest(success.best(sized, 1, most), sized, 1, most)
    assert best is not None
    assert every[best - 1] == pytest.approx(running[-1], abs=1e-11)
    return bool(np.any(np.diff(every) < -1e-9)), len(reached) > 0


def _search(seeds: range) -> None:
    found = [_assert_search_is_right(seed) for seed in seeds]
    fell, reached = (sum(each) for each in zip(*found, strict=True))
    assert fell > len(found) / 10
    assert len(found) / 10 < reached < len(found)


def test_fewest_and_best_are_those_of_every_n_tried() -> None:
    _search(range(150))


@pytest.mark.long
@pytest.mark.parametrize("first", range(150, 3150, 500))
def test_fewest_and_best_are_those_of_every_n_tried_many(first: int) -> None:
    _search(range(first, first + 500))


def test_chance_falls_where_a_larger_study_shows_the_original_off() -> None:
    # Held (2020): at z 2 the sceptical p of an effect as large as the original's fails in the end.
    success = Success(Basis(2, sides=1), CONDITIONAL, NOMINAL)
    assert success.chance(1) > success.chance(100) > success.chance(1e4)
    assert success.limit == pytest.approx(0, abs=1e-12)


def test_limit_is_what_the_chance_comes_to() -> None:
    for prior in Prior:
        for name in Criterion:
            for _, basis in SETTINGS:
                success = Success(basis, prior, (name,))
                assert success.limit == pytest.approx(success.chance(1e13), abs=1e-5)


def test_ceiling_under_heterogeneity_is_that_of_the_sign() -> None:
    # With ever more samples it is significant where the effect has the original's sign.
    success = Success(Basis(2, h=1.0), PREDICTIVE, SIGNIFICANT)
    assert success.limit == pytest.approx(float(stats.norm.cdf(2 / math.sqrt(3))), abs=1e-12)
    assert success.relative_size(0.88) is None
    assert success.relative_size(0.87) is not None


# --- at the ends ------------------------------------------------------------------------------

ENDS: Final = st.sampled_from([0.0, 5e-324, 1e-9, 0.5, 1.0, 3.0, 40.0, 1e6, 1e12])


@given(
    ENDS,
    st.sampled_from([5e-324, 1e-12, 0.05, 0.5, 0.9, 1 - 1e-12]),
    st.sampled_from([1, 2]),
    ENDS,
    ENDS,
    ENDS,
    st.sampled_from(Prior),
    st.lists(st.sampled_from(Criterion), min_size=1, unique=True),
)
def test_chance_at_the_ends_of_what_is_valid_is_a_probability(
    z: float,
    alpha: float,
    sides: int,
    h: float,
    margin: float,
    telescope: float,
    prior: Prior,
    names: list[Criterion],
) -> None:
    success = Success(Basis(z, alpha, sides, h, margin, telescope), prior, tuple(names))
    for c in (0.0, 1e-12, 0.3, 1.0, 7.0, 1e12):
        assert 0 <= success.chance(c) <= 1
    assert 0 <= success.limit <= 1
    best = success.best(lambda n: n / 50, 1, 10**9)
    assert 0 <= best <= 1
    found = success.fewest(best, lambda n: n / 50, 1, 10**9)
    assert found is not None
    assert success.chance(found / 50) == pytest.approx(best, abs=1e-11)


@given(st.floats(0.1, 6), st.sampled_from(Prior), st.lists(st.sampled_from(Criterion), min_size=1))
def test_chance_of_all_is_never_above_that_of_one(
    z: float, prior: Prior, names: list[Criterion]
) -> None:
    basis = Basis(z, margin=2, telescope=1.4)
    for c in (0.2, 1.0, 5.0):
        all_of_them = Success(basis, prior, tuple(names)).chance(c)
        alone = [Success(basis, prior, (name,)).chance(c) for name in names]
        assert max(0.0, sum(alone) - len(alone) + 1) - 1e-12 <= all_of_them <= min(alone) + 1e-12
