"""Two to four sides of a comparison: plans, runs, forks or labs, each judged and negotiated."""

from typing import Final, NamedTuple

from replicalab.assessment import Assessment
from replicalab.case import Case
from replicalab.errors import NegotiationError, TraceError
from replicalab.negotiation import AUTOMATIC, Negotiation, play_moves, replay, shipped_recordings
from replicalab.notebook import Framed

FEWEST_SIDES: Final = 2


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


class Comparison(tuple[Side, ...], Framed):
    """Two to four sides."""

    __slots__ = ()


def side_of_run(name: str, played: Negotiation) -> Side:
    """Return a negotiation as a side: by the plan on which it ended, or that is on the table.

    Raises:
        NegotiationError: there is no such plan.
    """
    if played.final_plan is None:
        raise NegotiationError("no plan is on the table in it; put one forward first")
    return Side(name, played.final_plan, played, is_run=True)


def negotiated(plan: Assessment, case: Case | None = None) -> Negotiation | None:
    """Return the negotiation of a case, whose plan is judged; None where nobody plays one.

    Without a case the usual players open with the plan.

    Of what a person plays there are only the rounds that the moves hold.

    Raises:
        NegotiationError: the plan cannot be put forward.
    """
    case = case or Case.of(plan.pack, plan.plan)
    if not (case.scientist in AUTOMATIC or case.moves) or not plan.counts.samples:
        return None
    return play_moves(case.setup(plan.pack), case.moves, plan.pack)


def recorded(plan: Assessment, key: str) -> Negotiation | None:
    """Return the shipped recording of that key, played again; None where none plays here.

    Raises:
        TraceError: the recordings cannot be read.
    """
    shipped = {
        recording.recording.key: recording
        for recording in shipped_recordings()
        if recording.recording
    }
    if key not in shipped:
        return None
    try:
        return replay(shipped[key], plan.pack)
    except TraceError:
        return None
