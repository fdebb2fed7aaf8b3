"""Interim looks of a plan in its lab: samples, days and credits by hand, levels by SciPy."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, nct, norm, t, ttest_ind

from replicalab.assessment import Assessment, assess
from replicalab.measures import KINDS
from replicalab.measures.looks import LEAST_ALPHA, MOST_ALPHA, LooksFamily
from replicalab.models import Dimension, revise
from replicalab.planner.looks import LookedAt, LooksPlan, NoLooks, looked_at, with_looks
from replicalab.scenarios import Arms, Design, DesignKind, Looks, Pack, Units, read_looks
from tests.factories import (
    change_pack,
    make_design,
    make_pack,
    make_protocol,
    make_substitution,
    make_throughput,
)
from tests.measures.designs import design_of, effect_of
from tests.strategies import own_packs

ONE: Final = read_looks("obrien_fleming:1")


def planned(looks: Looks | str, plan: Assessment) -> LooksPlan:
    """Return a plan that can have looks, with them."""
    found = with_looks(plan, read_looks(looks) if isinstance(looks, str) else looks)
    assert isinstance(found, LooksPlan)
    return found


def half_a_sd(samples: int = 40, dropout: float = 0.0, **changes: Any) -> Assessment:
    """Return a plan of a study of d = 0.5 in which 20 samples a day can be done."""
    design = make_design(effect_planning=0.5, dropout=dropout)
    pack = make_pack(design=design, samples_per_day=make_throughput(), constraints=[])
    return assess(make_protocol(sample_size=samples), change_pack(pack, **changes))


def test_sizes_days_and_credits_are_those_worked_out_by_hand() -> None:
    found = planned(ONE, half_a_sd())
    # d = 0.5 needs 64 a group; O'Brien and Fleming's 1.008 times as many are 64.5.
    assert (found.fixed.counts.samples, found.fixed.counts.days) == (128, 7)
    first, last = found.analyses
    assert (first.samples, last.samples) == (66, 130)
    # 66 samples take four days, the other 64 four more.
    assert (first.day, last.day) == (4, 8)
    # 10 a sample, 50 a day; two controls of 25, instruments of 100 and reagents of 75.
    assert (first.credits, last.credits) == (1260.0, 2100.0)
    assert (found.worst.counts.samples, found.worst.counts.days) == (130, 8)
    assert found.fits
    assert found.over == 0


def test_level_is_kept_at_the_samples_of_the_looks() -> None:
    found = planned("pocock:0.3,0.6", half_a_sd())
    samples = np.array([each.samples for each in found.analyses])
    shares = samples / samples[-1]
    correlations = np.sqrt(np.minimum.outer(shares, shares) / np.maximum.outer(shares, shares))
    z = np.array([each.z for each in found.analyses])
    stays = multivariate_normal(np.zeros(3), correlations, seed=1).cdf(z, lower_limit=-z)
    assert 1 - stays == pytest.approx(0.05, abs=2e-5)
    assert [each.p for each in found.analyses] == pytest.approx([*(2 * norm.sf(z))])
    for effect in (False, True):
        ends = [each.with_effect if effect else each.without for each in found.analyses]
        assert sum(ends) == pytest.approx(1)
        mean = float(np.dot(ends, samples))
        assert found.mean(lambda each: each.samples, effect=effect) == pytest.approx(mean)
    assert found.analyses[0].without == pytest.approx(found.analyses[0].p)


def test_lab_that_cannot_run_the_worst_case_says_by_how_much() -> None:
    # 8 days and the items take 800 credits, so that 1,900 leave room for 110 samples.
    found = planned(ONE, half_a_sd(budget=1900.0))
    assert (found.fits, found.over) == (False, 20)
    assert found.worst.failing == [Dimension.BUDGET]
    late = planned(ONE, half_a_sd(days=7))
    assert (late.fits, late.fixed.feasible) == (False, True)
    assert Dimension.SCHEDULE in late.worst.failing


def test_samples_that_do_not_exist_are_not_run() -> None:
    design = make_design(effect_planning=0.5, population_max=129)
    found = planned(ONE, half_a_sd(design=design))
    assert found.fixed.counts.samples == 128
    assert (found.fits, found.over) == (False, 1)


def test_batch_waits_for_the_look_before_it() -> None:
    days = [
        [each.day for each in planned("pocock:2", half_a_sd(**lab)).analyses]
        for lab in ({"samples_per_day": None}, {"samples_per_day": None, "min_days": 5}, {})
    ]
    assert days == [[3, 6, 9], [5, 10, 15], [3, 6, 9]]


def test_batch_of_one_more_than_a_days_samples_takes_a_day_more() -> None:
    found = planned(ONE, half_a_sd(samples_per_day=make_throughput(value=13)))
    # 66 are five days of 13 and one more, the other 64 are less than five.
    assert [(each.samples, each.day) for each in found.analyses] == [(66, 6), (130, 11)]


def test_look_that_spends_next_to_nothing_takes_no_more_samples() -> None:
    found = planned("obrien_fleming:0.05", half_a_sd())
    assert found.test.inflation == pytest.approx(1)
    assert [each.samples for each in found.analyses] == [8, 128]  # 6.4 are 4 + 4


def test_levels_at_both_ends_have_looks() -> None:
    for alpha, target in ((LEAST_ALPHA, 0.8), (MOST_ALPHA, 0.8)):
        design = make_design(effect_planning=0.5, alpha=alpha, target=target)
        assert isinstance(with_looks(half_a_sd(design=design), ONE), LooksPlan)


def test_samples_planned_make_up_for_dropout() -> None:
    found = planned(ONE, half_a_sd(dropout=0.2))
    # 128 of 160 are left, and 131 of 164; half of these are 67 of 84, for of 82 only 65 are.
    assert found.fixed.counts.samples == 160
    assert [each.samples for each in found.analyses] == [84, 164]
    assert [each.number for each in found.analyses] == [67, 131]


def test_look_at_a_survival_study_waits_for_events() -> None:
    design = design_of(DesignKind.SURVIVAL, effect_planning=0.5, event_share=0.6)
    found = planned(ONE, half_a_sd(design=design))
    # Schoenfeld: 4 (1.95996 + 0.84162)² / (log 0.5)² = 65.3 events, of 109 patients: 55 an arm.
    assert found.fixed.counts.samples == 110
    numbers = [(each.samples, each.number) for each in found.analyses]
    assert numbers == [(each, math.ceil(0.6 * each)) for each, _ in numbers]
    assert numbers[-1] == (112, 68)  # 110 times 1.008 is 110.9


# --- whole units ------------------------------------------------------------------------------


def in_tanks(
    arms: Arms | None = None, dropout: float = 0.0, effect: float = 0.5, **units: Any
) -> Assessment:
    """Return a plan of d = 0.5 with tanks of 16."""
    tanks = Units.model_validate({"name": "tank", "samples": 16.0, **units})
    design = make_design(effect_planning=effect, dropout=dropout, units=tanks, arms=arms)
    pack = make_pack(design=design, samples_per_day=None, constraints=[])
    return assess(make_protocol(sample_size=128), pack)


def test_looks_are_at_whole_tanks_and_the_largest_sample_too() -> None:
    found = planned("obrien_fleming:2", in_tanks())
    # 128 are 4 + 4 tanks without looks; 1.012 times as many take 5 + 5.
    assert found.fixed.counts.samples == 128
    assert [each.samples for each in found.analyses] == [64, 128, 160]
    assert found.worst.counts.samples == 160
    shares = [each.samples / 160 for each in found.analyses]
    assert found.test.rule.shares == pytest.approx(shares)
    # 160 have more than the power of 0.8, and end so much sooner.
    more = (found.test.drift / found.test.rule.drift_for(0.8)) ** 2
    assert more == pytest.approx(160 / (128 * found.test.inflation))


def test_looks_of_unlike_arms_are_at_whole_tanks_of_both() -> None:
    # One tank and three; a quarter of 172 and the rest are worth the 64 + 64 of equal arms.
    found = planned("obrien_fleming:2", in_tanks(Arms(share=0.25)))
    assert [each.samples for each in found.analyses] == [64, 128, 192]


def test_unlike_arms_that_are_never_whole_together_have_no_looks() -> None:
    # 333 of 1,000 and 667: only from 333 and 667 tanks on are both of them whole.
    plan = in_tanks(Arms(share=0.333), samples=1000.0)
    assert with_looks(plan, ONE) is NoLooks.FEW


Case = tuple[float, float | None, float | None, float, str]

WHOLE: Final = st.tuples(
    st.integers(4, 80).map(lambda quarters: quarters / 4),
    st.sampled_from((None, 0.0, 0.1, 1.0)),
    st.sampled_from((None, 0.05, 0.25, 1 / 3, 0.4, 0.6, 0.37, 0.9)),
    st.sampled_from((0.0, 0.1, 0.45)),
    st.sampled_from(("pocock:1", "obrien_fleming:2", "pocock:4")),
)


@given(WHOLE)
@example((1.0, None, 0.25, 0.0, "pocock:1"))
# Samples that are enough at the bounds without rounding are not at those that go with them.
@example((4.25, 0.1, 1 / 3, 0.45, "obrien_fleming:2"))
@example((15.75, 1.0, None, 0.0, "obrien_fleming:2"))
def test_analyses_fill_whole_units_of_each_arm_and_none_fewer_would_do(case: Case) -> None:
    check_whole(case)


@pytest.mark.parametrize("share", [0.05, 0.95])
def test_arm_of_a_single_sample_is_whole_too(share: float) -> None:
    # Of up to ten samples an arm of 5 % has one, though its share is less than a half.
    check_whole((1.0, None, share, 0.0, "pocock:0.05"), effect=1.0)


@pytest.mark.long
@settings(max_examples=3000)
@given(WHOLE)
def test_analyses_of_3000_labs_fill_whole_units_and_none_fewer_would_do(case: Case) -> None:
    check_whole(case)


def check_whole(case: Case, effect: float = 0.5) -> None:
    """Hold the samples of each analysis against every size of whole units in each arm."""
    per_unit, icc, share, dropout, text = case
    arms = None if share is None else Arms(share=share)
    plan = in_tanks(arms, dropout, effect, samples=per_unit, icc=icc)
    found, design = with_looks(plan, read_looks(text)), plan.pack.design
    if isinstance(found, NoLooks):
        assert found is NoLooks.FEW
        return
    assert found is not None

    def fills(arm: int) -> bool:
        size = Fraction(str(per_unit))
        return arm == math.floor(size * math.ceil(arm / size))

    def is_whole(n: int) -> bool:
        arms = split(n, design.arms.share if design.arms else 0.5)
        return all(map(fills, arms)) and (design.uneven or n % 2 == 0)

    def worth(n: int) -> float:
        return information(n, design)

    goal = found.test.inflation * worth(found.fixed.counts.samples)
    # Of two samples there is no t-test.
    wholes = [n for n in range(3, found.analyses[-1].samples + 1) if is_whole(n)]
    enough = [n for n in wholes if worth(n) >= goal * (1 - 1e-9)]
    # Another size, once at most, for the bounds that go with it; unlike arms are whole so unevenly
    # that each size has bounds, and needs, of its own.
    assert found.analyses[-1].samples in (enough if design.uneven else enough[:2])
    at_last = worth(found.analyses[-1].samples)
    for each, wanted in zip(found.analyses, read_looks(text).analyses, strict=True):
        assert each.samples == next(n for n in wholes if worth(n) >= wanted * at_last * (1 - 1e-9))


def information(n: int, design: Design) -> float:
    """Return one over the variance of the difference of two means, of what dropout leaves."""
    left = math.floor(n * (1 - Fraction(str(design.dropout))))
    share, variance = design.arms.share if design.arms else 0.5, 0.0
    assert design.units
    for planned, counted in zip(split(n, share), split(left, share), strict=True):
        if counted < 1:
            return 0.0
        rho, per_unit = design.units.icc, design.units.samples
        if rho is not None:
            if min(counted, math.ceil(planned / Fraction(str(per_unit)))) < 2:
                return 0.0
            between = max(per_unit / planned, 1 / counted)
            variance += rho * between + (1 - rho) / counted
        else:
            variance += 1 / counted
    return 1 / variance


def split(n: int, share: float) -> tuple[int, int]:
    """Return the arms of a sample: a half down, one at least."""
    first = min(max(1, math.ceil(share * n - 0.5)), n - 1)
    return first, n - first


def test_substitution_takes_its_part_of_the_effect() -> None:
    swap = make_substitution(evidence_factor=0.5)
    pack = half_a_sd(substitutions=[swap]).pack
    plan = make_protocol(required_equipment=["window shelf", "light meter"])
    found = planned(ONE, assess(plan, pack))
    assert found.fixed.counts.samples == 506  # R's pwr: d = 0.25 needs 252.1 a group


def own_looks(text: str, samples: int = 128, **changes: Any) -> LookedAt:
    """Return what a plan of d = 0.5 in seven days or more comes to with looks of its own."""
    plan = half_a_sd(samples, **changes)
    design = plan.pack.design.model_copy(update={"looks": read_looks(text)})
    pack = change_pack(plan.pack, design=design)
    found = looked_at(assess(revise(plan.plan, duration_days=max(7, -(-samples // 20))), pack))
    assert isinstance(found, LookedAt)
    return found


def crossing(drift: float, shares: np.ndarray[Any, Any], z: np.ndarray[Any, Any]) -> float:
    """Return the probability of crossing a bound at any analysis, by SciPy."""
    correlations = np.sqrt(np.minimum.outer(shares, shares) / np.maximum.outer(shares, shares))
    normal = multivariate_normal(drift * np.sqrt(shares), correlations, seed=1)
    return 1 - float(normal.cdf(z, lower_limit=-z))


@pytest.mark.parametrize("text", ["obrien_fleming:1", "pocock:2", "hwang_shih_decani:0.25,0.5:-2"])
@pytest.mark.parametrize("samples", [32, 128])
def test_own_sample_has_the_power_that_its_looks_leave(text: str, samples: int) -> None:
    found = own_looks(text, samples)
    assert found.analyses[-1].samples == found.worst.counts.samples == samples
    # The two-sided t-test's power by SciPy, and the drift at which a z-test has that.
    freedom, shift = samples - 2, 0.5 * math.sqrt(samples / 4)
    critical = t.isf(0.025, freedom)
    power = nct.sf(critical, freedom, shift) + nct.cdf(-critical, freedom, shift)
    edge = norm.isf(0.025)
    drift = brentq(lambda d: norm.sf(edge - d) + norm.cdf(-edge - d) - power, 0, 9)
    shares = np.array([each.samples / samples for each in found.analyses])
    z = np.array([each.z for each in found.analyses])
    assert crossing(0.0, shares, z) == pytest.approx(0.05, abs=2e-5)
    assert found.power == pytest.approx(crossing(drift, shares, z), abs=2e-5)
    assert found.power < found.plan.evidence.value == pytest.approx(power)
    first, mean = found.analyses[0], drift * math.sqrt(shares[0])
    ends = norm.sf(first.z - mean) + norm.cdf(-first.z - mean)
    assert first.with_effect == pytest.approx(ends, abs=1e-8)


def test_own_plan_is_paid_for_batch_by_batch_and_keeps_its_days() -> None:
    found = own_looks("obrien_fleming:1")
    # 64 samples take four days of 20, and the other 64 four more.
    assert [(each.samples, each.day) for each in found.analyses] == [(64, 4), (128, 8)]
    # 10 a sample, 50 a day; two controls of 25, instruments of 100 and reagents of 75.
    assert [each.credits for each in found.analyses] == [1240.0, 2080.0]
    assert (found.worst.counts.days, found.worst.cost) == (8, 2080.0)
    ends = [each.with_effect for each in found.analyses]
    mean = found.mean(lambda each: each.credits, effect=True)
    assert mean == pytest.approx(float(np.dot(ends, [1240.0, 2080.0])))


def test_own_plan_that_takes_longer_with_looks_may_not_fit() -> None:
    assert own_looks("pocock:1", days=8).fits
    late = own_looks("pocock:1", days=7)
    assert Dimension.SCHEDULE in late.worst.failing
    assert not late.fits


def test_samples_beyond_those_that_count_are_paid_for_and_tell_nothing() -> None:
    capped = own_looks("pocock:1", 136, design=make_design(effect_planning=0.5, population_max=128))
    assert capped.power == own_looks("pocock:1").power
    assert capped.analyses[-1].samples == 136
    assert capped.analyses[-1].credits == capped.worst.cost


def test_study_that_has_looks_is_checked_as_without() -> None:
    plan = half_a_sd(128)
    looked = assess(plan.plan, change_pack(plan.pack, design=plan.pack.design.model_copy(
        update={"looks": ONE})))  # fmt: skip
    assert looked.check == plan.check
    assert looked.evidence == plan.evidence
    assert with_looks(looked) == with_looks(looked, ONE)
    assert (with_looks(plan), looked_at(plan)) == (None, None)
    assert (plan.evidence.text, looked.evidence.text) == ("power 0.70", "power 0.70 without looks")
    assert with_looks(looked, Looks(family=LooksFamily.POCOCK, interim=0)) is None


SIGNIFICANT: Final[dict[str, object]] = {"criteria": ["significant"]}
ORIGINAL: Final[dict[str, object]] = {
    "original": {"effect": 0.5, "se": 0.2, "source": "x", "confidence": "recalled"},
}
REFUSED: Final[list[tuple[dict[str, object], NoLooks]]] = [
    ({"kind": "anova", "groups": 3}, NoLooks.KIND),
    ({"kind": "coverage", "population_max": 50}, NoLooks.KIND),
    ({**ORIGINAL, "replication": {"criteria": ["interval"]}}, NoLooks.SUCCESS),
    ({**ORIGINAL, "replication": {"criteria": ["significant", "interval"]}}, NoLooks.SUCCESS),
    ({**ORIGINAL, "replication": {**SIGNIFICANT, "plan_with": "success"}}, NoLooks.SUCCESS),
    ({**ORIGINAL, "replication": {**SIGNIFICANT, "level": 0.01}}, NoLooks.SUCCESS),
    ({**ORIGINAL, "replication": {**SIGNIFICANT, "sides": 1}}, NoLooks.SUCCESS),
    ({"alpha": 1e-300}, NoLooks.LEVEL),
    ({"alpha": 0.9, "target": 0.95}, NoLooks.LEVEL),
    ({"target": 0.999999}, NoLooks.POWER),
    ({"target": 0.05, "floor": 0.05}, NoLooks.POWER),
    ({"effect_planning": 1e-6}, NoLooks.TARGET),
    ({"population_max": 4}, NoLooks.TARGET),
    ({"effect_planning": 1e6}, NoLooks.FEW),
]


@pytest.mark.parametrize(("changes", "why"), REFUSED)
def test_plan_that_can_have_no_looks_says_why(changes: dict[str, object], why: NoLooks) -> None:
    pack = make_pack(design=make_design(**changes))
    assert with_looks(assess(make_protocol(), pack), read_looks("pocock:4")) is why


@pytest.mark.parametrize(("changes", "why"), REFUSED)
def test_own_sample_is_refused_for_the_same_reasons(
    changes: dict[str, object], why: NoLooks
) -> None:
    design = make_design(**changes)
    asked = {"looks": read_looks("pocock:1")}
    if why is NoLooks.KIND:
        with pytest.raises(ValidationError, match="looks are given"):
            design.model_copy(update=asked)
        return
    found = looked_at(assess(make_protocol(), make_pack(design=design.model_copy(update=asked))))
    of_any_sample = why in (NoLooks.SUCCESS, NoLooks.LEVEL)
    assert found is why if of_any_sample else isinstance(found, LookedAt | NoLooks)


@pytest.mark.parametrize(
    ("changes", "samples", "text", "sizes"),
    [
        # One sample, or one in each group, has no t-test; 0.38 of an event is none.
        ({"kind": "one_sample"}, 20, "pocock:0.05", [2, 20]),
        ({"kind": "one_sample"}, 3, "pocock:2", None),
        ({}, 20, "pocock:0.1", [4, 20]),
        ({}, 4, "pocock:1", None),
        ({"kind": "survival", "event_share": 0.01}, 127, "pocock:0.3", [100, 127]),
        # 1.34 events are the second, for which 200 samples wait as well.
        ({"kind": "survival", "event_share": 0.01}, 200, "pocock:0.67", None),
    ],
)
def test_each_look_has_a_test_and_more_to_test_than_the_one_before(
    changes: dict[str, object], samples: int, text: str, sizes: list[int] | None
) -> None:
    design = make_design(effect_planning=0.5, **changes, looks=read_looks(text))
    plan = assess(make_protocol(sample_size=samples, controls=[]), make_pack(design=design))
    found = looked_at(plan)
    if sizes is None:
        assert found is NoLooks.FEW
    else:
        assert isinstance(found, LookedAt)
        assert [each.samples for each in found.analyses] == sizes


def test_significance_as_the_study_tests_it_may_be_looked_at() -> None:
    chosen = {**SIGNIFICANT, "level": 0.05}
    design = make_design(effect_planning=0.5, **{**ORIGINAL, "replication": chosen})
    assert isinstance(own_looks("pocock:1", design=design), LookedAt)


@given(
    own_packs(),
    st.sampled_from(DesignKind),
    st.floats(0.2, 9.0),
    st.sampled_from((1e-5, 0.01, 0.05, 0.5)),
    st.sampled_from((0.55, 0.8, 0.99)),
    st.sampled_from((0.0, 0.3, 0.95)),
    st.sampled_from(("pocock:1", "obrien_fleming:4", "hwang_shih_decani:0.05,0.95:20")),
)
def test_any_plan_has_looks_or_a_reason(
    pack: Pack,
    kind: DesignKind,
    size: float,
    alpha: float,
    target: float,
    dropout: float,
    text: str,
) -> None:
    effect, lower = effect_of(kind, size), kind is DesignKind.PRECISION
    bounds = {} if lower else {"target": target, "floor": 0.5}
    design = design_of(kind, alpha, effect_planning=effect, dropout=dropout, **bounds)
    plan = assess(pack.reference_protocol, change_pack(pack, design=design, constraints=[]))
    _own_sample_is_in_order(plan, text)
    found = with_looks(plan, read_looks(text))
    if isinstance(found, NoLooks):
        return
    assert found is not None
    rows = found.analyses
    for one, later in pairwise(rows):
        assert one.samples < later.samples
        assert one.day + pack.min_days <= later.day
        assert one.credits <= later.credits
        assert one.number <= later.number
    assert found.fixed.counts.samples <= rows[-1].samples == found.worst.counts.samples
    assert found.worst.evidence.able <= rows[-1].samples
    groups = {DesignKind.TWO_GROUP, DesignKind.TWO_PROPORTIONS, DesignKind.SURVIVAL}
    assert all(each.samples % 2 == 0 for each in rows if kind in groups)
    for effect in (False, True):
        assert rows[0].samples <= found.mean(lambda each: each.samples, effect=effect) + 1e-6
        assert found.mean(lambda each: each.day, effect=effect) <= rows[-1].day + 1e-6
    # It has the power of the fixed plan, or what whole groups add to it, and keeps the level.
    assert sum(found.test.rule.crossings(found.test.drift, sides=1)) >= target - 1e-9
    assert sum(found.test.rule.crossings(0.0)) == pytest.approx(alpha)


def _own_sample_is_in_order(plan: Assessment, text: str) -> None:
    """Assert that what a plan's own sample comes to with looks is possible."""
    design = plan.pack.design
    if KINDS[design.kind].information is None:
        return
    looked = design.model_copy(update={"looks": read_looks(text)})
    own = looked_at(assess(plan.plan, change_pack(plan.pack, design=looked)))
    if own is None:
        assert plan.evidence.void_reason
    if not isinstance(own, LookedAt):
        return
    assert 0 <= own.power <= plan.evidence.value
    assert own.analyses[-1].samples == plan.counts.samples
    assert own.worst.counts.days >= plan.counts.days
    for one, later in pairwise(own.analyses):
        assert (one.samples, one.day, one.credits) < (later.samples, later.day, later.credits)
        assert one.number <= later.number
    for effect in (False, True):
        ends = [each.with_effect if effect else each.without for each in own.analyses]
        assert min(ends) >= 0
        assert sum(ends) == pytest.approx(1)
        mean = own.mean(lambda each: each.credits, effect=effect)
        assert own.analyses[0].credits - 1e-6 <= mean <= own.worst.cost + 1e-6


@pytest.mark.long
@pytest.mark.parametrize("text", ["pocock:2", "obrien_fleming:2", "hwang_shih_decani:2"])
def test_t_tests_at_the_looks_have_the_power_and_keep_the_level(text: str) -> None:
    found = planned(text, half_a_sd())
    rng, trials = np.random.default_rng(7), 100_000
    each = [row.samples // 2 for row in found.analyses]
    # Of a hundred thousand the error is 0.0013; whole groups are worth 0.008 at most.
    own = own_looks(text, found.worst.counts.samples)
    assert own.power == pytest.approx(0.804, abs=0.008)
    for effect, least, most in ((0.0, 0.046, 0.054), (0.5, 0.796, 0.812)):
        first = rng.normal(effect, size=(trials, each[-1])).astype(np.float32)
        second = rng.normal(size=(trials, each[-1])).astype(np.float32)
        hit = np.zeros(trials, dtype=bool)
        for row, n in zip(found.analyses, each, strict=True):
            stops = ~hit & (ttest_ind(first[:, :n], second[:, :n], axis=1).pvalue < row.p)
            chance = row.with_effect if effect else row.without
            if row is not found.analyses[-1]:
                assert stops.mean() == pytest.approx(chance, abs=0.02)
            hit |= stops
        assert least < hit.mean() < most
