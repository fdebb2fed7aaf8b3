"""From a reported t to the verdict in one's own lab, from a first visit, its acts counted."""

from __future__ import annotations

import time
from typing import Final

from playwright.sync_api import Page, expect

from tests.browser.driving import (
    PHONE,
    PROJECTOR,
    PROJECTOR_DARK,
    assert_accessible,
    looks,
    open_app,
)
from tests.browser.test_questions import Visitor
from tests.browser.visiting import dimension, where

MOST_SECONDS: Final = 120


def test_reported_t_is_a_verdict_in_ones_own_lab_in_twenty_acts(app_page: Page) -> None:
    visitor, began = Visitor(app_page), time.monotonic()
    open_app(app_page)
    visitor.opens("Make a study")
    visitor.writes("Name of the study", "Naps and recall")
    visitor.chooses("The effect is typed as", "t and n of both groups")
    visitor.types("Reported t", 2.5)
    visitor.types("Reported n, group 1", 20)
    visitor.types("Reported n, group 2", 20)
    visitor.types("Dropout, %", 10)
    visitor.types("Days it takes", 12)
    # d = 2.5 √0.1 = 0.79; R's pwr asks for 26.1 a group, so 27, and 30 with a tenth on top.
    expect(app_page.get_by_text("30 a group = 60 in all.")).to_be_visible()
    for _ in looks(app_page, (PROJECTOR_DARK, PHONE, PROJECTOR)):
        assert_accessible(app_page)
    visitor.presses("Use this analysis")
    expect(where(app_page)).to_contain_text("Naps and recall")
    visitor.presses("Your lab")
    visitor.types("Budget, credits", 1000)
    visitor.types("Days", 42)
    visitor.types("Staff units", 2)
    visitor.closes_the_drawer()
    expect(where(app_page)).to_contain_text("not feasible, budget and staff fail")
    expect(dimension(app_page, "Staff")).to_contain_text("3 / 2 staff units")
    visitor.has_answered()
    assert time.monotonic() - began < MOST_SECONDS
