"""A language model as the Scientist: asked for one turn, with everything that was said kept.

The model's text is data. It is read by the strict parser, and nothing in it can move a check, an
answer or an outcome.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from replicalab.agents.parsing import ScientistOutputParseError
from replicalab.agents.scientist_policy import (
    GenerateFn,
    build_scientist_system_prompt,
    call_scientist_with_retry,
)
from replicalab.errors import ModelError
from replicalab.lexicon import count_text
from replicalab.negotiation.loading import list_fault
from replicalab.negotiation.recording import Attempt, Clock, Recorder, attempts
from replicalab.negotiation.records import State, Turn
from replicalab.negotiation.rounds import observe
from replicalab.scenarios import Pack

MAX_RETRIES = 2


class ModelAnswer(NamedTuple):
    """What came of asking a model for a turn.

    Attributes:
        turn: the turn, None when the model gave no valid action.
        attempts: every attempt, in order; the last may have failed.
        failure: why there is no turn, None when there is one.
    """

    turn: Turn | None
    attempts: tuple[Attempt, ...]
    failure: str | None


def ask_model(
    generate_fn: GenerateFn,
    state: State,
    scenario: Pack,
    max_retries: int = MAX_RETRIES,
    clock: Clock = time.monotonic,
) -> ModelAnswer:
    """Return the model's next turn, or why there is none; a model that fails raises nothing.

    Args:
        generate_fn: the model, or recorded answers in its place.
        state: where the negotiation stands.
        scenario: the study in its lab; the hidden reference never reaches the model.
        max_retries: how often it is corrected and asked again.
        clock: for the seconds of each attempt.
    """
    recorder = Recorder(generate_fn, clock)
    prompt = build_scientist_system_prompt(scenario)
    try:
        result = call_scientist_with_retry(
            recorder, prompt, observe(state, scenario), max_retries=max_retries
        )
    except ScientistOutputParseError as error:
        tried = tuple(attempts(recorder.calls))
        times = count_text(len(tried), "attempt")
        return ModelAnswer(None, tried, f"No valid action in {times}; the last: {error.message}")
    except ModelError as error:
        return ModelAnswer(None, tuple(attempts(recorder.calls)), str(error))
    tried = tuple(attempts(recorder.calls))
    fault = list_fault(result.action)
    if fault:
        return ModelAnswer(None, tried, f"The model's plan cannot be kept: {fault}.")
    turn = Turn(action=result.action, reason=_told(len(tried)), attempts=tried)
    return ModelAnswer(turn, tried, None)


def _told(number: int) -> str:
    if number == 1:
        return "The model's own choice, valid at the first attempt."
    return f"The model's own choice, valid at attempt {number} after {number - 1} corrected."
