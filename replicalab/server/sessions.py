"""Whose a session is, and how many of the files that were handed over to it are held.

Streamlit lets in whoever names a session, and its name stands in the addresses of its uploads.
"""

import asyncio
from collections import Counter, OrderedDict
from typing import Final, NamedTuple

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from replicalab.server import internals
from replicalab.server.visitor import SECURE_COOKIE, VISITOR_COOKIE

MOST_KNOWN: Final = 5_000
"""Sessions whose visitor is remembered; the server forgets a closed one after a minute."""

MOST_FILES: Final = 2
"""Of a session: a page reads a file in the moment in which it comes, so it needs no older one."""
MOST_BYTES: Final = 96 * 2**20
"""Of all visitors together: so much is held, and so much may be on its way."""
PATIENCE_SECONDS: Final = 60.0
"""A file has come by then, or is given up."""

_PROTOCOLS: Final = "sec-websocket-protocol"
_BUSY: Final = "This file, or too many others, did not come here in time; try again in a minute."
_CLOSED: Final = "No file can be opened here: this server's Streamlit cannot let go of files again."
_GONE: Final = {"type": "http.disconnect"}


class Refusal(NamedTuple):
    """Why a request goes no further."""

    status: int
    reason: str


class Sessions:
    """The visitors that sessions began with, by the session's name."""

    def __init__(self) -> None:
        self._visitors: OrderedDict[str, str] = OrderedDict()

    def admit(self, scope: Scope) -> Scope:
        """Return a connection that names only a session of the same visitor.

        The front end names it behind its protocol and its token. Another's is left out, and a
        new session begins.
        """
        headers = MutableHeaders(raw=list(scope["headers"]))
        named = [entry.strip() for entry in headers.get(_PROTOCOLS, "").split(",")]
        visitor = _visitor(scope)
        # An empty name is no visitor: those without a cookie would all join each other's.
        if len(named) > 2 and not (visitor and self._visitors.get(named[2]) == visitor):
            headers[_PROTOCOLS] = ", ".join(named[:2])
        return {**scope, "headers": headers.raw}

    def owns(self, scope: Scope) -> bool:
        """Return whether whoever asks began the session that the address of a file names."""
        session = scope["path"].split("/")[-2]
        return self._visitors.get(session) == _visitor(scope)

    def note(self, session: str, scope: Scope) -> bool:
        """Note a session that the server announces; False where it is another visitor's.

        `admit` leaves no way to one. This holds should a newer front end name sessions elsewhere.
        """
        visitor = _visitor(scope)
        if self._visitors.setdefault(session, visitor) != visitor:
            return False
        self._visitors.move_to_end(session)
        if len(self._visitors) > MOST_KNOWN:
            self._visitors.popitem(last=False)
        return True


def _visitor(scope: Scope) -> str:
    cookies = HTTPConnection(scope).cookies
    return cookies.get(SECURE_COOKIE) or cookies.get(VISITOR_COOKIE, "")


class Uploads:
    """Passes files on, and lets go of the oldest once the newest is held."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._can_drop = internals.can_drop_files()
        self._latest: list[tuple[str, str]] = []
        self._coming = 0

    def refused(self) -> Refusal | None:
        """Return why a file cannot be taken now, or None."""
        if not self._can_drop:
            return Refusal(503, _CLOSED)
        return Refusal(503, _BUSY) if self._coming >= MOST_BYTES else None

    async def take(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a file on, then let go of those that it takes the place of.

        Not before: the framework refuses a file without a session, and that one takes no place.
        What has come of a file counts, not what its sender says: who sends nothing takes nothing.
        """
        session, file = scope["path"].split("/")[-2:]
        came = 0
        ends = asyncio.get_running_loop().time() + PATIENCE_SECONDS

        async def counted() -> Message:
            nonlocal came
            try:
                async with asyncio.timeout_at(ends):
                    message = await receive()
            except TimeoutError:
                return _GONE
            size = len(message.get("body", b""))
            came += size
            self._coming += size
            return message if self._coming <= MOST_BYTES else _GONE

        try:
            await self._app(scope, counted, send)
        except ClientDisconnect:
            await PlainTextResponse(_BUSY, 503)(scope, receive, send)
        finally:
            self._coming -= came
            self._latest = [key for key in self._latest if key != (session, file)]
            self._latest.append((session, file))
            self._make_room()

    def _make_room(self) -> None:
        held = internals.held_files()
        self._latest = [key for key in self._latest if key in held]
        files_of: Counter[str] = Counter()
        total = 0
        for session, file in reversed(self._latest):
            files_of[session] += 1
            total += held[session, file]
            if files_of[session] > MOST_FILES or total > MOST_BYTES:
                internals.drop_file(session, file)
