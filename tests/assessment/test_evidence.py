"""Evidence: tiers, caps, factors, other effects, and the value in words."""

import math
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from replicalab import assessment
from replicalab.designs import KINDS
from replicalab.scenarios import Difficulty, EvidenceTier, load_scenario
from tests import factories
from tests.designs.examples import design_of

MEETS, ABOVE, BELOW = EvidenceTier


def power(n: int, effect: float) -> float:
    return assessment.evidence_value(factories.make_design(), n, effect)


SHARE: Final[dict[str, Any]] = {"target": 0.8, "floor": 0.5}
WIDTH: Final[dict[str, Any]] = {"kind": "precision", "target": 0.015, "floor": 0.025}
CENSUS: Final[dict[str, Any]] = {"kind": "coverage", "population_max": 633}


@pytest.mark.parametrize(
    ("bounds", "value", "tier"),
    [
        (SHARE, 0.8, MEETS),
        *((SHARE, value, ABOVE) for value in (0.799, 0.5)),
        (SHARE, 0.499, BELOW),
        (WIDTH, 0.015, MEETS),
        *((WIDTH, value, ABOVE) for value in (0.0151, 0.025)),
        *((WIDTH, value, BELOW) for value in (0.0251, math.inf)),
        # 0.1 + 0.2 is a hair above 0.3, and a hair below it is still the bound.
        ({"target": 0.1 + 0.2, "floor": 0.1}, 0.3, MEETS),
        # A hard floor knows no middle.
        ({**CENSUS, "target": 1.0, "floor": 1.0}, 633 / 633, MEETS),
        ({**CENSUS, "target": 1.0, "floor": 1.0}, 632 / 633, BELOW),
    ],
)
def test_tier_is_inclusive_at_both_bounds(
    bounds: dict[str, Any], value: float, tier: EvidenceTier
) -> None:
    assert assessment.tier_of(factories.make_design(**bounds), value) is tier


@pytest.mark.parametrize(
    ("samples", "days", "least", "void"),
    [
        (40, 2, 3, "the study's endpoint needs 3 days, and the plan has 2"),
        (40, 0, 2, "the study's endpoint needs 2 days, and the plan has 0"),
        (40, 0, 1, "no days are planned"),
        (0, 5, 3, "no samples are planned"),
        (10**4, 3, 3, None),
    ],
)
@pytest.mark.parametrize(("kind", "worst"), [("two_group", 0.0), ("precision", math.inf)])
def test_evidence_is_void_without_days_or_samples(
    samples: int, days: int, least: int, void: str | None, kind: str, worst: float
) -> None:
    plan = {"sample_size": samples, "duration_days": days}
    pack = factories.make_pack(design=design_of(kind), min_days=least)
    evidence = assessment.assess(factories.make_protocol(**plan), pack).evidence
    assert evidence.void_reason == void
    assert (evidence.value == worst) == (evidence.text == "no evidence") == (void is not None)
    assert (evidence.tier is BELOW) == (void is not None)


@given(st.integers(0, 10**9), st.integers(0, 10**6 - 1))
@example(n=100, millionths=290_000)  # 100 * (1 - 0.29) is 70.99… in floats
def test_dropout_rounds_down_exactly(n: int, millionths: int) -> None:
    design = factories.make_design(dropout=millionths / 10**6)
    assert (
        assessment.counted_of(design, n) == n * (10**6 - millionths) // 10**6
    )  # whole numbers alone


@pytest.mark.parametrize(
    ("samples", "days", "rate", "population", "dropout", "usable", "counted"),
    [
        (41, 5, None, None, 0, 41, 41), (41, 5, 8, None, 0, 40, 40), (40, 0, 8, None, 0, 0, 0),
        (90, 5, 8, 30, 0, 30, 30), (90, 5, 6, 40, 0, 30, 30), (40, 5, 10, None, 0.15, 40, 34),
        (90, 5, 10, None, 0.15, 50, 42),
    ],
)  # fmt: skip
def test_counted_samples_are_capped_then_drop_out(
    samples: int, days: int, rate: int | None, population: int | None, dropout: float,
    usable: int, counted: int,
) -> None:  # fmt: skip
    pack = factories.make_pack(
        design=factories.make_design(population_max=population, dropout=dropout),
        samples_per_day=None if rate is None else factories.make_throughput(value=rate),
    )
    plan = assessment.assess(factories.make_protocol(sample_size=samples, duration_days=days), pack)
    evidence = plan.evidence
    assert (evidence.usable, evidence.analysed) == (usable, counted)
    assert evidence.value == (power(counted, 0.9) if days else 0)
    whole = assessment.assess(plan.plan, factories.make_pack())
    assert (plan.cost, plan.staff) == (whole.cost, whole.staff)


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_equals_planning_fewer(kind: str) -> None:
    design, whole = design_of(kind, dropout=0.2), design_of(kind)
    effect = design.effect_planning
    for n in (1, 4, 5, 36, 37, 250):
        rest = n * 4 // 5
        assert assessment.evidence_value(design, n, effect) == assessment.evidence_value(
            whole, rest, effect
        )
        assert assessment.smallest_detectable_effect(
            design, n
        ) == assessment.smallest_detectable_effect(whole, rest)


CHAMBER, METER = factories.EQUIPMENT
SWAPS: Final = [
    factories.make_substitution(
        original=CHAMBER, alternative="window shelf", evidence_factor=0.8, fidelity_loss=2
    ),
    factories.make_substitution(
        original=METER, alternative="phone camera", evidence_factor=0.5, fidelity_loss=1
    ),
]


def test_factors_multiply_the_assumed_effect() -> None:
    pack = factories.make_pack(
        design=factories.make_design(effect_planning=1.25, sesoi=0.5), allowed_substitutions=SWAPS
    )
    protocol = factories.make_protocol(
        sample_size=128, required_equipment=["window shelf", "phone camera"]
    )
    evidence = assessment.assess(protocol, pack).evidence
    assert evidence.effect == pytest.approx(0.5)
    assert evidence.value == pytest.approx(0.8015, abs=5e-5)  # G*Power 3.1: 64 per group
    assert assessment.assess(protocol, pack).evidence_at(0.5).effect == pytest.approx(0.2)


def test_factors_divide_the_spread_of_a_precision_study() -> None:
    design = factories.make_design(
        kind="precision", effect_planning=0.05, target=0.015, floor=0.025
    )
    pack = factories.make_pack(design=design, allowed_substitutions=SWAPS)
    evidence = assessment.assess(
        factories.make_protocol(sample_size=25, required_equipment=["window shelf", METER]), pack
    ).evidence
    assert evidence.effect == pytest.approx(0.0625)
    assert evidence.value == pytest.approx(1.959964 * 0.0625 / 5, rel=1e-6)
    assert evidence.tier is ABOVE


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("two_group", 0.5812, "power 0.58"),
        ("audit", 1.0, "probability of detection 1.00"),
        ("precision", 0.012868, "half-width ±1.29 %"),
        ("precision", math.inf, "half-width unbounded"),
        ("coverage", 1.0, "share examined 100 %"),
        ("coverage", 632 / 633, "share examined 99.8 %"),
        ("coverage", 20 / 633, "share examined 3.2 %"),  # 3.16
        ("coverage", 158 / 633, "share examined 25 %"),  # 24.96
        ("coverage", 0.7996, "share examined 79.96 %"),  # would be the target
        ("coverage", 0.49996, "share examined 49.996 %"),  # would be the floor
        ("coverage", 0.7496, "share examined 75 %"),  # no bound near
    ],
)
def test_evidence_is_never_rounded_to_a_bound(kind: str, value: float, text: str) -> None:
    assert assessment.Evidence(kind, value, 0.8, 0.5, ABOVE, 40, 40, None).text == text


STUDIES: Final = {
    # Evidence of the reference's n at the published, the planning and the smallest effect
    # Source: the fact sheet of each study, two decimals, from the t distribution of SciPy.
    "ml_resnet_cifar10": (12, (0.94, 0.88, 0.50)), "ml_rl_seeds": (34, (None, 0.81, 0.29)),
    "fin_momentum": (420, (0.95, 0.76, 0.45)), "fin_overreaction": (28, (0.51, 0.32, 0.25)),
    "math_pythagorean": (300, (None, 0.95, 0.78)), "psy_stroop": (100, (None, 1.00, 1.00)),
    "psy_ego_depletion": (200, (0.99, 0.59, 0.29)),
    "bio_jq1_myeloma": (18, (1.00, 0.67, 0.36)),  # of 24 planned
    "chem_suzuki_ppb": (24, (None, 0.94, 0.65)),
    "eco_reef_fish": (128, (None, 0.80, 0.39)),
}  # fmt: skip


@pytest.mark.parametrize("study", STUDIES)
def test_published_plans_match_the_fact_sheets(study: str) -> None:
    n, values = STUDIES[study]
    pack = load_scenario(study, Difficulty.EASY)
    plan, design = assessment.assess(pack.reference_protocol, pack), pack.design
    effects = (design.effect_published, design.effect_planning, design.sesoi)
    result = [None if effect is None else plan.evidence_at(effect).value for effect in effects]
    assert plan.evidence.analysed == n
    assert [None if value is None else round(value, 2) for value in result] == list(values)
    assert plan.evidence.value == result[1]


PUBLISHED, HALF, SMALLEST = "as published", "halved", "smallest of interest"


@pytest.mark.parametrize(
    ("kind", "published", "planned", "smallest", "effects"),
    [
        # Of a true difference only the published one is worth assuming instead.
        ("equivalence", -0.2, 0.0, 0.4, [(PUBLISHED, 0.2)]),
        # Without a published effect, the planning effect is halved.
        ("two_group", None, 0.5, 0.3, [(HALF, 0.25), (SMALLEST, 0.3)]),
        ("audit", 0.62, 0.4, None, [(PUBLISHED, 0.62), (HALF, 0.31)]),
        ("two_group", -0.6, 0.5, -0.2, [(PUBLISHED, 0.6), (HALF, 0.3), (SMALLEST, 0.2)]),
        # Equal effects are one, under all their names.
        ("paired", 0.6, 0.6, 0.1 + 0.2, [(PUBLISHED, 0.6), (f"{HALF}, {SMALLEST}", 0.3)]),
        ("coverage", None, None, None, []),
        ("precision", None, 0.1, None, []),
    ],
)
def test_assumed_effects_of_a_design(
    kind: str,
    published: float | None,
    planned: float | None,
    smallest: float | None,
    effects: list[tuple[str, float]],
) -> None:
    record = {"precision": WIDTH, "coverage": CENSUS}.get(kind, {"kind": kind})
    design = factories.make_design(
        **record, effect_published=published, effect_planning=planned, sesoi=smallest
    )
    assert list(assessment.assumed_effects(design)) == effects


def test_scale_of_shares_and_widths() -> None:
    power_of = assessment.assess(factories.make_protocol(), factories.make_pack()).evidence
    assert assessment.scale_of([power_of]) == (0.0, 1.0)
    assert assessment.place_of(power_of, 0.0) == power_of.value
    pack = factories.make_pack(design=design_of("precision"))
    few, unbounded = (
        assessment.assess(factories.make_protocol(sample_size=n), pack).evidence for n in (4, 0)
    )
    worst, best = assessment.scale_of([few, unbounded])
    assert (best, assessment.place_of(unbounded, worst)) == (0, worst)
    assert max(few.floor, few.value) < worst < unbounded.value == math.inf
