"""What passes on a web socket: what a browser may say, and when what a run draws leaves."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from starlette.types import Message, Receive, Send

from replicalab.server.internals import BEGIN, ELEMENTS, END, read_asked

LONGEST_QUERY: Final = 14_000
"""Characters of an address after its question mark. The server behind takes 16 384 bytes of a
request and its headers, and above that refuses it without a word before anyone is asked."""

# Not among them: emptying everybody's caches, and what serves only those who develop.
_KINDS: Final = frozenset({"rerun_script", "stop_script", "file_urls_request"})

# Of a fourth kind only this: a file to download that is made when it is asked for.
_OPERATION: Final = "deferred_file"

OPERATION_WEIGHT: Final = 6.0
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

LONGEST_WAIT: Final = 0.05
"""Seconds after its first element at which what there is of a longer run leaves."""


def weight(data: bytes) -> float:
    """Return how many messages one counts as; 0 for one of no use, or larger than pages make it."""
    asked = read_asked(data)
    if asked is None:
        return 0
    is_operation = asked.operation == _OPERATION
    is_wanted = (
        (is_operation or asked.kind in _KINDS)
        and len(asked.files) <= MOST_FILES
        and asked.widgets <= MOST_WIDGETS
        and asked.hashes <= MOST_WIDGETS
        and len(asked.query) <= LONGEST_QUERY
        and all(len(name) <= LONGEST_NAME and name.isprintable() for name in asked.names)
        and all(len(name) <= 2 * LONGEST_NAME for name in asked.files)
    )
    return is_wanted * (OPERATION_WEIGHT if is_operation else 1.0)


class Incoming:
    """A browser's messages at a person's pace, without those that no page of ours sends."""

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
            counts = weight(message.get("bytes") or b"")
            await self._keep_pace(counts or 1)
            if self._waited > MOST_WAITED:
                # Not closed at once: whoever floods us would come back at once.
                await asyncio.sleep(SILENCE_SECONDS)
                return {"type": "websocket.disconnect", "code": 1008}
            if counts:
                return message

    async def _keep_pace(self, counts: float) -> None:
        # A token bucket: it fills at a person's pace, and what is owed is waited for.
        now = asyncio.get_running_loop().time()
        self._left = min(AT_ONCE, self._left + (now - self._at) * PER_SECOND) - counts
        self._at = now
        if self._left < 0:
            self._waited += 1
            await asyncio.sleep(-self._left / PER_SECOND)
        else:
            self._waited = 0


class Bursts:
    """The messages of a run, held until it ends and then sent together.

    A page is some forty messages, sent as the script comes to them. A browser paints what has come
    every few hundredths of a second: the page in three parts, each of which costs nearly as much as
    the whole (docs/performance.md: an edit takes 1.3 times a stock app's instead of 1.4).
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._held: list[Message] = []
        self._begins = False
        self._timer: asyncio.Task[None] | None = None
        # The timer and the run may both release: without this, a later message would overtake.
        self._in_turn = asyncio.Lock()

    async def send(self, messages: Sequence[Message], kind: str) -> None:
        """Send messages, or hold them for their burst; those of no known kind never wait."""
        if self._begins and kind in ELEMENTS and messages:
            self._begins = False
            self._timer = asyncio.create_task(self._release_later())
        self._begins = self._begins or kind == BEGIN
        self._held += messages
        if self._timer is None or kind == END or not kind:
            await self._release()

    def close(self) -> None:
        """Forget what is held: nobody is there any more."""
        self._stop_waiting()
        self._held.clear()

    async def _release_later(self) -> None:
        await asyncio.sleep(LONGEST_WAIT)
        self._timer = None
        with suppress(Exception):  # whoever sends next learns that the browser has gone
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
