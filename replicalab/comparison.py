"""Two to four sides of a comparison: plans, runs, forks or labs, each judged and negotiated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from replicalab.assessment import Assessment
from replicalab.errors import NegotiationError
from replicalab.negotiation import (
    AUTOMATIC,
    LabManagerKind,
    Move,
    Negotiation,
    ScientistKind,
    play_moves,
    replay,
    setup_for,
    shipped_recordings,
)
from replicalab.scenarios import MAX_ROUNDS

FEWEST_SIDES: Final = 2
MOST_SIDES: Final = 4
"""So many are compared at once."""


class Side(NamedTuple):
    """A plan in its lab, or a negotiation, which stands there by the plan that it came to.

    Attributes:
        name: what it is called.
        plan: what is judged.
        played: the negotiation: what would follow from the plan, or what came to it; None where
            there is none.
        is_run: whether it is the negotiation that is compared.
    """

    name: str
    plan: Assessment
    played: Negotiation | None
    is_run: bool = False


def side_of_run(name: str, played: Negotiation) -> Side:
    """Return a negotiation as a side: by the plan on which it ended, or that is on the table.

    Raises:
        NegotiationError: there is no such plan.
    """
    if played.final_plan is None:
        raise NegotiationError("no plan is on the table in it; put one forward first")
    return Side(name, played.final_plan, played, is_run=True)


def negotiated(
    plan: Assessment,
    *,
    scientist: ScientistKind = ScientistKind.EVIDENCE_AWARE,
    lab_manager: LabManagerKind = LabManagerKind.REFERENCE,
    max_rounds: int = MAX_ROUNDS,
    moves: Sequence[Move] = (),
) -> Negotiation | None:
    """Return the negotiation that opens with a plan; None where no rule or person plays one.

    Of what a person plays there are only the rounds that the moves hold.

    Raises:
        NegotiationError: the plan cannot be put forward.
    """
    by_rule = scientist in AUTOMATIC
    if not (by_rule or moves) or not plan.counts.samples:
        return None
    setup = setup_for(
        plan.pack,
        plan.plan if by_rule else None,
        max_rounds,
        scientist=scientist,
        lab_manager=lab_manager,
    )
    return play_moves(setup, moves, plan.pack)


def recorded(plan: Assessment, key: str) -> Negotiation | None:
    """Return the shipped recording of that key, played again; None where none plays here.

    Raises:
        TraceError: the recordings cannot be read.
    """
    shipped = {each.recording.key: each for each in shipped_recordings() if each.recording}
    if key not in shipped:
        return None
    again = replay(shipped[key], plan.pack)
    return None if again.differences else again.negotiation
