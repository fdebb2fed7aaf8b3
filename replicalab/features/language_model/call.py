"""One call of the openai package, whose import takes 0.3 s."""

import asyncio
import math
import re
import time
import tomllib
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Final, cast

import httpx2
import openai

from replicalab import errors
from replicalab.agents import parsing
from replicalab.features.language_model import SETTINGS, Endpoint, ProgressFn
from replicalab.lexicon import count_text
from replicalab.limits import LARGEST_COUNT

POLL_SECONDS: Final = 0.1
CONNECT_SECONDS: Final = 10.0
FREE_BYTES: Final = 1 << 22
BYTES_PER_CHARACTER: Final = 1 << 8  # a streamed piece wraps each token in about 300 bytes
_SENT_HEADERS: Final = frozenset({"host", "connection", "accept", "content-type", "content-length"})
_ROWS: Final = tomllib.loads(Path(__file__).with_name("failures.toml").read_text(encoding="utf-8"))
_FINISH_REASONS, _INSTEAD = (
    {word: name for name, words in _ROWS.pop(table).items() for word in words.split(", ")}
    for table in ("ends", "instead")
)
_OBJECTIONS, _REASONS = (_ROWS.pop(table) for table in ("objections", "reasons"))
_FAILURES: Final[dict[str, tuple[str, str]]] = {
    row: (kind, text) for kind, rows in _ROWS.items() for row, text in rows.items()
}
_CUT: Final = ("length", "content_filter", "error")
_WAIT: Final = re.compile(
    r"(?:(?:again|retry|reset) (?:in|after) |retrydelay\W+)"
    r"(?:(\d{1,3})m)?(\d{1,5}(?:\.\d{1,9})?)s\b"
)


class _FailedError(Exception):
    def __init__(self, row: str, **values: str) -> None:
        super().__init__(row)
        self.row, self.values = row, values


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
    fields: set[str] = field(default_factory=set)  # the answer's other fields with a value

    async def run(self, on_progress: ProgressFn | None) -> None:
        """Ask, with a call of ``on_progress`` ten times a second, or raise ModelError."""
        limit, started = self.endpoint.time_limit, time.monotonic()
        task = asyncio.ensure_future(self._failure())
        try:
            while not task.done():
                if (seconds := time.monotonic() - started) >= limit:
                    slow = _FailedError("slow", time=count_text(limit, "second"))
                    raise _failure(self.endpoint, slow)
                await asyncio.wait([task], timeout=POLL_SECONDS)
                if on_progress is not None:
                    on_progress(self.characters, seconds)
        finally:
            task.cancel()
        if failure := task.result():
            raise failure

    async def _failure(self) -> errors.ModelError | None:
        # Returned and not raised: its causes may quote the server and the key.
        try:
            async with _client(self.endpoint) as client:
                await self._ask(client, frozenset())
            self._require_answer()
        except Exception as error:  # noqa: BLE001 - a hostile answer can break the package anywhere
            return _failure(self.endpoint, error)
        return None

    async def _ask(self, client: openai.AsyncOpenAI, rejected: frozenset[str]) -> None:
        """Send the question; change a part that the server objects to, and send again."""
        limit = "max_completion_tokens" if "max_tokens" in rejected else "max_tokens"
        options: dict[str, Any] = {
            "model": self.endpoint.model,
            "messages": _without_system(self.messages) if "system" in rejected else self.messages,
            "stream": "stream" not in rejected,
            limit: self.endpoint.max_tokens,
        }
        if "temperature" not in rejected:
            options["temperature"] = self.endpoint.temperature
        if options["stream"]:
            options["stream_options"] = {"include_usage": True}
        try:
            answer: Any = await client.chat.completions.create(**options)
        except openai.APIStatusError as error:
            # Some servers fail if their template of a conversation has no place for a part.
            objecting = _OBJECTIONS if error.status_code in (400, 422, 500) else {}
            for part, words in objecting.items():
                if part not in rejected and re.search(words, str(error.body).lower()):
                    await self._ask(client, rejected | {part})
                    return
            raise
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
            raise openai.APIError("", httpx2.Request("POST", ""), body=data["error"])
        usage = data.get("usage")
        if isinstance(usage, dict):
            self.prompt_tokens = _count(usage.get("prompt_tokens"))
            self.completion_tokens = _count(usage.get("completion_tokens"))
        choices = data.get("choices")
        if not choices or (choices[0].get("index") or 0) != 0:
            self.fields |= {"choices"} if choices == [] else set()
            return
        message = choices[0].get("delta") or choices[0].get("message") or {}
        content = message.get("content")
        parts = content if isinstance(content, list) else [content]
        texts = [*map(_text_of, parts)]
        self.texts += texts
        self.characters += sum(map(len, texts))
        if self.characters > self.endpoint.max_characters:
            raise _FailedError("long", limit=f"{self.endpoint.max_characters:,} characters")
        holders = [message, *(part for part in parts if isinstance(part, dict))]
        self.fields |= {name for name in _INSTEAD if any(holder.get(name) for holder in holders)}
        reason = str(choices[0].get("finish_reason")).lower().partition(":")[0]
        self.finish_reason = _FINISH_REASONS.get(reason, self.finish_reason)

    def _require_answer(self) -> None:
        text, tokens = "".join(self.texts), self.completion_tokens or self.endpoint.max_tokens
        if self.finish_reason in _CUT and not _has_object(text):
            raise _FailedError(self.finish_reason, tokens=count_text(tokens, "token"))
        if not text.strip() and (name := next(filter(self.fields.__contains__, _INSTEAD), "")):
            raise _FailedError(_INSTEAD[name], field=name)
        if not self.texts:
            raise _FailedError("choices" if "choices" in self.fields else "format")


def _text_of(part: Any) -> str:
    """Return the text of a message, or of a part of it; parts such as reasoning have none."""
    if isinstance(part, dict):
        is_answer = part.get("type", "text") in ("text", "output_text") and not part.get("thought")
        part = part["text"] if is_answer else None
    if not isinstance(part, str | None):
        raise _FailedError("format")
    return part or ""


def _has_object(text: str) -> bool:
    try:
        parsing.parse_scientist_output(text)
    except parsing.ScientistOutputParseError as error:
        return error.code is parsing.ParseErrorCode.INVALID_ACTION
    return True


def _without_system(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the messages with the system's text in the first of the user."""
    system = [row["content"] for row in messages if row["role"] == "system"]
    first, *others = [row for row in messages if row["role"] != "system"]
    return [{**first, "content": "\n\n".join([*system, first["content"]])}, *others]


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= LARGEST_COUNT else None


class _BoundedBody(httpx2.AsyncByteStream):
    def __init__(self, endpoint: Endpoint, body: httpx2.AsyncByteStream) -> None:
        self.limit = FREE_BYTES + BYTES_PER_CHARACTER * endpoint.max_characters
        self.body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self.body:
            size += len(chunk)
            if size > self.limit:
                raise _FailedError("long", limit=f"{self.limit:,} bytes")
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
            raise _FailedError("compressed")  # it may expand without limit
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


def _failure(endpoint: Endpoint, error: Exception) -> errors.ModelError:
    """Return the project's error; it never quotes the server, which may repeat the key."""
    row, values = "format", {"status": "in its answer", "wait": "later"}
    values |= {**SETTINGS, "model": endpoint.model}
    match error.__cause__ if isinstance(error, openai.APIConnectionError) else error:
        case _FailedError() as fault:
            row, values = fault.row, values | fault.values
        case httpx2.ConnectError() | httpx2.ConnectTimeout() | httpx2.InvalidURL():
            row = "lost"
        case httpx2.TimeoutException():
            row, values["time"] = "silent", count_text(endpoint.timeout, "second")
        case httpx2.HTTPError() | httpx2.StreamError() | OSError():
            row = "dropped"
        case openai.APIError(body=body) as fault:
            status, text = str(getattr(fault, "status_code", fault.code)), str(body).lower()
            row = "error"
            if re.fullmatch("[3-5][0-9]{2}", status):
                row = status if status in _FAILURES else f"{status[0]}00"
                values["status"] = status
            if row in ("400", "500", "error"):
                reasons = (name for name, words in _REASONS.items() if re.search(words, text))
                row = next(reasons, row)
            headers = getattr(getattr(fault, "response", None), "headers", {})
            wait = headers.get("retry-after", "")
            with suppress(ValueError, OverflowError):
                moment = parsedate_to_datetime(wait)
                wait = str(max(0, (moment - datetime.now(moment.tzinfo)).total_seconds()))
            if not wait and (delay := _WAIT.search(text)):
                wait = str(60 * int(delay[1] or 0) + float(delay[2]))
            if re.fullmatch(r"\d{1,5}(\.\d{1,9})?", wait):
                values["wait"] = f"in {count_text(math.ceil(float(wait)), 'second')}"
    kind, message = _FAILURES[row]
    error_of: type[errors.ModelError] = getattr(errors, kind)
    return error_of(f"{endpoint.host} {message.format_map(values)}")
