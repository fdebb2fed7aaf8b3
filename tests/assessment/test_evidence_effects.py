"""The effects to plan at, and what the twelve studies are worth at each of them."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.assessment import AssumedEffect, assess, assumed_effects
from replicalab.scenarios import DesignKind, Difficulty, load_scenario
from tests.factories import make_design
from tests.measures.designs import DETECTING

STUDIES: Final = {
    # Evidence at the published plan's n: at the published, the planning and the smallest effect.
    # Source: the fact sheet of each study, two decimals, from the t distribution of SciPy.
    "ml_resnet_cifar10": (12, (0.94, 0.88, 0.50)),
    "ml_rl_seeds": (34, (None, 0.81, 0.29)),
    "fin_momentum": (300, (0.86, 0.86, 0.34)),
    "fin_overreaction": (32, (0.57, 0.57, 0.28)),
    "math_pythagorean": (300, (None, 0.95, 0.78)),
    "psy_stroop": (100, (None, 1.00, 1.00)),
    "psy_ego_depletion": (200, (0.99, 0.59, 0.29)),
    "bio_jq1_myeloma": (24, (1.00, 0.80, 0.47)),
    "chem_suzuki_ppb": (24, (None, 0.94, 0.65)),
    "eco_reef_fish": (128, (None, 0.80, 0.39)),
}


@pytest.mark.parametrize("study", STUDIES)
def test_published_plans_are_worth_what_the_fact_sheet_says(study: str) -> None:
    n, values = STUDIES[study]
    pack = load_scenario(study, Difficulty.EASY)
    plan, design = pack.reference_protocol, pack.design
    effects = (design.effect_published, design.effect_planning, design.sesoi)
    found = [
        None if effect is None else assess(plan, pack).evidence_at(effect).value
        for effect in effects
    ]
    assert assess(plan, pack).evidence.counted == n
    assert [None if value is None else round(value, 2) for value in found] == list(values)
    assert assess(plan, pack).evidence.value == found[1]


@pytest.mark.parametrize(("study", "text"), [("math_four_colour", "share examined 100 %")])
def test_published_census_is_worth_everything(study: str, text: str) -> None:
    pack = load_scenario(study, Difficulty.EASY)
    assert assess(pack.reference_protocol, pack).evidence.text == text


def test_published_oil_drops_are_worth_their_half_width() -> None:
    # 1.96 times 5 % over the root of 58.
    pack = load_scenario("phys_millikan", Difficulty.EASY)
    found = assess(pack.reference_protocol, pack).evidence
    assert (found.counted, found.text) == (58, "half-width ±1.29 %")


# --- assumed effects --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(set(DETECTING) - {DesignKind.SURVIVAL}))
def test_assumed_effects_are_the_published_the_halved_and_the_smallest(kind: DesignKind) -> None:
    design = make_design(kind=kind, effect_published=0.62, effect_planning=0.4, sesoi=0.2)
    assert assumed_effects(design) == (
        AssumedEffect("as published", 0.62),
        AssumedEffect("halved", 0.31),
        AssumedEffect("smallest of interest", 0.2),
    )


def test_of_a_true_difference_only_the_published_one_is_worth_assuming_instead() -> None:
    design = make_design(kind="equivalence", effect_published=-0.2, effect_planning=0.0, sesoi=0.4)
    assert assumed_effects(design) == (AssumedEffect("as published", 0.2),)


def test_assumed_effects_halve_the_planning_effect_where_none_is_printed() -> None:
    design = make_design(effect_published=None, effect_planning=0.5, sesoi=0.3)
    assert assumed_effects(design) == (
        AssumedEffect("halved", 0.25),
        AssumedEffect("smallest of interest", 0.3),
    )


def test_assumed_effects_leave_out_a_smallest_that_is_not_named() -> None:
    design = make_design(effect_published=0.8, effect_planning=0.5, sesoi=None)
    assert assumed_effects(design) == (
        AssumedEffect("as published", 0.8),
        AssumedEffect("halved", 0.4),
    )


def test_assumed_effects_have_no_sign() -> None:
    design = make_design(effect_published=-0.6, effect_planning=0.5, sesoi=-0.2)
    assert [effect for _, effect in assumed_effects(design)] == [0.6, 0.3, 0.2]


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "coverage", "population_max": 633, "effect_planning": None},
        {"kind": "coverage", "population_max": 633},
        {"kind": "precision", "target": 0.1, "floor": 0.2},
    ],
)
def test_assumed_effects_are_none_where_there_is_no_effect(changes: dict[str, object]) -> None:
    assert assumed_effects(make_design(**changes)) == ()


def test_assumed_effects_that_are_equal_are_one_under_all_their_names() -> None:
    design = make_design(kind="paired", effect_published=1.0, effect_planning=1.0, sesoi=0.5)
    assert assumed_effects(design) == (
        AssumedEffect("as published", 1.0),
        AssumedEffect("halved, smallest of interest", 0.5),
    )


@pytest.mark.parametrize("study", STUDIES)
def test_every_assumed_effect_of_a_study_can_be_planned_at(study: str) -> None:
    pack = load_scenario(study, Difficulty.EASY)
    values = [
        assess(pack.reference_protocol, pack).evidence_at(effect).value
        for _, effect in assumed_effects(pack.design)
    ]
    assert values
    assert all(0 < value <= 1 for value in values)
