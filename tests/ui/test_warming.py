"""Loading beside serving: what is answered meanwhile, and what waits."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, Timer

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket

from replicalab.ui import warming


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
