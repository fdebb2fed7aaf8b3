"""A study of one's own in a real browser: a fault by line, used, negotiated, found again."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.driving import ROOT, open_app, wait_for_run
from tests.browser.visiting import follow, press, type_text, where

EDITOR = "Study file (YAML)"
TITLE = "Chamber Music and the Growth of Bean Seedlings"


def test_study_of_ones_own_is_written_used_and_negotiated(app_page: Page) -> None:
    open_app(app_page)
    app_page.get_by_role("tab", name="Bring your own").click()
    press(app_page, "Put it into the editor")
    template = app_page.get_by_role("textbox", name=EDITOR, exact=True).input_value()
    type_text(app_page, EDITOR, template.replace("budget: ", "budget: -", 1))
    expect(app_page.get_by_text("One fault.")).to_be_visible()
    expect(app_page.get_by_role("cell", name="labs.easy.budget")).to_be_visible()
    type_text(app_page, EDITOR, template)
    press(app_page, "Use this study")
    expect(where(app_page)).to_contain_text(TITLE)
    follow(app_page, "Negotiation")
    expect(where(app_page)).to_contain_text(TITLE)
    expect(app_page.get_by_text(re.compile(r"^Round 1 of \d+$"))).to_be_visible()
    open_app(app_page, app_page.url)
    expect(where(app_page)).to_contain_text(TITLE)


def test_uploaded_file_is_put_into_the_editor_and_binary_is_refused(
    app_page: Page, tmp_path: Path
) -> None:
    open_app(app_page)
    app_page.get_by_role("tab", name="Bring your own").click()
    chooser = app_page.locator("[data-testid=stFileUploader] input[type=file]")
    with wait_for_run(app_page):
        chooser.set_input_files(ROOT / "scenarios" / "template.yaml")
    expect(app_page.get_by_text("can be used.")).to_be_visible()
    binary = tmp_path / "broken.yaml"
    binary.write_bytes(b"title: caf\xe9\n")
    with wait_for_run(app_page):
        chooser.set_input_files(binary)
    expect(app_page.get_by_text("byte 0xe9 is not UTF-8 text")).to_be_visible()
    expect(app_page.get_by_text("can be used.")).to_be_visible()
