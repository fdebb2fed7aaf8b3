"""What the evidence assumes, in a real browser: another effect, its curves, undo, a reload."""

from __future__ import annotations

import re
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from tests.browser.driving import (
    PHONE_DARK,
    PROJECTOR,
    View,
    assert_accessible,
    open_app,
    wait_for_run,
)
from tests.browser.visiting import number, press, type_number, where

EASY: Final = "/Protocol?lab=easy"


def opened(page: Page, address: str = EASY) -> None:
    """Open Protocol and what its evidence assumes."""
    open_app(page, address)
    with wait_for_run(page):
        page.locator(".st-key-assumptions summary").click()
    expect(number(page, "Cohen's d")).to_be_visible()


def choose(page: Page, name: str) -> None:
    """Choose one of the effects, or what to look at."""
    with wait_for_run(page):
        page.locator(".st-key-assumptions").get_by_text(name, exact=True).click()


@pytest.mark.parametrize("view", [PROJECTOR, PHONE_DARK], ids=str)
def test_smallest_effect_changes_the_verdict_and_holds_after_a_reload(
    app_page: Page, view: View
) -> None:
    opened(app_page)
    expect(where(app_page)).to_contain_text("Reference protocol: feasible")
    expect(where(app_page)).to_contain_text("power 0.76")
    choose(app_page, "smallest of interest (0.09)")
    expect(where(app_page)).to_contain_text("feasible, below the floor · effect 0.09, yours")
    expect(where(app_page)).to_contain_text("power 0.45")
    expect(app_page).to_have_url(re.compile(r"effect=0\.09"))
    assert_accessible(app_page)
    app_page.reload()
    expect(where(app_page)).to_contain_text("effect 0.09, yours")
    expect(where(app_page)).to_contain_text("power 0.45")


def test_what_is_asked_is_undone_and_told_where_it_cannot_be(app_page: Page) -> None:
    opened(app_page)
    choose(app_page, "halved (0.0885)")
    expect(where(app_page)).to_contain_text("effect 0.0885, yours")
    type_number(app_page, "Dropout, %", 120)
    expect(app_page.get_by_text("give 0 % or more, below 100 %")).to_be_visible()
    expect(number(app_page, "Dropout, %")).to_have_value("120")
    expect(where(app_page)).to_contain_text("effect 0.0885, yours")
    press(app_page, "Undo")
    expect(where(app_page)).not_to_contain_text("yours")
    expect(where(app_page)).to_contain_text("power 0.76")


@pytest.mark.parametrize("view", [PROJECTOR, PHONE_DARK], ids=str)
def test_curves_are_drawn_with_what_fits_the_lab(app_page: Page, view: View) -> None:
    opened(app_page, "/Protocol")
    for name, title in (
        ("Evidence over n", "None reaches target 0.80; 285 fit this lab"),
        ("Evidence over effect", "420 samples: power 0.76"),
        ("n over effect", "No sample size reaches target 0.80"),
    ):
        choose(app_page, name)
        expect(app_page.locator(".stPlotlyChart .gtitle")).to_contain_text(title)
    assert_accessible(app_page)
