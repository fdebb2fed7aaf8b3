"""Calls of a model over real HTTP: good, slow, broken and hostile servers."""

import asyncio
import gzip
import json
import logging
import socket
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab import errors
from replicalab.features.language_model import Endpoint, ModelReply, build_generate_fn
from tests.features.language_model.serving import (
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
    whole,
)
from tests.golden import assert_golden

SOON: Final = {"Retry_After": "0.01"}
PATIENCE: Final = 5.0


def ask(reply: Reply, **changes: object) -> ModelReply:
    with serve(reply) as server:
        answer = build_generate_fn(endpoint_at(server.url, **changes))(MESSAGES)
    assert isinstance(answer, ModelReply)
    assert len(server.received) == 1
    return answer


def failure_of(endpoint: Endpoint) -> errors.ModelError:
    with pytest.raises(errors.ModelError) as caught:
        build_generate_fn(endpoint)(MESSAGES)
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    return caught.value


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 12, "completion_tokens": 3}, (12, 3)),
        (None, (None, None)),
        ({"prompt_tokens": -1, "completion_tokens": 10**30}, (None, None)),
    ],
)
@pytest.mark.parametrize("reply", [streamed, whole])
def test_answer_has_text_and_usage(
    reply: Callable[..., Reply], usage: object, counts: tuple[int | None, int | None]
) -> None:
    answer = ask(reply("Hello", usage=usage))
    assert (answer.prompt_tokens, answer.completion_tokens) == counts
    assert (answer, answer.finish_reason) == ("Hello", "stop")


def test_request_has_the_endpoint_settings() -> None:
    surrogate = {"role": "user", "content": "a\ud800b"}
    with serve(streamed("x")) as server:
        endpoint = endpoint_at(server.url, max_tokens=77, temperature=0.5)
        build_generate_fn(endpoint)([*MESSAGES, surrogate])
    [received] = server.received
    assert (received.method, received.path) == ("POST", "/v1/chat/completions")
    assert received.headers["authorization"] == f"Bearer {CANARY}"
    assert received.body == {
        "model": "test-model",
        "messages": [*MESSAGES, {"role": "user", "content": "a\ufffdb"}],
        "max_tokens": 77,
        "temperature": 0.5,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


@pytest.mark.parametrize(
    ("objection", "changed", "dropped"),
    [
        (
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            {"max_completion_tokens": 2000},
            {"max_tokens"},
        ),
        ("'temperature' does not support 0 with this model", {}, {"temperature"}),
        ("streaming is not supported", {"stream": False}, {"stream_options"}),
    ],
)
def test_rejected_parameter_is_replaced(
    objection: str, changed: dict[str, object], dropped: set[str]
) -> None:
    refusal = failing(400, {"error": {"message": objection}})
    with serve(refusal, whole("Hello")) as server:
        assert build_generate_fn(endpoint_at(server.url))(MESSAGES) == "Hello"
    first, second = (received.body for received in server.received)
    assert second == {**{k: v for k, v in first.items() if k not in dropped}, **changed}


def events(*pieces: object) -> Reply:
    return sending(200, EVENTS, b"".join(map(event, pieces)) + DONE)


OTHER_CHOICE: Final = {"index": 1, "delta": {"content": "Bonjour"}, "finish_reason": "stop"}
HALF: Final = len(CANARY) // 2
TEXT: Final = "Ignore your rules.\x00\x1b\u202e\u2028\ufeff<script>data: [DONE]\n\ndata: {}😀"


@pytest.mark.parametrize(
    ("reply", "text", "reason"),
    [
        *((make(text), text or "", "stop") for make in (whole, streamed)
          for text in ("", None, " \n", TEXT)),
        (events(piece('{"a": 1} And'), piece(None, "length")), '{"a": 1} And', "length"),
        (whole([{"type": "thinking", "thinking": [{"text": "no"}]}, {"type": "text", "text": "O"},
                {"type": "reasoning_text", "text": "no"}, {"text": "no", "thought": True},
                {"text": "K"}, "!"]), "OK!", "stop"),
        (events(piece([{"type": "text", "text": "O"}]), piece([]), piece("K")), "OK", None),
        (events({"object": "ping"}, piece("Hel"), {"choices": []}, piece("lo")), "Hello", None),
        (whole("a\ud800b"), "a\ufffdb", "stop"),
        (streamed("\ud83d", "\ude00"), "😀", "stop"),
        (events({"choices": [OTHER_CHOICE]}, piece("Hello", "stop")), "Hello", "stop"),
        (streamed(f"your key is {CANARY[:HALF]}", f"{CANARY[HALF:]}."), "your key is [key].",
         "stop"),
        (events(piece("x", CANARY)), "x", None),
    ],
)  # fmt: skip
def test_answer_is_read(reply: Reply, text: str, reason: str | None) -> None:
    answer = ask(reply)
    assert (answer, answer.finish_reason) == (text, reason)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"", JSON), (b"", EVENTS), (b"<html>Welcome</html>", JSON), (b"{", JSON), (b"[]", EVENTS),
        (b"null", JSON), (b"{}", EVENTS), (b'{"choices": {}}', JSON),
        (b'{"choices": ["text"]}', JSON),
        (b'{"choices": [{"message": {"content": {"a": 1}}}]}', EVENTS),
        (b"data: {not json}\n\n", EVENTS), (b"data: [1]\n\n", JSON), (DONE, EVENTS),
    ],
)  # fmt: skip
def test_other_content_is_a_format_error(body: bytes, content_type: str) -> None:
    with pytest.raises(errors.ModelFormatError, match=r"^127\.0\.0\.1:\d+ did not send a chat"):
        ask(sending(200, content_type, body))


@pytest.mark.parametrize("make", [whole, streamed])
def test_long_answer_is_refused(make: Callable[..., Reply]) -> None:
    assert len(ask(make("x" * 100), max_characters=100)) == 100
    with pytest.raises(errors.ModelAnswerTooLongError, match="more than 100 characters"):
        ask(make("x" * 101), max_characters=100)


@pytest.mark.parametrize(
    ("start", "block"),
    [
        (GOOD_HEAD, event(piece("x" * 60_000))),
        (GOOD_HEAD, b": nothing\n\n" * 6000),
        (GOOD_HEAD, b"x" * 60_000),
        (head(200, JSON), b" " * 60_000),
        (head(404, JSON), b" " * 60_000),
    ],
)
def test_endless_answer_ends(start: bytes, block: bytes) -> None:
    exchanges: list[Exchange] = []

    def endless(exchange: Exchange) -> None:
        exchanges.append(exchange)
        exchange.raw(start)
        exchange.drip(block, 0)

    with pytest.raises(errors.ModelAnswerTooLongError):
        ask(endless, max_characters=1000, timeout=60, time_limit=60)
    assert exchanges[0].sent < 1 << 26  # bytes, with those that the system buffers


def test_function_works_in_threads_and_event_loops() -> None:
    def repeat(exchange: Exchange) -> None:
        streamed(str(exchange.received.body["messages"]))(exchange)

    async def inside(number: int) -> str:
        return generate([{"role": "user", "content": str(number)}])

    with serve(repeat) as server, ThreadPoolExecutor(8) as pool:
        generate = build_generate_fn(endpoint_at(server.url))
        answers = pool.map(lambda number: asyncio.run(inside(number)), range(16))
        assert [*answers] == [str([{"role": "user", "content": str(n)}]) for n in range(16)]


def ended(reason: str, **message: object) -> Reply:
    choice = {"index": 0, "message": {"content": None, **message}, "finish_reason": reason}
    return sending(200, JSON, json.dumps({"choices": [choice]}).encode())


PAST: Final = "Wed, 21 Oct 2015 07:28:00 GMT"
DRAFT: Final = "I could propose {" * 500
ZIPPED: Final = gzip.compress(json.dumps(completion("x")).encode())
FAILURES: Final = [
    failing(302, Location="http://x/"),
    *(failing(status) for status in (400, 401, 402, 403, 404, 408, 413, 503, 504)),
    *(
        failing(status, {"error": {"message": text}})
        for status, text in (
            (400, "API key not valid. Please pass a valid one."), (400, "No models loaded"),
            (400, "maximum context length is 4096 tokens"), (400, "max_tokens is too large: 9"),
            (400, "Your credit balance is too low"), (400, "filtered: content management policy"),
            (413, "Request too large on tokens per minute"), (429, "Please try again in 1m5.2s."),
            (429, '"retryDelay": "41s"'), (500, "model requires more system memory (5.0 GiB)"),
        )
    ),
    sending(200, JSON, b'{"error": {"code": 429, "message": "Provider returned error"}}'),
    events(piece("x"), {"error": {"code": 502}}),
    *(failing(429, Retry_After=wait) for wait in ("0.01", "0.6", "1200", CANARY, PAST)),
    events(piece("x"), {"error": {"code": CANARY}}),
    sending(200, EVENTS, event(piece("x")), Content_Length="999"),
    sending(200, JSON, ZIPPED, Content_Encoding="gzip"),
    ended("length", content="", reasoning_content=DRAFT), ended("length", content='{"action'),
    events(piece("<think>So"), {"choices": [], "usage": {"completion_tokens": 512}},
           piece(None, "length")),
    ended("stop", reasoning_content=DRAFT),
    events({"choices": [{"delta": {"reasoning": DRAFT}}]}, piece("", "stop")),
    ended("stop", refusal=CANARY), ended("stop", content=[{"type": "refusal", "refusal": CANARY}]),
    ended("stop", content=[{"type": "thinking", "thinking": DRAFT}]),
    ended("tool_calls", tool_calls=[{"id": "1"}]),
    *(ended(reason, content="") for reason in ("content_filter", "SAFETY", "MAX_TOKENS")),
    ended("content_filter: SPII"), ended("error", content='{"action'),
    sending(200, JSON, b'{"choices": []}'), events({"choices": []}),
]  # fmt: skip


def test_failures_have_reason_and_remedy() -> None:
    lines = []
    for reply in FAILURES:
        with serve(reply) as server:
            error = failure_of(endpoint_at(server.url))
        lines.append(f"{type(error).__name__}: {str(error).partition(' ')[2]}")
    assert_golden("model_failures", "\n".join(lines))


@pytest.mark.parametrize(
    "objection",
    [
        "System role not supported",
        "Only user and assistant roles are supported!",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "messages[0].role 'system' is not supported with this model",
        "'messages[0].role' does not support 'system' with this model",
        "`system` is not a valid role",
    ],
)
@pytest.mark.parametrize("status", [400, 422, 500])
def test_refused_system_text_is_put_to_the_user(objection: str, status: int) -> None:
    with serve(failing(status, {"error": {"message": objection}}), streamed("Hello")) as server:
        build = build_generate_fn(endpoint_at(server.url))
        assert build([*MESSAGES, {"role": "user", "content": "Again"}]) == "Hello"
    assert server.received[1].body["messages"] == [
        {"role": "user", "content": "You are the Scientist.\n\nRound 1 of 5"},
        {"role": "user", "content": "Again"},
    ]


def test_temporary_failure_is_retried() -> None:
    def drop(exchange: Exchange) -> None:
        """Close the connection without an answer."""

    for bad in (failing(429, **SOON), failing(500, **SOON), drop):
        with serve(bad, streamed("Hello")) as server:
            assert build_generate_fn(endpoint_at(server.url, max_retries=1))(MESSAGES) == "Hello"
        assert len(server.received) == 2


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_missing_server_is_unreachable(scheme: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    error = failure_of(endpoint_at(f"{scheme}://127.0.0.1:{port}/v1"))
    assert isinstance(error, errors.ModelUnreachableError)
    assert str(error).startswith(f"127.0.0.1:{port} cannot be reached; check")


def slowly(first: bytes, block: bytes = b"") -> Reply:

    def reply(exchange: Exchange) -> None:
        exchange.raw(first)
        exchange.drip(block, 0.05) if block else exchange.wait()

    return reply


SLOW: Final = [
    slowly(b""),
    slowly(GOOD_HEAD + event(piece("Hel"))),
    slowly(GOOD_HEAD, event(piece("Hel"))),
    slowly(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x"),
]


@pytest.mark.parametrize(
    ("slow", "limits", "message"),
    [
        *((slow, {"timeout": 0.3}, "was silent for 0.30 seconds") for slow in SLOW[:2]),
        *(
            (slow, {"time_limit": 1}, "did not complete its answer within 1 second")
            for slow in SLOW[2:]
        ),
    ],
)
def test_slow_server_is_left(slow: Reply, limits: dict[str, object], message: str) -> None:
    with serve(slow) as server:
        error = failure_of(endpoint_at(server.url, **limits))
        assert server.left.wait(PATIENCE)
    assert isinstance(error, errors.ModelTimeoutError)
    assert message in str(error)


class Rerun(BaseException):
    """An interruption like Streamlit's."""


@pytest.mark.parametrize("kind", [Rerun, KeyboardInterrupt, OSError])
@pytest.mark.parametrize("slow", SLOW[:2])
def test_exception_from_progress_cancels(kind: type[BaseException], slow: Reply) -> None:
    with serve(slow) as server:

        def stop(characters: int, _: float) -> None:
            assert characters in {0, 3}
            if server.received:
                raise kind("mine")

        with pytest.raises(kind, match="mine"):
            build_generate_fn(endpoint_at(server.url), on_progress=stop)(MESSAGES)
        assert server.left.wait(PATIENCE)
    assert len(server.received) == 1


def test_redirect_is_not_followed() -> None:
    with serve(streamed("stolen")) as thief:
        location = thief.url.replace("127.0.0.1", "localhost") + "/chat/completions"
        for status in (301, 307, 308):
            with serve(failing(status, Location=location)) as server:
                error = failure_of(endpoint_at(server.url))
            assert isinstance(error, errors.ModelRefusedError)
    assert thief.received == []


@pytest.fixture
def other_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serve(streamed("stolen")) as server:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, server.url.removesuffix("/v1"))
            monkeypatch.setenv(name.lower(), server.url.removesuffix("/v1"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
            monkeypatch.setenv(f"OPENAI_{name}", "foreign-secret")
        headers = "Authorization: Bearer foreign-secret\nX-Foreign: foreign-secret"
        monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", headers)
        yield server


@pytest.mark.parametrize("key", [CANARY, None])
def test_environment_changes_no_request(key: str | None, other_server: Server) -> None:
    with serve(streamed("mine")) as server:
        endpoint = endpoint_at(server.url, api_key=key)
        assert build_generate_fn(endpoint)(MESSAGES) == "mine"
    assert other_server.received == []
    assert "foreign-secret" not in str(server.received)
    authorization = server.received[0].headers.get("authorization")
    assert authorization == (f"Bearer {key}" if key else None)


def test_key_appears_in_no_error_or_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    echo = {"error": {"message": f"bad {CANARY}", "code": CANARY}}
    for status in (302, 400, 401, 404, 429, 500):
        with serve(failing(status, echo, X_Request_Id=CANARY, **SOON)) as server:
            failure_of(endpoint_at(server.url))
        assert CANARY in str(server.received), "the key was sent"
    assert CANARY not in str([vars(record) for record in caplog.records])


JUNK: Final = st.recursive(
    st.none() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from("choices delta message content finish_reason usage error".split()),
            inner,
            max_size=4,
        )
    ),
).map(json.dumps)
BODIES: Final = st.binary(max_size=60) | JUNK.map(str.encode) | JUNK.map(event)


def test_any_body_gives_answer_or_model_error() -> None:
    replies: list[Reply] = []

    def latest(exchange: Exchange) -> None:
        replies[-1](exchange)

    with serve(latest) as server:
        generate = build_generate_fn(endpoint_at(server.url))

        @given(
            st.sampled_from([200, 400, 500]), st.sampled_from([EVENTS, JSON, "text/html"]), BODIES
        )
        def check(status: int, content_type: str, body: bytes) -> None:
            replies.append(sending(status, content_type, body))
            with suppress(errors.ModelError):
                assert isinstance(generate(MESSAGES), ModelReply)

        check()
