"""What a browser may say on its web socket: the kinds that the pages use, at a person's pace."""

from __future__ import annotations

import asyncio
from typing import Final

from google.protobuf.message import DecodeError
from starlette.types import Message, Receive
from streamlit.proto.BackMsg_pb2 import BackMsg

_KINDS: Final = frozenset({"rerun_script", "stop_script", "file_urls_request"})
"""Not among them: emptying everybody's caches, and what serves only those who develop."""

MOST_FILES: Final = 8
"""Files whose addresses are asked for at once; ours are handed over one by one."""

PER_SECOND: Final = 30
AT_ONCE: Final = 90
"""Faster than anyone types or drags, and slow enough to leave the server to others."""


def is_wanted(data: bytes) -> bool:
    """Return whether a message is of use to the pages, and no larger than they make it."""
    try:
        message = BackMsg.FromString(data)
    except DecodeError:
        return False
    if message.WhichOneof("type") not in _KINDS:
        return False
    return len(message.file_urls_request.file_names) <= MOST_FILES


class Pace:
    """Makes whoever asks too often wait."""

    def __init__(self) -> None:
        self._left = float(AT_ONCE)
        self._at = asyncio.get_running_loop().time()

    async def keep(self) -> None:
        """Return at once, or when it is their turn again."""
        now = asyncio.get_running_loop().time()
        self._left = min(AT_ONCE, self._left + (now - self._at) * PER_SECOND) - 1
        self._at = now
        if self._left < 0:
            await asyncio.sleep(-self._left / PER_SECOND)


def filtered(receive: Receive) -> Receive:
    """Return a ``receive`` that keeps the pace and leaves out what is not wanted."""
    pace = Pace()

    async def receive_wanted() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            await pace.keep()
            if is_wanted(message.get("bytes") or b""):
                return message

    return receive_wanted
