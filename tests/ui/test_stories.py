"""The three stories for a demo: each opens where it begins, and comes to its point."""

from typing import Final

from replicalab.assessment import assess
from replicalab.negotiation import Negotiation, Outcome
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import EvidenceTier
from replicalab.ui.address import from_query, to_query
from replicalab.ui.own_studies import find
from replicalab.ui.stories import StoryPage, stories
from tests.golden import assert_golden
from tests.negotiation.playing import acts, by_rule

STORIES: Final = {story.key: story for story in stories()}


def test_stories_are_the_three_that_the_product_names_and_survive_as_links() -> None:
    assert_golden("stories", "\n".join(f"{each.title}: {each.line}" for each in stories()))
    for each in stories():
        assert from_query(to_query(each.workspace), find) == (each.workspace, [])


def test_half_the_sample_is_ten_credits_over_and_halved_for_it() -> None:
    story = STORIES["half_the_sample"]
    options = PlanAnalysis(
        assess(story.workspace.case.protocol(find), story.workspace.case.pack(find))
    )
    assert story.page is StoryPage.PROTOCOL
    assert options.yours.failing == ["budget"]
    assert options.yours.cost - options.yours.pack.lab.budget == 10
    assert options.offer is not None
    assert [(c.field, c.original, c.revised) for c in options.offer.changes] == [
        ("sample_size", "24", "12")
    ]
    worth = [plan.evidence for plan in (options.yours, options.offered)]
    assert f"power {worth[0].number} → {worth[1].number}. " in story.line
    assert worth[1].tier is EvidenceTier.BELOW_FLOOR
    least = options.least.after
    assert (least.counts.samples, least.counts.days, least.cost) == (24, 28 - 1, 2_490 - 50)


def told(key: str) -> Negotiation:
    """Return the negotiation of a story, which opens at its first round."""
    story = STORIES[key]
    work = story.workspace
    assert story.page is StoryPage.NEGOTIATION
    assert work.round_number == 0
    return by_rule(
        work.case.pack(find),
        work.case.protocol(find),
        work.case.max_rounds,
        work.case.scientist,
        lab_manager=work.case.lab_manager,
    )


def test_cut_that_costs_nothing_ends_with_credits_saved_and_all_else_as_it_was() -> None:
    found = told("cut_that_costs_nothing")
    plans = [done.plan for done in found.rounds if done.plan]
    assert [(p.counts.days, p.cost, p.evidence.text, p.fidelity_loss) for p in plans] == [
        (6, 820, "power 0.88", 0),
        (4, 720, "power 0.88", 0),
    ]
    assert found.outcome is Outcome.AGREED
    assert plans[-1].evidence.tier is EvidenceTier.MEETS_TARGET


def test_do_not_run_is_offered_half_asks_for_credits_and_walks_away() -> None:
    found = told("do_not_run")
    offer = found.rounds[0].offer
    assert offer is not None
    assert (offer.after.counts.samples, offer.after.feasible) == (316, True)
    assert offer.after.evidence.text == "share examined 49.9 %"
    assert offer.after.evidence.tier is EvidenceTier.BELOW_FLOOR
    asked = found.rounds[1].action
    assert asked is not None
    assert asked.questions == ["Could the lab give 2,055 more credits?"]
    assert (acts(found)[-1], found.outcome) == ("leaves", Outcome.NO_DEAL)
