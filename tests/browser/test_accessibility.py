"""Menus, drawers and folds: axe and names, by turns in light and on a dark phone."""

from itertools import cycle
from typing import Final

from playwright.sync_api import Page, expect

from tests.browser.driving import PHONE_DARK, PROJECTOR, assert_accessible, looks, open_app
from tests.browser.test_every_page import unnamed
from tests.browser.visiting import press, put_away, show, strike

STROOP: Final = "/Protocol?study=psy_stroop&lab=hard"
Steps = tuple[tuple[str, str], ...]
STATES: Final[tuple[tuple[str, Steps], ...]] = (
    (
        STROOP,
        (
            ("press", "Share"),
            *(("tab", part) for part in ("Brief", "Report", "Registration", "Tables")),
            ("tab", "Bundle"),
            ("tab", "Code"),
        ),
    ),
    (
        STROOP,
        (
            ("open", "Assumptions"),
            ("press", "Your lab"),
            ("open", "Calendar and money"),
            *(("tab", part) for part in ("Items", "Rates and staff", "Save")),
        ),
    ),
    ("/", (("tab", "Make a study"),)),
)


def take(page: Page, how: str, name: str) -> None:
    match how:
        case "press":
            press(page, name)
        case "tab":
            show(page, name)
        case "open":
            part = page.locator("details").filter(has=page.locator("summary", has_text=name))
            part.locator("summary").first.click()
            expect(part.first).to_have_attribute("open", "")


def test_drawers_and_forms_are_accessible(app_page: Page) -> None:
    for address, steps in STATES:
        open_app(app_page, address)
        for (how, name), look in zip(steps, cycle((PROJECTOR, PHONE_DARK)), strict=False):
            take(app_page, how, name)
            assert unnamed(app_page) == [], name
            for view in looks(app_page, (look,)):
                try:
                    assert_accessible(app_page)
                except AssertionError as error:
                    error.add_note(f"{address}, {name}, {view}")
                    raise
    _drawer_keeps_and_returns_focus(app_page)


def _drawer_keeps_and_returns_focus(page: Page) -> None:
    open_app(page, STROOP)
    button = page.get_by_role("button", name="Your lab").first
    button.focus()
    strike(page, "Enter")
    drawer = page.get_by_role("dialog")
    expect(drawer).to_be_visible()
    inside = "dialog => dialog.contains(document.activeElement)"
    for _ in range(40):
        page.keyboard.press("Tab")
        assert drawer.evaluate(inside), "the focus left the drawer"
    put_away(page)
    expect(drawer).to_have_count(0)
    expect(button).to_be_focused()
