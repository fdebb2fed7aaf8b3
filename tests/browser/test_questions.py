"""The questions of docs/questions.md, each answered in a few acts from a first visit."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from playwright.sync_api import Locator, Page, expect

from tests.browser.driving import open_app, wait_for_run
from tests.browser.visiting import dimension, pick, where

MOST_ACTS: Final = 20


@dataclass
class Visitor:
    """Someone who comes to the front door; every click and every field that is typed counts."""

    page: Page
    acts: list[str] = field(default_factory=list)

    def clicks(self, control: Locator, name: str) -> None:
        """Click something that makes the page run."""
        self.acts.append(name)
        with wait_for_run(self.page):
            control.click()
        # A field of a kind that the page had none of moves what stands below it once it is loaded.
        expect(self.page.get_by_test_id("stSkeleton")).to_have_count(0)

    def presses(self, name: str) -> None:
        """Press a button, or follow a link, of that name."""
        named = re.compile(rf"^{re.escape(name)}")
        role = self.page.get_by_role("button", name=named)
        self.clicks(role.or_(self.page.get_by_role("link", name=named)).first, name)

    def opens(self, tab: str) -> None:
        """Open a tab."""
        self.clicks(self.page.get_by_role("tab", name=tab, exact=True), tab)

    def types(self, label: str, value: float) -> None:
        """Type a number into a field and leave it by Enter."""
        self.acts.append(label)
        number = self.page.get_by_role("spinbutton", name=label, exact=True).last
        if number.input_value() == str(value):
            return  # it is offered already; to read it counts all the same
        number.fill(str(value))
        with wait_for_run(self.page):
            number.press("Enter")

    def writes(self, label: str, text: str) -> None:
        """Type a text into a field and leave it by Enter."""
        self.acts.append(label)
        field = self.page.get_by_role("textbox", name=label, exact=True)
        field.fill(text)
        with wait_for_run(self.page):
            field.press("Enter")

    def chooses(self, label: str, option: str) -> None:
        """Choose from a list, of which a few letters are typed."""
        self.acts += [label, option]
        pick(self.page, label, option)

    def has_answered(self) -> None:
        """Expect few acts."""
        assert len(self.acts) <= MOST_ACTS, self.acts

    def closes_the_drawer(self) -> None:
        """Close the drawer, upon which the page is drawn anew."""
        self.clicks(
            self.page.get_by_role("dialog").get_by_role("button", name="Close"), "lose the drawer"
        )
        expect(self.page.get_by_role("dialog")).to_have_count(0)


def test_sixty_four_a_group_in_six_weeks_with_two_people(app_page: Page) -> None:
    visitor = Visitor(app_page)
    open_app(app_page)
    visitor.opens("Make a study")
    visitor.writes("Name of the study", "Naps and recall")
    visitor.types("Effect: Cohen's d", 0.5)
    visitor.types("Power", 0.8)
    visitor.types("Days it takes", 10)
    expect(app_page.get_by_text("64 a group = 128 in all.")).to_be_visible()
    visitor.presses("Use this analysis")
    expect(where(app_page)).to_contain_text("Reference protocol: feasible")
    visitor.presses("Your lab")
    visitor.types("Days", 42)
    visitor.types("Staff units", 2)
    visitor.closes_the_drawer()
    expect(where(app_page)).to_contain_text("not feasible, staff fails")
    expect(dimension(app_page, "Staff")).to_contain_text("3 / 2 staff units")
    expect(app_page.get_by_text("1 for more than 5 days = 3 of 2 staff units")).to_be_visible()
    best = app_page.get_by_text(re.compile("^.*20 samples in 10 days, .* power 0.19"))
    expect(best).to_be_visible()
    answer = "128 samples in 10 days reach the target of power 0.80. That takes 1 more staff unit."
    expect(app_page.get_by_text(answer)).to_be_visible()
    visitor.has_answered()


def test_which_studies_fit_forty_days_and_3000_credits_and_how_well(app_page: Page) -> None:
    visitor = Visitor(app_page)
    open_app(app_page)
    visitor.opens("Your lab")
    visitor.types("Budget, credits", 3000)
    visitor.types("Days", 40)
    rows = app_page.locator("table.survey tbody tr")
    expect(rows).to_have_count(12)
    expect(rows.first).to_contain_text(re.compile("ResNet depth.*fits.*power 0.88 meets target"))
    expect(rows.nth(8)).to_contain_text(re.compile("Momentum returns.*power 0.52 above floor.*235"))
    expect(rows.last).to_contain_text("share examined 39 % below floor")
    visitor.chooses("Study to open", "Pythagorean triples")
    visitor.presses("Open in this lab")
    expect(where(app_page)).to_contain_text("medium lab, 2 changes")
    expect(app_page.get_by_role("row", name="Least loss")).to_contain_text("0.92")
    visitor.has_answered()
