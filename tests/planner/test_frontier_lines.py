"""The plans that nothing beats as lines and as a short list, and what more means would buy."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Final

import pytest

from replicalab.assessment import assess
from replicalab.planner import Frontier, Options, options_of
from replicalab.planner.limits import shortfall
from replicalab.scenarios import Difficulty, EvidenceTier, list_scenarios, load_scenario

PLACES: Final = [(study.scenario_id, lab) for study in list_scenarios() for lab in Difficulty]


def opened(study: str, lab: str) -> Options:
    """Return what may be done about a study's reference protocol in a lab."""
    pack = load_scenario(study, lab)
    return options_of(assess(pack.reference_protocol, pack))


@pytest.mark.parametrize(("study", "lab"), PLACES)
def test_lines_of_a_frontier_rise_and_leave_out_only_plans_that_save_days(
    study: str, lab: str
) -> None:
    found = opened(study, lab).frontier
    assert {line.loss for line in found.lines} == {plan.loss for plan in found.plans}
    for line in found.lines:
        for before, after in pairwise(line.plans):
            assert after.credits > before.credits
            assert shortfall(after.value, found.pack) < shortfall(before.value, found.pack)
    drawn = [plan for line in found.lines for plan in line.plans]
    for plan in (plan for plan in found.plans if plan not in drawn):
        assert any(
            rival.loss == plan.loss
            and rival.credits <= plan.credits
            and shortfall(rival.value, found.pack) <= shortfall(plan.value, found.pack)
            and rival.days > plan.days
            for rival in drawn
        )


def test_listed_plans_are_few_and_hold_the_ends_of_each_line_and_the_balanced_plan() -> None:
    found = opened("fin_momentum", "medium").frontier
    assert found.balanced is not None
    assert len(found.lines) == 4
    assert 12 <= len(found.listed) <= 13  # three of each line, and the balanced one
    assert found.balanced in found.listed
    for line in found.lines:
        assert {line.plans[0], line.plans[-1]} <= set(found.listed)
    steps = [after.credits - before.credits for before, after in pairwise(_alone(found).listed)]
    assert len(steps) == 14
    assert max(steps) - min(steps) <= 20  # evenly spaced, up to a sample's ten credits each way


def _alone(found: Frontier) -> Frontier:
    """Return the frontier's first line alone, with no plan above the floor to balance."""
    below = [replace(plan, tier=EvidenceTier.BELOW_FLOOR) for plan in found.lines[0].plans]
    return Frontier(tuple(below), found.pack)


def test_hundred_credits_buy_ten_samples_at_ten_credits_each() -> None:
    budget, days, staff = opened("fin_momentum", "medium").extras
    assert budget.after.plan.sample_size - budget.before.plan.sample_size == 10
    assert (budget.better, days.better, staff.better) == (True, False, False)


@pytest.mark.parametrize(("study", "lab"), PLACES)
def test_addition_never_makes_the_least_loss_plan_worse(study: str, lab: str) -> None:
    for extra in opened(study, lab).extras:
        assert extra.after.rank.given_up <= extra.before.rank.given_up
