"""The curves of power analysis: published tables, brute force, and the check of a plan."""

import math
from typing import Any, Final

import pytest

from replicalab.assessment import Evidence, assess
from replicalab.models import revise
from replicalab.planner import curves
from replicalab.planner.curves import Curves
from replicalab.scenarios import Design, Difficulty, EvidenceTier, load_scenario
from tests.factories import make_design, make_pack, make_protocol, make_throughput
from tests.planner.small_labs import opened
from tests.tiers import batches


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
    result = curves_of(design, samples=150)
    assert result.needed == needed
    assert dict(result.samples_over_effects)[changes["effect_planning"]] == needed


def judged(found: Curves, samples: int, effect: float | None = None) -> Evidence:
    plan = revise(found.plan.plan, sample_size=samples)
    return assess(plan, found.plan.pack).evidence_at(effect)


def assert_as_the_check(found: Curves, upto: int) -> None:
    scale, target = found.plan.evidence.row.scale, found.plan.evidence.target

    def tried(effect: float | None) -> int | None:
        reach = (judged(found, n, effect) for n in range(1, upto + 1))
        numbers = (
            n
            for n, e in enumerate(reach, 1)
            if not e.void_reason and scale.reaches(e.value, target)
        )
        return next(numbers, None)

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
    pairs: list[tuple[float | None, float]] = [(effect, n) for effect, n in some]
    assumed = [None, *(item.effect for item in found.effects)]
    pairs += [(effect, found.needed_at(effect) or math.inf) for effect in assumed]
    for assuming, n in pairs:
        assert (n if n <= upto else None) == tried(assuming)
    if (pair := found.in_more_days) is not None:
        longer = revise(found.plan.plan, sample_size=pair[0], duration_days=pair[1])
        evidence = assess(longer, found.plan.pack).evidence
        assert evidence.tier is EvidenceTier.MEETS_TARGET
        assert evidence.usable == pair[0]


@pytest.mark.parametrize("seeds", batches(50, quick=12, long=3))
def test_curves_of_small_labs_match_the_check(seeds: range) -> None:
    for seed in seeds:
        result = Curves(opened(seed).yours)
        assert_as_the_check(result, upto=60)
        assert len(result.over_samples) <= 60
        assert result.most_samples >= result.plan.counts.samples
        assert all(point.y <= result.highest_needed for point in result.samples_over_effects)


def test_too_few_days_for_the_target() -> None:
    pack = load_scenario("psy_ego_depletion", Difficulty.MEDIUM)
    result = Curves(assess(pack.reference_protocol, pack))  # 20 a day in 12 days
    assert (result.most_counted, result.needed) == (240, None)
    assert result.in_more_days == (329, 17)


HALF: Final = make_design(effect_planning=0.5, effect_published=None, sesoi=None)
"""128 samples reach its target; the synthetic plan costs 650 credits, and 10 for each sample."""


def test_effects_end_where_those_of_their_kind_do() -> None:
    nearly = {"effect_planning": 0.9, "effect_published": None, "sesoi": None}
    correlation = make_design(kind="correlation", **nearly)
    assert curves_of(correlation).span == pytest.approx((0.225, 1))  # 1.3 x 0.9 is none
    assert curves_of(correlation).span[1] < 1
    # A difference within a margin may be anything from none to the margin.
    none = {"effect_planning": 0.0, "effect_published": None, "sesoi": None, "margin": 0.8}
    equal = curves_of(make_design(kind="equivalence", **none))
    assert [tuple(effect) for effect in equal.effects] == [("planned", 0.0)]
    low, high = equal.span
    assert low == 0
    assert 0.8 - 1e-12 < high < 0.8


def test_kind_without_effect_has_no_effect_curve() -> None:
    result = curves_of(make_design(kind="coverage", population_max=100))
    assert result.over_samples
    assert (result.effects, result.span) == ((), (0.0, 0.0))
    assert (result.over_effects, result.samples_over_effects) == ((), ())


def test_needed_anywhere_ignores_the_throughput(monkeypatch: pytest.MonkeyPatch) -> None:
    result = curves_of(HALF, samples_per_day=make_throughput())
    assert (result.most_counted, result.needed_at(0.5), result.needed_anywhere(0.5)) == (
        100,
        None,
        128,
    )
    monkeypatch.setattr(curves, "LARGEST_PLANNED", 128)
    assert result.needed_anywhere(0.5) == 128
    monkeypatch.setattr(curves, "LARGEST_PLANNED", 127)
    assert result.needed_anywhere(0.5) is None
    # One draw finds what nine of ten have.
    audit = make_design(kind="audit", effect_planning=0.9, effect_published=None, sesoi=None)
    assert curves_of(audit).needed_anywhere(0.9) == 1
