"""Who may ask for what, and what every answer carries."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.testclient import TestClient, WebSocketDenialResponse

from replicalab.server import LONGEST_QUERY, wall
from replicalab.server.visitor import VISITOR_COOKIE, value_of
from replicalab.ui import startup
from tests.server.asking import HOST, OWN, STREAM, TOKEN, rerun


def denied(client: TestClient, address: str = STREAM, **headers: str) -> WebSocketDenialResponse:
    """Return the answer to a web socket that is refused."""
    with pytest.raises(WebSocketDenialResponse) as caught:
        client.websocket_connect(address, headers=headers).__enter__()
    return caught.value


# --- what every answer carries ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "status"), [("/", 200), ("/all", 200), ("/broken", 500), ("/_stcore/metrics", 404)]
)
def test_answer_carries_the_policy(client: TestClient, path: str, status: int) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    policy = dict(
        rule.split(" ", 1) for rule in answer.headers["content-security-policy"].split("; ")
    )
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["connect-src"] == "'self'"
    assert "'unsafe-inline'" not in policy["script-src"]
    assert "'sha256-" in policy["script-src"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert "secret" not in answer.text


# --- who may ask for what ---------------------------------------------------------------------

FOREIGN_HOSTS: Final = (
    *"evil.example evil.example:8501 localhost.evil.example evil.localhost".split(),
    *"localhost. LOCALHOST localhost:8501:8501 localhost: localhost:999999".split(),
    *"someone@localhost localhost/x 2130706433 127.1 [::1]".split(),
    "localhost, evil.example",
    "",
)


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_foreign_host_is_refused_with_a_remedy(client: TestClient, host: str) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 400
    assert "server.allowedHosts" in answer.text
    assert denied(client, host=host, origin=OWN).status_code == 400


@pytest.mark.parametrize("host", ["localhost", "localhost:9", "127.0.0.1", "127.0.0.1:65535"])
def test_listed_host_is_answered_at_any_port(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "name", ["a.example,b.example", "https://a.example", "a.example:8501", "A.example", "*", ""]
)
def test_listed_name_that_no_host_has_ends_the_start(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(st, "get_option", lambda _: ["localhost", name])
    with pytest.raises(SystemExit, match=f"names '{re.escape(name)}'.*put spaces between"):
        wall.allowed_hosts()


def test_no_list_of_hosts_means_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(key: str) -> str:
        if key == "server.allowedHosts":
            raise RuntimeError(f'Config key "{key}" not defined.')
        return ""

    options: tuple[Callable[[str], object], ...] = (lambda _: [], unknown)
    for option in options:
        monkeypatch.setattr(st, "get_option", option)
        client = TestClient(wall.Wall(Starlette(), startup), base_url=OWN)
        for host, status in (("localhost", 404), ("[::1]:8501", 404), ("lab.example", 400)):
            assert client.get("/", headers={"host": host}).status_code == status


FOREIGN_ORIGINS: Final = (
    *"http://evil.example http://localhost http://localhost:80 http://localhost:8502".split(),
    *"http://127.0.0.1:8501 http://localhost:8501/ http://localhost.:8501".split(),
    *"http://LOCALHOST:8501 http://localhost:08501 http://someone@localhost:8501".split(),
    *"http://localhost:8501@evil.example http://localhost:8501.evil.example".split(),
    *"ws://localhost:8501 file://localhost:8501 //localhost:8501 localhost:8501 null".split(),
    "",
)


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_foreign_origin_is_refused(client: TestClient, origin: str) -> None:
    answer = denied(client, origin=origin)
    assert answer.status_code == 403
    assert answer.headers["x-frame-options"] == "DENY"
    path = "/_stcore/upload_file/s/f"
    for ask in (client.get, client.put, client.delete, client.options):
        assert ask(path, headers={"origin": origin}).status_code == 403


def test_web_socket_without_an_origin_is_refused(client: TestClient) -> None:
    assert denied(client).status_code == 403


def _hidden(client: TestClient, cookie: str, origin: str) -> str:
    """Return what a page is answered after its web socket was refused for its origin."""
    shown = {"cookie": f"{VISITOR_COOKIE}={cookie}"} if cookie else {}
    assert denied(client, origin=origin, **shown).status_code == 403
    return client.get("/", headers=shown).text


def test_proxy_that_hides_the_host_is_named_to_whose_page_came_through_it(
    client: TestClient,
) -> None:
    ours = value_of(TOKEN)
    answer = _hidden(client, ours, "https://lab.example.org")
    assert f"passes on the host {HOST}" in answer
    assert "asked for lab.example.org" in answer
    assert "STREAMLIT_SERVER_ALLOWED_HOSTS" in answer
    health = client.get("/_stcore/health", headers={"cookie": f"{VISITOR_COOKIE}={ours}"})
    assert (health.status_code, health.text) == (421, answer)
    assert client.get("/").status_code == 200  # anybody else
    cookie = {"cookie": f"{VISITOR_COOKIE}={ours}", "origin": "https://lab.example.org"}
    script = client.get("/static/x.js", headers={**cookie, "sec-fetch-dest": "script"})
    assert script.headers["content-type"].startswith("text/javascript")
    assert f"document.body.textContent = {json.dumps(answer)}" in script.text


@pytest.mark.parametrize(
    ("cookie", "origin"),
    [
        ("", "https://evil.example"),
        (TOKEN, "https://evil.example"),  # not proven
        (f"{TOKEN}.{'A' * 22}", "https://evil.example"),
        (value_of(TOKEN), "http://localhost:9999"),  # another app of this machine
        (value_of(TOKEN), "null"),
    ],
)
def test_page_elsewhere_cannot_keep_a_visitor_out(
    client: TestClient, cookie: str, origin: str
) -> None:
    assert "Scenarios" in _hidden(client, cookie, origin)


def test_what_a_hidden_host_was_called_is_shown_as_text(client: TestClient) -> None:
    answer = _hidden(client, value_of(TOKEN), "https://\x1b[31m" + "x" * 5_000)
    assert "\x1b" not in answer
    assert len(answer) < 600


@pytest.mark.parametrize("origin", [OWN, f"https://{HOST}"])
def test_own_origin_is_let_in(client: TestClient, origin: str) -> None:
    with client.websocket_connect(STREAM, headers={"origin": origin}) as socket:
        socket.send_bytes(sent := rerun())
        assert socket.receive_bytes() == sent


def fetched(site: str, mode: str, target: str) -> dict[str, str]:
    """Return what a browser tells of how it came to ask."""
    return {"sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": target}


@pytest.mark.parametrize("site", ["same-origin", "same-site", "cross-site"])
@pytest.mark.parametrize("target", ["iframe", "frame", "embed", "object", "fencedframe"])
def test_frame_is_refused_whoever_draws_it(client: TestClient, site: str, target: str) -> None:
    assert client.get("/", headers=fetched(site, "navigate", target)).status_code == 403


@pytest.mark.parametrize("site", ["same-site", "cross-site"])
@pytest.mark.parametrize("target", ["empty", "image", "script", "style", "document"])
def test_what_a_page_elsewhere_loads_is_refused(client: TestClient, site: str, target: str) -> None:
    assert client.get("/", headers=fetched(site, "no-cors", target)).status_code == 403


@pytest.mark.parametrize("site", ["none", "same-origin", "same-site", "cross-site"])
def test_link_that_is_followed_is_answered(client: TestClient, site: str) -> None:
    assert client.get("/", headers=fetched(site, "navigate", "document")).status_code == 200


CLOSED: Final = """
    /_stcore/metrics /_stcore/metrics/ /%5fstcore/metrics /Protocol/_stcore/metrics
    /_stcore/script-health-check /_stcore/agent/openapi.json /_stcore/agent/interact
    /_stcore/bidi-components/x/y.js /_stcore/health/x /_stcore/ /component/x/index.html
    /auth/login /oauth2callback /static/%00.js /a%00b /a%0Ab /a%1B%5B31m
    /_stcore/upload_file/s/%00
""".split()


@pytest.mark.parametrize("path", CLOSED)
def test_address_that_no_page_needs_is_closed(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_address_that_is_too_long_is_refused_with_a_remedy(client: TestClient) -> None:
    assert client.get(f"/?{'x' * LONGEST_QUERY}").status_code == 200
    answer = client.get(f"/?{'x' * (LONGEST_QUERY + 1)}")
    assert answer.status_code == 414
    assert "more than the 14,000 characters" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    address = f"{STREAM}?{'x' * (LONGEST_QUERY + 1)}"
    assert denied(client, address, origin=OWN).status_code == 414


@pytest.mark.parametrize("path", ["/", "/Protocol", "/_stcore/health", "/static/js/index.js"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_page_is_only_read(client: TestClient, path: str, method: str) -> None:
    assert client.request(method, path, headers={"origin": OWN}).status_code == 405


def test_pages_that_are_open_at_once_are_bounded(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wall, "MOST_CONNECTIONS", 1)
    with client.websocket_connect(STREAM, headers={"origin": OWN}):
        assert denied(client, origin=OWN).status_code == 503
    with client.websocket_connect(STREAM, headers={"origin": OWN}) as socket:
        socket.send_bytes(sent := rerun())
        assert socket.receive_bytes() == sent
