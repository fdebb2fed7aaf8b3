"""Every state of a page that is opened by hand: by axe and by name in both schemes and three sizes.

The bare pages are in test_every_page.py, the slides too; where the focus goes is in
test_keyboard.py.
"""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
from playwright.sync_api import CDPSession, Page, expect

from tests.browser.driving import PHONE, VIEWS, View, assert_accessible, looks, open_app
from tests.browser.test_every_page import SLIDE, TABLETS
from tests.browser.visiting import (
    COMPARING,
    FULL_ADDRESSES,
    choose_more,
    press,
    put_away,
    show,
    strike,
)

STROOP: Final = "/Protocol?study=psy_stroop&lab=hard"
Steps = tuple[tuple[str, str], ...]
STATES: Final[dict[str, tuple[str, Steps]]] = {
    "more": ("/", (("menu", "More"),)),
    "share": (
        STROOP,
        (
            ("press", "Share"),
            *(("tab", part) for part in ("Brief", "Report", "Registration", "Tables")),
            ("tab", "Bundle"),
        ),
    ),
    "lab": (
        STROOP,
        (
            ("press", "Your lab"),
            ("open", "Calendar and money"),
            *(("tab", part) for part in ("Items", "Rates and staff", "Save")),
        ),
    ),
    "file": (STROOP, (("more", "Open a file"),)),
    "assumptions": (STROOP, (("open", "Assumptions"),)),
    "in your lab": ("/", (("tab", "Your lab"),)),
    "make a study": ("/", (("tab", "Make a study"),)),
    "many": (COMPARING, (("tab", "Many negotiations"),)),
    "kept": (STROOP, (("press", "Save"),)),
    "saved negotiation": (
        "/Negotiation?study=fin_momentum",
        (("open", "Save or open a negotiation"),),
    ),
    "challenge": (f"{STROOP}&challenge=1", ()),
    "link that is wrong": ("/Protocol?study=nowhere&plan=xyz&seed=x", ()),
}
WITH_NAMES: Final = {
    *("button", "link", "textbox", "searchbox", "spinbutton", "combobox", "listbox", "checkbox"),
    *("radio", "switch", "slider", "tab", "menuitem", "dialog", "image", "table", "tabpanel"),
    *("radiogroup", "heading", "option", "figure"),
}
"""The roles of which a screen reader says the name."""


# Plotly's test drawing, and the pictures within its named buttons.
HIDE_PLOTLY_PARTS: Final = """() => {
  for (const part of document.querySelectorAll('#js-plotly-tester, .modebar-btn svg'))
    part.setAttribute('aria-hidden', true);
}"""


def unnamed(page: Page) -> list[str]:
    """Return the roles of what a screen reader would find without a name.

    Plotly's own empty drawing, far outside the page, is left out; it makes it with the first chart.
    """
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


def take(page: Page, how: str, name: str) -> None:
    """Open a state by what a visitor presses."""
    match how:
        case "press":
            press(page, name)
        case "tab":
            show(page, name)
        case "more":
            choose_more(page, name)
        case "menu":
            page.get_by_role("button", name=name).first.click()
            expect(page.get_by_role("menuitem").first).to_be_visible()
        case "open":
            part = page.locator("details").filter(has=page.locator("summary", has_text=name))
            part.locator("summary").first.click()
            expect(part.first).to_have_attribute("open", "")


@pytest.mark.parametrize("state", STATES)
def test_state_is_accessible_and_named_in_every_view(app_page: Page, state: str) -> None:
    address, steps = STATES[state]
    open_app(app_page, address)
    if not steps:
        steps = (("", ""),)
    for how, name in steps:
        take(app_page, how, name)
        assert unnamed(app_page) == [], name
        for view in looks(app_page, (*VIEWS, *TABLETS)):
            try:
                assert_accessible(app_page)
            except AssertionError as error:
                error.add_note(f"{state}, {name}, {view}")
                raise


# --- by keyboard ------------------------------------------------------------------------------


@pytest.mark.parametrize("opener", ["Share", "Your lab"])
def test_drawer_keeps_the_focus_and_gives_it_back(app_page: Page, opener: str) -> None:
    open_app(app_page, STROOP)
    button = app_page.get_by_role("button", name=opener).first
    button.focus()
    strike(app_page, "Enter")
    drawer = app_page.get_by_role("dialog")
    expect(drawer).to_be_visible()
    inside = "dialog => dialog.contains(document.activeElement)"
    for _ in range(40):
        app_page.keyboard.press("Tab")
        assert drawer.evaluate(inside), "the focus left the drawer"
    put_away(app_page)
    expect(drawer).to_have_count(0)
    expect(button).to_be_focused()


# --- without colour, without motion -------------------------------------------------------------

COLOURED: Final = r"""() => [...document.querySelectorAll('.rl :is(.pass, .caution, .fail)')]
  .filter(each => each.checkVisibility() && each.textContent.trim())
  .filter(each => !each.closest('tr')?.querySelector('.bar'))
  .filter(each => !/[✓✕!]|[a-z]{3}/i.test(each.closest('tr, li, p, td, dd, div').textContent))
  .map(each => each.outerHTML.slice(0, 200))"""
"""What says by its colour alone how a plan stands: no sign, word or bar beside it says it too."""
MOVING: Final = """() => document.getAnimations().filter(each =>
    each.effect.target && each.effect.target.closest('.rl, .stHtml, .stPlotlyChart') &&
    each.playState === 'running').map(each => each.effect.target.className)"""


@pytest.mark.parametrize("address", [*FULL_ADDRESSES, SLIDE])
def test_page_has_names_signs_beside_colours_and_no_motion(app_page: Page, address: str) -> None:
    open_app(app_page, address)
    assert unnamed(app_page) == []
    assert app_page.evaluate(COLOURED) == []
    assert app_page.evaluate(MOVING) == []


@pytest.mark.parametrize("view", [PHONE], ids=str)
def test_steps_are_not_played_unasked(app_page: Page, view: View) -> None:
    open_app(app_page, "/Negotiation?study=fin_momentum&round=1")
    app_page.wait_for_timeout(2500)
    expect(app_page).not_to_have_url(re.compile("round="))
