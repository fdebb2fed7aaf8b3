"""Menus, drawers and folds: axe and names, in light and dark and three sizes."""

from typing import Any, Final

import pytest
from playwright.sync_api import CDPSession, Page, expect

from tests.browser.driving import VIEWS, assert_accessible, looks, open_app
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
    "study": (
        "/Study?study=fin_momentum",
        tuple(("tab", part) for part in ("The lab", "Substitutions", "Restrictions and criteria")),
    ),
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


def take(page: Page, how: str, name: str) -> None:
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
def test_state_is_accessible_in_every_view(app_page: Page, state: str) -> None:
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


@pytest.mark.parametrize("opener", ["Share", "Your lab"])
def test_drawer_keeps_and_returns_focus(app_page: Page, opener: str) -> None:
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


COLOURED: Final = r"""() => [...document.querySelectorAll('.rl :is(.pass, .caution, .fail)')]
  .filter(each => each.checkVisibility() && each.textContent.trim())
  .filter(each => !each.closest('tr')?.querySelector('.bar'))
  .filter(each => !/[✓✕!]|[a-z]{3}/i.test(each.closest('tr, li, p, td, dd, div').textContent))
  .map(each => each.outerHTML.slice(0, 200))"""
"""Statuses shown by colour alone, without a sign, word or bar."""
MOVING: Final = """() => document.getAnimations().filter(each =>
    each.effect.target && each.effect.target.closest('.rl, .stHtml, .stPlotlyChart') &&
    each.playState === 'running').map(each => each.effect.target.className)"""


@pytest.mark.parametrize("address", [*FULL_ADDRESSES, SLIDE])
def test_page_has_names_and_signs(app_page: Page, address: str) -> None:
    open_app(app_page, address)
    assert unnamed(app_page) == []
    assert app_page.evaluate(COLOURED) == []
    assert app_page.evaluate(MOVING) == []
