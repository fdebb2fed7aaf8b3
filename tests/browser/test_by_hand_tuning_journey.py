"""Tuning a protocol by hand in a real browser: click fast, type, go back and forward, undo."""

from typing import Final

from playwright.sync_api import Page, expect

from tests.browser import visiting
from tests.browser.driving import open_app, wait_for_run

SETTLED_MS: Final = 1100
"""Only then does the app take another address for the browser's Back (`ui.state`)."""
EASY: Final = "/Protocol?study=fin_momentum&lab=easy"


def test_quick_clicks_count_and_back_restores(app_page: Page) -> None:
    open_app(app_page, EASY)
    samples = visiting.number(app_page, "Sample size")
    field = app_page.get_by_test_id("stNumberInput").filter(has=samples)
    for _ in range(15):
        field.get_by_role("button", name="Increment").click(delay=0)
    expect(samples).to_have_value("435")
    expect(visiting.dimension(app_page, "Budget")).to_contain_text("5,200 / 5,100 credits")
    for typed in (200, 100):
        app_page.wait_for_timeout(SETTLED_MS)
        visiting.type_number(app_page, "Sample size", typed)
    for step, value in (
        (app_page.go_back, "200"),
        (app_page.go_back, "435"),
        (app_page.go_forward, "200"),
    ):
        app_page.wait_for_timeout(SETTLED_MS)
        with wait_for_run(app_page):
            step()
        expect(samples).to_have_value(value)
    app_page.wait_for_timeout(SETTLED_MS)
    visiting.press(app_page, "Undo")
    expect(samples).to_have_value("435")
