"""What the lab would have to add to make a study worth running in it, and how it is asked for."""

from __future__ import annotations

from typing import NamedTuple

from replicalab.evidence import planned_evidence
from replicalab.lexicon import joined
from replicalab.models import ACCEPT_ACTION, Protocol, ScientistAction, ScientistActionType
from replicalab.negotiation.wording import placed_text, size_text
from replicalab.planner import Ask, Asks, asks, asks_text, granted, least_loss
from replicalab.scenarios import EvidenceTier, Pack


class CheapestRelief(NamedTuple):
    """The least that helps.

    Attributes:
        asks: what the lab would have to add; empty when nothing is known that helps.
        text: the same in a sentence, with what it would buy.
    """

    asks: tuple[Ask, ...]
    text: str


def relief_for(plan: Protocol, scenario: Pack) -> CheapestRelief:
    """Return the cheapest relief for a plan of which nothing above the floor can run.

    The single addition that is the smallest share of what the lab has, where one is enough; else
    everything together that the target takes; else what this plan takes, if it is worth running.
    """
    found = asks(plan, scenario)
    if found.alone_floor:
        return _single(found.alone_floor[0], plan, scenario)
    if found.target and found.target.possible and found.target.asks:
        wanted = asks_text(found.target.asks)
        text = f"To reach the target it would take {wanted}."
        return CheapestRelief(found.target.asks, text)
    return _as_it_is(found, plan, scenario)


def _single(ask: Ask, plan: Protocol, scenario: Pack) -> CheapestRelief:
    best = least_loss(plan, granted((ask,), scenario))
    reaches = placed_text(best.price.evidence)
    text = f"With {ask.text} it could run {size_text(best.plan)}: {reaches}."
    return CheapestRelief((ask,), text)


def _as_it_is(found: Asks, plan: Protocol, scenario: Pack) -> CheapestRelief:
    evidence = planned_evidence(plan, scenario)
    worth = evidence.tier is not EvidenceTier.BELOW_FLOOR
    if worth and found.run.possible and found.run.asks:
        text = f"To run {size_text(plan)} as planned would take {asks_text(found.run.asks)}"
        return CheapestRelief(found.run.asks, f"{text}: {placed_text(evidence)}.")
    return CheapestRelief((), "No single addition by the lab would open one.")


def question(found: tuple[Ask, ...]) -> ScientistAction:
    """Return the question whether the lab could add these: amounts given, items freed."""
    amounts = [ask.text for ask in found if ask.item is None]
    items = [ask.text for ask in found if ask.item is not None]
    wishes = [f"give {joined(amounts)}"] if amounts else []
    wishes += [f"have {joined(items)}"] if items else []
    empty = {**ACCEPT_ACTION.model_dump(), "action_type": ScientistActionType.REQUEST_INFO}
    asked = f"Could the lab {', and '.join(wishes)}?"
    return ScientistAction.model_validate({**empty, "questions": [asked]})
