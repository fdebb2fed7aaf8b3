"""What passes on a web socket: what a browser may say, and how what a run draws leaves."""

from __future__ import annotations

import asyncio
from functools import reduce
from typing import Final

import pytest
from starlette.testclient import TestClient
from starlette.types import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from replicalab.server import LONGEST_QUERY, messages
from replicalab.server.internals import read_sent
from replicalab.server.messages import Bursts
from tests.server.asking import OWN, STREAM, awaited, rerun

# --- what a browser says ----------------------------------------------------------------------


def asking(path: str, value: object) -> bytes:
    """Return a message with that at a path of its fields."""
    *parents, name = path.split(".")
    message = BackMsg()
    part = reduce(getattr, parents, message)
    if isinstance(value, list):
        getattr(part, name).extend(value)
    else:
        setattr(part, name, value)
    return bytes(message.SerializeToString())


def files(number: int) -> bytes:
    return asking("file_urls_request.file_names", ["a.json"] * number)


def operation(payload: str = "", file: str = "a") -> bytes:
    message = BackMsg()
    asked = message.backend_operation_request
    asked.request_id = "1"
    if payload == "deferred_file":
        asked.deferred_file.file_id = file
    elif payload:
        getattr(asked, payload).SetInParent()
    return bytes(message.SerializeToString())


def is_switch(kind: str) -> bool:
    """Return whether a kind of message only says that it is one, and is none of the pages'."""
    field = BackMsg.DESCRIPTOR.fields_by_name[kind]
    return field.type == field.TYPE_BOOL and kind != "stop_script"


RUN: Final = "rerun_script"
HASHES: Final = f"{RUN}.cached_message_hashes"
UNWANTED: Final = {
    **{name: asking(name, True) for name in BackMsg.DESCRIPTOR.fields_by_name if is_switch(name)},
    "an operation": operation(),
    "an operation for those who develop": operation("install_skills"),
    "a piece of a table": operation("dataframe_chunk"),
    "a file's long name": operation("deferred_file", "x" * (messages.LONGEST_NAME + 1)),
    "many widgets": rerun(messages.MOST_WIDGETS + 1),
    "many hashes": asking(HASHES, ["0"] * (messages.MOST_WIDGETS + 1)),
    "many files": files(messages.MOST_FILES + 1),
    "a page's long name": asking(f"{RUN}.page_name", "x" * (messages.LONGEST_NAME + 1)),
    "a forged line of the log": asking(f"{RUN}.fragment_id", "x\n2026 ERROR root: admin"),
    "a colour for the log": asking(f"{RUN}.page_script_hash", "\x1b[31m"),
    "a long address": asking(f"{RUN}.query_string", "x" * (LONGEST_QUERY + 1)),
    "nothing": b"",
    "no message": b"\xff" * 100,
}


@pytest.mark.parametrize("message", UNWANTED.values(), ids=UNWANTED)
def test_message_that_no_page_sends_goes_no_further(client: TestClient, message: bytes) -> None:
    with client.websocket_connect(STREAM, headers={"origin": OWN}) as socket:
        socket.send_bytes(message)
        socket.send_text("clear_cache")
        socket.send_bytes(sent := rerun())
        assert socket.receive_bytes() == sent, "and what follows does"


WANTED: Final = {
    "widgets": rerun(messages.MOST_WIDGETS),
    "files": files(messages.MOST_FILES),
    "a file to be made": operation("deferred_file"),
    "stop": asking("stop_script", True),
    "a name": asking(f"{RUN}.page_name", "Trade-offs"),
    "an address": asking(f"{RUN}.query_string", "x" * LONGEST_QUERY),
}


@pytest.mark.parametrize("message", WANTED.values(), ids=WANTED)
def test_message_of_the_pages_is_passed_on(client: TestClient, message: bytes) -> None:
    with client.websocket_connect(STREAM, headers={"origin": OWN}) as socket:
        socket.send_bytes(message)
        assert socket.receive_bytes() == message


def test_flood_of_messages_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "PER_SECOND", 1e9)
    monkeypatch.setattr(messages, "AT_ONCE", 0)
    monkeypatch.setattr(messages, "SILENCE_SECONDS", 0)
    read = 0

    async def receive() -> Message:
        nonlocal read
        read += 1
        return {"type": "websocket.receive", "bytes": rerun()}

    async def passed_on() -> int:
        flood = messages.Incoming(receive)
        passed = 0
        while (await flood.receive())["type"] == "websocket.receive":
            passed += 1
        return passed

    assert awaited(passed_on()) == messages.MOST_WAITED
    assert read == messages.MOST_WAITED + 1


@pytest.mark.parametrize(
    ("message", "held_back"), [(rerun(), 0), (operation("deferred_file"), 2)], ids=["run", "file"]
)
def test_file_to_be_made_keeps_a_slower_pace(
    message: bytes, held_back: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests: list[float] = []

    async def rest(seconds: float) -> None:
        rests.append(seconds)

    async def receive() -> Message:
        return {"type": "websocket.receive", "bytes": message}

    async def read() -> None:
        browser = messages.Incoming(receive)
        for _ in range(3):
            await browser.receive()

    monkeypatch.setattr(asyncio, "sleep", rest)
    awaited(read())
    assert len(rests) == held_back


# --- how what a run draws leaves --------------------------------------------------------------


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


async def sent(bursts: Bursts, *kinds: str) -> None:
    for kind in kinds:
        await bursts.send([leaving := message(kind)], read_sent(leaving["bytes"]).kind)


def test_elements_of_a_run_leave_together_when_it_ends() -> None:
    browser, begun = Browser(), ["new_session", "navigation"]
    drawn = ["ref_hash", "delta", "page_info_changed", "delta"]

    async def run() -> None:
        bursts = Bursts(browser.take)
        await sent(bursts, *begun, *drawn)
        assert browser.got == begun
        await sent(bursts, "script_finished")
        assert browser.got == [*begun, *drawn, "script_finished"]
        await sent(bursts, "delta")  # of no run that has begun
        assert browser.got[-1] == "delta"

    awaited(run())


def test_longer_run_is_shown_as_far_as_it_is_and_then_as_it_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(messages, "LONGEST_WAIT", 0.01)
    browser = Browser()

    async def run() -> None:
        bursts = Bursts(browser.take)
        await sent(bursts, "new_session", "delta", "delta")
        assert browser.got == ["new_session"]
        while len(browser.got) < 3:
            await asyncio.sleep(0.005)
        await sent(bursts, "delta")
        assert browser.got == ["new_session", "delta", "delta", "delta"]

    awaited(run())


def test_message_that_comes_while_a_burst_leaves_stays_behind_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(messages, "LONGEST_WAIT", 0.0)
    browser = Browser()

    async def run() -> None:
        bursts = Bursts(browser.take)
        await sent(bursts, "new_session", *["delta"] * 20)
        await asyncio.sleep(0)
        await sent(bursts, "page_info_changed", "script_finished")

    awaited(run())
    assert browser.got == ["new_session", *["delta"] * 20, "page_info_changed", "script_finished"]


def test_end_of_the_connection_sends_what_is_held_first_and_then_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(messages, "LONGEST_WAIT", 0.01)
    browser = Browser()

    async def run() -> None:
        bursts = Bursts(browser.take)
        await sent(bursts, "new_session", "delta")
        await bursts.send([{"type": "websocket.close", "code": 1000}], "")
        await sent(bursts, "new_session", "delta")
        bursts.close()
        await asyncio.sleep(0.03)

    awaited(run())
    assert browser.got == ["new_session", "delta", "websocket.close", "new_session"]
