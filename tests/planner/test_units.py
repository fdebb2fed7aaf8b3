"""What a plan's units make of it, and samples and units that show more for the same money."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any, Final

import numpy as np
import pytest
from scipy import stats

from replicalab.assessment import (
    Assessment,
    assess,
    cautions_text,
    evidence_value,
    samples_in_arms,
    units_in_arms,
)
from replicalab.planner import PlanAnalysis
from replicalab.planner.units import better_allocation, by_correlation, with_correlation
from replicalab.reports import markdown, report
from replicalab.scenarios import (
    Arms,
    CostModel,
    Design,
    DesignKind,
    EvidenceAssumptions,
    LabOverrides,
    Units,
    load_scenario,
)
from replicalab.views.units import allocation_text, basis_text, units_panel, unknown_text
from replicalab.views.verdicts import plan_verdict
from tests.factories import change_pack, make_design, make_pack, make_protocol, make_throughput
from tests.measures.designs import design_of
from tests.planner.small_labs import small_lab
from tests.tiers import batches

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
        "128 samples are worth 51.2 independent ones."
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


@pytest.mark.parametrize("first", batches(60, short=1, long=8))
def test_better_allocation_is_the_best_of_all_that_the_money_and_the_samples_allow(
    first: int,
) -> None:
    said = dict.fromkeys(("found", "few"), 0)
    for seed in range(first, first + 60):
        plan = tanks_by_chance(Random(seed))
        values, prices, most = allocations(plan)
        found, best = better_allocation(plan), max(values, default=0.0)
        # One that shows less than 0.005 more is not told.
        assert (found is not None) is bool(best > plan.evidence.value + 0.005), seed
        if found is None:
            continue
        said["found"] += 1
        said["few"] += found.samples + found.per_unit > most
        assert found.value == pytest.approx(best, abs=1e-9), seed
        # Of two that show the same, such as one with the arms changed over, it is the cheaper.
        assert found.credits == pytest.approx(prices[values > best - 1e-11].min()), seed
        arms = tuple(found.per_unit * held for held in found.units)
        assert samples_in_arms(found.samples, found.design) == arms
        assert found.share == found.units[0] / sum(found.units)
        assert evidence_value(found.design, found.samples, plan.evidence.effect) == found.value
    assert min(said.values()) > 4


def tanks_by_chance(rng: Random) -> Assessment:
    """Return a plan in tanks of some size and price; now and then hardly more samples exist."""
    size, samples = rng.choice((1, 2, 3, 4, 6, 8)), rng.randint(8, 60)
    units = Units(
        name="tank",
        samples=float(size),
        icc=rng.choice((0.02, 0.1, 0.3, 0.6)),
        cost=rng.choice((1.0, 5.0, 20.0, 60.0)),
        sample_cost=rng.choice((0.0, 2.5)),
    )
    arms = {name: rng.choice((0.0, 30.0)) for name in ("first_cost", "second_cost")}
    two = rng.random() < 0.7
    design = make_design(
        kind=T_TESTS[0] if two else T_TESTS[1],
        effect_planning=rng.choice((0.2, 0.4)) * (2 if two else 1),
        units=units,
        arms=Arms(share=rng.choice((0.3, 0.5, 0.75)), **arms) if two else None,
        population_max=rng.choice((None, samples - 2, samples, samples + 3)),
    )
    return assess(make_protocol(sample_size=samples), make_pack(design=design))


Numbers = np.ndarray[Any, np.dtype[np.float64]]


def allocations(plan: Assessment) -> tuple[Numbers, Numbers, float]:
    """Return power and price of each allocation for a plan's money, and how many samples exist.

    Tanks hold up to three times as many samples as is best without rounding, and 8 more; of as many
    in the first arm only the allocation with the most in the other counts.
    """
    design, samples = plan.pack.design, plan.counts.samples
    units, arms = design.units, design.arms or Arms()
    assert units
    assert units.icc is not None
    assert design.effect_planning is not None
    two, most = design.kind is T_TESTS[0], design.population_max or math.inf
    # 10 is the lab's rate of a sample.
    first = 10 + units.sample_cost + arms.first_cost
    second = 10 + units.sample_cost + arms.second_cost if two else 0.0
    had = arms_by_hand(samples, design, arms.share)
    budget = units.cost * sum(tanks_of(samples, design, arms.share))
    budget += sum(n * rate for n, rate in zip(had, (first, second), strict=False))
    found = set()
    largest = math.ceil(3 * best_size(units.icc, units.cost, first, second if two else first)) + 8
    sizes = [(m, m * first + units.cost) for m in range(1, largest + 1)]
    for m, one in ((m, n) for m, price in sizes for n in range(2, int(budget / price + 1e-9) + 1)):
        left = budget - one * (m * first + units.cost)
        other = math.floor(min(left / (m * second + units.cost) + 1e-9, most / m - one))
        # Each arm has 5 % of the tanks, or more: what the other would have beyond is left out.
        other = min(other, 19 * one) if two else 0
        held = min(one, 19 * other) if two else one
        if m * (held + other) <= most and (other > 1 or not two):
            price = held * (m * first + units.cost) + other * (m * second + units.cost)
            found.add((m, held, other, price))
    size, ones, others, prices = np.array(sorted(found), dtype=float).reshape(-1, 4).T
    variance = (units.icc + (1 - units.icc) / size) * (1 / ones + (1 / others if two else 0))
    free, shift = ones + others - (2 if two else 1), design.effect_planning / variance**0.5
    at = stats.t.ppf(1 - 0.05 / 2, free)
    values = stats.nct.sf(at, free, shift) + np.nan_to_num(stats.nct.cdf(-at, free, shift))
    return values, prices, most


def best_size(icc: float, unit: float, first: float, second: float) -> float:
    """Return the size of tank with the least variance for the money: docs/methods.md."""
    n, p = 1.0, 0.5
    for _ in range(100):
        n = math.sqrt((1 - icc) / icc * unit / ((1 - p) * second + p * first))
        plain, treated = (math.sqrt(each * n + unit) for each in (second, first))
        p = plain / (plain + treated)
    return n


def fewer(samples: int, share: float, icc: float = 0.3, **costs: float) -> Assessment:
    """Return a plan of d = 0.3 in tanks of 16, with no more samples than exist."""
    units = Units(name="tank", samples=16.0, icc=icc, cost=1.0)
    design = make_design(
        effect_planning=0.3,
        units=units,
        arms=Arms.model_validate({"share": share, **costs}),
        population_max=samples,
    )
    return assess(make_protocol(sample_size=samples), make_pack(design=design))


@pytest.mark.parametrize(
    ("plan", "units"),
    [
        # At 11 and 41 a tank of one the money would pay for more tanks than there are samples: for
        # as many as these of each, 60 · 52 of 90 · 40 + 30 · 10 + 8 credits, ...
        (fewer(120, 0.75, first_cost=30.0), (60, 60)),
        (fewer(120, 0.25, second_cost=30.0), (60, 60)),
        # ... or for 120 of which (48 · 40 + 72 · 10 + 8 - 120 · 11) / 30 = 44.3 are dear.
        (fewer(120, 0.4, first_cost=30.0), (44, 76)),
        (fewer(120, 0.6, second_cost=30.0), (76, 44)),
        # 4 % of the tanks in the dear arm vary the least for the money: a study has 5 % or more.
        (fewer(400, 0.25, 0.01, first_cost=10_000.0), None),
        (fewer(400, 0.75, 0.01, second_cost=10_000.0), None),
    ],
)
def test_better_allocation_is_one_that_a_study_may_have(
    plan: Assessment, units: tuple[int, int] | None
) -> None:
    found = better_allocation(plan)
    assert found
    assert found.value == pytest.approx(max(allocations(plan)[0]), abs=1e-9)
    assert units is None or found.units == units
    assert 0.05 <= found.share <= 0.95


def test_unit_that_is_partly_filled_is_better_filled_evenly() -> None:
    # 9 in tanks of 4 are 4 + 4 + 1, and three tanks of 3 cost the same. The best for the variance
    # alone is a tank of √(5.184 / 0.001) = 72, but there is no money for a fourth in each of three.
    units = Units(name="tank", samples=4.0, icc=0.5, cost=5.184)
    design = design_of(DesignKind.ONE_SAMPLE, units=units, effect_planning=2.0)
    rates = CostModel(per_sample=0.001)
    found = better_allocation(
        assess(make_protocol(sample_size=9), make_pack(design=design, cost_model=rates))
    )
    assert found
    assert (found.per_unit, found.units) == (3, (3,))
    assert found.credits == pytest.approx(9 * 0.001 + 3 * 5.184)


def few_tanks(
    kind: str, n: int, samples: float, units: dict[str, float], **changes: object
) -> Assessment:
    """Return a plan of one group in tanks of which the lab or the study caps the samples."""
    held = Units.model_validate({"name": "tank", "samples": samples, **units})
    throughput = make_throughput(value=3) if changes.pop("three_a_day", False) else None
    price = changes.pop("price", 1.0)
    design = make_design(kind=kind, effect_planning=0.8, units=held, **changes)
    pack = make_pack(
        design=design,
        samples_per_day=throughput,
        cost_model=CostModel.model_validate({"per_sample": price}),
    )
    return assess(make_protocol(sample_size=n), pack)


@pytest.mark.parametrize(
    ("plan", "per_unit", "units"),
    [
        (
            few_tanks(
                "one_sample",
                43,
                3.0,
                {"icc": 0.1, "cost": 200.0, "sample_cost": 1.0},
                price=0.0,
                three_a_day=True,
            ),
            1,
            15,
        ),
        (
            few_tanks(
                "one_sample",
                64,
                3.0,
                {"icc": 0.02, "cost": 200.0, "sample_cost": 1.0},
                three_a_day=True,
            ),
            1,
            15,
        ),
        (
            few_tanks(
                "one_sample",
                54,
                16.0,
                {"icc": 0.02, "cost": 200.0, "sample_cost": 1.0},
                population_max=30,
            ),
            7,
            4,
        ),
        (
            few_tanks(
                "paired", 61, 16.0, {"icc": 0.95, "cost": 30.0, "sample_cost": 1.0}, dropout=0.2
            ),
            2,
            7,
        ),
    ],
)
def test_better_allocation_of_one_group_is_the_best_of_all_that_are_allowed(
    plan: Assessment, per_unit: int, units: int
) -> None:
    held, found = plan.pack.design.units, better_allocation(plan)
    assert held
    assert found
    assert (found.per_unit, found.units) == (per_unit, (units,))
    each = plan.pack.cost_model.per_sample + held.sample_cost
    number = plan.counts.samples
    budget = number * each + math.ceil(number / held.samples) * held.cost
    most = 15 if plan.pack.samples_per_day else plan.pack.design.population_max or 1000
    for size, count in product(range(1, most // 2 + 1), range(2, most + 1)):
        if size * count <= most and count * (size * each + held.cost) <= budget:
            there = held.model_copy(update={"samples": float(size)})
            design = plan.pack.design.model_copy(update={"units": there})
            shown = evidence_value(design, size * count, plan.evidence.effect)
            assert shown <= found.value + 1e-9, (size, count)


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
        f"The same money shows more with {found.per_unit} per tank, "
        f"{100 * first / (first + second):.0f} % of tanks treated: power {found.value:.2f} in "
        f"place of 0.33 for {found.credits:,.0f} credits, no more than samples "
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


def test_no_correlation_is_tried_with_a_baseline_which_needs_independent_samples() -> None:
    units = Units(name="tray", samples=6.0)
    design = make_design(kind="two_proportions", effect_planning=0.5, baseline=0.6, units=units)
    plan = assess(make_protocol(), make_pack(design=design))
    assert by_correlation(plan) == {}
    assert unknown_text(plan) == ""
    said = markdown(report(PlanAnalysis(plan), on=date(2026, 3, 1)))
    assert "Samples that share a tray are taken as independent." in said
    assert "By the intraclass correlation" not in said
    assert "Leave out the baseline" in str(units_panel(plan))


def test_with_correlation_leaves_designs_without_units_alone() -> None:
    design = design_of(DesignKind.ANOVA)
    assert with_correlation(design, 0.1) == design
