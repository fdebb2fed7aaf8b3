"""The app as it is served: its headers, its web sockets and its files."""

import base64
import hashlib
import re
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPResponse
from typing import Final

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from tests.browser.driving import APP, HOST, AppServer

pytestmark = pytest.mark.xdist_group("served")  # one server for all of them

MIB: Final = 2**20


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    with AppServer(APP, tmp_path_factory.mktemp("served") / "streamlit.log") as running:
        yield running


def ask(
    server: AppServer, path: str, method: str = "GET", body: bytes = b"", **headers: str
) -> tuple[HTTPResponse, bytes]:
    with closing(HTTPConnection(HOST, server.port, timeout=30)) as connection:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body or None, named)
        answer = connection.getresponse()
        return answer, answer.read()


def visit(server: AppServer, origin: str = "") -> ClientConnection:
    return connect(
        f"ws://{HOST}:{server.port}/_stcore/stream",
        origin=Origin(origin or server.url),
        subprotocols=[Subprotocol("streamlit")],
        max_size=None,
    )


def run(socket: ClientConnection) -> str:
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


@pytest.mark.parametrize(
    ("status", "paths"),
    [
        (200, "/ /Protocol /favicon.png /ready /_stcore/health /_stcore/host-config"),
        (301, "/Protocol/"),
        (400, "//evil.example /..%2f..%2fetc/passwd"),
        (404, "/media/none.png"),
    ],
)
def test_every_answer_carries_the_policy(server: AppServer, status: int, paths: str) -> None:
    for path in paths.split():
        answer, _ = ask(server, path)
        assert answer.status == status, path
        assert "default-src 'none'" in str(answer.headers["content-security-policy"]), path
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_policy_allows_the_pages_own_script(server: AppServer) -> None:
    answer, body = ask(server, "/")
    [script] = re.findall(rb"<script>(.*?)</script>", body, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
    policy = str(answer.headers["content-security-policy"])
    assert f"script-src 'self' 'wasm-unsafe-eval' 'sha256-{digest}';" in policy


def test_too_large_message_ends_the_web_socket(server: AppServer) -> None:
    with visit(server) as socket:
        run(socket)
        # Its head alone: an answer that crosses three megabytes on their way may be lost.
        socket.socket.sendall(b"\x82\xff" + (3 * MIB).to_bytes(8, "big") + bytes(4))
        with suppress(ConnectionClosed):
            while socket.recv(timeout=30):
                pass
        assert socket.close_code == 1009


@pytest.mark.parametrize(("mib", "status"), [(5, 204), (7, 413)])
def test_upload_has_a_size_limit(server: AppServer, mib: int, status: int) -> None:
    health, _ = ask(server, "/_stcore/health")
    token = str(health.headers["set-cookie"]).split(";")[0].split("=", 1)[1]
    begun = b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
    with visit(server) as socket:
        answer, _ = ask(
            server,
            f"/_stcore/upload_file/{run(socket)}/file",
            "PUT",
            begun + bytes(mib * MIB) + b"\r\n--b--\r\n",
            Content_Type="multipart/form-data; boundary=b",
            Cookie=f"_streamlit_xsrf={token}",
            X_Xsrftoken=token,
            Origin=server.url,
        )
        assert answer.status == status
