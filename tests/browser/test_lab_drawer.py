"""Your lab in a real browser: opened, filled in, closed, undone, and there again after a reload."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.driving import open_app, reload_app
from tests.browser.visiting import dimension, pick, press, put_away, show, type_number, where


def test_lab_that_is_filled_in_holds_after_closing_and_a_reload(app_page: Page) -> None:
    open_app(app_page, "/Protocol?study=fin_momentum")
    press(app_page, "Your lab")
    drawer = app_page.get_by_role("dialog")
    type_number(app_page, "Days", 9)
    expect(drawer).to_contain_text("medium lab, 1 change")
    expect(drawer.get_by_text("schedule fail")).to_have_count(0)
    type_number(app_page, "Staff units", 0)
    expect(drawer).to_contain_text("Staff units cannot be 0, so the lab keeps 4.")
    reload_app(app_page)  # with the drawer open
    expect(dimension(app_page, "Schedule")).to_contain_text("8 / 9 days")
    expect(where(app_page)).to_contain_text("medium lab, 1 change")
    press(app_page, "Your lab")
    show(app_page, "Items")
    pick(app_page, "Item", "licensed-data terminal")
    pick(app_page, "Where it stands", "available")
    expect(drawer).to_contain_text("the study’s: booked until day 10")
    put_away(app_page)
    expect(drawer).to_have_count(0)
    expect(dimension(app_page, "Equipment")).to_contain_text("2 needed, 2 free")
    press(app_page, "Undo")
    expect(dimension(app_page, "Equipment")).to_contain_text("2 needed, 1 free")
