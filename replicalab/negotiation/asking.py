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
from replicalab.negotiation.attempts import Attempt, Output, readable
from replicalab.negotiation.records import By, State, Turn, lists_too_long
from replicalab.scenarios import Pack

MAX_RETRIES: Final = 2
Clock = Callable[[], float]
"""Seconds since some moment; only differences count."""

_USED_UP: Final = Output(failure="The recorded outputs are used up.")


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


class Call(NamedTuple):
    """One call of a model: what was sent, and what came of it. No call ever sees a key."""

    messages: tuple[str, ...]
    output: Output


class Recorder:
    """A `GenerateFn` that passes everything on and keeps each call, also one that fails."""

    def __init__(self, generate_fn: GenerateFn, clock: Clock = time.monotonic) -> None:
        self._generate_fn = generate_fn
        self._clock = clock
        self.calls: list[Call] = []

    def __call__(self, messages: list[dict[str, str]]) -> str:
        """Return what the wrapped function answers, as it is kept: readable.

        Raises:
            ModelError: the call failed.
        """
        sent = tuple(readable(message["content"]) for message in messages)
        started = self._clock()
        try:
            answer = self._generate_fn(messages)
        except ModelError as error:
            self._keep(sent, started, failure=readable(str(error)))
            raise
        names = ("prompt_tokens", "completion_tokens", "finish_reason")
        known = {name: getattr(answer, name, None) for name in names}
        self._keep(sent, started, text=readable(answer), **known)
        return readable(answer)

    def _keep(self, sent: tuple[str, ...], started: float, **said: object) -> None:
        seconds = max(0.0, self._clock() - started)
        self.calls.append(Call(sent, Output.model_validate({**said, "seconds": seconds})))


class Tape(Recorder):
    """Recorded outputs in a model's place, in order, whatever is asked."""

    def __init__(self, outputs: Sequence[Output]) -> None:
        super().__init__(self._next)
        self._left = list(outputs)
        self._said = _USED_UP

    def _next(self, _: object) -> str:
        self._said = self._left.pop(0) if self._left else _USED_UP
        if self._said.text is None:
            raise ModelError(self._said.failure or "")
        return self._said.text

    def _keep(self, sent: tuple[str, ...], *_: object, **__: object) -> None:
        self.calls.append(Call(sent, self._said))


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
        generate_fn: the model, or recorded outputs in its place.
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
    return _asked(Tape(outputs), state, pack, len(outputs) - 1)


def _asked(recorder: Recorder, state: State, pack: Pack, max_retries: int) -> ModelAnswer:
    action, failure = None, None
    prompt, seen = build_scientist_system_prompt(pack), observe(state, pack)
    try:
        action = call_scientist_with_retry(recorder, prompt, seen, max_retries).action
    except ScientistOutputParseError as error:
        times = count_text(len(recorder.calls), "attempt")
        failure = f"No valid action in {times}; the last: {error.message}"
    except ModelError as error:
        failure = str(error)
    calls = recorder.calls
    tried = tuple(_attempt(number, calls) for number in range(len(calls)))
    if action is None:
        return ModelAnswer(None, tried, failure)
    if fault := lists_too_long(action):
        return ModelAnswer(None, tried, f"The model's plan cannot be kept: {fault}.")
    outputs = tuple(call.output for call in calls)
    return ModelAnswer(Turn(action=action, by=By.MODEL, outputs=outputs), tried)


def _attempt(number: int, calls: Sequence[Call]) -> Attempt:
    call, following = calls[number], calls[number + 1 :]
    action, error = None, None
    if call.output.text is not None:
        try:
            action = parse_scientist_output(call.output.text)
        except ScientistOutputParseError as found:
            error = found
    return Attempt(
        number=number + 1,
        system_prompt=call.messages[0],
        observation=call.messages[1],
        output=call.output,
        action=action,
        error_code=error.code if error else None,
        error_message=error.message if error else None,
        correction_prompt=following[0].messages[-1] if following else None,
    )
