"""A language model plays to the end: what it is let do, and what is nobody's choice."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.errors import ModelAnswerTooLongError, ModelError, ModelTimeoutError
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


def test_model_plays_to_the_end_and_is_asked_for_no_more() -> None:
    generate = ScriptedGenerate([PROPOSAL, said(ACCEPT)])
    played = negotiate(SETUP, BOOKED, generate)
    assert (acts(played), played.outcome) == (["propose_protocol", "accept"], Outcome.AGREED)
    assert len(generate.sent) == 2
    assert played.rounds[0].reason == "The model's own choice, valid at attempt 1."


def test_each_round_comes_before_the_next_is_asked_for() -> None:
    generate = ScriptedGenerate([PROPOSAL, said(ACCEPT)])
    asked = [
        (len(played.rounds), len(generate.sent))
        for played in course(Negotiation(SETUP, BOOKED), generate)
    ]
    assert asked == [(1, 1), (2, 2)]


def test_opening_that_was_given_is_played_before_the_model_is_asked() -> None:
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
def test_model_without_a_valid_action_walks_away_and_that_replays(
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
    [ModelTimeoutError("silent"), ModelError("gone"), OSError("lost"), ValueError("mine")],
)
def test_call_that_fails_is_nobody_s_choice_and_goes_on_as_it_is(failure: Exception) -> None:
    """It ends neither the round, which is not played, nor what was played before."""
    generate = ScriptedGenerate([PROPOSAL, PROSE, failure])
    rounds = course(Negotiation(SETUP, BOOKED), generate)
    assert len(next(rounds).rounds) == 1
    with pytest.raises(type(failure)) as caught:
        next(rounds)
    assert caught.value is failure
    assert len(generate.sent) == 3


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_stop_goes_through(stop: type[BaseException]) -> None:
    def generate(_: object) -> str:
        raise stop

    with pytest.raises(stop):
        negotiate(SETUP, BOOKED, generate)


@pytest.mark.parametrize("answer", [None, b"{}", 3, ["{}"], {"action_type": "accept"}])
def test_function_that_returns_no_text_is_told(answer: object) -> None:
    kind = type(answer).__name__
    with pytest.raises(TypeError, match=f"returned a {kind}; return its text, a str"):
        negotiate(SETUP, BOOKED, lambda _: answer)  # type: ignore[arg-type,return-value]


def test_model_plays_for_nobody_else() -> None:
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


def test_what_a_client_says_of_its_text_is_kept_only_where_it_can_be_so() -> None:
    played = negotiate(SETUP, BOOKED, ScriptedGenerate([Odd(PROPOSAL), Odd(said(ACCEPT))]))
    for done in played.rounds:
        [output] = done.turn.outputs
        assert (output.prompt_tokens, output.completion_tokens) == (None, None)
        assert output.finish_reason is None
