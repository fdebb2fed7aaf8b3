"""Three stories for a demo: each opens the study and plan in which it begins."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from replicalab.agents.suggestions import apply_changes, reference_offer
from replicalab.assessment import assess
from replicalab.models import Protocol
from replicalab.panels import Slide
from replicalab.scenarios import load_scenario
from replicalab.ui.workspace import DEFAULT_DIFFICULTY, Workspace

_HALVED: Final = "bio_jq1_myeloma"


class StoryPage(StrEnum):
    """The page on which a story is told."""

    PROTOCOL = "protocol"
    NEGOTIATION = "negotiation"


class Story(NamedTuple):
    """What is presented up to its point, and then stands open on a page.

    Attributes:
        key: what it is called in code.
        title, line: what it comes to, in a few words and in a sentence.
        page: where it goes on after its last slide.
        workspace: where it begins.
        ends: what its last slide shows.
    """

    key: str
    title: str
    line: str
    page: StoryPage
    workspace: Workspace
    ends: Slide = Slide.OUTCOME


def stories() -> list[Story]:
    """Return the three stories.

    Raises:
        ScenarioError: a shipped study that a story needs cannot be read.
    """
    return [
        Story(
            "half_the_sample",
            "Half the sample for ten credits",
            "Ten credits over, the Lab Manager halves the sample: power 0.53 → 0.26, below the "
            "floor of 0.50.",
            StoryPage.PROTOCOL,
            Workspace(scenario_id=_HALVED, protocol=_all_but_the_sample(), presenting=1),
            Slide.BESIDE,
        ),
        Story(
            "cut_that_costs_nothing",
            "The cut that costs nothing",
            "A hundred people become twenty-five: power 1.00 → 0.97, still above the target of "
            "0.80.",
            StoryPage.NEGOTIATION,
            Workspace(scenario_id="psy_stroop", presenting=1),
        ),
        Story(
            "do_not_run",
            "Do not run this study",
            "The lab offers half the cases, and half a check proves nothing. It has no credits to "
            "add, so the Scientist walks away.",
            StoryPage.NEGOTIATION,
            Workspace(scenario_id="math_four_colour", presenting=1),
        ),
    ]


def _all_but_the_sample() -> Protocol:
    """Return the reference protocol after every suggested change but the one to the sample."""
    pack = load_scenario(_HALVED, DEFAULT_DIFFICULTY)
    offer = reference_offer(assess(pack.reference_protocol, pack))
    changes = [change for change in offer.changes if change.field != "sample_size"] if offer else []
    return apply_changes(pack.reference_protocol, changes)
