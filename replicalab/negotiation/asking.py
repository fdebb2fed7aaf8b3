"""A language model asked for one turn, with everything that was said kept; or a tape of it played.

The model's text is data. It is read by the strict parser, and nothing in it can move a check, an
answer or an outcome.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from replicalab.agents.parsing import ScientistOutputParseError, parse_scientist_output
from replicalab.agents.scientist_policy import (
    GenerateFn,
    build_scientist_system_prompt,
    call_scientist_with_retry,
)
from replicalab.assessment import Assessment
from replicalab.errors import ModelError
from replicalab.lexicon import count_text
from replicalab.models import Protocol, ScientistObservation, revise
from replicalab.negotiation.records import Attempt, By, Output, State, Turn, lists_too_long
from replicalab.scenarios import Pack

MAX_RETRIES: Final = 2
Clock = Callable[[], float]
"""Seconds since some moment; only differences count."""
Messages = list[dict[str, str]]


def readable(text: str) -> str:
    """Return the text with halves of characters, which no file can hold, replaced by U+FFFD.

    Two halves that belong together become the character that they are halves of.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def observe(state: State, pack: Pack) -> ScientistObservation:
    """Return what the Scientist sees before it acts; it shares no list with the state."""
    return pack.scientist_observation.model_copy(
        update={
            "conversation_history": list(state.history),
            "current_protocol": _copy(state.plan),
            "round_number": state.round_number,
            "max_rounds": state.max_rounds,
            "suggested_protocol": _copy(state.offer),
        }
    )


def _copy(plan: Assessment | None) -> Protocol | None:
    return revise(plan.plan) if plan else None


class Recorder:
    """A `GenerateFn` that passes everything on and keeps each call, also one that fails.

    A call is kept as the texts that were sent, and what came of it; no call ever sees a key.
    """

    def __init__(self, generate_fn: GenerateFn, clock: Clock = time.monotonic) -> None:
        self._generate_fn = generate_fn
        self._clock = clock
        self.calls: list[tuple[list[str], Output]] = []

    def __call__(self, messages: Messages) -> str:
        """Return what the wrapped function answers, as it is kept: readable.

        Raises:
            ModelError: the call failed.
        """
        started, sent = self._clock(), _texts(messages)
        try:
            answer = self._generate_fn(messages)
        except ModelError as error:
            self._keep(sent, started, failure=readable(str(error)))
            raise
        names = ("prompt_tokens", "completion_tokens", "finish_reason")
        known = {name: getattr(answer, name, None) for name in names}
        self._keep(sent, started, text=readable(answer), **known)
        return readable(answer)

    def _keep(self, sent: list[str], started: float, **said: object) -> None:
        seconds = max(0.0, self._clock() - started)
        self.calls.append((sent, Output.model_validate({**said, "seconds": seconds})))


class _Tape:
    """Recorded outputs in a model's place, in order, whatever is asked."""

    def __init__(self, outputs: Sequence[Output]) -> None:
        self._left = iter(outputs)
        self.calls: list[tuple[list[str], Output]] = []

    def __call__(self, messages: Messages) -> str:
        output = next(self._left)
        self.calls.append((_texts(messages), output))
        if output.text is None:
            raise ModelError(output.failure or "")
        return output.text


def _texts(messages: Messages) -> list[str]:
    return [message["content"] for message in messages]


class ModelAnswer(NamedTuple):
    """What came of asking a model for a turn.

    Attributes:
        turn: the turn, None when the model gave no valid action.
        attempts: every attempt, in order; the last may have failed.
        failure: why there is no turn, None when there is one.
    """

    turn: Turn | None
    attempts: tuple[Attempt, ...] = ()
    failure: str | None = None

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What the model said, attempt by attempt."""
        return tuple(attempt.output for attempt in self.attempts)


def ask_model(
    generate_fn: GenerateFn,
    state: State,
    pack: Pack,
    max_retries: int = MAX_RETRIES,
    clock: Clock = time.monotonic,
) -> ModelAnswer:
    """Return the model's next turn, or why there is none; a model that fails raises nothing.

    Args:
        generate_fn: the model.
        state: where the negotiation stands.
        pack: the study in its lab; the hidden reference never reaches the model.
        max_retries: how often it is corrected and asked again.
        clock: for the seconds of each attempt.
    """
    return _asked(Recorder(generate_fn, clock), state, pack, max_retries)


def hear(outputs: Sequence[Output], state: State, pack: Pack) -> ModelAnswer:
    """Return what recorded outputs come to: the same as when the model said them here."""
    if not outputs:
        return ModelAnswer(None)
    return _asked(_Tape(outputs), state, pack, len(outputs) - 1)


def _asked(model: Recorder | _Tape, state: State, pack: Pack, max_retries: int) -> ModelAnswer:
    action, failure = None, None
    prompt, seen = build_scientist_system_prompt(pack), observe(state, pack)
    try:
        action = call_scientist_with_retry(model, prompt, seen, max_retries).action
    except ScientistOutputParseError as error:
        times = count_text(len(model.calls), "attempt")
        failure = f"No valid action in {times}; the last: {error.message}"
    except ModelError as error:
        failure = str(error)
    corrections = [readable(sent[-1]) for sent, _ in model.calls[1:]]
    attempts = tuple(
        _attempt(number, sent, output, correction)
        for number, ((sent, output), correction) in enumerate(
            zip(model.calls, [*corrections, None], strict=True), start=1
        )
    )
    if fault := lists_too_long(action):
        failure = f"The model's plan cannot be kept: {fault}."
    if action is None or failure:
        return ModelAnswer(None, attempts, failure)
    outputs = tuple(output for _, output in model.calls)
    return ModelAnswer(Turn(action=action, by=By.MODEL, outputs=outputs), attempts)


def _attempt(number: int, sent: list[str], output: Output, correction: str | None) -> Attempt:
    action, error = None, None
    if output.text is not None:
        try:
            action = parse_scientist_output(output.text)
        except ScientistOutputParseError as found:
            error = found
    return Attempt(
        number=number,
        system_prompt=readable(sent[0]),
        observation=readable(sent[1]),
        output=output,
        action=action,
        error_code=error.code if error else None,
        error_message=error.message if error else None,
        correction_prompt=correction,
    )
