"""A browser before the wall, and behind it an app of the tests' own that answers everything."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit import runtime
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from replicalab.server.wall import Wall
from replicalab.ui import startup
from tests.server.asking import NOBODY, OWN
from tests.ui.conftest import browsers  # noqa: F401 - the fixture, for what the library knows


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
    runtime.Runtime.instance().uploaded_file_mgr.add_file(session, record)  # type: ignore[attr-defined]  # the one in memory
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
    app = Starlette(routes=routes, middleware=[Middleware(Wall, keeper=startup)])
    with TestClient(app, base_url=OWN) as browser:
        yield browser
