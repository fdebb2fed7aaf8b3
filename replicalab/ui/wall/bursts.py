"""What a run draws leaves in one burst, so that the browser paints it once.

A page is some forty messages, sent as the script comes to them. A browser paints what has come
every few hundredths of a second: the page in three parts, each of which costs nearly as much as
the whole.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from google.protobuf.message import DecodeError
from starlette.types import Message, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

LONGEST_WAIT: Final = 0.05
"""Seconds after its first element at which what there is of a longer run leaves."""


class Bursts:
    """The server's messages on one web socket, those of a run held until it ends."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._held: list[Message] = []
        self._begins = False
        self._timer: asyncio.Task[None] | None = None
        self._in_turn = asyncio.Lock()

    async def send(self, message: Message) -> None:
        """Send a message, or hold it for the burst that it belongs to."""
        kind = _kind(message)
        if self._begins and kind in _ELEMENTS:
            self._begins = False
            self._timer = asyncio.create_task(self._release_later())
        self._begins = self._begins or kind == _BEGIN
        self._held.append(message)
        if self._timer is None or kind == _END or not kind:
            await self._release()

    def close(self) -> None:
        """Forget what is held: nobody is there any more."""
        self._stop_waiting()
        self._held.clear()

    async def _release_later(self) -> None:
        await asyncio.sleep(LONGEST_WAIT)
        self._timer = None
        with suppress(Exception):  # whoever sends next is told that the browser has gone
            await self._release()

    async def _release(self) -> None:
        self._stop_waiting()
        async with self._in_turn:
            while self._held:
                await self._send(self._held.pop(0))

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


_BEGIN: Final = "new_session"
_ELEMENTS: Final = frozenset({"delta", "ref_hash"})
_END: Final = "script_finished"


def _kind(message: Message) -> str:
    """Return the kind of a message to the page; empty for what is none."""
    try:
        return ForwardMsg.FromString(message.get("bytes") or b"").WhichOneof("type") or ""
    except DecodeError:
        return ""
