"""How evidence and plans are put into words, and what a lab could run at best."""

from __future__ import annotations

import math

import pytest

from replicalab.evidence import Evidence
from replicalab.lexicon import joined
from replicalab.negotiation.prospects import none_exists_text, prospect
from replicalab.negotiation.wording import fails_text, floor_text, placed_text, size_text
from replicalab.scenarios import DesignKind, EvidenceTier, load_scenario
from tests.factories import make_pack, make_protocol, with_means
from tests.negotiation.playing import FLAMING, OPEN, PLAN, STUCK

MEETS, ABOVE, BELOW = EvidenceTier


def power(value: float, tier: EvidenceTier, void: str | None = None) -> Evidence:
    return Evidence(DesignKind.TWO_GROUP, value, 0.8, 0.5, tier, counted=40, effect=0.5, void=void)


def width(value: float, tier: EvidenceTier) -> Evidence:
    return Evidence(DesignKind.PRECISION, value, 0.015, 0.025, tier, counted=40, effect=0.05)


@pytest.mark.parametrize(
    ("evidence", "text"),
    [
        (power(0.86, MEETS), "power 0.86, which meets the target of 0.80"),
        (power(0.58, ABOVE), "power 0.58, below the target of 0.80 but above the floor of 0.50"),
        (power(0.33, BELOW), "power 0.33, below the floor of 0.50"),
        (power(0.0, BELOW, "no samples are planned"), "no evidence, since no samples are planned"),
        (width(0.0129, MEETS), "half-width ±1.29 %, which meets the target of ±1.50 %"),
        (
            width(0.0202, ABOVE),
            "half-width ±2.02 %, wider than the target of ±1.50 % but within the floor of ±2.50 %",
        ),
        (width(0.04, BELOW), "half-width ±4.00 %, wider than the floor of ±2.50 %"),
        (width(math.inf, BELOW), "half-width unbounded, wider than the floor of ±2.50 %"),
    ],
)
def test_evidence_is_placed_between_target_and_floor(evidence: Evidence, text: str) -> None:
    assert placed_text(evidence) == text


def test_floor_is_a_lower_bound_but_for_a_half_width() -> None:
    assert floor_text(power(0.5, ABOVE)) == "above the floor of 0.50"
    assert floor_text(width(0.02, ABOVE)) == "within the floor of ±2.50 %"


@pytest.mark.parametrize(
    ("samples", "days", "text"),
    [(1, 1, "1 sample in 1 day"), (1200, 3, "1,200 samples in 3 days")],
)
def test_size_counts_samples_and_days(samples: int, days: int, text: str) -> None:
    assert size_text(make_protocol(sample_size=samples, duration_days=days)) == text


@pytest.mark.parametrize(
    ("texts", "whole", "verb"),
    [
        (["budget"], "budget", "budget fails"),
        (["budget", "staff"], "budget and staff", "budget and staff fail"),
        (["a", "b", "c"], "a, b and c", "a, b and c fail"),
    ],
)
def test_lists_are_joined_in_words(texts: list[str], whole: str, verb: str) -> None:
    assert joined(texts) == whole
    assert fails_text(texts) == verb


def test_nothing_joined_is_nothing() -> None:
    assert joined([]) == ""


# --- what a lab could run at best -----------------------------------------------------------


def test_prospect_is_of_the_plan_on_the_table_where_that_can_run_above_the_floor() -> None:
    plan = make_protocol(technique="another technique")
    found = prospect(plan, OPEN)
    assert found.exists
    assert found.base == plan
    assert found.best.plan.technique == "another technique"


def test_prospect_falls_back_on_the_reference_protocol() -> None:
    found = prospect(FLAMING, OPEN)
    assert found.exists
    assert found.base == OPEN.reference_protocol


def test_prospect_without_a_plan_is_of_the_reference_protocol() -> None:
    assert prospect(None, OPEN) == prospect(OPEN.reference_protocol, OPEN)


def test_prospect_of_a_lab_without_a_booked_item_proves_that_nothing_passes() -> None:
    found = prospect(PLAN, STUCK)
    assert not found.exists
    assert none_exists_text(found, STUCK) == (
        "no plan with this method passes in this lab: at best protocol and equipment fail"
    )


@pytest.mark.parametrize(
    ("study", "text"),
    [
        (
            "fin_momentum",
            "no plan above the floor of 0.50 exists in this lab with this method: the best has "
            "power 0.38",
        ),
        (
            "bio_jq1_myeloma",
            "no plan above the floor of 0.50 exists in this lab with this method: the study's "
            "endpoint needs 22 days, and this lab has 14",
        ),
    ],
)
def test_proof_says_what_the_best_comes_to(study: str, text: str) -> None:
    pack = load_scenario(study, "hard")
    assert none_exists_text(prospect(None, pack), pack) == text


def test_proof_of_a_precision_study_says_within() -> None:
    millikan = load_scenario("phys_millikan", "hard")
    poorer = with_means(millikan, budget=750.0)
    assert none_exists_text(prospect(None, poorer), poorer).startswith(
        "no plan within the floor of ±2.50 % exists in this lab with this method: the best has "
        "half-width ±"
    )


def test_better_of_two_hopeless_prospects_is_told() -> None:
    # In 600 credits the plan of 60 days fails more than the reference protocol does.
    pack = make_pack(budget=100, days=5)
    found = prospect(FLAMING, pack)
    assert found.base == pack.reference_protocol
    assert "policy" not in none_exists_text(found, pack)
