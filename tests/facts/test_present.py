"""Slides: the claim, the plan, each concession, the sum, the simple rule and the decision."""

from typing import Final

from replicalab.assessment import assess
from replicalab.facts import slide_facts
from replicalab.facts.negotiation_facts import outcome_verdict, simple_rule_run
from replicalab.facts.round_facts import suggested
from replicalab.models import revise
from replicalab.negotiation import ScientistKind, concession_steps
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, load_scenario
from tests.facts.reading import tree
from tests.golden import assert_golden, new_lines
from tests.negotiation.playing import by_person, by_rule, propose
from tests.ui.reading import heard

STROOP: Final = load_scenario("psy_stroop", "medium")
YOURS: Final = assess(STROOP.reference_protocol, STROOP)


SOME: Final = STROOP.with_own(LabOverrides(), EvidenceAssumptions(dropout=0.25))
EDITED: Final = revise(YOURS.plan, sample_size=40)
OPEN: Final = by_person(STROOP, propose(STROOP.reference_protocol))
FISH: Final = load_scenario("eco_reef_fish", "medium")
FISHING: Final = by_rule(FISH, FISH.reference_protocol, scientist=ScientistKind.STEP_BY_STEP)
RULE: Final = simple_rule_run(FISHING)
assert RULE is not None
CHANGES: Final = suggested(FISHING)
FISH_PLAN: Final = PlanAnalysis(assess(FISH.reference_protocol, FISH))
SLIDES: Final = {
    "the study's question": slide_facts.stake_slide(YOURS),
    "its question with dropout": slide_facts.stake_slide(assess(EDITED, SOME)),
    "its own plan": slide_facts.plan_slide(YOURS),
    "another plan": slide_facts.plan_slide(assess(EDITED, STROOP)),
    "another plan with dropout": slide_facts.plan_slide(assess(EDITED, SOME)),
    "a concession of an item": slide_facts.concession_slide(FISHING, 0, CHANGES),
    "a concession of a control": slide_facts.concession_slide(FISHING, 1, CHANGES),
    "a concession of samples": slide_facts.concession_slide(FISHING, 3, CHANGES),
    "given up": slide_facts.ledger_slide(concession_steps(FISHING), CHANGES),
    "the simple rule": slide_facts.rule_slide(FISHING, RULE),
    "the decision": slide_facts.decision_slide(FISH_PLAN, FISHING, outcome_verdict(FISHING)),
    "an open negotiation": slide_facts.decision_slide(
        PlanAnalysis(YOURS), OPEN, outcome_verdict(OPEN)
    ),
    "the decision alone": slide_facts.decision_slide(PlanAnalysis(YOURS), None),
    "a noted decision": slide_facts.decision_slide(
        PlanAnalysis(YOURS), None, note="Run it in May.\nAda"
    ),
}


def test_slides() -> None:
    texts = {name: heard(tree(panel)) for name, panel in SLIDES.items()}
    assert_golden("slides", new_lines(texts))
