"""Texts that a model may say, and turns made of them."""

from __future__ import annotations

from typing import Final

from replicalab.models import ScientistAction
from replicalab.negotiation import ScientistKind, Trace, ask_model, begin, play_turn, state_of
from replicalab.negotiation.rounds import setup_for
from replicalab.scenarios import Pack
from tests.negotiation.playing import PLAN, propose
from tests.scripted import ScriptedGenerate

PROSE: Final = "I would rather start with a smaller plan. May I?"
CUT_OFF: Final = '{"action_type": "propose_protocol", "sample_size": 4'
NO_SAMPLES: Final = '{"action_type": "propose_protocol", "sample_size": 0}'


def said(action: ScientistAction) -> str:
    """Return an action as a model writes it."""
    return action.model_dump_json()


PROPOSAL: Final = said(propose(PLAN))


def model_trace(pack: Pack, *turns: list[str], rounds: int = 5) -> Trace:
    """Return the negotiation in which a model says these texts, turn by turn."""
    setup = setup_for(pack, max_rounds=rounds, scientist=ScientistKind.MODEL)
    trace = begin(setup.model_copy(update={"model": "scripted"}), pack)
    for texts in turns:
        answer = ask_model(ScriptedGenerate(texts), state_of(trace, pack), pack)
        assert answer.turn is not None, answer.failure
        trace = play_turn(trace, answer.turn, pack)
    return trace
