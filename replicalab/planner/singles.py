"""What one addition to a lab buys: the plan that it opens, and the price of keeping controls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from replicalab.concessions import dropped_controls
from replicalab.models import Protocol
from replicalab.planner.asking import Ask, granted
from replicalab.planner.leastloss import LeastLoss, least_loss
from replicalab.planner.relief import Asks, with_controls_kept
from replicalab.scenarios import Control, EvidenceTier, Pack


class Single(NamedTuple):
    """A single addition that is enough for a tier of evidence once the plan is adapted.

    Attributes:
        ask: the addition.
        tier: what it is enough for.
        least: the plan that gives up the least in the lab with it.
        dropped: the controls of the plan that this one does without.
        kept: the same amount if no control is to go; None where no amount is enough then, for
            an item, and where no control goes anyway.
    """

    ask: Ask
    tier: EvidenceTier
    least: LeastLoss
    dropped: tuple[Control, ...] = ()
    kept: Ask | None = None


def singles(found: Asks, protocol: Protocol, scenario: Pack) -> tuple[Single, ...]:
    """Return what each single ask opens: those for the target, then the others for the floor."""
    return tuple(_single(ask, tier, protocol, scenario) for ask, tier in _asked_for(found))


def _asked_for(found: Asks) -> Iterator[tuple[Ask, EvidenceTier]]:
    for ask in found.alone_target:
        yield ask, EvidenceTier.MEETS_TARGET
    for ask in found.alone_floor:
        if ask not in found.alone_target:
            yield ask, EvidenceTier.ABOVE_FLOOR


def _single(ask: Ask, tier: EvidenceTier, protocol: Protocol, scenario: Pack) -> Single:
    least = least_loss(protocol, granted((ask,), scenario))
    before = {control.name for control in dropped_controls(protocol, scenario)}
    dropped = tuple(control for control in least.price.dropped if control.name not in before)
    kept = with_controls_kept(ask, tier, protocol, scenario) if dropped else None
    return Single(ask, tier, least, dropped, kept)
