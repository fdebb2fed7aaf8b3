"""How much of what visitors hand over is held: the last files of each, and so much of all.

A page reads a file in the moment in which it comes, so an older one is of no more use.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, cast

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from replicalab.ui.wall.callers import Refusal

MOST_FILES: Final = 2
MOST_BYTES: Final = 96 * 2**20
"""Of all visitors together: so much is held, and so much may be on its way."""

_LENGTH: Final = re.compile(r"[0-9]{1,12}")


class Uploads:
    """Passes files on, and lets go of the oldest once the newest is held."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._latest: list[tuple[str, str]] = []
        self._coming = 0

    def refused(self, scope: Scope) -> Refusal | None:
        """Return why a file cannot be taken now, or None."""
        size = _size(scope)
        if size is None:
            return Refusal(411, "A file is handed over with its length.")
        if self._coming + size > MOST_BYTES:
            return Refusal(503, "Too many files are on their way here; try again in a minute.")
        return None

    async def take(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a file on, then let go of those that it takes the place of.

        Not before: the framework refuses a file without a session, and that one takes no place.
        """
        size = _size(scope) or 0
        session, file = scope["path"].split("/")[-2:]
        self._coming += size
        try:
            await self._app(scope, receive, send)
        finally:
            self._coming -= size
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


def _size(scope: Scope) -> int | None:
    given = Headers(scope=scope).get("content-length", "")
    return int(given) if _LENGTH.fullmatch(given) else None


def _manager() -> MemoryUploadedFileManager:
    return cast("MemoryUploadedFileManager", runtime.get_instance().uploaded_file_mgr)
