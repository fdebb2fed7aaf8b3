"""Servers that refuse, fail, stall or drop: told plainly, in time, and without the key."""

from __future__ import annotations

import gc
import gzip
import json
import logging
import socket
import threading
import traceback
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Event
from typing import Final

import pytest

from replicalab.errors import (
    ModelError,
    ModelRateLimitedError,
    ModelRefusedError,
    ModelServerError,
    ModelTimeoutError,
    ModelUnreachableError,
)
from replicalab.llm import Endpoint, Progress, build_generate_fn
from replicalab.llm.call import MOST_LOOK_UPS
from replicalab.negotiation import Recorder
from tests.golden import assert_golden
from tests.llm.serving import (
    CANARY,
    DONE,
    EVENTS,
    GOOD_HEAD,
    JSON,
    MESSAGES,
    Exchange,
    Reply,
    Server,
    completion,
    endpoint_at,
    event,
    failing,
    head,
    piece,
    sending,
    serve,
    streamed,
)
from tests.tiers import one_in

SOON: Final = {"Retry_After": "0.01"}
PATIENCE: Final = 5.0
"""Seconds in which things must happen that happen at once, on a machine that is busy."""


def failure_of(endpoint: Endpoint, **hooks: Callable[..., object]) -> ModelError:
    """Return the error of a call, behind which there is no other."""
    with pytest.raises(ModelError) as caught:
        build_generate_fn(endpoint, **hooks)(MESSAGES)  # type: ignore[arg-type]
    assert caught.value.__cause__ is caught.value.__context__ is None
    return caught.value


def drop(exchange: Exchange) -> None:
    """Close the connection without a word."""


def slowly(first: bytes, block: bytes = b"") -> Reply:
    """Return a reply that goes on with this block for ever, or says no more."""

    def reply(exchange: Exchange) -> None:
        exchange.raw(first)
        exchange.drip(block, 0.05) if block else exchange.wait()

    return reply


HELLO: Final = event(piece("Hel"))
SILENT: Final = [slowly(b""), slowly(GOOD_HEAD + HELLO)]
SLOW: Final = [
    *SILENT,
    slowly(GOOD_HEAD, HELLO),
    slowly(GOOD_HEAD, b":\n"),
    slowly(GOOD_HEAD, b"d"),
    slowly(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x"),
    slowly(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    *(slowly(head(status, JSON), b" ") for status in (200, 302, 400)),
]


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("nowhere.invalid", "nowhere.invalid is not known as a host; check"),
        ("a..b", "a..b is not known as a host; check"),
        ("x" * 64, f"{'x' * 64} is not known as a host; check"),
        ("999.9.9.9", "The base URL names no host; write"),
    ],
)
def test_host_that_does_not_exist_is_told(host: str, told: str) -> None:
    assert str(failure_of(endpoint_at(f"http://{host}/v1"))).startswith(told)


def test_address_where_nobody_listens_is_unreachable() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    error = failure_of(endpoint_at(f"http://127.0.0.1:{port}/v1"))
    assert isinstance(error, ModelUnreachableError)
    assert str(error).startswith(f"127.0.0.1:{port} does not answer; check")


def test_plain_server_asked_over_https_is_unreachable() -> None:
    with serve(streamed("x")) as server:
        error = failure_of(endpoint_at(server.url.replace("http:", "https:")))
    assert isinstance(error, ModelUnreachableError)
    assert "certificate" in str(error)


CODE: Final = {"error": {"message": f"lost {CANARY}", "code": "overloaded"}}
SHORT: Final = json.dumps(CODE).encode()
LONG: Final = json.dumps(CODE | {"more": "x" * 100_000}).encode()
WHOLE: Final = json.dumps(completion("x")).encode()
LASTING: Final[dict[str, Reply]] = {
    **{str(n): failing(n, x_should_retry="true") for n in (302, 400, 401, 403, 404, 413)},
    # The server's own code is shown if it is a plain word.
    "a code": failing(404, {"error": {"code": "model_not_found"}}),
    "a type": failing(404, {"error": {"code": None, "type": "not_found_error"}}),
    "a type alone": failing(404, {"type": "not_found"}),
    "markup for a code": failing(404, {"error": {"code": "<b>bold</b>"}}),
    "numbers for a code": failing(404, {"error": {"code": 7, "type": ["x"]}}),
    "no code": failing(404, {"error": "no such model"}),
    "a list": failing(404, ["no such model"]),
    # What is packed is not unpacked, or its code would be shown.
    "a packed refusal": sending(400, JSON, gzip.compress(SHORT), Content_Encoding="gzip"),
    "one packed by another name": sending(400, f"{JSON}; charset=zlib", zlib.compress(SHORT)),
    "a long refusal": sending(400, JSON, LONG),
    **{f"an answer packed by {name}": sending(200, JSON, WHOLE, Content_Encoding=name)
       for name in ("gzip", "GZIP", "identity, gzip", "deflate", "br", "zstd", "x")},
}  # fmt: skip
PASSING: Final[dict[str, Reply]] = {
    **{str(n): failing(n, x_should_retry="true") for n in (429, 500, 503)},
    "a wait": failing(429, Retry_After="600"),
    "an endless wait": failing(429, Retry_After="1e999"),
    "an error in an answer": sending(200, EVENTS, HELLO + event(CODE)),
    "an event of an error": sending(200, EVENTS, b"event: error\n" + event(CODE)),
    "an error for an answer": sending(200, JSON, SHORT),
    "no end": sending(200, EVENTS, HELLO),
    "half an event": sending(200, EVENTS, HELLO + event(piece("lo", "stop"))[:-5]),
    "fewer bytes": sending(200, EVENTS, HELLO, Content_Length="999"),
    "half a chunk": sending(
        200, EVENTS, b"%x\r\n%b\r\n" % (len(HELLO), HELLO), Transfer_Encoding="chunked"
    ),
    **{f"half a body of {status}": sending(status, JSON, b"{", Content_Length="10")
       for status in (200, 400)},
}  # fmt: skip


def test_refusals_are_told_with_host_and_remedy_and_asked_again_only_where_they_may_pass() -> None:
    told = []
    for replies, retries in ((LASTING, 2), (PASSING, 0)):
        for what, reply in replies.items():
            with serve(reply) as server:
                endpoint = endpoint_at(server.url, max_retries=retries)
                error = failure_of(endpoint)
            assert len(server.received) == 1, what
            told.append(f"{what}\n{type(error).__name__}: {error}".replace(endpoint.host, "HOST"))
    assert_golden("model_failures", "\n".join(told))


def test_servers_own_code_is_not_shown_where_it_may_be_a_part_of_the_key() -> None:
    key = "correct_horse_battery"
    for code in (key, "horse", f"my_{key}", "esroh", "yrettab_esroh_tcerroc"):
        with serve(failing(404, {"error": {"code": code}})) as server:
            assert "(404);" in str(failure_of(endpoint_at(server.url, api_key=key)))


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (failing(429, **SOON), ModelRateLimitedError),
        (failing(500, **SOON), ModelServerError),
        (failing(503, **SOON), ModelServerError),
        (drop, ModelUnreachableError),
        # An absurd wait is ignored.
        *one_in(3, ((failing(429, Retry_After=wait), ModelRateLimitedError)
                    for wait in ("nan", "-5", "tomorrow"))),
    ],
)  # fmt: skip
def test_passing_trouble_is_overcome_by_asking_again_and_lasting_trouble_ends(
    bad: Reply, kind: type[ModelError]
) -> None:
    with serve(bad, streamed("Hello")) as server:
        assert build_generate_fn(endpoint_at(server.url, max_retries=1))(MESSAGES) == "Hello"
    assert len(server.received) == 2
    with serve(bad) as server:
        assert type(failure_of(endpoint_at(server.url, max_retries=1))) is kind
    assert len(server.received) == 2


def test_server_that_asks_for_a_long_wait_is_not_waited_for() -> None:
    with serve(failing(429, Retry_After="600")) as server:
        assert "wait 600 seconds" in str(failure_of(endpoint_at(server.url, max_retries=2)))
    assert len(server.received) == 1


# A call can be stopped at any moment, and leaves nothing behind.


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Check that each call took its threads, its event loop and its sockets with it."""
    yield
    for thread in threading.enumerate():
        if thread.name.startswith("model_"):
            thread.join(PATIENCE)
            assert not thread.is_alive()
    gc.collect()  # A loop or a socket that nobody closed warns now, and warnings are errors.


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize(
    ("slow", "limits", "told"),
    one_in(3, [
        *((slow, {"timeout": 0.3}, "was silent for 0.3 seconds") for slow in SILENT),
        *((slow, {"time_limit": 0.4}, "did not complete its answer within 0.4 seconds")
          for slow in SLOW),
    ]),
)  # fmt: skip
def test_slow_server_is_left_in_time_and_not_asked_again(
    slow: Reply, limits: dict[str, object], told: str
) -> None:
    with serve(slow) as server:
        error = failure_of(endpoint_at(server.url, max_retries=2, **limits))
        assert server.left.wait(PATIENCE)
    assert isinstance(error, ModelTimeoutError)
    assert told in str(error)
    assert len(server.received) == 1


class Rerun(BaseException):
    """As Streamlit interrupts a script."""


def stopped_call(endpoint: Endpoint, mine: BaseException, ready: Callable[[], object]) -> None:
    """Call, raise this at the first report once ``ready``, and check that it ends the call."""

    def progress(_: Progress) -> None:
        if ready():
            raise mine

    with pytest.raises(type(mine)) as caught:
        build_generate_fn(endpoint, on_progress=progress)(MESSAGES)
    assert caught.value is mine
    assert mine.__cause__ is mine.__context__ is None


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize(
    ("kind", "slow"),
    [
        *one_in(3, ((Rerun, slow) for slow in SLOW)),
        *((kind, slow) for kind in (KeyboardInterrupt, StopIteration, OSError, ModelError)
          for slow in SLOW[:1]),
    ],
)  # fmt: skip
def test_error_of_the_progress_function_ends_the_call(
    kind: type[BaseException], slow: Reply
) -> None:
    with serve(slow) as server:
        endpoint = endpoint_at(server.url, max_retries=2)
        stopped_call(endpoint, kind("mine"), lambda: server.received)
        assert server.left.wait(PATIENCE)
    assert len(server.received) == 1


@contextmanager
def deaf() -> Iterator[str]:
    """Yield an address where connections are taken, and never made safe."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"https://127.0.0.1:{listening.getsockname()[1]}/v1"


@contextmanager
def nameless() -> Iterator[str]:
    """Yield an address whose host is looked up for ever."""
    found = Event()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", lambda *_, **__: found.wait() and [])
        try:
            yield "http://models.invalid/v1"
        finally:
            found.set()


@contextmanager
def busy() -> Iterator[str]:
    """Yield an address where one is to come back in a minute."""
    with serve(failing(429, Retry_After="60")) as server:
        yield server.url
    assert len(server.received) == 1


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("place", [deaf, nameless, busy])
def test_call_that_is_not_answered_yet_ends_too(
    place: Callable[[], AbstractContextManager[str]],
) -> None:
    with place() as url:
        stopped_call(endpoint_at(url, timeout=60, max_retries=2), Rerun("mine"), lambda: True)
    with place() as url:
        endpoint = endpoint_at(url, timeout=60, max_retries=2, time_limit=0.3)
        assert isinstance(failure_of(endpoint), ModelTimeoutError)


@pytest.mark.usefixtures("nothing_left")
def test_names_that_are_looked_up_for_ever_are_few_and_keep_no_other_call() -> None:
    before = threading.active_count()
    with nameless() as url:
        for _ in range(MOST_LOOK_UPS):
            stopped_call(endpoint_at(url), Rerun("mine"), lambda: True)
        error = failure_of(endpoint_at(url, max_retries=2))
        assert isinstance(error, ModelUnreachableError)
        assert str(error).startswith(f"{MOST_LOOK_UPS} host names are still being looked up")
        assert threading.active_count() == before + MOST_LOOK_UPS
        looking = [each for each in threading.enumerate() if each.name == "model_host"]
        assert all(each.daemon for each in looking), "they keep no process from ending"
        assert len(looking) == MOST_LOOK_UPS
        with serve(streamed("by number")) as server:
            assert build_generate_fn(endpoint_at(server.url))(MESSAGES) == "by number"


def test_progress_is_reported_from_waiting_to_the_end() -> None:
    def slowly(exchange: Exchange) -> None:
        exchange.sleep(0.35)
        exchange.raw(GOOD_HEAD)
        for text in ("Hel", "lo"):
            exchange.raw(event(piece(text)))
            exchange.sleep(0.25)
        exchange.raw(event(piece(None, "stop")) + DONE)

    seen: list[Progress] = []
    with serve(slowly) as server:
        build_generate_fn(endpoint_at(server.url), on_progress=seen.append)(MESSAGES)
    assert {progress.characters for progress in seen} == {0, 3, 5}
    assert seen == sorted(seen)
    assert 0.8 <= seen[-1].seconds < 2
    assert len(seen) < 20


# What the endpoint alone decides: whom the key reaches, and what else is sent.


def test_redirect_is_not_followed_and_the_key_does_not_leave() -> None:
    with serve(streamed("stolen")) as thief:
        location = thief.url.replace("127.0.0.1", "localhost") + "/chat/completions"
        for status in (301, 302, 303, 307, 308):
            with serve(failing(status, Location=location)) as server:
                error = failure_of(endpoint_at(server.url, max_retries=1))
            assert isinstance(error, ModelRefusedError)
            assert "another address" in str(error)
    assert thief.received == []


@pytest.fixture
def foreign_settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Set every variable that could send a request elsewhere; yield the place it would go to."""
    with serve(streamed("stolen")) as elsewhere:
        host = elsewhere.url.removesuffix("/v1")
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, host)
            monkeypatch.setenv(name.lower(), host)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.setenv("OPENAI_BASE_URL", elsewhere.url)
        for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "WEBHOOK_SECRET"):
            monkeypatch.setenv(f"OPENAI_{name}", "foreign-secret")
        headers = "Authorization: Bearer foreign-secret\nX-Foreign: foreign-secret"
        monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", headers)
        yield elsewhere


@pytest.mark.parametrize("key", [CANARY, None])
def test_variables_of_the_package_and_proxies_have_no_say(
    key: str | None, foreign_settings: Server
) -> None:
    with serve(streamed("mine")) as server:
        endpoint = endpoint_at(server.url, api_key=key)
        assert build_generate_fn(endpoint)(MESSAGES) == "mine"
    assert foreign_settings.received == []
    headers = server.received[0].headers
    assert "foreign-secret" not in str(server.received)
    assert headers.get("authorization") == (f"Bearer {key}" if key else None)
    assert set(headers) - {"authorization"} == {
        *("host", "connection", "accept", "content-type", "content-length"),
        *("accept-encoding", "user-agent"),
    }


# The key shows nowhere, whatever a server does with it.


ECHO: Final = event({"error": {"message": "bad KEY", "code": "KEY", "type": "KEY"}})
ECHOES: Final = [
    *(head(status, JSON, X_Request_Id="KEY", X_Echo="KEY", Retry_After="0.01")
      .replace(b"Status", b"bad KEY") + ECHO.removeprefix(b"data: ")
      for status in (302, 400, 401, 403, 404, 429, 500)),
    b"KEY \r\n\r\n",
    head(200, EVENTS, X_Echo="KEY") + event(piece("KEY")) + ECHO,
    head(200, JSON, X_Request_Id="KEY") + b'{"choices": "KEY',
    head(307, JSON, Location="http://127.0.0.1:9/KEY"),
    head(200, EVENTS, X_Echo="KEY", Content_Length="999") + event(piece("KEY")),
]  # fmt: skip
"""What a server may send, with the key that it was asked with in place of KEY."""


@pytest.mark.parametrize("echo", ECHOES)
def test_key_shows_in_no_error_no_log_and_no_record(
    echo: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    def reply(exchange: Exchange) -> None:
        key = exchange.received.headers["authorization"].removeprefix("Bearer ")
        exchange.raw(echo.replace(b"KEY", key.encode()))

    for name in (None, "openai", "openai._base_client", "httpx2", "httpcore2"):
        caplog.set_level(logging.DEBUG, logger=name)
    with serve(reply) as server:
        endpoint = endpoint_at(server.url, max_retries=0 if echo.startswith(b"KEY") else 1)
        generate = build_generate_fn(endpoint)
        recorder = Recorder(generate)
        with pytest.raises(ModelError) as caught:
            recorder(MESSAGES)
    assert CANARY in str(server.received), "the key was sent, so the server could repeat it"
    shown = [told(caught.value), caplog.text, str([vars(record) for record in caplog.records])]
    shown += [repr(endpoint), repr(generate), repr(recorder.calls), repr(caught.value.args)]
    shown += [output.model_dump_json() for _, output in recorder.calls]
    assert len(recorder.calls) == 1
    assert not [text for text in shown if CANARY in text]


def told(error: BaseException) -> str:
    """Return all that an error could ever show: every error behind it, suppressed or not."""
    text = "".join(traceback.format_exception(error)) + repr(vars(error))
    behind = [found for found in (error.__cause__, error.__context__) if found is not None]
    return text + "".join(map(told, behind))


def test_key_shows_in_no_log_of_a_good_call(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    good = sending(200, EVENTS, event(piece("Hello", "stop")) + DONE, X_Request_Id=CANARY)
    with serve(good) as server:
        assert build_generate_fn(endpoint_at(server.url))(MESSAGES) == "Hello"
    assert CANARY not in str([vars(record) for record in caplog.records])
