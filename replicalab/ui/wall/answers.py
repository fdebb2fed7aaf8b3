"""What every answer carries: a strict policy, and on a page the cookie that knows its visitor."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import Message, Scope, Send
from streamlit import file_util

from replicalab.ui.wall.visitors import know_visitor

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
                await know_visitor(HTTPConnection(scope), headers)
        await send(message)

    return dress_and_send
