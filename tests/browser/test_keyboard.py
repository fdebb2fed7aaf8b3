"""By keyboard alone: the whole first journey, and where the focus is on every page."""

import re
from typing import Final, Literal

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from tests.browser.driving import PROJECTOR, open_app
from tests.browser.test_every_page import SLIDE, ZOOMED
from tests.browser.test_tradeoffs_journey import wait_for_chart
from tests.browser.visiting import FULL_ADDRESSES, box_of, expect_round, strike, where

MOST_STOPS: Final = 80


def reach(page: Page, target: Locator, key: Literal["Tab", "Shift+Tab"] = "Tab") -> None:
    expect(target).to_be_enabled()
    for _ in range(MOST_STOPS):
        page.keyboard.press(key)
        if target.evaluate("control => control === document.activeElement"):
            box = box_of(target)
            assert 0 <= box["y"] <= PROJECTOR.height - box["height"], f"{target} is out of sight"
            return
    raise AssertionError(f"no way to {target} within {MOST_STOPS} stops")


def go(page: Page, name: str) -> None:
    reach(page, page.locator(".st-key-navigation").get_by_role("link", name=name, exact=True))
    strike(page, "Enter")
    expect(page).to_have_title(f"{name} · ReplicaLab")


def test_first_journey_by_keyboard_alone(app_page: Page) -> None:
    open_app(app_page)
    _presents_the_first_story(app_page)
    _changes_the_sample_size(app_page)
    _applies_the_suggested_changes_and_undoes(app_page)
    _steps_through_the_rounds(app_page)
    _chooses_a_point_and_loads_it(app_page)


def _presents_the_first_story(page: Page) -> None:
    reach(page, page.get_by_role("button", name="Ten credits too many"))
    strike(page, "Enter")
    place = page.locator(".page.shown .top p").last
    expect(place).to_have_text(re.compile("^1 / "))
    last = int(place.inner_text().partition(" / ")[2])
    for number in range(1, last):
        expect(place).to_have_text(f"{number} / {last}")
        page.keyboard.press("Space")
    expect(page.locator(".page.shown .point")).to_be_visible()
    page.keyboard.press("Escape")
    expect(where(page)).to_contain_text("Your plan: not feasible")


def _changes_the_sample_size(page: Page) -> None:
    reach(page, page.get_by_role("spinbutton", name="Sample size", exact=True))
    strike(page, "Control+a", "2", "3", "Enter")
    expect(where(page).get_by_role("status")).to_contain_text("Your plan: feasible")
    reach(page, page.get_by_role("button", name=re.compile("^Undo")), "Shift+Tab")
    strike(page, "Space")
    expect(where(page).get_by_role("status")).to_contain_text("Your plan: not feasible")


def _applies_the_suggested_changes_and_undoes(page: Page) -> None:
    reach(page, page.get_by_role("button", name=re.compile("^Apply (all|1 of 1)$")))
    strike(page, "Enter")
    expect(where(page).get_by_role("status")).to_contain_text("Your plan: feasible")
    reach(page, page.get_by_role("button", name=re.compile("^Undo")), "Shift+Tab")
    strike(page, "Enter")
    expect(where(page).get_by_role("status")).to_contain_text("Your plan: not feasible")


def _steps_through_the_rounds(page: Page) -> None:
    go(page, "Negotiation")
    expect_round(page, 1, 2)
    reach(page, page.get_by_role("button", name=re.compile("^Next")))
    strike(page, "Enter")
    expect_round(page, 2, 2)
    strike(page, "ArrowLeft")
    expect_round(page, 1, 2)


def _chooses_a_point_and_loads_it(page: Page) -> None:
    go(page, "Trade-offs")
    wait_for_chart(page)
    reach(page, page.get_by_role("slider", name="Budget, credits"))
    strike(page, "ArrowRight")
    expect(page.get_by_text("Your lab:")).to_be_visible()
    reach(page, page.get_by_role("spinbutton", name="Point: samples"))
    strike(page, "Control+a", "2", "0", "Enter")
    reach(page, page.get_by_role("button", name="Load this point"))
    strike(page, "Enter")
    expect(page.get_by_role("link", name="See it on Protocol")).to_be_visible()
    reach(page, page.get_by_role("link", name="See it on Protocol"))
    strike(page, "Enter")
    expect(page.get_by_role("spinbutton", name="Sample size", exact=True)).to_have_value("20")


FOCUSED: Final = """() => {
  const at = document.activeElement;
  if (at === document.body) return null;
  const named = (at.ariaLabel || at.innerText || at.tagName).replace(/\\s+/g, ' ');
  const inside = at.matches('input, textarea') ? at.parentElement.parentElement : at;
  const box = inside.getBoundingClientRect();
  const x = Math.max(0, box.x - 8), y = Math.max(0, box.y - 8);
  const right = Math.min(innerWidth, box.right + 8), bottom = Math.min(innerHeight, box.bottom + 8);
  const middle = Math.min(box.bottom, Math.max(box.top, 0) + box.height / 2);
  const hit = document.elementFromPoint(box.x + box.width / 2, Math.min(middle, innerHeight - 1));
  const header = document.querySelector('.rl.header');
  return {
    name: named, clip: {x, y, width: right - x, height: bottom - y},
    hidden: !!header && !header.contains(at) && !at.contains(header) && header.contains(hit),
  };
}"""
"""The focused control: its name, its area, and whether the fixed header covers it."""


@pytest.mark.parametrize("view", [ZOOMED], ids=str)
def test_focus_is_seen_wherever_it_goes(app_page: Page) -> None:
    for address, fewest in ((FULL_ADDRESSES[2], 10), (SLIDE, 5)):
        open_app(app_page, address)
        app_page.wait_for_timeout(1000)  # a late chart moves the page below it
        seen: list[str] = []
        for _ in range(MOST_STOPS):
            app_page.keyboard.press("Tab")
            focused = app_page.evaluate(FOCUSED)
            if focused is None:
                break
            assert not focused["hidden"], f"the header hides {focused['name']}"
            assert _differs_without_focus(app_page, focused["clip"]), f"no ring: {focused['name']}"
            seen.append(focused["name"])
        else:
            raise AssertionError(f"the focus never leaves: {seen[-10:]}")
        assert len(seen) >= fewest


def _differs_without_focus(page: Page, clip: FloatRect) -> bool:
    focused = page.screenshot(clip=clip, animations="disabled", caret="hide")
    page.evaluate("window.at = document.activeElement; window.at.blur()")
    bare = page.screenshot(clip=clip, animations="disabled", caret="hide")
    page.evaluate("window.at.focus({preventScroll: true})")  # a toolbar lets Tab out from there
    return focused != bare
