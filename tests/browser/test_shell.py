"""Every page, in every view: it opens from its own address, is accessible, and asks nobody."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from tests.browser.driving import APP, assert_accessible, looks, open_app, photograph

ADDRESSES: Final = (
    "/",
    "/?survey=1&days=40",
    *(
        "/" + re.sub(r"^\d+_", "", page.stem)
        for page in sorted((APP.parent / "pages").glob("*.py"))
    ),
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_page_opens_from_its_address_is_accessible_and_does_not_scroll_sideways(
    app_page: Page, address: str
) -> None:
    open_app(app_page, address)
    expect(app_page).to_have_title(re.compile("ReplicaLab"))
    expect(app_page.get_by_role("heading", level=1)).to_be_visible()
    for view in looks(app_page):
        main = app_page.get_by_test_id("stMain")
        widths = main.evaluate("element => [element.scrollWidth, element.clientWidth]")
        assert widths[0] <= widths[1], f"{view}: content is {widths[0]} px in {widths[1]} px"
        assert_accessible(app_page)


def test_picture_holds_the_whole_page(app_page: Page, tmp_path: Path) -> None:
    open_app(app_page)
    png = photograph(app_page, tmp_path / "page.png").read_bytes()
    height = app_page.get_by_test_id("stMain").evaluate("element => element.scrollHeight")
    assert int.from_bytes(png[20:24], "big") >= height
