"""Survival: Schoenfeld's events as others print them, and log-rank tests of simulated studies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from replicalab.assessment import (
    AssumedEffect,
    assumed_effects,
    evidence_value,
    planned_evidence,
    smallest_detectable_effect,
)
from replicalab.scenarios import DesignKind
from tests.factories import make_pack, make_protocol
from tests.measures.designs import design_of


def power(n: int, ratio: float, event_share: float = 1.0, alpha: float = 0.05) -> float:
    design = design_of(DesignKind.SURVIVAL, alpha, event_share=event_share)
    return evidence_value(design, n, ratio)


# --- published events -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratio", "target", "events"),
    # R's gsDesign, nEvents(hr, alpha = .05, sided = 2): 246.79 and 169.18 at beta .20. The rest is
    # 4 (z + z)² / log(hr)², as trial reports quote it: 66 events halve a hazard, 88 with power .90.
    [
        (0.7, 0.80, 247),
        (0.65, 0.80, 170),
        (0.5, 0.80, 66),
        (2.0, 0.80, 66),
        (0.5, 0.90, 88),
        (0.75, 0.90, 508),
        (0.8, 0.80, 631),
    ],
)
def test_power_reaches_the_target_at_the_published_events(
    ratio: float, target: float, events: int
) -> None:
    assert power(events, ratio) >= target
    assert power(events - 1, ratio) < target


@pytest.mark.parametrize(
    ("ratio", "n"),
    # Jachno, Heritier & Wolfe (2015), Trials 16, 213, Table 1: N by Schoenfeld's formula for 80 %
    # at 5 %, half of the samples censored; the events are rounded up to an even number.
    [(1.50, 384), (2.00, 132)],
)
def test_samples_are_the_events_over_their_share(ratio: float, n: int) -> None:
    assert power(n, ratio, event_share=0.5) >= 0.80
    assert power(n - 4, ratio, event_share=0.5) < 0.80


@pytest.mark.parametrize("n", [40, 160, 1000])
def test_power_is_that_of_the_normal_statistic(n: int) -> None:
    shift = abs(math.log(0.7)) * math.sqrt(0.6 * n / 4)
    critical = stats.norm.isf(0.025)
    expected = stats.norm.sf(critical - shift) + stats.norm.cdf(-critical - shift)
    assert power(n, 0.7, event_share=0.6) == pytest.approx(expected, rel=1e-12)
    assert power(n, 1 / 0.7, event_share=0.6) == pytest.approx(expected, rel=1e-12)


# --- simulation -------------------------------------------------------------------------------


def rejected(times: np.ndarray[Any, Any], seen: np.ndarray[Any, Any], first: int) -> float:
    """Return the share of studies, one a row, whose log-rank test rejects at 5 %, two-sided."""
    order = np.argsort(times, axis=1)
    treated = np.take_along_axis(np.arange(times.shape[1])[None, :] < first, order, axis=1)
    event = np.take_along_axis(seen, order, axis=1)
    at_risk = np.arange(times.shape[1], 0, -1)[None, :]
    share = treated[:, ::-1].cumsum(axis=1)[:, ::-1] / at_risk
    excess = ((treated - share) * event).sum(axis=1)
    variance = (share * (1 - share) * event).sum(axis=1)
    return float(np.mean(np.abs(excess) > stats.norm.isf(0.025) * np.sqrt(variance)))


@pytest.mark.parametrize(
    ("n", "ratio", "event_share"), [(248, 0.7, 1.0), (412, 0.7, 0.6), (120, 0.6, 0.9)]
)
def test_power_is_near_that_of_simulated_log_rank_tests(
    n: int, ratio: float, event_share: float
) -> None:
    # An approximation: good to two hundredths at these sizes and ratios, and called one.
    rng, runs = np.random.default_rng(1981), 4000
    hazards = np.where(np.arange(n) < n // 2, ratio, 1.0)
    times = rng.exponential(1, (runs, n)) / hazards
    watched = np.quantile(times, event_share)
    found = rejected(np.minimum(times, watched), times <= watched, n // 2)
    assert found == pytest.approx(power(n, ratio, event_share), abs=0.02 + 0.02)


# --- words and effects ------------------------------------------------------------------------


def test_a_substitution_multiplies_the_logarithm() -> None:
    pack = make_pack(design=design_of(DesignKind.SURVIVAL, effect_planning=0.49))
    found = planned_evidence(make_protocol(sample_size=200), pack, factor=0.5)
    assert found.effect == pytest.approx(0.7)
    assert planned_evidence(make_protocol(sample_size=200), pack).effect == 0.49


def test_assumed_hazard_ratios_keep_their_side_and_are_halved_in_the_log() -> None:
    design = design_of(DesignKind.SURVIVAL, effect_published=0.64, effect_planning=0.7, sesoi=0.85)
    published, halved, smallest = assumed_effects(design)
    assert published == AssumedEffect("as published", 0.64)
    assert halved.label == "halved"
    assert halved.effect == pytest.approx(0.8)
    assert smallest == AssumedEffect("smallest of interest", 0.85)


@pytest.mark.parametrize(("planned", "side"), [(0.7, 0.7001), (1.4, 1 / 0.7001)])
def test_the_smallest_detectable_ratio_is_on_the_planned_side_of_one(
    planned: float, side: float
) -> None:
    design = design_of(DesignKind.SURVIVAL, effect_planning=planned, event_share=1.0)
    assert smallest_detectable_effect(design, 247) == pytest.approx(side, abs=2e-4)
