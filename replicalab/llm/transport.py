"""The network under watch: each wait is short, so that a call can be stopped at any moment.

The package's own time-outs only begin anew with each byte; a server that drips a byte now and
then would hold a call for ever. Cancelling, too, must not wait for the next byte.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from functools import cache
from typing import TypeAlias

import httpcore2
import httpx2

from replicalab.llm.watch import POLL_SECONDS, Watch

_SocketOption: TypeAlias = (
    tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
)


class WatchedStream(httpcore2.NetworkStream):
    """A connection whose reads look at the watch again and again."""

    def __init__(self, stream: httpcore2.NetworkStream, watch: Watch) -> None:
        self._stream = stream
        self._watch = watch

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return the next bytes.

        Raises:
            ModelTimeoutError: silent for longer than ``timeout``, or over the time limit.
            ModelCancelledError: the user stopped the call.
            ModelAnswerTooLongError: more came than is read.
        """
        silent_until = self._watch.seconds + (timeout or 0)
        while True:
            self._watch.check()
            data = self._read_soon(max_bytes)
            if data is not None:
                self._watch.heard(len(data))
                return data
            if timeout is not None and self._watch.seconds >= silent_until:
                raise self._watch.too_silent()

    def _read_soon(self, max_bytes: int) -> bytes | None:
        try:
            return self._stream.read(max_bytes, POLL_SECONDS)
        except httpcore2.ReadTimeout:
            return None

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes."""
        self._watch.check()
        self._stream.write(buffer, _shorter(timeout, self._watch.remaining))

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        """Return the same connection, encrypted."""
        seconds = _shorter(timeout, self._watch.remaining)
        return WatchedStream(
            self._stream.start_tls(ssl_context, server_hostname, seconds), self._watch
        )

    def get_extra_info(self, info: str) -> object:
        """Return what the connection knows of itself."""
        return self._stream.get_extra_info(info)


class WatchedBackend(httpcore2.NetworkBackend):
    """Opens connections under watch."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._backend = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[_SocketOption] | None = None,
    ) -> httpcore2.NetworkStream:
        """Return a new connection.

        Raises:
            ConnectError: there is none; also for names that no host can have, which the standard
                library reports as a fault of their spelling.
        """
        self._watch.check()
        seconds = _shorter(timeout, self._watch.remaining)
        try:
            stream = self._backend.connect_tcp(host, port, seconds, local_address, socket_options)
        except UnicodeError as error:
            raise httpcore2.ConnectError("no host has such a name") from error
        return WatchedStream(stream, self._watch)


class WatchedTransport(httpx2.HTTPTransport):
    """HTTP/1.1 over watched connections, without proxies or certificates from the environment."""

    def __init__(self, watch: Watch) -> None:
        context = _certificates()
        super().__init__(verify=context, trust_env=False)
        self._pool = httpcore2.ConnectionPool(
            ssl_context=context, network_backend=WatchedBackend(watch)
        )


@cache
def _certificates() -> ssl.SSLContext:
    """Return the system's trusted certificates; reading them takes longer than a local call."""
    return httpx2.create_ssl_context(trust_env=False)


def _shorter(timeout: float | None, remaining: float) -> float:
    """Return the shorter time; never 0, which a socket takes for "do not wait at all"."""
    return max(0.001, remaining if timeout is None else min(timeout, remaining))
