"""What a plan is worth in words: nothing that fails, or shows nothing, is shown as a pass."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given

from replicalab.assessment import assess
from replicalab.models import LabManagerActionType, Protocol, revise
from replicalab.scenarios import (
    CostModel,
    Difficulty,
    EvidenceTier,
    Pack,
    list_scenarios,
    load_scenario,
)
from replicalab.views.blocks import Status
from replicalab.views.verdicts import (
    ANSWERS,
    answer_to,
    largest_text,
    offer_story,
    plan_verdict,
    terms_text,
)
from tests.factories import change_pack, make_pack, make_protocol
from tests.golden import assert_golden
from tests.negotiation.playing import BOOKED, FLAMING, OPEN, PLAN, SHORT, SMALL, STUCK
from tests.strategies import itemised_protocols, studied_packs
from tests.views.labs import of_reference

FLAMING_SHORT: Final = revise(FLAMING, duration_days=2)
"""Breaks a restriction, and has too few days to show anything."""


@pytest.mark.parametrize(
    ("pack", "plan", "status", "title"),
    [
        (OPEN, make_protocol(sample_size=42), Status.PASS, "Feasible"),
        (OPEN, SMALL, Status.CAUTION, "Feasible, below the floor"),
        (OPEN, SHORT, Status.FAIL, "Shows nothing"),
        (OPEN, FLAMING, Status.CAUTION, "Not approved"),
        (OPEN, FLAMING_SHORT, Status.FAIL, "Not approved"),
        (STUCK, PLAN, Status.FAIL, "Not feasible"),
    ],
)
def test_plan_verdict_is(pack: Pack, plan: Protocol, status: Status, title: str) -> None:
    assert plan_verdict(assess(plan, pack))[:2] == (status, title)


@given(studied_packs(), itemised_protocols())
def test_plan_verdict_passes_only_what_passes_above_the_floor(pack: Pack, plan: Protocol) -> None:
    found = assess(plan, pack)
    holds = found.feasible and found.evidence.tier is not EvidenceTier.BELOW_FLOOR
    holds = holds and not found.dropped
    assert (plan_verdict(found).status is Status.PASS) is holds
    fails = found.evidence.void_reason is not None or not found.check.lab_feasible
    assert (plan_verdict(found).status is Status.FAIL) is fails


def test_plan_that_passes_and_shows_nothing_is_not_called_feasible_and_failed_at_once() -> None:
    assert plan_verdict(assess(SHORT, OPEN)).text == (
        "Shows nothing, though all seven dimensions pass: the study's endpoint needs 3 days, and "
        "the plan has 2."
    )


def test_every_answer_is_explained_and_only_an_accept_is_shown_as_a_pass() -> None:
    assert set(ANSWERS) == set(LabManagerActionType)
    assert all(answer.title and answer.text for answer in ANSWERS.values())
    assert [k for k, answer in ANSWERS.items() if answer.status is Status.PASS] == ["accept"]


# --- how the Lab Manager meets the reference protocol -----------------------------------------


@pytest.mark.parametrize("study", [summary.scenario_id for summary in list_scenarios()])
def test_front_door_story_of_each_lab_reads_as_it_was_read(study: str) -> None:
    found = [of_reference(load_scenario(study, level)) for level in Difficulty]
    terms = terms_text(found[0].yours)
    assert_golden(f"stories/{study}", "\n".join([terms, *map(_line, map(offer_story, found))]))


@pytest.mark.parametrize(
    ("name", "pack", "plan", "status", "answer"),
    [
        ("below_the_floor", OPEN, SMALL, Status.CAUTION, "accept"),
        ("no_evidence", BOOKED, SHORT, Status.FAIL, "suggest_alternative"),
        ("not_approved", OPEN, FLAMING, Status.CAUTION, "report_feasibility"),
        ("still_fails", BOOKED, FLAMING, Status.FAIL, "suggest_alternative"),
        ("nothing_helps", STUCK, PLAN, Status.FAIL, "reject"),
    ],
)
def test_story_of_a_reference_protocol_that_no_shipped_study_has(
    name: str, pack: Pack, plan: Protocol, status: Status, answer: str
) -> None:
    reference = of_reference(change_pack(pack, reference_protocol=plan))
    story = offer_story(reference)
    assert (story.status, answer_to(reference)) == (status, answer)
    assert_golden(f"stories/{name}", _line(story))


def _line(story: tuple[str, str, str]) -> str:
    return " | ".join(story)


@given(studied_packs(), itemised_protocols())
def test_offer_story_passes_only_what_ends_feasible_above_the_floor(
    pack: Pack, plan: Protocol
) -> None:
    reference = of_reference(change_pack(pack, reference_protocol=plan))
    end = reference.offered
    holds = end.feasible and end.evidence.tier is not EvidenceTier.BELOW_FLOOR
    assert offer_story(reference).status is not Status.PASS or holds


def test_terms_of_a_study_hold_for_whatever_plan_is_asked() -> None:
    assert terms_text(assess(SHORT, make_pack())) == terms_text(assess(PLAN, make_pack()))


def test_largest_sample_is_told_with_what_it_is_worth() -> None:
    pack = make_pack(budget=1000, cost_model=CostModel(per_day=0, per_control=0))
    bare = make_protocol(sample_size=5, required_equipment=[], required_reagents=[])
    told = largest_text(assess(bare, pack))
    assert "at most 100 samples fit: power" in told  # 10 credits each
    none = largest_text(assess(bare, change_pack(pack, budget=9)))
    assert none == "With the rest as planned no sample fits this lab."
    short = bare.model_copy(update={"duration_days": 1})
    assert "fit: no evidence." in largest_text(assess(short, change_pack(pack, min_days=5)))
