"""All that goes out to a server and comes in from it, and no more than that."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, cast

import httpx2

from replicalab.errors import ModelFormatError, ModelTimeoutError
from replicalab.llm.endpoint import Endpoint
from replicalab.llm.failures import too_long

if TYPE_CHECKING:
    from httpcore2 import AsyncNetworkStream

FREE_BYTES: Final = 1 << 18
BYTES_PER_CHARACTER: Final = 4
"""What may come between two pieces of an answer: the first piece may be all of it, and wrapped."""

_SENT: Final = frozenset({"host", "connection", "accept", "content-type", "content-length"})
_UNPACKED: Final = "identity"


class Gate(httpx2.AsyncBaseTransport):
    """A transport that settles what is sent, and bounds what is received.

    A request goes to the endpoint's address with its key and no other: proxies, .netrc files,
    redirects and the openai package's own variables have no say. Of a response little more than
    status and body is kept: in any header a server may repeat the key, or ask for mischief.

    Attributes:
        unread: bytes since the last piece of an answer; whoever takes one sets this to 0.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.unread = 0
        self._endpoint = endpoint
        self._network = httpx2.AsyncHTTPTransport(trust_env=False)
        self._connection: AsyncNetworkStream | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the server's response.

        Raises:
            ModelTimeoutError: the server is silent; the package does not ask again after that.
            ModelFormatError: the answer is packed, and might unpack to gigabytes.
        """
        self._settle(request)
        with self._silence_told():
            response = await self._network.handle_async_request(request)
        if response.is_success and response.headers.get("content-encoding", _UNPACKED) != _UNPACKED:
            await response.aclose()
            raise ModelFormatError(
                f"{self._endpoint.host} packed its answer although it was asked not to; check "
                "the base URL."
            )
        content_type = response.headers.get("content-type", "").lower()
        kept = {"content-type": content_type.partition(";")[0]}
        if "retry-after" in response.headers:
            kept["retry-after"] = response.headers["retry-after"]
        body = _Body(self, cast("httpx2.AsyncByteStream", response.stream))
        return httpx2.Response(response.status_code, headers=kept, stream=body)

    def _settle(self, request: httpx2.Request) -> None:
        for name in set(request.headers) - _SENT:
            del request.headers[name]
        request.extensions["trace"] = self._close_half_open
        request.headers["accept-encoding"] = _UNPACKED
        request.headers["user-agent"] = "ReplicaLab"
        if self._endpoint.api_key is not None:
            key = self._endpoint.api_key.get_secret_value()
            request.headers["authorization"] = f"Bearer {key}"

    async def _close_half_open(self, event: str, info: dict[str, object]) -> None:
        """Close a connection that was cancelled before it was safe; its library leaves it open."""
        if event == "connection.connect_tcp.complete":
            self._connection = cast("AsyncNetworkStream", info["return_value"])
        elif event == "connection.start_tls.failed" and self._connection is not None:
            await self._connection.aclose()

    async def received(self, body: httpx2.AsyncByteStream) -> AsyncIterator[bytes]:
        """Yield the body, as long as something is made of it.

        Raises:
            ModelAnswerTooLongError: more came than the longest answer needs.
        """
        with self._silence_told():
            async for chunk in body:
                self.unread += len(chunk)
                if self.unread > FREE_BYTES + BYTES_PER_CHARACTER * self._endpoint.max_characters:
                    raise too_long(self._endpoint)
                yield chunk

    @contextmanager
    def _silence_told(self) -> Iterator[None]:
        try:
            yield
        except httpx2.ReadTimeout:
            raise ModelTimeoutError(
                f"{self._endpoint.host} was silent for {self._endpoint.timeout:g} seconds; check "
                "that the server is not overloaded, or allow more time."
            ) from None

    async def aclose(self) -> None:
        """Close the connection."""
        await self._network.aclose()


class _Body(httpx2.AsyncByteStream):
    """The body of a response, as the gate lets it through."""

    def __init__(self, gate: Gate, body: httpx2.AsyncByteStream) -> None:
        self._gate = gate
        self._body = body

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._gate.received(self._body)

    async def aclose(self) -> None:
        await self._body.aclose()
