"""The app's pages, and a visitor's actions: press, type, follow a link."""

import re
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from playwright.sync_api import FloatRect, Locator, Page, expect

from replicalab.scenarios import Difficulty
from replicalab.ui.frame import PAGES
from replicalab.ui.workspace import TrayCase, Workspace, stories, to_query
from tests.browser.driving import wait_for_run

THREE_LABS: Final = Workspace().replace(
    tray=tuple(
        TrayCase(name=level, case=Workspace().replace(lab=level).case) for level in Difficulty
    )
)
COMPARING: Final = f"/Compare?{urlencode(to_query(THREE_LABS))}"
ADDRESSES: Final = {title: "/" if file == "app.py" else f"/{title}" for file, title, *_ in PAGES}
SURVEY: Final = "/?survey=1&days=40"
FULL_ADDRESSES: Final = (
    *(
        ADDRESSES
        | {
            "Study": "/Study?study=fin_momentum",
            "Protocol": "/Protocol?study=bio_jq1_myeloma&lab=hard",
            "Negotiation": "/Negotiation?study=math_four_colour&lab=hard&round=2",
            "Trade-offs": "/Trade-offs?study=fin_momentum",
            "Compare": COMPARING,
        }
    ).values(),
    f"/{stories()[0].page}?{urlencode(to_query(stories()[0].workspace.replace(presenting=0)))}",
    "/Negotiation?study=fin_momentum&scientist=person&round=1",
    SURVEY,
    "/Trade-offs",
)
"""The pages at their fullest: after a story, with a form, with every study and with none."""


def where(page: Page) -> Locator:
    return page.locator(".rl.header")


def dimension(page: Page, name: str) -> Locator:
    return page.locator("table.check tr").filter(has_text=name)


def follow(page: Page, name: str) -> None:
    with wait_for_run(page):
        page.locator(".st-key-navigation").get_by_role("link", name=name, exact=True).click()
    expect(page).to_have_title(f"{name} · ReplicaLab")


def press(page: Page, name: str) -> None:
    with wait_for_run(page):
        page.get_by_role("button", name=re.compile(rf"^{re.escape(name)}(?!\w)")).first.click()


def choose_more(page: Page, name: str) -> None:
    page.get_by_role("button", name="More", exact=False).first.click()
    with wait_for_run(page):
        page.get_by_role("menuitem", name=name).click()


def show(page: Page, tab: str) -> None:
    with wait_for_run(page):
        page.get_by_role("tab", name=tab, exact=True).click()


def number(page: Page, name: str) -> Locator:
    return page.get_by_role("spinbutton", name=name, exact=True)


def type_number(page: Page, name: str, value: float) -> None:
    with wait_for_run(page):
        number(page, name).fill(str(value))
        number(page, name).press("Enter")


def type_text(page: Page, name: str, text: str) -> None:
    field = page.get_by_role("textbox", name=name, exact=True)
    with wait_for_run(page):
        field.fill(text)
        field.press("Control+Enter")


def upload(page: Page, file: Path | str) -> None:
    with wait_for_run(page):
        page.locator("[data-testid=stFileUploader] input[type=file]").set_input_files(file)


def strike(page: Page, *keys: str) -> None:
    *before, last = keys
    for key in before:
        page.keyboard.press(key)
    with wait_for_run(page):
        page.keyboard.press(last)


def put_away(page: Page) -> None:
    expect(page.locator('[role="dialog"]:focus-within')).to_have_count(1)
    strike(page, "Escape")


def expect_round(page: Page, shown: int, last: int) -> None:
    pattern = re.compile(rf"^Round {shown} of {last}( so far)?$")
    expect(page.get_by_text(pattern)).to_be_visible()
    address = re.compile(rf"[?&]round={shown}(&|$)" if shown > 1 else r"^((?!round=).)*$")
    expect(page).to_have_url(address)


def box_of(part: Locator) -> FloatRect:
    box = part.bounding_box()
    assert box is not None, f"{part} is not drawn"
    return box
