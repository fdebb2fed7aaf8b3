"""The way out to a server and back: what is sent is settled, and what comes is counted."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from typing import Any, Final, cast

import httpcore2
import httpx2

from replicalab.errors import ModelAnswerTooLongError, ModelFormatError, ModelTimeoutError
from replicalab.llm.endpoint import Endpoint

FREE_BYTES: Final = 1 << 18
BYTES_PER_CHARACTER: Final = 4
"""What may come between two pieces of an answer: the first piece may be all of it, and wrapped."""
FREE_BYTES_IN_ALL: Final = 1 << 24
BYTES_PER_TOKEN: Final = 1 << 10
"""What may come in all: a piece, wrapped, for each token, also for those of a model that thinks."""
MOST_BYTES_OF_A_REFUSAL: Final = 1 << 16

_SENT: Final = frozenset({"host", "connection", "accept", "content-type", "content-length"})
_UNPACKED: Final = "identity"
_LONGEST_WAIT: Final = 40
"""Characters of a header that asks for a wait: a date has 29."""


class Gate(httpx2.AsyncHTTPTransport):
    """A transport that settles what is sent, and bounds what is received.

    A request goes to the endpoint's address with its key and no other: proxies, .netrc files,
    redirects and the openai package's own variables have no say. Every byte that comes counts,
    whatever it belongs to: heads, pings, frames, refusals. Of a response little more than status
    and body is kept: in any header a server may repeat the key, ask for mischief, or say that the
    body is packed, so nothing is ever unpacked.

    Attributes:
        unread: bytes since the last piece of an answer; whoever takes one sets this to 0.
        read: bytes in all.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.unread = 0
        self.read = 0
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
        return httpx2.Response(response.status_code, headers=_kept(response.headers), stream=body)

    def count(self, data: bytes) -> None:
        """Count what has come, and raise when it is more than any answer takes."""
        self.unread += len(data)
        self.read += len(data)
        endpoint = self.endpoint
        if (
            self.unread > FREE_BYTES + BYTES_PER_CHARACTER * endpoint.max_characters
            or self.read > FREE_BYTES_IN_ALL + BYTES_PER_TOKEN * endpoint.max_tokens
        ):
            raise ModelAnswerTooLongError(
                f"{endpoint.host} sent {self.read:,} bytes, more than its answer can take, and no "
                "more is read; check the base URL, or try another model."
            )


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
        try:
            data = await self._stream.read(max_bytes, timeout)
        except httpcore2.ReadTimeout:
            raise ModelTimeoutError(
                f"{endpoint.host} was silent for {endpoint.timeout:g} seconds; check "
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
