"""Presenting in a real browser: a clicker's keys, and the way back to the page."""

from __future__ import annotations

import re
from typing import Final

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.driving import PHONE_DARK, View, open_app, reload_app
from tests.browser.visiting import choose_more, where

LAST: Final = 8


def place(page: Page) -> Locator:
    """Return which slide of how many is on show."""
    return page.locator(".rl.slide.top p").last


@pytest.mark.parametrize("view", [PHONE_DARK], ids=str)
def test_clicker_goes_through_the_slides_and_leaves_to_the_page(app_page: Page, view: View) -> None:
    open_app(app_page, "/Trade-offs?study=psy_stroop&round=2")
    expect(where(app_page)).to_be_visible()
    address = app_page.url
    choose_more(app_page, "Present")
    expect(place(app_page)).to_have_text(f"1 / {LAST}")
    expect(where(app_page)).to_have_count(0)
    expect(app_page.get_by_role("button", name="Next")).to_be_enabled()
    for key, number in (
        ("PageDown", 2),
        ("ArrowRight", 3),
        ("Space", 4),
        ("ArrowDown", 5),
        ("PageUp", 4),
        ("ArrowLeft", 3),
        ("ArrowUp", 2),
        ("End", LAST),
        ("Home", 1),
    ):
        app_page.keyboard.press(key)
        expect(place(app_page)).to_have_text(f"{number} / {LAST}")
    app_page.get_by_role("button", name="Next").click()
    expect(place(app_page)).to_have_text(f"2 / {LAST}")
    app_page.keyboard.press("Space")  # the button has the focus, and is not pressed beside
    expect(place(app_page)).to_have_text(f"3 / {LAST}")
    expect(app_page).to_have_url(re.compile(r"[?&]present=3(&|$)"))
    reload_app(app_page)
    expect(place(app_page)).to_have_text(f"3 / {LAST}")
    app_page.keyboard.press("Escape")
    expect(where(app_page)).to_be_visible()
    expect(app_page).to_have_url(address)
