"""A server of the tests' own that speaks chat completions over real HTTP, well or badly."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Final, NamedTuple

from replicalab.features.language_model import Endpoint

CANARY: Final = "sk-canary-5f2b9c7e41d86a03"
MESSAGES: Final = [
    {"role": "system", "content": "You are the Scientist."},
    {"role": "user", "content": "Round 1 of 5"},
]
JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"


class _PatientServer(ThreadingHTTPServer):
    """Keeps callers waiting rather than turning the sixth away."""

    request_queue_size = 64


class Received(NamedTuple):
    """A request as it came in; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, object]


class Exchange:
    """One request at the server, and the means to answer it in any way."""

    def __init__(self, handler: BaseHTTPRequestHandler, received: Received, stop: Event) -> None:
        self.received = received
        self.sent = 0
        self._handler = handler
        self._stop = stop

    def raw(self, data: bytes) -> None:
        self._handler.wfile.write(data)
        self._handler.wfile.flush()
        self.sent += len(data)

    def wait(self) -> None:
        self._handler.connection.settimeout(0.02)
        while not self._stop.is_set():
            with suppress(TimeoutError):
                if not self._handler.connection.recv(1):
                    raise ConnectionResetError

    def drip(self, data: bytes, seconds: float) -> None:
        while not self._stop.wait(seconds):
            self.raw(data)


Reply = Callable[[Exchange], None]


@dataclass
class Server:
    """The running server: the requests that it got, and whether a caller left before the end."""

    url: str
    received: list[Received] = field(default_factory=list)
    left: Event = field(default_factory=Event)


@contextmanager
def serve(*replies: Reply) -> Iterator[Server]:
    stop = Event()

    class ReplyHandler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers.get("content-length", "0"))
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = json.loads(self.rfile.read(size) or b"{}")
            received = Received(self.command, self.path, headers, body)
            self.close_connection = True
            running.received.append(received)
            reply = replies[min(len(running.received), len(replies)) - 1]
            try:
                reply(Exchange(self, received, stop))
            except OSError:
                running.left.set()

        def log_message(self, *_: object) -> None:
            return

    with _PatientServer(("127.0.0.1", 0), ReplyHandler) as httpd:
        running = Server(f"http://127.0.0.1:{httpd.server_port}/v1")
        thread = Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield running
        finally:
            stop.set()
            httpd.shutdown()
            thread.join()


def endpoint_at(url: str, **changes: object) -> Endpoint:
    fields = {"base_url": url, "model": "test-model", "api_key": CANARY}
    limits = {"timeout": 2, "time_limit": 8, "max_retries": 0}
    return Endpoint.model_validate({**fields, **limits, **changes})


def head(status: int, content_type: str, **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Status", f"Content-Type: {content_type}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1")


def completion(text: object, **more: object) -> dict[str, object]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "1", "object": "chat.completion", "choices": [choice], **more}


def piece(text: object, finish_reason: str | None = None) -> dict[str, object]:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish_reason}
    return {"id": "1", "object": "chat.completion.chunk", "choices": [choice]}


def event(data: object) -> bytes:
    text = data if isinstance(data, str) else json.dumps(data)
    return f"data: {text}\n\n".encode()


DONE: Final = event("[DONE]")
GOOD_HEAD: Final = head(200, EVENTS)


def whole(text: object, **more: object) -> Reply:
    return sending(200, JSON, json.dumps(completion(text, **more)).encode())


def streamed(*texts: object, usage: object = None) -> Reply:
    events = [event(piece(text)) for text in texts] + [event(piece(None, "stop"))]
    events += [event({"choices": [], "usage": usage})] if usage is not None else []
    return sending(200, EVENTS, b"".join([*events, DONE]))


def sending(status: int, content_type: str, body: bytes, **headers: str) -> Reply:
    return lambda exchange: exchange.raw(head(status, content_type, **headers) + body)


def failing(status: int, body: object = None, **headers: str) -> Reply:
    return sending(status, JSON, json.dumps(body or {"error": {}}).encode(), **headers)
