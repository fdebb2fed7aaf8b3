"""Every shipped study in each of its labs: the answer that docs/outcomes.md gives, by hand.

What the study's own file expects of each lab is held by the lint, which `tests/test_lint.py` asks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

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

PACKS: Final = [
    load_scenario(study.scenario_id, difficulty)
    for study in list_scenarios()
    for difficulty in Difficulty
]
TABLE: Final = (
    Path(__file__).resolve().parents[1].joinpath("docs", "outcomes.md").read_text("utf-8")
)
NAMES: Final = {
    LabManagerActionType.ACCEPT: "accept",
    LabManagerActionType.SUGGEST_ALTERNATIVE: "suggest",
    LabManagerActionType.REJECT: "reject",
}


class Cell(NamedTuple):
    """What the table says of one lab, and what it says was so before; empty where nothing was."""

    scenario_id: str
    difficulty: Difficulty
    now: str
    was: str


def table() -> Iterator[Cell]:
    """Yield the cells of docs/outcomes.md."""
    for name, *cells in re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \| (.*) \|$", TABLE, re.MULTILINE):
        for difficulty, cell in zip(Difficulty, cells, strict=True):
            now, _, was = cell.partition("<br>was: ")
            yield Cell(name, difficulty, now, was)


def proposed(plan: Protocol, pack: Pack) -> tuple[LabManagerAction, FeasibilityCheckResult]:
    """Return the Lab Manager's answer to a plan, and the check of the plan."""
    check = check_feasibility(plan, pack)
    return compose_lab_manager_response(check, suggest_alternative(plan, check, pack)), check


def outcome(pack: Pack) -> str:
    """Return a cell as the core fills it; the largest sample by trying one after the other."""
    plan = pack.reference_protocol
    action, check = proposed(plan, pack)
    suggestion = suggest_alternative(plan, check, pack)
    if suggestion is None:
        found = assess(plan, pack)
        counts = found.counts
        five = counts.samples, counts.days, counts.controls, counts.equipment, counts.reagents
        return f"{five} = {found.cost:.0f} cr, {found.staff} staff, {worth(found)}"
    after = assess(suggestion.revised_protocol, pack)
    answer = f"**{NAMES[action.action_type]}**"
    if suggestion.remaining_failures:
        answer += f" (still fails: {', '.join(suggestion.remaining_failures)}); partial"
    counts = after.counts
    text = f"{answer} {counts.samples} n, {counts.days} d, {after.cost:.0f} cr · {worth(after)}"
    if suggestion.remaining_failures or after.evidence.void_reason:
        return text
    tried = (revise(after.plan, sample_size=n) for n in range(plan.sample_size, 0, -1))
    most = assess(next(each for each in tried if fits(each, pack)), pack)
    return f"{text} · n\\* {most.counts.samples} → {number(most)}"


def fits(plan: Protocol, pack: Pack) -> bool:
    """Return whether the lab can afford and staff a plan and counts every sample of it."""
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


def test_table_has_every_study_in_its_three_labs_and_each_lab_says_what_is_expected() -> None:
    cells = [(cell.scenario_id, cell.difficulty) for cell in table()]
    assert sorted(cells) == sorted((pack.scenario_id, pack.difficulty) for pack in PACKS)
    assert len(cells) == 36
    assert all(pack.expected for pack in PACKS)


@pytest.mark.parametrize(
    "cell", [*table()], ids=lambda cell: f"{cell.scenario_id}-{cell.difficulty}"
)
def test_table_says_what_the_core_decides(cell: Cell) -> None:
    assert cell.now == outcome(load_scenario(cell.scenario_id, cell.difficulty))
    assert cell.was != cell.now


def test_table_counts_its_answers_and_says_why_an_outcome_is_another() -> None:
    answers = Counter(pack.expected.answer for pack in PACKS if pack.expected)
    told = " · ".join(f"{name} {answers[answer]}" for answer, name in NAMES.items())
    assert f"Totals over the 36 labs: {told}." in TABLE
    because = set(re.findall(r"^### `(\w+)`$", TABLE, re.MULTILINE))
    assert {cell.scenario_id for cell in table() if cell.was} == because


@pytest.mark.parametrize("pack", PACKS[::3], ids=lambda pack: pack.scenario_id)
def test_easy_lab_only_reports_a_restriction_that_is_broken_and_accepts_one_mentioned(
    pack: Pack,
) -> None:
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
