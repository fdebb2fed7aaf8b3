"""Presenting: the deck and its order, the way through it, and the page that it leaves as it was."""

from __future__ import annotations

from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.scenarios import load_scenario
from replicalab.ui.stories import Story, StoryPage, stories
from tests.golden import assert_golden
from tests.ui.acting import can_press, choose_more, labels, press, run
from tests.ui.negotiating import round_shown
from tests.ui.pages import NEGOTIATION, SCENARIOS, TRADE_OFFS
from tests.ui.reading import heard, panels, said
from tests.ui.walking import query_of, visit

STROOP: Final = load_scenario("psy_stroop", "medium")
LAST: Final = 8
"""Claim, plan, three concessions, their sum, the simple rule, decision."""


def place(app: AppTest) -> str:
    """Return which slide of how many is on show."""
    return slide(app).split("\n")[1]


def slide(app: AppTest) -> str:
    """Return what the slide on show says, its top line first."""
    pages = (panel.find(".//div[@class='page shown']") for panel in panels(app))
    [page] = [page for page in pages if page is not None]
    return heard(page)


def slides(app: AppTest) -> list[str]:
    """Return what every slide says, from the one on show to the last."""
    texts = [slide(app)]
    while can_press(app, "Next"):
        texts.append(slide(press(app, "Next")))
    return texts


@pytest.mark.parametrize("page", [SCENARIOS, NEGOTIATION, TRADE_OFFS])
def test_page_is_presented_in_its_place_and_left_as_it_was(page: str) -> None:
    app = visit(page, study="psy_stroop", round="2", budget="1200")
    text, query = said(app), query_of(app)
    choose_more(app, "Present")
    assert place(app) == f"1 / {LAST}"
    assert not app.get("page_link")
    press(press(app, "Next"), "Leave")
    assert (said(app), query_of(app)) == (text, query)
    assert "Leave" not in labels(app)


def test_deck_is_presented_as_it_was_read() -> None:
    texts = slides(visit(present="1"))
    assert not any("Agreed" in text for text in texts[:4]), "how it ends comes after every round"
    assert_golden("pages/present#first", "\n\n".join(texts))


def test_slides_go_back_and_forth_and_to_both_ends_and_no_link_leads_beyond() -> None:
    app = visit(TRADE_OFFS, study="psy_stroop", present="99")
    assert place(app) == f"{LAST} / {LAST}"
    assert place(press(app, "Back")) == f"{LAST - 1} / {LAST}"
    assert not can_press(press(app, "Home"), "Back")
    for key, number in (("PageDown", 2), ("Space", 3), ("Down", 4), ("Up", 3), ("PageUp", 2)):
        assert place(press(app, key)) == f"{number} / {LAST}"
    assert place(press(app, "End")) == f"{LAST} / {LAST}"
    assert not can_press(app, "Next")
    assert query_of(app)["present"] == str(LAST)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"present": "3", "recording": "zebra"}, "'zebra' is not known"),
        ({"present": "3", "scientist": "person"}, "no plan is on the table yet"),
        ({"present": "3", "samples": "0"}, "sample size of 0"),
        ({"present": "2", "seed": "x"}, "Not everything could be opened"),
        ({"present": "1", "budget": "1200"}, "1,200 credits"),
    ],
    ids=["unknown recording", "before the first round", "no samples", "changed link", "levers"],
)
def test_presentation_says_of_what_it_is_and_what_is_not_there(
    query: dict[str, str], text: str
) -> None:
    app = visit(study="psy_stroop", **query)
    assert text in said(app)


# --- stories ---


@pytest.mark.parametrize("told", stories(), ids=lambda story: story.key)
def test_story_is_presented_from_its_beginning_to_its_point(told: Story) -> None:
    app = visit(study="ml_resnet_cifar10")
    app.button(key=told.key).click()
    run(app)
    assert place(app).startswith("1 / ")
    *before, point = slides(app)
    assert f"{told.title}. {told.line}" in point
    assert not any(told.title in text for text in before)
    assert_golden(f"pages/present#{told.key}", "\n\n".join([*before, point]))
    press(app, "Leave")
    if told.page is StoryPage.NEGOTIATION:
        assert round_shown(app).startswith("Round 1 of")
    assert_golden(f"pages/{told.page}#{told.key}", said(app))
    assert "present" not in query_of(app)
