"""Every page and slide in light and dark, from 320 to 1280 px."""

import re
from itertools import pairwise
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import CDPSession, Page, expect

from tests.browser import driving
from tests.browser.visiting import ADDRESSES, COMPARING, FULL_ADDRESSES, box_of, where

ZOOMED: Final = driving.View("zoomed", 640, 360)
"""1280 × 720 at 200 %."""
NARROW: Final = driving.View("narrow", 320, 568)
"""1280 px at 400 %."""
WINDOWS: Final = (driving.PROJECTOR, driving.PHONE_DARK, ZOOMED, NARROW)

SLIDE: Final = "/Protocol?study=phys_millikan&lab=hard&present=5"
WITH_CELLS: Final = (*FULL_ADDRESSES[2:4], COMPARING)

WITH_NAMES: Final = {
    *("button", "link", "textbox", "searchbox", "spinbutton", "combobox", "listbox", "checkbox"),
    *("radio", "switch", "slider", "tab", "menuitem", "dialog", "image", "table", "tabpanel"),
    *("radiogroup", "heading", "option", "figure"),
}
"""Roles whose name a screen reader reads."""


# Plotly's test drawing, and the pictures within its named buttons.
HIDE_PLOTLY_PARTS: Final = """() => {
  for (const part of document.querySelectorAll('#js-plotly-tester, .modebar-btn svg'))
    part.setAttribute('aria-hidden', true);
}"""


def unnamed(page: Page) -> list[str]:
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    if page.get_by_test_id("stPlotlyChart").count():
        page.locator(".js-plotly-plot .main-svg").first.wait_for()
    page.evaluate(HIDE_PLOTLY_PARTS)
    session: CDPSession = page.context.new_cdp_session(page)
    nodes: list[dict[str, Any]] = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    return [
        f"{node['role']['value']} {node.get('description', {}).get('value', '')}"
        for node in nodes
        if not node["ignored"]
        and node["role"]["value"] in WITH_NAMES
        and not node.get("name", {}).get("value", "").strip()
    ]


COLOURED: Final = r"""() => [...document.querySelectorAll('.rl :is(.pass, .caution, .fail)')]
  .filter(each => each.checkVisibility() && each.textContent.trim())
  .filter(each => !each.closest('tr')?.querySelector('.bar'))
  .filter(each => !/[✓✕!]|[a-z]{3}/i.test(each.closest('tr, li, p, td, dd, div').textContent))
  .map(each => each.outerHTML.slice(0, 200))"""
"""Statuses shown by colour alone, without a sign, word or bar."""
MOVING: Final = """() => document.getAnimations().filter(each =>
    each.effect.target && each.effect.target.closest('.rl, .stHtml, .stPlotlyChart') &&
    each.playState === 'running').map(each => each.effect.target.className)"""

HEADINGS: Final = """() => [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')]
  .filter(each => each.checkVisibility()).map(each => Number(each.tagName[1]))"""
UNNAMED: Final = """() => [...document.querySelectorAll('.rl table')].filter(table =>
    !table.caption || !table.querySelector('th[scope=col], th[scope=row]') ||
    [...table.querySelectorAll('th')].some(each => !each.scope || !each.textContent.trim()))
  .map(table => table.outerHTML.slice(0, 200))"""
"""Tables without a caption or with an empty header."""
BACKWARD: Final = """() => {
  const read = 'h1, h2, h3, h4, p, li, tr, summary, label, button, a, input';
  const parts = [...document.querySelectorAll(`[data-testid=stMain] :is(${read})`)].filter(each =>
    each.checkVisibility({visibilityProperty: true}) && each.getBoundingClientRect().width > 2 &&
    !each.closest('.unseen, .st-key-stage_ways, .js-plotly-plot, ' +
    '[data-testid=stSlider]'));
  const back = [];
  parts.slice(1).forEach((part, at) => {
    const now = part.getBoundingClientRect(), before = parts[at].getBoundingClientRect();
    if (now.bottom <= before.top + 1 && now.left < before.right - 1)
      back.push(`${part.textContent || part.ariaLabel} after ${parts[at].textContent}`);
  });
  return [parts.length, back];
}"""
"""The number of parts, and those shown above the part that precedes them."""


def assert_headings_and_tables(page: Page) -> None:
    levels = page.evaluate(HEADINGS)
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(now <= before + 1 for before, now in pairwise(levels)), levels
    assert page.evaluate(UNNAMED) == []


def assert_heard_in_order(page: Page) -> None:
    expect(page.get_by_role("main")).to_have_count(1)
    count, backward = page.evaluate(BACKWARD)
    assert count >= 4
    assert backward == []


LOST: Final = r"""() => {
  const main = document.querySelector('[data-testid=stMain]'), range = document.createRange();
  const unseen = '.unseen, style, svg, .js-plotly-plot, [data-testid=stIconMaterial]';
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT), lost = new Set();
  if (main.scrollWidth > main.clientWidth) lost.add(`the page is ${main.scrollWidth} px wide`);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const within = text.parentElement;
    if (!text.textContent.trim() || within.closest(unseen)) continue;
    if (!within.checkVisibility({visibilityProperty: true})) continue;
    range.selectNodeContents(text);
    const boxes = [...range.getClientRects()].filter(box => box.width >= 2);
    const letters = text.textContent.trim().length;
    const heard = getComputedStyle(within).clipPath !== 'none';
    if (!heard && boxes.length > 2 && letters < 3 * boxes.length)
      lost.add(`in pieces: ${text.textContent.trim()}`);
    for (const box of boxes) {
      for (let part = within; part !== main.parentElement; part = part.parentElement) {
        const style = getComputedStyle(part), room = part.getBoundingClientRect();
        if (/auto|scroll/.test(style.overflowX) && part !== main) break;
        const cuts = part === main || /hidden|clip/.test(style.overflowX);
        const beyond = box.left < room.left - 2 || box.right > room.right + 2;
        if (cuts && beyond && style.clipPath === 'none')
          lost.add(`cut: ${text.textContent.trim()}`);
      }
    }
  }
  return [...lost];
}"""
"""Texts that are cut off without a scroll bar, or broken into letters."""
WORDS: Final = r"""height => {
  const main = document.querySelector('[data-testid=stMain]');
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let words = 0;
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const within = text.parentElement;
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    const seen = box.width > 1 && within.checkVisibility({visibilityProperty: true});
    const skipped = '.unseen, style, [aria-hidden=true], .st-key-navigation';
    if (!seen || within.closest(skipped) || box.top >= height) continue;
    words += text.textContent.split(/\s+/).filter(part => /\p{L}/u.test(part)).length;
  }
  return words;
}"""
"""Counts the visible words above a height, without numbers and the navigation."""
FIRST_SCREEN: Final = 183
OF_A_PAGE: Final = {"": 160, "Protocol": 220, "Negotiation": 150}
READING: Final = 352
"""For the study, with its paper, and the table of all studies."""
READ: Final = ("/Study", "/?survey")
OPEN: Final = 450
SCREENS: Final = 2.2
CONTROLS: Final = (
    "a[href]:not(.skip, [href^='#']), button:not(:disabled), summary, label:has(input), [role=tab]"
)


def assert_light(page: Page, address: str) -> None:
    first, whole = (page.evaluate(WORDS, height) for height in (driving.PROJECTOR.height, 10**6))
    limit = OF_A_PAGE.get(address.partition("?")[0].removeprefix("/"), FIRST_SCREEN)
    assert 20 <= first <= (READING if address.startswith(READ) else limit)
    assert first <= whole <= OPEN
    height = page.get_by_test_id("stMain").evaluate("element => element.scrollHeight")
    assert height <= SCREENS * driving.PROJECTOR.height


def opened(page: Page, address: str) -> None:
    driving.open_app(page, address)
    expect(page).to_have_title(re.compile("ReplicaLab"))
    expect(page.get_by_role("heading", level=1)).to_be_visible()


@pytest.mark.parametrize("path", ADDRESSES.values())
def test_page_is_accessible_in_every_window(
    app_page: Page, app_server: driving.AppServer, path: str
) -> None:
    for address in FULL_ADDRESSES:
        if urlsplit(address).path == path:
            driving.forget_visitor(app_page, app_server.url)
            assert_usable(app_page, address)
    if path == "/Protocol":
        assert_verdict_and_menu_stay(app_page)


def assert_usable(page: Page, address: str) -> None:
    opened(page, address)
    assert_headings_and_tables(page)
    assert unnamed(page) == []
    assert page.evaluate(COLOURED) == []
    assert page.evaluate(MOVING) == []
    for view in driving.looks(page, WINDOWS):
        assert page.evaluate(LOST) == [], (address, view)
        if view in {driving.PROJECTOR, driving.PHONE_DARK}:
            driving.assert_accessible(page)
            assert_heard_in_order(page)
        if view == driving.PROJECTOR:
            assert_light(page, address)
        if view == NARROW:
            controls = page.get_by_test_id("stMain").locator(CONTROLS).filter(visible=True)
            expect(controls.nth(9)).to_be_visible()
            for control in controls.all():
                control.click(trial=True)  # it can be scrolled to, and nothing lies over it
    if address in WITH_CELLS:
        assert_cells_are_seen(page)


CELLS: Final = """() => {
  document.querySelectorAll('.rl details').forEach(fold => { fold.open = true; });
  const cells = [...document.querySelectorAll('.rl tbody :is(th, td)')].filter(cell =>
    cell.textContent.trim() && cell.closest('.stHtml').checkVisibility());
  const lost = cell => {
    const box = cell.getBoundingClientRect();
    return !cell.checkVisibility({visibilityProperty: true}) || box.width < 8 ||
      box.left < 0 || box.right > innerWidth || cell.scrollWidth > cell.clientWidth + 4;
  };
  return [cells.length, cells.filter(lost).map(cell => cell.textContent.trim())];
}"""
"""The number of table cells with text, and the texts of hidden or cut cells."""


def assert_cells_are_seen(page: Page) -> None:
    for view in driving.looks(page, (driving.PHONE, NARROW)):
        count, lost = page.evaluate(CELLS)
        assert count >= 4, view
        assert lost == [], view


def assert_verdict_and_menu_stay(page: Page) -> None:
    driving.open_app(page, "/Protocol?study=fin_momentum")
    menu = page.get_by_role("button", name="Main menu")
    evidence = where(page).locator(".term")
    for view in driving.looks(page, (ZOOMED, NARROW, driving.PHONE, driving.PROJECTOR)):
        page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")
        assert box_of(page.locator(".st-key-navigation"))["height"] <= 125, "names, in few lines"
        heading = page.get_by_role("heading", name="If you could add one thing")
        heading.scroll_into_view_if_needed()
        expect(where(page).get_by_role("status")).to_be_in_viewport(ratio=1)
        expect(where(page).get_by_text("power 0.76")).to_be_in_viewport(ratio=1)
        header = box_of(where(page))
        assert header["y"] + header["height"] <= view.height / 5
        if view != NARROW:  # there the evidence wraps below it
            record = box_of(evidence)
            assert record["x"] + record["width"] <= box_of(menu)["x"]
        menu.click()
        expect(page.get_by_role("menuitem", name="Print")).to_be_visible()
        page.keyboard.press("Escape")
