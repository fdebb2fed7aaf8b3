"""One question to a server and its answer, through the openai package.

This file and what it imports bring that package in, and are imported with the first call only.
"""

from __future__ import annotations

import logging
import re
import socket
import ssl
from typing import TYPE_CHECKING, Final, cast

import httpx2
import openai
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion

from replicalab import errors
from replicalab.lexicon import plural
from replicalab.llm.endpoint import API_KEY_SETTING, Endpoint
from replicalab.llm.gate import Gate

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

CONNECT_SECONDS: Final = 10.0
LARGEST_TOKEN_COUNT: Final = 10**9

# Words by which a server says what it wants instead, or does not want.
_OBJECTIONS: Final = ("max_completion_tokens", "temperature", "stream")
_LOGGERS: Final = ("openai._base_client", "httpx2", "httpcore2.connection", "httpcore2.http11")


class ModelCall:
    """One question, and its answer as far as it has come.

    Attributes:
        texts: the pieces of the answer, so far; empty until a server begins to answer.
        characters: how many they are together.
        prompt_tokens, completion_tokens, finish_reason: as in `ModelReply`.
    """

    def __init__(self, endpoint: Endpoint, messages: list[dict[str, str]]) -> None:
        self.texts: list[str] = []
        self.characters = 0
        self.prompt_tokens: int | None = None
        self.completion_tokens: int | None = None
        self.finish_reason: str | None = None
        self._endpoint = endpoint
        self._messages = cast("list[ChatCompletionMessageParam]", messages)
        self._gate = Gate(endpoint)
        self._complete = False

    async def outcome(self) -> errors.ModelError | None:
        """Return None once the answer is complete, or why there will be none.

        Nothing is raised, so that no foreign error, which may quote the server, travels along.
        """
        try:
            async with _client(self._endpoint, self._gate) as client:
                await self._ask(client)
            if not self.texts:
                raise ValueError("nothing that came is part of a chat completion")
            if not self._complete:
                raise httpx2.RemoteProtocolError("the answer has no end")
        except Exception as error:  # noqa: BLE001 - hostile answers trip the package up in any way
            return _failure_for(self._endpoint, error)
        return None

    async def _ask(
        self, client: openai.AsyncOpenAI, objections: frozenset[str] = frozenset()
    ) -> None:
        """Ask, and once more in another way for each objection that is understood."""
        cap, newer_cap = self._endpoint.max_tokens, "max_completion_tokens" in objections
        warm, stream = "temperature" not in objections, "stream" not in objections
        try:
            answer = await client.chat.completions.create(
                model=self._endpoint.model,
                messages=self._messages,
                temperature=self._endpoint.temperature if warm else openai.omit,
                max_tokens=openai.omit if newer_cap else cap,
                max_completion_tokens=cap if newer_cap else openai.omit,
                stream=stream,
                stream_options={"include_usage": True} if stream else openai.omit,
            )
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            said = str(error.body).lower()
            new = [word for word in _OBJECTIONS if word in said and word not in objections]
            if not new:
                raise
            await self._ask(client, objections | {new[0]})
            return
        if isinstance(answer, openai.AsyncStream):
            async with answer:
                await self._read(answer)
        else:
            self._take(answer)

    async def _read(self, stream: openai.AsyncStream[ChatCompletionChunk]) -> None:
        if "json" in stream.response.headers["content-type"]:
            # The server does not stream: this is the whole answer.
            await stream.response.aread()
            self._take(ChatCompletion.model_construct(**stream.response.json()))
            return
        async for piece in stream:
            self._gate.take_piece()
            self._take(piece)
        # Not every server says with its last piece why the answer ends.
        self._complete = self._complete or self._gate.said_done

    def _take(self, piece: object) -> None:
        """Take in a piece of a stream, or a whole completion.

        The package promises types and checks none: a server may have put anything anywhere.
        Objects without choices are passed over: pings, and the usage at the end.
        """
        match piece:
            case object(usage=CompletionUsage(prompt_tokens=sent, completion_tokens=written)):
                self.prompt_tokens, self.completion_tokens = _count(sent), _count(written)
        match piece:
            case object(error=error) if error:
                # In a stream the package finds these, in a whole answer it does not.
                raise openai.APIError("", httpx2.Request("POST", ""), body=error)
            case object(choices=[object(index=int(number)), *_]) if number > 0:
                # Only one choice was asked for.
                return
            case object(choices=[object(finish_reason=reason) as choice, *_]):
                self.texts.append(_text_of(choice))
                self.characters += len(self.texts[-1])
                if self.characters > self._endpoint.max_characters:
                    raise errors.ModelAnswerTooLongError(
                        f"{self._endpoint.host} answered with more than "
                        f"{self._endpoint.max_characters:,} characters, and no more is read; try "
                        "again, or another model."
                    )
                if reason is not None or isinstance(piece, ChatCompletion):
                    self._complete = True
                    self.finish_reason = _plain_word(self._endpoint, reason)
            case object(choices=[_, *_]):
                raise ValueError("a choice is no object")


def _text_of(choice: object) -> str:
    match choice:
        case object(delta=object(content=str(text))) | object(message=object(content=str(text))):
            return text
        case object(delta=None | object(content=None)) | object(message=object(content=None)):
            return ""
    raise ValueError("there is no text where one belongs")


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= LARGEST_TOKEN_COUNT else None


def _client(endpoint: Endpoint, gate: Gate) -> openai.AsyncOpenAI:
    """Return a client for one call.

    Every argument that the package would otherwise read from a variable is given.
    """
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_unspoken)
    timeout = httpx2.Timeout(endpoint.timeout, connect=min(endpoint.timeout, CONNECT_SECONDS))
    return openai.AsyncOpenAI(
        base_url=endpoint.base_url,
        api_key="the gate puts in the real one",
        admin_api_key="",
        organization="",
        project="",
        webhook_secret="",
        timeout=timeout,
        max_retries=endpoint.max_retries,
        http_client=httpx2.AsyncClient(
            transport=gate, trust_env=False, follow_redirects=False, timeout=timeout
        ),
    )


def _unspoken(_record: logging.LogRecord) -> bool:
    """Keep the package's logs silent: they quote what servers say, and those may say the key."""
    # One function for all calls: a logger takes the same filter once, and another one each time.
    return False


# --- what went wrong, by host and remedy, and without the key -----------------------------------

_WORD: Final = re.compile(r"[a-z][a-z_]{0,59}")
_SECONDS: Final = re.compile(r"[1-9][0-9]{0,5}")

# What a status means; 300, 400 and 500 stand for those that are not named.
_BY_STATUS: Final = {
    300: "sends requests on to another address ({number}), where the key must not follow; set the "
    "base URL to the final address.",
    400: "refused the request for {model} ({number}); check the model's name, and whether it takes "
    "messages this long and answers of {tokens} tokens.",
    401: f"refused the key ({{number}}); check {API_KEY_SETTING}, or the key you typed.",
    403: "does not let this key use {model} ({number}); check the key's rights.",
    404: "has no {model} at this address ({number}); check the model's name, and that the base URL "
    "ends where the API begins, often /v1.",
    429: "takes no more requests now ({number}); wait {wait}, or check the quota.",
    500: "failed ({number}), also when asked again; try later, or look into the server's log.",
}


def _failure_for(endpoint: Endpoint, error: Exception) -> errors.ModelError:
    """Return the project's error for any other, with nothing of that one but a plain word.

    What a server says is never shown: servers repeat the key in it, also in parts.
    """
    host = endpoint.host
    match error:
        case errors.ModelError():
            return type(error)(*error.args)
        case openai.APIStatusError():
            return _refusal(endpoint, error)
        case openai.APIConnectionError() | httpx2.HTTPError() | httpx2.StreamError() | OSError():
            return errors.ModelUnreachableError(f"{host} {_lack_of_connection(error)}")
        case openai.APIError():
            code = _code(endpoint, error)
            what = f"an error of its own ({code})" if code else "an error of its own"
            return errors.ModelServerError(f"{host} broke off with {what}; try again in a while.")
        case httpx2.InvalidURL():
            return errors.ModelSettingsError("The base URL names no host; write it in full.")
    return errors.ModelFormatError(
        f"{host} answered with something that is no chat completion; check that the base URL ends "
        "where the API begins, often /v1."
    )


def _plain_word(endpoint: Endpoint, word: object) -> str | None:
    """Return the word if it is a plain one, such as ``stop``, and no part of the key; or None."""
    if not isinstance(word, str) or not _WORD.fullmatch(word):
        return None
    key = endpoint.api_key.get_secret_value().lower() if endpoint.api_key else ""
    repeats = word in key or word in key[::-1] or (key and key in word)
    return None if repeats or endpoint.without_key(word) != word else word


def _code(endpoint: Endpoint, error: openai.APIError) -> str | None:
    return _plain_word(endpoint, error.code) or _plain_word(endpoint, error.type)


def _refusal(endpoint: Endpoint, error: openai.APIStatusError) -> errors.ModelError:
    status, code = error.status_code, _code(endpoint, error)
    server_failed = status >= 500 or status == httpx2.codes.REQUEST_TIMEOUT
    others = 500 if server_failed else 400 if status >= 400 else 300
    asked = error.response.headers.get("retry-after", "")
    text = _BY_STATUS.get(status, _BY_STATUS[others]).format(
        number=f"{status}, {code}" if code else status,
        model=f"model '{endpoint.model}'",
        tokens=endpoint.max_tokens,
        wait=f"{asked} {plural('second', float(asked))}"
        if _SECONDS.fullmatch(asked)
        else "a while",
    )
    kind: type[errors.ModelError] = (
        errors.ModelServerError if server_failed else errors.ModelRefusedError
    )
    if status == httpx2.codes.TOO_MANY_REQUESTS:
        kind = errors.ModelRateLimitedError
    return kind(f"{endpoint.host} {text}")


def _lack_of_connection(error: Exception) -> str:
    kinds: set[type] = set()
    cause: BaseException | None = error
    while cause is not None:
        kinds.update(type(cause).__mro__)
        cause = cause.__cause__ or cause.__context__
    if kinds & {socket.gaierror, UnicodeError}:
        return "is not known as a host; check the base URL and the network."
    if ssl.SSLError in kinds:
        return "could not be reached safely; check its certificate, and http or https."
    if kinds & {httpx2.ConnectError, httpx2.ConnectTimeout}:
        return "does not answer; check that the server runs and the base URL is right."
    return "dropped the connection before its answer was complete; try again."
