"""A language model plays to the end: what it is let do, and what is nobody's choice."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.errors import ModelAnswerTooLongError, ModelTimeoutError
from replicalab.limits import LONGEST_OUTPUT
from replicalab.negotiation import (
    MAX_RETRIES,
    Ending,
    Negotiation,
    Outcome,
    ScientistKind,
    course,
    load,
    negotiate,
    replay,
    save,
    score,
)
from tests.negotiation.playing import (
    ACCEPT,
    BOOKED,
    MODELLED,
    OPEN,
    PLAN,
    PROPOSAL,
    PROSE,
    RECORDING,
    acts,
    game,
    said,
)
from tests.scripted import ScriptedGenerate

SETUP: Final = game(BOOKED, scientist=ScientistKind.MODEL)
HALF: Final = "\ud83d"


def test_each_round_comes_before_the_next_call() -> None:
    generate = ScriptedGenerate([PROPOSAL, said(ACCEPT)])
    pairs = [
        (len(played.rounds), len(generate.sent))
        for played in course(Negotiation(SETUP, BOOKED), generate)
    ]
    assert pairs == [(1, 1), (2, 2)]


def test_given_opening_is_played_without_a_call() -> None:
    setup = game(BOOKED, PLAN, scientist=ScientistKind.MODEL)
    generate = ScriptedGenerate([said(ACCEPT)])
    played = negotiate(setup, BOOKED, generate)
    assert acts(played) == ["propose_protocol", "accept"]
    assert len(generate.sent) == 1


@pytest.mark.parametrize(
    ("script", "asked", "why"),
    [
        ([PROSE, "", HALF], MAX_RETRIES + 1, "No valid action in 3 attempts; the last: "),
        (["x" * (LONGEST_OUTPUT + 1)], 1, "The model's answer has 200,001 characters, and at"),
        ([PROSE, ModelAnswerTooLongError("too long")], 2, "too long"),
    ],
)
def test_model_without_a_valid_action_walks_away(
    script: list[str | Exception], asked: int, why: str
) -> None:
    generate = ScriptedGenerate(script)
    played = negotiate(SETUP, BOOKED, generate)
    assert (played.ending, played.outcome) == (Ending.WALKED_AWAY, Outcome.NO_DEAL)
    assert len(generate.sent) == asked == len(played.rounds[0].turn.outputs)
    assert played.rounds[0].reason.startswith(why)
    assert score(played).regret > 0
    again = replay(load(save(played, RECORDING)), BOOKED)
    assert again.rounds[0].reason == played.rounds[0].reason


@pytest.mark.parametrize(
    "failure",
    [ModelTimeoutError("silent"), OSError("lost"), ValueError("mine"), ZeroDivisionError()],
)
def test_failing_call_raises_its_own_error(failure: Exception) -> None:
    """It ends neither the round, which is not played, nor what was played before."""
    generate = ScriptedGenerate([PROPOSAL, PROSE, failure])
    rounds = course(Negotiation(SETUP, BOOKED), generate)
    assert len(next(rounds).rounds) == 1
    with pytest.raises(type(failure)) as caught:
        next(rounds)
    assert caught.value is failure
    assert len(generate.sent) == 3


@pytest.mark.parametrize("answer", [None, b"{}", 3, ["{}"], {"action_type": "accept"}])
def test_function_that_returns_no_text_is_refused(answer: object) -> None:
    kind = type(answer).__name__
    with pytest.raises(TypeError, match=f"returned a {kind}; return its text, a str"):
        negotiate(SETUP, BOOKED, lambda _: answer)  # type: ignore[arg-type,return-value]


def test_model_plays_only_its_own_seat() -> None:
    waiting = negotiate(game(OPEN, scientist=ScientistKind.PERSON), OPEN, ScriptedGenerate([]))
    assert waiting.rounds == ()
    assert negotiate(SETUP, BOOKED).rounds == ()
    by_rule = negotiate(game(BOOKED, PLAN), BOOKED, ScriptedGenerate([]))
    assert by_rule.ending is not None
    assert list(course(MODELLED, ScriptedGenerate([]))) == []


class Odd(str):
    """A text of a client that says more of it than there is to say."""

    prompt_tokens = -3
    completion_tokens = 2.5
    finish_reason = ("stop",)


def test_impossible_token_counts_are_dropped() -> None:
    played = negotiate(SETUP, BOOKED, ScriptedGenerate([Odd(PROPOSAL), Odd(said(ACCEPT))]))
    for done in played.rounds:
        [output] = done.turn.outputs
        assert (output.prompt_tokens, output.completion_tokens) == (None, None)
        assert output.finish_reason is None
