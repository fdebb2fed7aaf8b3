"""What a screen reader reads: headings step by step, named tables, in the order of what is seen."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from tests.browser.driving import (
    PHONE,
    PROJECTOR,
    View,
    assert_accessible,
    looks,
    open_app,
    wait_for_run,
)
from tests.browser.visiting import FULL_ADDRESSES, show, where

ADDRESSES: Final = (
    *FULL_ADDRESSES,
    "/Protocol?study=bio_jq1_myeloma&lab=hard",
    *(f"/Protocol?study=psy_stroop&present={number}" for number in (1, 2, 4, 5, 6, 7)),
)

HEADINGS: Final = """() => [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')]
  .filter(each => each.checkVisibility()).map(each => Number(each.tagName[1]))"""
UNNAMED: Final = """() => [...document.querySelectorAll('.rl table')].filter(table =>
    !table.caption || !table.querySelector('th[scope=col], th[scope=row]') ||
    [...table.querySelectorAll('th')].some(each => !each.scope || !each.textContent.trim()))
  .map(table => table.outerHTML.slice(0, 200))"""
"""Tables without a caption, without headers, or with a header that says nothing."""
BACKWARD: Final = """() => {
  const read = 'h1, h2, h3, h4, p, li, tr, summary, label, button, a, input';
  const parts = [...document.querySelectorAll(`[data-testid=stMain] :is(${read})`)].filter(each =>
    each.checkVisibility({visibilityProperty: true}) && each.getBoundingClientRect().width > 2 &&
    !each.closest('.unseen, .st-key-stage_ways, .js-plotly-plot, [data-testid=stSlider]'));
  const back = [];
  parts.slice(1).forEach((part, at) => {
    const now = part.getBoundingClientRect(), before = parts[at].getBoundingClientRect();
    if (now.bottom <= before.top + 1 && now.left < before.right - 1)
      back.push(`${part.textContent || part.ariaLabel} after ${parts[at].textContent}`);
  });
  return [parts.length, back];
}"""
"""How many parts are read, and those that stand above and not beside the one read before."""


def expect_headings_and_named_tables(page: Page) -> None:
    """Expect one first heading, none that skips a level, and names on all tables."""
    levels = page.evaluate(HEADINGS)
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(now <= before + 1 for before, now in pairwise(levels)), levels
    assert page.evaluate(UNNAMED) == []


@pytest.mark.parametrize("view", [PROJECTOR, PHONE], ids=str)
def test_every_page_is_heard_in_the_order_in_which_it_is_seen(app_page: Page, view: View) -> None:
    for address in ADDRESSES:
        open_app(app_page, address)
        expect(app_page.get_by_role("heading", level=1)).to_be_visible()
        expect(app_page.get_by_role("main")).to_have_count(1)
        app_page.wait_for_timeout(1000)  # a chart that comes late moves what stands below it
        expect_headings_and_named_tables(app_page)
        count, backward = app_page.evaluate(BACKWARD)
        assert count >= 4, address
        assert backward == [], address


@pytest.mark.parametrize("part", ["The lab", "Substitutions", "Restrictions and criteria"])
def test_part_of_a_study_has_headings_and_named_tables(app_page: Page, part: str) -> None:
    open_app(app_page, "/Study")
    show(app_page, part)
    expect(app_page.get_by_role("tabpanel", name=part).locator(".rl").first).to_be_visible()
    expect_headings_and_named_tables(app_page)
    assert_accessible(app_page)


@pytest.mark.parametrize("story", ["Half the sample", "The cut that", "Do not run"])
def test_page_of_a_story_is_accessible_and_says_its_verdict(app_page: Page, story: str) -> None:
    open_app(app_page)
    with wait_for_run(app_page):
        app_page.get_by_role("button", name=re.compile(story)).click()
    expect(app_page.get_by_role("button", name="Next")).to_be_enabled()
    with wait_for_run(app_page):
        app_page.keyboard.press("Escape")
    expect(where(app_page).get_by_role("status")).to_contain_text("feasible")
    for _ in looks(app_page):
        assert_accessible(app_page)
