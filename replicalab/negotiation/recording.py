"""What was said to a model and what it answered, kept call by call.

It works around any `GenerateFn`: a model, a script of a test, or recorded answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Annotated

from pydantic import Field

from replicalab.agents.parsing import (
    ParseErrorCode,
    ScientistOutputParseError,
    parse_scientist_output,
)
from replicalab.agents.scientist_policy import GenerateFn
from replicalab.errors import ModelError
from replicalab.models import Count, Record, ScientistAction

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]

_OPENING_MESSAGES = 2
"""System prompt and observation; each correction adds two more."""

Clock = Callable[[], float]
"""Seconds since some moment; only differences count."""


def readable(text: str) -> str:
    """Return the text with halves of characters, which no file can hold, replaced by U+FFFD.

    Two halves that belong together become the character that they are halves of.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Message(Record):
    """One chat message."""

    role: str
    content: str


class Usage(Record):
    """What a call used, as far as the server says.

    Attributes:
        prompt_tokens: tokens of the messages sent, or None.
        completion_tokens: tokens of the answer, or None.
        seconds: from the call to its end, waiting included.
        finish_reason: why the answer ended (``stop``, ``length`` for the token cap), or None.
    """

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    seconds: Seconds
    finish_reason: str | None = None


class Call(Record):
    """One call of a model: everything but the key, which no call ever sees.

    Attributes:
        messages: what was sent.
        raw_output: the answer's text; None when the call failed.
        failure: why the call failed; None when it answered.
        usage: tokens and seconds.
    """

    messages: tuple[Message, ...]
    raw_output: str | None
    failure: str | None
    usage: Usage


class Attempt(Record):
    """One attempt of a model at an action, told for people.

    Attributes:
        number: 1 for the first attempt at an action.
        system_prompt: what the model was told to be.
        observation: what it was told of the negotiation.
        raw_output: its text; None when the call failed.
        failure: why the call failed; None when it answered.
        error_code: what the parser found (`no_json`, `invalid_json`, `invalid_action`), or None.
        error_message: the same in words, or None.
        correction_prompt: what the model was told next; None when it was not asked again.
        action: what was read from the text; None when there was no valid action.
        usage: tokens and seconds.
    """

    number: Annotated[int, Field(ge=1)]
    system_prompt: str
    observation: str
    raw_output: str | None
    failure: str | None
    error_code: ParseErrorCode | None
    error_message: str | None
    correction_prompt: str | None
    action: ScientistAction | None
    usage: Usage


class Recorder:
    """A `GenerateFn` that passes everything on and keeps each call in ``calls``.

    ``recorder = Recorder(build_generate_fn(endpoint))``, then hand ``recorder`` to
    `call_scientist_with_retry`; ``attempts(recorder.calls)`` tells what happened. A call that
    fails is kept too, and its error raised on.
    """

    def __init__(self, generate_fn: GenerateFn, clock: Clock = time.monotonic) -> None:
        self._generate_fn = generate_fn
        self._clock = clock
        self._calls: list[Call] = []

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every call so far, in order."""
        return tuple(self._calls)

    def __call__(self, messages: list[dict[str, str]]) -> str:
        """Return what the wrapped function answers, as it is kept: readable."""
        sent = [dict(message) for message in messages]
        started = self._clock()
        try:
            answer = self._generate_fn(messages)
        except ModelError as error:
            self._keep(sent, None, str(error), self._clock() - started)
            raise
        self._keep(sent, answer, None, self._clock() - started)
        return readable(answer)

    def _keep(
        self, sent: list[dict[str, str]], answer: str | None, failure: str | None, seconds: float
    ) -> None:
        usage = Usage(
            prompt_tokens=getattr(answer, "prompt_tokens", None),
            completion_tokens=getattr(answer, "completion_tokens", None),
            seconds=max(0.0, seconds),
            finish_reason=getattr(answer, "finish_reason", None),
        )
        self._calls.append(
            Call(
                messages=tuple(_message(message) for message in sent),
                raw_output=None if answer is None else readable(answer),
                failure=failure,
                usage=usage,
            )
        )


def _message(message: dict[str, str]) -> Message:
    return Message(role=message["role"], content=readable(message["content"]))


def attempts(calls: Sequence[Call]) -> list[Attempt]:
    """Return the calls of `call_scientist_with_retry` as attempts, numbered anew for each action.

    Calls that it did not make (fewer than a system prompt and an observation) are left out.
    """
    known = [call for call in calls if len(call.messages) >= _OPENING_MESSAGES]
    following = [*known[1:], None]
    return [_attempt(call, after) for call, after in zip(known, following, strict=False)]


def _attempt(call: Call, after: Call | None) -> Attempt:
    action, error = _read(call.raw_output)
    asked_again = after is not None and len(after.messages) > _OPENING_MESSAGES
    return Attempt(
        number=len(call.messages) // 2,
        system_prompt=call.messages[0].content,
        observation=call.messages[1].content,
        raw_output=call.raw_output,
        failure=call.failure,
        error_code=error.code if error else None,
        error_message=error.message if error else None,
        correction_prompt=after.messages[-1].content if after and asked_again else None,
        action=action,
        usage=call.usage,
    )


def _read(
    raw_output: str | None,
) -> tuple[ScientistAction | None, ScientistOutputParseError | None]:
    if raw_output is None:
        return None, None
    try:
        return parse_scientist_output(raw_output), None
    except ScientistOutputParseError as error:
        return None, error
