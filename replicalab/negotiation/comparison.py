"""Two to four sides of a comparison: plans, runs, forks or labs."""

from contextlib import suppress
from typing import Final, NamedTuple

from replicalab.assessment import Assessment
from replicalab.errors import NegotiationError, TraceError
from replicalab.models import Framed
from replicalab.negotiation import AUTOMATIC, Negotiation, play_moves, replay, shipped_recordings
from replicalab.negotiation.case import Case

FEWEST_SIDES: Final = 2


class Side(NamedTuple):
    """A plan in its lab, or a negotiation by its final plan."""

    name: str
    plan: Assessment
    played: Negotiation | None  # that follows from the plan or led to it
    is_run: bool = False  # whether the negotiation is compared, not the plan


class Comparison(tuple[Side, ...], Framed):
    """Two to four sides."""

    __slots__ = ()


def side_of_run(name: str, played: Negotiation) -> Side:
    """Return a negotiation as a side, by its last plan on the table."""
    if played.final_plan is None:
        raise NegotiationError("no plan is on the table in it; put one forward first")
    return Side(name, played.final_plan, played, is_run=True)


def negotiated(plan: Assessment, case: Case | None = None) -> Negotiation | None:
    """Return a plan's negotiation by the players of ``case``; None if it needs a person."""
    case = case or Case.of(plan.pack, plan.plan)
    if not (case.scientist in AUTOMATIC or case.moves) or not plan.counts.samples:
        return None
    return play_moves(case.setup(plan.pack), case.moves, plan.pack)


def recorded(plan: Assessment, key: str) -> Negotiation | None:
    """Return the shipped recording of that key, replayed; None if it is missing or differs."""
    for transcript in shipped_recordings():
        if transcript.recording and transcript.recording.key == key:
            with suppress(TraceError):
                return replay(transcript, plan.pack)
    return None
