"""What a run draws leaves in one burst."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest
from starlette.types import Message
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from replicalab.ui.wall import bursts
from replicalab.ui.wall.bursts import Bursts

HOST: Final = "127.0.0.1"


def message(kind: str) -> Message:
    """Return a message to the page of that kind."""
    sent = ForwardMsg()
    match kind:
        case "delta":
            sent.delta.new_element.empty.SetInParent()
        case "ref_hash":
            sent.ref_hash = "abc"
        case "script_finished":
            sent.script_finished = ForwardMsg.FINISHED_SUCCESSFULLY
        case _:
            getattr(sent, kind).SetInParent()
    return {"type": "websocket.send", "bytes": sent.SerializeToString()}


class Browser:
    """Notes the kinds of the messages that have left."""

    def __init__(self) -> None:
        self.got: list[str] = []

    async def take(self, sent: Message) -> None:
        """Take a message, and let others work meanwhile."""
        await asyncio.sleep(0)
        kind = ForwardMsg.FromString(sent.get("bytes") or b"").WhichOneof("type")
        self.got.append(kind or sent["type"])


def done(work: Coroutine[None, None, None]) -> None:
    """Do it in a thread of its own: in this one a browser's event loop may be running."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()


async def sent(bursts_: Bursts, *kinds: str) -> None:
    for kind in kinds:
        await bursts_.send(message(kind))


def test_elements_of_a_run_leave_together_when_it_ends() -> None:
    browser, begun = Browser(), ["new_session", "navigation"]
    drawn = ["ref_hash", "delta", "page_info_changed", "delta"]

    async def run() -> None:
        bursts_ = Bursts(browser.take)
        await sent(bursts_, *begun, *drawn)
        assert browser.got == begun
        await sent(bursts_, "script_finished")
        assert browser.got == [*begun, *drawn, "script_finished"]
        await sent(bursts_, "delta")  # of no run that has begun
        assert browser.got[-1] == "delta"

    done(run())


def test_longer_run_is_shown_as_far_as_it_is_and_then_as_it_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bursts, "LONGEST_WAIT", 0.01)
    browser = Browser()

    async def run() -> None:
        bursts_ = Bursts(browser.take)
        await sent(bursts_, "new_session", "delta", "delta")
        assert browser.got == ["new_session"]
        while len(browser.got) < 3:
            await asyncio.sleep(0.005)
        await sent(bursts_, "delta")
        assert browser.got == ["new_session", "delta", "delta", "delta"]

    done(run())


def test_message_that_comes_while_a_burst_leaves_stays_behind_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bursts, "LONGEST_WAIT", 0.0)
    browser = Browser()

    async def run() -> None:
        bursts_ = Bursts(browser.take)
        await sent(bursts_, "new_session", *["delta"] * 20)
        await asyncio.sleep(0)
        await sent(bursts_, "page_info_changed", "script_finished")

    done(run())
    assert browser.got == ["new_session", *["delta"] * 20, "page_info_changed", "script_finished"]


def test_end_of_the_connection_sends_what_is_held_first_and_then_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bursts, "LONGEST_WAIT", 0.01)
    browser = Browser()

    async def run() -> None:
        bursts_ = Bursts(browser.take)
        await sent(bursts_, "new_session", "delta")
        await bursts_.send({"type": "websocket.close", "code": 1000})
        await sent(bursts_, "new_session", "delta")
        bursts_.close()
        await asyncio.sleep(0.03)

    done(run())
    assert browser.got == ["new_session", "delta", "websocket.close", "new_session"]
