"""Texts that a model may say, and turns made of them."""

from __future__ import annotations

from typing import Final

from replicalab.models import ScientistAction
from replicalab.negotiation import Negotiation, ScientistKind, ask_model, begin, play
from replicalab.scenarios import Pack
from tests.negotiation.playing import PLAN, game, propose
from tests.scripted import ScriptedGenerate

PROSE: Final = "I would rather start with a smaller plan. May I?"
CUT_OFF: Final = '{"action_type": "propose_protocol", "sample_size": 4'
NO_SAMPLES: Final = '{"action_type": "propose_protocol", "sample_size": 0}'


def said(action: ScientistAction) -> str:
    """Return an action as a model writes it."""
    return action.model_dump_json()


PROPOSAL: Final = said(propose(PLAN))


def by_model(pack: Pack, *turns: list[str], rounds: int = 5) -> Negotiation:
    """Return the negotiation in which a model says these texts, turn by turn."""
    setup = game(pack, None, rounds, ScientistKind.MODEL).model_copy(update={"model": "scripted"})
    negotiation = begin(setup, pack)
    for texts in turns:
        answer = ask_model(ScriptedGenerate(texts), negotiation.state, pack)
        assert answer.turn is not None, answer.failure
        negotiation = play(negotiation, answer.turn)
    return negotiation
