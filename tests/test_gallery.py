"""The front door's cards: every study on the shelf, and how its three labs answer."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.gallery import Card, cards
from replicalab.models import LAB_DIMENSIONS, LabManagerActionType
from replicalab.scenarios import Difficulty, list_scenarios, load_scenario

CARDS: Final = cards()


@pytest.fixture(params=CARDS, ids=lambda card: card.summary.scenario_id)
def card(request: pytest.FixtureRequest) -> Card:
    found: Card = request.param
    return found


def test_cards_are_the_shelf_in_its_order() -> None:
    assert [card.summary for card in CARDS] == list_scenarios()


def test_card_has_its_three_labs_from_easy_to_hard(card: Card) -> None:
    assert [lab.difficulty for lab in card.labs] == ["easy", "medium", "hard"]


def test_card_gives_the_answers_that_the_studys_author_worked_out(card: Card) -> None:
    for lab in card.labs:
        expected = load_scenario(card.summary.scenario_id, lab.difficulty).expected
        assert expected is not None
        assert lab.answer is expected.answer
        binding = [dimension for dimension in lab.failing if dimension in LAB_DIMENSIONS]
        assert binding == [name for name in expected.fails if name in LAB_DIMENSIONS]


def test_card_of_an_easy_lab_is_accepted_and_nothing_fails(card: Card) -> None:
    easy = card.labs[0]
    assert (easy.answer, easy.failing) == (LabManagerActionType.ACCEPT, [])


def test_card_of_the_four_colour_study_is_rejected_in_the_hard_lab() -> None:
    [card] = [card for card in CARDS if card.summary.scenario_id == "math_four_colour"]
    hard = card.labs[2]
    assert hard.difficulty is Difficulty.HARD
    assert hard.answer is LabManagerActionType.REJECT
    assert hard.failing == ["protocol", "budget", "equipment", "reagents", "schedule", "staff"]
