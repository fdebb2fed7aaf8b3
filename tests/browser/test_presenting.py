"""Presenting in a real browser: a clicker's keys, one screen, and the way back to the page."""

from __future__ import annotations

import re
from typing import Final

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.driving import (
    PHONE_DARK,
    PROJECTOR,
    PROJECTOR_DARK,
    View,
    assert_accessible,
    looks,
    open_app,
)
from tests.browser.visiting import choose_more, where

HALL: Final = View("hall", 1920, 1080)
LAST: Final = 8
SMALLEST: Final = 22
TYPE: Final = """root => Math.min(...[...root.querySelectorAll('.rl.slide *, svg text')]
    .filter(each => each.textContent.trim() && !each.closest('.unseen'))
    .map(each => parseFloat(getComputedStyle(each).fontSize)))"""
"""The size of the smallest type of a slide, in px."""


def place(page: Page) -> Locator:
    """Return which slide of how many is on show."""
    return page.locator(".rl.slide.top p").last


@pytest.mark.parametrize("view", [PROJECTOR, PHONE_DARK], ids=str)
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
    app_page.reload()
    expect(place(app_page)).to_have_text(f"3 / {LAST}")
    expect(app_page.get_by_role("button", name="Leave")).to_be_enabled()
    app_page.keyboard.press("Escape")
    expect(where(app_page)).to_be_visible()
    expect(app_page).to_have_url(address)


@pytest.mark.parametrize("view", [PROJECTOR, PROJECTOR_DARK, HALL], ids=str)
@pytest.mark.parametrize(
    "asked",
    [
        "study=psy_stroop&lab=medium",
        "study=eco_reef_fish&lab=hard",
        "study=math_four_colour&lab=medium&scientist=baseline",  # whose plans break a wish
    ],
)
def test_every_slide_is_one_screen_in_large_type(app_page: Page, view: View, asked: str) -> None:
    open_app(app_page, f"/Negotiation?{asked}&present=1")
    expect(place(app_page)).to_have_text(re.compile("^1 / "))
    expect(app_page.get_by_role("button", name="Next")).to_be_enabled()
    last = int(place(app_page).inner_text().partition(" / ")[2])
    main = app_page.get_by_test_id("stMain")
    for number in range(1, last + 1):
        expect(place(app_page)).to_have_text(f"{number} / {last}")
        if number == last:
            expect(app_page.locator(".st-key-stage_region .main-svg").first).to_be_visible()
        beyond = main.evaluate(
            "e => [e.scrollHeight - e.clientHeight, e.scrollWidth - e.clientWidth]"
        )
        assert max(beyond) <= 0, f"slide {number}: {beyond}"
        assert main.evaluate(TYPE) >= SMALLEST, f"slide {number}"
        if number < last:
            app_page.keyboard.press("PageDown")


@pytest.mark.parametrize("number", [1, 3, 5, 6, LAST])
def test_slide_is_accessible_in_every_view(app_page: Page, number: int) -> None:
    open_app(app_page, f"/Protocol?study=psy_stroop&present={number}")
    expect(app_page.get_by_role("heading", level=1)).to_be_visible()
    for _ in looks(app_page):
        assert_accessible(app_page)
