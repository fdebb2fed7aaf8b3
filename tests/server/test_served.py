"""The wall of the app as it is served: every real answer, web socket and file passes it."""

from __future__ import annotations

import base64
import hashlib
import re
import socket
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPResponse
from typing import Final

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from replicalab.server import LONGEST_QUERY
from replicalab.server.visitor import VISITOR_COOKIE
from tests.browser.driving import APP, HOST, ROOT, AppServer

pytestmark = pytest.mark.xdist_group("served")  # one server for all of them

MIB: Final = 2**20
SEGMENT: Final = 1460
"""Bytes that a network carries at once."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    with AppServer(APP, tmp_path_factory.mktemp("wall") / "streamlit.log") as running:
        yield running


def ask(
    server: AppServer, path: str, method: str = "GET", body: bytes = b"", **headers: str
) -> tuple[HTTPResponse, bytes]:
    with closing(HTTPConnection(HOST, server.port, timeout=30)) as connection:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body or None, named)
        answer = connection.getresponse()
        return answer, answer.read()


def visit(
    server: AppServer, origin: str = "", visitor: str = "", joins: str = ""
) -> ClientConnection:
    """Connect as the front end does: behind the protocol stand its token and its session."""
    protocols = ["streamlit", "token", joins] if joins else ["streamlit"]
    return connect(
        f"ws://{HOST}:{server.port}/_stcore/stream",
        origin=Origin(origin or server.url),
        additional_headers={"Cookie": f"{VISITOR_COOKIE}={visitor}"},
        subprotocols=[Subprotocol(protocol) for protocol in protocols],
        max_size=None,
    )


def run(socket: ClientConnection) -> str:
    """Run the front door and return the session's name."""
    message, session = BackMsg(), ""
    message.rerun_script.page_name = ""
    socket.send(message.SerializeToString())
    while True:
        received = socket.recv(timeout=30)
        assert isinstance(received, bytes)
        answer = ForwardMsg.FromString(received)
        session = answer.new_session.initialize.session_id or session
        if answer.WhichOneof("type") == "script_finished":
            return session


PATHS: Final = {
    200: "/ /Protocol /favicon.png /_stcore/health /_stcore/host-config",
    301: "/Protocol/",
    400: "//evil.example /..%2f..%2fetc/passwd",
    404: "/_stcore/metrics /_stcore/agent/openapi.json /media/none.png",
    405: "/_stcore/upload_file/session/file",
}


@pytest.mark.parametrize("status", PATHS)
def test_every_answer_carries_the_policy(server: AppServer, status: int) -> None:
    for path in PATHS[status].split():
        answer, _ = ask(server, path, Origin=server.url)
        assert answer.status == status, path
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["access-control-allow-origin"] is None


def test_icon_is_ours(server: AppServer) -> None:
    answer, body = ask(server, "/favicon.png")
    assert answer.headers["content-type"] == "image/png"
    assert body == (ROOT / "replicalab/server/icon.png").read_bytes()


def test_page_runs_its_own_scripts_alone(server: AppServer) -> None:
    answer, body = ask(server, "/")
    [script] = re.findall(rb"<script>(.*?)</script>", body, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
    assert f"script-src 'self' 'wasm-unsafe-eval' blob: 'sha256-{digest}';" in str(
        answer.headers["content-security-policy"]
    )


@pytest.mark.parametrize(("longer_by", "status"), [(0, 200), (1, 414)])
def test_longest_address_comes_through_in_pieces_of_a_network_too(
    server: AppServer, longer_by: int, status: int
) -> None:
    """As a browser asks, whose other headers take some room: a piece at a time."""
    query = "x" * (LONGEST_QUERY + longer_by)
    headers = f"Host: {HOST}:{server.port}\r\nUser-Agent: {'x' * 1500}\r\nConnection: close"
    asked = f"GET /Protocol?{query} HTTP/1.1\r\n{headers}\r\n\r\n".encode()
    with socket.create_connection((HOST, server.port), timeout=30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(asked), SEGMENT):
            connection.sendall(asked[start : start + SEGMENT])
            time.sleep(0.002)
        with HTTPResponse(connection) as answer:
            answer.begin()
            body = answer.read()
    assert answer.status == status
    assert "default-src 'none'" in str(answer.headers["content-security-policy"])
    assert (b"copy the link again" in body) is (status == 414)


def test_page_of_a_stranger_gets_no_answer_and_no_web_socket(server: AppServer) -> None:
    answer, body = ask(server, "/", Host="evil.example")
    assert answer.status == 400
    assert b"server.allowedHosts" in body
    with pytest.raises(InvalidStatus) as refused:
        visit(server, origin=f"http://localhost:{server.port}")
    assert refused.value.response.status_code == 403
    assert "x-frame-options" in refused.value.response.headers


def test_web_socket_of_the_page_itself_runs_it(server: AppServer) -> None:
    with visit(server) as socket:
        assert run(socket)
        assert not socket.protocol.extensions, "what is packed small could be large"


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [("A" * 43, "A" * 43, True), ("A" * 43, "B" * 43, False), ("", "", False)],
)
def test_session_is_joined_again_by_its_own_visitor_alone(
    server: AppServer, first: str, second: str, joined: bool
) -> None:
    with visit(server, visitor=first) as socket:
        session = run(socket)
    with visit(server, visitor=second, joins=session) as socket:
        assert (run(socket) == session) is joined


def test_message_that_is_too_large_ends_the_web_socket(server: AppServer) -> None:
    with visit(server) as socket:
        run(socket)
        # Its head alone: an answer that crosses three megabytes on their way may be lost.
        socket.socket.sendall(b"\x82\xff" + (3 * MIB).to_bytes(8, "big") + bytes(4))
        with suppress(ConnectionClosed):
            while socket.recv(timeout=30):
                pass
        assert socket.close_code == 1009


def test_thirty_files_of_a_session_do_not_pile_up(server: AppServer) -> None:
    health, _ = ask(server, "/_stcore/health")
    token = str(health.headers["set-cookie"]).split(";")[0].split("=", 1)[1]
    content = b"x" * int(5.5 * MIB)
    begun = b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
    with visit(server) as socket:
        session = run(socket)
        before = server.resident_mib
        for number in range(30):
            answer, _ = ask(
                server,
                f"/_stcore/upload_file/{session}/file{number}",
                "PUT",
                begun + content + b"\r\n--b--\r\n",
                Content_Type="multipart/form-data; boundary=b",
                Cookie=f"_streamlit_xsrf={token}",
                X_Xsrftoken=token,
                Origin=server.url,
            )
            assert answer.status == 204
        assert server.resident_mib - before < 100, "of 165 MiB"
