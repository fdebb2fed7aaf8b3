"""Slides: what each side wants in a round, in what two plans differ, and no sign where none is."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.assessment import assess
from replicalab.lexicon import count_text
from replicalab.models import FIELD_LABELS, Protocol, revise
from replicalab.negotiation import ScientistKind
from replicalab.planner.steps import differences
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, load_scenario
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
from tests.ui.reading import IN_EVERY_LAB, heard
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


def test_answer_to_a_question_is_on_its_slide() -> None:
    asked = by_person(STROOP, propose(STROOP.reference_protocol), ask("How many credits?"))
    _, manager = sides(round_slide(asked, 1))
    assert manager.endswith("Budget: 1,000 credits remain.")


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


@pytest.mark.parametrize(
    "panel",
    [
        round_slide(TALKS, 0, NOTE),
        round_slide(TALKS, 1, NOTE),
        outcome_slide(TALKS, outcome_verdict(TALKS)._replace(status=Status.FAIL), NOTE),
    ],
    ids=["first", "second", "outcome"],
)
def test_run_that_is_not_confirmed_has_its_note_and_no_good_sign(panel: Block) -> None:
    assert NOTE in heard(tree(panel))
    assert not tree(panel).findall(".//div[@class='bar']")
    assert signs(panel) <= {"fail"}


@IN_EVERY_LAB
def test_two_plans_are_told_by_their_differences_alone(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    yours = assess(pack.reference_protocol, pack)
    other = assess(revise(yours.plan, sample_size=yours.plan.sample_size + 1), pack)
    names = [row[0] for row in rows(beside_slide(yours, other, "another"))[1:]]
    fields = [FIELD_LABELS[each.field] for each in differences(yours.plan, other.plan)]
    assert names[: 1 + len(fields)] == ["Verdict", *fields]
    assert ("Credits" in names) == (yours.cost != other.cost)
    assert ("Fidelity loss" in names) == (yours.fidelity_loss != other.fidelity_loss)


@IN_EVERY_LAB
def test_question_says_what_the_lab_has_and_gives_no_verdict(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    panel = question_slide(assess(pack.reference_protocol, pack))
    said = heard(tree(panel))
    assert pack.paper.goal in said
    assert count_text(pack.lab.budget, "credit") in said
    assert not signs(panel)


def test_slides_tell_dropout_where_there_is_some() -> None:
    some = STROOP.with_own(LabOverrides(), EvidenceAssumptions(dropout=0.25))
    for pack, is_told in ((STROOP, False), (some, True)):
        yours = assess(revise(YOURS.plan, sample_size=40), pack)
        assert ("25 % drop out" in heard(tree(question_slide(yours)))) == is_told
        assert ("30 analysed" in heard(tree(plan_slide(yours)))) == is_told


@pytest.mark.parametrize(
    ("plan", "title"),
    [
        (YOURS.plan, "The study’s own plan"),
        (revise(YOURS.plan, sample_size=30), "Your plan"),
    ],
    ids=["reference", "edited"],
)
def test_plan_shows_the_seven_under_its_name(plan: Protocol, title: str) -> None:
    panel = plan_slide(assess(plan, STROOP))
    assert heard(tree(panel)).startswith(title)
    assert len(tree(panel).findall(".//ul[@class='seven']/li")) == 7
