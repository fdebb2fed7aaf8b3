"""One negotiation as the page shows it: its trace, where it stands, and the sentence for that."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from replicalab.negotiation import State, Trace, state_of
from replicalab.scenarios import Pack
from replicalab.sentences import Verdict, outcome_verdict


class Place(StrEnum):
    """Where a turn is played: in the negotiation on show, or in a branch of it."""

    TABLE = "table"
    BRANCH = "branch"


class Talks(NamedTuple):
    """A negotiation, where it stands after its last round, and the sentence for that.

    The sentence searches for what the lab could have run, so it is kept rather than built anew.
    """

    trace: Trace
    state: State
    verdict: Verdict

    @property
    def finished(self) -> bool:
        """Whether it has ended."""
        return self.trace.ending is not None

    @property
    def last(self) -> int:
        """The last round, counted from 0; 0 where none was played."""
        return max(0, len(self.trace.rounds) - 1)


def talks_of(trace: Trace, pack: Pack) -> Talks:
    """Return a negotiation with where it stands."""
    return told(trace, state_of(trace, pack), pack)


def told(trace: Trace, state: State, pack: Pack) -> Talks:
    """Return a negotiation that stands in a state, with the sentence for it."""
    return Talks(trace, state, outcome_verdict(trace, pack))
