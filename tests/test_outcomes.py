"""Every shipped study in each of its labs: the answer that its author worked out by hand."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.agents import (
    AlternativeSuggestion,
    FeasibilityCheckResult,
    check_feasibility,
    compose_lab_manager_response,
    suggest_alternative,
)
from replicalab.assessment import assess
from replicalab.models import (
    LAB_DIMENSIONS,
    LabManagerAction,
    LabManagerActionType,
    Protocol,
    revise,
)
from replicalab.scenarios import (
    DesignKind,
    Difficulty,
    ExpectedOutcome,
    Pack,
    broken_scenarios,
    list_scenarios,
    load_scenario,
)

PACKS: Final = [
    load_scenario(study.scenario_id, difficulty)
    for study in list_scenarios()
    for difficulty in Difficulty
]
EASY: Final = [pack for pack in PACKS if pack.difficulty is Difficulty.EASY]
IN_EVERY_LAB: Final = pytest.mark.parametrize(
    "pack", PACKS, ids=lambda pack: f"{pack.scenario_id}-{pack.difficulty}"
)
IN_EASY_LABS: Final = pytest.mark.parametrize("pack", EASY, ids=lambda pack: pack.scenario_id)

Answer = tuple[FeasibilityCheckResult, AlternativeSuggestion | None, LabManagerAction]


def answer(protocol: Protocol, pack: Pack) -> Answer:
    check = check_feasibility(protocol, pack)
    suggestion = suggest_alternative(protocol, check, pack)
    return check, suggestion, compose_lab_manager_response(check, suggestion)


def expected_of(pack: Pack) -> ExpectedOutcome:
    """Return what the study file says of this lab; every shipped lab says it."""
    assert pack.expected is not None, "give labs.<difficulty>.expected in the study file"
    return pack.expected


def test_every_shipped_study_can_be_read() -> None:
    assert broken_scenarios() == []
    assert PACKS


@IN_EVERY_LAB
def test_reference_protocol_gets_the_published_answer(pack: Pack) -> None:
    check, suggestion, action = answer(pack.reference_protocol, pack)
    expected = expected_of(pack)
    assert action.action_type is expected.answer
    assert [d for d in check.failing if d in LAB_DIMENSIONS] == expected.fails
    assert (suggestion.remaining_failures if suggestion else []) == expected.still_fails


@IN_EVERY_LAB
def test_revised_plan_is_the_published_one(pack: Pack) -> None:
    check, suggestion, _ = answer(pack.reference_protocol, pack)
    expected = expected_of(pack)
    plan = suggestion.revised_protocol if suggestion else pack.reference_protocol
    after = suggestion.post_check if suggestion else check
    assert (plan.sample_size, plan.duration_days, after.estimated_cost) == (
        expected.sample_size,
        expected.duration_days,
        expected.credits,
    )


@IN_EVERY_LAB
def test_evidence_of_the_revised_plan_is_the_published_one(pack: Pack) -> None:
    _, suggestion, _ = answer(pack.reference_protocol, pack)
    expected = expected_of(pack)
    plan = suggestion.revised_protocol if suggestion else pack.reference_protocol
    found = assess(plan, pack).evidence
    assert found.tier is expected.verdict
    if expected.evidence is None:
        assert found.void
    elif pack.design.kind is DesignKind.PRECISION:
        assert found.amount(found.value) == found.amount(expected.evidence)
    else:
        assert not found.void
        assert round(found.value, 2) == expected.evidence


@IN_EASY_LABS
def test_easy_lab_accepts_the_reference_protocol(pack: Pack) -> None:
    assert expected_of(pack).answer is LabManagerActionType.ACCEPT


@IN_EASY_LABS
def test_easy_lab_only_reports_a_plan_that_breaks_a_restriction(
    pack: Pack,
) -> None:
    for rule in pack.policy_rules:
        for phrase in rule.forbidden_phrases:
            check, _, action = answer(with_sentence(pack, f"We will {phrase}."), pack)
            assert action.action_type is LabManagerActionType.REPORT_FEASIBILITY
            assert check.failing == ["policy"]
            assert rule.restriction in action.explanation


@IN_EASY_LABS
def test_easy_lab_accepts_a_plan_that_only_mentions_a_restriction(
    pack: Pack,
) -> None:
    mentions = [mention for rule in pack.policy_rules for mention in rule.allowed_mentions]
    assert mentions
    for mention in mentions:
        action = answer(with_sentence(pack, f"Of course {mention}."), pack)[2]
        assert action.action_type is LabManagerActionType.ACCEPT


def with_sentence(pack: Pack, sentence: str) -> Protocol:
    """Return the reference protocol with one more sentence in its rationale."""
    protocol = pack.reference_protocol
    return revise(protocol, rationale=f"{protocol.rationale} {sentence}")


def fits(plan: Protocol, pack: Pack) -> bool:
    """Return whether the lab can afford and staff a plan and counts every sample of it."""
    check = check_feasibility(plan, pack)
    per_day = pack.samples_per_day
    counted = per_day is None or plan.sample_size <= per_day.value * plan.duration_days
    return check.budget_ok and check.staff_ok and counted and plan.sample_size > len(plan.controls)


@pytest.mark.parametrize(
    "pack",
    [pack for pack in PACKS if pack.expected and pack.expected.largest_sample is not None],
    ids=lambda pack: f"{pack.scenario_id}-{pack.difficulty}",
)
def test_largest_sample_is_the_published_one_by_trying_them_all(
    pack: Pack,
) -> None:
    expected = expected_of(pack)
    _, suggestion, _ = answer(pack.reference_protocol, pack)
    plan = suggestion.revised_protocol if suggestion else pack.reference_protocol
    reference = pack.reference_protocol.sample_size
    tried = (revise(plan, sample_size=n) for n in range(reference, 0, -1))
    best = next((n.sample_size for n in tried if fits(n, pack)), None)
    assert best == expected.largest_sample
