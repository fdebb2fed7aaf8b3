"""Recorded outputs in a model's place: the same turn, with the recorded seconds and tokens."""

from __future__ import annotations

import pytest

from replicalab.errors import ModelError
from replicalab.negotiation import ask_model, begin, play_turn, setup_for, start, state_of
from replicalab.negotiation.recorded import Output, ask_again, generate_from, outputs_of
from tests.negotiation.modelling import CUT_OFF, PROPOSAL, PROSE
from tests.negotiation.playing import BOOKED
from tests.scripted import ScriptedGenerate

FRESH = start(setup_for(BOOKED))
OUTPUTS = [
    Output(text=PROSE, prompt_tokens=900, completion_tokens=11, seconds=0.1, finish_reason="stop"),
    Output(text=CUT_OFF, seconds=0.2, finish_reason="length"),
    Output(text=PROPOSAL, prompt_tokens=990, completion_tokens=120, seconds=0.7),
]


def test_recorded_outputs_are_said_in_order_with_their_tokens() -> None:
    generate = generate_from(OUTPUTS)
    spoken = [generate([]) for _ in OUTPUTS]
    assert spoken == [PROSE, CUT_OFF, PROPOSAL]
    assert [getattr(text, "prompt_tokens") for text in spoken] == [900, None, 990]  # noqa: B009
    assert [getattr(text, "finish_reason") for text in spoken] == ["stop", "length", None]  # noqa: B009


def test_recorded_outputs_run_out_as_a_failure_of_the_model() -> None:
    generate = generate_from([])
    with pytest.raises(ModelError, match=r"^The recorded outputs are used up"):
        generate([])


def test_asking_again_gives_the_recorded_seconds_and_tokens_exactly() -> None:
    answer = ask_again(OUTPUTS, FRESH, BOOKED)
    assert answer.turn is not None
    assert [attempt.usage.seconds for attempt in answer.attempts] == [0.1, 0.2, 0.7]
    assert outputs_of(answer.attempts) == OUTPUTS


def test_asking_again_equals_asking_the_first_time() -> None:
    first = ask_model(ScriptedGenerate([PROSE, PROPOSAL]), FRESH, BOOKED)
    assert ask_again(outputs_of(first.attempts), FRESH, BOOKED) == first


def test_asking_again_with_too_few_outputs_says_so() -> None:
    answer = ask_again(OUTPUTS[:2], FRESH, BOOKED, max_retries=2)
    assert answer.turn is None
    assert answer.failure == ("The recorded outputs are used up, and another attempt is asked for.")


def test_asking_again_with_none_gives_no_turn() -> None:
    assert ask_again([], FRESH, BOOKED).turn is None


def test_call_that_failed_left_no_output() -> None:
    failed = ask_model(ScriptedGenerate([PROSE, ModelError("gone")]), FRESH, BOOKED)
    assert [output.text for output in outputs_of(failed.attempts)] == [PROSE]


def test_turn_of_recorded_outputs_is_played_like_any_other() -> None:
    trace = begin(setup_for(BOOKED), BOOKED)
    turn = ask_again(OUTPUTS, FRESH, BOOKED).turn
    assert turn is not None
    assert state_of(play_turn(trace, turn, BOOKED), BOOKED).offer is not None
