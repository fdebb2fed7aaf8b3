"""Slides: what is at stake, refused, given up and to be decided, and no sign where none is."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.assessment import assess
from replicalab.lexicon import count_text
from replicalab.models import revise
from replicalab.negotiation import ScientistKind, concession_steps
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, list_scenarios, load_scenario
from replicalab.views.blocks import Block
from replicalab.views.negotiation import outcome_verdict
from replicalab.views.present import (
    concession_slide,
    decision_slide,
    is_refused,
    ledger_slide,
    outcome_slide,
    plan_slide,
    refused_slide,
    round_slide,
    stake_slide,
)
from replicalab.views.rounds import suggested
from tests.golden import assert_golden
from tests.negotiation.playing import ask, by_person, by_rule, propose
from tests.ui.reading import heard
from tests.views.reading import tree

STROOP: Final = load_scenario("psy_stroop", "medium")
YOURS: Final = assess(STROOP.reference_protocol, STROOP)
TALKS: Final = by_rule(STROOP, STROOP.reference_protocol, scientist=ScientistKind.DIRECT)
NOTE: Final = "Not confirmed."


def signs(panel: Block) -> set[str]:
    """Return the statuses that a slide is coloured in."""
    names = (name for part in tree(panel).iter() for name in part.get("class", "").split())
    return {"pass", "caution", "fail"} & set(names)


SOME: Final = STROOP.with_own(LabOverrides(), EvidenceAssumptions(dropout=0.25))
ASKED: Final = by_person(STROOP, propose(STROOP.reference_protocol), ask("How many credits?"))
EDITED: Final = revise(YOURS.plan, sample_size=40)
FISH: Final = load_scenario("eco_reef_fish", "medium")
FISHING: Final = by_rule(FISH, FISH.reference_protocol, scientist=ScientistKind.DIRECT)
STEPS: Final = concession_steps(FISHING)
CHANGES: Final = suggested(FISHING)
SLIDES: Final = {
    "a round": round_slide(TALKS, 0),
    "a round that moves": round_slide(TALKS, 1),
    "a question and its answer": round_slide(ASKED, 1),
    "the outcome": outcome_slide(TALKS, outcome_verdict(TALKS)),
    "the study's question": stake_slide(YOURS),
    "its question with dropout": stake_slide(assess(EDITED, SOME)),
    "its own plan": plan_slide(YOURS),
    "another plan": plan_slide(assess(EDITED, STROOP)),
    "another plan with dropout": plan_slide(assess(EDITED, SOME)),
    "an offer that is refused": refused_slide(FISHING, 0),
    "a concession of an item": concession_slide(STEPS, 0, CHANGES),
    "a concession of a control": concession_slide(STEPS, 1, CHANGES),
    "a concession of samples": concession_slide(STEPS, 3, CHANGES),
    "what was given up": ledger_slide(STEPS, CHANGES),
    "the decision": decision_slide(PlanAnalysis(assess(FISH.reference_protocol, FISH)), FISHING),
    "the decision alone": decision_slide(PlanAnalysis(YOURS), None),
    "a noted decision": decision_slide(PlanAnalysis(YOURS), None, "Run it in May.\nAda"),
}


def test_slides_read_as_they_were_read() -> None:
    told = [f"# {name}\n{heard(tree(panel))}" for name, panel in SLIDES.items()]
    assert_golden("slides", "\n\n".join(told))


@pytest.mark.parametrize("study", [each.scenario_id for each in list_scenarios()])
def test_stake_tells_the_question_and_what_the_lab_has_and_judges_nothing(study: str) -> None:
    pack = load_scenario(study, "medium")
    asked = stake_slide(assess(pack.reference_protocol, pack))
    assert pack.paper.goal in heard(tree(asked))
    assert count_text(pack.lab.budget, "credit") in heard(tree(asked))
    assert not signs(asked), "no verdict"


def test_offer_is_refused_that_is_neither_taken_nor_made_in_an_open_negotiation() -> None:
    assert is_refused(FISHING, 0)
    assert not is_refused(TALKS, 0), "the Scientist takes it"
    assert not is_refused(by_person(STROOP, propose(STROOP.reference_protocol)), 0), "still open"
