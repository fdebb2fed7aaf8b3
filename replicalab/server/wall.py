"""The wall: what every request, web socket and answer passes before Streamlit sees it or sends it.

It says who may ask for what (the exact host and origin, the way in, the address),
and what every answer carries: a strict policy, and on a page the cookie that knows its visitor.
"""

import base64
import hashlib
import logging
import re
from pathlib import Path
from typing import Final

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import FileResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from replicalab.server import internals
from replicalab.server.hidden_host import HiddenHosts
from replicalab.server.messages import LONGEST_QUERY, Bursts, Incoming
from replicalab.server.screen import Screen
from replicalab.server.sessions import Refusal, Sessions, Uploads
from replicalab.server.visitor import (
    Keeper,
    know_visitor,
    page_open,
)

MOST_CONNECTIONS: Final = 300
"""Pages that are open at once."""

MARK: Final = "x-replicalab-wall"
"""A header of every web socket that came through; a browser cannot set one there."""

# In the place of Streamlit's: a run that names one loads numpy and Pillow for it, needed for
# nothing else; and a Material symbol would be fetched from another host.
_ICON: Final = Path(__file__).with_name("icon.png")

_LOG: Final = logging.getLogger(__name__)


def base_path() -> str:
    """Return the path below which the server stands; empty where it has its host for itself."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}" if base else ""


class Wall:
    """ASGI middleware that refuses what the pages have no use for, and adds to every answer.

    Raises:
        CannotServeError: it cannot be built with this Streamlit.
    """

    def __init__(self, app: ASGIApp, keeper: Keeper) -> None:
        internals.require_messages()
        self._app = app
        self._keeper = keeper
        self._uploads = Uploads(app)
        self._sessions = Sessions()
        self._fixed = fixed_headers()
        self._icon = f"{base_path()}/favicon.png"
        self._hosts = allowed_hosts()
        self._hidden_hosts = HiddenHosts()
        self._connections = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or say why not."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        send = self._with_headers(scope, send)
        refusal = refused(scope, self._hosts)
        if refusal is ANOTHER_ORIGIN:
            self._hidden_hosts.note(scope)
        explained = self._hidden_hosts.answer(scope)
        refusal = refusal or self._refused_for_now(scope)
        if explained and scope["type"] == "http":
            await explained(scope, receive, send)
        elif refusal:
            await PlainTextResponse(refusal.reason, refusal.status)(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._connect(scope, receive, send)
        elif _is_upload(scope):
            await self._uploads.take(scope, receive, send)
        else:
            await self._answer(scope, receive, send)

    def _refused_for_now(self, scope: Scope) -> Refusal | None:
        if scope["type"] == "websocket" and self._connections >= MOST_CONNECTIONS:
            return Refusal(503, "Too many pages are open here; close some, or try again later.")
        is_for_a_session = scope["type"] == "http" and scope["method"] in _UPLOADS
        if is_for_a_session and not self._sessions.owns(scope):
            return Refusal(403, "No page of yours waits for this file: reload it and try again.")
        return self._uploads.refused() if _is_upload(scope) else None

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._connections += 1
        bursts, screen = Bursts(send), Screen()

        async def note_and_send(message: Message) -> None:
            sent = internals.read_sent(message.get("bytes") or b"")
            if sent.session and not self._sessions.note(sent.session, scope):
                bursts.close()
                message = {"type": "websocket.close", "code": 1008}
                sent = internals.Sent()
            leaving = [message]
            if sent.kind:
                changes = screen.changes(message["bytes"], sent)
                leaving = [{**message, "bytes": data} for data in changes]
            await bursts.send(leaving, sent.kind)

        try:
            with page_open(HTTPConnection(scope)):
                admitted = self._sessions.admit(scope)
                headers = MutableHeaders(raw=list(admitted["headers"]))
                headers[MARK] = "passed"
                marked = {**admitted, "headers": headers.raw}
                await self._app(marked, Incoming(receive).receive, note_and_send)
        finally:
            bursts.close()
            self._connections -= 1

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; the log says what breaks, and the answer is one like others."""
        begun = False

        async def note_and_send(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            if scope["path"] == self._icon:
                await FileResponse(_ICON)(scope, receive, note_and_send)
            else:
                await self._app(scope, receive, note_and_send)
        except Exception:
            if begun:
                raise
            _LOG.exception("A request could not be answered: %s", scope["path"])
            failure = PlainTextResponse("Something went wrong here; the log says what.", 500)
            await failure(scope, receive, send)

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        """Return a ``send`` that puts the fixed headers on an answer, and the cookie on a page."""

        async def add_and_send(message: Message) -> None:
            if message["type"] in _STARTS:
                headers = MutableHeaders(scope=message)
                for name in [name for name in headers if name.startswith(_CROSS_ORIGIN)]:
                    del headers[name]
                headers.update(self._fixed)
                asked = HTTPConnection(scope)
                if headers.get("content-type", "").startswith("text/html"):
                    await know_visitor(asked, headers, self._keeper)
            await send(message)

        return add_and_send


def stands_before_this_run() -> bool:
    """Return whether a page's run was asked for through the wall, or by no browser at all.

    A Streamlit that does not know `st.App` would take app.py for a script, and run it unprotected.
    """
    headers = {name.lower() for name in st.context.headers}
    return not headers or MARK in headers


# --- who may ask for what ---------------------------------------------------------------------

ANOTHER_ORIGIN: Final = Refusal(
    403, "Another page asked for this: open ReplicaLab at its own address."
)
_LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
_NAME: Final = r"[a-z0-9.-]+|\[[0-9a-f:.]+\]"
_HOST: Final = re.compile(rf"(?P<name>{_NAME})(:[0-9]{{1,5}})?")
# What the pages ask for below `_stcore/`.
_OPEN: Final = re.compile(r"(health|host-config|stream|upload_file/[^/]+/[^/]+)")

# Parts of Streamlit's addresses that no page needs.
_CLOSED: Final = frozenset({"component"})

_METHODS: Final = frozenset({"GET", "HEAD"})
_UPLOADS: Final = frozenset({"PUT", "DELETE"})
_FRAMED: Final = frozenset({"iframe", "frame", "fencedframe", "embed", "object"})
_FROM_ELSEWHERE: Final = frozenset({"cross-site", "same-site"})


def allowed_hosts() -> frozenset[str]:
    """Return the names under which this server may be asked: what is configured, or loopback.

    A release without that setting serves this machine alone.

    Raises:
        SystemExit: one of the names can be no host's, so that nobody would ever be answered.
    """
    try:
        named = frozenset(st.get_option("server.allowedHosts") or _LOOPBACK)
    except RuntimeError:
        return frozenset(_LOOPBACK)
    for name in named:
        if not re.fullmatch(_NAME, name):
            raise SystemExit(
                f"ReplicaLab does not start: server.allowedHosts names '{name}', and no host is "
                "called so. Write small letters, no port and no scheme; in "
                "STREAMLIT_SERVER_ALLOWED_HOSTS put spaces between names, no commas."
            )
    return named


def refused(scope: Scope, hosts: frozenset[str]) -> Refusal | None:
    """Return why a request goes no further, or None if it may."""
    headers = Headers(scope=scope)
    return (
        _refused_host(headers, hosts)
        or _refused_origin(headers, scope)
        or _refused_way_in(headers)
        or _refused_address(scope)
    )


def _is_upload(scope: Scope) -> bool:
    return bool(scope["type"] == "http" and scope["method"] == "PUT")


def _refused_host(headers: Headers, hosts: frozenset[str]) -> Refusal | None:
    named = headers.getlist("host")
    found = _HOST.fullmatch(named[0]) if len(named) == 1 else None
    if found and found["name"] in hosts:
        return None
    return Refusal(
        400,
        "This address is not one that ReplicaLab answers to: whoever serves it lists the names in "
        "server.allowedHosts of .streamlit/config.toml, or in STREAMLIT_SERVER_ALLOWED_HOSTS.",
    )


def _refused_origin(headers: Headers, scope: Scope) -> Refusal | None:
    """Refuse any origin but this server's own; a web socket must name one."""
    named = headers.getlist("origin")
    # The host is one of ours by now. Behind a proxy that ends TLS the scheme is not the page's.
    own = {f"{scheme}://{headers['host']}" for scheme in ("http", "https")}
    if (not named and scope["type"] == "http") or (len(named) == 1 and named[0] in own):
        return None
    return ANOTHER_ORIGIN


def _refused_way_in(headers: Headers) -> Refusal | None:
    """Refuse frames, and what a page elsewhere loads; a link that is followed may come from there.

    The browser says so where the address is a secure one or this machine's own.
    """
    target = headers.get("sec-fetch-dest")
    followed = headers.get("sec-fetch-mode") == "navigate" and target == "document"
    elsewhere = headers.get("sec-fetch-site") in _FROM_ELSEWHERE and not followed
    if target in _FRAMED or elsewhere:
        return Refusal(403, "Another page shows this inside it: open ReplicaLab in its own tab.")
    return None


def _refused_address(scope: Scope) -> Refusal | None:
    if len(scope["query_string"]) > LONGEST_QUERY:
        return Refusal(
            414,
            f"This address has more than the {LONGEST_QUERY:,} characters that ReplicaLab writes: "
            "copy the link again, or open the page without what follows the question mark.",
        )
    path: str = scope["path"]
    if not path.isprintable():  # it would write lines of its own into the log
        return Refusal(404, "There is nothing at this address.")
    _, core, below = path.partition("/_stcore/")
    is_closed = _CLOSED & set(path.split("/"))
    if (core and not _OPEN.fullmatch(below)) or is_closed:
        return Refusal(404, "There is nothing at this address.")
    if scope["type"] == "websocket":
        return None
    allowed = _UPLOADS if below.startswith("upload_file/") else _METHODS
    if scope["method"] not in allowed:
        return Refusal(405, "This address is not asked in that way.")
    return None


# --- what every answer carries ----------------------------------------------------------------

_INLINE_SCRIPT: Final = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_STARTS: Final = {"http.response.start", "websocket.http.response.start"}
_CROSS_ORIGIN: Final = "access-control-"

_POLICY: Final = {
    "default-src": "'none'",
    # Scripts of levers and panels come with a page's messages; the front end runs them as blobs.
    "script-src": "'self' 'wasm-unsafe-eval' blob:",
    "style-src": "'self' 'unsafe-inline'",  # Streamlit styles its widgets while they are drawn
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "media-src": "'self'",
    "connect-src": "'self'",
    "worker-src": "'self' blob:",
    "manifest-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
_UNUSED: Final = "camera", "geolocation", "microphone", "payment", "usb", "serial", "hid", "midi"


def fixed_headers() -> dict[str, str]:
    """Return the headers of every answer, for the front end that is installed."""
    scripts = " ".join(map(_hash, _INLINE_SCRIPT.findall(internals.index_page())))
    policy = _POLICY | {"script-src": f"{_POLICY['script-src']} {scripts}"}
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": ", ".join(f"{feature}=()" for feature in _UNUSED),
    }


def _hash(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"
