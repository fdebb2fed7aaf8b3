"""The curves of power analysis: published tables, brute force, and what a plan's check says."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import pytest

from replicalab.assessment import assess
from replicalab.models import revise
from replicalab.planner.curves import Curves
from replicalab.scenarios import Design, DesignKind, Difficulty, list_scenarios, load_scenario
from tests.factories import make_design, make_pack, make_protocol
from tests.measures.designs import SHRINKING, design_of

MOST: Final = 60
SHIPPED: Final = [(study.scenario_id, lab) for study in list_scenarios() for lab in Difficulty]


def curves_of(design: Design, samples: int = 60, **lab: Any) -> Curves:
    return Curves(assess(make_protocol(sample_size=samples), make_pack(design=design, **lab)))


@pytest.mark.parametrize(
    ("changes", "needed"),
    [
        # Cohen (1988), tables 2.4.1, 3.4.1 and 8.4.4, and G*Power 3.1: power 0.80 at alpha 0.05.
        ({"kind": "two_group", "effect_planning": 0.5}, 128),
        ({"kind": "two_group", "effect_planning": 0.2}, 787),  # 394 a group; 394 and 393 do
        ({"kind": "paired", "effect_planning": 0.5}, 34),
        ({"kind": "correlation", "effect_planning": 0.3}, 85),
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


@pytest.mark.parametrize("kind", DesignKind)
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_fewest_samples_for_the_target_are_the_first_of_all_tried(
    kind: DesignKind, dropout: float
) -> None:
    design = design_of(kind, dropout=dropout, population_max=900)
    found = curves_of(design)
    scale = found.plan.evidence.row.scale
    tried = (n for n in range(1, 901) if scale.reaches(found.worth(n), design.target))
    assert found.needed() == next(tried, None)


@pytest.mark.parametrize("kind", DesignKind)
def test_curve_over_samples_is_what_the_check_of_such_plans_says_and_never_worsens(
    kind: DesignKind,
) -> None:
    found = curves_of(design_of(kind, dropout=0.2))
    plan, pack = found.plan.plan, found.plan.pack
    assert 2 <= len(found.over_samples) <= MOST
    for n, value in found.over_samples:
        there = assess(revise(plan, sample_size=int(n)), pack)
        assert value == there.evidence.value
    values = [point.y for point in found.over_samples]
    worse = pack.design.lower_is_better
    assert all((b <= a) if worse else (b >= a) for a, b in pairwise(values))
    assert found.plan.counts.samples in dict(found.over_samples)


@pytest.mark.parametrize("kind", [kind for kind in DesignKind if kind is not DesignKind.COVERAGE])
def test_curves_over_the_effect_are_what_the_plan_is_worth_at_each(kind: DesignKind) -> None:
    found = curves_of(design_of(kind))
    assert 2 <= len(found.over_effects) <= MOST
    for effect, value in found.over_effects:
        assert value == found.plan.evidence_at(effect).value
    row = found.plan.evidence.row
    assert row.effect is not None
    by_size = sorted((row.effect.size(effect), value) for effect, value in found.over_effects)
    shrinking = kind in SHRINKING
    for (_, before), (_, after) in pairwise(by_size):
        assert after <= before + 1e-9 if shrinking else after >= before - 1e-9
    needed = sorted((row.effect.size(effect), n) for effect, n in found.samples_over_effects)
    more = shrinking or kind is DesignKind.PRECISION
    assert all((b >= a) if more else (b <= a) for (_, a), (_, b) in pairwise(needed))


def test_study_without_an_effect_has_no_curve_over_it() -> None:
    found = curves_of(design_of(DesignKind.COVERAGE))
    assert (found.effects, found.over_effects, found.samples_over_effects) == ((), (), ())


@pytest.mark.parametrize(("study", "lab"), SHIPPED)
def test_curves_of_a_shipped_study_show_the_plan_and_its_needs(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    found = Curves(assess(pack.reference_protocol, pack))
    assert found.most_samples >= pack.reference_protocol.sample_size
    needed, exist = found.needed(), pack.design.population_max
    assert needed is not None or exist is not None
    assert all(2 <= len(curve) <= MOST for curve in (found.over_samples,))
    assert all(point.y <= found.highest_needed for point in found.samples_over_effects)


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
