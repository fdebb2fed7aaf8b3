"""Plans by the probability of success: the planner against every plan of thousands of small labs.

It may fall with n, so what counts is the best of up to n; here it is worked out for each n anew,
by scipy, from the original's and the replication's standard errors alone. What is seen through
substitutions is divided by their factor, which makes n samples as good as factor² · n.
"""

from __future__ import annotations

import math
from functools import cache
from random import Random
from typing import Any, Final

import numpy as np
import pytest
from scipy import stats

from replicalab.assessment import assess, counted_of
from replicalab.assessment.success import success_of
from replicalab.measures.success import Criterion, Prior
from replicalab.models import Protocol
from replicalab.planner import PlanAnalysis, leanest
from replicalab.scenarios import Design, Pack
from tests.factories import change_pack, make_design
from tests.planner.brute_force import evidence_of, ranked, tried
from tests.planner.small_labs import small_lab
from tests.tiers import batches

BATCH: Final = 125
BATCHES: Final = pytest.mark.parametrize("first", batches(BATCH, short=2, long=22))
CRITERIA: Final = (
    (Criterion.SIGNIFICANT,),
    (Criterion.SIGNIFICANT, Criterion.INTERVAL),
    (Criterion.INTERVAL,),
    (Criterion.SCEPTICAL_NOMINAL,),
    (Criterion.PREDICTION, Criterion.SIGNIFICANT),
    (Criterion.SIGNIFICANT, Criterion.SMALL_TELESCOPES),
    (Criterion.EQUIVALENCE,),
)


def successful_lab(seed: int) -> tuple[Protocol, Pack]:
    """Return a small lab whose plans are judged by the probability of success."""
    plan, pack = small_lab(seed)
    rng = Random(f"success {seed}")
    criteria = rng.choice(CRITERIA)
    equivalent = Criterion.EQUIVALENCE in criteria
    target = rng.choice((0.4, 0.6, 0.8))
    design = make_design(
        kind="one_sample",
        effect_published=None,
        sesoi=None,
        target=target,
        floor=rng.choice((0.2, 0.3, target)),
        population_max=rng.randint(2, 25),
        dropout=pack.design.dropout,
        original={
            "effect": round(rng.uniform(0.3, 1.5), 2),
            "n": rng.randint(4, 20),
            "source": "Invented",
            "confidence": "verified",
        },
        replication={
            "criteria": criteria,
            "prior": rng.choice([*Prior]),
            "tau": rng.choice((0.0, 0.0, 0.1, 0.4)),
            "level": rng.choice((0.05, 0.2)),
            "sides": rng.choice((1, 2)),
            "margin": round(rng.uniform(0.5, 2.5), 1) if equivalent else None,
            "plan_with": "success",
        },
    )
    constraints = [each for each in pack.study.constraints if each.bounds != "evidence"]
    return plan, change_pack(pack, design=design, constraints=constraints)


@cache
def opened(seed: int) -> PlanAnalysis:
    """Return what may be done about the plan of a small lab, found once for all tests."""
    return PlanAnalysis(assess(*successful_lab(seed)))


def by_scipy(design: Design, sizes: Any) -> Any:
    """Return the probability of success of studies as large as so many samples of one mean.

    In units of d; the original's standard error is 1/√n.
    """
    original, chosen = design.original, design.replication
    assert original is not None
    assert original.n is not None
    assert original.effect is not None
    assert chosen is not None
    d, var, tau2, s = original.effect, 1 / original.n, chosen.tau**2, 1 / np.sqrt(sizes)
    alpha = chosen.level or 0.05
    two, one = stats.norm.isf(alpha / 2), stats.norm.isf(alpha)
    by_side, wide = stats.norm.isf(alpha / chosen.sides), two * np.sqrt(var + s * s)
    margin, ratio = chosen.margin or 0.0, d * d / var / by_side**2
    doubt = by_side * np.sqrt(s * s + var / (ratio - 1)) if ratio > 1 else math.inf + s
    least = _telescope(original.n - 1) * math.sqrt(var)
    ranges = {
        Criterion.SIGNIFICANT: (by_side * s, math.inf),
        Criterion.INTERVAL: (d - two * s, d + two * s),
        Criterion.PREDICTION: (d - wide, d + wide),
        Criterion.EQUIVALENCE: (one * s - margin, margin - one * s),
        Criterion.SCEPTICAL_NOMINAL: (doubt, math.inf),
        Criterion.SMALL_TELESCOPES: (least - one * s, math.inf),
    }
    low, high = np.full_like(s, -math.inf), np.full_like(s, math.inf)
    for name in chosen.criteria:
        low, high = np.maximum(low, ranges[name][0]), np.minimum(high, ranges[name][1])
    kept = max(0.0, 1 - (var + tau2) / d**2)
    mean, spread = {
        Prior.CONDITIONAL: (d, tau2),
        Prior.PREDICTIVE: (d, var + 2 * tau2),
        Prior.EMPIRICAL_BAYES: (kept * d, kept * (var + tau2) + tau2),
    }[chosen.prior]
    sd = np.sqrt(spread + s * s)
    return np.maximum(0, stats.norm.cdf((high - mean) / sd) - stats.norm.cdf((low - mean) / sd))


def best_by_scipy(design: Design, most: float) -> float:
    """Return the largest of any study up to one as large as so many samples."""
    # No study is smaller than two samples, and one that is made so by what is substituted is worth
    # no more.
    if most < 2:
        start = float(by_scipy(design, np.array([2.0]))[0])
        return min(start, float(by_scipy(design, np.geomspace(most * 1e-9, most, 4000)).max()))
    sizes = np.geomspace(2, most, 4000)
    at = int(by_scipy(design, sizes).argmax())
    near = np.linspace(sizes[max(0, at - 1)], sizes[min(3999, at + 1)], 4000)
    return float(by_scipy(design, near).max())


@cache
def _telescope(df: int) -> float:
    """Return the noncentrality at which a two-sided t-test at 0.05 has a power of one third."""
    critical = stats.t.isf(0.025, df)
    low, high = 0.0, 10.0
    for _ in range(80):
        middle = (low + high) / 2
        power = stats.nct.sf(critical, df, middle) + stats.nct.cdf(-critical, df, middle)
        low, high = (middle, high) if power < 1 / 3 else (low, middle)
    return high


@BATCHES
def test_least_loss_by_success_is_the_best_of_every_plan_tried(first: int) -> None:
    fell = tiers = 0
    for seed in range(first, first + BATCH):
        plan, pack = successful_lab(seed)
        options = opened(seed)
        found, every = options.least, list(tried(plan, pack))
        theirs = [ranked(each, plan) for each in (options.yours, options.offered)]
        best = min([*theirs, *(each.rank for each in every)])
        assert (seed, found.rank) == (seed, best)
        assert found.exact
        fell += _falls(options)
        tiers |= 1 << int(best[1])
        passing = {each.tier for each in every if not each.failing}
        if not passing and found.after.feasible:
            continue
        assert (seed, found.none_feasible) == (seed, not passing)
        assert (seed, found.none_above_floor) == (seed, not passing - {2})
    assert fell > BATCH / 10
    assert tiers == 0b111


def _falls(options: PlanAnalysis) -> bool:
    """Return whether the probability falls with n somewhere among the samples that exist."""
    success, exist = success_of(options.yours), options.yours.pack.design.population_max
    assert success is not None
    assert exist is not None
    return bool(np.any(np.diff([success.chance(n) for n in range(1, exist + 1)]) < -1e-9))


@BATCHES
def test_evidence_by_success_is_the_best_of_up_to_n_by_scipy(first: int) -> None:
    for seed in range(first, first + BATCH):
        plan, pack = successful_lab(seed)
        design, factor = pack.design, assess(plan, pack).evidence_factor
        for n in range(1, (design.population_max or 0) + 1):
            counted, found = counted_of(design, n), evidence_of(plan, n, pack)
            best = best_by_scipy(design, counted * factor**2) if counted > 1 else 0.0
            assert found.value == pytest.approx(best, abs=1e-5), (seed, n)
            assert found.measure == "probability of success"


@BATCHES
def test_frontier_by_success_has_no_plan_that_another_beats(first: int) -> None:
    on_it = 0
    for seed in range(first, first + BATCH, 5):
        options = opened(seed)
        plan, pack = options.yours.plan, options.yours.pack
        values: dict[tuple[float, int], float] = {}
        every = []
        for one in tried(plan, pack):
            if not one.failing and not one.void:
                key = assess(one.plan(), pack).evidence_factor, one.samples
                if key not in values:
                    values[key] = assess(one.plan(), pack).evidence.value
                every.append((one.credits, one.loss, values[key]))
        for each in options.frontier.plans:
            on_it += 1
            for credits, loss, value in every:
                beats = credits < each.credits - 1e-6 and loss <= each.loss
                assert not (beats and value >= each.value + 1e-12), (seed, each)
    assert on_it > 5


def test_leanest_plan_by_success_is_the_first_that_meets_the_target() -> None:
    leaner = 0
    for seed in range(200):
        yours = opened(seed).yours
        found = leanest(yours)
        if found is not None and not yours.pack.limits:
            leaner += 1
            sizes = range(len(yours.plan.controls) + 1, yours.counts.samples)
            values = ((n, evidence_of(yours.plan, n, yours.pack).value) for n in sizes)
            target = yours.pack.design.target - 1e-12
            first = next((n for n, value in values if value >= target), None)
            assert (seed, found.counts.samples) == (seed, first)
    assert leaner > 5
