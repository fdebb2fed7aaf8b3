"""The front door's cards: every study on the shelf, and how its three labs answer."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.models import LAB_DIMENSIONS, Dimension, LabManagerActionType
from replicalab.scenarios import (
    Difficulty,
    copy_text,
    list_scenarios,
    parse_study,
)
from replicalab.text.verdicts import answer_to
from replicalab.ui.gallery import Card, Filter, cards, lab_line, matching, own_card
from tests.ui.reading import plain

CARDS: Final = cards()


@pytest.fixture(params=CARDS, ids=lambda card: card.summary.scenario_id)
def card(request: pytest.FixtureRequest) -> Card:
    found: Card = request.param
    return found


def test_cards_are_the_shelf_in_its_order() -> None:
    assert [card.summary for card in CARDS] == list_scenarios()


def test_card_has_its_three_labs_from_easy_to_hard(card: Card) -> None:
    assert [lab.yours.pack.difficulty for lab in card.labs] == ["easy", "medium", "hard"]


def test_card_gives_the_answers_that_the_studys_author_worked_out(card: Card) -> None:
    for lab in card.labs:
        expected = lab.yours.pack.expected
        assert expected is not None
        assert answer_to(lab) is expected.answer
        binding = [each for each in lab.yours.failing if each in LAB_DIMENSIONS]
        assert binding == [name for name in expected.fails if name in LAB_DIMENSIONS]


def test_card_of_an_easy_lab_is_accepted_and_nothing_fails(card: Card) -> None:
    easy = card.labs[0]
    assert (answer_to(easy), easy.yours.failing) == (LabManagerActionType.ACCEPT, [])


def test_line_of_a_lab_names_what_fails_or_the_one_dimension_that_does_not() -> None:
    [card] = [card for card in CARDS if card.summary.scenario_id == "math_four_colour"]
    assert [plain(lab_line(lab)) for lab in card.labs] == [
        "Easy: Lab Manager accepts",
        "Medium: protocol, budget, equipment and schedule fail; Lab Manager suggests changes",
        "Hard: all but policy fail; Lab Manager rejects",
    ]


# --- filters ---


def ids(wanted: Filter) -> list[str]:
    return [card.summary.scenario_id for card in matching(CARDS, wanted)]


def test_filter_without_a_wish_keeps_every_card_in_order() -> None:
    assert matching(CARDS, Filter()) == CARDS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("stroop", ["psy_stroop"]),
        ("  STROOP  serial ", ["psy_stroop"]),
        ("Jegadeesh", ["fin_momentum"]),
        ("mice", ["bio_jq1_myeloma"]),
        ("no such study anywhere", []),
    ],
)
def test_filter_by_text_needs_every_word(text: str, found: list[str]) -> None:
    assert ids(Filter(text=text)) == found


def test_filter_by_domain_keeps_that_domain() -> None:
    assert ids(Filter(domain="psychology")) == ["psy_ego_depletion", "psy_stroop"]


def test_filter_by_what_binds_looks_in_the_lab_that_is_named() -> None:
    # the fact sheet: in medium labs only these three fail staff; every hard lab does
    staff = Filter(binds=Dimension.STAFF, lab=Difficulty.MEDIUM)
    assert ids(staff) == ["chem_suzuki_ppb", "eco_reef_fish", "math_pythagorean"]
    assert len(ids(Filter(binds=Dimension.STAFF))) == 12
    assert ids(Filter(binds=Dimension.BUDGET, lab=Difficulty.EASY)) == []


def test_own_card_answers_as_the_shipped_one_does() -> None:
    [shipped] = matching(CARDS, Filter(text="stroop"))
    study = parse_study(copy_text("psy_stroop", "my_stroop"), "mine")
    mine = own_card(study)
    assert mine.own
    assert list(map(lab_line, mine.labs)) == list(map(lab_line, shipped.labs))
    assert mine.summary.scenario_id == "my_stroop"
