"""What a plan's units make of it, and samples and units that show more for the same money."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction
from itertools import product
from typing import Final

import numpy as np
import pytest
from scipy import stats

from replicalab.assessment import (
    Assessment,
    assess,
    cautions_text,
    evidence_value,
    units_in_arms,
)
from replicalab.planner import PlanAnalysis
from replicalab.planner.units import better_allocation, by_correlation, with_correlation
from replicalab.reports import markdown, report
from replicalab.scenarios import (
    Arms,
    Design,
    DesignKind,
    EvidenceAssumptions,
    LabOverrides,
    Units,
    load_scenario,
)
from replicalab.views.units import allocation_text, basis_text, unknown_text
from replicalab.views.verdicts import plan_verdict
from tests.factories import change_pack, make_design, make_pack, make_protocol
from tests.measures.designs import design_of
from tests.planner.small_labs import small_lab

WRITTEN: Final = load_scenario("eco_reef_fish", "easy")
FISH: Final = change_pack(WRITTEN, design=WRITTEN.design.model_copy(update={"units": None}))


def tanks(arms: Arms | None = None, **changes: object) -> Assessment:
    """Return the fish study's reference protocol, with tanks of 16."""
    units = Units.model_validate({"name": "tank", "samples": 16, **changes})
    asked = EvidenceAssumptions(units=units, arms=arms)
    return assess(FISH.reference_protocol, FISH.with_own(LabOverrides(), asked))


def tanks_less(dropout: float, **changes: object) -> Assessment:
    """Return the same plan of which a share drops out."""
    units = Units.model_validate({"name": "tank", "samples": 16, **changes})
    asked = EvidenceAssumptions(units=units, dropout=dropout)
    return assess(FISH.reference_protocol, FISH.with_own(LabOverrides(), asked))


def power(shift: float, free: int) -> float:
    at = stats.t.ppf(0.975, free)
    return float(stats.nct.sf(at, free, shift) + stats.nct.cdf(-at, free, shift))


def test_power_at_each_correlation_is_that_of_its_design_effect() -> None:
    found = by_correlation(tanks())
    expected = {rho: power(0.5 * (32 / (1 + 15 * rho)) ** 0.5, 6) for rho in (0.01, 0.05, 0.1)}
    assert found == pytest.approx(expected, abs=1e-9)
    assert [*by_correlation(tanks(icc=0.03))] == [0.01, 0.03, 0.05, 0.1]


def test_units_without_a_correlation_change_no_number_but_the_cost() -> None:
    plain, given = assess(FISH.reference_protocol, FISH), tanks(cost=20.0, sample_cost=0.5)
    assert given.evidence == plain.evidence
    assert given.detectable_effect == plain.detectable_effect
    assert given.cost == plain.cost + 8 * 20 + 128 * 0.5
    terms = [(term.label, term.number, term.rate) for term in given.cost_terms]
    assert terms[5:] == [("Tanks", 8, 20.0), ("Samples in them", 128, 0.5)]
    assert [*by_correlation(plain)] == []


def test_partly_filled_unit_costs_a_unit_and_is_worth_its_samples() -> None:
    units = Units(name="tank", samples=16.0, icc=0.1, cost=20.0)
    pack = FISH.with_own(LabOverrides(), EvidenceAssumptions(units=units))
    fewer = assess(FISH.reference_protocol.model_copy(update={"sample_size": 98}), pack)
    # 49 in an arm: three tanks of 16 and one of a single fish.
    assert next(term.number for term in fewer.cost_terms if term.label == "Tanks") == 8
    assert fewer.evidence.value == pytest.approx(power(0.5 * (49 / 2 / 2.5) ** 0.5, 6), abs=1e-9)


def test_arms_with_costs_of_their_own_cost_what_their_samples_do() -> None:
    plain = assess(FISH.reference_protocol, FISH)
    found = tanks(arms=Arms(share=0.75, first_cost=2.0, second_cost=7.0))
    assert found.cost == plain.cost + 96 * 2 + 32 * 7
    assert "Arms of 96 + 32." in basis_text(found)


def test_basis_says_design_effect_worth_and_degrees_of_freedom() -> None:
    assert basis_text(tanks(icc=0.1)) == (
        "8 tanks of 16 (4 + 4) with an intraclass correlation of 0.1: design effect 2.5, so that "
        "128 samples are worth 51.2 independent ones, and 6 degrees of freedom from tanks."
    )
    found = tanks_less(0.3, icc=0.1)
    assert basis_text(found) == (
        "8 tanks of 16 (4 + 4), 11.1 left in each, with an intraclass correlation of 0.1: design "
        "effect 2.01, so that 89 samples are worth 44.2 independent ones, and 6 degrees of freedom "
        "from tanks."
    )
    assert basis_text(tanks()) == basis_text(assess(FISH.reference_protocol, FISH)) == ""


def test_title_of_a_verdict_says_that_units_are_too_few() -> None:
    assert "too few tanks" in plan_verdict(tanks(samples=64)).title.casefold()
    assert "tank" not in plan_verdict(tanks(samples=32)).title
    assert "tank" not in plan_verdict(tanks_less(0.9, samples=32)).title


@pytest.mark.parametrize(
    ("study", "units"),
    [("eco_reef_fish", ("tank", 16.0)), ("chem_suzuki_ppb", ("lot", 12.0))],
)
def test_shipped_study_names_its_units_and_no_correlation(
    study: str, units: tuple[str, float]
) -> None:
    pack = load_scenario(study, "easy")
    found = pack.design.units
    assert found
    assert (found.name, found.samples, found.icc, found.is_free) == (*units, None, True)
    bare = change_pack(pack, design=pack.design.model_copy(update={"units": None}))
    plan, plain = (assess(pack.reference_protocol, each) for each in (pack, bare))
    assert (plan.evidence, plan.cost) == (plain.evidence, plain.cost)
    assert found.name in cautions_text(plan)
    assert not cautions_text(plain)


def test_report_says_what_an_unknown_correlation_would_make_of_the_plan() -> None:
    powers = [power(0.5 * (32 / (1 + 15 * rho)) ** 0.5, 6) for rho in (0.01, 0.05, 0.1)]
    one, two, three = (f"{each:.2f}" for each in powers)
    text = unknown_text(tanks())
    assert text == (
        "With an intraclass correlation of 0.01, 0.05 and 0.1 the power would be "
        f"{one}, {two} and {three}."
    )
    assert unknown_text(tanks(icc=0.1)) == unknown_text(assess(FISH.reference_protocol, FISH)) == ""
    found = markdown(report(PlanAnalysis(tanks()), on=date(2026, 11, 24)))
    assert text in found


def test_evidence_in_small_labs_is_that_of_the_variance_between_and_within_units() -> None:
    tried = 0
    for seed in range(600):
        plan, pack = small_lab(seed)
        design = pack.design
        units, effect = design.units, design.effect_planning
        if design.kind not in T_TESTS or units is None or units.icc is None or effect is None:
            continue
        share = design.arms.share if design.arms else 0.5
        for n in (3, 7, 12, 25, 40):
            found = evidence_value(design, n, effect)
            expected = power_by_hand(design, n, share if design.kind is T_TESTS[0] else None)
            assert found == pytest.approx(expected, abs=1e-9), (seed, n)
            tried += 1
        planned = assess(plan, pack)
        held = tanks_of(planned.counts.samples, design, share)
        assert sum(units_in_arms(planned.counts.samples, design)) == sum(held)
    assert tried > 200


T_TESTS: Final = (DesignKind.TWO_GROUP, DesignKind.PAIRED, DesignKind.ONE_SAMPLE)


def arms_by_hand(n: int, design: Design, share: float) -> list[int]:
    """Return the samples of each arm: a half down, one at least; of one group all."""
    if design.kind is not T_TESTS[0]:
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
    left = n - math.ceil(n * Fraction(str(design.dropout)))
    arms = [arms_by_hand(each, design, share or 0.5) for each in (n, left)]
    variance, free = 0.0, 0
    for planned, counted in zip(*arms, strict=True):
        held = min(math.ceil(planned / Fraction(str(units.samples))), counted)
        if held < 2:
            return 0.0
        between = max(units.samples / planned, 1 / counted)
        variance += units.icc * between + (1 - units.icc) / counted
        free += held - 1
    at = stats.t.ppf(1 - (design.alpha or 0) / 2, free)
    shift = design.effect_planning / variance**0.5
    tails = stats.nct.sf(at, free, shift), stats.nct.cdf(-at, free, shift)
    return float(np.nansum(tails))  # scipy has NaN for a tail of nothing


def test_better_allocation_with_dropout_is_the_best_of_all() -> None:
    units = Units(name="tank", samples=16.0, icc=0.1, cost=60.0)
    asked = EvidenceAssumptions(units=units, dropout=0.4)
    plan = assess(FISH.reference_protocol, FISH.with_own(LabOverrides(), asked))
    found, spent = better_allocation(plan), 128 * 10 + 8 * 60
    assert found
    assert found.credits <= spent
    for m, one in product(range(1, 60), range(2, 30)):
        design = found.design.model_copy(
            update={"units": units.model_copy(update={"samples": float(m)})}
        )
        n = 2 * m * one
        if n * 10 + 2 * one * 60 <= spent and n <= 160:
            by_hand = power_by_hand(design.model_copy(update={"arms": None}), n, 0.5)
            assert by_hand <= found.value + 1e-6, (m, one)


# --- a better allocation ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cost", "first_cost", "correlation"), [(20.0, 0.0, 0.1), (60.0, 30.0, 0.1), (90.0, 0.0, 0.3)]
)
def test_better_allocation_costs_no_more_and_shows_what_it_says(
    cost: float, first_cost: float, correlation: float
) -> None:
    plan = tanks(Arms(first_cost=first_cost), cost=cost, icc=correlation)
    found = better_allocation(plan)
    assert found
    first, second = found.units
    n, m = found.samples, found.per_unit
    assert n == m * (first + second)
    spent = 128 * 10 + 64 * first_cost + 8 * cost
    assert found.credits == n * 10 + first * m * first_cost + (first + second) * cost
    assert found.credits <= spent + 1e-6
    size = m * first * second / (first + second) / (1 + (m - 1) * correlation)
    value = power(0.5 * size**0.5, first + second - 2)
    assert found.value == pytest.approx(value, abs=1e-9)
    # No other number of samples in a unit, and no other division, shows more for that money.
    for m, one, other in product(range(1, 40), range(2, 60), range(2, 60)):
        price = m * (one * (10 + first_cost) + other * 10) + (one + other) * cost
        if price <= spent and m * (one + other) <= 160:
            size = m * one * other / (one + other) / (1 + (m - 1) * correlation)
            if size >= n / m / 4:  # of the others the power is far less
                assert power(0.5 * size**0.5, one + other - 2) <= value + 1e-6, (m, one, other)


@pytest.mark.parametrize(
    ("share", "dear", "best"), [(0.25, "first_cost", 0.05), (0.75, "second_cost", 0.95)]
)
def test_better_allocation_is_one_that_a_study_may_have(
    share: float, dear: str, best: float
) -> None:
    # For the money 4 % of the tanks in the dear arm vary the least: a study has 5 % or more.
    units = Units(name="tank", samples=16.0, icc=0.01, cost=10.0)
    arms = Arms.model_validate({"share": share, dear: 10_000.0})
    design = make_design(effect_planning=0.3, units=units, arms=arms)
    plan = assess(make_protocol(sample_size=400), make_pack(design=design))
    found = better_allocation(plan)
    assert found
    assert found.best[1] == pytest.approx(best)
    held = units.model_copy(update={"samples": float(found.per_unit)})
    own = make_design(effect_planning=0.3, units=held, arms=Arms(share=found.share))
    assert evidence_value(own, found.samples, 0.3) == pytest.approx(found.value)


@pytest.mark.parametrize("icc", [1e-20, 5e-324])
@pytest.mark.parametrize("kind", ["paired", "two_group"])
def test_samples_that_are_as_good_as_independent_have_no_endless_unit(
    kind: str, icc: float
) -> None:
    # The best is a tank of 10^10 samples, or of no end of them, which no study may have.
    units = Units(name="tank", samples=16.0, icc=icc, cost=20.0)
    design = make_design(kind=kind, effect_planning=0.3, units=units)
    found = better_allocation(assess(make_protocol(), make_pack(design=design)))
    assert found is None or found.per_unit <= 40


def test_better_allocation_is_told_with_units_share_power_and_money() -> None:
    plan = tanks(Arms(first_cost=30.0), cost=60.0, icc=0.1)
    found, units = better_allocation(plan), plan.pack.design.units
    assert found
    assert units
    first, second = found.units
    assert allocation_text(plan, found, units) == (
        f"For these costs the best is {found.per_unit} per tank, 39 % of tanks treated: "
        f"power {found.value:.2f} in place of 0.33 for {found.credits:,.0f} credits, no more than "
        "samples "
        f"and tanks cost now ({found.samples} samples in {first} treated and {second} other tanks)."
    )


def test_there_is_no_better_allocation_where_units_are_free_or_nothing_is_known() -> None:
    assert better_allocation(tanks(icc=0.1)) is None
    assert better_allocation(tanks(cost=20.0)) is None
    assert better_allocation(assess(FISH.reference_protocol, FISH)) is None
    best = tanks(cost=20.0, icc=0.1, samples=4)
    assert better_allocation(best) is None


def test_one_group_in_units_has_a_better_allocation_too() -> None:
    units = Units(name="class", samples=25.0, icc=0.2, cost=10.0)
    design = design_of(DesignKind.ONE_SAMPLE, units=units, effect_planning=0.4)
    plan = assess(make_protocol(sample_size=100), make_pack(design=design, samples_per_day=None))
    found = better_allocation(plan)
    assert found
    assert found.per_unit in (2, 3)
    assert len(found.units) == 1
    assert found.credits <= 100 * 10 + 4 * 10


def test_with_correlation_leaves_designs_without_units_alone() -> None:
    design = design_of(DesignKind.ANOVA)
    assert with_correlation(design, 0.1) == design
