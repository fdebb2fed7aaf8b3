"""Evidence in units, and the limits that keep a target out of reach, by scipy."""

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pytest
from scipy import stats

from replicalab import scenarios
from replicalab.assessment import Assessment, assess, evidence_value, units_in_arms
from replicalab.planner.curves import Curves, TargetLimit
from tests.designs.examples import t_power
from tests.factories import change_pack, make_design, make_pack, make_protocol
from tests.planner.small_labs import small_lab
from tests.tiers import batches, one_in

WRITTEN: Final = scenarios.load_scenario("eco_reef_fish", "easy")
FISH: Final = change_pack(WRITTEN, design=WRITTEN.design.model_copy(update={"units": None}))


def fish_tanks(arms: scenarios.Arms | None = None, **changes: object) -> Assessment:
    units = scenarios.Units.model_validate({"name": "tank", "samples": 16, **changes})
    assumptions = scenarios.EvidenceAssumptions(units=units, arms=arms)
    return assess(FISH.reference_protocol, FISH.with_own(scenarios.LabOverrides(), assumptions))


def test_power_by_correlation_matches_scipy() -> None:
    record = Curves(fish_tanks()).by_correlation
    expected = {rho: t_power(0.5 * (32 / (1 + 15 * rho)) ** 0.5, 6) for rho in (0.01, 0.05, 0.1)}
    assert record == pytest.approx(expected, abs=1e-9)
    assert [*Curves(fish_tanks(icc=0.03)).by_correlation] == [0.01, 0.03, 0.05, 0.1]


def test_units_without_a_correlation_change_no_number() -> None:
    plain, plan = assess(FISH.reference_protocol, FISH), fish_tanks()
    assert plan.evidence == plain.evidence
    assert plan.detectable_effect == plain.detectable_effect
    assert plan.cost == plain.cost
    assert [*Curves(plain).by_correlation] == []


@pytest.mark.parametrize("seeds", batches(600, quick=150, long=1))
def test_evidence_in_units_matches_scipy(seeds: range) -> None:
    tried = 0
    for seed in seeds:
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
    assert tried > len(seeds) / 4


T_TESTS: Final = ("two_group", "paired", "one_sample")


def arms_by_hand(n: int, design: scenarios.Design, share: float) -> list[int]:
    if design.kind != T_TESTS[0]:
        return [n]
    first = math.ceil(Fraction(str(share)) * n - Fraction(1, 2))
    first = min(max(first, 1), n - 1) if n > 1 else first
    return [first, n - first]


def tanks_of(n: int, design: scenarios.Design, share: float) -> list[int]:
    assert design.units
    size = Fraction(str(design.units.samples))
    return [math.ceil(arm / size) for arm in arms_by_hand(n, design, share)]


def power_by_hand(design: scenarios.Design, n: int, share: float | None) -> float:
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
    units = scenarios.Units(name="tray", samples=6.0)
    design = make_design(kind="two_proportions", effect_planning=0.5, baseline=0.6, units=units)
    plan = assess(make_protocol(), make_pack(design=design))
    assert Curves(plan).by_correlation == {}


def tanks(
    icc: float = 0.1, samples: int = 128, per_unit: float = 16.0, **design: Any
) -> Assessment:
    units = scenarios.Units(name="tank", samples=per_unit, icc=icc)
    made = make_design(**{"effect_planning": 0.5, "units": units, **design})
    pack = make_pack(design=made, samples_per_day=None, constraints=[])
    return assess(make_protocol(sample_size=samples), pack)


def power(counts: tuple[int, ...], per_unit: float, icc: float, effect: float = 0.5) -> float:
    variance = sum((icc + (1 - icc) / per_unit) / k for k in counts)
    shift, free = effect / variance**0.5, sum(counts) - len(counts)
    return t_power(shift, free)


@pytest.mark.parametrize("icc", one_in(4, [0.1, 0.02, 0.05, 0.3]))
def test_units_limit_matches_trying_every_size(icc: float) -> None:
    limit = Curves(tanks(icc)).units_limit
    assert limit
    assert limit.units == (4, 4)
    assert limit.most == pytest.approx(power((4, 4), float("inf"), icc), abs=1e-6)
    sizes = np.arange(1, 3000)
    shifts = 0.5 / (2 * (icc + (1 - icc) / sizes) / 4) ** 0.5
    reached = sizes[stats.nct.sf(stats.t.ppf(0.975, 6), 6, shifts) >= 0.8]  # without the far tail
    assert limit.per_unit == next(iter(reached), None)
    enough = next(k for k in range(2, 200) if power((k, k), 16, icc) >= 0.8)
    assert limit.enough == (enough, enough)


def test_one_group_is_limited_by_units() -> None:
    limit = Curves(tanks(samples=64, kind="paired")).units_limit
    assert limit
    assert limit.units == (4,)
    assert limit.most == pytest.approx(power((4,), float("inf"), 0.1), abs=1e-6)
    assert limit.most < 0.8
    assert limit.per_unit is None
    assert limit.enough == (next(k for k in range(2, 99) if power((k,), 16, 0.1) >= 0.8),)


def test_identical_fish_count_as_one_per_tank() -> None:
    # At a correlation of 1 nine in tanks of 4 are worth 9 / 4, and one in each of the three 3.
    one = power((3,), 1, 1.0, effect=3.0)
    limit = Curves(
        tanks(1.0, 9, 4.0, kind="paired", effect_planning=3.0, target=one - 0.01, floor=0.1)
    ).units_limit
    assert limit
    assert limit.per_unit == 1


def test_one_fish_never_reaches_the_target() -> None:
    limit = Curves(tanks(samples=1)).units_limit
    assert limit
    assert (sorted(limit.units), limit.most, limit.per_unit) == ([0, 1], 0.0, None)


@pytest.mark.parametrize(("last", "expected"), [(499, 500), (500, None)])
def test_samples_per_unit_end_at_the_planned_limit(last: int, expected: int | None) -> None:
    # A million in 2,000 tanks are 500 in each. The target lies between two sizes of tank.
    small, large = (power((1000, 1000), m, 0.5, effect=0.1) for m in (last, last + 1))
    limit = Curves(
        tanks(0.5, 2000, 1.0, effect_planning=0.1, target=(small + large) / 2, floor=0.1)
    ).units_limit
    assert limit
    assert (limit.units, limit.per_unit) == ((1000, 1000), expected)


@pytest.mark.parametrize(("last", "expected"), [(499_999, (31_250, 31_250)), (500_000, None)])
def test_units_end_at_the_planned_limit(last: int, expected: tuple[int, int] | None) -> None:
    # 500,000 in each arm are a million; the target lies between them and one fewer, or one more.
    small, large = (power((31_250, 31_250), m / 31_250, 0.0, 0.005) for m in (last, last + 1))
    target = 0.2 * small + 0.8 * large  # beyond one fish more in a single arm
    limit = Curves(tanks(0.0, 128, effect_planning=0.005, target=target, floor=0.1)).units_limit
    assert limit
    assert limit.enough == expected


@pytest.mark.parametrize(
    ("share", "samples", "units"),
    # 5 % of 645 fish are 32, two tanks of 41: less than 5 % of the tanks.
    [(0.75, 128, (6, 2)), (0.05, 645, (2, 39))],
)
def test_unlike_arms_keep_their_tanks(share: float, samples: int, units: tuple[int, int]) -> None:
    limit = Curves(tanks(arms=scenarios.Arms(share=share), samples=samples)).units_limit
    assert limit
    assert limit.units == units
    assert limit.most == pytest.approx(power(units, float("inf"), 0.1), abs=1e-6)


@pytest.mark.parametrize(
    "plan", [tanks(samples=1000), tanks(samples=0), tanks(icc=0.0, samples=200)]
)
def test_units_limit_needs_unmet_target_and_evidence(plan: Assessment) -> None:
    assert Curves(plan).units_limit is None


UNREACHED: Final = (
    (tanks(population_max=160), TargetLimit.UNITS),
    (tanks(population_max=100), TargetLimit.POPULATION),
    (tanks(icc=0.0, population_max=100), TargetLimit.POPULATION),
    (tanks(effect_published=None, sesoi=None, population_max=10**6), None),
)


@pytest.mark.parametrize(("plan", "limit"), UNREACHED)
def test_limit_that_binds_is_named(plan: Assessment, limit: TargetLimit | None) -> None:
    unreached = Curves(plan).why_unreached
    assert (unreached and unreached.limit) == limit


def test_unreached_target_has_its_evidence() -> None:
    units = tanks(population_max=160)
    value = power((5, 5), 16, 0.1)
    result = Curves(units).why_unreached
    assert result
    assert result.samples == 160
    assert result.value == pytest.approx(value, abs=1e-9)
    tiny = Curves(
        assess(make_protocol(), make_pack(design=make_design(effect_planning=1e-4)))
    ).why_unreached
    assert tiny
    assert (tiny.limit, tiny.samples, round(tiny.value, 2)) == (TargetLimit.PLANNED, 10**6, 0.05)
