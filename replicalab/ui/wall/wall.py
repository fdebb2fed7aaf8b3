"""The wall itself: every request and message passes it, and every answer."""

from __future__ import annotations

import logging
from typing import Final

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from replicalab.ui.wall.answers import dressed, fixed_headers
from replicalab.ui.wall.bursts import Bursts
from replicalab.ui.wall.callers import Refusal, allowed_hosts, is_for_a_session, is_upload, refused
from replicalab.ui.wall.messages import Messages
from replicalab.ui.wall.sessions import Sessions
from replicalab.ui.wall.uploads import Uploads
from replicalab.ui.wall.visitors import is_here

MOST_CONNECTIONS: Final = 300
"""Pages that are open at once."""

_LOG: Final = logging.getLogger(__name__)


class Wall:
    """ASGI middleware that refuses what the pages have no use for, and dresses every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._uploads = Uploads(app)
        self._sessions = Sessions()
        self._fixed = fixed_headers()
        self._hosts = allowed_hosts()
        self._connections = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or say why not."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        send = dressed(scope, send, self._fixed)
        refusal = refused(scope, self._hosts) or self._refused_for_now(scope)
        if refusal:
            await PlainTextResponse(refusal.reason, refusal.status)(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._connect(scope, receive, send)
        elif is_upload(scope):
            await self._uploads.take(scope, receive, send)
        else:
            await self._answer(scope, receive, send)

    def _refused_for_now(self, scope: Scope) -> Refusal | None:
        if scope["type"] == "websocket" and self._connections >= MOST_CONNECTIONS:
            return Refusal(503, "Too many pages are open here; close some, or try again later.")
        if is_for_a_session(scope) and not self._sessions.owns(scope):
            return Refusal(403, "No page of yours waits for this file: reload it and try again.")
        return self._uploads.refused() if is_upload(scope) else None

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._connections += 1
        bursts = Bursts(send)
        try:
            noted = self._sessions.noting(scope, bursts.send)
            with is_here(HTTPConnection(scope)):
                await self._app(self._sessions.admit(scope), Messages(receive).receive, noted)
        finally:
            bursts.close()
            self._connections -= 1

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; what breaks is told in the log, and here as an answer like others."""
        begun = False

        async def note_and_send(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, note_and_send)
        except Exception:
            if begun:
                raise
            _LOG.exception("A request could not be answered: %s", scope["path"])
            failure = PlainTextResponse("Something went wrong here; the log says what.", 500)
            await failure(scope, receive, send)
