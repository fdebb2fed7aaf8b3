"""Who asks, by a header of a trusted proxy; and a sign-in that is set up as it cannot be."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket
from streamlit.runtime import secrets

from replicalab.errors import LibraryStorageError
from replicalab.people import PROXY, Person, unpacked
from replicalab.server import gate, internals, signing_in
from replicalab.server.running import gate_of
from replicalab.server.visitor import PERSON_MARK
from replicalab.server.wall import Wall
from replicalab.ui import startup
from replicalab.ui.library import shelf
from tests.server.asking import OWN, STREAM, awaited
from tests.server.test_wall import denied
from tests.ui.visitors import Browsers

PROXIED: Final = {
    gate.PERSON_HEADER: "X-Forwarded-User",
    gate.TRUSTED_PROXY: "10.0.0.5, 10.1.0.0/16",
    "FORWARDED_ALLOW_IPS": "10.0.0.5",
}
HOSTS: Final = frozenset({"localhost", "lab.example.org"})
ANN: Final = {"x-forwarded-user": "ann"}
SOCKET: Final = {"origin": OWN, **ANN}
FROM_PROXY: Final = "10.0.0.5", 4000


class From:
    """ASGI middleware for what comes from an address, as the server before the wall tells it."""

    def __init__(self, app: ASGIApp, address: tuple[str, int] | None) -> None:
        self._app, self._address = app, address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, "client": self._address}, receive, send)


async def page(_: Any) -> PlainTextResponse:
    return PlainTextResponse("page")


async def whom(socket: WebSocket) -> None:
    """Tell whom the wall names."""
    await socket.accept()
    await socket.send_text(",".join(socket.headers.getlist(PERSON_MARK)))
    await socket.close()


@contextmanager
def behind(
    address: tuple[str, int] | None, environment: dict[str, str] | None = None
) -> Iterator[TestClient]:
    asks = gate_of(startup, HOSTS, environment or PROXIED)
    wall = Middleware(Wall, keeper=startup, gate=asks)
    routes = [WebSocketRoute("/_stcore/stream", whom), Route("/{path:path}", page)]
    app = Starlette(routes=routes, middleware=[Middleware(From, address=address), wall])
    with TestClient(app, base_url=OWN) as client:
        yield client


def told(client: TestClient, **headers: str) -> str:
    """Return whom a page is told of that asks with these headers."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with client.websocket_connect(STREAM, headers={**SOCKET, **named}) as socket:
        return socket.receive_text()


@pytest.mark.parametrize("address", [FROM_PROXY, ("10.1.2.3", 4000), ("192.0.2.7", 0)])
def test_person_is_whom_the_proxy_names(browsers: Browsers, address: tuple[str, int]) -> None:
    """Without a port it is the browser's address, in place of the proxy's who tells it."""
    assert browsers.token
    with behind(address, PROXIED | {gate.GROUPS_HEADER: "X-Groups"}) as client:
        assert client.get("/", headers=ANN).text == "page"
        person, rights = unpacked(told(client, x_groups="staff, lab"))
    assert person == Person(PROXY, "ann", groups=("staff", "lab"))
    assert len(rights) == 3
    [known] = shelf.shelf().people.known()
    assert known.person == person


@pytest.mark.parametrize(
    "address", [("127.0.0.1", 4000), ("192.0.2.7", 4000), ("10.0.0.50", 4000), ("proxy", 1), None]
)
def test_nobody_else_is_believed(address: tuple[str, int] | None) -> None:
    with behind(address) as client:
        for headers in (ANN, {}, ANN | {"x-forwarded-for": "10.0.0.5"}):
            answer = client.get("/", headers=headers)
            assert (answer.status_code, "through its proxy" in answer.text) == (403, True)
        assert denied(client, **SOCKET).status_code == 403
        assert client.get("/_stcore/health").status_code == 200
        assert client.get("/Protocol/ready").status_code == 403


@pytest.mark.parametrize(
    "header",
    [{}, {"x-forwarded-user": ""}, {"x-forwarded-user": " "}, {"x-forwarded-user": "a" * 256}],
)
def test_proxy_that_names_nobody_lets_nobody_in(header: dict[str, str]) -> None:
    with behind(FROM_PROXY) as client:
        answer = client.get("/", headers=header)
        assert (answer.status_code, "names nobody" in answer.text) == (401, True)
        assert denied(client, origin=OWN, **header).status_code == 401


def test_person_is_noted_once_an_hour(browsers: Browsers, monkeypatch: pytest.MonkeyPatch) -> None:
    assert browsers.token
    with behind(FROM_PROXY) as client:
        told(client)
        told(client)
        assert len(shelf.shelf().people.events(9)) == 1
        now = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: now + 3601)
        told(client)
    assert len(shelf.shelf().people.events(9)) == 2


def test_name_that_stands_twice_names_nobody() -> None:
    """As where a proxy adds its header to that of its visitor."""
    twice = [("x-forwarded-user", "ann"), ("x-forwarded-user", "root")]
    with behind(FROM_PROXY) as client:
        assert client.get("/", headers=twice).status_code == 401


def test_page_is_told_by_the_wall_alone(browsers: Browsers) -> None:
    assert browsers.token
    with behind(FROM_PROXY) as client:
        person, _ = unpacked(told(client, x_replicalab_person="nobody"))
        assert person.subject == "ann"
    with behind(FROM_PROXY, {"PATH": ""}) as client:
        assert told(client, x_replicalab_person="nobody") == "", "nobody is asked who they are"


def test_nobody_is_known_while_the_library_does_not_answer(
    browsers: Browsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert browsers.token

    def fail(_: Person) -> None:
        raise LibraryStorageError("/srv/library.db is gone")

    monkeypatch.setattr(startup, "see", fail)
    with behind(FROM_PROXY) as client:
        answer = denied(client, **SOCKET)
        assert (answer.status_code, answer.text) == (503, gate.NOT_TOLD.reason)


class Ending:
    """What the library says of a token, one answer after the other; the last stays."""

    def __init__(self, *answers: Person | LibraryStorageError | None) -> None:
        self.left = list(answers)

    def signed_in(self, _: str, /) -> Person | None:
        answer = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        if isinstance(answer, LibraryStorageError):
            raise answer
        return answer


def test_page_is_closed_once_its_sign_in_is_over_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where another server ended it, or its time is up; a library that rests ends nothing."""
    monkeypatch.setattr(signing_in, "_CHECKED_EACH", 0.01)
    person = Person("https://issuer.example", "ann")
    keeper = Ending(person, LibraryStorageError("it rests"), person, None)
    asks = set_up(AUTH, {}, keeper)
    awaited(asyncio.wait_for(asks.ended(gate.Known(person, "token")), 20))
    assert keeper.left == [None]
    stays = set_up(AUTH, {}, Ending(person))
    with pytest.raises(TimeoutError):
        awaited(asyncio.wait_for(stays.ended(gate.Known(person, "token")), 0.2))


# --- what cannot be ---------------------------------------------------------------------------

AUTH: Final = {
    "redirect_uri": "https://lab.example.org/oauth2callback",
    "cookie_secret": "c" * 32,
    "client_id": "replicalab",
    "client_secret": "secret",
    "server_metadata_url": "https://issuer.example/.well-known/openid-configuration",
}


def set_up(auth: dict[str, str] | None, environment: dict[str, str], keeper: Any = startup) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(internals, "auth_settings", lambda: auth)
        return gate_of(keeper, HOSTS, environment)


def test_sign_in_that_is_set_up_asks_who_somebody_is() -> None:
    assert set_up(None, {}).is_open
    assert not set_up(AUTH, {}).is_open
    assert not set_up(None, PROXIED).is_open


@pytest.mark.parametrize(
    ("changed", "environment", "said"),
    [
        ({}, PROXIED, "not by both"),
        ({"client_secret": ""}, {}, "lacks client_secret"),
        ({"client_id": "", "cookie_secret": ""}, {}, "lacks cookie_secret and client_id"),
        ({"cookie_secret": "c" * 31}, {}, "less than 32 characters"),
        ({"redirect_uri": "https://lab.example.org/"}, {}, "does not end at the path"),
        ({"redirect_uri": "https://evil.example/oauth2callback"}, {}, "'evil.example'"),
        ({"redirect_uri": "http://lab.example.org/oauth2callback"}, {}, "no https address"),
        ({"server_metadata_url": "http://issuer.example/x"}, {}, "no https address"),
        ({"server_metadata_url": "issuer.example"}, {}, "no https address"),
        *(({}, {"REPLICALAB_SIGN_IN_HOURS": each}, "hours") for each in ("x", "0", "-1", "inf")),
    ],
)
def test_sign_in_that_cannot_be_ends_the_start_with_a_sentence(
    changed: dict[str, str], environment: dict[str, str], said: str
) -> None:
    with pytest.raises(SystemExit, match=f"does not start: .*{said}"):
        set_up(AUTH | changed, environment)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({gate.TRUSTED_PROXY: ""}, "REPLICALAB_TRUSTED_PROXY is missing"),
        ({gate.PERSON_HEADER: ""}, "REPLICALAB_PERSON_HEADER is missing"),
        ({gate.TRUSTED_PROXY: "nginx"}, "no address"),
        ({gate.TRUSTED_PROXY: "10.0.0.5/8"}, "no address"),
        ({"FORWARDED_ALLOW_IPS": ""}, "127.0.0.1/32 and ::1/128 may say"),
        ({"FORWARDED_ALLOW_IPS": "10.0.0.0/8"}, "10.0.0.0/8 may say"),
        ({"FORWARDED_ALLOW_IPS": "*"}, "no address"),
    ],
)
def test_proxy_that_cannot_be_told_apart_ends_the_start(changed: dict[str, str], said: str) -> None:
    with pytest.raises(SystemExit, match=f"does not start: .*{said}"):
        set_up(None, PROXIED | changed)


def test_proxy_on_this_machine_has_all_of_its_addresses() -> None:
    local = {gate.PERSON_HEADER: "X-Forwarded-User", gate.TRUSTED_PROXY: "127.0.0.1"}
    with behind(("::1", 4000), local) as client:
        assert client.get("/", headers=ANN).status_code == 200


def test_sign_in_without_its_package_ends_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(internals, "find_spec", lambda _: None)
    with pytest.raises(SystemExit, match=r"pip install .* requirements-signin.txt"):
        set_up(AUTH, {})


@pytest.mark.parametrize("text", [None, "[auth", "[auth]\nclient_id = 'x'\n[auth]\n"])
def test_secrets_that_cannot_be_read_let_nobody_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    file = tmp_path / "secrets.toml"
    if text is not None:
        file.write_text(text)
    use_secrets(monkeypatch, file)
    monkeypatch.setenv("STREAMLIT_SECRETS_FILES", str(file))
    with pytest.raises(SystemExit, match=r"secrets.toml is not there, cannot be read"):
        internals.auth_settings()


def test_secrets_of_something_else_ask_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_secrets(monkeypatch, tmp_path / "secrets.toml")
    assert internals.auth_settings() is None, "there is no such file, and none is named"
    (tmp_path / "secrets.toml").write_text("[another]\nkey = 1\n")
    use_secrets(monkeypatch, tmp_path / "secrets.toml")
    assert internals.auth_settings() is None


def use_secrets(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    asked: Callable[[str], object] = st.get_option

    def option(name: str) -> object:
        return [str(file)] if name == "secrets.files" else asked(name)

    for module in (st, secrets.config):
        monkeypatch.setattr(module, "get_option", option)
    monkeypatch.setattr(st, "secrets", secrets.Secrets())
