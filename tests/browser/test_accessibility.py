"""Menus, drawers and folds: axe and names, in light and dark and three sizes."""

from typing import Final

import pytest
from playwright.sync_api import Page, expect

from tests.browser.driving import PHONE_DARK, PROJECTOR, assert_accessible, looks, open_app
from tests.browser.test_every_page import unnamed
from tests.browser.visiting import COMPARING, choose_more, press, put_away, show, strike

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
            ("tab", "Code"),
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
        for view in looks(app_page, (PROJECTOR, PHONE_DARK)):
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
