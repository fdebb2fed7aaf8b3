"""Tuning a protocol by hand in a real browser: type, pick, read, apply, undo, go back."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, Route, expect

from replicalab.ui.address import to_query
from replicalab.ui.stories import stories
from tests.browser.driving import (
    PHONE,
    PROJECTOR,
    PROJECTOR_DARK,
    View,
    assert_accessible,
    open_app,
    wait_for_run,
)
from tests.browser.visiting import cost_total, dimension, number, press, type_number, where

SETTLED_MS: Final = 1100
"""Only then does the app take another address for the browser's Back (`ui.state`)."""
EASY: Final = "/Protocol?lab=easy"
INTO_VIEW: Final = """
element => new Promise(resolve => {
  element.scrollIntoView({block: "center"});
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 50)));
})
"""
"""Scrolls, and waits until the page has noticed: a scroll that is told later closes the list."""


def pick(page: Page, name: str, label: str) -> None:
    """Type into a list and take what it offers under that label; close the list again.

    The list is brought into view first, as a visitor would: an open list closes when it scrolls.
    """
    box = page.get_by_role("combobox", name=name, exact=True)
    box.evaluate(INTO_VIEW)
    box.fill(label)
    with wait_for_run(page):
        page.get_by_role("option", name=label).click()
    close_list(page)


def close_list(page: Page) -> None:
    """Close the open list; while it is open, the rest of the page is hidden from everyone."""
    while page.get_by_role("listbox").count():
        page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_have_count(0)


def drop(page: Page, label: str) -> None:
    """Take a label out of its list."""
    with wait_for_run(page):
        page.get_by_role("button", name=f"Remove {label}", exact=True).click()


def tick(page: Page, change: int) -> None:
    """Tick or untick a change of the Lab Manager's and wait for the totals."""
    box = page.get_by_test_id("stCheckbox").filter(has_text=re.compile(rf"^{change}\."))
    with wait_for_run(page):
        box.locator("label").first.click()


@pytest.mark.parametrize("view", [PROJECTOR, PHONE], ids=str)
def test_someone_tunes_a_protocol_by_hand(app_page: Page, view: View) -> None:
    open_app(app_page, "/Protocol")
    _types_a_sample_size(app_page)
    _swaps_the_booked_item(app_page)
    _types_an_unknown_item(app_page)
    _undoes_and_redoes(app_page)
    _resets_and_applies_one_change_then_all(app_page)


def _types_a_sample_size(page: Page) -> None:
    type_number(page, "Sample size", 150)
    expect(dimension(page, "Budget")).to_contain_text("2,350 / 3,700 credits")
    expect(cost_total(page)).to_contain_text("2,350")
    expect(where(page)).to_contain_text("2,350 of 3,700 credits")
    expect(where(page)).to_contain_text("power 0.36")
    expect(page).to_have_url(re.compile("plan="))


def _swaps_the_booked_item(page: Page) -> None:
    drop(page, "licensed-data terminal (booked until day 10)")
    expect(dimension(page, "Equipment")).to_contain_text("1 needed, 1 free")
    pick(page, "Equipment", "licensed-data terminal (booked until day 10)")
    expect(dimension(page, "Equipment")).to_contain_text("2 needed, 1 free")
    expect(
        page.get_by_text("may replace it").first, "the reason names a substitute"
    ).to_be_visible()


def _types_an_unknown_item(page: Page) -> None:
    pick(page, "Equipment", "quantum abacus")
    expect(dimension(page, "Equipment")).to_contain_text("3 needed, 1 free")
    expect(page.get_by_text("'quantum abacus' is not in this lab's inventory")).to_be_visible()
    page.get_by_role("combobox", name="Equipment", exact=True).fill("quantum")
    expect(page.get_by_role("option", name="Add: quantum", exact=True)).to_be_visible()
    expect(page.get_by_role("option", name="quantum abacus")).to_have_count(0)
    close_list(page)


def _undoes_and_redoes(page: Page) -> None:
    press(page, "Undo")
    expect(dimension(page, "Equipment")).to_contain_text("2 needed, 1 free")
    press(page, "Redo")
    expect(dimension(page, "Equipment")).to_contain_text("3 needed, 1 free")


def _resets_and_applies_one_change_then_all(page: Page) -> None:
    press(page, "Reset")
    expect(number(page, "Sample size")).to_have_value("420")
    for change in (1, 3):
        tick(page, change)
    expect(cost_total(page, "As ticked")).to_contain_text("4,950")
    press(page, "Apply 1 of 3")
    expect(number(page, "Duration (days)")).to_have_value("6")
    expect(dimension(page, "Schedule").get_by_role("img", name="passes")).to_be_visible()
    expect(number(page, "Sample size")).to_have_value("420")
    tick(page, 1)
    press(page, "Apply all")
    expect(number(page, "Sample size")).to_have_value("210")
    expect(where(page)).to_contain_text("Your plan: feasible")
    expect(where(page)).to_be_in_viewport()
    press(page, "Undo")
    expect(number(page, "Sample size")).to_have_value("420")
    expect(number(page, "Duration (days)")).to_have_value("6")


@pytest.mark.parametrize("view", [PROJECTOR, PROJECTOR_DARK, PHONE], ids=str)
def test_story_of_the_halved_sample_reads_on_its_page(app_page: Page, view: View) -> None:
    left = stories()[0].workspace.changed(presenting=0)
    open_app(app_page, "/Protocol?" + urlencode(to_query(left)))
    if view.width > PHONE.width:
        for part in ("Staff:", "Basis"):
            expect(app_page.get_by_text(part).first).to_be_in_viewport()
    assert_accessible(app_page)
    app_page.get_by_role("heading", name="The least-loss plan").scroll_into_view_if_needed()
    expect(where(app_page)).to_be_in_viewport()
    address = app_page.url
    press(app_page, "Apply the least-loss plan")
    expect(number(app_page, "Duration (days)")).to_have_value("22")
    expect(where(app_page)).to_contain_text("Your plan: feasible")
    expect(where(app_page)).to_contain_text("power 0.53")
    expect(where(app_page)).to_be_in_viewport()
    press(app_page, "Undo")
    expect(number(app_page, "Duration (days)")).to_have_value("28")
    assert app_page.url.split("#")[0] == address


def test_fifteen_quick_clicks_all_count(app_page: Page) -> None:
    open_app(app_page, EASY)
    field = app_page.get_by_test_id("stNumberInput").filter(has=number(app_page, "Sample size"))
    button = field.get_by_role("button", name="Increment")
    for _ in range(15):
        button.click(delay=0)
    expect(number(app_page, "Sample size")).to_have_value("435")
    expect(dimension(app_page, "Budget")).to_contain_text("5,200 / 5,100 credits")
    expect(dimension(app_page, "Budget")).to_contain_text("−100")


def test_back_restores_the_plan_before_and_forward_the_plan_after(app_page: Page) -> None:
    open_app(app_page, EASY)
    for typed, credits in ((200, "2,850"), (100, "1,850")):
        type_number(app_page, "Sample size", typed)
        expect(dimension(app_page, "Budget")).to_contain_text(f"{credits} / 5,100")
        app_page.wait_for_timeout(SETTLED_MS)
    for step, samples in (
        (app_page.go_back, "200"),
        (app_page.go_back, "420"),
        (app_page.go_forward, "200"),
    ):
        with wait_for_run(app_page):
            step()
        expect(number(app_page, "Sample size")).to_have_value(samples)
        app_page.wait_for_timeout(SETTLED_MS)
    press(app_page, "Undo")
    expect(number(app_page, "Sample size")).to_have_value("420")


def test_negative_number_is_refused_beside_the_field_and_the_plan_is_kept(app_page: Page) -> None:
    open_app(app_page, EASY)
    type_number(app_page, "Sample size", -5)
    expect(app_page.get_by_role("alert")).to_contain_text(
        "Sample size cannot be -5, so the plan keeps 420. Type 0 to 1,000,000."
    )
    expect(dimension(app_page, "Budget")).to_contain_text("5,050 / 5,100 credits")
    type_number(app_page, "Sample size", 150)
    expect(dimension(app_page, "Budget")).to_contain_text("2,350 / 5,100 credits")


def test_what_is_typed_is_never_an_image_and_asks_nobody(app_page: Page) -> None:
    open_app(app_page, EASY)
    hostile = "![x](https://evil.example/x.png) <img src=//evil.example> :red[y] $a$"
    pick(app_page, "Equipment", hostile)
    expect(app_page.get_by_text("![x](").first).to_be_visible()
    expect(app_page.get_by_text(":red[y] $a$").first).to_be_visible()
    main = app_page.get_by_test_id("stMain")
    expect(main.locator("img, .katex")).to_have_count(0)


def test_edit_before_the_other_fields_have_loaded_keeps_what_they_hold(app_page: Page) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    app_page.route(re.compile(r"/(Multiselect|TextInput|TextArea)\.[^/]*\.js$"), hold)
    open_app(app_page, EASY)
    type_number(app_page, "Sample size", 200)
    assert held
    app_page.unroute_all()
    technique = app_page.get_by_role("textbox", name="Technique", exact=True)
    expect(technique).to_have_value(re.compile("^offline decile"))
    expect(app_page.get_by_text("market-neutral benchmark").first).to_be_visible()
    type_number(app_page, "Sample size", 100)
    expect(dimension(app_page, "Budget")).to_contain_text("1,850 / 5,100 credits")
