"""How pages are served: loaded while the server answers, behind the wall, one run after the other.

Python computes for one run at a time whatever we do. Of twenty runs that share it all end late;
one after the other, the first ends at once and the last no later. A run that takes long, for it
waits for a model or computes a batch, gives its turn up: nobody waits for it.
"""

import asyncio
import ctypes
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from threading import Lock, Thread
from typing import Final, Protocol

from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from replicalab.errors import LibraryError
from replicalab.server import internals
from replicalab.server.visitor import Keeper
from replicalab.server.wall import Wall, base_path

LONGEST_TURN: Final = 0.1
"""Seconds after which a run no longer keeps others waiting."""

# How long a thread computes while another one waits. An edit passes between threads a hundred
# times: while another session computes it would wait 5 ms at each, as Python has it, and half a
# second in all.
_SWITCH_SECONDS: Final = 0.0005

# glibc gives threads heaps of their own, by default eight for each processor. A run is a thread, so
# each heap grows to what the largest run took from it: 16 MiB of 200 in seven minutes of eight
# people, and on for hours.
_M_ARENA_MAX: Final = -8
_MOST_HEAPS: Final = 2

READY: Final = "/ready"
"""The address, below the server's own path, that says whether pages and library answer."""

_LOG: Final = logging.getLogger(__name__)


class Pages(Keeper, Protocol):
    """What the server asks of the pages that it serves."""

    def load(self) -> None:
        """Load what the pages use."""

    def require_library(self) -> None:
        """Raise LibraryError where the library does not answer."""

    def finish(self) -> None:
        """Save what is still to be saved."""


def middleware(pages: Pages) -> tuple[Middleware, ...]:
    """Return what `st.App` is given, so that nothing reaches it but through the wall.

    Raises:
        CannotServeError: the wall cannot be built with this Streamlit. Found here, before anything
            is served: Starlette builds middleware no sooner than the first request.
        SystemExit: a host is listed that can be none, or sign-in by a header is asked for.
    """
    internals.require_messages()
    internals.index_page()
    if os.environ.get("REPLICALAB_PERSON_HEADER"):
        raise SystemExit(
            "ReplicaLab does not start: REPLICALAB_PERSON_HEADER is no longer read; remove it, and "
            "let people sign in with st.login ([auth] in secrets.toml)."
        )
    return Middleware(Wall, keeper=pages), Middleware(Loading, pages=pages)


def lifespan(pages: Pages) -> Callable[[ASGIApp], AbstractAsyncContextManager[None]]:
    """Return the lifespan of `st.App`: a server that is asked to stop runs no `atexit`."""

    @asynccontextmanager
    async def save_at_the_end(_: ASGIApp) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(pages.finish)

    return save_at_the_end


class Loading:
    """ASGI middleware that loads the pages at once, and lets web sockets wait for it.

    So no page runs before everything is loaded, in one thread and in one order; the browser loads
    its own part meanwhile. Whoever asks whether all is ready is answered here.
    """

    def __init__(self, app: ASGIApp, pages: Pages) -> None:
        self._app = app
        self._pages = pages
        sys.setswitchinterval(_SWITCH_SECONDS)
        share_heaps()
        self._thread = Thread(target=pages.load, name="loading", daemon=True)
        self._thread.start()
        self._ready_path = f"{base_path()}{READY}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; a web socket once the pages are loaded."""
        if scope["type"] == "http" and scope["path"] == self._ready_path:
            await (await self._readiness())(scope, receive, send)
            return
        if scope["type"] == "websocket" and self._thread.is_alive():
            await asyncio.to_thread(self._thread.join)
        await self._app(scope, receive, send)

    async def _readiness(self) -> Response:
        """Return 200 where pages and library answer, else 503; the log alone says what is wrong."""
        if self._thread.is_alive():
            return PlainTextResponse("The pages are being loaded.", 503)
        try:
            await asyncio.to_thread(self._pages.require_library)
        except LibraryError as error:
            _LOG.warning("Not ready: %s", error)
            return PlainTextResponse("The library does not answer.", 503)
        return PlainTextResponse("Ready.")


def share_heaps() -> None:
    """Let the threads of this process share two heaps, where its C library is glibc."""
    if sys.platform == "linux":
        with suppress(AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _MOST_HEAPS)


class Turns:
    """The turns of the runs of one process, each in a thread of its own.

    Args:
        longest: seconds after which a turn no longer keeps others waiting.
    """

    def __init__(self, longest: float = LONGEST_TURN) -> None:
        self._longest = longest
        self._lock = Lock()
        self._ends = 0.0

    @contextmanager
    def take(self) -> Iterator[None]:
        """Take a turn: wait until whoever has one is done, or has had it for too long."""
        taken = self._lock.acquire(blocking=False)
        while not taken and (left := self._ends - time.monotonic()) > 0:
            taken = self._lock.acquire(timeout=left)
        if taken:
            self._ends = time.monotonic() + self._longest
        try:
            yield
        finally:
            if taken:  # where not, one that takes long has it still
                self._lock.release()


take_turn: Final = Turns().take
