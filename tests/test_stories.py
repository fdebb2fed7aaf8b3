"""The three stories for a demo: each opens where its point is on the screen."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.agents import check_feasibility, suggest_alternative
from replicalab.evidence import planned_evidence
from replicalab.links import from_query, to_query
from replicalab.negotiation import Outcome, negotiate, setup_for
from replicalab.scenarios import EvidenceTier
from replicalab.stories import Story, StoryPage, stories

STORIES: Final = {story.key: story for story in stories()}


def test_stories_are_the_three_that_the_product_names() -> None:
    assert [story.title for story in stories()] == [
        "Half the sample for ten credits",
        "The cut that costs nothing",
        "Do not run this study",
    ]


@pytest.mark.parametrize("story", STORIES.values(), ids=lambda story: story.key)
def test_story_survives_as_a_link(story: Story) -> None:
    assert from_query(to_query(story.workspace)) == (story.workspace, [])


def test_half_the_sample_is_ten_credits_over_and_halved_for_it() -> None:
    story = STORIES["half_the_sample"]
    pack, plan = story.workspace.pack(), story.workspace.plan()
    check = check_feasibility(plan, pack)
    suggestion = suggest_alternative(plan, check, pack)
    assert story.page is StoryPage.PROTOCOL
    assert check.failing == ["budget"]
    assert check.estimated_cost - pack.lab.budget == 10
    assert suggestion is not None
    assert [(c.field, c.original, c.revised) for c in suggestion.applied_changes] == [
        ("sample_size", "24", "12")
    ]


def test_the_cut_that_costs_nothing_ends_above_the_target_with_a_quarter_of_the_people() -> None:
    story = STORIES["cut_that_costs_nothing"]
    workspace, pack = story.workspace, story.workspace.pack()
    trace = negotiate(setup_for(pack, workspace.plan(), workspace.max_rounds), pack)
    last = trace.rounds[workspace.round_number]
    assert story.page is StoryPage.NEGOTIATION
    assert trace.rounds[-1] == last
    assert trace.outcome is Outcome.AGREED
    assert last.plan is not None
    assert (workspace.plan().sample_size, last.plan.sample_size) == (100, 25)
    before, after = planned_evidence(workspace.plan(), pack), planned_evidence(last.plan, pack)
    assert (before.text, after.text) == ("power 1.00", "power 0.97")
    assert after.tier is EvidenceTier.MEETS_TARGET
    assert story.line == (
        "A hundred people become twenty-five: power 1.00 → 0.97, still above the target of 0.80."
    )
    assert after.amount(after.target) == "0.80"


def test_do_not_run_this_study_ends_on_a_plan_that_leaves_half_unchecked() -> None:
    story = STORIES["do_not_run"]
    workspace, pack = story.workspace, story.workspace.pack()
    trace = negotiate(setup_for(pack, workspace.plan(), workspace.max_rounds), pack)
    assert trace.outcome is Outcome.AGREED_BELOW_FLOOR
    assert trace.final_plan is not None
    assert trace.final_plan.sample_size == 316
    assert len(trace.rounds) == workspace.round_number + 1
