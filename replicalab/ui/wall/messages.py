"""What a browser may say on its web socket: the kinds that the pages use, at a person's pace."""

from __future__ import annotations

import asyncio
from typing import Final

from google.protobuf.message import DecodeError
from starlette.types import Message, Receive
from streamlit.proto.BackMsg_pb2 import BackMsg

from replicalab.ui.wall.callers import LONGEST_QUERY

_KINDS: Final = frozenset({"rerun_script", "stop_script", "file_urls_request"})
"""Not among them: emptying everybody's caches, and what serves only those who develop."""

_OPERATION: Final = "deferred_file"
"""Of a fourth kind only this: a file to download that is made when it is asked for."""

AS_MANY: Final = 6.0
"""Messages that this counts as: a run ends the one before it, files are made side by side."""

MOST_FILES: Final = 8
"""Files whose addresses are asked for at once; ours are handed over one by one."""

MOST_WIDGETS: Final = 500
"""Widgets whose values come with a message; a page of ours has about thirty."""

LONGEST_NAME: Final = 200
"""Characters of a page's, a part's or a file's name: Streamlit quotes unknown ones in its log."""

AT_ONCE: Final = 10
PER_SECOND: Final = 12.0
"""Faster than anyone types or drags. Each message starts a run, and costs one more to stop."""

MOST_WAITED: Final = 300
"""Messages in a row that had to wait, as of a key held for half a minute; then nobody reads on."""

SILENCE_SECONDS: Final = 90.0
"""Unread, the sender is held back at no cost; its pings go unanswered, and it is cut off."""


def weight(data: bytes) -> float:
    """Return how many messages one counts as; 0 for one of no use, or larger than pages make it."""
    try:
        message = BackMsg.FromString(data)
    except DecodeError:
        return 0
    run, files = message.rerun_script, message.file_urls_request.file_names
    asked = message.backend_operation_request
    made = asked.WhichOneof("payload") == _OPERATION
    names = [run.page_name, run.page_script_hash, run.fragment_id, *run.cached_message_hashes]
    names += [asked.request_id, asked.session_id, asked.deferred_file.file_id]
    is_wanted = (
        (made or message.WhichOneof("type") in _KINDS)
        and len(files) <= MOST_FILES
        and len(run.widget_states.widgets) <= MOST_WIDGETS
        and len(run.cached_message_hashes) <= MOST_WIDGETS
        and len(run.query_string) <= LONGEST_QUERY
        and all(len(name) <= LONGEST_NAME and name.isprintable() for name in names)
        and all(len(name) <= 2 * LONGEST_NAME for name in files)
    )
    return is_wanted * (AS_MANY if made else 1.0)


class Messages:
    """A web socket's messages: they keep the pace, and what is not wanted is left out."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._left = float(AT_ONCE)
        self._at = 0.0
        self._waited = 0

    async def receive(self) -> Message:
        """Return the next message that is wanted, or the end."""
        while True:
            message = await self._receive()
            if message["type"] != "websocket.receive":
                return message
            heavy = weight(message.get("bytes") or b"")
            await self._keep_pace(heavy or 1)
            if self._waited > MOST_WAITED:
                await asyncio.sleep(SILENCE_SECONDS)
                return {"type": "websocket.disconnect", "code": 1008}
            if heavy:
                return message

    async def _keep_pace(self, heavy: float) -> None:
        now = asyncio.get_running_loop().time()
        self._left = min(AT_ONCE, self._left + (now - self._at) * PER_SECOND) - heavy
        self._at = now
        if self._left < 0:
            self._waited += 1
            await asyncio.sleep(-self._left / PER_SECOND)
        else:
            self._waited = 0
