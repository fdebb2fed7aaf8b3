"""Slides: what each side wants in a round, in what two plans differ, and no sign where none is."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.assessment import assess
from replicalab.lexicon import count_text
from replicalab.models import FIELD_LABELS, revise
from replicalab.negotiation import ScientistKind
from replicalab.planner.steps import differences
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, list_scenarios, load_scenario
from replicalab.views.blocks import Block, Status
from replicalab.views.negotiation import outcome_verdict
from replicalab.views.present import (
    beside_slide,
    outcome_slide,
    plan_slide,
    question_slide,
    round_slide,
)
from tests.golden import assert_golden
from tests.negotiation.playing import ask, by_person, by_rule, propose
from tests.ui.reading import heard
from tests.views.reading import rows, tree

STROOP: Final = load_scenario("psy_stroop", "medium")
YOURS: Final = assess(STROOP.reference_protocol, STROOP)
TALKS: Final = by_rule(STROOP, STROOP.reference_protocol, scientist=ScientistKind.EVIDENCE_AWARE)
NOTE: Final = "Not confirmed."


def signs(panel: Block) -> set[str]:
    """Return the statuses that a slide is coloured in."""
    names = (name for part in tree(panel).iter() for name in part.get("class", "").split())
    return {"pass", "caution", "fail"} & set(names)


SOME: Final = STROOP.with_own(LabOverrides(), EvidenceAssumptions(dropout=0.25))
ASKED: Final = by_person(STROOP, propose(STROOP.reference_protocol), ask("How many credits?"))
EDITED: Final = revise(YOURS.plan, sample_size=40)
SLIDES: Final = {
    "a round": round_slide(TALKS, 0),
    "a round that moves": round_slide(TALKS, 1),
    "a question and its answer": round_slide(ASKED, 1),
    "the outcome": outcome_slide(TALKS, outcome_verdict(TALKS)),
    "the study's question": question_slide(YOURS),
    "its question with dropout": question_slide(assess(EDITED, SOME)),
    "its own plan": plan_slide(YOURS),
    "another plan": plan_slide(assess(EDITED, STROOP)),
    "another plan with dropout": plan_slide(assess(EDITED, SOME)),
    "both beside": beside_slide(YOURS, assess(EDITED, STROOP), "another"),
}


def test_slides_read_as_they_were_read() -> None:
    told = [f"# {name}\n{heard(tree(panel))}" for name, panel in SLIDES.items()]
    assert_golden("slides", "\n\n".join(told))


def test_run_that_is_not_confirmed_has_its_note_and_no_good_sign() -> None:
    failed = outcome_verdict(TALKS)._replace(status=Status.FAIL)
    slides = round_slide(TALKS, 0, NOTE), round_slide(TALKS, 1, NOTE)
    for panel in (*slides, outcome_slide(TALKS, failed, NOTE)):
        assert NOTE in heard(tree(panel))
        assert not tree(panel).findall(".//div[@class='bar']")
        assert signs(panel) <= {"fail"}


@pytest.mark.parametrize("study", [each.scenario_id for each in list_scenarios()])
def test_slides_of_a_plan_tell_its_question_and_two_plans_by_their_differences(study: str) -> None:
    pack = load_scenario(study, "medium")
    yours = assess(pack.reference_protocol, pack)
    asked = question_slide(yours)
    assert pack.paper.goal in heard(tree(asked))
    assert count_text(pack.lab.budget, "credit") in heard(tree(asked))
    assert not signs(asked), "no verdict"
    other = assess(revise(yours.plan, sample_size=yours.plan.sample_size + 1), pack)
    names = [row[0] for row in rows(beside_slide(yours, other, "another"))[1:]]
    fields = [FIELD_LABELS[each.field] for each in differences(yours.plan, other.plan)]
    assert names[: 1 + len(fields)] == ["Verdict", *fields]
    assert ("Credits" in names) == (yours.cost != other.cost)
    assert ("Fidelity loss" in names) == (yours.fidelity_loss != other.fidelity_loss)
