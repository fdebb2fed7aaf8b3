"""Recorded outputs of a model in a model's place: the same turn again, without any endpoint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from replicalab.agents.scientist_policy import GenerateFn
from replicalab.errors import ModelError
from replicalab.models import Count, Record
from replicalab.negotiation.model_player import ModelAnswer, ask_model
from replicalab.negotiation.recording import Attempt, Seconds
from replicalab.negotiation.records import State
from replicalab.scenarios import Pack

_MOST_RETRIES: Final = 100
"""More outputs than this for one turn are left over; no model is asked so often."""


class Output(Record):
    """One text of a model, and what it took.

    Attributes:
        text: as the model wrote it.
        prompt_tokens, completion_tokens: as the server counted, or None.
        seconds: how long the model took; 0 where nobody measured.
        finish_reason: why the text ended, or None.
    """

    text: str
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    seconds: Seconds = 0.0
    finish_reason: str | None = None


class Failed(Record):
    """A call that failed: with which words, after how long."""

    message: str
    seconds: Seconds = 0.0


class Spoken(str):
    """A recorded text with what is known of it, as a `Recorder` reads it off a model's answer."""

    __slots__ = ("completion_tokens", "finish_reason", "prompt_tokens")

    prompt_tokens: int | None
    completion_tokens: int | None
    finish_reason: str | None

    @classmethod
    def of(cls, output: Output) -> Spoken:
        """Return the text of an output with its tokens."""
        spoken = cls(output.text)
        spoken.prompt_tokens = output.prompt_tokens
        spoken.completion_tokens = output.completion_tokens
        spoken.finish_reason = output.finish_reason
        return spoken


class _Tape:
    """Outputs played one by one, with a clock that shows the recorded seconds of each."""

    def __init__(self, outputs: Iterable[Output | Failed]) -> None:
        self._left = list(outputs)
        self._seconds = 0.0

    def __call__(self, messages: list[dict[str, str]]) -> str:
        """Return the next text.

        Raises:
            ModelError: no output is left, or the recorded call failed.
        """
        if not self._left:
            raise ModelError("The recorded outputs are used up, and another attempt is asked for.")
        output = self._left.pop(0)
        self._seconds = output.seconds
        if isinstance(output, Failed):
            raise ModelError(output.message)
        return Spoken.of(output)

    def clock(self) -> float:
        """Return the seconds of the output just played, and start anew from 0."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds


def generate_from(outputs: Iterable[Output]) -> GenerateFn:
    """Return a function that answers with recorded outputs in order, whatever it is asked.

    Each answer carries the recorded tokens. Once they are used up it raises `ModelError`.
    """
    return _Tape(outputs)


def outputs_of(tried: Iterable[Attempt]) -> list[Output]:
    """Return the outputs of attempts; a call that failed gave none."""
    return [found for found in map(_played, tried) if isinstance(found, Output)]


def _played(attempt: Attempt) -> Output | Failed:
    usage = attempt.usage
    if attempt.raw_output is None:
        return Failed(message=attempt.failure or "", seconds=usage.seconds)
    return Output(
        text=attempt.raw_output,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        seconds=usage.seconds,
        finish_reason=usage.finish_reason,
    )


def try_again(tried: Sequence[Attempt], state: State, scenario: Pack) -> ModelAnswer:
    """Return what `ask_model` makes of kept attempts, in which a call may have failed."""
    tape = _Tape(map(_played, tried))
    retries = min(len(tried), _MOST_RETRIES) - 1
    return ask_model(tape, state, scenario, max(0, retries), tape.clock)


def ask_again(
    outputs: Sequence[Output],
    state: State,
    scenario: Pack,
    max_retries: int | None = None,
) -> ModelAnswer:
    """Return what `ask_model` makes of recorded outputs, with the recorded seconds and tokens.

    Args:
        outputs: in order.
        state: where the negotiation stands.
        scenario: the study in its lab.
        max_retries: how often it is asked again; None for as often as there are outputs.
    """
    tape = _Tape(outputs)
    retries = min(len(outputs), _MOST_RETRIES) - 1 if max_retries is None else max_retries
    return ask_model(tape, state, scenario, max(0, retries), tape.clock)
