"""What n buys: published sample sizes, the designs of the fact sheet, and where no test exists."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from replicalab.assessment import evidence_value, smallest_detectable_effect
from replicalab.scenarios import POWER_KINDS, Design, DesignKind
from tests.factories import make_design
from tests.measures.designs import design_of, effect_of


def power(kind: str, n: int, effect: float, alpha: float = 0.05) -> float:
    return evidence_value(make_design(kind=kind, alpha=alpha), n, effect)


# --- published sample sizes -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "effect", "least"),
    # n in all for power .80 at alpha .05, two-sided; two groups count both. G*Power 3.1 gives
    # 394, 64 and 26 per group, and 199, 34 and 15 pairs, for d = .2, .5 and .8.
    [
        ("two_group", 0.2, 2 * 394),
        ("two_group", 0.5, 2 * 64),
        ("two_group", 0.8, 2 * 26),
        ("paired", 0.2, 199),
        ("paired", 0.5, 34),
        ("paired", 0.8, 15),
        ("one_sample", 0.5, 34),
        # Fisher's z: ((1.95996 + 0.84162) / atanh(r))^2 + 3 = 782.7 and 84.9.
        ("correlation", 0.1, 783),
        ("correlation", 0.3, 85),
        # Cohen's h: 2 (2.80159 / h)^2 = 392.4, 62.8 and 24.5 per group.
        ("two_proportions", 0.2, 2 * 393),
        ("two_proportions", 0.5, 2 * 63),
        ("two_proportions", 0.8, 2 * 25),
    ],
)
def test_power_reaches_80_percent_at_the_published_sample_size(
    kind: str, effect: float, least: int
) -> None:
    step = 2 if kind.startswith("two") else 1
    assert power(kind, least, effect) >= 0.80
    assert power(kind, least - step, effect) < 0.80


@pytest.mark.parametrize(
    ("kind", "alpha", "effect", "n"),
    # Cohen (1992), A power primer, Psychol. Bull. 112, 155-159, Table 2: n (per group, where
    # there are two) for power .80. Its ns are rounded, so the power is .80 within a hundredth.
    [
        ("two_group", 0.01, 0.2, 586),
        ("two_group", 0.01, 0.5, 95),
        ("two_group", 0.01, 0.8, 38),
        ("two_group", 0.05, 0.2, 393),
        ("two_group", 0.05, 0.5, 64),
        ("two_group", 0.05, 0.8, 26),
        ("two_group", 0.10, 0.2, 310),
        ("two_group", 0.10, 0.5, 50),
        ("two_group", 0.10, 0.8, 20),
        ("correlation", 0.01, 0.1, 1163),
        ("correlation", 0.01, 0.3, 125),
        ("correlation", 0.05, 0.1, 783),
        ("correlation", 0.05, 0.3, 85),
        ("correlation", 0.10, 0.1, 617),
        ("correlation", 0.10, 0.3, 68),
        ("two_proportions", 0.05, 0.2, 392),
        ("two_proportions", 0.05, 0.5, 63),
        ("two_proportions", 0.05, 0.8, 25),
    ],
)
def test_power_agrees_with_cohens_primer(kind: str, alpha: float, effect: float, n: int) -> None:
    in_all = 2 * n if kind.startswith("two") else n
    assert power(kind, in_all, effect, alpha) == pytest.approx(0.80, abs=0.01)


@pytest.mark.parametrize(
    ("n", "published"),
    # Cohen (1988), Statistical Power Analysis, 2nd ed., Table 2.3.5 (two-sided .05), d = .50.
    [(20, 0.33), (30, 0.47), (40, 0.60), (50, 0.70), (64, 0.80), (100, 0.94)],
)
def test_power_agrees_with_cohens_table(n: int, published: float) -> None:
    assert power("two_group", 2 * n, 0.5) == pytest.approx(published, abs=0.0101)


# --- the fact sheet's twelve designs ----------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "n", "effects", "values"),
    # Evidence at the reference n, at the published, the planning and the smallest effect.
    [
        pytest.param("two_group", 12, (2.25, 2.0, 1.25), (0.94, 0.88, 0.50), id="ml_resnet"),
        pytest.param("two_group", 34, (None, 1.0, 0.5), (None, 0.81, 0.29), id="ml_rl_seeds"),
        pytest.param("one_sample", 300, (0.177, 0.177, 0.09), (0.86, 0.86, 0.34), id="momentum"),
        pytest.param("two_group", 32, (0.78, 0.78, 0.5), (0.57, 0.57, 0.28), id="overreaction"),
        pytest.param("paired", 100, (None, 1.0, 0.5), (None, 1.00, 1.00), id="psy_stroop"),
        pytest.param("two_group", 200, (0.62, 0.31, 0.2), (0.99, 0.59, 0.29), id="ego_depletion"),
        pytest.param("two_group", 24, (2.3, 1.2, 0.8), (1.00, 0.80, 0.47), id="bio_jq1"),
        pytest.param("two_group", 24, (None, 1.5, 1.0), (None, 0.94, 0.65), id="chem_suzuki"),
        pytest.param("two_group", 128, (None, 0.5, 0.3), (None, 0.80, 0.39), id="eco_reef_fish"),
    ],
)
def test_power_of_the_published_designs(
    kind: str, n: int, effects: tuple[float | None, ...], values: tuple[float | None, ...]
) -> None:
    found = [None if effect is None else round(power(kind, n, effect), 2) for effect in effects]
    assert found == list(values)


def test_detection_of_the_pythagorean_audit() -> None:
    audit = make_design(kind="audit", effect_planning=0.01, population_max=10**6)
    values = [round(evidence_value(audit, 300, share), 2) for share in (0.01, 0.005)]
    assert values == [0.95, 0.78]


@pytest.mark.parametrize(("n", "share"), [(633, 1.0), (316, 0.49921), (1, 0.00158), (9999, 1.0)])
def test_coverage_of_the_four_colour_configurations(n: int, share: float) -> None:
    census = make_design(kind="coverage", population_max=633)
    assert evidence_value(census, n, None) == pytest.approx(share, abs=1e-5)


@pytest.mark.parametrize(("n", "half_width"), [(58, 0.0129), (30, 0.0179), (1, 0.098)])
def test_half_width_of_the_oil_drops(n: int, half_width: float) -> None:
    # 1.96 times 5 % over the root of n.
    value = evidence_value(design_of(DesignKind.PRECISION), n, 0.05)
    assert value == pytest.approx(half_width, abs=5e-5)


# --- every kind -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["two_group", "paired", "one_sample", "correlation", "two_proportions", "equivalence"]
)
def test_evidence_does_not_depend_on_the_sign_of_an_effect(kind: str) -> None:
    design = design_of(DesignKind(kind))
    for effect in (0.01, 0.3, 0.9):
        assert evidence_value(design, 40, -effect) == evidence_value(design, 40, effect)


@pytest.mark.parametrize(
    ("kind", "too_few"),
    [
        ("two_group", 2),
        ("paired", 1),
        ("one_sample", 1),
        ("correlation", 3),
        ("two_proportions", 1),
    ],
)
def test_power_is_zero_where_no_test_exists(kind: str, too_few: int) -> None:
    assert power(kind, too_few, 0.9) == 0.0
    assert power(kind, too_few + 1, 0.9) > 0.0


@pytest.mark.parametrize("kind", ["two_group", "paired", "one_sample", "two_proportions"])
@pytest.mark.parametrize(("n", "effect"), [(100, 2.0), (10**6, 10.0), (10**6, 0.5), (1000, 5.0)])
def test_power_of_a_large_effect_is_one(kind: str, n: int, effect: float) -> None:
    assert power(kind, n, effect) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(("n", "groups"), [(13, (6, 7)), (12, (6, 6)), (3, (1, 2))])
def test_power_of_two_groups_splits_an_odd_sample(n: int, groups: tuple[int, int]) -> None:
    first, second = groups
    critical = stats.t.isf(0.025, n - 2)
    shift = 0.9 * math.sqrt(first * second / n)
    both = stats.nct.sf(critical, n - 2, shift) + stats.nct.cdf(-critical, n - 2, shift)
    assert power("two_group", n, 0.9) == pytest.approx(both, abs=1e-8)


@pytest.mark.parametrize("kind", DesignKind)
def test_evidence_of_no_samples_is_the_worst(kind: DesignKind) -> None:
    worst = math.inf if kind is DesignKind.PRECISION else 0.0
    assert evidence_value(design_of(kind), 0, effect_of(kind, 1.0)) == worst


@pytest.mark.parametrize("kind", [kind for kind in DesignKind if kind is not DesignKind.COVERAGE])
def test_evidence_refuses_to_guess_an_effect(kind: DesignKind) -> None:
    with pytest.raises(ValueError, match="needs an effect to assume"):
        evidence_value(design_of(kind), 10, None)


# --- the smallest detectable effect -----------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "n", "effect"),
    # The published sample sizes read the other way round.
    [("two_group", 128, 0.5), ("paired", 34, 0.5), ("correlation", 85, 0.3)],
)
def test_smallest_detectable_effect_inverts_the_published_sizes(
    kind: str, n: int, effect: float
) -> None:
    found = smallest_detectable_effect(make_design(kind=kind), n)
    assert found == pytest.approx(effect, rel=0.02)
    assert found is not None
    assert found <= effect


@pytest.mark.parametrize("kind", sorted(set(DesignKind) - POWER_KINDS))
def test_smallest_detectable_effect_is_none_without_a_test(kind: DesignKind) -> None:
    assert smallest_detectable_effect(design_of(kind), 100) is None


@pytest.mark.parametrize("target", [0.05, 0.01, 1.0])
def test_smallest_detectable_effect_ends_at_any_target(target: float) -> None:
    design: Design = make_design(target=target, floor=0.01)
    found = smallest_detectable_effect(design, 30)
    assert found is not None
    assert evidence_value(design, 30, found) >= target
