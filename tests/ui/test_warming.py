"""Loading beside serving: what is answered meanwhile, and what waits."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Timer
from typing import Final

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket

from replicalab.ui import warming
from replicalab.ui.library import shelf
from replicalab.ui.wall import visitors
from tests.ui.reading import SCENARIOS, visit
from tests.ui.visitors import Browsers

ROOT: Final = Path(__file__).parents[2]


class Loading:
    """A load that lasts until it is let go, and what happened in which order."""

    def __init__(self) -> None:
        self.go_on = Event()
        self.order: list[str] = []

    def load(self) -> None:
        assert self.go_on.wait(20)
        self.order.append("loaded")

    async def page(self, _: Request) -> PlainTextResponse:
        self.order.append("page")
        return PlainTextResponse("")

    async def run(self, socket: WebSocket) -> None:
        self.order.append("run")
        await socket.accept()
        await socket.close()


@pytest.fixture
def loading(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loading]:
    found = Loading()
    monkeypatch.setattr(warming, "_load", found.load)
    yield found
    found.go_on.set()


@pytest.fixture
def client(loading: Loading) -> TestClient:
    routes = [Route("/", loading.page), WebSocketRoute("/run", loading.run)]
    return TestClient(Starlette(routes=routes, middleware=list(warming.MIDDLEWARE)))


def test_page_is_answered_while_the_rest_is_loaded(client: TestClient, loading: Loading) -> None:
    client.get("/")
    assert loading.order == ["page"]


def test_page_runs_once_all_is_loaded(client: TestClient, loading: Loading) -> None:
    client.get("/")
    Timer(0.2, loading.go_on.set).start()
    with client.websocket_connect("/run"):
        pass
    assert loading.order == ["page", "loaded", "run"]


def test_first_page_waits_for_no_database() -> None:
    code = """
import gc, sys
from replicalab.ui import warming
warming._load()
print("replicalab.ui.scenarios" in sys.modules, "sqlalchemy" in sys.modules, gc.isenabled())
warming._open_library()
print("sqlalchemy" in sys.modules, gc.get_freeze_count() > 100_000)
"""
    asked = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert asked.stdout.splitlines() == ["True False True", "True True"]


def test_library_is_not_asked_for_what_a_newcomer_has_kept(
    browsers: Browsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def nothing(method: str) -> Callable[..., list[object]]:
        def answer(*_: object) -> list[object]:
            asked.append(method)
            return []

        return answer

    for method in ("entries", "draft"):
        monkeypatch.setattr(shelf.shelf(), method, nothing(method))
    visitors._HANDED_OUT.append((browsers.token, time.monotonic()))  # noqa: SLF001 - as a page's answer does
    visit(SCENARIOS)
    assert not asked
    visit(SCENARIOS)
    assert asked == ["entries", "draft"]
