"""Whose a session is, and how many of the files that were handed over to it are held."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from starlette.requests import ClientDisconnect
from starlette.testclient import TestClient
from starlette.types import Message, Receive
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from replicalab.server import sessions
from replicalab.server.sessions import Refusal
from replicalab.server.visitor import VISITOR_COOKIE
from tests.server.asking import NOBODY, OWN, STREAM, TOKEN, VISITOR, awaited

Held = Callable[[], dict[tuple[str, str], int]]


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    """Return the bytes of each file that is held, by session and file."""
    manager = MemoryUploadedFileManager("/_stcore/upload_file")
    instance = SimpleNamespace(uploaded_file_mgr=manager)
    monkeypatch.setattr(runtime.Runtime, "instance", lambda: instance)
    return lambda: {
        (session, name): len(record.data)
        for session, named in manager.file_storage.items()
        for name, record in named.items()
    }


def begin(client: TestClient, session: str) -> None:
    with client.websocket_connect(f"{STREAM}?begins={session}", headers=VISITOR) as socket:
        socket.receive_bytes()


def hand_over(client: TestClient, session: str, name: str, size: int = 1000) -> int:
    begin(client, session)
    path = f"/_stcore/upload_file/{session}/{name}"
    return client.put(path, content=b"x" * size, headers=VISITOR).status_code


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
@pytest.mark.parametrize(
    ("session", "visitor"), [("one", "B" * 43), ("one", ""), ("unknown", TOKEN), ("unknown", "")]
)
def test_files_of_a_session_are_its_own_visitors(
    client: TestClient, method: str, session: str, visitor: str
) -> None:
    begin(client, "one")
    headers = {"origin": OWN, "cookie": f"{VISITOR_COOKIE}={visitor}"}
    path = f"/_stcore/upload_file/{session}/file"
    assert client.request(method, path, headers=headers).status_code == 403


def test_last_files_of_a_session_are_held(client: TestClient, held: Held) -> None:
    names = [f"file{number}" for number in range(60)]
    assert {hand_over(client, "one", name) for name in names} == {204}
    assert hand_over(client, "another", "file") == 204
    last = {("one", name) for name in names[-sessions.MOST_FILES :]}
    assert held().keys() == last | {("another", "file")}


def test_file_of_the_same_name_is_one_file(client: TestClient, held: Held) -> None:
    for name in ("first", "second", "first"):
        hand_over(client, "one", name)
    assert held().keys() == {("one", "first"), ("one", "second")}


def test_oldest_files_of_all_give_way_to_the_newest(
    client: TestClient, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MOST_BYTES", 10_000)
    for number in range(40):
        assert hand_over(client, f"session{number}", "file", 3000) == 204
        assert sum(held().values()) <= sessions.MOST_BYTES
    assert held().keys() == {(f"session{number}", "file") for number in (37, 38, 39)}


def test_file_that_is_refused_behind_the_wall_takes_no_place(
    client: TestClient, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MOST_BYTES", 1500)
    hand_over(client, "one", "file")
    assert hand_over(client, NOBODY, "file") == 400
    assert held().keys() == {("one", "file")}


def test_more_than_is_ever_held_is_refused_with_a_reason(
    client: TestClient, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MOST_BYTES", 999)
    assert hand_over(client, "one", "file") == 503
    assert not held()


def test_file_counts_by_what_has_come_of_it(
    client: TestClient, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MOST_BYTES", 2500)
    begin(client, "one")
    path = "/_stcore/upload_file/one/file"
    assert client.put(path, content=iter([b"x" * 1000] * 2), headers=VISITOR).status_code == 204
    answer = client.put(path, content=iter([b"x" * 1000] * 3), headers=VISITOR)
    assert answer.status_code == 503
    assert held() == {("one", "file"): 2000}
    assert hand_over(client, "one", "file") == 204, "nothing is left on its way"


def test_who_sends_nothing_takes_nothing_and_is_given_up(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(sessions, "MOST_BYTES", 1500)
    scope = {"type": "http", "method": "PUT", "path": "/_stcore/upload_file/one/file"}
    statuses: list[object] = []

    async def read(_: object, receive: Receive, send: object) -> None:
        while (await receive())["type"] == "http.request":
            pass
        raise ClientDisconnect

    async def silent() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        statuses.append(message.get("status"))

    async def wait_for_sixteen() -> Refusal | None:
        found = sessions.Uploads(read)
        takes = [found.take(scope, silent, send) for _ in range(16)]
        waiting = asyncio.gather(*takes)
        await asyncio.sleep(0)
        refusal = found.refused()
        await waiting
        return refusal

    assert awaited(wait_for_sixteen()) is None
    assert statuses.count(503) == 16
    assert not held()
