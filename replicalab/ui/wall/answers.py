"""What every answer carries: a strict policy, and on a page the cookie that knows its visitor."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import Message, Scope, Send
from streamlit import file_util

VISITOR_COOKIE: Final = "replicalab_visitor"
"""A random token of 256 bits; the server's proof that two sessions are of one browser."""

_A_YEAR: Final = 365 * 24 * 60 * 60
"""Seconds that a browser keeps it, so that whoever comes back finds what they kept."""

VISITOR_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}")

_HANDED_OUT: Final[deque[tuple[str, float]]] = deque(maxlen=1_000)
"""The latest tokens with which no page has begun yet, and when they were handed out."""
_NEW_SECONDS: Final = 10.0
"""So long a token is new: another server of the same library may see its second page."""

_INLINE_SCRIPT: Final = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_STARTS: Final = {"http.response.start", "websocket.http.response.start"}
_CROSS_ORIGIN: Final = "access-control-"

_POLICY: Final = {
    "default-src": "'none'",
    "script-src": "'self' 'wasm-unsafe-eval'",
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
    index = Path(file_util.get_static_dir(), "index.html").read_text(encoding="utf-8")
    scripts = " ".join(_hash(script) for script in _INLINE_SCRIPT.findall(index))
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


def dressed(scope: Scope, send: Send, fixed: dict[str, str]) -> Send:
    """Return a ``send`` that puts the fixed headers on an answer, and the cookie on a page."""

    async def dress_and_send(message: Message) -> None:
        if message["type"] in _STARTS:
            headers = MutableHeaders(scope=message)
            for name in [name for name in headers if name.startswith(_CROSS_ORIGIN)]:
                del headers[name]
            headers.update(fixed)
            if headers.get("content-type", "").startswith("text/html"):
                _know_visitor(HTTPConnection(scope), headers)
        await send(message)

    return dress_and_send


def _know_visitor(asked: HTTPConnection, headers: MutableHeaders) -> None:
    """Hand out a token, or the one that the browser shows again: for a year from now.

    Lax, not Strict: a Strict cookie is not shown when a link elsewhere is followed, and a new one
    would then take its place.
    """
    shown = asked.cookies.get(VISITOR_COOKIE, "")
    if VISITOR_TOKEN.fullmatch(shown):
        token = shown
    else:
        token = secrets.token_urlsafe(32)
        _HANDED_OUT.append((token, time.monotonic()))
    secure = "; Secure" if asked.url.scheme == "https" else ""
    settings = f"Path=/; Max-Age={_A_YEAR}; HttpOnly; SameSite=Lax{secure}"
    headers.append("set-cookie", f"{VISITOR_COOKIE}={token}; {settings}")


def begins_with(token: str) -> bool:
    """Return whether no page has begun with a new token yet; then one has, and it was the first."""
    for handed in list(_HANDED_OUT):
        if handed[0] == token:
            with suppress(ValueError):  # another page of the same browser was faster
                _HANDED_OUT.remove(handed)
                return time.monotonic() - handed[1] <= _NEW_SECONDS
    return False
