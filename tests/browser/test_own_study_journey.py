"""A study of one's own in a real browser: a fault by line, used, negotiated, found again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect

from replicalab.scenarios import parse_study, study_yaml
from tests.browser.driving import (
    APP,
    ROOT,
    AppServer,
    count_runs,
    open_app,
    wait_for_run,
)
from tests.browser.visiting import follow, number, press, show, type_number, type_text, where

EDITOR = "Study file (YAML)"
STAND_IN_SAMPLES = "420"
TITLE = "Seedlings and music"


def test_study_of_ones_own_is_written_used_and_negotiated(app_page: Page) -> None:
    open_app(app_page)
    template = put_template_into_editor(app_page)
    type_text(app_page, EDITOR, template.replace("budget: ", "budget: -", 1))
    expect(app_page.get_by_text("One fault, under Advanced.")).to_be_visible()
    expect(app_page.get_by_role("cell", name="labs.easy.budget")).to_be_visible()
    type_text(app_page, EDITOR, template)
    press(app_page, "Use this study")
    expect(where(app_page)).to_contain_text(TITLE)
    follow(app_page, "Negotiation")
    expect(where(app_page)).to_contain_text(TITLE)
    expect(app_page.get_by_text(re.compile(r"^Round 1 of \d+( so far)?$"))).to_be_visible()
    open_app(app_page, app_page.url)
    expect(where(app_page)).to_contain_text(TITLE)


def test_paste_that_is_too_long_changes_nothing_and_the_page_goes_on(app_page: Page) -> None:
    open_app(app_page)
    template = put_template_into_editor(app_page)
    editor = app_page.get_by_role("textbox", name=EDITOR, exact=True)
    editor.fill("x" * 300_001)
    expect(editor).to_have_value(template)
    type_text(app_page, EDITOR, template.replace("budget: ", "budget: -", 1))
    expect(app_page.get_by_text("One fault, under Advanced.")).to_be_visible()


def test_link_to_ones_own_study_reads_it_and_a_reload_still_owns_it(
    app_page: Page, browser: Browser, browser_context_args: dict[str, Any]
) -> None:
    bring_template(app_page)
    follow(app_page, "Scenarios")
    expect(button(app_page, "Remove")).to_be_visible()
    with browser.new_context(**browser_context_args) as elsewhere:
        reader = elsewhere.new_page()
        count_runs(reader)
        open_app(reader, app_page.url)
        expect(where(reader)).to_contain_text(TITLE)
        assert reader.url == app_page.url
        expect(reader.get_by_text("shared with you, to read")).to_be_visible()
        expect(button(reader, "Copy it into the form")).to_be_visible()
        expect(button(reader, "Remove")).to_have_count(0)
    open_app(app_page, app_page.url)
    press(app_page, "Remove")
    expect(where(app_page)).not_to_contain_text(TITLE)


def test_tab_that_outlives_its_server_asks_for_the_file_and_goes_on(
    browser: Browser, browser_context_args: dict[str, Any], tmp_path: Path
) -> None:
    with browser.new_context(**browser_context_args) as context:  # unwatched: its server goes
        tab = context.new_page()
        count_runs(tab)
        with AppServer(APP, tmp_path / "first.log") as first:
            open_app(tab, first.url)
            bring_template(tab)
            follow(tab, "Protocol")
            type_number(tab, "Sample size", 7)
            address = tab.url
        empty = {"REPLICALAB_DATA": str(tmp_path)}
        with AppServer(APP, tmp_path / "second.log", port=first.port, environment=empty):
            expect(tab.get_by_text("is not on this server")).to_be_visible(timeout=90_000)
            assert tab.url == address
            expect(number(tab, "Sample size")).to_have_count(
                1
            )  # while it is drawn the old one stays
            expect(number(tab, "Sample size")).to_have_value(STAND_IN_SAMPLES)
            with wait_for_run(tab):
                files = tab.locator("[data-testid=stFileUploader] input[type=file]")
                files.set_input_files(ROOT / "scenarios" / "template.yaml")
            expect(where(tab)).to_contain_text(TITLE)
            expect(number(tab, "Sample size")).to_have_value("7")


def bring_template(page: Page) -> None:
    """Use the template as a study of one's own, from the front door on."""
    if page.url == "about:blank":
        open_app(page)
    put_template_into_editor(page)
    press(page, "Use this study")
    expect(where(page)).to_contain_text(TITLE)


def put_template_into_editor(page: Page) -> str:
    """Start from the template; return its text once the editor shows it, later than the run."""
    show(page, "Make a study")
    start_from(page, "the template")
    show(page, "Advanced")
    editor = page.get_by_role("textbox", name=EDITOR, exact=True)
    expect(editor).not_to_have_value("")
    return editor.input_value()


def start_from(page: Page, name: str) -> None:
    """Begin the form of a study with what is called so."""
    choice = page.get_by_role("combobox", name="Start from")
    with wait_for_run(page):
        choice.click()
        page.get_by_role("option", name=name, exact=True).click()
    press(page, "Start the form")


def button(page: Page, name: str) -> Locator:
    """Return the buttons of that name, which may be followed by their keys."""
    return page.get_by_role("button", name=re.compile(rf"^{name}"))


def test_uploaded_file_is_read_into_the_form_and_binary_is_refused(
    app_page: Page, tmp_path: Path
) -> None:
    open_app(app_page)
    show(app_page, "Make a study")
    chooser = app_page.locator("[data-testid=stFileUploader] input[type=file]")
    with wait_for_run(app_page):
        chooser.set_input_files(ROOT / "scenarios" / "template.yaml")
    expect(app_page.get_by_role("heading", name=TITLE)).to_be_visible()
    expect(textbox(app_page, "Short name")).to_have_value(TITLE)
    press(app_page, "Start anew")
    binary = tmp_path / "broken.yaml"
    binary.write_bytes(b"title: caf\xe9\n")
    with wait_for_run(app_page):
        chooser.set_input_files(binary)
    expect(app_page.get_by_text("byte 0xe9 is not UTF-8 text")).to_be_visible()
    press(app_page, "Back to the form")
    expect(textbox(app_page, "Short name")).to_have_value(TITLE)


def test_power_analysis_of_a_first_visit_stands_on_protocol(app_page: Page) -> None:
    open_app(app_page)
    show(app_page, "Make a study")
    for name, value in (
        ("Effect: Cohen's d", "0.3"),
        ("Effect: Cohen's d", "0.5"),
        ("Alpha, two-sided", "0.05"),
        ("Power", "0.8"),
        ("Samples in all", "128"),
    ):
        retype(app_page, name, value)
    press(app_page, "Use this analysis")
    expect(app_page).to_have_title("Protocol · ReplicaLab")
    expect(where(app_page)).to_contain_text("My study")
    expect(where(app_page)).to_contain_text("feasible")
    expect(number(app_page, "Sample size")).to_have_value("128")
    expect(app_page.get_by_text(re.compile(r"power 0\.80")).first).to_be_visible()


def test_form_is_filled_mended_used_and_the_same_under_advanced(app_page: Page) -> None:
    open_app(app_page)
    show(app_page, "Make a study")
    press(app_page, "Start the form")
    type_text(app_page, "Name of the study", "Tea & <b>time</b>: one")
    show(app_page, "Assumptions")
    retype(app_page, "Assumed: Cohen's d", "-0.5")
    told = app_page.get_by_text(
        "The assumed effect is -0.5: a “Two groups” design needs one above 0."
    )
    expect(told).to_be_visible()
    expect(button(app_page, "Use this study")).to_be_disabled()
    expect(number(app_page, "Assumed: Cohen's d")).to_have_value("-0.5")
    show(app_page, "Comparison")
    show(app_page, "Assumptions")
    expect(number(app_page, "Assumed: Cohen's d")).to_have_value("-0.5")
    retype(app_page, "Assumed: Cohen's d", "0.65")
    expect(told).to_have_count(0)
    press(app_page, "Use this study")
    expect(app_page).to_have_title("Protocol · ReplicaLab")
    expect(where(app_page)).to_contain_text("Tea & <b>time</b>: one")
    follow(app_page, "Scenarios")
    show(app_page, "Make a study")
    show(app_page, "Advanced")
    editor = textbox(app_page, EDITOR)
    expect(editor).to_have_value(re.compile("effect_planning: 0.65"))
    study = parse_study(editor.input_value(), "typed")
    assert study.paper.title == "Tea & <b>time</b>: one"
    assert study.design.effect_planning == 0.65
    assert study == parse_study(study_yaml(study), "written")


def textbox(page: Page, name: str) -> Locator:
    """Return the field for text of that name."""
    return page.get_by_role("textbox", name=name, exact=True)


def retype(page: Page, name: str, value: str) -> None:
    """Type a number over what stands there; the same one again makes no run to wait for."""
    field = number(page, name)
    expect(field).to_be_visible()
    if field.input_value() != value:
        with wait_for_run(page):
            field.fill(value)
            field.press("Enter")
