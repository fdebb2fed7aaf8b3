"""What the pages use is loaded beside serving, and what they were to save is saved at its end.

All of it but the database's part, which the first page of a newcomer has no need of: that follows
when the page stands.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import cache
from importlib import import_module
from threading import Thread
from typing import Final

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from replicalab.errors import ScenarioError

_REST_SECONDS: Final = 2.0
"""So long what is left is put off, for the first page to be drawn."""


class Warming:
    """ASGI middleware that loads the pages at once, and lets web sockets wait for it.

    So no page runs before everything is loaded, in one thread and in one order.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._loading = Thread(target=_load, name="warming", daemon=True)
        self._loading.start()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; a web socket once the pages are loaded."""
        if scope["type"] == "websocket" and self._loading.is_alive():
            await asyncio.to_thread(self._loading.join)
        await self._app(scope, receive, send)


def _load() -> None:
    gc.disable()  # nearly all that is made here stays
    try:
        frame = import_module("replicalab.ui.frame")
        import_module("replicalab.ui.scenarios")
        with suppress(ScenarioError):  # the page says what is wrong with the studies
            frame.warm_up()
    finally:
        gc.enable()
    writer = import_module("replicalab.ui.library.writer")
    writer.later("opening the library", _open_library, _REST_SECONDS)


def _open_library() -> None:
    """Open the library, so that the first who keeps something does not wait."""
    _keep_out_of_collections()
    import_module("replicalab.ui.library.shelf").shelf()


@cache
def _keep_out_of_collections() -> None:
    """Load what is left, and look through what is loaded once more and never again."""
    import_module("replicalab.library.store")
    gc.collect()
    gc.freeze()


@asynccontextmanager
async def ended_well(_: ASGIApp) -> AsyncIterator[None]:
    """Save at the end what is still to be saved: a server that is told to stop runs no `atexit`."""
    yield
    if (writer := sys.modules.get("replicalab.ui.library.writer")) is not None:
        await asyncio.to_thread(writer.finish)


MIDDLEWARE: Final = (Middleware(Warming),)
"""What `st.App` is given behind the wall."""
