"""What the evidence assumes, in a real browser: another effect, its curves, undo, a reload."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.driving import (
    PHONE_DARK,
    PROJECTOR,
    assert_accessible,
    looks,
    open_app,
    reload_app,
    wait_for_run,
)
from tests.browser.visiting import number, press, type_number, where

CURVES = {
    "Evidence over n": "In 8 days none reaches target 0.80; 285 affordable",
    "Evidence over effect": "420 samples: power 0.76",
    "n over effect": "In 8 days no sample size reaches target 0.80",
}


def choose(page: Page, name: str) -> None:
    """Choose one of the effects, or what to look at."""
    with wait_for_run(page):
        page.locator(".st-key-assumptions").get_by_text(name, exact=True).click()


def test_effect_changes_the_verdict_and_its_curves_and_holds_after_a_reload(app_page: Page) -> None:
    open_app(app_page, "/Protocol?study=fin_momentum")
    with wait_for_run(app_page):
        app_page.locator(".st-key-assumptions summary").click()
    for name, title in CURVES.items():
        choose(app_page, name)
        expect(app_page.locator(".stPlotlyChart .gtitle")).to_contain_text(title)
    expect(where(app_page)).to_contain_text("power 0.76")
    choose(app_page, "Numbers")
    choose(app_page, "smallest of interest (0.09)")
    expect(where(app_page)).to_contain_text("effect 0.09, yours")
    expect(where(app_page)).to_contain_text("power 0.45")
    for _ in looks(app_page, (PROJECTOR, PHONE_DARK)):
        assert_accessible(app_page)
    type_number(app_page, "Dropout, %", 120)
    expect(app_page.get_by_text("give 0 % or more, below 100 %")).to_be_visible()
    expect(number(app_page, "Dropout, %")).to_have_value("120")
    press(app_page, "Undo")
    expect(where(app_page)).not_to_contain_text("yours")
    press(app_page, "Redo")
    expect(app_page).to_have_url(re.compile(r"effect=0\.09"))
    reload_app(app_page)
    expect(where(app_page)).to_contain_text("effect 0.09, yours")
    expect(where(app_page)).to_contain_text("power 0.45")
