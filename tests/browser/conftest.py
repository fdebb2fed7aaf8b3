"""Fixtures of the browser tests: a real server, a real Chromium, a page that is watched."""

import os
from collections.abc import Callable, Generator, Iterator
from typing import Any, NoReturn

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Playwright, expect

from tests.browser import driving

# A page is waited for by what it shows, however busy the machine is.
expect.set_options(timeout=driving.RUN_SECONDS * 1000)

REMEDY = (
    "no Chromium found: install one (Debian: apt-get install chromium; anywhere: "
    ".venv/bin/playwright install chromium) or name it in REPLICALAB_CHROMIUM"
)


def _do_without_browser() -> NoReturn:
    if os.environ.get("REPLICALAB_REQUIRE_BROWSER") == "1":
        pytest.fail(REMEDY, pytrace=False)
    pytest.skip(REMEDY)


@pytest.fixture(scope="session")
def browser_type_launch_args(playwright: Playwright) -> dict[str, object]:
    chromium = driving.find_chromium(playwright.chromium.executable_path)
    if chromium is None:
        _do_without_browser()
    return {"executable_path": str(chromium), "args": list(driving.CHROMIUM_FLAGS)}


@pytest.fixture(scope="session")
def app_server(
    browser_type_launch_args: dict[str, object], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[driving.AppServer]:
    assert browser_type_launch_args
    log = tmp_path_factory.mktemp("server") / "streamlit.log"
    with driving.AppServer(driving.APP, log) as server:
        yield server


@pytest.fixture
def view() -> driving.View:
    return driving.PROJECTOR


@pytest.fixture
def browser_context_args(view: driving.View, app_server: driving.AppServer) -> dict[str, Any]:
    return {**view.context_args(), "base_url": app_server.url}


Contexts = Callable[[dict[str, Any]], BrowserContext]


@pytest.fixture(scope="session")
def contexts(browser: Browser) -> Iterator[Contexts]:
    made: dict[str, BrowserContext] = {}

    def context_of(args: dict[str, Any]) -> BrowserContext:
        if str(args) not in made:
            made[str(args)] = browser.new_context(**args)
            driving.tell_violations(made[str(args)])
        return made[str(args)]

    yield context_of
    for context in made.values():
        context.close()


@pytest.fixture
def app_page(
    contexts: Contexts,
    browser_context_args: dict[str, Any],
    app_server: driving.AppServer,
    request: pytest.FixtureRequest,
) -> Iterator[Page]:
    context = contexts(browser_context_args)
    page = context.new_page()
    driving.forget_visitor(page, app_server.url)
    watch = driving.Watch(context)
    driving.count_runs(page)
    yield page
    try:
        watch.assert_clean(page)
    except AssertionError as error:
        path = driving.keep_picture(page, request.node.nodeid)
        error.add_note(f"picture: {path}\n--- server log\n{app_server.tail()}")
        raise
    finally:
        watch.leave()
        for item in context.pages:
            item.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call" and report.failed and isinstance(item, pytest.Function):
        page, server = item.funcargs.get("app_page"), item.funcargs.get("app_server")
        if isinstance(server, driving.AppServer):
            report.sections.append(("server log", server.tail()))
        if isinstance(page, Page):
            report.sections.append(("picture", _picture_or_reason(page, item.nodeid)))
    return report


def _picture_or_reason(page: Page, node_id: str) -> str:
    try:
        return str(driving.keep_picture(page, node_id) or "none: the page was closed")
    except Error as error:
        return f"none: {error.message}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(driving.APP.parent / "tests" / "browser"):
            item.add_marker(pytest.mark.browser)
