"""Negotiating in a real browser: watch, play, fork, replay, and survive a dead endpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Error, Locator, Page, expect

from replicalab.models import ScientistActionType, plan_action
from replicalab.scenarios import load_scenario
from tests.browser.driving import (
    HOST,
    PHONE,
    PHONE_DARK,
    PROJECTOR,
    PROJECTOR_DARK,
    View,
    assert_accessible,
    free_port,
    looks,
    open_app,
    wait_for_run,
)
from tests.browser.visiting import expect_round, press, type_number, type_text
from tests.llm.serving import Exchange, Server, serve, streamed, whole

REFERENCE: Final = load_scenario("fin_momentum").reference_protocol
PROPOSAL: Final = plan_action(ScientistActionType.PROPOSE_PROTOCOL, REFERENCE).model_dump_json()
EMPTY: Final = {name: type(value)() for name, value in json.loads(PROPOSAL).items()}
ACCEPTANCE: Final = json.dumps({**EMPTY, "action_type": "accept"})
HOSTILE: Final = "<img src=https://example.org/x.png onerror=alert(1)> ![x](https://example.org/y)"


def verdict(page: Page) -> Locator:
    """Return the heading that says how it ended, or where it stands."""
    return page.locator("h2.outcome")


def choose(page: Page, label: str, name: str) -> None:
    """Choose in a list of that label and wait for the page.

    A page that is drawn anew closes an open list; then it is opened again.
    """
    option = page.get_by_role("option", name=name, exact=True)
    for _ in range(5):
        page.get_by_role("combobox", name=label, exact=False).click()
        try:
            option.wait_for(timeout=3000)
        except Error:
            continue
        break
    with wait_for_run(page):
        option.click()


# --- watching ---------------------------------------------------------------------------------


@pytest.mark.parametrize("view", [PROJECTOR, PHONE_DARK], ids=str)
def test_demo_is_watched(app_page: Page, view: View) -> None:
    open_app(app_page, "/Negotiation?scientist=baseline")
    expect(verdict(app_page)).to_contain_text("Agreed below the floor in round 5")
    expect(app_page.locator(".st-key-convergence .gtitle")).to_contain_text("Budget used")
    with wait_for_run(app_page):
        app_page.keyboard.press("ArrowRight")
    expect_round(app_page, 2, 5)
    app_page.reload()
    expect_round(app_page, 2, 5)


def test_wide_tables_scroll_in_their_own_box(app_page: Page) -> None:
    app_page.set_viewport_size({"width": PHONE.width, "height": PHONE.height})
    open_app(app_page, "/Negotiation?study=math_four_colour&lab=hard&rounds=12&scientist=baseline")
    expect(verdict(app_page)).to_contain_text("round 12")
    matrix = app_page.get_by_role("region", name="The seven dimensions, round by round")
    expect(matrix).to_be_visible()
    assert matrix.evaluate("element => element.scrollWidth > element.clientWidth")
    main = app_page.get_by_test_id("stMain")
    assert main.evaluate("element => element.scrollWidth - element.clientWidth") <= 0


# --- playing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("view", [PROJECTOR, PHONE], ids=str)
def test_scientist_is_played_to_an_agreement(app_page: Page, view: View) -> None:
    open_app(app_page, "/Negotiation")
    choose(app_page, "Scientist", "You")
    expect(verdict(app_page)).to_contain_text("no plan is on the table yet")
    press(app_page, "Put this plan forward")
    expect_round(app_page, 1, 1)
    expect(verdict(app_page)).to_contain_text("the Lab Manager offers 210 samples in 6 days")
    type_number(app_page, "Sample size", 290)
    press(app_page, "Put this plan forward")
    expect_round(app_page, 2, 2)
    expect(verdict(app_page)).to_contain_text("Agreed in round 2: 290 samples in 6 days")
    press(app_page, "Undo last round")
    press(app_page, "Accept the offer")
    expect(verdict(app_page)).to_contain_text(
        "Agreed below the floor in round 2: 210 samples in 6 days"
    )
    app_page.reload()
    expect(verdict(app_page)).to_contain_text(
        "Agreed below the floor in round 2: 210 samples in 6 days"
    )
    expect(
        app_page.get_by_text("The Scientist gave 2,200 credits and 0.29 of power")
    ).to_be_visible()


def test_text_typed_just_before_the_press_is_sent(app_page: Page) -> None:
    open_app(app_page, "/Negotiation?scientist=person")
    app_page.get_by_role("textbox", name="Rationale", exact=True).fill("Typed a moment ago.")
    press(app_page, "Put this plan forward")
    expect_round(app_page, 1, 1)
    app_page.get_by_text("The whole plan", exact=True).click()
    expect(app_page.get_by_text("Typed a moment ago.").first).to_be_visible()


def test_arrow_keys_in_a_field_move_the_cursor_and_not_the_round(app_page: Page) -> None:
    open_app(app_page, "/Negotiation?scientist=baseline&round=2")
    press(app_page, "Fork here")
    field = app_page.get_by_role("textbox", name="Technique", exact=True)
    field.click()
    for _ in range(3):
        app_page.keyboard.press("ArrowRight")
    app_page.wait_for_timeout(500)
    expect_round(app_page, 2, 5)


# --- a round ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("study", "shown"), [("fin_momentum", 1), ("psy_stroop", 2), ("math_four_colour", 2)]
)
def test_round_stands_in_the_first_screen(app_page: Page, study: str, shown: int) -> None:
    open_app(app_page, f"/Negotiation?study={study}&round={shown}")
    expect(app_page.locator(".rl .sides")).to_be_in_viewport(ratio=1)


# --- forking ----------------------------------------------------------------------------------


@pytest.mark.parametrize("view", [PROJECTOR_DARK], ids=str)
def test_round_is_forked_and_both_branches_are_compared(app_page: Page, view: View) -> None:
    open_app(app_page, "/Negotiation?scientist=baseline&round=2")
    press(app_page, "Fork here")
    type_number(app_page, "Sample size", 300)
    type_number(app_page, "Duration (days)", 5)
    press(app_page, "Continue from here")
    expect(app_page.get_by_text("Two branches from round 2")).to_be_visible()
    table = app_page.get_by_role("region", name="Both branches, round by round")
    expect(table).to_contain_text("Revises: 210 samples in 7 days, 2,900 credits, power 0.47")
    expect(table).to_contain_text("Revises: 300 samples in 5 days, 3,700 credits, power 0.62")
    assert_accessible(app_page)
    press(app_page, "Keep the branch")
    app_page.reload()
    expect(app_page.get_by_text("Your fork from round 2")).to_be_visible()
    expect(app_page.locator(".rl .sides")).to_contain_text("300 samples in 5 days")
    press(app_page, "Back to how it was")
    expect(verdict(app_page)).to_contain_text("52 samples in 5 days")


# --- a language model -------------------------------------------------------------------------


@pytest.fixture
def model_server() -> Iterator[Server]:
    """A server whose model first talks nonsense, then proposes, then accepts."""
    script = (whole(HOSTILE), streamed(PROPOSAL[:50], PROPOSAL[50:]), whole(ACCEPTANCE))
    with serve(*script) as server:
        yield server


def set_model(page: Page, url: str) -> None:
    open_app(page, "/Negotiation?scientist=model")
    type_text(page, "Base URL", url)
    type_text(page, "Model", "test-model")


def test_model_plays_and_its_text_stays_text(app_page: Page, model_server: Server) -> None:
    set_model(app_page, model_server.url)
    app_page.get_by_role("button", name="Run", exact=True).click()
    expect(verdict(app_page)).to_contain_text(
        "Agreed below the floor in round 2: 210 samples in 6 days"
    )
    assert len(model_server.received) == 3
    press(app_page, "First")
    app_page.get_by_text("Attempt 1: no valid action").click()
    expect(app_page.get_by_text(HOSTILE).first).to_be_visible()
    assert app_page.locator("img[src*='example.org']").count() == 0


def test_dead_endpoint_is_survived(app_page: Page) -> None:
    set_model(app_page, f"http://{HOST}:{free_port()}/v1")
    app_page.get_by_role("button", name="Run", exact=True).click()
    failed = app_page.get_by_role("alert").filter(has_text="its turn is over")
    expect(failed).to_contain_text("does not answer; check that the server runs", timeout=30_000)
    press(app_page, "Act for the model in this round")
    press(app_page, "Put this plan forward")
    expect_round(app_page, 1, 1)
    choose(app_page, "Scientist", "Simple rule")
    expect_round(app_page, 1, 5)


def silent(exchange: Exchange) -> None:
    exchange.wait()


def test_waiting_model_is_stopped_at_once(app_page: Page) -> None:
    with serve(whole(PROPOSAL), silent) as server:
        set_model(app_page, server.url)
        app_page.get_by_role("button", name="Run", exact=True).click()
        expect(
            app_page.get_by_text(re.compile("^Round 2 of at most 5: test-model on .* 0 characters"))
        ).to_be_visible()
        app_page.get_by_role("button", name="Stop the model", exact=True).click()
        expect(app_page.get_by_text("Stopped. The rounds played so far are kept.")).to_be_visible()
    expect_round(app_page, 1, 1)
    expect(app_page.get_by_role("button", name="Go on", exact=True)).to_be_enabled()


@pytest.mark.parametrize("ends", ["stop", "leave"])
@pytest.mark.parametrize(
    ("asked", "before"),
    [("Test the connection", []), ("Let the model reword this", [PROPOSAL, ACCEPTANCE])],
)
def test_test_and_rewording_end_when_they_are_stopped_or_the_browser_leaves(
    app_page: Page, asked: str, before: list[str], ends: str
) -> None:
    with serve(*map(whole, before), silent) as server:
        set_model(app_page, server.url)
        if before:
            app_page.get_by_role("button", name="Run", exact=True).click()
            expect(verdict(app_page)).to_contain_text("Agreed below the floor in round 2")
            press(app_page, "First")
        app_page.get_by_role("button", name=asked, exact=True).click()
        stop = app_page.get_by_role("button", name="Stop the model", exact=True)
        expect(stop).to_be_visible()
        expect(app_page.get_by_text(re.compile("test-model on .* 0 characters"))).to_be_visible()
        if ends == "stop":
            stop.click()
            expect(app_page.get_by_text("Stopped.", exact=True)).to_be_visible()
            expect(app_page.get_by_role("button", name=asked, exact=True)).to_be_enabled()
        else:
            app_page.goto("about:blank")
        assert server.left.wait(10)
    assert len(server.received) == len(before) + 1


# --- accessibility ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        "/Negotiation?scientist=person&round=1",
        "/Negotiation?scientist=model",
        "/Negotiation?recording=momentum_revised",
    ],
)
def test_page_is_accessible_in_every_view(app_page: Page, address: str) -> None:
    open_app(app_page, address)
    expect(app_page.get_by_role("heading", level=1)).to_be_visible()
    for _ in looks(app_page):
        assert_accessible(app_page)
