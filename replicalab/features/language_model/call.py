"""One call of the openai package, whose import takes 0.3 s."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final, cast

import httpx2
import openai

from replicalab import errors
from replicalab.features.language_model import API_KEY_SETTING, Endpoint
from replicalab.lexicon import count_text
from replicalab.limits import LARGEST_COUNT

CONNECT_SECONDS: Final = 10.0
FREE_BYTES: Final = 1 << 22
BYTES_PER_CHARACTER: Final = 1 << 8  # a streamed piece wraps each token in about 300 bytes
_OPTIONAL: Final = ("max_completion_tokens", "temperature", "stream")
_SENT_HEADERS: Final = frozenset({"host", "connection", "accept", "content-type", "content-length"})
_FINISH_REASONS: Final = ("stop", "length", "tool_calls", "content_filter", "function_call")


@dataclass
class ModelCall:
    """One question and its answer so far."""

    endpoint: Endpoint
    messages: list[dict[str, str]]
    texts: list[str] = field(default_factory=list)
    characters: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finish_reason: str | None = None

    async def run(self) -> errors.ModelError | None:
        """Return the failure instead of raising it: its causes may quote the server and the key."""
        try:
            async with _client(self.endpoint) as client:
                await self._ask(client, frozenset())
            if not self.texts:
                raise ValueError("no part of a chat completion")
        except Exception as error:  # noqa: BLE001 - a hostile answer can break the package anywhere
            return _failure(self.endpoint, error)
        return None

    async def _ask(self, client: openai.AsyncOpenAI, rejected: frozenset[str]) -> None:
        """Send the question; drop a parameter that the server rejects by name, and send again."""
        newer = "max_completion_tokens" in rejected
        options: dict[str, Any] = {
            "model": self.endpoint.model,
            "messages": self.messages,
            "stream": "stream" not in rejected,
            "max_completion_tokens" if newer else "max_tokens": self.endpoint.max_tokens,
        }
        if "temperature" not in rejected:
            options["temperature"] = self.endpoint.temperature
        if options["stream"]:
            options["stream_options"] = {"include_usage": True}
        try:
            answer: Any = await client.chat.completions.create(**options)
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            text = str(error.body).lower()
            new = [name for name in _OPTIONAL if name in text and name not in rejected]
            if not new:
                raise
            await self._ask(client, rejected | {new[0]})
            return
        if not isinstance(answer, openai.AsyncStream):
            self._take(answer.model_dump(warnings=False))
        elif "json" in answer.response.headers["content-type"]:  # the server ignores `stream`
            await answer.response.aread()
            self._take(answer.response.json())
        else:
            async with answer:
                async for piece in answer:
                    self._take(piece.model_dump(warnings=False) if piece is not None else {})

    def _take(self, data: dict[str, Any]) -> None:
        """Read a piece of a stream, or a whole completion; pieces without a choice are pings."""
        if data.get("error"):
            raise openai.APIError("", httpx2.Request("POST", ""), body=None)
        usage = data.get("usage")
        if isinstance(usage, dict):
            self.prompt_tokens = _count(usage.get("prompt_tokens"))
            self.completion_tokens = _count(usage.get("completion_tokens"))
        choices = data.get("choices")
        if not choices or choices[0].get("index", 0) != 0:
            return
        text = (choices[0].get("delta") or choices[0].get("message") or {}).get("content")
        if not isinstance(text, str | None):
            raise TypeError("the content is not a text")
        self.texts.append(text or "")
        self.characters += len(self.texts[-1])
        if self.characters > self.endpoint.max_characters:
            raise _too_long(self.endpoint, f"{self.endpoint.max_characters:,} characters")
        reason = choices[0].get("finish_reason")
        self.finish_reason = reason if reason in _FINISH_REASONS else self.finish_reason


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= LARGEST_COUNT else None


def _too_long(endpoint: Endpoint, limit: str) -> errors.ModelAnswerTooLongError:
    return errors.ModelAnswerTooLongError(
        f"{endpoint.host} sent more than {limit}, the limit for one answer; check the base URL, "
        "or try another model."
    )


class _BoundedBody(httpx2.AsyncByteStream):
    """A response body that fails when it exceeds the size limit."""

    def __init__(self, endpoint: Endpoint, body: httpx2.AsyncByteStream) -> None:
        self.endpoint, self.body = endpoint, body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, limit = 0, FREE_BYTES + BYTES_PER_CHARACTER * self.endpoint.max_characters
        async for chunk in self.body:
            size += len(chunk)
            if size > limit:
                raise _too_long(self.endpoint, f"{limit:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self.body.aclose()


def _client(endpoint: Endpoint) -> openai.AsyncOpenAI:
    async def strip_headers(request: httpx2.Request) -> None:
        for name in set(request.headers) - _SENT_HEADERS:
            del request.headers[name]
        if endpoint.api_key is not None:
            key = endpoint.api_key.get_secret_value()
            request.headers["authorization"] = f"Bearer {key}"
        request.headers.update({"accept-encoding": "identity", "user-agent": "ReplicaLab"})

    async def check_response(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise errors.ModelFormatError(  # a compressed answer may expand without limit
                f"{endpoint.host} compressed its answer; check the base URL."
            )
        response.stream = _BoundedBody(endpoint, cast("httpx2.AsyncByteStream", response.stream))

    hooks: dict[str, Any] = {"request": [strip_headers], "response": [check_response]}
    return openai.AsyncOpenAI(
        base_url=endpoint.base_url,
        api_key="set by strip_headers",
        organization="",
        project="",
        timeout=httpx2.Timeout(endpoint.timeout, connect=min(endpoint.timeout, CONNECT_SECONDS)),
        max_retries=endpoint.max_retries,
        http_client=httpx2.AsyncClient(trust_env=False, follow_redirects=False, event_hooks=hooks),
    )


_BY_STATUS: Final = {  # 300, 400 and 500: all other statuses of their hundred
    300: "redirects to another address ({status}); set the base URL to the final address.",
    400: "refused the request for {model} ({status}); check the model's name and limits.",
    401: f"refused the key ({{status}}); check {API_KEY_SETTING}, or the typed key.",
    403: "does not allow {model} for this key ({status}); check the key's rights.",
    404: "has no {model} at this address ({status}); check the model's name, and that the base URL "
    "ends at the API's root, often /v1.",
    429: "accepts no more requests at present ({status}); wait, or check the quota.",
    500: "failed ({status}); try later, or read the server's log.",
}


def _failure(endpoint: Endpoint, error: Exception) -> errors.ModelError:
    """Return the project's error; it never quotes the server, which may repeat the key."""
    kind: type[errors.ModelError] = errors.ModelUnreachableError
    cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else error
    match cause:
        case errors.ModelError():
            return type(cause)(*cause.args)
        case openai.APIStatusError(status_code=status):
            kind = errors.ModelServerError if status >= 500 else errors.ModelRefusedError
            kind = errors.ModelRateLimitedError if status == 429 else kind
            text = _BY_STATUS.get(status, _BY_STATUS[min(500, max(300, status // 100 * 100))])
            text = text.format(status=status, model=f"model '{endpoint.model}'")
        case httpx2.ConnectError() | httpx2.ConnectTimeout() | httpx2.InvalidURL():
            text = "cannot be reached; check the base URL, http or https, and the network."
        case httpx2.TimeoutException():
            kind, silence = errors.ModelTimeoutError, count_text(endpoint.timeout, "second")
            text = f"was silent for {silence}; check its load, or allow more time."
        case httpx2.HTTPError() | httpx2.StreamError() | OSError():
            text = "dropped the connection before its answer was complete; try again."
        case openai.APIError():
            kind, text = errors.ModelServerError, "reported an error; try again later."
        case _:
            kind = errors.ModelFormatError
            text = "did not send a chat completion; check that the base URL ends at the API's "
            text += "root, often /v1."
    return kind(f"{endpoint.host} {text}")
