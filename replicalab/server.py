"""The server around Streamlit, and the identity of visitors.

`app.py` hands `middleware`, `lifespan` and `routes` to `st.App`. They guard:

- Host and origin. Only the configured host names are answered, and only pages of this server may
  open a web socket or send a file. This stops DNS rebinding and requests that other sites forge.
- The Content-Security-Policy of every answer. Scripts come from this server, apart from the one
  in Streamlit's own page, which is allowed by its hash. Nothing is loaded from or sent to another
  host, and only sites in REPLICALAB_FRAMES can show the pages in a frame. It stops a foreign
  script that escaping missed.
- The visitor cookie, by which a browser finds its work again. The library stores only its hash.

Limits of messages and uploads are in `.streamlit/config.toml`, those of connections and requests
in the proxy (`deploy/nginx.conf`).
"""

import asyncio
import base64
import hashlib
import json
import logging
import os
import re
import runpy
import secrets
import socket
import sys
import time
import urllib.request
import webbrowser
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Final, Protocol

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from replicalab.errors import LibraryError, LibraryReplacedError, ReplicaLabError
from replicalab.lexicon import shortened
from replicalab.places import TREE

READY: Final = "/ready"  # the readiness probe, below the server's own path
VISITOR_COOKIE: Final = "replicalab_visitor"  # a random token of 128 bits
SECURE_COOKIE: Final = f"__Host-{VISITOR_COOKIE}"  # over TLS: no neighbouring host can set it
_TOKEN: Final = re.compile(r"[0-9a-f]{32}")
_YEAR: Final = 365 * 24 * 60 * 60
_NEW_SECONDS: Final = 10.0
_PERSON_HEADER: Final = "REPLICALAB_PERSON_HEADER"
DEMO: Final = "REPLICALAB_DEMO"  # set by ``serve --demo``
DEMO_TEXT: Final = "this demo saves nothing; download your work, or install ReplicaLab"
_FRAMES: Final = "REPLICALAB_FRAMES"  # sites that may embed the pages, separated by spaces
_UPLOADS: Final = "/_stcore/upload_file"
_ICON: Final = Path(__file__).with_name("icon.png")
_LOG: Final = logging.getLogger(__name__)
_ISSUED: Final[deque[tuple[str, float]]] = deque(maxlen=1_000)  # recent cookies with their time


class Pages(Protocol):
    """The functions of the pages that the server calls."""

    def load(self) -> None:
        """Load what the pages use."""

    def require_library(self) -> None:
        """Raise LibraryError if the library does not answer."""

    def finish(self) -> None:
        """Save pending work."""


def middleware(pages: Pages) -> tuple[Middleware, ...]:
    """Return the middleware of `st.App`, which starts loading the pages.

    Raises SystemExit, like the next functions, if a setting is wrong; the text names it.
    """
    if _PERSON_HEADER in os.environ:
        raise SystemExit(
            f"ReplicaLab does not start: {_PERSON_HEADER} is no longer supported; remove it and "
            "set up sign-in with st.login (section [auth] of secrets.toml)."
        )
    st.secrets.load_if_toml_exists()  # a host of apps may give the settings as secrets
    return (Middleware(Guard, pages=pages, hosts=allowed_hosts(), headers=fixed_headers()),)


def lifespan(pages: Pages) -> Callable[[ASGIApp], AbstractAsyncContextManager[None]]:
    """Return the lifespan of `st.App`, because a stopped server runs no `atexit`."""

    @asynccontextmanager
    async def save_at_the_end(_: ASGIApp) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(pages.finish)

    return save_at_the_end


def routes(pages: Pages) -> tuple[Route, ...]:
    """Return the routes of `st.App`: the readiness probe and the icon."""

    async def ready(_: Request) -> Response:
        try:
            await asyncio.to_thread(pages.require_library)
        except LibraryError as error:
            _LOG.warning("Not ready: %s", error)
            replaced = isinstance(error, LibraryReplacedError)
            why = "'s file was deleted or replaced." if replaced else " does not answer."
            return PlainTextResponse(f"The library{why}", 503)
        return PlainTextResponse("Ready.")

    async def icon(_: Request) -> Response:
        return FileResponse(_ICON)

    path = str(st.get_option("server.baseUrlPath") or "").strip("/")
    base = f"/{path}" if path else ""
    return Route(f"{base}{READY}", ready), Route(f"{base}/favicon.png", icon)


class Guard:
    """ASGI middleware in front of Streamlit.

    It refuses foreign hosts and origins, adds headers and the visitor cookie, and lets web sockets
    and the readiness probe wait until the pages are loaded.
    """

    def __init__(
        self, app: ASGIApp, pages: Pages, hosts: frozenset[str], headers: Mapping[str, str]
    ) -> None:
        self._app, self._hosts, self._headers = app, hosts, headers
        self._loading = Thread(target=pages.load, name="loading", daemon=True)
        self._loading.start()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] in {"http.response.start", "websocket.http.response.start"}:
                headers = MutableHeaders(scope=message)
                headers.update(self._headers)
                if headers.get("content-type", "").startswith("text/html") and not is_demo():
                    _set_cookie(HTTPConnection(scope), headers)
            await send(message)

        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        app = refusal(scope, self._hosts) or self._app
        waits = scope["type"] == "websocket" or scope["path"].endswith(READY)
        if app is self._app and waits and self._loading.is_alive():
            await asyncio.to_thread(self._loading.join)
        await app(scope, receive, send_with_headers)


_LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
_NAME: Final = r"[a-z0-9.-]+|\[[0-9a-f:.]+\]"
_HOST: Final = re.compile(rf"(?P<name>{_NAME})(:[0-9]{{1,5}})?")


def allowed_hosts() -> frozenset[str]:
    """Return the host names of this server: server.allowedHosts, else loopback."""
    names = frozenset(st.get_option("server.allowedHosts") or _LOOPBACK)
    for name in names:
        if not re.fullmatch(_NAME, name):
            raise SystemExit(
                f"ReplicaLab does not start: server.allowedHosts has '{shortened(name)}', which is "
                "not a host name. Use small letters, no port and no scheme; separate the names in "
                "STREAMLIT_SERVER_ALLOWED_HOSTS by spaces."
            )
    return names


def is_demo() -> bool:
    """Return whether this server saves nothing, takes no files and asks no model."""
    return bool(os.environ.get(DEMO))


def is_public() -> bool:
    """Return whether this server answers more than this machine."""
    is_open = st.get_option("server.address") not in {*_LOOPBACK, "::1"}
    return is_open or is_demo() or not allowed_hosts() <= {*_LOOPBACK}


def refusal(scope: Scope, hosts: frozenset[str]) -> Response | None:
    """Return the answer that refuses a request, or None."""
    headers = Headers(scope=scope)
    names = headers.getlist("host")
    host = _HOST.fullmatch(names[0]) if len(names) == 1 else None
    if not host or host["name"] not in hosts:
        return PlainTextResponse(
            "ReplicaLab does not serve this host name. Its operator lists the names in "
            "server.allowedHosts of .streamlit/config.toml or in STREAMLIT_SERVER_ALLOWED_HOSTS. A "
            "proxy must pass on the Host header unchanged.",
            400,
        )
    if is_demo() and _UPLOADS in scope["path"]:
        return PlainTextResponse("This demo takes no files.", 403)
    origins = headers.getlist("origin")
    # Behind a proxy that ends TLS the scheme of the connection is not that of the page.
    texts = {f"{scheme}://{names[0]}" for scheme in ("http", "https")}
    is_own = len(origins) == 1 and origins[0] in texts
    if is_own or (not origins and scope["type"] == "http"):
        return None
    reason = "This request comes from another site. Open ReplicaLab at its own address."
    return PlainTextResponse(reason, 403)


_INLINE_SCRIPT: Final = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_POLICY: Final = {
    "default-src": "'none'",
    "script-src": "'self' 'wasm-unsafe-eval'",
    "style-src": "'self' 'unsafe-inline'",  # Streamlit styles its widgets while it draws them
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
_UNUSED: Final = ("camera", "geolocation", "microphone", "payment", "usb", "serial", "hid", "midi")


def fixed_headers() -> dict[str, str]:
    """Return the headers of every answer, for the script in the page of the installed Streamlit."""
    frames = os.environ.get(_FRAMES, "").split()
    for site in frames:
        if not re.fullmatch(rf"https?://({_NAME})(:[0-9]{{1,5}})?", site):
            raise SystemExit(
                f"ReplicaLab does not start: {_FRAMES} has '{shortened(site)}', which is no site. "
                "Write scheme and host, such as https://example.org; separate sites by spaces."
            )
    page = Path(st.__file__).with_name("static") / "index.html"
    try:
        scripts = _INLINE_SCRIPT.findall(page.read_text(encoding="utf-8"))
    except OSError as error:
        raise SystemExit(f"ReplicaLab does not start: reinstall Streamlit ({error}).") from error
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in scripts]
    hashes = [f"'sha256-{digest.decode()}'" for digest in digests]
    policy = _POLICY | {"script-src": " ".join([_POLICY["script-src"], *hashes])}
    policy |= {"frame-ancestors": " ".join(frames)} if frames else {}
    return ({} if frames else {"X-Frame-Options": "DENY"}) | {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": ", ".join(f"{feature}=()" for feature in _UNUSED),
    }


def is_over_tls(headers: Mapping[str, str], scheme: str) -> bool:
    """Return whether a browser uses TLS, also behind a proxy that does not report it."""
    # Browsers send Sec-Fetch-Site over TLS and to this machine only.
    if origin := headers.get("origin"):
        return origin.startswith("https://")
    host = _HOST.fullmatch(headers.get("host", ""))
    is_local = host is not None and host["name"] in _LOOPBACK
    return scheme in {"https", "wss"} or ("sec-fetch-site" in headers and not is_local)


def token_of(cookies: Mapping[str, str], *, over_tls: bool) -> str:
    """Return the token in the visitor cookie, empty if missing; over TLS it must be secure."""
    token = cookies.get(SECURE_COOKIE if over_tls else VISITOR_COOKIE, "")
    return token if _TOKEN.fullmatch(token) else ""


def _set_cookie(request: HTTPConnection, headers: MutableHeaders) -> None:
    over_tls = is_over_tls(request.headers, request.url.scheme)
    token = token_of(request.cookies, over_tls=over_tls)
    if not token:
        token = secrets.token_hex(16)
        _ISSUED.append((token, time.monotonic()))
    name, secure = (SECURE_COOKIE, "; Secure") if over_tls else (VISITOR_COOKIE, "")
    # Lax: a strict cookie is not sent when a link elsewhere is followed.
    flags = f"Path=/; Max-Age={_YEAR}; HttpOnly; SameSite=Lax{secure}"
    headers.append("set-cookie", f"{name}={token}; {flags}")


def cookie() -> str:
    """Return the token of the browser that asks for this run, empty if it takes no cookies."""
    headers = {name.lower(): value for name, value in st.context.headers.items()}
    cookies = {name: str(value) for name, value in st.context.cookies.items()}
    return token_of(cookies, over_tls=is_over_tls(headers, ""))


def user_name() -> str:
    """Return the name of the person who signed in, empty if signed out."""
    user = st.user
    if not user.get("is_logged_in"):
        return ""
    return str(user.get("name") or user.get("email") or user.get("sub"))


def must_sign_in() -> bool:
    """Return whether this server has sign-in set up and the visitor is signed out."""
    return st.user.get("is_logged_in") is False


def visitor() -> str:
    """Return the person's issuer and subject, else the cookie's token, else one of this session."""
    if user_name():
        return json.dumps([st.user["iss"], st.user["sub"]])
    session_token: str = st.session_state.setdefault("visitor", secrets.token_hex(16))
    return cookie() or session_token


def is_lasting() -> bool:
    """Return whether the visitor finds saved work again: by a cookie or by sign-in."""
    return bool(user_name() or cookie()) and not is_demo()


def is_new_visitor() -> bool:
    """Return whether this is the first page of a new browser, which cannot have saved anything."""
    token = cookie()
    for issued in list(_ISSUED):  # a copy: answers add to it in another thread
        if issued[0] == token and not user_name():
            _ISSUED.remove(issued)
            return time.monotonic() - issued[1] < _NEW_SECONDS
    return False


class _RunTurn:
    def __init__(self) -> None:
        self.began: float | None = None
        self.done = Event()


class Turns:
    """The turns of runs, each in its own thread, in the order in which they ask.

    Python computes for one run at a time. Twenty runs that share it all end late; one after the
    other, the first ends at once and the last no later. A run that takes over ``longest`` seconds
    no longer keeps others waiting.
    """

    def __init__(self, longest: float = 0.5) -> None:
        self._longest = longest
        self._lock = Lock()
        self._last = _RunTurn()
        self._last.done.set()

    @contextmanager
    def take(self) -> Iterator[None]:
        """Wait until the run before is done or has taken too long."""
        turn = _RunTurn()
        with self._lock:
            before, self._last = self._last, turn
        rest = self._longest
        while not before.done.wait(rest):
            taken = 0.0 if before.began is None else time.monotonic() - before.began
            if (rest := self._longest - taken) <= 0:
                break
        turn.began = time.monotonic()
        try:
            yield
        finally:
            turn.done.set()


take_turn: Final = Turns().take


HOST: Final = "127.0.0.1"
_HIGHEST_PORT: Final = 65535
_LONGEST_HOST: Final = 253  # letters of a name
_START_TRIES: Final = 600  # 0.1 s apart


def serve(port: int, hosts: Sequence[str] = (), *, opens_browser: bool, demo: bool = False) -> None:
    """Serve the dashboard on this computer until it is stopped, for the named hosts."""
    if not 0 < port <= _HIGHEST_PORT:
        raise ReplicaLabError(f"--port {port} is no port; name one from 1024 to {_HIGHEST_PORT}")
    for name in hosts:
        if not re.fullmatch(_NAME, name) or len(name) > _LONGEST_HOST:
            problem = f"--host '{shortened(name)}' is no host name"
            raise ReplicaLabError(f"{problem}; use small letters, no port and no scheme")
    try:  # Streamlit's own message about a taken port names no remedy
        socket.create_server((HOST, port)).close()
    except OSError as error:
        problem = f"port {port} is not available ({os.strerror(error.errno or 0)})"
        remedy = "end what uses it, or name another --port"
        raise ReplicaLabError(f"{problem}; {remedy}") from None
    # Without a screen, a text browser would take the terminal.
    has_screen = any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))
    if opens_browser and (has_screen or sys.platform in {"darwin", "win32"}):
        # Streamlit opens none for an `st.App`.
        Thread(target=_open_when_ready, args=(port,), daemon=True).start()
    # As `python -m streamlit run app.py` does, which reads .streamlit/config.toml next to app.py.
    sys.argv = ["streamlit", "run", str(TREE / "app.py"), f"--server.port={port}"]
    sys.argv += [f"--server.allowedHosts={name}" for name in hosts]
    if demo:
        os.environ[DEMO] = "1"
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


def _open_when_ready(port: int) -> None:
    url = f"http://{HOST}:{port}"
    for _ in range(_START_TRIES):
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):  # noqa: S310 - ours
                webbrowser.open(url)
                return
        except OSError:
            time.sleep(0.1)
