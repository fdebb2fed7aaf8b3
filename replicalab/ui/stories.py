"""Four stories for a demo: each opens the study and plan in which it begins."""

from typing import NamedTuple

from replicalab.agents.lab_manager_policy import reference_offer
from replicalab.assessment import assess
from replicalab.assessment.dimensions import apply_changes
from replicalab.models import Protocol
from replicalab.negotiation.case import Case
from replicalab.scenarios import Difficulty, load_scenario
from replicalab.ui.workspace import DEFAULT_DIFFICULTY, Workspace


class Story(NamedTuple):
    """A presentation, and the page that opens after its last slide."""

    key: str
    title: str  # its point, in a few words
    line: str  # its point, in a sentence
    page: str  # its title
    workspace: Workspace  # its beginning


def stories() -> list[Story]:
    """Return the four stories, the simplest first.

    Raises:
        ScenarioError: a shipped study that a story needs cannot be read.
    """
    halved = load_scenario("bio_jq1_myeloma", DEFAULT_DIFFICULTY)
    offer = reference_offer(assess(halved.reference_protocol, halved))
    changes = [change for change in offer.changes if change.field != "sample_size"] if offer else []
    all_but_the_sample = apply_changes(halved.reference_protocol, changes)
    return [
        Story(
            "plan_that_fits",
            "The plan that fits",
            "100 participants in 4 days cost 1,600 of the lab’s 1,700 credits. All checks pass and "
            "power is 1.00, so nothing is given up.",
            "Protocol",
            _begins("psy_stroop", lab=Difficulty.EASY),
        ),
        Story(
            "half_the_sample",
            "Half the sample for ten credits",
            "Ten credits over, the Lab Manager halves the sample: power 0.53 → 0.26. One day "
            "fewer saves 50 credits, and all 24 mice stay. The 36 days of survival follow-up fit "
            "this lab in no plan.",
            "Protocol",
            _begins(halved.scenario_id, all_but_the_sample),
        ),
        Story(
            "cut_that_costs_nothing",
            "The cut that costs nothing",
            "The lab has 4 of the 6 days, and another computer. With both changes all 12 runs stay "
            "and so does power 0.88; halving on and on ends at 0.10.",
            "Negotiation",
            _begins("ml_resnet_cifar10"),
        ),
        Story(
            "do_not_run",
            "Do not run this study",
            "The lab can check at most 437 of 633 cases, and 69 % of a check proves nothing. 2,055 "
            "more credits would pay for all; without them the Scientist leaves.",
            "Negotiation",
            _begins("math_four_colour"),
        ),
    ]


def _begins(
    study: str, plan: Protocol | None = None, lab: Difficulty = DEFAULT_DIFFICULTY
) -> Workspace:
    return Workspace(case=Case(study=study, lab=lab, plan=plan), presenting=1)
