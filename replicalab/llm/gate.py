"""The way out to a server and back: what is sent is settled, and what comes is counted."""

import asyncio
import re
import ssl
import time
from collections.abc import AsyncIterator
from typing import Any, Final, cast

import httpcore2
import httpx2

from replicalab.errors import ModelAnswerTooLongError, ModelFormatError, ModelTimeoutError
from replicalab.lexicon import plural
from replicalab.llm.endpoint import Endpoint

LARGEST_PIECE: Final = 1 << 18
"""Bytes between two pieces of an answer: the first piece may be all of it."""
MOST_PARTS: Final = 8000
"""Brackets and commas between two pieces: a value costs the package a tenth of a millisecond."""
FREE_PIECES: Final = 20_000
PIECES_PER_TOKEN: Final = 2
"""Pieces in all: one for each token, those of a model that thinks, and some without a text."""
FREE_BYTES_IN_ALL: Final = 1 << 24
BYTES_PER_TOKEN: Final = 1 << 10
"""What may come in all: a piece, wrapped, for each token, also for those of a model that thinks."""
MOST_BYTES_OF_A_REFUSAL: Final = 1 << 16

BYTES_AT_ONCE: Final = 1 << 12
STRETCH_SECONDS: Final = 0.004
PAUSE_PER_SECOND: Final = 3.0
"""What is read is worked off in short stretches, each followed by a rest three times as long: the
server that sends the most, and the fastest, takes a quarter of a processor from everybody else."""

_SENT: Final = frozenset({"host", "connection", "accept", "content-type", "content-length"})
_UNPACKED: Final = "identity"
_LONGEST_WAIT: Final = 40  # Characters of a header that asks for a wait: a date has 29
_PARTS: Final = (b"{", b"[", b",")
_DONE: Final = re.compile(rb"[\r\n]data: ?\[DONE\]")
_LONGEST_DONE: Final = len("\ndata: [DONE]")


class Gate(httpx2.AsyncHTTPTransport):
    """A transport that settles what is sent, and bounds what is received.

    A request goes to the endpoint's address with its key and no other: proxies, .netrc files,
    redirects and the openai package's own variables have no say. Every byte that comes counts,
    whatever it belongs to: heads, pings, frames, refusals. Of a response little more than status
    and body is kept: in any header a server may repeat the key, ask for mischief, or say that the
    body is packed, so nothing is ever unpacked.

    Attributes:
        unread: bytes since the last piece of an answer.
        parts: brackets and commas among them.
        pieces: how many pieces were taken.
        read: bytes in all.
        said_done: whether the answer's stream said that it is at its end, and was not cut off.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.unread = self.parts = self.pieces = self.read = 0
        self.said_done = False
        self._rested = 0.0
        self.endpoint = endpoint
        context = httpx2.create_ssl_context(trust_env=False)
        super().__init__(verify=context)
        # The transport takes no backend of one's own, and only there is every byte seen.
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=context, network_backend=_Network(self)
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the server's response; of a refusal no more than its beginning.

        Raises:
            ModelTimeoutError: the server is silent; the package does not ask again after that.
            ModelAnswerTooLongError: more comes than an answer takes.
            ModelFormatError: the answer is packed.
        """
        for name in set(request.headers) - _SENT:
            del request.headers[name]
        request.headers.update({"accept-encoding": _UNPACKED, "user-agent": "ReplicaLab"})
        if self.endpoint.api_key is not None:
            key = self.endpoint.api_key.get_secret_value()
            request.headers["authorization"] = f"Bearer {key}"
        self._rested = time.thread_time()
        response = await super().handle_async_request(request)
        packed = response.headers.get("content-encoding", "").lower() not in ("", _UNPACKED)
        body = cast("httpx2.AsyncByteStream", response.stream)
        if not response.is_success:
            body = _Beginning(body, 0 if packed else MOST_BYTES_OF_A_REFUSAL)
        elif packed:
            await response.aclose()
            raise ModelFormatError(
                f"{self.endpoint.host} packed its answer although it was asked not to; check "
                "the base URL."
            )
        else:
            body = _Ended(body, self)
        return httpx2.Response(response.status_code, headers=_kept(response.headers), stream=body)

    def count(self, data: bytes) -> None:
        """Count what has come, and raise when it is more than any answer takes."""
        self.unread += len(data)
        self.read += len(data)
        self.parts += sum(map(data.count, _PARTS))
        if self.unread > LARGEST_PIECE:
            raise self._too_much(f"more than {LARGEST_PIECE:,} bytes in one piece")
        if self.parts > MOST_PARTS:
            raise self._too_much(f"more than {MOST_PARTS:,} parts in one piece")
        if self.read > FREE_BYTES_IN_ALL + BYTES_PER_TOKEN * self.endpoint.max_tokens:
            raise self._too_much(f"{self.read:,} bytes, more than its answer can take")

    def take_piece(self) -> None:
        """Count a piece of the answer, and raise when there are more than any answer has."""
        self.unread = self.parts = 0
        self.pieces += 1
        if self.pieces > FREE_PIECES + PIECES_PER_TOKEN * self.endpoint.max_tokens:
            raise self._too_much(f"{self.pieces:,} pieces, more than its answer can have")

    def _too_much(self, what: str) -> ModelAnswerTooLongError:
        return ModelAnswerTooLongError(
            f"{self.endpoint.host} sent {what}, and no more is read; check the base URL, or try "
            "another model."
        )

    async def rest(self) -> None:
        """Leave the processor to others, once a stretch of work on what came is done."""
        worked = time.thread_time() - self._rested
        if worked >= STRETCH_SECONDS:
            await asyncio.sleep(PAUSE_PER_SECOND * worked)
            self._rested = time.thread_time()


def _kept(headers: httpx2.Headers) -> dict[str, str]:
    """Return the headers that are kept: what the body is, and how long to wait."""
    content_type = headers.get("content-type", "").lower()
    kept = {"content-type": content_type.partition(";")[0]}
    wait = headers.get("retry-after", "")
    if 0 < len(wait) <= _LONGEST_WAIT:
        kept["retry-after"] = wait
    return kept


class _Beginning(httpx2.AsyncByteStream):
    """The beginning of a body; the rest is not read."""

    def __init__(self, body: httpx2.AsyncByteStream, most: int) -> None:
        self._body = body
        self._left = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if not self._left:
            return
        async for chunk in self._body:
            yield chunk[: self._left]
            self._left -= len(chunk)
            if self._left <= 0:
                return

    async def aclose(self) -> None:
        await self._body.aclose()


class _Ended(httpx2.AsyncByteStream):
    """A body that tells the gate when its stream says that it is done.

    The package ends there too, and does not tell that from a connection that was cut. No text of
    a model can look so: in JSON it holds no line break.
    """

    def __init__(self, body: httpx2.AsyncByteStream, gate: Gate) -> None:
        self._body = body
        self._gate = gate
        gate.said_done = False  # an answer before this one, of which another was asked for

    async def __aiter__(self) -> AsyncIterator[bytes]:
        end = b"\n"
        async for chunk in self._body:
            if not self._gate.said_done:
                end += chunk
                self._gate.said_done = _DONE.search(end) is not None
                end = end[1 - _LONGEST_DONE :]
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


class _Network(httpcore2.AnyIOBackend):
    """The network, with every connection counted."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def connect_tcp(self, *args: Any, **how: Any) -> httpcore2.AsyncNetworkStream:
        return _Counted(self._gate, await super().connect_tcp(*args, **how))


class _Counted(httpcore2.AsyncNetworkStream):
    """A connection of which every byte that comes is counted."""

    def __init__(self, gate: Gate, stream: httpcore2.AsyncNetworkStream) -> None:
        self._gate = gate
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what has come; a silence is our own error, after which nobody asks again."""
        endpoint = self._gate.endpoint
        await self._gate.rest()
        try:
            data = await self._stream.read(min(max_bytes, BYTES_AT_ONCE), timeout)
        except httpcore2.ReadTimeout:
            raise ModelTimeoutError(
                f"{endpoint.host} was silent for {endpoint.timeout:g} "
                f"{plural('second', endpoint.timeout)}; check "
                "that the server is not overloaded, or allow more time."
            ) from None
        self._gate.count(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Return the connection made safe; its library leaves one open that is cancelled before."""
        try:
            safe = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except BaseException:
            await self.aclose()
            raise
        return _Counted(self._gate, safe)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
