"""The plans that nothing beats as lines and as a short list; effects of one size as one."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import pytest

from replicalab.evidence import AssumedEffect, merged_effects
from replicalab.planner import frontier, nash_point
from replicalab.scenarios import Difficulty, list_scenarios, load_scenario
from replicalab.tradeoffs import listed_plans, loss_lines

PLACES: Final = [(study.scenario_id, lab) for study in list_scenarios() for lab in Difficulty]


@pytest.mark.parametrize(("study", "lab"), PLACES)
def test_lines_of_a_frontier_rise_and_leave_out_only_plans_that_save_days(
    study: str, lab: str
) -> None:
    pack = load_scenario(study, lab)
    found = frontier(pack, pack.reference_protocol)
    sign = -1 if found.lower_is_better else 1
    lines = loss_lines(found)
    assert {line.loss for line in lines} == {plan.loss for plan in found.plans}
    for line in lines:
        for before, after in pairwise(line.plans):
            assert after.credits > before.credits
            assert sign * after.value > sign * before.value
    drawn_plans = [plan for line in lines for plan in line.plans]
    for plan in (plan for plan in found.plans if plan not in drawn_plans):
        assert any(
            rival.loss == plan.loss
            and rival.credits <= plan.credits
            and sign * rival.value >= sign * plan.value
            and rival.days > plan.days
            for rival in drawn_plans
        )


def test_listed_plans_are_few_and_hold_the_ends_of_each_line_and_the_balanced_plan() -> None:
    pack = load_scenario("fin_momentum", "medium")
    found = frontier(pack, pack.reference_protocol)
    lines, balanced = loss_lines(found), nash_point(found, pack)
    assert balanced is not None
    listed = listed_plans(lines, balanced)
    assert len(lines) == 4
    assert 12 <= len(listed) <= 13  # three of each line, and the balanced one
    assert balanced in listed
    for line in lines:
        assert {line.plans[0], line.plans[-1]} <= set(listed)
    alone = listed_plans(lines[:1], None)
    steps = [after.credits - before.credits for before, after in pairwise(alone)]
    assert len(alone) == 15
    assert max(steps) - min(steps) <= 20  # evenly spaced, up to a sample's ten credits each way


def test_effects_of_one_size_are_one() -> None:
    effects = [AssumedEffect("a", 0.5), AssumedEffect("b", 0.3), AssumedEffect("c", 0.5)]
    assert merged_effects(effects) == (AssumedEffect("a, c", 0.5), AssumedEffect("b", 0.3))
    assert merged_effects([]) == ()
