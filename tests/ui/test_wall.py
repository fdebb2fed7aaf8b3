"""The wall around an app of the tests' own: what it lets through, and what every answer carries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.types import Message, Receive
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit import config, runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from replicalab.library import Kind, Owner
from replicalab.ui.library import shelf
from replicalab.ui.wall import (
    LONGEST_QUERY,
    MIDDLEWARE,
    SECURE_COOKIE,
    VISITOR_COOKIE,
    away_seconds,
    begins_with,
    is_over_tls,
    messages,
    secret_shown,
    uploads,
    value_of,
    visitors,
    wall,
)
from replicalab.ui.wall.callers import Refusal
from tests.library.making import make_plan
from tests.ui.test_batches import until
from tests.ui.visitors import Browsers

HOST: Final = "localhost:8501"
OWN: Final = f"http://{HOST}"
STREAM: Final = f"ws://{HOST}/_stcore/stream"
TOKEN: Final = "A" * 43
VISITOR: Final = {"origin": OWN, "cookie": f"{VISITOR_COOKIE}={TOKEN}"}
NOBODY: Final = "nobody"


async def page(_: Request) -> Response:
    return HTMLResponse("<p>Scenarios</p>")


async def open_to_all(_: Request) -> Response:
    return PlainTextResponse("x", headers={"Access-Control-Allow-Origin": "*"})


async def broken(_: Request) -> Response:
    raise RuntimeError("a secret of the server")


async def put(request: Request) -> Response:
    """Hold a file as Streamlit does, if there is such a session."""
    session, file = request.path_params["session"], request.path_params["file"]
    if session == NOBODY:
        return Response(status_code=400)
    record = UploadedFileRec(file, "a.json", "application/json", await request.body())
    runtime.get_instance().uploaded_file_mgr.add_file(session, record)  # type: ignore[attr-defined]  # the one in memory
    return Response(status_code=204)


async def echo(socket: WebSocket) -> None:
    """Begin the session that is asked for, if one is, and send back what comes through."""
    await socket.accept()
    if session := socket.query_params.get("begins"):
        begun = ForwardMsg()
        begun.new_session.initialize.session_id = session
        await socket.send_bytes(begun.SerializeToString())
    try:
        while True:
            await socket.send_bytes(await socket.receive_bytes())
    except WebSocketDisconnect:
        return


@pytest.fixture
def client() -> Iterator[TestClient]:
    """A browser before the wall; behind it an app that answers everything."""
    routes = [
        Route("/broken", broken),
        Route("/all", open_to_all),
        Route("/_stcore/upload_file/{session}/{file}", put, methods=["PUT"]),
        Route("/{path:path}", page, methods=["GET", "POST", "PUT", "DELETE", "OPTIONS"]),
        WebSocketRoute("/_stcore/stream", echo),
    ]
    app = Starlette(routes=routes, middleware=list(MIDDLEWARE))
    with TestClient(app, base_url=OWN) as browser:
        yield browser


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


def test_page_hands_out_a_token_that_only_the_server_reads(client: TestClient) -> None:
    handed = client.get("/").headers["set-cookie"]
    name, _, rest = handed.partition("=")
    token, *flags = rest.split("; ")
    assert name == VISITOR_COOKIE
    assert token == value_of(token[: len(TOKEN)])
    assert set(flags) == {"Path=/", f"Max-Age={365 * 86_400}", "HttpOnly", "SameSite=Lax"}
    assert client.get("/").headers["set-cookie"] == handed, "it is the same, for a year from now"
    assert "set-cookie" not in client.get("/all", headers={"cookie": ""}).headers, "is no page"


NOT_MADE_HERE: Final = [
    "",
    "short",
    TOKEN,
    TOKEN + "A",
    TOKEN[:-1] + "!",
    "../" + TOKEN[:-3],
    f"{TOKEN}.",
    f"{TOKEN}.{'A' * 22}",
    f"{'B' * 43}.{value_of(TOKEN).partition('.')[2]}",
    f"{value_of(TOKEN)}A",
    value_of(TOKEN).replace(".", ".."),
]


@pytest.mark.parametrize("shown", NOT_MADE_HERE)
def test_token_that_was_not_made_here_is_replaced(client: TestClient, shown: str) -> None:
    cookie = {"cookie": f"{VISITOR_COOKIE}={shown}"}
    handed = handed_out(client.get("/", headers=cookie))
    assert handed == [f"{VISITOR_COOKIE}={value_of(secret_in(handed[0]))}"]
    assert secret_in(handed[0]) != TOKEN
    assert secret_shown({VISITOR_COOKIE: shown}, over_tls=False) == ""


def test_token_that_was_made_here_is_handed_out_again(client: TestClient) -> None:
    made = f"{VISITOR_COOKIE}={value_of(TOKEN)}"
    assert handed_out(client.get("/", headers={"cookie": made})) == [made]


def handed_out(answer: Any) -> list[str]:
    """Return the cookies that an answer hands out, each by name and value."""
    return [each.partition(";")[0] for each in answer.headers.get_list("set-cookie")]


def secret_in(cookie: str) -> str:
    """Return the secret of a cookie that is handed out."""
    return cookie.partition("=")[2].partition(".")[0]


def test_key_of_the_tokens_is_its_users_alone_and_outlives_the_server(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPLICALAB_DATA", str(tmp_path / "kept"))
    handed = handed_out(client.get("/"))
    key = tmp_path / "kept" / "visitors.key"
    assert key.stat().st_mode & 0o077 == 0
    assert [file.name for file in key.parent.iterdir()] == ["visitors.key"]
    visitors._key.cache_clear()  # noqa: SLF001 - as a server that is started anew has none
    assert handed_out(client.get("/")) == handed


@pytest.mark.parametrize("held", [b"", b"cut short"])
def test_key_that_was_cut_short_is_made_anew(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: bytes
) -> None:
    (tmp_path / "visitors.key").write_bytes(held)
    monkeypatch.setenv("REPLICALAB_DATA", str(tmp_path))
    handed = handed_out(client.get("/"))
    visitors._key.cache_clear()  # noqa: SLF001
    assert handed_out(client.get("/")) == handed
    assert (tmp_path / "visitors.key").stat().st_size == 32


def test_key_is_its_users_alone_as_a_copy_and_behind_a_link_too(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPLICALAB_DATA", str(tmp_path))
    there = tmp_path / "there" / "ours.key"
    (tmp_path / "visitors.key").symlink_to(there)
    handed = handed_out(client.get("/"))
    there.chmod(0o644)
    visitors._key.cache_clear()  # noqa: SLF001
    assert handed_out(client.get("/")) == handed
    assert there.stat().st_mode & 0o777 == 0o600


def test_visitor_begins_once_with_the_token_that_was_handed_out(client: TestClient) -> None:
    token = secret_in(handed_out(client.get("/"))[0])
    client.get("/")
    assert [begins_with(token), begins_with(token)] == [True, False]


def test_token_that_was_handed_out_a_while_ago_is_new_no_more(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = secret_in(handed_out(client.get("/"))[0])
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 11)
    assert not begins_with(token)


def test_visitor_who_brings_a_token_has_been_here_before(client: TestClient) -> None:
    client.get("/", headers={"cookie": f"{VISITOR_COOKIE}={value_of(TOKEN)}"})
    assert not begins_with(TOKEN)


def test_token_of_an_encrypted_page_can_be_planted_by_no_other_host(client: TestClient) -> None:
    handed = client.get(f"https://{HOST}/").headers["set-cookie"]
    assert handed.startswith(f"__Host-{VISITOR_COOKIE}=")
    assert "; Path=/;" in handed
    assert handed.endswith("; Secure")
    assert "Domain" not in handed


@pytest.fixture
def kept(browsers: Browsers) -> str:
    """The secret of a visitor of whom an earlier version kept a plan, and made no proof."""
    shelf.keep_beside(Owner.of(browsers.token), Kind.PLAN, "ours", make_plan())
    return browsers.token


@pytest.mark.parametrize("proof", ["", f".{'A' * 22}"])
def test_token_from_before_is_known_by_what_was_kept(
    client: TestClient, kept: str, proof: str
) -> None:
    shown = {"cookie": f"{VISITOR_COOKIE}={kept}{proof}"}
    assert handed_out(client.get("/", headers=shown)) == [f"{VISITOR_COOKIE}={value_of(kept)}"]


def test_work_from_before_is_found_over_tls_with_a_secret_that_nobody_else_has(
    client: TestClient, kept: str
) -> None:
    shown = {"cookie": f"{VISITOR_COOKIE}={kept}"}
    fresh = secret_in(handed_out(client.get(f"https://{HOST}/", headers=shown))[0])
    assert fresh != kept
    assert not begins_with(fresh)
    [entry] = shelf.shelf().entries(Owner.of(fresh))
    assert entry.name == "ours"
    assert not shelf.shelf().knows(Owner.of(kept))
    assert handed_out(client.get(f"https://{HOST}/", headers=shown)) == [], "a tab beside it"
    again = {"cookie": f"{shown['cookie']}; {SECURE_COOKIE}={value_of(fresh)}"}
    assert secret_in(handed_out(client.get(f"https://{HOST}/", headers=again))[0]) == fresh


def test_token_from_before_is_left_alone_while_the_library_does_not_answer(
    client: TestClient, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "_SHELF", shelf._Shelf())  # noqa: SLF001 - as a new process has
    monkeypatch.setenv("REPLICALAB_DATABASE_URL", "nonsense")
    shown = {"cookie": f"{VISITOR_COOKIE}={kept}"}
    assert handed_out(client.get("/", headers=shown)) == []


def test_planted_token_is_not_adopted_over_tls(client: TestClient) -> None:
    """Made here, but for another: under a plain name any neighbour may have planted it."""
    planted = {"cookie": f"{VISITOR_COOKIE}={value_of(TOKEN)}"}
    fresh, gone = handed_out(client.get(f"https://{HOST}/", headers=planted))
    assert fresh.startswith(f"{SECURE_COOKIE}=")
    assert secret_in(fresh) != TOKEN
    assert gone == f"{VISITOR_COOKIE}="
    assert secret_shown({VISITOR_COOKIE: value_of(TOKEN)}, over_tls=True) == ""
    both = {VISITOR_COOKIE: value_of(TOKEN), SECURE_COOKIE: fresh.partition("=")[2]}
    assert secret_shown(both, over_tls=True) == secret_in(fresh)


@pytest.mark.parametrize(
    ("headers", "scheme", "over_tls"),
    [
        ({"host": "lab.example"}, "https", True),
        ({"host": "lab.example"}, "wss", True),
        ({"host": "lab.example"}, "http", False),
        # A proxy that tells nothing: the browser says so only over TLS.
        ({"host": "lab.example", "sec-fetch-site": "none"}, "http", True),
        ({"host": "lab.example:8501", "sec-fetch-site": "same-origin"}, "http", True),
        ({"host": "localhost.evil.example", "sec-fetch-site": "none"}, "http", True),
        # To this machine's own names it says so without, too.
        ({"host": "localhost:8501", "sec-fetch-site": "none"}, "http", False),
        ({"host": "127.0.0.1:8501", "sec-fetch-site": "none"}, "http", False),
        ({"host": "[::1]:8501", "sec-fetch-site": "none"}, "http", False),
        ({"host": "lab.localhost", "sec-fetch-site": "none"}, "http", False),
        # The origin is the browser's word for what its visitor sees.
        ({"host": "lab.example", "origin": "https://lab.example"}, "ws", True),
        ({"host": "localhost:1", "origin": "http://localhost:1"}, "wss", False),
    ],
)
def test_tls_is_what_the_browser_has(headers: dict[str, str], scheme: str, over_tls: bool) -> None:
    assert is_over_tls(headers, scheme) is over_tls


def test_header_that_anybody_may_write_makes_no_tls(client: TestClient) -> None:
    claimed = {"x-forwarded-proto": "https", "forwarded": "proto=https"}
    assert handed_out(client.get("/", headers=claimed))[0].startswith(f"{VISITOR_COOKIE}=")


# --- who may ask for what ---------------------------------------------------------------------

FOREIGN_HOSTS: Final = [
    "evil.example",
    "evil.example:8501",
    "localhost.evil.example",
    "evil.localhost",
    "localhost.",
    "LOCALHOST",
    "localhost:8501:8501",
    "localhost:",
    "localhost:999999",
    "someone@localhost",
    "localhost/x",
    "localhost, evil.example",
    "2130706433",
    "127.1",
    "[::1]",
    "",
]


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_foreign_host_is_refused_with_a_remedy(client: TestClient, host: str) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 400
    assert "server.allowedHosts" in answer.text
    with pytest.raises(WebSocketDenialResponse) as denied:
        client.websocket_connect(STREAM, headers={"host": host, "origin": OWN}).__enter__()
    assert denied.value.status_code == 400


@pytest.mark.parametrize("host", ["localhost", "localhost:9", "127.0.0.1", "127.0.0.1:65535"])
def test_listed_host_is_answered_at_any_port(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


def test_no_list_of_hosts_means_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "get_option", lambda _: [])
    client = TestClient(wall.Wall(Starlette(routes=[Route("/", page)])), base_url=OWN)
    assert client.get("/", headers={"host": "[::1]:8501"}).status_code == 200
    assert client.get("/", headers={"host": "lab.example"}).status_code == 400


FOREIGN_ORIGINS: Final = [
    "http://evil.example",
    "http://localhost",
    "http://localhost:80",
    "http://localhost:8502",
    "http://127.0.0.1:8501",
    "http://localhost:8501/",
    "http://localhost.:8501",
    "http://LOCALHOST:8501",
    "http://localhost:08501",
    "http://someone@localhost:8501",
    "http://localhost:8501@evil.example",
    "http://localhost:8501.evil.example",
    "ws://localhost:8501",
    "file://localhost:8501",
    "//localhost:8501",
    "localhost:8501",
    "null",
    "",
]


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_foreign_origin_is_refused(client: TestClient, origin: str) -> None:
    with pytest.raises(WebSocketDenialResponse) as denied:
        client.websocket_connect(STREAM, headers={"origin": origin}).__enter__()
    assert denied.value.status_code == 403
    assert denied.value.headers["x-frame-options"] == "DENY"
    path = "/_stcore/upload_file/s/f"
    for ask in (client.get, client.put, client.delete, client.options):
        assert ask(path, headers={"origin": origin}).status_code == 403


def test_web_socket_without_an_origin_is_refused(client: TestClient) -> None:
    with pytest.raises(WebSocketDenialResponse) as denied:
        client.websocket_connect(STREAM).__enter__()
    assert denied.value.status_code == 403


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


@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/metrics",
        "/_stcore/metrics/",
        "/%5fstcore/metrics",
        "/Protocol/_stcore/metrics",
        "/_stcore/script-health-check",
        "/_stcore/agent/openapi.json",
        "/_stcore/agent/interact",
        "/_stcore/bidi-components/x/y.js",
        "/_stcore/health/x",
        "/_stcore/",
        "/component/x/index.html",
        "/auth/login",
        "/oauth2callback",
        "/static/%00.js",
        "/a%00b",
        "/a%0Ab",
        "/a%1B%5B31m",
        "/_stcore/upload_file/s/%00",
    ],
)
def test_address_that_no_page_needs_is_closed(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_address_that_is_too_long_is_refused_with_a_remedy(client: TestClient) -> None:
    assert client.get(f"/?{'x' * LONGEST_QUERY}").status_code == 200
    answer = client.get(f"/?{'x' * (LONGEST_QUERY + 1)}")
    assert answer.status_code == 414
    assert "more than the 14,000 characters" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    address = f"{STREAM}?{'x' * (LONGEST_QUERY + 1)}"
    with pytest.raises(WebSocketDenialResponse) as denied:
        client.websocket_connect(address, headers={"origin": OWN}).__enter__()
    assert denied.value.status_code == 414


@pytest.mark.parametrize("path", ["/", "/Protocol", "/_stcore/health", "/static/js/index.js"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_page_is_only_read(client: TestClient, path: str, method: str) -> None:
    assert client.request(method, path, headers={"origin": OWN}).status_code == 405


# --- what a browser says ----------------------------------------------------------------------


def rerun(widgets: int = 1) -> bytes:
    message = BackMsg()
    for number in range(widgets):
        state = message.rerun_script.widget_states.widgets.add()
        state.id, state.int_value = f"widget {number}", number
    return bytes(message.SerializeToString())


def files(number: int) -> bytes:
    message = BackMsg()
    message.file_urls_request.file_names.extend(["a.json"] * number)
    return bytes(message.SerializeToString())


def told(**texts: str) -> bytes:
    message = BackMsg()
    for name, text in texts.items():
        setattr(message.rerun_script, name, text)
    return bytes(message.SerializeToString())


def hashes(number: int) -> bytes:
    message = BackMsg()
    message.rerun_script.cached_message_hashes.extend(["0"] * number)
    return bytes(message.SerializeToString())


def switched(kind: str) -> bytes:
    message = BackMsg()
    setattr(message, kind, True)
    return bytes(message.SerializeToString())


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


UNWANTED: Final = {
    **{name: switched(name) for name in BackMsg.DESCRIPTOR.fields_by_name if is_switch(name)},
    "an operation": operation(),
    "an operation for those who develop": operation("install_skills"),
    "a piece of a table": operation("dataframe_chunk"),
    "a file's long name": operation("deferred_file", "x" * (messages.LONGEST_NAME + 1)),
    "many widgets": rerun(messages.MOST_WIDGETS + 1),
    "many hashes": hashes(messages.MOST_WIDGETS + 1),
    "many files": files(messages.MOST_FILES + 1),
    "a page's long name": told(page_name="x" * (messages.LONGEST_NAME + 1)),
    "a part that forges a line of the log": told(fragment_id="x\n2026 ERROR root: admin logged in"),
    "a colour for the log": told(page_script_hash="\x1b[31m"),
    "a long address": told(query_string="x" * (LONGEST_QUERY + 1)),
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
    "stop": switched("stop_script"),
    "names": told(page_name="Trade-offs", query_string="x" * LONGEST_QUERY),
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
        flood = messages.Messages(receive)
        passed = 0
        while (await flood.receive())["type"] == "websocket.receive":
            passed += 1
        return passed

    with ThreadPoolExecutor(1) as thread:  # a browser test may have left a loop in this one
        assert thread.submit(asyncio.run, passed_on()).result() == messages.MOST_WAITED
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
        browser = messages.Messages(receive)
        for _ in range(3):
            await browser.receive()

    monkeypatch.setattr(asyncio, "sleep", rest)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, read()).result()
    assert len(rests) == held_back


def test_pages_that_are_open_at_once_are_bounded(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wall, "MOST_CONNECTIONS", 1)
    with client.websocket_connect(STREAM, headers={"origin": OWN}):
        with pytest.raises(WebSocketDenialResponse) as denied:
            client.websocket_connect(STREAM, headers={"origin": OWN}).__enter__()
        assert denied.value.status_code == 503
    with client.websocket_connect(STREAM, headers={"origin": OWN}) as socket:
        socket.send_bytes(sent := rerun())
        assert socket.receive_bytes() == sent


def test_visitor_is_away_once_their_last_page_is_closed(client: TestClient) -> None:
    secret = "C" * 43
    shown = {"origin": OWN, "cookie": f"{VISITOR_COOKIE}={value_of(secret)}"}
    assert away_seconds(secret) == inf
    with client.websocket_connect(STREAM, headers=shown):
        with client.websocket_connect(STREAM, headers=shown):
            assert away_seconds(secret) == 0
        until(lambda: visitors._OPEN[secret] == 1)  # noqa: SLF001
        assert away_seconds(secret) == 0
    until(lambda: 0 < away_seconds(secret) < inf)


# --- files ------------------------------------------------------------------------------------

Held = Callable[[], dict[tuple[str, str], int]]


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    """Return the bytes of each file that is held, by session and file."""
    manager = MemoryUploadedFileManager("/_stcore/upload_file")
    instance = SimpleNamespace(uploaded_file_mgr=manager)
    monkeypatch.setattr(runtime, "get_instance", lambda: instance)
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
    last = {("one", name) for name in names[-uploads.MOST_FILES :]}
    assert held().keys() == last | {("another", "file")}


def test_file_of_the_same_name_is_one_file(client: TestClient, held: Held) -> None:
    for name in ("first", "second", "first"):
        hand_over(client, "one", name)
    assert held().keys() == {("one", "first"), ("one", "second")}


def test_oldest_files_of_all_give_way_to_the_newest(
    client: TestClient, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_BYTES", 10_000)
    for number in range(40):
        assert hand_over(client, f"session{number}", "file", 3000) == 204
        assert sum(held().values()) <= uploads.MOST_BYTES
    assert held().keys() == {(f"session{number}", "file") for number in (37, 38, 39)}


def test_file_that_is_refused_behind_the_wall_takes_no_place(
    client: TestClient, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_BYTES", 1500)
    hand_over(client, "one", "file")
    assert hand_over(client, NOBODY, "file") == 400
    assert held().keys() == {("one", "file")}


def test_more_than_is_ever_held_is_refused_with_a_reason(
    client: TestClient, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_BYTES", 999)
    assert hand_over(client, "one", "file") == 503
    assert not held()


def test_file_counts_by_what_has_come_of_it(
    client: TestClient, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_BYTES", 2500)
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
    monkeypatch.setattr(uploads, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(uploads, "MOST_BYTES", 1500)
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
        found = uploads.Uploads(read)
        takes = [found.take(scope, silent, send) for _ in range(16)]
        waiting = asyncio.gather(*takes)
        await asyncio.sleep(0)
        refusal = found.refused()
        await waiting
        return refusal

    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, wait_for_sixteen()).result() is None
    assert statuses.count(503) == 16
    assert not held()
