"""Negotiating in a real browser: look, play, fork, and stop a model that waits."""

import re
from typing import Final

from playwright.sync_api import Locator, Page, expect

from replicalab.models import ScientistActionType, plan_action
from replicalab.scenarios import load_scenario
from tests.browser import driving
from tests.browser.visiting import expect_round, press, type_number, type_text
from tests.features.language_model.serving import Exchange, serve, whole

REFERENCE: Final = load_scenario("fin_momentum").reference_protocol
PROPOSAL: Final = plan_action(ScientistActionType.PROPOSE_PROTOCOL, REFERENCE).model_dump_json()


def verdict(page: Page) -> Locator:
    return page.locator("h2.outcome")


def test_fork_is_compared_with_its_run(app_page: Page) -> None:
    driving.open_app(app_page, "/Negotiation?study=fin_momentum&scientist=baseline&round=2")
    press(app_page, "Fork here")
    app_page.get_by_role("textbox", name="Technique", exact=True).click()
    for _ in range(3):
        app_page.keyboard.press("ArrowRight")
    app_page.wait_for_timeout(500)
    expect_round(app_page, 2, 5)  # in a field the arrows move the cursor
    type_number(app_page, "Sample size", 300)
    type_number(app_page, "Duration (days)", 5)
    press(app_page, "Continue from here")
    table = app_page.get_by_role("region", name="Run and fork, round by round")
    expect(table).to_contain_text("Revises: 210 months in 7 days, 2,900 credits, power 0.47")
    expect(table).to_contain_text("Revises: 300 months in 5 days, 3,700 credits, power 0.62")
    for _ in driving.looks(app_page, (driving.PROJECTOR_DARK, driving.PHONE)):
        driving.assert_accessible(app_page)
    press(app_page, "Continue with this fork")
    driving.reload_app(app_page)
    expect(app_page.get_by_text("Your fork from round 2")).to_be_visible()
    expect(app_page.locator(".rl .sides")).to_contain_text("300 months in 5 days")
    press(app_page, "Undo the fork")
    press(app_page, "Last")
    expect(verdict(app_page)).to_contain_text("52 months in 5 days")


def set_model(page: Page, url: str) -> None:
    driving.open_app(page, "/Negotiation?study=fin_momentum&scientist=model")
    type_text(page, "Base URL", url)
    type_text(page, "Model", "test-model")


def silent(exchange: Exchange) -> None:
    exchange.wait()


def test_waiting_model_is_stopped_or_left(app_page: Page) -> None:
    with serve(silent, silent, whole(PROPOSAL), silent) as server:
        set_model(app_page, server.url)
        ask = app_page.get_by_role("button", name="Test the connection", exact=True)
        waits = app_page.get_by_text(re.compile("test-model on .* 0 characters"))
        stop = app_page.get_by_role("button", name="Stop the model", exact=True)
        ask.click()
        expect(waits).to_be_visible()
        stop.click()
        expect(app_page.get_by_text("Stopped.", exact=True)).to_be_visible()
        assert server.left.wait(10)
        server.left.clear()
        expect(ask).to_be_enabled()
        ask.click()
        expect(waits).to_be_visible()
        app_page.goto("about:blank")
        assert server.left.wait(10)
        assert len(server.received) == 2
        set_model(app_page, server.url)
        app_page.get_by_role("button", name="Run", exact=True).click()
        begins = re.compile("^Round 2 of at most 5: test-model on .* 0 characters")
        expect(app_page.get_by_text(begins)).to_be_visible()
        stop.click()
        expect(app_page.get_by_text("Stopped. The rounds played so far are kept.")).to_be_visible()
    expect_round(app_page, 1, 1)
    expect(app_page.get_by_role("button", name="Go on", exact=True)).to_be_enabled()
