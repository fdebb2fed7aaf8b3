"""The curves of power analysis: published tables, brute force, and what a plan's check says."""

from __future__ import annotations

import math
from typing import Any, Final

import pytest

from replicalab.assessment import Evidence, assess
from replicalab.models import revise
from replicalab.planner.curves import Curves
from replicalab.scenarios import Design, Difficulty, EvidenceTier, load_scenario
from tests.factories import (
    make_design,
    make_pack,
    make_protocol,
)
from tests.planner.small_labs import opened
from tests.tiers import batches

MOST: Final = 60
LABS: Final = 50


def curves_of(design: Design, samples: int = 60, **lab: Any) -> Curves:
    return Curves(assess(make_protocol(sample_size=samples), make_pack(design=design, **lab)))


@pytest.mark.parametrize(
    ("changes", "needed"),
    [
        # Cohen (1988), tables 2.4.1 and 8.4.4, and G*Power 3.1: power 0.80 at alpha 0.05.
        ({"kind": "two_group", "effect_planning": 0.5}, 128),
        ({"kind": "two_group", "effect_planning": 0.2}, 787),  # 394 a group; 394 and 393 do
        ({"kind": "paired", "effect_planning": 0.5}, 34),
        ({"kind": "correlation", "effect_planning": 0.3}, 84),
        ({"kind": "anova", "effect_planning": 0.25, "groups": 3}, 159),
        # 128 are left of no fewer than 152 where 15.5 % drop out, and of 151 where 15 % do.
        ({"kind": "two_group", "effect_planning": 0.5, "dropout": 0.155}, 152),
        ({"kind": "two_group", "effect_planning": 0.5, "dropout": 0.15}, 151),
    ],
)
def test_samples_for_the_target_are_the_published_ones(
    changes: dict[str, Any], needed: int
) -> None:
    design = make_design(effect_published=None, sesoi=None, target=0.8, **changes)
    found = curves_of(design, samples=150)
    assert found.needed() == needed
    assert dict(found.samples_over_effects)[changes["effect_planning"]] == needed


def judged(found: Curves, samples: int, effect: float | None = None) -> Evidence:
    """Return what the check of the plan says of its evidence with so many samples."""
    plan = revise(found.plan.plan, sample_size=samples)
    return assess(plan, found.plan.pack).evidence_at(effect)


def assert_as_the_check(found: Curves, upto: int) -> None:
    """Assert that every point, and every number beside, is what plans so large are judged to be."""
    scale, target = found.plan.evidence.row.scale, found.plan.evidence.target

    def tried(effect: float | None) -> int | None:
        reach = (judged(found, n, effect) for n in range(1, upto + 1))
        there = (
            n
            for n, e in enumerate(reach, 1)
            if not e.void_reason and scale.reaches(e.value, target)
        )
        return next(there, None)

    for n, value in found.over_samples:
        assert (judged(found, int(n)).void_reason, judged(found, int(n)).value) == (None, value)
    yours, at = found.plan.evidence, found.plan.counts.samples
    if yours.void_reason is None and math.isfinite(yours.value):
        assert dict(found.over_samples)[at] == yours.value
    for effect, value in found.over_effects:
        assert (judged(found, at, effect).void_reason, judged(found, at, effect).value) == (
            None,
            value,
        )
    some = found.samples_over_effects[:: max(1, len(found.samples_over_effects) // 3)]
    told: list[tuple[float | None, float]] = [(effect, n) for effect, n in some]
    assumed = [None, *(each.effect for each in found.effects)]
    told += [(effect, found.needed(effect) or math.inf) for effect in assumed]
    for assuming, n in told:
        assert (n if n <= upto else None) == tried(assuming)
    if (more := found.in_more_days) is not None:
        longer = revise(found.plan.plan, sample_size=more[0], duration_days=more[1])
        there = assess(longer, found.plan.pack).evidence
        assert there.tier is EvidenceTier.MEETS_TARGET
        assert there.able == more[0]


@pytest.mark.parametrize("first", batches(LABS, short=1, long=15))
def test_curves_of_small_labs_are_what_the_check_says(first: int) -> None:
    for seed in range(first, first + LABS):
        found = Curves(opened(seed).yours)
        assert_as_the_check(found, upto=60)
        assert len(found.over_samples) <= MOST
        assert found.most_samples >= found.plan.counts.samples
        assert all(point.y <= found.highest_needed for point in found.samples_over_effects)


def test_days_that_are_too_few_for_the_target_tell_how_many_would_do() -> None:
    pack = load_scenario("psy_ego_depletion", Difficulty.MEDIUM)
    found = Curves(assess(pack.reference_protocol, pack))  # 20 a day in 12 days
    assert (found.most_counted, found.needed()) == (240, None)
    assert found.in_more_days == (329, 17)


def test_far_largest_sample_leaves_the_axis_to_what_matters() -> None:
    rich = curves_of(make_design(), samples=40, budget=1e6)
    assert rich.largest is not None
    assert rich.largest > 10_000
    assert rich.most_samples < 200


def test_effect_that_is_asked_stands_before_the_studys_own() -> None:
    written = make_design(effect_planning=0.5, effect_published=0.9, sesoi=0.3)
    asked = written.model_copy(update={"effect_planning": 0.4})
    plan = assess(make_protocol(), make_pack(design=asked))
    labels = [each.label for each in Curves(plan, written).effects]
    assert labels == ["yours", "planned", "as published", "halved", "smallest of interest"]
