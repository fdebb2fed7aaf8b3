"""The front door's cards: every study on the shelf, and how its three labs answer."""

from typing import Final

import pytest

from replicalab.facts.verdicts import answer_to
from replicalab.models import LAB_DIMENSIONS, Dimension
from replicalab.scenarios import Difficulty, list_scenarios
from replicalab.ui.scenarios.gallery import Filter, cards, matching

CARDS: Final = cards()


def test_cards_are_the_shelf_in_its_order_and_their_labs_answer_as_the_author_worked_out() -> None:
    assert [card.summary for card in CARDS] == list_scenarios()
    for card in CARDS:
        assert list(card.labs) == ["Easy", "Medium", "Hard"]
        for lab in card.labs.values():
            expected = lab.yours.pack.expected
            assert expected is not None
            assert answer_to(lab) is expected.answer
            failing = [each for each in lab.yours.failing if each in LAB_DIMENSIONS]
            assert failing == [name for name in expected.fails if name in LAB_DIMENSIONS]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Filter(), [card.summary.scenario_id for card in CARDS]),
        (Filter(text="stroop"), ["psy_stroop"]),
        (Filter(text="  STROOP  serial "), ["psy_stroop"]),
        (Filter(text="no such study anywhere"), []),
        (Filter(domain="psychology"), ["psy_ego_depletion", "psy_stroop"]),
        (
            Filter(binds=Dimension.EQUIPMENT, lab=Difficulty.MEDIUM),
            ["bio_jq1_myeloma", "chem_suzuki_ppb", "eco_reef_fish", "psy_stroop"],
        ),
        # Every hard lab has too few staff, and all but this one lose more by something else.
        (Filter(binds=Dimension.STAFF), ["math_four_colour"]),
        # Every study's own protocol passes there, and no better tier is possible.
        (Filter(binds=Dimension.BUDGET, lab=Difficulty.EASY), []),
    ],
    ids=str,
)
def test_filter_keeps_in_order_what_fits_all_of_it(wanted: Filter, found: list[str]) -> None:
    assert [card.summary.scenario_id for card in matching(CARDS, wanted)] == found
