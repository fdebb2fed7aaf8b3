"""Three stories for a demo: each opens the study and plan in which it begins."""

from enum import StrEnum
from typing import Final, NamedTuple

from replicalab.agents.suggestions import apply_changes, reference_offer
from replicalab.assessment import assess
from replicalab.case import Case
from replicalab.models import Protocol
from replicalab.scenarios import load_scenario
from replicalab.ui.workspace import DEFAULT_DIFFICULTY, Workspace

_HALVED: Final = "bio_jq1_myeloma"


class StoryPage(StrEnum):
    """The page on which a story goes on."""

    PROTOCOL = "protocol"
    NEGOTIATION = "negotiation"


class Story(NamedTuple):
    """What is presented, and then stands open on a page.

    Attributes:
        title, line: what it comes to, in a few words and in a sentence.
        page: where it goes on after its last slide.
        workspace: where it begins.
    """

    key: str
    title: str
    line: str
    page: StoryPage
    workspace: Workspace


def stories() -> list[Story]:
    """Return the three stories.

    Raises:
        ScenarioError: a shipped study that a story needs cannot be read.
    """
    return [
        Story(
            "half_the_sample",
            "Half the sample for ten credits",
            "Ten credits over, the Lab Manager halves the sample: power 0.53 → 0.26. Six days "
            "fewer save 300 credits, and all 24 mice stay.",
            StoryPage.PROTOCOL,
            _begins(_HALVED, _all_but_the_sample()),
        ),
        Story(
            "cut_that_costs_nothing",
            "The cut that costs nothing",
            "Another computer and two days fewer save 100 credits, and power stays at 0.88, above "
            "the target of 0.80.",
            StoryPage.NEGOTIATION,
            _begins("ml_resnet_cifar10"),
        ),
        Story(
            "do_not_run",
            "Do not run this study",
            "The lab offers half the cases, and half a check proves nothing. It has no credits to "
            "add, so the Scientist walks away.",
            StoryPage.NEGOTIATION,
            _begins("math_four_colour"),
        ),
    ]


def _begins(study: str, plan: Protocol | None = None) -> Workspace:
    return Workspace(case=Case(study=study, lab=DEFAULT_DIFFICULTY, plan=plan), presenting=1)


def _all_but_the_sample() -> Protocol:
    """Return the reference protocol after every suggested change but the one to the sample."""
    pack = load_scenario(_HALVED, DEFAULT_DIFFICULTY)
    offer = reference_offer(assess(pack.reference_protocol, pack))
    changes = [change for change in offer.changes if change.field != "sample_size"] if offer else []
    return apply_changes(pack.reference_protocol, changes)
