"""Your own study in a real browser: an error with its line, use, link, removal."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.driving import ROOT, open_app
from tests.browser.visiting import follow, pick, press, show, type_text, where

EDITOR = "Study file (YAML)"
TITLE = "Seedlings and music"
TEMPLATE = ROOT / "scenarios" / "template.yaml"


def test_own_study_is_written_and_used(app_page: Page) -> None:
    open_app(app_page)
    template = put_template_into_editor(app_page)
    editor = textbox(app_page, EDITOR)
    editor.fill("x" * 300_001)  # a paste that is too long changes nothing
    expect(editor).to_have_value(template)
    type_text(app_page, EDITOR, template.replace("budget: ", "budget: -", 1))
    expect(app_page.get_by_text("1 fault to correct, under Advanced.")).to_be_visible()
    expect(app_page.get_by_role("cell", name="labs.easy.budget")).to_be_visible()
    type_text(app_page, EDITOR, template)
    press(app_page, "Use this study")
    follow(app_page, "Negotiation")
    expect(where(app_page)).to_contain_text(TITLE)
    expect(app_page.get_by_text(re.compile(r"^Round 1 of \d+( so far)?$"))).to_be_visible()
    open_app(app_page, app_page.url)
    expect(where(app_page)).to_contain_text(TITLE)


def put_template_into_editor(page: Page) -> str:
    show(page, "Make a study")
    pick(page, "Start from", "the template")
    press(page, "Start the form")
    show(page, "Advanced")
    editor = page.get_by_role("textbox", name=EDITOR, exact=True)
    expect(editor).not_to_have_value("")
    return editor.input_value()


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=re.compile(rf"^{name}"))


def textbox(page: Page, name: str) -> Locator:
    return page.get_by_role("textbox", name=name, exact=True)
