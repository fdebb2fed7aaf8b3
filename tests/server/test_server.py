"""The guard in front of Streamlit, the visitor cookie, and the turns of runs."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Timer
from typing import Final

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket

from replicalab import server
from replicalab.errors import LibraryError, LibraryReplacedError
from replicalab.server import READY, SECURE_COOKIE, VISITOR_COOKIE, Turns

OWN: Final = "http://localhost:8501"
SOCKET: Final = "ws://localhost:8501/run"
SECONDS: Final = 20.0
TOKEN: Final = "0123456789abcdef" * 2


class SlowPages:
    """Pages that take a while to load, and what happened in which order."""

    def __init__(self) -> None:
        self.go_on = Event()
        self.order: list[str] = []
        self.failure: LibraryError | None = None

    def load(self) -> None:
        assert self.go_on.wait(SECONDS)
        self.order.append("loaded")

    def require_library(self) -> None:
        if self.failure:
            raise self.failure

    def finish(self) -> None:
        self.order.append("finished")

    async def page(self, _: Request) -> Response:
        self.order.append("page")
        return HTMLResponse("<p>Scenarios</p>")

    async def run(self, socket: WebSocket) -> None:
        self.order.append("run")
        await socket.accept()
        await socket.close()


def browser_of(pages: SlowPages) -> TestClient:
    page = Route("/{path:path}", pages.page, methods=["GET", "POST"])
    routes = [*server.routes(pages), WebSocketRoute("/run", pages.run), page]
    middleware, lifespan = server.middleware(pages), server.lifespan(pages)
    app = Starlette(routes=routes, middleware=middleware, lifespan=lifespan)
    return TestClient(app, base_url=OWN)


@pytest.fixture
def pages() -> Iterator[SlowPages]:
    made = SlowPages()
    yield made
    made.go_on.set()


@pytest.fixture
def client(pages: SlowPages) -> TestClient:
    pages.go_on.set()
    return browser_of(pages)


def denied(client: TestClient, headers: dict[str, str]) -> int:
    with (
        pytest.raises(WebSocketDenialResponse) as refusal,
        client.websocket_connect(SOCKET, headers=headers),
    ):
        pass
    return int(refusal.value.status_code)


@pytest.mark.parametrize(
    "host",
    "evil.example LOCALHOST localhost. localhost:x localhost:8501@evil.example .localhost "
    "a.localhost 127.0.0.1.nip.io 127.1 [::1 localhost,evil.example".split(),
)
def test_other_hosts_are_refused(client: TestClient, host: str) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 400
    assert "server.allowedHosts" in answer.text
    assert denied(client, {"host": host, "origin": f"http://{host}"}) == 400


@pytest.mark.parametrize(
    "origin",
    "null http://evil.example http://localhost http://127.0.0.1:8501 https://localhost:8501.evil "
    "http://localhost:8501/ ftp://localhost:8501".split(),
)
def test_other_origins_are_refused(client: TestClient, origin: str) -> None:
    answer = client.post("/", headers={"origin": origin})
    assert answer.status_code == 403
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert denied(client, {"origin": origin}) == 403


def test_own_host_and_origin_are_served(client: TestClient) -> None:
    for host in ("localhost", "127.0.0.1:1", "localhost:8501"):
        assert client.get("/", headers={"host": host}).status_code == 200
    assert client.post("/", headers={"origin": OWN}).status_code == 200
    assert client.post("/", headers={"origin": OWN.replace("http", "https")}).status_code == 200
    with client.websocket_connect(SOCKET, headers={"origin": OWN}):
        pass


def test_web_socket_must_name_its_origin(client: TestClient, pages: SlowPages) -> None:
    assert denied(client, {}) == 403
    assert "run" not in pages.order


@pytest.mark.parametrize("name", ["a,", "Lab.example.org", "https://lab.example.org", "lab:80"])
def test_wrong_host_setting_stops_start(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(st, "get_option", lambda _: [name])
    with pytest.raises(SystemExit, match=f"server.allowedHosts has '{name}'"):
        server.allowed_hosts()


@pytest.mark.parametrize(
    ("address", "hosts", "expected"),
    [
        ("127.0.0.1", [], False),
        ("localhost", ["localhost", "127.0.0.1"], False),
        ("127.0.0.1", ["lab.example.org", "127.0.0.1"], True),
        ("0.0.0.0", [], True),  # noqa: S104
        (None, [], True),
    ],
)
def test_server_beyond_this_machine_is_public(
    monkeypatch: pytest.MonkeyPatch, address: str | None, hosts: list[str], expected: bool
) -> None:
    options = {"server.address": address, "server.allowedHosts": hosts}
    monkeypatch.setattr(st, "get_option", options.get)
    assert server.is_public() == expected


def test_named_sites_may_embed_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = server.fixed_headers()
    assert "frame-ancestors 'none'" in alone["Content-Security-Policy"]
    assert alone["X-Frame-Options"] == "DENY"
    monkeypatch.setenv("REPLICALAB_FRAMES", " https://a.example  http://localhost:80\n")
    framed = server.fixed_headers()
    policy = framed["Content-Security-Policy"]
    assert policy.endswith("; frame-ancestors https://a.example http://localhost:80")
    assert "X-Frame-Options" not in framed, "it would forbid every frame"
    assert {*alone} - {*framed} == {"X-Frame-Options"}


@pytest.mark.parametrize(
    "site", ["*", "a.example", "https://*.example", "https://a.example;", "https://a.example/b"]
)
def test_wrong_frame_stops_start(monkeypatch: pytest.MonkeyPatch, site: str) -> None:
    monkeypatch.setenv("REPLICALAB_FRAMES", f"https://a.example {site}")
    with pytest.raises(SystemExit) as stop:
        server.fixed_headers()
    assert f"REPLICALAB_FRAMES has '{site}', which is no site. Write scheme" in str(stop.value)


def test_demo_takes_no_file_and_sets_no_cookie(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPLICALAB_DEMO", "1")
    assert "set-cookie" not in client.get("/").headers
    answer = client.put("/_stcore/upload_file/a/b", content=b"x")
    assert (answer.status_code, answer.text) == (403, "This demo takes no files.")


def test_person_header_stops_start(monkeypatch: pytest.MonkeyPatch, pages: SlowPages) -> None:
    monkeypatch.setenv("REPLICALAB_PERSON_HEADER", "X-Forwarded-User")
    with pytest.raises(SystemExit, match=r"REPLICALAB_PERSON_HEADER .* st\.login"):
        server.middleware(pages)


def test_page_issues_cookie_once(client: TestClient) -> None:
    cookie = client.get("/").headers["set-cookie"]
    token, flags = cookie.removeprefix(f"{VISITOR_COOKIE}=").split("; ", 1)
    assert len(bytes.fromhex(token)) == 16
    assert flags == "Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax"
    assert client.get("/Protocol").headers["set-cookie"] == cookie
    assert "set-cookie" not in client.get("/favicon.png").headers


@pytest.mark.parametrize("value", ["", "x", TOKEN[:-1], TOKEN.upper(), f"{TOKEN}0", "A" * 43])
def test_malformed_cookie_is_replaced(client: TestClient, value: str) -> None:
    answer = client.get("/", headers={"cookie": f"{VISITOR_COOKIE}={value}"})
    token = answer.headers["set-cookie"].split(";")[0].partition("=")[2]
    assert len(token) == 32
    assert token != value


@pytest.mark.parametrize(
    "headers", [{"origin": "https://lab.example.org"}, {"sec-fetch-site": "none"}]
)
def test_cookie_over_tls_belongs_to_host_alone(
    monkeypatch: pytest.MonkeyPatch, pages: SlowPages, headers: dict[str, str]
) -> None:
    option = {"server.allowedHosts": ["lab.example.org"]}
    monkeypatch.setattr(st, "get_option", option.get)
    pages.go_on.set()
    client = browser_of(pages)
    named = {"host": "lab.example.org", **headers}
    planted = client.get("/", headers={**named, "cookie": f"{VISITOR_COOKIE}={TOKEN}"})
    assert planted.headers["set-cookie"].startswith(f"{SECURE_COOKIE}=")
    assert planted.headers["set-cookie"].endswith("; Secure")
    assert TOKEN not in planted.headers["set-cookie"], "a neighbouring host may have set it"
    response = client.get("/", headers={**named, "cookie": f"{SECURE_COOKIE}={TOKEN}"})
    assert response.headers["set-cookie"].startswith(f"{SECURE_COOKIE}={TOKEN};")


def test_runs_wait_until_pages_are_loaded(pages: SlowPages) -> None:
    client = browser_of(pages)
    client.get("/")
    Timer(0.2, pages.go_on.set).start()
    with client.websocket_connect(SOCKET, headers={"origin": OWN}):
        pass
    assert pages.order == ["page", "loaded", "run"]


def test_readiness_includes_the_library(client: TestClient, pages: SlowPages) -> None:
    assert (client.get(READY).status_code, client.get(READY).text) == (200, "Ready.")
    pages.failure = LibraryError("no room under /srv/secret")
    answer = client.get(READY)
    assert (answer.status_code, answer.text) == (503, "The library does not answer.")
    pages.failure = LibraryReplacedError("its file was deleted or replaced")
    assert client.get(READY).text == "The library's file was deleted or replaced."


def test_server_that_stops_saves(pages: SlowPages) -> None:
    pages.go_on.set()
    with browser_of(pages):
        pass
    assert pages.order[-1] == "finished"


def test_short_runs_never_overlap() -> None:
    turns, inside, most = Turns(SECONDS), 0, 0

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


def can_pass(turns: Turns) -> bool:
    with turns.take():
        return True


def test_long_run_lets_others_pass() -> None:
    turns, may_end = Turns(longest=0.02), Event()

    def take_long() -> None:
        with turns.take():
            assert may_end.wait(SECONDS)

    with ThreadPoolExecutor(2) as threads:
        long = threads.submit(take_long)
        passed = [threads.submit(can_pass, turns).result(SECONDS) for _ in range(3)]
        assert (passed, long.done()) == ([True] * 3, False)
        may_end.set()
        long.result(SECONDS)
    assert can_pass(turns)


def test_failed_run_gives_its_turn_back() -> None:
    turns = Turns(SECONDS)
    with pytest.raises(ValueError, match="broken"), turns.take():
        raise ValueError("broken")
    assert can_pass(turns)
