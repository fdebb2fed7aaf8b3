"""Tuning a protocol by hand in a real browser: type, pick, read, apply, undo, go back."""

import re
from typing import Final

from playwright.sync_api import Page, expect

from replicalab.facts.check_facts import CHOSEN
from tests.browser import visiting
from tests.browser.driving import open_app, wait_for_run

SETTLED_MS: Final = 1100
"""Only then does the app take another address for the browser's Back (`ui.state`)."""
EASY: Final = "/Protocol?study=fin_momentum&lab=easy"


def tick(page: Page, change: int) -> None:
    pills = page.locator(".st-key-changes_ticked").get_by_role("button")
    with wait_for_run(page):
        pills.nth(change - 1).click()


def test_protocol_is_tuned_by_hand(app_page: Page) -> None:
    open_app(app_page, "/Protocol?study=fin_momentum")
    _types_a_sample_size(app_page)
    _swaps_the_booked_item_and_types_an_unknown_one(app_page)
    _resets_and_applies_one_change_then_all(app_page)


def _types_a_sample_size(page: Page) -> None:
    visiting.type_number(page, "Sample size", -5)
    refused = "Sample size cannot be -5, so the plan keeps 420. Type 0 to 1,000,000."
    expect(page.get_by_role("alert")).to_contain_text(refused)
    visiting.type_number(page, "Sample size", 150)
    expect(visiting.dimension(page, "Budget")).to_contain_text("2,350 / 3,700 credits")
    expect(visiting.cost_total(page)).to_contain_text("2,350")
    expect(visiting.where(page)).to_contain_text("power 0.36")
    expect(page).to_have_url(re.compile("samples=150"))


def _swaps_the_booked_item_and_types_an_unknown_one(page: Page) -> None:
    terminal, needed = (
        "licensed-data terminal (booked until day 10)",
        visiting.dimension(page, "Equipment"),
    )
    with wait_for_run(page):
        page.get_by_role("button", name=f"Remove {terminal}", exact=True).click()
    expect(needed).to_contain_text("1 needed, 1 free")
    visiting.pick(page, "Equipment", terminal)
    expect(needed).to_contain_text("2 needed, 1 free")
    expect(page.get_by_text("may replace it").first).to_be_visible()
    visiting.pick(page, "Equipment", "quantum abacus")
    expect(needed).to_contain_text("3 needed, 1 free")
    expect(page.get_by_text("'quantum abacus' is not in this lab's inventory")).to_be_visible()
    visiting.press(page, "Undo")
    expect(needed).to_contain_text("2 needed, 1 free")
    visiting.press(page, "Redo")
    expect(needed).to_contain_text("3 needed, 1 free")


def _resets_and_applies_one_change_then_all(page: Page) -> None:
    visiting.choose_more(page, "Reset the plan")
    expect(visiting.number(page, "Sample size")).to_have_value("420")
    for change in (1, 3):
        tick(page, change)
    expect(visiting.cost_total(page, CHOSEN)).to_contain_text("4,950")
    visiting.press(page, "Apply 1 of 3")
    expect(visiting.number(page, "Duration (days)")).to_have_value("6")
    expect(visiting.number(page, "Sample size")).to_have_value("420")
    tick(page, 1)
    visiting.press(page, "Apply all")
    expect(visiting.number(page, "Sample size")).to_have_value("210")
    expect(visiting.where(page)).to_contain_text("Your plan: feasible")
    expect(visiting.where(page)).to_be_in_viewport()


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
