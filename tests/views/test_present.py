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
from tests.negotiation.playing import ask, by_person, by_rule, propose
from tests.ui.reading import heard
from tests.views.reading import rows, tree

STROOP: Final = load_scenario("psy_stroop", "medium")
YOURS: Final = assess(STROOP.reference_protocol, STROOP)
TALKS: Final = by_rule(STROOP, STROOP.reference_protocol, scientist=ScientistKind.EVIDENCE_AWARE)
NOTE: Final = "Not confirmed."


def sides(panel: Block) -> list[str]:
    """Return what both sides want in a round, as heard."""
    return [heard(part) for part in tree(panel).findall(".//div[@class='pair']/section")]


def signs(panel: Block) -> set[str]:
    """Return the statuses that a slide is coloured in."""
    names = (name for part in tree(panel).iter() for name in part.get("class", "").split())
    return {"pass", "caution", "fail"} & set(names)


def test_round_shows_what_each_side_wants_from_and_to() -> None:
    scientist, manager = sides(round_slide(TALKS, 0))
    assert scientist.startswith("Scientist proposes")
    assert "100 samples in 4 days." in scientist
    assert manager.startswith("Lab Manager caution suggests changes")
    assert "Sample size | 100 → 25" in manager
    assert "Saves 800 credits; power 1.00 → 0.97; fidelity loss 0 → 1." in manager
    asked = by_person(STROOP, propose(STROOP.reference_protocol), ask("How many credits?"))
    assert sides(round_slide(asked, 1))[1].endswith("Budget: 1,000 credits remain.")


def test_round_shows_what_it_moved_beside_the_limits() -> None:
    assert rows(round_slide(TALKS, 1))[1:] == [
        ["Samples", "100 → 25", "", ""],
        ["Days", "4 → 3", "of 3", ""],
        ["Credits", "1,600 → 800", "of 1,000", ""],
        ["Power", "1.00 → 0.97", "target 0.80, floor 0.50", ""],
    ]


def test_outcome_goes_from_the_first_plan_to_the_last() -> None:
    panel = outcome_slide(TALKS, outcome_verdict(TALKS))
    assert "Credits | 1,600 → 800 | of 1,000" in heard(tree(panel))
    assert "The Scientist gave 800 credits" in heard(tree(panel))


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


def test_slides_tell_dropout_where_there_is_some() -> None:
    some = STROOP.with_own(LabOverrides(), EvidenceAssumptions(dropout=0.25))
    for pack, is_told in ((STROOP, False), (some, True)):
        yours = assess(revise(YOURS.plan, sample_size=40), pack)
        assert ("25 % drop out" in heard(tree(question_slide(yours)))) == is_told
        assert ("30 analysed" in heard(tree(plan_slide(yours)))) == is_told


def test_plan_shows_the_seven_under_its_name() -> None:
    edited = assess(revise(YOURS.plan, sample_size=30), STROOP)
    for plan, title in ((YOURS, "The study’s own plan"), (edited, "Your plan")):
        panel = plan_slide(plan)
        assert heard(tree(panel)).startswith(title)
        assert len(tree(panel).findall(".//ul[@class='seven']/li")) == 7
