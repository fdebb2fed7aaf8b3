"""What a server sent back, read as one answer: a stream of events, or one JSON object.

A server is a stranger: whatever it sends ends as text, or as one of the project's errors.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from replicalab.errors import ModelFormatError, ModelServerError, ModelUnreachableError
from replicalab.llm.endpoint import Endpoint
from replicalab.llm.watch import Watch
from replicalab.negotiation.recording import readable

LARGEST_TOKEN_COUNT: Final = 10**9
_CODE: Final = re.compile(r"[a-z][a-z_]{0,59}")
_DONE: Final = "[DONE]"


class Answer(str):
    """The text of an answer, with what the server said about it.

    Attributes:
        prompt_tokens: tokens of the messages sent, None when the server does not say.
        completion_tokens: tokens of the answer, None when the server does not say.
        finish_reason: why it ended: ``stop``; ``length`` when it was cut at the token cap; None
            when the server does not say.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finish_reason: str | None = None


def error_code(endpoint: Endpoint, body: object) -> str | None:
    """Return the server's own name of its error, None unless it is a plain word.

    Its message is never shown: servers repeat the key in it, also in parts.
    """
    error = body.get("error", body) if isinstance(body, dict) else None
    named = [error.get("code"), error.get("type")] if isinstance(error, dict) else []
    return next((code for code in named if _is_plain(endpoint, code)), None)


def _is_plain(endpoint: Endpoint, word: object) -> bool:
    key = endpoint.api_key.get_secret_value().lower() if endpoint.api_key else ""
    if not isinstance(word, str) or not _CODE.fullmatch(word):
        return False
    return not key or (word not in key and key not in word)


def read_answer(chunks: Iterable[bytes], endpoint: Endpoint, watch: Watch) -> Answer:
    """Return the answer in a response, however the server chose to send it.

    Nothing but whitespace, or no text at all, is an answer too: the parser says ``no_json`` and
    the model is asked again.

    Raises:
        ModelFormatError: this is no chat completion.
        ModelServerError: the server reports a failure in place of the rest.
        ModelUnreachableError: the stream ended before the answer did.
        ModelAnswerTooLongError: it is longer than is read.
    """
    lines = _lines(chunks)
    first = next((line for line in lines if line.strip()), "")
    whole = chain([first], lines)
    reader = _Reader(endpoint, watch)
    if first.lstrip().startswith("{"):
        reader.take("\n".join(whole))
        reader.ended = True
    else:
        for data in _events(whole):
            if data.strip() == _DONE:
                reader.ended = True
                break
            reader.take(data)
    return reader.answer()


class _Reader:
    """Gathers the pieces of one answer."""

    def __init__(self, endpoint: Endpoint, watch: Watch) -> None:
        self._endpoint = endpoint
        self._watch = watch
        self._pieces: list[str] = []
        self._usage: dict[str, object] = {}
        self._finish_reason: str | None = None
        self._anything = False
        self.ended = False

    def take(self, data: str) -> None:
        """Take in one object: a piece of a stream, or a whole completion."""
        piece = _object(data)
        if piece is None:
            raise self._malformed()
        if piece.get("error"):
            code = error_code(self._endpoint, piece)
            raise ModelServerError(
                f"{self._endpoint.host} broke off with an error of its own"
                f"{f' ({code})' if code else ''}; try again in a while."
            )
        self._take_usage(piece.get("usage"))
        self._take_choices(piece.get("choices"))
        self._watch.check()

    def _take_usage(self, usage: object) -> None:
        if isinstance(usage, dict):
            self._usage = usage

    def _take_choices(self, choices: object) -> None:
        if not isinstance(choices, list):
            # Some servers send other objects in between (pings); a completion has choices.
            return
        self._anything = True
        choice = choices[0] if choices else {}
        if not isinstance(choice, dict):
            raise self._malformed()
        reason = choice.get("finish_reason")
        if reason is not None:
            self.ended = True
            self._finish_reason = str(reason) if _is_plain(self._endpoint, reason) else None
        self._take_text(choice.get("delta") or choice.get("message") or {})

    def _take_text(self, message: object) -> None:
        text = message.get("content") if isinstance(message, dict) else message
        if text is None:
            return
        if not isinstance(text, str):
            raise self._malformed()
        self._watch.wrote(len(text))
        self._pieces.append(text)

    def answer(self) -> Answer:
        """Return what was gathered."""
        if not self._anything:
            raise self._malformed()
        if not self.ended:
            raise ModelUnreachableError(
                f"{self._endpoint.host} dropped the connection before its answer was complete; "
                "try again."
            )
        answer = Answer(self._endpoint.without_key(readable("".join(self._pieces))))
        answer.prompt_tokens = _count(self._usage.get("prompt_tokens"))
        answer.completion_tokens = _count(self._usage.get("completion_tokens"))
        answer.finish_reason = self._finish_reason
        self._watch.report()
        return answer

    def _malformed(self) -> ModelFormatError:
        return ModelFormatError(
            f"{self._endpoint.host} answered with something that is no chat completion; check "
            "that the base URL ends where the API begins, often /v1."
        )


def _count(value: object) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value <= LARGEST_TOKEN_COUNT else None  # type: ignore[operator, return-value]


def _object(text: str) -> dict[str, object] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield each line; only a line feed ends one, since answers may hold other separators.

    Bytes that are no UTF-8 become U+FFFD.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    pending: list[str] = []
    for chunk in chunks:
        first, *others = decoder.decode(chunk).split("\n")
        pending.append(first)
        for part in others:
            yield "".join(pending).removesuffix("\r")
            pending = [part]
    pending.append(decoder.decode(b"", final=True))
    yield "".join(pending)


def _events(lines: Iterable[str]) -> Iterator[str]:
    """Yield the data of each server-sent event.

    Source: WHATWG HTML, section 9.2.6, "Interpreting an event stream".
    """
    data: list[str] = []
    for line in chain(lines, [""]):
        field, _, value = line.partition(":")
        if field == "data":
            data.append(value.removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []
