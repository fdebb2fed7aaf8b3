"""A cassette played: every turn of the model again through the strict parser, and the answers anew.

No endpoint is asked. The same cassette in the same lab always gives an equal trace.
"""

from __future__ import annotations

from collections.abc import Sequence

from replicalab.cassettes.records import Cassette, prompt_digest
from replicalab.errors import TraceError
from replicalab.lexicon import count_text
from replicalab.negotiation import Trace, begin, choose_turn, play_turn, state_of
from replicalab.negotiation.recorded import Output, ask_again
from replicalab.negotiation.recording import Attempt
from replicalab.negotiation.records import Turn
from replicalab.scenarios import Pack


def play_cassette(cassette: Cassette, scenario: Pack) -> Trace:
    """Return the negotiation on a cassette; the seconds and tokens of its attempts are recorded.

    Raises:
        TraceError: it is of another study or lab, a prompt is no longer the recorded one, or its
            outputs run out or are left over; the message names the round.
    """
    _same_study(cassette, scenario)
    trace = begin(cassette.setup, scenario)
    if cassette.setup.opening is not None:
        opening = choose_turn(cassette.setup, state_of(trace, scenario), scenario)
        trace = play_turn(trace, opening, scenario)
    for number, outputs in enumerate(cassette.turns):
        turn = _turn(cassette, number, outputs, trace, scenario)
        trace = play_turn(trace, turn, scenario)
    return trace


def _same_study(cassette: Cassette, scenario: Pack) -> None:
    setup = cassette.setup
    named = f"{setup.scenario_id}, {setup.difficulty}, seed {setup.seed}"
    found = f"{scenario.scenario_id}, {scenario.difficulty}, seed {scenario.seed}"
    if named != found:
        raise TraceError(f"this recording is of {named}, not of {found}; open that study and lab")


def _turn(
    cassette: Cassette,
    number: int,
    outputs: Sequence[Output],
    trace: Trace,
    scenario: Pack,
) -> Turn:
    """Return the model's turn from its outputs, all of which it must take."""
    here = f"round {len(trace.rounds) + 1}"
    if trace.ending is not None:
        left = count_text(len(cassette.turns) - number, "turn")
        raise TraceError(f"{here}: the negotiation has ended, {trace.ending}; {left} left over")
    retries = cassette.settings.max_retries
    answer = ask_again(outputs, state_of(trace, scenario), scenario, retries)
    if answer.attempts:
        _same_prompt(cassette, number, answer.attempts[0], here)
    if answer.turn is None:
        raise TraceError(f"{here}: {answer.failure}")
    left_over = len(outputs) - len(answer.attempts)
    if left_over:
        left = count_text(left_over, "output")
        raise TraceError(
            f"{here}: attempt {len(answer.attempts)} is a valid action, and {left} left over"
        )
    return answer.turn


def _same_prompt(cassette: Cassette, number: int, first: Attempt, here: str) -> None:
    if cassette.prompts is None:
        return
    if prompt_digest(first.system_prompt, first.observation) != cassette.prompts[number]:
        raise TraceError(
            f"{here}: the model would be told something else now than when this was recorded; the "
            "study or its lab has changed"
        )
