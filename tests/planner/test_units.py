"""The evidence of a plan whose samples are in units."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np
import pytest
from scipy import stats

from replicalab.assessment import Assessment, assess, evidence_value, units_in_arms
from replicalab.planner.curves import by_correlation
from replicalab.scenarios import (
    Arms,
    Design,
    EvidenceAssumptions,
    LabOverrides,
    Units,
    load_scenario,
)
from tests.factories import change_pack, make_design, make_pack, make_protocol
from tests.planner.small_labs import small_lab

WRITTEN: Final = load_scenario("eco_reef_fish", "easy")
FISH: Final = change_pack(WRITTEN, design=WRITTEN.design.model_copy(update={"units": None}))


def tanks(arms: Arms | None = None, **changes: object) -> Assessment:
    """Return the fish study's reference protocol, with tanks of 16."""
    units = Units.model_validate({"name": "tank", "samples": 16, **changes})
    assumptions = EvidenceAssumptions(units=units, arms=arms)
    return assess(FISH.reference_protocol, FISH.with_own(LabOverrides(), assumptions))


def power(shift: float, free: int) -> float:
    at = stats.t.ppf(0.975, free)
    return float(stats.nct.sf(at, free, shift) + stats.nct.cdf(-at, free, shift))


def test_power_by_correlation_matches_scipy() -> None:
    record = by_correlation(tanks())
    expected = {rho: power(0.5 * (32 / (1 + 15 * rho)) ** 0.5, 6) for rho in (0.01, 0.05, 0.1)}
    assert record == pytest.approx(expected, abs=1e-9)
    assert [*by_correlation(tanks(icc=0.03))] == [0.01, 0.03, 0.05, 0.1]


def test_units_without_a_correlation_change_no_number() -> None:
    plain, plan = assess(FISH.reference_protocol, FISH), tanks()
    assert plan.evidence == plain.evidence
    assert plan.detectable_effect == plain.detectable_effect
    assert plan.cost == plain.cost
    assert [*by_correlation(plain)] == []


def test_partly_filled_unit_is_worth_its_samples() -> None:
    units = Units(name="tank", samples=16.0, icc=0.1)
    pack = FISH.with_own(LabOverrides(), EvidenceAssumptions(units=units))
    fewer = assess(FISH.reference_protocol.model_copy(update={"sample_size": 98}), pack)
    # 49 in an arm: three tanks of 16 and one of a single fish.
    assert fewer.evidence.value == pytest.approx(power(0.5 * (49 / 2 / 2.5) ** 0.5, 6), abs=1e-9)


def test_evidence_in_units_matches_scipy() -> None:
    tried = 0
    for seed in range(600):
        plan, pack = small_lab(seed)
        design = pack.design
        units, effect = design.units, design.effect_planning
        if design.kind not in T_TESTS or units is None or units.icc is None or effect is None:
            continue
        share = design.arms.share if design.arms else 0.5
        for n in (3, 7, 12, 25, 40):
            value = evidence_value(design, n, effect)
            expected = power_by_hand(design, n, share if design.kind == T_TESTS[0] else None)
            assert value == pytest.approx(expected, abs=1e-9), (seed, n)
            tried += 1
        planned = assess(plan, pack)
        numbers = tanks_of(planned.counts.samples, design, share)
        assert sum(units_in_arms(planned.counts.samples, design)) == sum(numbers)
    assert tried > 200


T_TESTS: Final = ("two_group", "paired", "one_sample")


def arms_by_hand(n: int, design: Design, share: float) -> list[int]:
    """Return the samples of each arm: a half down, one at least; of one group all."""
    if design.kind != T_TESTS[0]:
        return [n]
    first = math.ceil(Fraction(str(share)) * n - Fraction(1, 2))
    first = min(max(first, 1), n - 1) if n > 1 else first
    return [first, n - first]


def tanks_of(n: int, design: Design, share: float) -> list[int]:
    assert design.units
    size = Fraction(str(design.units.samples))
    return [math.ceil(arm / size) for arm in arms_by_hand(n, design, share)]


def power_by_hand(design: Design, n: int, share: float | None) -> float:
    """Return the power at the planning effect, by scipy: dropout takes samples of whole units."""
    units = design.units
    assert units
    assert units.icc is not None
    assert design.effect_planning is not None
    rest = n - math.ceil(n * Fraction(str(design.dropout)))
    arms = [arms_by_hand(number, design, share or 0.5) for number in (n, rest)]
    variance, free = 0.0, 0
    for planned, counted in zip(*arms, strict=True):
        stored = min(math.ceil(planned / Fraction(str(units.samples))), counted)
        if stored < 2:
            return 0.0
        between = max(units.samples / planned, 1 / counted)
        variance += units.icc * between + (1 - units.icc) / counted
        free += stored - 1
    at = stats.t.ppf(1 - (design.alpha or 0) / 2, free)
    shift = design.effect_planning / variance**0.5
    tails = stats.nct.sf(at, free, shift), stats.nct.cdf(-at, free, shift)
    return float(np.nansum(tails))  # scipy has NaN for a tail of nothing


def test_baseline_needs_independent_samples() -> None:
    units = Units(name="tray", samples=6.0)
    design = make_design(kind="two_proportions", effect_planning=0.5, baseline=0.6, units=units)
    plan = assess(make_protocol(), make_pack(design=design))
    assert by_correlation(plan) == {}
