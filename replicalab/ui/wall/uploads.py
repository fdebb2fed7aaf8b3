"""How much of what visitors hand over is held: the last files of each, and so much of all.

A page reads a file in the moment in which it comes, so an older one is of no more use.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Final, cast

from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from replicalab.ui.wall.callers import Refusal

MOST_FILES: Final = 2
MOST_BYTES: Final = 96 * 2**20
"""Of all visitors together: so much is held, and so much may be on its way."""

PATIENCE_SECONDS: Final = 60.0
"""A file has come by then, or is given up."""

_BUSY: Final = "This file, or too many others, did not come here in time; try again in a minute."
_GONE: Final = {"type": "http.disconnect"}


class Uploads:
    """Passes files on, and lets go of the oldest once the newest is held."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._latest: list[tuple[str, str]] = []
        self._coming = 0

    def refused(self) -> Refusal | None:
        """Return why a file cannot be taken now, or None."""
        if self._coming >= MOST_BYTES:
            return Refusal(503, _BUSY)
        return None

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
        manager = _manager()
        held = {
            (session, file): len(record.data)
            for session, files in list(manager.file_storage.items())
            for file, record in list(files.items())
        }
        self._latest = [key for key in self._latest if key in held]
        files_of: Counter[str] = Counter()
        total = 0
        for session, file in reversed(self._latest):
            files_of[session] += 1
            total += held[session, file]
            if files_of[session] > MOST_FILES or total > MOST_BYTES:
                manager.remove_file(session, file)


def _manager() -> MemoryUploadedFileManager:
    return cast("MemoryUploadedFileManager", runtime.get_instance().uploaded_file_mgr)
