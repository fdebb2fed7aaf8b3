"""The three stories for a demo: each opens where its point is on the screen."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.assessment import assess
from replicalab.negotiation import (
    LabManagerKind,
    Negotiation,
    Outcome,
    ScientistKind,
    negotiate,
    setup_for,
)
from replicalab.planner import options_of
from replicalab.scenarios import EvidenceTier
from replicalab.ui.address import from_query, to_query
from replicalab.ui.stories import Story, StoryPage, stories
from tests.golden import assert_golden

STORIES: Final = {story.key: story for story in stories()}


def test_stories_are_the_three_that_the_product_names() -> None:
    assert_golden("stories", "\n".join(f"{each.title}: {each.line}" for each in stories()))


@pytest.mark.parametrize("story", STORIES.values(), ids=lambda story: story.key)
def test_story_survives_as_a_link(story: Story) -> None:
    assert from_query(to_query(story.workspace)) == (story.workspace, [])


def test_half_the_sample_is_ten_credits_over_and_halved_for_it() -> None:
    story = STORIES["half_the_sample"]
    options = options_of(assess(story.workspace.plan(), story.workspace.pack()))
    assert story.page is StoryPage.PROTOCOL
    assert options.yours.failing == ["budget"]
    assert options.yours.cost - options.yours.pack.lab.budget == 10
    assert options.offer is not None
    assert [(c.field, c.original, c.revised) for c in options.offer.changes] == [
        ("sample_size", "24", "12")
    ]


def negotiation_of(story: Story) -> Negotiation:
    """Return the negotiation that a story opens, played to its end."""
    work = story.workspace
    assert story.page is StoryPage.NEGOTIATION
    setup = setup_for(
        work.pack(),
        work.plan(),
        work.max_rounds,
        scientist=ScientistKind.BASELINE,
        lab_manager=LabManagerKind.REFERENCE,
    )
    found = negotiate(setup, work.pack())
    assert len(found.rounds) == work.round_number + 1
    return found


def test_the_cut_that_costs_nothing_ends_above_the_target_with_a_quarter_of_the_people() -> None:
    found = negotiation_of(STORIES["cut_that_costs_nothing"])
    last = found.rounds[-1].plan
    assert found.outcome is Outcome.AGREED
    assert last is not None
    assert last.counts.samples == 25
    assert last.evidence.text == "power 0.97"
    assert last.evidence.tier is EvidenceTier.MEETS_TARGET


def test_do_not_run_this_study_ends_on_a_plan_that_leaves_half_unchecked() -> None:
    found = negotiation_of(STORIES["do_not_run"])
    last = found.rounds[-1].plan
    assert found.outcome is Outcome.AGREED_BELOW_FLOOR
    assert last is not None
    assert last.counts.samples == 316
