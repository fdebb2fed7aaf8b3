"""Servers that refuse, fail, stall or drop: told plainly, in time, and without the key."""

from __future__ import annotations

import gc
import logging
import socket
import threading
import traceback
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
from replicalab.negotiation import Recorder
from tests.llm.serving import (
    CANARY,
    DONE,
    EVENTS,
    JSON,
    MESSAGES,
    Exchange,
    Reply,
    Server,
    echoing,
    endpoint_at,
    event,
    failing,
    piece,
    sending,
    serve,
    streamed,
)

SOON: Final = {"Retry_After": "0.01"}
PATIENCE: Final = 5.0
"""Seconds in which things must happen that happen at once, on a machine that is busy."""


def failure_of(endpoint: Endpoint, **hooks: Callable[..., object]) -> ModelError:
    """Return the error of a call, behind which there is no other."""
    with pytest.raises(ModelError) as caught:
        build_generate_fn(endpoint, **hooks)(MESSAGES)  # type: ignore[arg-type]
    assert caught.value.__cause__ is caught.value.__context__ is None
    return caught.value


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def drop(exchange: Exchange) -> None:
    """Close the connection without a word."""


def stall(exchange: Exchange) -> None:
    exchange.wait()


def stall_after_head(exchange: Exchange) -> None:
    exchange.head(200, EVENTS)
    exchange.raw(event(piece("Hel")))
    exchange.wait()


def drip_comments(exchange: Exchange) -> None:
    exchange.head(200, EVENTS)
    exchange.drip(b":\n", 0.05)


def drip_one_line(exchange: Exchange) -> None:
    exchange.head(200, EVENTS)
    exchange.drip(b"d", 0.05)


def drip_head(exchange: Exchange) -> None:
    exchange.raw(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    exchange.drip(b"x", 0.05)


def drip_text(exchange: Exchange) -> None:
    exchange.head(200, EVENTS)
    exchange.drip(event(piece("x")), 0.05)


SLOW: Final = [stall, stall_after_head, drip_comments, drip_one_line, drip_head, drip_text]


def test_address_where_nobody_listens_is_unreachable() -> None:
    port = free_port()
    error = failure_of(endpoint_at(f"http://127.0.0.1:{port}/v1"))
    assert isinstance(error, ModelUnreachableError)
    assert str(error).startswith(f"127.0.0.1:{port} does not answer; check")


@pytest.mark.parametrize("host", ["nowhere.invalid", "a..b", "x" * 64])
def test_host_that_does_not_exist_is_unreachable(host: str) -> None:
    error = failure_of(endpoint_at(f"http://{host}/v1"))
    assert isinstance(error, ModelUnreachableError)
    assert str(error).startswith(f"{host} ")


def test_plain_server_asked_over_https_is_unreachable() -> None:
    with serve(streamed("x")) as server:
        error = failure_of(endpoint_at(server.url.replace("http:", "https:")))
    assert isinstance(error, ModelUnreachableError)
    assert "certificate" in str(error)


@pytest.mark.parametrize("address", ["http://[::::]/v1", "http://999.999.999.999/v1"])
def test_address_that_no_host_can_have_is_the_projects_error(address: str) -> None:
    with pytest.raises((ModelError, ValueError)) as caught:
        build_generate_fn(endpoint_at(address))(MESSAGES)
    assert type(caught.value).__module__.split(".")[0] in {"replicalab", "pydantic_core"}


@pytest.mark.parametrize(
    ("status", "kind", "text"),
    [
        (302, ModelRefusedError, "sends requests on to another address (302)"),
        (400, ModelRefusedError, "refused the request for model 'test-model' (400)"),
        (401, ModelRefusedError, "refused the key (401); check REPLICALAB_LLM_API_KEY"),
        (403, ModelRefusedError, "does not let this key use model 'test-model' (403)"),
        (404, ModelRefusedError, "has no model 'test-model' at this address (404)"),
        (413, ModelRefusedError, "refused the request for model 'test-model' (413)"),
        (429, ModelRateLimitedError, "takes no more requests now (429); wait a while"),
        (500, ModelServerError, "failed (500), also when asked again"),
        (503, ModelServerError, "failed (503), also when asked again"),
    ],
)
def test_status_is_told_with_host_and_remedy(
    status: int, kind: type[ModelError], text: str
) -> None:
    with serve(failing(status)) as server:
        endpoint = endpoint_at(server.url)
        error = failure_of(endpoint)
    assert type(error) is kind
    assert str(error).startswith(f"{endpoint.host} {text}")


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ({"error": {"code": "model_not_found"}}, "(404, model_not_found)"),
        ({"error": {"code": None, "type": "not_found_error"}}, "(404, not_found_error)"),
        ({"type": "not_found"}, "(404, not_found)"),
        ({"error": {"code": "<b>bold</b>"}}, "(404)"),
        ({"error": {"code": 7, "type": ["x"]}}, "(404)"),
        ({"error": "no such model"}, "(404)"),
        (["no such model"], "(404)"),
    ],
)
def test_servers_own_code_is_shown_only_if_it_is_a_plain_word(body: object, shown: str) -> None:
    with serve(failing(404, body)) as server:
        assert shown in str(failure_of(endpoint_at(server.url)))


@pytest.mark.parametrize("code", ["correct_horse_battery", "horse", "my_correct_horse_battery"])
def test_servers_own_code_is_not_shown_if_it_may_be_the_key(code: str) -> None:
    with serve(failing(401, {"error": {"code": code}})) as server:
        error = failure_of(endpoint_at(server.url, api_key="correct_horse_battery"))
    assert "refused the key (401);" in str(error)


@pytest.mark.parametrize(
    "bad", [failing(429, **SOON), failing(500, **SOON), failing(503, **SOON), drop]
)
def test_passing_trouble_is_overcome_by_asking_again(bad: Reply) -> None:
    with serve(bad, streamed("Hello")) as server:
        assert build_generate_fn(endpoint_at(server.url, max_retries=1))(MESSAGES) == "Hello"
    assert len(server.received) == 2


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (failing(429, **SOON), ModelRateLimitedError),
        (failing(500, **SOON), ModelServerError),
        (drop, ModelUnreachableError),
    ],
)
def test_lasting_trouble_ends_after_the_retries(bad: Reply, kind: type[ModelError]) -> None:
    with serve(bad) as server:
        assert type(failure_of(endpoint_at(server.url, max_retries=1))) is kind
    assert len(server.received) == 2


@pytest.mark.parametrize("status", [302, 400, 401, 403, 404])
def test_refusal_is_not_asked_again(status: int) -> None:
    with serve(failing(status, x_should_retry="true")) as server:
        failure_of(endpoint_at(server.url, max_retries=2))
    assert len(server.received) == 1


@pytest.mark.parametrize(("wait", "told"), [("600", "wait 600 seconds"), ("1e999", "wait a while")])
def test_server_that_asks_for_a_long_wait_is_not_waited_for(wait: str, told: str) -> None:
    with serve(failing(429, Retry_After=wait)) as server:
        assert told in str(failure_of(endpoint_at(server.url, max_retries=2)))
    assert len(server.received) == 1


@pytest.mark.parametrize("wait", ["nan", "-5", "tomorrow"])
def test_absurd_wait_is_ignored(wait: str) -> None:
    with serve(failing(429, Retry_After=wait), streamed("Hello")) as server:
        assert build_generate_fn(endpoint_at(server.url, max_retries=1))(MESSAGES) == "Hello"


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
@pytest.mark.parametrize("silent", [stall, stall_after_head])
def test_silent_server_times_out_once(silent: Reply) -> None:
    with serve(silent) as server:
        error = failure_of(endpoint_at(server.url, timeout=0.3, max_retries=2))
        assert server.left.wait(PATIENCE)
    assert isinstance(error, ModelTimeoutError)
    assert "was silent for 0.3 seconds" in str(error)
    assert len(server.received) == 1


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("slow", SLOW)
def test_slow_server_is_left_at_the_time_limit(slow: Reply) -> None:
    with serve(slow) as server:
        error = failure_of(endpoint_at(server.url, time_limit=0.4, max_retries=2))
        assert server.left.wait(PATIENCE)
    assert isinstance(error, ModelTimeoutError)
    assert "did not complete its answer within 0.4 seconds" in str(error)
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
        *((Rerun, slow) for slow in SLOW),
        *((kind, slow) for kind in (KeyboardInterrupt, StopIteration, OSError, ModelError)
          for slow in (stall, drip_text)),
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


def test_progress_is_reported_from_waiting_to_the_end() -> None:
    def slowly(exchange: Exchange) -> None:
        exchange.sleep(0.35)
        exchange.head(200, EVENTS)
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


def echo_in_broken_head(exchange: Exchange) -> None:
    exchange.raw(f"{exchange.received.headers['authorization']} \r\n\r\n".encode())


def echo_in_stream(exchange: Exchange) -> None:
    key = exchange.received.headers["authorization"]
    exchange.head(200, EVENTS, X_Echo=key)
    exchange.raw(event(piece(f"your key: {key}")) + event({"error": {"message": key, "code": key}}))


def echo_in_broken_json(exchange: Exchange) -> None:
    key = exchange.received.headers["authorization"]
    exchange.head(200, JSON, X_Request_Id=key)
    exchange.raw(f'{{"choices": "{key}'.encode())


def echo_in_redirect(exchange: Exchange) -> None:
    key = exchange.received.headers["authorization"].removeprefix("Bearer ")
    exchange.head(307, JSON, Location=f"http://127.0.0.1:9/{key}")


def echo_then_drop(exchange: Exchange) -> None:
    key = exchange.received.headers["authorization"]
    exchange.head(200, EVENTS, X_Echo=key, Content_Length="999")
    exchange.raw(event(piece(key)))


ECHOES: list[Reply] = [
    *map(echoing, (302, 400, 401, 403, 404, 429, 500)),
    *(echo_in_broken_head, echo_in_stream, echo_in_broken_json, echo_in_redirect, echo_then_drop),
]


@pytest.mark.parametrize("reply", ECHOES)
def test_key_shows_in_no_error_no_log_and_no_record(
    reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    for name in (None, "openai", "openai._base_client", "httpx2", "httpcore2"):
        caplog.set_level(logging.DEBUG, logger=name)
    with serve(reply) as server:
        endpoint = endpoint_at(server.url, max_retries=0 if reply is echo_in_broken_head else 1)
        generate = build_generate_fn(endpoint)
        recorder = Recorder(generate)
        with pytest.raises(ModelError) as caught:
            recorder(MESSAGES)
    assert CANARY in str(server.received), "the key was sent, so the server could repeat it"
    shown = [told(caught.value), caplog.text, str([vars(record) for record in caplog.records])]
    shown += [repr(endpoint), repr(generate), repr(recorder.calls), repr(caught.value.args)]
    shown += [call.output.model_dump_json() for call in recorder.calls]
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
