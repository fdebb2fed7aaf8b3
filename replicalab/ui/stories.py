"""Three stories for a demo: each opens the study, lab, plan and round that make its point."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from replicalab.agents.suggestions import apply_changes, reference_offer
from replicalab.assessment import assess
from replicalab.models import Protocol
from replicalab.scenarios import Difficulty, Pack, load_scenario
from replicalab.ui.workspace import Workspace


class StoryPage(StrEnum):
    """The page on which a story is told."""

    PROTOCOL = "protocol"
    NEGOTIATION = "negotiation"


class Story(NamedTuple):
    """A title, one line on what to look at, and where it is told."""

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
    return [_half_the_sample(), _the_cut_that_costs_nothing(), _do_not_run_this_study()]


def _half_the_sample() -> Story:
    pack = load_scenario("bio_jq1_myeloma", Difficulty.MEDIUM)
    return Story(
        "half_the_sample",
        "Half the sample for ten credits",
        "After every other change the plan is ten credits over. Look at what halving costs.",
        StoryPage.PROTOCOL,
        Workspace(
            scenario_id=pack.scenario_id,
            difficulty=pack.difficulty,
            protocol=_all_but_the_sample(pack),
        ),
    )


def _all_but_the_sample(pack: Pack) -> Protocol:
    """Return the reference protocol after every suggested change but the one to the sample."""
    plan = pack.reference_protocol
    offer = reference_offer(assess(plan, pack))
    changes = offer.changes if offer else []
    return apply_changes(plan, [change for change in changes if change.field != "sample_size"])


def _the_cut_that_costs_nothing() -> Story:
    return _in_two_rounds(
        "psy_stroop",
        "cut_that_costs_nothing",
        "The cut that costs nothing",
        "A hundred people become twenty-five: power 1.00 → 0.97, still above the target of 0.80.",
    )


def _do_not_run_this_study() -> Story:
    return _in_two_rounds(
        "math_four_colour",
        "do_not_run",
        "Do not run this study",
        "The lab can run the offer, and it would show nothing: half the cases stay unchecked.",
    )


def _in_two_rounds(scenario_id: str, key: str, title: str, line: str) -> Story:
    """Return a story that opens at the second round of a negotiation in a medium lab."""
    workspace = Workspace(
        scenario_id=scenario_id, difficulty=Difficulty.MEDIUM, max_rounds=2, round_number=1
    )
    return Story(key, title, line, StoryPage.NEGOTIATION, workspace)
