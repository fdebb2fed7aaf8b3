"""The three stories for a demo: each opens where its point is on the screen."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.assessment import assess
from replicalab.negotiation import Outcome
from replicalab.planner import Options
from replicalab.ui.address import from_query, to_query
from replicalab.ui.stories import Story, StoryPage, stories
from tests.golden import assert_golden
from tests.negotiation.playing import by_rule

STORIES: Final = {story.key: story for story in stories()}


def test_stories_are_the_three_that_the_product_names() -> None:
    assert_golden("stories", "\n".join(f"{each.title}: {each.line}" for each in stories()))


@pytest.mark.parametrize("story", STORIES.values(), ids=lambda story: story.key)
def test_story_survives_as_a_link(story: Story) -> None:
    assert from_query(to_query(story.workspace)) == (story.workspace, [])


def test_half_the_sample_is_ten_credits_over_and_halved_for_it() -> None:
    story = STORIES["half_the_sample"]
    options = Options(assess(story.workspace.plan(), story.workspace.pack()))
    assert story.page is StoryPage.PROTOCOL
    assert options.yours.failing == ["budget"]
    assert options.yours.cost - options.yours.pack.lab.budget == 10
    assert options.offer is not None
    assert [(c.field, c.original, c.revised) for c in options.offer.changes] == [
        ("sample_size", "24", "12")
    ]


@pytest.mark.parametrize(
    ("key", "outcome", "samples", "evidence"),
    [
        ("cut_that_costs_nothing", Outcome.AGREED, 25, "power 0.97"),
        ("do_not_run", Outcome.AGREED_BELOW_FLOOR, 316, "share examined 49.9 %"),
    ],
)
def test_story_of_a_negotiation_opens_at_its_end(
    key: str, outcome: Outcome, samples: int, evidence: str
) -> None:
    story = STORIES[key]
    work = story.workspace
    assert story.page is StoryPage.NEGOTIATION
    found = by_rule(work.pack(), work.plan(), work.max_rounds)
    last = found.rounds[work.round_number]
    assert last is found.rounds[-1]
    assert last.plan is not None
    assert (found.outcome, last.plan.counts.samples) == (outcome, samples)
    assert last.plan.evidence.text == evidence
