"""Panels of a negotiation: the facts of its rounds, and what stays is drawn as no change."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given

from replicalab.models import DIMENSIONS, Protocol, revise
from replicalab.negotiation import Negotiation, ScientistKind
from replicalab.scenarios import Pack
from replicalab.views.blocks import Block
from replicalab.views.negotiation import outcome_verdict
from replicalab.views.rounds import (
    attempts_panel,
    branches_panel,
    judge_panel,
    ledger_panel,
    matrix_panel,
    outcome_panel,
    round_panel,
)
from tests.negotiation.playing import (
    ACCEPT,
    MEDIUM,
    MODELLED,
    PROSE,
    RULED,
    ask,
    by_person,
    by_rule,
    propose,
    revise_to,
)
from tests.strategies import openings, studied_packs
from tests.ui.reading import heard
from tests.views.reading import rows, tree, words

REFERENCE: Final = MEDIUM.reference_protocol


def columns_of(panel: Block) -> list[str]:
    """Return the columns of a round, as heard."""
    return [heard(part) for part in tree(panel).iter("article")]


def bars(panel: Block) -> dict[str, str]:
    """Return where each bar of a round ends, by the name of its row."""
    return {
        heard(row[0]): bar.attrib["style"].rpartition(":")[2]
        for row in tree(panel).iter("tr")
        for bar in row.iterfind(".//div[@class='bar']")
    }


# --- a round ----------------------------------------------------------------------------------


def test_round_stands_in_three_columns() -> None:
    panel = round_panel(RULED, 1)
    assert heard(tree(panel)).startswith("Round 2\n")
    scientist, manager, table = columns_of(panel)
    assert scientist.startswith("Scientist revises\n210 samples in 7 days")
    assert manager.startswith("Lab Manager caution suggests changes")
    assert "Offers 210 samples in 6 days, 2,850 credits, power 0.47." in manager
    assert rows(panel)[1:] == [
        ["Samples", "420 → 210", ""],
        ["Days", "8 → 7", ""],
        ["Credits", "5,050 → 2,900", ""],
        ["Power", "0.76 → 0.47", ""],
    ]
    assert table.endswith("fails Protocol, equipment and schedule fail.")


def test_bars_of_a_round_end_where_the_lab_is_used_up() -> None:
    plan = RULED.rounds[1].plan
    assert plan is not None
    assert plan.evidence.value == pytest.approx(0.47, abs=0.005)
    ends = bars(round_panel(RULED, 1))
    assert ends["Days"] == "1.000", "7 of 6 days"
    assert ends["Credits"] == f"{2900 / 3700:.3f}"
    assert ends["Power"] == f"{plan.evidence.value:.3f}"


def test_opening_is_no_change_and_a_question_is_answered_without_unfolding_anything() -> None:
    asked = by_person(MEDIUM, propose(REFERENCE), ask("Which days? And the budget?"))
    opening, question = (columns_of(round_panel(asked, at))[2] for at in (0, 1))
    assert opening.startswith("On the table the opening plan")
    assert question.startswith("On the table unchanged")
    assert "→" not in opening + question
    panel = round_panel(asked, 1)
    _, manager, _ = columns_of(panel)
    assert "Budget: 3,700 credits remain." in manager
    assert "Time: at most 6 days." in manager
    [folded] = [heard(each) for each in tree(panel).iter("details") if "hidden" in heard(each)]
    assert "remain" not in folded


def test_number_that_stays_is_not_drawn_as_a_change() -> None:
    plans = REFERENCE, revise(REFERENCE, duration_days=7), revise(REFERENCE, duration_days=7)
    talks = by_person(MEDIUM, propose(plans[0]), *map(revise_to, plans[1:]))
    moved = [row[1] for row in rows(round_panel(talks, 1))[1:]]
    assert moved == ["420", "8 → 7", "5,050 → 5,000", "0.76"]
    assert "→" not in columns_of(round_panel(talks, 2))[2]


def test_whole_plan_and_every_answer_open_to_all_that_was_said() -> None:
    panel = round_panel(RULED, 0)
    folded = {heard(part[0]): heard(part) for part in tree(panel).iter("details")}
    assert list(folded) == ["The whole plan", "The answer in full", "Rule and numbers"]
    assert all(label in folded["The whole plan"] for label in REFERENCE.required_equipment)
    answer = RULED.rounds[0].answer
    assert answer is not None
    told = folded["The answer in full"].split("\n")[1:]
    assert told == [line.removeprefix("- ") for line in answer.explanation.split("\n")]
    assert len([row for row in tree(panel).iter("tr") if heard(row[0]).startswith("passes")]) == 3


def test_round_without_an_answer_or_a_plan_says_so() -> None:
    _, manager, table = columns_of(round_panel(by_person(MEDIUM, None), 0))
    assert manager == "Lab Manager\nHas nothing to answer."
    assert table == "On the table\nNo plan is on the table yet."


def test_round_that_is_not_confirmed_has_no_sign_no_colour_and_no_bar() -> None:
    panel = round_panel(RULED, 4, confirmed=False)
    classes = {name for part in tree(panel).iter() for name in part.get("class", "").split()}
    assert not classes & {"pass", "caution", "fail", "bar"}
    assert "Rule and numbers" not in heard(tree(panel))


def test_what_a_model_said_is_folded_and_its_rewording_stands_beside_the_answer() -> None:
    attempts = MODELLED.rounds[0].attempts
    for panel in (round_panel(MODELLED, 0), attempts_panel(attempts)):
        titles = [heard(part) for part in tree(panel).iter("summary")]
        assert [title for title in titles if title.startswith("Attempt")] == [
            "Attempt 1: no valid action (no_json)",
            "Attempt 2: no valid action (invalid_json)",
            "Attempt 3: a valid action",
        ]
        said = {"".join(part.itertext()) for part in tree(panel).iter("pre")}
        assert {PROSE, attempts[0].observation, attempts[0].system_prompt} <= said
    manager = columns_of(round_panel(RULED, 0, reworded="Other <b>words</b>."))[1]
    assert "Other <b>words</b>." in manager
    assert "I offer instead:" in manager


# --- the whole run ----------------------------------------------------------------------------


def test_matrix_has_a_column_for_each_round_and_marks_the_one_on_show() -> None:
    asked = by_person(MEDIUM, ask("Days?"), propose(REFERENCE))
    panel = matrix_panel(asked, 1)
    assert [row[0] for row in rows(panel)] == [
        "Round", *map(str.capitalize, DIMENSIONS), "Samples", "Days", "Credits", "Power",
    ]  # fmt: skip
    assert [row[1:] for row in rows(panel)][:2] == [["1", "2"], ["no plan", "fails"]]
    assert rows(panel)[-1][1:] == ["–", "0.76"]
    [marked] = [part for part in tree(panel).iter("th") if part.get("aria-current")]
    assert heard(marked) == "2"


def test_ledger_leaves_out_what_moves_no_amount() -> None:
    other = revise(REFERENCE, rationale="Put otherwise.")
    talks = by_person(MEDIUM, propose(REFERENCE), revise_to(other))
    assert heard(tree(ledger_panel(talks))) == "Who gave what\nNeither side gave anything."
    assert rows(ledger_panel(RULED))[1] == [
        "2", "Scientist", "420 → 210 samples, 8 → 7 days", "−2,150", "power 0.76 → 0.47",
    ]  # fmt: skip
    assert all(row[3] or row[4] for row in rows(ledger_panel(RULED)))


def test_judge_speaks_of_the_last_plan_or_of_none() -> None:
    assert "Reward 0.00" in words(judge_panel(by_person(MEDIUM, propose(REFERENCE), None)))
    assert "nothing to judge" in words(judge_panel(by_person(MEDIUM, None)))


def test_outcome_of_an_open_negotiation_is_neither_good_nor_bad() -> None:
    for talks, drawn in ((by_person(MEDIUM), "outcome"), (RULED, "outcome caution")):
        panel = outcome_panel(outcome_verdict(talks), is_open=talks.outcome is None)
        [told] = tree(panel).iter("h2")
        assert told.get("class") == drawn


def test_branch_that_is_over_leaves_its_cells_empty() -> None:
    short = by_person(MEDIUM, propose(REFERENCE), ACCEPT)
    pairs = [*zip(RULED.rounds[:2], short.rounds, strict=True), (RULED.rounds[2], None)]
    assert [row[0] for row in rows(branches_panel(pairs, 1))[1:]] == ["1", "2", "3"]
    assert rows(branches_panel(pairs, 1))[3][3:] == ["–", "–"]


@given(studied_packs(), openings())
def test_every_panel_of_any_negotiation_is_well_formed(
    pack: Pack, opening: Protocol | None
) -> None:
    talks: Negotiation = by_rule(pack, opening, scientist=ScientistKind.EVIDENCE_AWARE)
    panels: list[Block] = [
        *(round_panel(talks, at) for at in range(len(talks.rounds))),
        matrix_panel(talks, 0),
        ledger_panel(talks),
        judge_panel(talks),
        outcome_panel(outcome_verdict(talks)),
    ]
    assert all(heard(tree(panel)) for panel in panels)
