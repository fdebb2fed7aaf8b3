"""The Lab Manager's answer to the reference protocol of each study in each lab."""

from typing import Final

import pytest

from replicalab.agents import (
    FeasibilityCheckResult,
    check_feasibility,
    compose_lab_manager_response,
    suggest_alternative,
)
from replicalab.assessment import Assessment, assess
from replicalab.models import LabManagerAction, LabManagerActionType, Protocol, revise
from replicalab.scenarios import Difficulty, Pack, list_scenarios, load_scenario
from tests.golden import assert_golden

PACKS: Final = [
    load_scenario(study.scenario_id, difficulty)
    for study in list_scenarios()
    for difficulty in Difficulty
]
NAMES: Final = {
    LabManagerActionType.ACCEPT: "accept",
    LabManagerActionType.SUGGEST_ALTERNATIVE: "suggest",
    LabManagerActionType.REJECT: "reject",
}


def proposed(plan: Protocol, pack: Pack) -> tuple[LabManagerAction, FeasibilityCheckResult]:
    check = check_feasibility(plan, pack)
    return compose_lab_manager_response(check, suggest_alternative(plan, check, pack)), check


def outcome(pack: Pack) -> str:
    plan = pack.reference_protocol
    action, check = proposed(plan, pack)
    suggestion = suggest_alternative(plan, check, pack)
    if suggestion is None:
        result = assess(plan, pack)
        counts = result.counts
        five = counts.samples, counts.days, counts.controls, counts.equipment, counts.reagents
        return f"{five} = {result.cost:.0f} cr, {result.staff} staff, {worth(result)}"
    after = assess(suggestion.revised_protocol, pack)
    answer = f"{NAMES[action.action_type]}"
    if suggestion.remaining_failures:
        answer += f" (still fails: {', '.join(suggestion.remaining_failures)}); partial"
    counts = after.counts
    text = f"{answer} {counts.samples} n, {counts.days} d, {after.cost:.0f} cr · {worth(after)}"
    if suggestion.remaining_failures or after.evidence.void_reason:
        return text
    tried = (revise(after.plan, sample_size=n) for n in range(plan.sample_size, 0, -1))
    most = assess(next(protocol for protocol in tried if fits(protocol, pack)), pack)
    return f"{text} · largest n {most.counts.samples} → {number(most)}"


def fits(plan: Protocol, pack: Pack) -> bool:
    check = check_feasibility(plan, pack)
    per_day = pack.samples_per_day
    counted = per_day is None or plan.sample_size <= per_day.value * plan.duration_days
    return check.budget_ok and check.staff_ok and counted and plan.sample_size > len(plan.controls)


def worth(plan: Assessment) -> str:
    if plan.evidence.void_reason:
        return f"evidence void: {plan.counts.days} d < min_days {plan.pack.min_days}"
    return f"{number(plan)} {plan.evidence.tier}"


def number(plan: Assessment) -> str:
    value = plan.evidence.value
    return f"±{100 * value:.2f} %" if plan.evidence.row.scale.lower_is_better else f"{value:.2f}"


def test_outcomes_of_reference_protocols() -> None:
    assert all(pack.expected for pack in PACKS)
    rows = (f"{pack.scenario_id} {pack.difficulty}: {outcome(pack)}" for pack in PACKS)
    assert_golden("outcomes", "\n".join(rows))


@pytest.mark.parametrize("pack", PACKS[::3], ids=lambda pack: pack.scenario_id)
def test_restriction_is_reported_if_broken(pack: Pack) -> None:
    def saying(sentence: str) -> Protocol:
        plan = pack.reference_protocol
        return revise(plan, rationale=f"{plan.rationale} {sentence}")

    for rule in pack.policy_rules:
        for phrase in rule.forbidden_phrases:
            action, check = proposed(saying(f"We will {phrase}."), pack)
            assert action.action_type is LabManagerActionType.REPORT_FEASIBILITY
            assert check.failing == ["policy"]
            assert rule.restriction in action.explanation
    mentions = [mention for rule in pack.policy_rules for mention in rule.allowed_mentions]
    assert mentions
    for mention in mentions:
        for sentence in (f"Of course {mention}.", f"As agreed, {mention}.", mention.capitalize()):
            assert assess(saying(sentence), pack).feasible
