"""Sharing in a real browser: a link and a bundle, opened by another visitor."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import visiting
from tests.browser.driving import AppServer, count_runs, open_app, wait_for_run

STROOP: Final = "/Protocol?study=psy_stroop&budget=1200&alpha=0.01"


@pytest.fixture
def elsewhere(browser: Browser, app_server: AppServer) -> Iterator[Page]:
    context = browser.new_context(base_url=app_server.url, viewport={"width": 1280, "height": 720})
    page = context.new_page()
    count_runs(page)
    yield page
    context.close()


def drawer(page: Page) -> Locator:
    return page.get_by_role("dialog")


def hand_over(page: Page, part: str) -> None:
    visiting.press(page, "Share")
    if part == "Link":
        return
    with wait_for_run(page):
        drawer(page).get_by_role("tab", name=part).click()
    expect(drawer(page).get_by_role("tab", name=part)).to_have_attribute("aria-selected", "true")


def saved(page: Page, button: Locator, folder: Path) -> Path:
    with page.expect_download() as downloaded:
        button.click()
    path = folder / downloaded.value.suggested_filename
    downloaded.value.save_as(path)
    return path


def file_of(page: Page, label: str, folder: Path) -> Path:
    return saved(page, drawer(page).get_by_role("button", name=label, exact=True), folder)


def outcome(page: Page) -> Locator:
    if page.get_by_role("button", name="Last", exact=True).is_enabled():
        visiting.press(page, "Last")
    return page.locator(".rl h2.outcome")


def test_link_and_bundle_open_for_another_visitor(
    app_page: Page, elsewhere: Page, tmp_path: Path
) -> None:
    app_page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_app(app_page, STROOP)
    visiting.type_number(app_page, "Sample size", 42)
    expect(visiting.where(app_page)).to_contain_text("Your plan")
    text = visiting.where(app_page).inner_text()
    hand_over(app_page, "Link")
    drawer(app_page).get_by_role("button", name="Copy to clipboard").click()
    link = str(app_page.evaluate("navigator.clipboard.readText()"))
    open_app(elsewhere, link)
    expect(visiting.number(elsewhere, "Sample size")).to_have_value("42")
    expect(visiting.where(elsewhere)).to_have_text(text, use_inner_text=True)
    expect(elsewhere).to_have_url(re.compile("budget=1200"))
    expect(elsewhere).to_have_title("Protocol · ReplicaLab")
    visiting.put_away(app_page)
    visiting.follow(app_page, "Negotiation")
    text = outcome(app_page).inner_text()
    hand_over(app_page, "Bundle")
    bundle = file_of(app_page, "Bundle", tmp_path)
    open_app(elsewhere, "/")
    visiting.choose_more(elsewhere, "Open a file")
    visiting.upload(elsewhere, bundle)
    expect(drawer(elsewhere)).to_contain_text("The plan and its negotiation are open.")
    with wait_for_run(elsewhere):
        drawer(elsewhere).get_by_role("link", name="Protocol").click()
    expect(visiting.number(elsewhere, "Sample size")).to_have_value("42")
    expect(visiting.dimension(elsewhere, "Budget")).to_contain_text("/ 1,200 credits")
    visiting.follow(elsewhere, "Negotiation")
    expect(outcome(elsewhere)).to_have_text(text, use_inner_text=True)
