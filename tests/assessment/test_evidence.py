"""What a plan's samples buy: tiers, caps, factors, and the value in words."""

from __future__ import annotations

import math
from typing import Any, Final

import pytest
from scipy import stats

from replicalab.assessment import (
    Evidence,
    assess,
    counted_samples,
    evidence_value,
    tier_of,
)
from replicalab.scenarios import (
    POWER_KINDS,
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
from tests.measures.designs import design_of

MEETS, ABOVE, BELOW = EvidenceTier


def power(n: int, effect: float) -> float:
    return evidence_value(make_design(), n, effect)


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
        value=power(34, 0.9),
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
    assert assess(make_protocol(), make_pack(design=design_of(kind))).evidence.measure == measure


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
    pack = make_pack(design=design_of(DesignKind.PRECISION), min_days=9)
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
