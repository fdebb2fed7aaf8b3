"""Whose a session is: only the browser that it began with may join it again or give it files.

Streamlit lets in whoever names a session, and its name stands in the addresses of its uploads.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from google.protobuf.message import DecodeError
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import Message, Scope, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from replicalab.ui.wall.visitors import SECURE_COOKIE, VISITOR_COOKIE

MOST_KNOWN: Final = 5_000
"""Sessions whose visitor is remembered; the server forgets a closed one after a minute."""

_PROTOCOLS: Final = "sec-websocket-protocol"


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
        if len(named) > 2 and not (visitor and self._visitors.get(named[2]) == visitor):
            headers[_PROTOCOLS] = ", ".join(named[:2])
        return {**scope, "headers": headers.raw}

    def owns(self, scope: Scope) -> bool:
        """Return whether whoever asks began the session that the address of a file names."""
        session = scope["path"].split("/")[-2]
        return self._visitors.get(session) == _visitor(scope)

    def noting(self, scope: Scope, send: Send) -> Send:
        """Return a ``send`` that learns from the first answers which session this visitor has."""
        known = False

        async def note_and_send(message: Message) -> None:
            nonlocal known
            if not known and (session := _announced(message)):
                known = True
                self._note(session, _visitor(scope))
            await send(message)

        return note_and_send

    def _note(self, session: str, visitor: str) -> None:
        self._visitors[session] = visitor
        self._visitors.move_to_end(session)
        if len(self._visitors) > MOST_KNOWN:
            self._visitors.popitem(last=False)


def _visitor(scope: Scope) -> str:
    cookies = HTTPConnection(scope).cookies
    return cookies.get(SECURE_COOKIE) or cookies.get(VISITOR_COOKIE, "")


def _announced(message: Message) -> str:
    """Return the name of the session that a message of the server begins, or an empty text."""
    try:
        sent = ForwardMsg.FromString(message.get("bytes") or b"")
    except DecodeError:
        return ""
    return str(sent.new_session.initialize.session_id)
