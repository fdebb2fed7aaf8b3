"""A language model asked for a turn; its text is data that only the strict parser reads."""

import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from replicalab.agents import scientist_policy
from replicalab.agents.parsing import ScientistOutputParseError, parse_scientist_output
from replicalab.errors import ModelAnswerTooLongError, ModelError
from replicalab.lexicon import count_text, shortened
from replicalab.limits import LONGEST_LABEL, LONGEST_OUTPUT, LONGEST_TEXT
from replicalab.models import ScientistObservation, revise
from replicalab.negotiation.records import Attempt, Output, State, Turn, TurnAuthor
from replicalab.scenarios import Pack

MAX_RETRIES: Final = 2
Clock = Callable[[], float]  # Seconds since some moment; only differences count
Messages = list[dict[str, str]]
_COUNTS: Final = ("prompt_tokens", "completion_tokens")


def readable(text: str) -> str:
    """Return the text with lone surrogates, which no file can hold, replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def observe(state: State, pack: Pack) -> ScientistObservation:
    """Return the Scientist's view of a state; it shares no list with the state."""
    plan, offer = (revise(item.plan) if item else None for item in (state.plan, state.offer))
    history = list(state.history)
    return pack.seen_by_scientist(history, plan, state.round_number, state.max_rounds, offer)


class Recorder:
    """A `GenerateFn` that records the texts and the output of each call.

    ``error`` is the failure of a call, apart from an answer that is too long.
    """

    def __init__(
        self, generate_fn: scientist_policy.GenerateFn, clock: Clock = time.monotonic
    ) -> None:
        self._generate_fn = generate_fn
        self._clock = clock
        self.calls: list[tuple[list[str], Output]] = []
        self.error: ModelError | None = None

    def __call__(self, messages: Messages) -> str:
        started, sent = self._clock(), [message["content"] for message in messages]
        try:
            answer: object = self._generate_fn(messages)
            if not isinstance(answer, str):
                kind = type(answer).__name__
                raise TypeError(f"the model's function returned a {kind}; return its text, a str")
            if len(answer) > LONGEST_OUTPUT:
                raise ModelAnswerTooLongError(
                    f"The model's answer has {len(answer):,} characters, and at most "
                    f"{LONGEST_OUTPUT:,} are read; ask for shorter answers."
                )
        except ModelError as error:
            self.error = None if isinstance(error, ModelAnswerTooLongError) else error
            self._keep(sent, started, failure=shortened(readable(str(error)), LONGEST_TEXT - 1))
            raise
        ended, text = getattr(answer, "finish_reason", None), readable(answer)
        reason = shortened(readable(ended), LONGEST_LABEL - 1) if isinstance(ended, str) else None
        counts = {name: getattr(answer, name, None) for name in _COUNTS}
        tokens = {name: n for name, n in counts.items() if type(n) is int and n >= 0}
        self._keep(sent, started, text=text, finish_reason=reason, **tokens)
        return text

    def _keep(self, sent: list[str], started: float, **fields: object) -> None:
        seconds = max(0.0, self._clock() - started)
        self.calls.append((sent, Output.model_validate({**fields, "seconds": seconds})))


class ModelAnswer(NamedTuple):
    """A model's attempts at a turn; without a valid action ``failure`` says why."""

    turn: Turn | None
    attempts: tuple[Attempt, ...] = ()
    failure: str | None = None

    @property
    def outputs(self) -> tuple[Output, ...]:
        return tuple(attempt.output for attempt in self.attempts)

    @property
    def walking_away(self) -> Turn:
        return Turn(action=None, by=TurnAuthor.MODEL, outputs=self.outputs)


def ask_model(
    generate_fn: scientist_policy.GenerateFn,
    state: State,
    pack: Pack,
    max_retries: int = MAX_RETRIES,
    clock: Clock = time.monotonic,
) -> ModelAnswer:
    """Return the model's next turn after at most ``max_retries`` corrections; raises nothing."""
    return ask(Recorder(generate_fn, clock), state, pack, max_retries)


def hear(outputs: Sequence[Output], state: State, pack: Pack) -> ModelAnswer:
    """Return the turn in recorded outputs, as if the model gave them now."""
    left = iter(outputs)

    def repeat(_: Messages) -> str:
        output = next(left)
        if output.text is None:
            raise ModelError(output.failure or "")
        return output.text

    if not outputs:
        return ModelAnswer(None)
    return ask(Recorder(repeat), state, pack, len(outputs) - 1, outputs)


def ask(
    model: Recorder,
    state: State,
    pack: Pack,
    max_retries: int = MAX_RETRIES,
    recorded: Sequence[Output] = (),
) -> ModelAnswer:
    """Return the answer of a model, with the ``recorded`` outputs if it only repeats them."""
    action, failure = None, None
    prompt, seen = scientist_policy.build_scientist_system_prompt(pack), observe(state, pack)
    try:
        action = scientist_policy.call_scientist_with_retry(model, prompt, seen, max_retries).action
    except ScientistOutputParseError as error:
        times = count_text(len(model.calls), "attempt")
        failure = f"No valid action in {times}; the last: {error.message}"
    except ModelError as error:
        failure = str(error)
    corrections = [readable(sent[-1]) for sent, _ in model.calls[1:]]
    pair = readable(prompt), readable(model.calls[0][0][1])
    made = [output for _, output in model.calls]
    outputs = tuple(recorded[: len(made)] or made)
    called = enumerate(zip(outputs, [*corrections, None], strict=True), start=1)
    attempts = tuple(_attempt(number, pair, *call) for number, call in called)
    turn = Turn(action=action, by=TurnAuthor.MODEL, outputs=outputs) if action else None
    return ModelAnswer(turn, attempts, failure)


def _attempt(
    number: int, given: tuple[str, str], output: Output, correction: str | None
) -> Attempt:
    action, error = None, None
    if output.text is not None:
        try:
            action = parse_scientist_output(output.text)
        except ScientistOutputParseError as found:
            error = found
    code, message = (error.code, error.message) if error else (None, None)
    return Attempt(number, *given, output, action, code, message, correction)
