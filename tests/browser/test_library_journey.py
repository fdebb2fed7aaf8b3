"""Saved work in a real browser, after closing it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import BrowserContext, BrowserType, Page, expect

from tests.browser.driving import count_runs, open_app, wait_for_run
from tests.browser.visiting import number, press, type_number, type_text

ADDRESS: Final = "/Protocol?study=psy_stroop"
SAFE: Final = "Saved: "


def keep(page: Page) -> None:
    press(page, "Save")
    expect(page.locator(".st-key-kept")).to_contain_text(SAFE)


@contextmanager
def profile(
    browser_type: BrowserType, launch: dict[str, Any], args: dict[str, Any], folder: Path
) -> Iterator[BrowserContext]:
    context = browser_type.launch_persistent_context(folder, **launch, **args)
    try:
        yield context
    finally:
        context.close()


def blank(context: BrowserContext) -> Page:
    page = context.new_page()
    count_runs(page)
    return page


def test_saved_plan_survives_closing_the_browser(
    browser_type: BrowserType,
    browser_type_launch_args: dict[str, Any],
    browser_context_args: dict[str, Any],
    tmp_path: Path,
) -> None:
    how = browser_type, browser_type_launch_args, browser_context_args, tmp_path
    with profile(*how) as context:
        page = blank(context)
        open_app(page, ADDRESS)
        type_number(page, "Sample size", 41)
        keep(page)
        type_text(page, "Notes", "for Friday")
        expect(page.get_by_label("Notes")).to_have_value("for Friday")
    with profile(*how) as context:
        page = blank(context)
        open_app(page, "/Library")
        expect(
            page.get_by_role("radio", name="Stroop interference · medium lab · n 41")
        ).to_be_checked()
        expect(page.get_by_label("Notes")).to_have_value("for Friday")
        with wait_for_run(page):
            page.locator(".st-key-entry").get_by_role("button", name="Open").first.click()
        expect(page).to_have_title("Protocol · ReplicaLab")
        expect(number(page, "Sample size")).to_have_value("41")
