"""A first visit in a real browser: read the story, open a study, step through its talks, share."""

from typing import Final
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from pytest_playwright.pytest_playwright import CreateContextCallback

from tests.browser import driving
from tests.browser.visiting import expect_round, follow, press, strike, where

STUDY: Final = "Four-colour theorem"


def expect_marked(page: Page, number: int, last: int) -> None:
    expect_round(page, number, last)
    rounds = page.get_by_role("region", name="The rounds").locator("tbody tr")
    expect(rounds).to_have_count(number)


@pytest.mark.parametrize("view", [driving.PHONE_DARK], ids=str)
def test_first_visitor_reads_steps_and_shares(
    app_page: Page, new_context: CreateContextCallback, view: driving.View
) -> None:
    driving.open_app(app_page)
    _reads_the_story(app_page)
    _opens_another_study_and_its_hard_lab(app_page)
    _steps_through_the_negotiation(app_page)
    driving.reload_app(app_page)
    expect_marked(app_page, 3, 4)
    expect(where(app_page)).to_contain_text(f"{STUDY} · hard lab")
    _another_visitor_sees_the_same(app_page, new_context())


def _reads_the_story(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "Plan a replication in the lab you have, and see what every cut costs in evidence."
    )
    expect(where(page)).to_have_count(0)
    expect(page.locator("body")).not_to_contain_text("not feasible", ignore_case=True)
    follow(page, "Study")
    expect(page.get_by_role("heading", level=1)).to_have_text("Study: choose a study")
    press(page, "JQ1 in myeloma")
    expect(where(page)).to_contain_text("JQ1 in myeloma · medium lab")
    expect(where(page)).to_contain_text("Reference protocol: not feasible")
    story = page.get_by_text("The reference protocol (").first
    expect(story).to_be_visible()
    expect(story).to_contain_text("The reference protocol (24 mice (18 analysed) in 36 days")
    expect(story).to_contain_text("power 0.26, below the floor of 0.50 (planned: 0.67)")


def _opens_another_study_and_its_hard_lab(page: Page) -> None:
    follow(page, "Scenarios")
    with driving.wait_for_run(page):
        page.locator(".st-key-open_math_four_colour").get_by_role("button").click()
    expect(page).to_have_title("Study · ReplicaLab")
    expect(where(page)).to_contain_text(f"{STUDY} · medium lab")
    with driving.wait_for_run(page):
        page.get_by_role("radiogroup", name="Lab").get_by_text("Hard", exact=True).click()
    expect(where(page)).to_contain_text(f"{STUDY} · hard lab")
    rejected = "The Lab Manager rejects it: after every change it may make, staff fails."
    expect(page.get_by_text(rejected)).to_be_visible()


def _steps_through_the_negotiation(page: Page) -> None:
    follow(page, "Negotiation")
    expect(page.locator("h2.outcome")).to_have_count(0)
    press(page, "Next")
    strike(page, "ArrowRight")
    strike(page, "ArrowRight")
    expect_marked(page, 4, 4)
    expect(page.locator("h2.outcome")).to_contain_text("No deal after round 4")
    strike(page, "ArrowLeft")
    expect_marked(page, 3, 4)
    press(page, "First")
    expect_marked(page, 1, 4)
    press(page, "Play")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect_marked(page, 4, 4)
    expect(page.get_by_role("button", name="Play")).to_be_enabled()
    press(page, "Back")
    expect_marked(page, 3, 4)


def _another_visitor_sees_the_same(mine: Page, context: BrowserContext) -> None:
    driving.tell_violations(context)
    watch = driving.Watch(context)
    theirs = context.new_page()
    driving.count_runs(theirs)
    driving.open_app(theirs, mine.url)
    expect(where(theirs)).to_have_text(where(mine).inner_text(), use_inner_text=True)
    expect_marked(theirs, 3, 4)
    assert parse_qs(urlsplit(theirs.url).query) == parse_qs(urlsplit(mine.url).query)
    watch.assert_clean(theirs)
