"""Your lab in a real browser: opened, filled in, closed, undone, and there again after a reload."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.driving import (
    PHONE,
    PROJECTOR,
    View,
    assert_accessible,
    looks,
    open_app,
    wait_for_run,
)
from tests.browser.visiting import dimension, press, where


def opened(page: Page, address: str = "/Protocol") -> Locator:
    """Open the drawer on a page, and return it."""
    open_app(page, address)
    press(page, "Your lab")
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_label("Budget, credits")).to_be_visible()
    return drawer


def fill(page: Page, label: str, value: int) -> None:
    """Type a number into the drawer."""
    field = page.get_by_role("dialog").get_by_label(label, exact=True)
    field.fill(str(value))
    with wait_for_run(page):
        field.press("Enter")


def close(page: Page) -> None:
    """Close the drawer, upon which the page is drawn anew."""
    with wait_for_run(page):
        page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def look_at(page: Page, tab: str) -> None:
    """Open a part of the drawer."""
    with wait_for_run(page):
        page.get_by_role("dialog").get_by_role("tab", name=tab).click()


def pick(page: Page, field: str, option: str) -> None:
    """Choose from a list of the drawer."""
    page.get_by_role("dialog").get_by_role("combobox", name=field).click()
    with wait_for_run(page):
        page.get_by_role("option", name=option).click()


@pytest.mark.parametrize("view", [PROJECTOR, PHONE], ids=str)
def test_lab_is_filled_in_and_holds_after_closing_and_reloading(app_page: Page, view: View) -> None:
    drawer = opened(app_page)
    fill(app_page, "Days", 9)
    expect(drawer).to_contain_text("medium lab, 1 change")
    expect(drawer.get_by_text("schedule fail")).to_have_count(0)
    fill(app_page, "Staff units", 0)
    expect(drawer).to_contain_text("Staff units cannot be 0, so the lab keeps 4.")
    close(app_page)
    expect(dimension(app_page, "Schedule")).to_contain_text("8 / 9 days")
    app_page.reload()
    expect(dimension(app_page, "Schedule")).to_contain_text("8 / 9 days")
    expect(where(app_page)).to_contain_text("medium lab, 1 change")


def test_item_of_the_lab_is_freed_and_undone(app_page: Page) -> None:
    drawer = opened(app_page)
    look_at(app_page, "Items")
    pick(app_page, "Item", "licensed-data terminal")
    pick(app_page, "Where it stands", "available")
    expect(drawer).to_contain_text("yours; the study’s: booked until day 10")
    close(app_page)
    expect(dimension(app_page, "Equipment")).to_contain_text("2 needed, 2 free")
    press(app_page, "Undo")
    expect(dimension(app_page, "Equipment")).to_contain_text("2 needed, 1 free")


def test_drawer_is_accessible_in_both_themes(app_page: Page) -> None:
    opened(app_page, "/Trade-offs")
    fill(app_page, "Days", 9)
    for _ in looks(app_page):
        for tab in ("Items", "Rates and staff", "Keep", "Means"):
            look_at(app_page, tab)
            assert_accessible(app_page)


def test_lab_survives_a_reload_with_the_drawer_open(app_page: Page) -> None:
    drawer = opened(app_page)
    fill(app_page, "Days", 9)
    expect(drawer).to_contain_text("medium lab, 1 change")
    app_page.reload()
    expect(dimension(app_page, "Schedule")).to_contain_text("8 / 9 days")
    expect(where(app_page)).to_contain_text("medium lab, 1 change")
