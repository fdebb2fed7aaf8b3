"""Signing in, in a real browser: whose work is whose, on which browser, and what is taken along."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.driving import (
    APP,
    AppServer,
    Watch,
    assert_accessible,
    count_runs,
    free_port,
    looks,
    open_app,
    tell_violations,
    wait_for_run,
)
from tests.browser.test_library_journey import keep
from tests.browser.visiting import press, type_number
from tests.server.provider import Provider, write_secrets

pytestmark = pytest.mark.xdist_group("signing in with a browser")

STROOP = "/Protocol?study=psy_stroop"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as found:
        yield found


Serve = Callable[[bool], AppServer]


@pytest.fixture
def serve(provider: Provider, tmp_path: Path) -> Serve:
    """What serves one library at one address, and asks who somebody is, or does not."""
    port = free_port()
    secrets = write_secrets(tmp_path / "secrets.toml", provider.url, port)

    def start(asks: bool) -> AppServer:
        environment = {"REPLICALAB_DATA": str(tmp_path / "data")}
        environment |= {"STREAMLIT_SECRETS_FILES": str(secrets)} if asks else {}
        return AppServer(APP, tmp_path / "streamlit.log", port=port, environment=environment)

    return start


@pytest.fixture
def visitors(
    browser: Browser, browser_context_args: dict[str, Any]
) -> Iterator[Callable[[], BrowserContext]]:
    """Browsers that know nothing of each other; none may break its policy or fail a script."""
    watches: list[tuple[Watch, BrowserContext]] = []

    def come() -> BrowserContext:
        context = browser.new_context(**{**browser_context_args, "base_url": None})
        tell_violations(context)
        watches.append((Watch(context), context))
        return context

    yield come
    for watch, context in watches:
        # Its server has ended by now.
        watch.findings = [each for each in watch.findings if "CONNECTION_REFUSED" not in each]
        for page in context.pages:
            watch.assert_clean(page)
        context.close()


def blank(context: BrowserContext) -> Page:
    page = context.new_page()
    count_runs(page)
    return page


def sign_in(page: Page, server: AppServer, name: str, address: str = STROOP) -> None:
    """Open an address, sign in, and wait until it is there."""
    open_app(page, f"{server.url}{address}")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name=name).wait_for()
    with wait_for_run(page):
        page.get_by_role("link", name=name).click()
    expect(page.get_by_role("button", name="More")).to_be_visible()


def sign_out(page: Page) -> None:
    page.get_by_role("button", name="More").click()
    page.get_by_text("Sign out (").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def kept(page: Page, server: AppServer) -> list[str]:
    """Return the names of what the library lists."""
    open_app(page, f"{server.url}/Library")
    return [
        each.strip()
        for each in page.get_by_role("radio").evaluate_all(
            "radios => radios.map(each => each.closest('label').innerText.split('\\n')[0])"
        )
    ]


def test_work_is_a_person_s_on_any_browser_and_nobody_else_s(
    serve: Serve, visitors: Callable[[], BrowserContext]
) -> None:
    with serve(True) as server:
        first, second = (blank(visitors()) for _ in range(2))
        sign_in(first, server, "ann")
        expect(first).to_have_title("Protocol · ReplicaLab")
        type_number(first, "Sample size", 41)
        keep(first)
        assert kept(first, server) == ["Stroop interference · medium lab · n 41"]
        sign_in(second, server, "ben")
        assert kept(second, server) == []
        sign_out(second)
        sign_in(second, server, "ann")
        assert kept(second, server) == ["Stroop interference · medium lab · n 41"]
        sign_out(first)
        assert kept(second, server), "on another browser she stays"


def test_signing_out_ends_every_tab(serve: Serve, visitors: Callable[[], BrowserContext]) -> None:
    with serve(True) as server:
        context = visitors()
        page = blank(context)
        sign_in(page, server, "ann")
        other = blank(context)
        open_app(other, f"{server.url}/Study")
        sign_out(page)
        expect(other.get_by_role("button", name="Sign in")).to_be_visible()
        expect(other.get_by_role("button", name="Save")).to_have_count(0)
        other.reload()
        expect(other.get_by_role("button", name="Sign in")).to_be_visible()
        for _ in looks(other):
            assert_accessible(other)


def test_what_a_browser_kept_is_taken_along_once(
    serve: Serve, visitors: Callable[[], BrowserContext]
) -> None:
    context = visitors()
    page = blank(context)
    with serve(False) as server:
        open_app(page, f"{server.url}{STROOP}")
        type_number(page, "Sample size", 41)
        keep(page)
        page.close()
    with serve(True) as server:
        page = blank(context)
        sign_in(page, server, "ann")
        assert kept(page, server) == []
        expect(page.locator(".st-key-left_behind")).to_contain_text("kept work here: 1 entry")
        for _ in looks(page):
            assert_accessible(page)
        press(page, "Take it along")
        expect(page.get_by_text("is yours now, in any browser")).to_be_visible()
        expect(page.locator(".st-key-left_behind")).to_have_count(0)
        assert kept(page, server) == ["Stroop interference · medium lab · n 41"]
        sign_out(page)
        sign_in(page, server, "ben")
        assert kept(page, server) == []
        expect(page.locator(".st-key-left_behind")).to_have_count(0)
        elsewhere = blank(visitors())
        sign_in(elsewhere, server, "ann")
        assert kept(elsewhere, server) == ["Stroop interference · medium lab · n 41"]
