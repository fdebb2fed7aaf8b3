"""A language model plays to the end: what it is let do, and what is nobody's choice."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab import negotiation as core
from replicalab.errors import ModelAnswerTooLongError, ModelTimeoutError
from replicalab.limits import LONGEST_OUTPUT
from tests.negotiation.playing import (
    ACCEPT,
    BOOKED,
    MODELLED,
    OPEN,
    PLAN,
    PROPOSAL,
    PROSE,
    RECORDING,
    game,
    said,
)
from tests.scripted import ScriptedGenerate

SETUP: Final = game(BOOKED, scientist=core.ScientistKind.MODEL)


def test_each_round_comes_before_the_next_call() -> None:
    generate = ScriptedGenerate([PROPOSAL, said(ACCEPT)])
    pairs = [
        (len(played.rounds), len(generate.sent))
        for played in core.course(core.Negotiation(SETUP, BOOKED), generate)
    ]
    assert pairs == [(1, 1), (2, 2)]


@pytest.mark.parametrize(
    ("script", "asked", "why"),
    [
        ([PROSE, "", "\ud83d"], core.MAX_RETRIES + 1, "No valid action in 3 attempts; the last: "),
        (["x" * (LONGEST_OUTPUT + 1)], 1, "The model's answer has 200,001 characters, and at"),
        ([PROSE, ModelAnswerTooLongError("too long")], 2, "too long"),
    ],
)
def test_model_without_a_valid_action_walks_away(
    script: list[str | Exception], asked: int, why: str
) -> None:
    generate = ScriptedGenerate(script)
    played = core.negotiate(SETUP, BOOKED, generate)
    assert (played.ending, played.outcome) == (core.Ending.WALKED_AWAY, core.Outcome.NO_DEAL)
    assert len(generate.sent) == asked == len(played.rounds[0].turn.outputs)
    assert played.rounds[0].reason.startswith(why)
    assert core.score(played).regret > 0
    again = core.replay(core.load(core.save(played, RECORDING)), BOOKED)
    assert again.rounds[0].reason == played.rounds[0].reason


@pytest.mark.parametrize(
    "failure",
    [ModelTimeoutError("silent"), OSError("lost"), ValueError("mine"), ZeroDivisionError()],
)
def test_failing_call_raises_its_own_error(failure: Exception) -> None:
    generate = ScriptedGenerate([PROPOSAL, PROSE, failure])
    rounds = core.course(core.Negotiation(SETUP, BOOKED), generate)
    assert len(next(rounds).rounds) == 1
    with pytest.raises(type(failure)) as caught:
        next(rounds)
    assert caught.value is failure
    assert len(generate.sent) == 3


@pytest.mark.parametrize("answer", [None, b"{}", 3, ["{}"], {"action_type": "accept"}])
def test_function_that_returns_no_text_is_refused(answer: object) -> None:
    kind = type(answer).__name__
    with pytest.raises(TypeError, match=f"returned a {kind}; return its text, a str"):
        core.negotiate(SETUP, BOOKED, lambda _: answer)  # type: ignore[arg-type,return-value]


def test_model_plays_only_its_own_seat() -> None:
    waiting = core.negotiate(
        game(OPEN, scientist=core.ScientistKind.PERSON), OPEN, ScriptedGenerate([])
    )
    assert waiting.rounds == ()
    assert core.negotiate(SETUP, BOOKED).rounds == ()
    by_rule = core.negotiate(game(BOOKED, PLAN), BOOKED, ScriptedGenerate([]))
    assert by_rule.ending is not None
    assert list(core.course(MODELLED, ScriptedGenerate([]))) == []
