"""Presenting in a real browser: a clicker's keys, room for every slide, and the deck on paper."""

import re
from typing import Final
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from replicalab.ui.workspace import stories, to_query
from tests.browser.driving import (
    PHONE_DARK,
    PROJECTOR,
    View,
    assert_accessible,
    looks,
    open_app,
    reload_app,
)
from tests.browser.test_every_page import assert_headings_and_tables, assert_heard_in_order
from tests.browser.visiting import press, where
from tests.reports.making import pages_in

LAST: Final = 9


def place(page: Page) -> Locator:
    return page.locator(".page.shown .top p").last


@pytest.mark.parametrize("view", [PHONE_DARK], ids=str)
def test_clicker_walks_the_slides_and_leaves(app_page: Page, view: View) -> None:
    open_app(app_page, "/Trade-offs?study=psy_stroop&round=2")
    expect(where(app_page)).to_be_visible()
    address = app_page.url
    press(app_page, "Present")
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


SCREENS: Final = (PROJECTOR, View("hall", 1920, 1080), View("zoomed", 640, 360), PHONE_DARK)
MEASURED: Final = """() => {
  const main = document.querySelector('[data-testid=stMain]');
  const buttons = [...document.querySelectorAll('.st-key-stage_ways button')];
  const pages = [...document.querySelectorAll('.deck > .page')];
  return pages.map(page => {
    for (const other of pages) other.classList.toggle('shown', other === page);
    const walker = document.createTreeWalker(page, NodeFilter.SHOW_TEXT), boxes = [];
    while (walker.nextNode()) {
      const text = walker.currentNode;
      if (!text.data.trim() || text.parentElement.closest('.unseen, .meaning')) continue;
      const range = document.createRange();
      range.selectNodeContents(text);
      boxes.push(...range.getClientRects());
    }
    return {
      title: page.querySelector('h1').innerText,
      texts: boxes.length,
      left: Math.min(...boxes.map(box => box.left)),
      right: innerWidth - Math.max(...boxes.map(box => box.right)),
      reach: main.scrollHeight - Math.max(...boxes.map(box => box.bottom)) - main.scrollTop,
      above: Math.min(...buttons.map(button => button.getBoundingClientRect().top))
        - main.getBoundingClientRect().bottom,
      sideways: main.scrollWidth - main.clientWidth,
      scrolls: main.scrollHeight - main.clientHeight,
    };
  });
}"""
"""Per slide: room around the texts and above the buttons, and how far it scrolls."""


def assert_room(page: Page) -> None:
    expect(place(page)).to_have_text(re.compile("^1 / "))
    expect(page.get_by_role("button", name="Next")).to_be_enabled()
    for screen in SCREENS:
        page.set_viewport_size({"width": screen.width, "height": screen.height})
        for slide in page.evaluate(MEASURED):
            assert slide["texts"] > 3, (screen, slide)
            for side in ("left", "right", "reach", "above"):
                assert slide[side] >= 0, (screen, side, slide)
            assert slide["sideways"] <= 0, (screen, slide)
            assert slide["scrolls"] <= 0 or screen.width <= 640, (screen, slide)


SMALLEST: Final = 22
TYPE: Final = """root => Math.min(...[...root.querySelectorAll('.rl.slide *, svg text')]
    .filter(each => each.textContent.trim() && !each.closest('.unseen'))
    .map(each => parseFloat(getComputedStyle(each).fontSize)))"""
"""The size of the smallest type of a slide, in px."""


def assert_slides_are_accessible(page: Page) -> None:
    open_app(page, "/Negotiation?study=psy_stroop&lab=medium&present=1")
    main = page.get_by_test_id("stMain")
    expect(place(page)).to_have_text(re.compile("^1 / "))
    expect(page.get_by_role("button", name="Next")).to_be_enabled()
    last = int(place(page).inner_text().partition(" / ")[2])
    for number in range(1, last + 1):
        expect(place(page)).to_have_text(f"{number} / {last}")
        assert_headings_and_tables(page)
        views = (PHONE_DARK, PROJECTOR)
        for view in looks(page, views):
            assert_heard_in_order(page)
            if view == views[number % 2]:
                assert_accessible(page)
        assert main.evaluate(TYPE) >= SMALLEST, f"slide {number}"
        page.keyboard.press("PageDown")


def test_slides_are_read_on_screens_and_paper(app_page: Page) -> None:
    assert_slides_are_accessible(app_page)
    for study in ("bio_jq1_myeloma", "fin_overreaction", "math_pythagorean"):
        open_app(app_page, f"/Negotiation?study={study}&lab=easy&present=1")
        assert_room(app_page)
    story = stories()[1]
    open_app(app_page, f"/Protocol?{urlencode(to_query(story.workspace))}")
    expect(place(app_page)).to_have_text(re.compile("^1 / "))
    slides = app_page.locator(".deck > .page").count()
    assert slides > 3
    assert pages_in(app_page.pdf(prefer_css_page_size=True)) == slides
    assert pages_in(app_page.pdf(format="A4")) == slides
