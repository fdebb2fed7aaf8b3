"""Runs take turns, and what the pages use is loaded beside serving."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Timer
from typing import Final

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket

from replicalab.errors import LibraryError
from replicalab.server.running import READY, Loading, Turns

FOREVER = 60.0


_HEAPS: Final = """
import ctypes, sys, tempfile
from threading import Barrier, Thread
from replicalab.server.running import share_heaps

libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
libc.malloc.restype = ctypes.c_void_p
if sys.argv[1] == "shared":
    share_heaps()
everybody = Barrier(6)

def take():
    everybody.wait()  # who ends leaves its heap to the next
    libc.malloc(ctypes.c_size_t(10_000))
    everybody.wait()

threads = [Thread(target=take) for _ in range(6)]
[each.start() for each in threads]
[each.join() for each in threads]
with tempfile.NamedTemporaryFile() as file:
    opened = libc.fopen(file.name.encode(), b"w")
    libc.malloc_info(0, ctypes.c_void_p(opened))
    libc.fclose(ctypes.c_void_p(opened))
    print(file.read().count(b"<heap "))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="heaps are glibc's")
@pytest.mark.parametrize(("start", "most"), [("shared", {2}), ("alone", {*range(3, 9)})])
def test_threads_share_two_heaps(start: str, most: set[int]) -> None:
    command = [sys.executable, "-W", "ignore", "-c", _HEAPS, start]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(told.stdout) in most


def test_short_runs_never_overlap() -> None:
    turns, inside, most = Turns(FOREVER), 0, 0

    def run(_: int) -> None:
        nonlocal inside, most
        with turns.take():
            inside += 1
            most = max(most, inside)
            Event().wait(0.001)
            inside -= 1

    with ThreadPoolExecutor(20) as threads:
        list(threads.map(run, range(100)))
    assert most == 1


def test_run_that_takes_long_keeps_nobody() -> None:
    turns, may_end = Turns(longest=0.02), Event()

    def take_long() -> None:
        with turns.take():
            assert may_end.wait(FOREVER)

    with ThreadPoolExecutor(2) as threads:
        long = threads.submit(take_long)
        passed = [threads.submit(_pass, turns).result(FOREVER) for _ in range(3)]
        assert (passed, long.done()) == ([True] * 3, False)
        may_end.set()
        long.result(FOREVER)
    with turns.take():
        pass


def _pass(turns: Turns) -> bool:
    with turns.take():
        return True


def test_run_that_fails_gives_its_turn_back() -> None:
    turns = Turns(FOREVER)
    with pytest.raises(ValueError, match="broken"), turns.take():
        raise ValueError("broken")
    assert _pass(turns)


class Steps:
    """A load that lasts until it is let go, and what happened in which order."""

    def __init__(self) -> None:
        self.go_on = Event()
        self.order: list[str] = []
        self.library_fails = False

    def load(self) -> None:
        assert self.go_on.wait(20)
        self.order.append("loaded")

    def require_library(self) -> None:
        if self.library_fails:
            raise LibraryError("no room under /srv/secret")

    def finish(self) -> None:
        raise AssertionError

    def is_known(self, _: str, /) -> bool:
        raise AssertionError

    async def page(self, _: Request) -> PlainTextResponse:
        self.order.append("page")
        return PlainTextResponse("")

    async def run(self, socket: WebSocket) -> None:
        self.order.append("run")
        await socket.accept()
        await socket.close()


@pytest.fixture
def loading() -> Iterator[Steps]:
    found = Steps()
    yield found
    found.go_on.set()


@pytest.fixture
def client(loading: Steps) -> TestClient:
    routes = [Route("/", loading.page), WebSocketRoute("/run", loading.run)]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(Loading, pages=loading)]))


def test_page_is_answered_while_the_rest_is_loaded(client: TestClient, loading: Steps) -> None:
    client.get("/")
    assert loading.order == ["page"]


def test_page_runs_once_all_is_loaded(client: TestClient, loading: Steps) -> None:
    client.get("/")
    Timer(0.2, loading.go_on.set).start()
    with client.websocket_connect("/run"):
        pass
    assert loading.order == ["page", "loaded", "run"]


def test_server_is_ready_once_pages_and_library_answer(client: TestClient, loading: Steps) -> None:
    client.get("/")
    early = client.get(READY)
    assert (early.status_code, early.text) == (503, "The pages are being loaded.")
    loading.go_on.set()
    with client.websocket_connect("/run"):
        pass
    assert client.get(READY).status_code == 200
    loading.library_fails = True
    answer = client.get(READY)
    assert (answer.status_code, answer.text) == (503, "The library does not answer.")


def test_readiness_stands_below_the_server_s_own_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "get_option", lambda _: "lab")
    steps = Steps()
    steps.go_on.set()
    client = TestClient(Starlette(middleware=[Middleware(Loading, pages=steps)]))
    assert client.get(READY).status_code == 404
    assert client.get(f"/lab{READY}").status_code in (200, 503)
