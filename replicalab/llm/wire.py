"""One request to a server and its answer, through the openai package.

This file alone imports that package, and is itself imported with the first call only.
What is sent is settled here: to the endpoint's address and no other, with its key and no other.
The package's own variables (OPENAI_*), proxies, .netrc files and redirects have no say.
"""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Self, cast

import httpx2
import openai

from replicalab.errors import (
    ModelError,
    ModelFormatError,
    ModelRateLimitedError,
    ModelRefusedError,
    ModelServerError,
    ModelSettingsError,
    ModelUnreachableError,
)
from replicalab.llm.answers import Answer, error_code, read_answer
from replicalab.llm.endpoint import API_KEY_SETTING, Endpoint
from replicalab.llm.transport import WatchedTransport
from replicalab.llm.watch import Watch
from replicalab.negotiation.recording import readable

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionMessageParam

CONNECT_SECONDS: Final = 10.0
LONGEST_WAIT: Final = 5.0
"""Seconds that a server may ask to wait before a retry; asked for more, the call ends with that."""

_RAW_RESPONSE: Final = "x-stainless-raw-response"
"""The package's mark for itself that the answer is to be handed over unread; it must stay on."""

_SENT_HEADERS: Final = frozenset(
    {"host", "connection", "accept", "content-type", "content-length", _RAW_RESPONSE}
)
_WAIT_HEADERS: Final = ("retry-after", "retry-after-ms", "x-should-retry")
_LOGGERS: Final = ("openai._base_client", "httpx2", "httpcore2.connection", "httpcore2.http11")


@dataclass(frozen=True)
class _Style:
    """How a request is put: servers differ in what they take."""

    stream: bool = True
    newer_cap: bool = False
    temperature: bool = True

    def amended(self, error: openai.APIStatusError) -> Self | None:
        """Return the style that avoids what the server objects to, None if that is not known."""
        if error.status_code not in (400, 422):
            return None
        objection = str(error.body).lower()
        if not self.newer_cap and "max_completion_tokens" in objection:
            return replace(self, newer_cap=True)
        if self.temperature and "temperature" in objection:
            return replace(self, temperature=False)
        if self.stream and "stream" in objection:
            return replace(self, stream=False)
        return None


def ask(endpoint: Endpoint, messages: list[dict[str, str]], watch: Watch) -> Answer:
    """Return the answer to the messages.

    Raises:
        ModelError: there is none; see the tree in `replicalab.errors`.
    """
    style: _Style | None = _Style()
    while style is not None:
        try:
            return _ask(endpoint, messages, watch, style)
        except openai.APIStatusError as error:
            style = style.amended(error)
            failure = _status_failure(endpoint, error)
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError) as error:
            style = None
            failure = _connection_failure(endpoint, error)
        except httpx2.InvalidURL:
            style = None
            failure = ModelSettingsError("The base URL names no host; write it in full.")
    # Raised out here, so that no foreign error, which may quote the server, travels along.
    raise failure


def _ask(endpoint: Endpoint, messages: list[dict[str, str]], watch: Watch, style: _Style) -> Answer:
    watch.check()
    cap = endpoint.max_tokens
    with (
        _client(endpoint, watch) as client,
        client.chat.completions.with_streaming_response.create(
            model=endpoint.model,
            messages=cast("list[ChatCompletionMessageParam]", _readable(messages)),
            temperature=endpoint.temperature if style.temperature else openai.omit,
            max_tokens=openai.omit if style.newer_cap else cap,
            max_completion_tokens=cap if style.newer_cap else openai.omit,
            stream=style.stream,
            stream_options={"include_usage": True} if style.stream else openai.omit,
        ) as response,
    ):
        _refuse_packed(response.headers.get("content-encoding", "identity"), endpoint)
        return read_answer(response.iter_bytes(), endpoint, watch)


def _readable(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{name: readable(text) for name, text in message.items()} for message in messages]


def _refuse_packed(encoding: str, endpoint: Endpoint) -> None:
    """Refuse an answer that is packed although none was asked for: it may unpack to gigabytes."""
    if encoding.lower() != "identity":
        raise ModelFormatError(
            f"{endpoint.host} packed its answer although it was asked not to; check the base URL."
        )


def _client(endpoint: Endpoint, watch: Watch) -> openai.OpenAI:
    """Return a client for one call.

    Every argument that the package would otherwise read from a variable is given.
    """
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_unspoken)
    timeout = httpx2.Timeout(endpoint.timeout, connect=min(endpoint.timeout, CONNECT_SECONDS))
    return openai.OpenAI(
        base_url=endpoint.base_url,
        api_key="set-for-each-request",
        admin_api_key="",
        organization="",
        project="",
        webhook_secret="",
        timeout=timeout,
        max_retries=endpoint.max_retries,
        http_client=httpx2.Client(
            transport=WatchedTransport(watch),
            trust_env=False,
            follow_redirects=False,
            timeout=timeout,
            event_hooks={
                "request": [partial(_settle, endpoint, watch)],
                "response": [_settle_wait],
            },
        ),
    )


def _unspoken(_record: logging.LogRecord) -> bool:
    """Keep the package's logs silent: they quote what servers say, and those may say the key."""
    return False


def _settle(endpoint: Endpoint, watch: Watch, request: httpx2.Request) -> None:
    """Leave only the headers that a request needs, and the endpoint's own key."""
    watch.check()
    for name in set(request.headers) - _SENT_HEADERS:
        del request.headers[name]
    request.headers["accept-encoding"] = "identity"
    request.headers["user-agent"] = "ReplicaLab"
    if endpoint.api_key is not None:
        request.headers["authorization"] = f"Bearer {endpoint.api_key.get_secret_value()}"


def _settle_wait(response: httpx2.Response) -> None:
    """Leave the package one plain number to wait for, or the word not to ask again.

    The package waits without looking at the watch, so it must not be for long.
    """
    seconds = _seconds_asked(response.headers)
    for name in _WAIT_HEADERS:
        response.headers.pop(name, None)
    if seconds is not None:
        response.headers["retry-after"] = f"{seconds:g}"
        if seconds > LONGEST_WAIT:
            response.headers["x-should-retry"] = "false"


def _seconds_asked(headers: httpx2.Headers) -> float | None:
    """Return how long the server asks to wait; None when it does not say, or not as a number."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 < seconds < float("inf") else None


def _status_failure(endpoint: Endpoint, error: openai.APIStatusError) -> ModelError:
    """Return the project's error for an answer that is a refusal or a failure."""
    status = error.status_code
    code = error_code(endpoint, error.body)
    number = f"{status}, {code}" if code else f"{status}"
    if status == httpx2.codes.TOO_MANY_REQUESTS:
        return ModelRateLimitedError(_rate_limit(endpoint, number, error.response.headers))
    if status >= 500 or status == httpx2.codes.REQUEST_TIMEOUT:
        return ModelServerError(
            f"{endpoint.host} failed ({number}), also when asked again; try later, or look into "
            "the server's log."
        )
    return ModelRefusedError(f"{endpoint.host} {_refusal(endpoint, status, number)}")


def _rate_limit(endpoint: Endpoint, number: str, headers: httpx2.Headers) -> str:
    seconds = _seconds_asked(headers)
    wait = f"wait {seconds:.0f} seconds" if seconds and seconds >= 1 else "wait a while"
    return f"{endpoint.host} takes no more requests now ({number}); {wait}, or check the quota."


def _refusal(endpoint: Endpoint, status: int, number: str) -> str:
    """Return what was refused and what to check."""
    model = f"model '{endpoint.model}'"
    if status < 400:
        return (
            f"sends requests on to another address ({number}), where the key must not follow; set "
            "the base URL to the final address."
        )
    return {
        401: f"refused the key ({number}); check {API_KEY_SETTING}, or the key you typed.",
        403: f"does not let this key use {model} ({number}); check the key's rights.",
        404: (
            f"has no {model} at this address ({number}); check the model's name, and that the "
            "base URL ends where the API begins, often /v1."
        ),
    }.get(
        status,
        f"refused the request for {model} ({number}); check the model's name, and whether it "
        f"takes messages this long and answers of {endpoint.max_tokens} tokens.",
    )


def _connection_failure(endpoint: Endpoint, error: Exception) -> ModelError:
    """Return the project's error for a connection that failed, by the cause behind it."""
    reasons = list(_causes(error))
    if any(isinstance(reason, socket.gaierror | UnicodeError) for reason in reasons):
        text = "is not known as a host; check the base URL and the network."
    elif any(isinstance(reason, ssl.SSLError) for reason in reasons):
        text = "could not be reached safely; check its certificate, and http or https."
    elif any(isinstance(reason, httpx2.ConnectError | httpx2.ConnectTimeout) for reason in reasons):
        text = "does not answer; check that the server runs and the base URL is right."
    else:
        text = "dropped the connection before its answer was complete; try again."
    return ModelUnreachableError(f"{endpoint.host} {text}")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and what lies behind it."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__ or found.__context__
