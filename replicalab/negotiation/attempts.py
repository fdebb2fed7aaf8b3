"""What was said to a model and what it answered, kept call by call, and played again from a tape.

It works around any `GenerateFn`: a model, a script of a test, or recorded outputs in its place.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Final, NamedTuple, Self

from pydantic import Field, model_validator

from replicalab.agents.parsing import (
    ParseErrorCode,
    ScientistOutputParseError,
    parse_scientist_output,
)
from replicalab.agents.scientist_policy import GenerateFn, call_scientist_with_retry
from replicalab.errors import ModelError
from replicalab.lexicon import count_text
from replicalab.models import (
    MOST_LABELS,
    PROTOCOL_FIELDS,
    Count,
    Protocol,
    Record,
    ScientistAction,
    ScientistObservation,
)

MOST_OUTPUTS: Final = 100
"""No model is asked so often for one turn."""

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Clock = Callable[[], float]
"""Seconds since some moment; only differences count."""


def readable(text: str) -> str:
    """Return the text with halves of characters, which no file can hold, replaced by U+FFFD.

    Two halves that belong together become the character that they are halves of.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Output(Record):
    """What came of one call of a model: its text, or why there is none.

    Attributes:
        text: as the model wrote it; None when the call failed.
        failure: why the call failed; None when it answered.
        prompt_tokens, completion_tokens: as the server counted, or None.
        seconds: from the call to its end; 0 where nobody measured.
        finish_reason: why the text ended (``stop``, ``length`` for the token cap), or None.
    """

    text: str | None = None
    failure: str | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    seconds: Seconds = 0.0
    finish_reason: str | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.text is None) is (self.failure is None):
            raise ValueError("an output has either a text or a failure; leave one of them out")
        return self


@dataclass(frozen=True)
class Attempt:
    """One attempt of a model at an action, told for people.

    Attributes:
        number: 1 for the first attempt at an action.
        system_prompt: what the model was told to be.
        observation: what it was told of the negotiation.
        output: what it said.
        action: what was read from that; None when there was no valid action.
        error_code: what the parser found (`no_json`, `invalid_json`, `invalid_action`), or None.
        error_message: the same in words, or None.
        correction_prompt: what the model was told next; None when it was not asked again.
    """

    number: int
    system_prompt: str
    observation: str
    output: Output
    action: ScientistAction | None
    error_code: ParseErrorCode | None
    error_message: str | None
    correction_prompt: str | None

    @property
    def told(self) -> str:
        """A fingerprint of what the model was told first."""
        return told_digest(self.system_prompt, self.observation)


def told_digest(system_prompt: str, observation: str) -> str:
    """Return the fingerprint of what a model is told: equal prompts, equal digest."""
    told = f"{system_prompt}\0{observation}".encode("utf-8", "surrogatepass")
    return sha256(told).hexdigest()[:16]


class Call(NamedTuple):
    """One call: the messages that were sent, and what came of it."""

    messages: tuple[str, ...]
    output: Output


class Recorder:
    """A `GenerateFn` that passes everything on and keeps each call in ``calls``.

    A call that fails is kept too, and its error raised on. No call ever sees a key.
    """

    def __init__(self, generate_fn: GenerateFn, clock: Clock = time.monotonic) -> None:
        self._generate_fn = generate_fn
        self._clock = clock
        self.calls: list[Call] = []

    def __call__(self, messages: list[dict[str, str]]) -> str:
        """Return what the wrapped function answers, as it is kept: readable."""
        sent = tuple(readable(message["content"]) for message in messages)
        started = self._clock()
        try:
            answer = self._generate_fn(messages)
        except ModelError as error:
            seconds = max(0.0, self._clock() - started)
            self.calls.append(Call(sent, Output(failure=readable(str(error)), seconds=seconds)))
            raise
        text = readable(answer)
        output = Output(
            text=text,
            prompt_tokens=getattr(answer, "prompt_tokens", None),
            completion_tokens=getattr(answer, "completion_tokens", None),
            seconds=max(0.0, self._clock() - started),
            finish_reason=getattr(answer, "finish_reason", None),
        )
        self.calls.append(Call(sent, output))
        return text


class Tape:
    """Recorded outputs in a model's place, with a clock that shows the recorded seconds.

    Each answer carries the recorded tokens. Once they are used up it raises `ModelError`.
    """

    def __init__(self, outputs: Iterable[Output]) -> None:
        self._left = list(outputs)
        self._seconds = 0.0

    def __call__(self, messages: list[dict[str, str]]) -> str:
        """Return the next text, whatever is asked.

        Raises:
            ModelError: no output is left, or the recorded call failed.
        """
        if not self._left:
            raise ModelError("The recorded outputs are used up, and another attempt is asked for.")
        output = self._left.pop(0)
        self._seconds = output.seconds
        if output.text is None:
            raise ModelError(output.failure or "")
        return _Spoken(output)

    def clock(self) -> float:
        """Return the seconds of the output just played, and start anew from 0."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds


class _Spoken(str):
    """A recorded text with what is known of it, as a `Recorder` reads it off a model's answer."""

    prompt_tokens: int | None
    completion_tokens: int | None
    finish_reason: str | None

    def __new__(cls, output: Output) -> Self:
        spoken = super().__new__(cls, output.text)
        spoken.prompt_tokens = output.prompt_tokens
        spoken.completion_tokens = output.completion_tokens
        spoken.finish_reason = output.finish_reason
        return spoken


class Asked(NamedTuple):
    """What came of asking for an action: the action or why there is none, and every attempt."""

    action: ScientistAction | None
    attempts: tuple[Attempt, ...]
    failure: str | None


def ask(
    generate_fn: GenerateFn,
    system_prompt: str,
    observation: ScientistObservation,
    max_retries: int,
    clock: Clock,
) -> Asked:
    """Return the model's action, or why there is none; a model that fails raises nothing."""
    recorder = Recorder(generate_fn, clock)
    action, failure = None, None
    try:
        action = call_scientist_with_retry(recorder, system_prompt, observation, max_retries).action
    except ScientistOutputParseError as error:
        times = count_text(len(recorder.calls), "attempt")
        failure = f"No valid action in {times}; the last: {error.message}"
    except ModelError as error:
        failure = readable(str(error))
    attempts = tuple(
        _attempt(number, call, recorder.calls[number : number + 1])
        for number, call in enumerate(recorder.calls, start=1)
    )
    fault = list_fault(action) if action else ""
    if fault:
        return Asked(None, attempts, f"The model's plan cannot be kept: {fault}.")
    return Asked(action, attempts, failure)


def _attempt(number: int, call: Call, following: Sequence[Call]) -> Attempt:
    action, error = None, None
    if call.output.text is not None:
        try:
            action = parse_scientist_output(call.output.text)
        except ScientistOutputParseError as found:
            error = found
    return Attempt(
        number=number,
        system_prompt=call.messages[0],
        observation=call.messages[1],
        output=call.output,
        action=action,
        error_code=error.code if error else None,
        error_message=error.message if error else None,
        correction_prompt=following[0].messages[-1] if following else None,
    )


def list_fault(plan: Protocol | ScientistAction) -> str:
    """Return which list of a plan is longer than a file may hold; empty where none is."""
    for name in PROTOCOL_FIELDS:
        value = getattr(plan, name)
        if isinstance(value, list) and len(value) > MOST_LABELS:
            return (
                f"{name} has {len(value):,} entries, and {MOST_LABELS} are read at most; shorten "
                "the list"
            )
    return ""
