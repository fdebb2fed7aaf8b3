"""One question to a server and its answer, through the openai package.

This file and what it imports bring that package in, and are imported with the first call only.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, cast

import httpx2
import openai
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion

from replicalab.errors import ModelError
from replicalab.llm.endpoint import Endpoint
from replicalab.llm.failures import failure_for, plain_word, too_long
from replicalab.llm.gate import Gate

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

CONNECT_SECONDS: Final = 10.0
LARGEST_TOKEN_COUNT: Final = 10**9

_OBJECTIONS: Final = ("max_completion_tokens", "temperature", "stream")
"""Words by which a server says what it wants instead, or does not want."""
_LOGGERS: Final = ("openai._base_client", "httpx2", "httpcore2.connection", "httpcore2.http11")


class Asking:
    """One question, and its answer as far as it has come.

    Attributes:
        texts: the pieces of the answer, so far; empty until a server begins to answer.
        characters: how many they are together.
        prompt_tokens, completion_tokens, finish_reason: as in `replicalab.llm.Answer`.
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

    async def outcome(self) -> ModelError | None:
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
            return failure_for(self._endpoint, error)
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
                    raise too_long(self._endpoint)
                if reason is not None or isinstance(piece, ChatCompletion):
                    self._complete = True
                    self.finish_reason = plain_word(self._endpoint, reason)
            case object(choices=[_, *_]):
                raise ValueError("a choice is no object")


def _text_of(choice: object) -> str:
    """Return the text of a choice, which may have none."""
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
    return False
