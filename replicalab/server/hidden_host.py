"""A proxy in front that does not pass on which host the browser asked for.

Nothing tells the page's request from one to this machine itself, so the page comes; what it loads
names an origin of another host and is refused, and the page stays blank. Whose was refused so is
remembered, and answered with what is wrong: where a script was asked for, by one that writes it.
"""

import json
import time
from collections import OrderedDict
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response
from starlette.types import Scope

from replicalab.characters import shown
from replicalab.server.visitor import LOOPBACK, secret_shown

_SECONDS: Final = 120.0
_MOST: Final = 1_000
_LONGEST: Final = 120


class HiddenHosts:
    """Which visitors' pages come through such a proxy, for two minutes each."""

    def __init__(self) -> None:
        self._noted: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def note(self, scope: Scope) -> None:
        """Note that a visitor's origin was refused, if such a proxy explains it.

        Only with a cookie that was handed out under this very host: no page elsewhere can have a
        browser show it, and so keep a visitor out.
        """
        headers = Headers(scope=scope)
        origin = headers.get("origin", "").partition("://")[2]
        secret = _secret(scope)
        if not secret or LOOPBACK.fullmatch(origin) or not LOOPBACK.fullmatch(headers["host"]):
            return
        self._noted[secret] = origin[:_LONGEST], time.monotonic()
        self._noted.move_to_end(secret)
        if len(self._noted) > _MOST:
            self._noted.popitem(last=False)

    def answer(self, scope: Scope) -> Response | None:
        """Return what to answer a visitor who was noted and asks under the same host again."""
        headers = Headers(scope=scope)
        if not self._noted or not LOOPBACK.fullmatch(headers["host"]):
            return None
        origin, since = self._noted.get(_secret(scope), ("", 0.0))
        if not origin or time.monotonic() - since > _SECONDS:
            return None
        name, asked = shown(origin), shown(headers["host"])
        text = (
            f"The proxy before ReplicaLab passes on the host {asked}, where your browser asked for "
            f"{name}. Whoever serves it lets the proxy pass Host on unchanged (nginx: "
            f"proxy_set_header Host $http_host) and names {name.partition(':')[0]} in "
            "STREAMLIT_SERVER_ALLOWED_HOSTS."
        )
        if headers.get("sec-fetch-dest") == "script":
            script = f"document.body.textContent = {json.dumps(text)};"
            return Response(script, media_type="text/javascript")
        return PlainTextResponse(text, 421)


def _secret(scope: Scope) -> str:
    return secret_shown(HTTPConnection(scope).cookies, over_tls=False)
