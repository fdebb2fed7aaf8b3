"""Who gave what: each step of each side in a negotiation, with what it saved and what it cost.

The Scientist's position is the plan on the table; the Lab Manager's is its standing offer, or the
plan that it accepts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from replicalab.concessions import Concession, plan_concession
from replicalab.models import LabManagerActionType, Protocol, Role
from replicalab.negotiation.records import Round, Trace
from replicalab.negotiation.wording import lower_is_better
from replicalab.scenarios import Pack


@dataclass(frozen=True)
class Gift:
    """One step of one side.

    Attributes:
        round_number: counted from 0.
        who: the side that moved.
        step: from its position before to the one after.
        total: from its first position to the one after.
    """

    round_number: int
    who: Role
    step: Concession
    total: Concession

    @property
    def gives(self) -> bool:
        """Whether the step goes towards the other side.

        The Scientist gives back credits, or gives up evidence or fidelity; the Lab Manager spends
        more.
        """
        if self.who is Role.LAB_MANAGER:
            return self.step.credits_saved < 0
        gives_up = self.step.new.loss > self.step.old.loss or _is_weaker(self.step)
        return self.step.credits_saved > 0 or gives_up


def _is_weaker(step: Concession) -> bool:
    """Return whether a step gives up evidence, at the precision shown."""
    old, new = step.old.evidence, step.new.evidence
    if not step.evidence_changed or old.void:
        return False
    return bool(new.void) or (new.value < old.value) is not lower_is_better(new)


def ledger(trace: Trace, scenario: Pack) -> list[Gift]:
    """Return every step of both sides, in order; none in a negotiation without a second plan."""
    found: list[Gift] = []
    for who in (Role.SCIENTIST, Role.LAB_MANAGER):
        found += _steps(who, list(_positions(who, trace)), scenario)
    return sorted(found, key=lambda gift: (gift.round_number, gift.who is Role.LAB_MANAGER))


def _steps(who: Role, positions: list[tuple[int, Protocol]], scenario: Pack) -> Iterator[Gift]:
    for (_, before), (number, after) in pairwise(positions):
        if before != after:
            step = plan_concession(before, after, scenario)
            yield Gift(number, who, step, plan_concession(positions[0][1], after, scenario))


def _positions(who: Role, trace: Trace) -> Iterator[tuple[int, Protocol]]:
    for done in trace.rounds:
        position = done.plan if who is Role.SCIENTIST else _managers_position(done)
        if position is not None:
            yield done.number, position


def _managers_position(done: Round) -> Protocol | None:
    answer = done.lab_manager_action
    if answer is None:
        return None
    if answer.action_type is LabManagerActionType.ACCEPT:
        return done.plan
    if answer.action_type is LabManagerActionType.SUGGEST_ALTERNATIVE and done.suggestion:
        return done.suggestion.revised_protocol
    return None
