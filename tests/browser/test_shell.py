"""Every page, in every view: it opens from its own address, is accessible, and asks nobody."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.driving import assert_accessible, looks, open_app, photograph
from tests.browser.visiting import ADDRESSES, SURVEY, number


@pytest.mark.parametrize("address", [*ADDRESSES.values(), SURVEY])
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


def test_long_run_dims_what_is_told_and_no_field(app_page: Page) -> None:
    slow = False
    kept_back: list[str | bytes] = []

    def connect(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def answer(message: str | bytes) -> None:
            if kept_back or (slow and _is_element(message)):
                kept_back.append(message)
            else:
                socket.send(message)

        server.on_message(answer)

    app_page.route_web_socket(re.compile("/_stcore/stream"), connect)
    open_app(app_page, "/Protocol")
    told = app_page.locator(".stHtml").filter(has=app_page.locator(".check"))
    field = number(app_page, "Sample size")
    around = app_page.locator(".stElementContainer").filter(has=field)
    expect(told).to_have_css("opacity", "1")
    slow = True
    field.press("ArrowUp")
    field.press("Enter")
    expect(told).to_have_css("opacity", "0.33")
    expect(around).to_have_attribute("data-stale", "true")
    expect(around).to_have_css("opacity", "1")


def _is_element(message: str | bytes) -> bool:
    """Return whether a message of the server draws a part of the page."""
    if isinstance(message, str):
        return False
    return ForwardMsg.FromString(message).WhichOneof("type") in {"delta", "ref_hash"}
