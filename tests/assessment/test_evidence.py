"""What n buys: published sample sizes, the fact sheet's twelve designs, caps, factors and tiers."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from replicalab.assessment import (
    Evidence,
    assess,
    counted_samples,
    evidence_value,
    smallest_detectable_effect,
    tier_of,
)
from replicalab.scenarios import (
    POWER_KINDS,
    Design,
    DesignKind,
    EvidenceTier,
    Pack,
)
from tests.factories import (
    EQUIPMENT,
    make_design,
    make_pack,
    make_protocol,
    make_substitution,
    make_throughput,
)

KINDS: Final = {
    DesignKind.TWO_GROUP: make_design(),
    DesignKind.PAIRED: make_design(kind="paired"),
    DesignKind.ONE_SAMPLE: make_design(kind="one_sample"),
    DesignKind.CORRELATION: make_design(kind="correlation"),
    DesignKind.TWO_PROPORTIONS: make_design(kind="two_proportions"),
    DesignKind.AUDIT: make_design(kind="audit", population_max=10**6),
    DesignKind.COVERAGE: make_design(kind="coverage", population_max=633),
    DesignKind.PRECISION: make_design(kind="precision", target=0.1, floor=0.2),
}
SIZES: Final = (0, 1, 2, 3, 4, 5, 7, 10, 20, 21, 100, 633, 1000, 10**4, 10**6)
EFFECTS: Final = (0.0, 1e-9, 0.01, 0.1, 0.5, 0.99, 1.0, 2.0, 10.0)

MEETS, ABOVE, BELOW = EvidenceTier


def effects_of(kind: DesignKind) -> list[float]:
    """Return the effects that exist for a kind: r and shares of bad units stay below 1."""
    bounded = kind in (DesignKind.CORRELATION, DesignKind.AUDIT)
    return [effect for effect in EFFECTS if effect < 1 or not bounded]


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
    assert evidence_value(KINDS[DesignKind.COVERAGE], n, None) == pytest.approx(share, abs=1e-5)


@pytest.mark.parametrize(("n", "half_width"), [(58, 0.0129), (30, 0.0179), (1, 0.098)])
def test_half_width_of_the_oil_drops(n: int, half_width: float) -> None:
    # 1.96 times 5 % over the root of n.
    value = evidence_value(KINDS[DesignKind.PRECISION], n, 0.05)
    assert value == pytest.approx(half_width, abs=5e-5)


# --- every kind -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
def test_evidence_is_never_nan(kind: DesignKind, n: int) -> None:
    values = [evidence_value(KINDS[kind], n, effect) for effect in effects_of(kind)]
    assert not any(math.isnan(value) for value in values)
    if kind is not DesignKind.PRECISION:
        assert all(0 <= value <= 1 for value in values)


@pytest.mark.parametrize("kind", KINDS)
def test_evidence_grows_with_even_n(kind: DesignKind) -> None:
    sign = -1 if kind is DesignKind.PRECISION else 1
    for effect in effects_of(kind):
        values = [sign * evidence_value(KINDS[kind], n, effect) for n in range(0, 300, 2)]
        drops = [one - other for one, other in pairwise(values)]
        assert max(drops) <= 1e-12


@pytest.mark.parametrize("kind", sorted(POWER_KINDS))
@given(first=st.floats(0, 0.98), second=st.floats(0, 0.98), n=st.integers(0, 500))
def test_power_grows_with_the_effect(kind: DesignKind, first: float, second: float, n: int) -> None:
    smaller, larger = sorted((first, second))
    design = KINDS[kind]
    assert evidence_value(design, n, smaller) <= evidence_value(design, n, larger) + 1e-12
    assert evidence_value(design, n, -larger) == evidence_value(design, n, larger)


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


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind not in (DesignKind.COVERAGE, DesignKind.PRECISION)]
)
def test_evidence_of_no_samples_is_the_worst(kind: DesignKind) -> None:
    assert evidence_value(KINDS[kind], 0, 0.9) == 0.0


def test_half_width_of_no_samples_is_unbounded() -> None:
    assert evidence_value(KINDS[DesignKind.PRECISION], 0, 0.05) == math.inf


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not DesignKind.COVERAGE])
def test_evidence_refuses_to_guess_an_effect(kind: DesignKind) -> None:
    with pytest.raises(ValueError, match="needs an effect to assume"):
        evidence_value(KINDS[kind], 10, None)


# --- tiers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "tier"),
    [(1.0, MEETS), (0.8, MEETS), (0.799, ABOVE), (0.5, ABOVE), (0.499, BELOW), (0.0, BELOW)],
)
def test_tier_of_a_share_is_inclusive_at_both_bounds(value: float, tier: EvidenceTier) -> None:
    assert tier_of(make_design(target=0.8, floor=0.5), value) is tier


@pytest.mark.parametrize(
    ("value", "tier"),
    [
        (0.0, MEETS),
        (0.015, MEETS),
        (0.0151, ABOVE),
        (0.025, ABOVE),
        (0.0251, BELOW),
        (math.inf, BELOW),
    ],
)
def test_tier_of_a_half_width_is_better_when_lower(value: float, tier: EvidenceTier) -> None:
    assert tier_of(make_design(kind="precision", target=0.015, floor=0.025), value) is tier


def test_tier_forgives_the_rounding_of_arithmetic() -> None:
    # 0.1 + 0.2 is a hair above 0.3, and a hair below it is still the bound.
    assert tier_of(make_design(target=0.1 + 0.2, floor=0.1), 0.3) is MEETS


def test_tier_of_a_hard_floor_knows_no_middle() -> None:
    coverage = make_design(kind="coverage", population_max=633, target=1.0, floor=1.0)
    tiers = [tier_of(coverage, evidence_value(coverage, n, None)) for n in (633, 632)]
    assert tiers == [MEETS, BELOW]


# --- a plan in a study ------------------------------------------------------------------------


def audit_pack(**changes: Any) -> Pack:
    """Return the synthetic study as an audit of 100 units, 10 % of them bad."""
    design = make_design(kind="audit", effect_planning=0.1, population_max=100)
    return make_pack(**{"design": design, **changes})


def test_planned_evidence_says_what_it_assumes() -> None:
    found = assess(make_protocol(sample_size=34), make_pack(design=make_design())).evidence
    assert found == Evidence(
        kind=DesignKind.TWO_GROUP,
        value=power("two_group", 34, 0.9),
        target=0.8,
        floor=0.5,
        tier=ABOVE,
        counted=34,
        effect=0.9,
    )


@pytest.mark.parametrize(
    ("kind", "measure"),
    [(kind, "power") for kind in sorted(POWER_KINDS)]
    + [
        (DesignKind.AUDIT, "probability of detection"),
        (DesignKind.COVERAGE, "share examined"),
        (DesignKind.PRECISION, "half-width"),
    ],
)
def test_planned_evidence_names_its_measure(kind: DesignKind, measure: str) -> None:
    assert assess(make_protocol(), make_pack(design=KINDS[kind])).evidence.measure == measure


def test_planned_evidence_may_assume_another_effect() -> None:
    found = assess(make_protocol(sample_size=128), make_pack()).evidence_at(0.5)
    assert found.effect == 0.5
    assert found.value == pytest.approx(0.8015, abs=5e-5)  # G*Power 3.1: 64 per group


@pytest.mark.parametrize(("days", "void"), [(0, True), (2, True), (3, False), (99, False)])
def test_planned_evidence_is_void_below_min_days(days: int, void: bool) -> None:
    found = assess(make_protocol(duration_days=days, sample_size=10**4), make_pack()).evidence
    assert (found.value, found.tier) == ((0.0, BELOW) if void else (1.0, MEETS))
    assert (found.void is not None) == void


def test_planned_evidence_says_why_it_is_void() -> None:
    short = assess(make_protocol(duration_days=1), make_pack(min_days=3)).evidence
    assert short.void == "the study's endpoint needs 3 days, and the plan has 1"
    empty = assess(make_protocol(sample_size=0), make_pack()).evidence
    assert empty.void == "no samples are planned"
    assert short.text == empty.text == "no evidence"


def test_void_precision_is_unbounded() -> None:
    pack = make_pack(design=KINDS[DesignKind.PRECISION], min_days=9)
    found = assess(make_protocol(duration_days=8), pack).evidence
    assert (found.value, found.tier) == (math.inf, BELOW)


@pytest.mark.parametrize(
    ("samples", "days", "rate", "population", "counted"),
    [
        (40, 5, None, None, 40),
        (40, 5, 8, None, 40),
        (41, 5, 8, None, 40),
        (40, 0, 8, None, 0),
        (40, 5, None, 40, 40),
        (41, 5, None, 40, 40),
        (90, 5, 8, 30, 30),
        (90, 5, 6, 40, 30),
    ],
)
def test_counted_samples_are_capped_by_throughput_and_population(
    samples: int, days: int, rate: int | None, population: int | None, counted: int
) -> None:
    pack = audit_pack(
        design=make_design(kind="audit", population_max=population),
        samples_per_day=None if rate is None else make_throughput(value=rate),
    )
    assert counted_samples(make_protocol(sample_size=samples, duration_days=days), pack) == counted


def test_samples_above_a_cap_buy_nothing() -> None:
    pack = audit_pack(samples_per_day=make_throughput(value=4))
    found = [
        assess(make_protocol(sample_size=n, duration_days=5), pack).evidence for n in (20, 400)
    ]
    assert found[0] == found[1]
    assert found[0].value == pytest.approx(stats.hypergeom.sf(0, 100, 10, 20), abs=1e-12)


def test_examining_the_whole_population_finds_what_is_bad() -> None:
    assert assess(make_protocol(sample_size=500), audit_pack()).evidence.value == 1.0


# --- substitutions ----------------------------------------------------------------------------

CHAMBER, METER = EQUIPMENT
SWAPS: Final = [
    make_substitution(
        original=CHAMBER, alternative="window shelf", evidence_factor=0.8, fidelity_loss=2
    ),
    make_substitution(
        original=METER, alternative="phone camera", evidence_factor=0.5, fidelity_loss=1
    ),
]


@pytest.mark.parametrize(
    ("items", "factor", "loss"),
    [
        ([CHAMBER, METER], 1.0, 0),
        (["Window  shelf", METER], 0.8, 2),
        (["window shelf", "phone camera"], 0.4, 3),
        ([CHAMBER, "window shelf"], 1.0, 0),
        ([], 1.0, 0),
    ],
)
def test_substitutions_count_where_the_alternative_stands_without_its_original(
    items: list[str], factor: float, loss: int
) -> None:
    protocol, pack = make_protocol(required_equipment=items), make_pack(allowed_substitutions=SWAPS)
    assert assess(protocol, pack).evidence_factor == pytest.approx(factor)
    assert assess(protocol, pack).substitution_loss == loss


def test_one_alternative_for_two_originals_counts_once() -> None:
    swaps = [
        make_substitution(original=item, alternative="kit", fidelity_loss=1) for item in EQUIPMENT
    ]
    pack = make_pack(allowed_substitutions=swaps)
    used = assess(make_protocol(required_equipment=["kit"]), pack).substitutions
    assert used == (pack.allowed_substitutions[0],)


def test_factors_multiply_the_assumed_effect() -> None:
    pack = make_pack(
        design=make_design(effect_planning=1.25, sesoi=0.5), allowed_substitutions=SWAPS
    )
    protocol = make_protocol(sample_size=128, required_equipment=["window shelf", "phone camera"])
    found = assess(protocol, pack).evidence
    assert found.effect == pytest.approx(0.5)
    assert found.value == pytest.approx(0.8015, abs=5e-5)  # G*Power 3.1: 64 per group
    assert assess(protocol, pack).evidence_at(0.5).effect == pytest.approx(0.2)


def test_factors_divide_the_spread_of_a_precision_study() -> None:
    design = make_design(kind="precision", effect_planning=0.05, target=0.015, floor=0.025)
    pack = make_pack(design=design, allowed_substitutions=SWAPS)
    found = assess(
        make_protocol(sample_size=25, required_equipment=["window shelf", METER]), pack
    ).evidence
    assert found.effect == pytest.approx(0.0625)
    assert found.value == pytest.approx(1.959964 * 0.0625 / 5, rel=1e-6)
    assert found.tier is ABOVE


def test_coverage_assumes_no_effect() -> None:
    design = make_design(kind="coverage", population_max=633, effect_planning=None)
    found = assess(make_protocol(sample_size=316), make_pack(design=design)).evidence
    assert found.effect is None
    assert found.text == "share examined 49.9 %"


# --- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("two_group", 0.5812, "power 0.58"),
        ("audit", 1.0, "probability of detection 1.00"),
        ("precision", 0.012868, "half-width ±1.29 %"),
        ("precision", math.inf, "half-width unbounded"),
        ("coverage", 1.0, "share examined 100 %"),
        ("coverage", 632 / 633, "share examined 99.8 %"),
        ("coverage", 0.3, "share examined 30 %"),
        ("coverage", 20 / 633, "share examined 3.2 %"),  # 3.16
        ("coverage", 158 / 633, "share examined 25 %"),  # 24.96
    ],
)
def test_evidence_text(kind: str, value: float, text: str) -> None:
    assert Evidence(DesignKind(kind), value, 0.8, 0.5, ABOVE, 40, None).text == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.9996, "share examined 99.96 %"),  # would be the target
        (0.49996, "share examined 49.996 %"),  # would be the floor
        (0.5, "share examined 50 %"),
        (0.1 + 0.2, "share examined 30 %"),
        (0.7496, "share examined 75 %"),  # no bound near
        (1.0, "share examined 100 %"),
    ],
)
def test_share_examined_is_rounded_but_never_to_a_bound(value: float, text: str) -> None:
    assert Evidence(DesignKind.COVERAGE, value, 1.0, 0.5, ABOVE, 40, None).text == text


def test_share_examined_that_meets_a_bound_but_for_rounding_shows_the_bound() -> None:
    found = Evidence(DesignKind.COVERAGE, 0.3, 1.0, 0.1 + 0.2, ABOVE, 40, None)
    assert (found.text, found.amount(found.floor)) == ("share examined 30 %", "30 %")


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


@pytest.mark.parametrize("kind", sorted(POWER_KINDS))
@pytest.mark.parametrize("n", [4, 5, 10, 100, 10**6])
def test_smallest_detectable_effect_is_where_the_target_is_met(kind: DesignKind, n: int) -> None:
    design = KINDS[kind]
    found = smallest_detectable_effect(design, n)
    assert found is not None
    assert evidence_value(design, n, found) >= design.target
    assert evidence_value(design, n, found * (1 - 1e-6)) < design.target


@pytest.mark.parametrize("kind", sorted(POWER_KINDS))
def test_smallest_detectable_effect_is_none_where_no_test_exists(kind: DesignKind) -> None:
    assert smallest_detectable_effect(KINDS[kind], 1) is None


@pytest.mark.parametrize("kind", sorted(set(KINDS) - POWER_KINDS))
def test_smallest_detectable_effect_is_none_without_a_test(kind: DesignKind) -> None:
    assert smallest_detectable_effect(KINDS[kind], 100) is None


@pytest.mark.parametrize("target", [0.05, 0.01, 1.0])
def test_smallest_detectable_effect_ends_at_any_target(target: float) -> None:
    design: Design = make_design(target=target, floor=0.01)
    found = smallest_detectable_effect(design, 30)
    assert found is not None
    assert evidence_value(design, 30, found) >= target
