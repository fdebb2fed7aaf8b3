"""What may be done about a plan in its lab, worked out once and handed to whatever shows it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from replicalab.agents.suggestions import Offer, reference_offer
from replicalab.assessment import Assessment
from replicalab.models import Protocol
from replicalab.planner.asks import Asks, Extra, asks_of, extras
from replicalab.planner.frontier import Frontier, frontier_of
from replicalab.planner.least_loss import LeastLoss, least_loss_of
from replicalab.planner.steps import judged
from replicalab.planner.wordings import Wordings, wordings


@dataclass(frozen=True)
class Options:
    """What may be done about a plan; each is worked out when it is first asked for.

    Attributes:
        yours: the plan.
    """

    yours: Assessment

    @cached_property
    def offer(self) -> Offer | None:
        """What the Lab Manager offers, None when the plan is feasible."""
        return reference_offer(self.yours)

    @property
    def offered(self) -> Assessment:
        """The plan with all the changes that the Lab Manager suggests; yours where it has none."""
        return self.offer.after if self.offer else self.yours

    @cached_property
    def wordings(self) -> Wordings:
        """The ways to word the plan."""
        return wordings(self.yours)

    @cached_property
    def least(self) -> LeastLoss:
        """The plan for the same lab that gives up the least."""
        return least_loss_of(self.yours, self.offer, self.wordings)

    @cached_property
    def asks(self) -> Asks:
        """What the lab would have to add instead."""
        return asks_of(self.yours, self.least, self.wordings)

    @cached_property
    def frontier(self) -> Frontier:
        """The plans of the lab that nothing beats."""
        return frontier_of(self.yours, self.wordings)

    @cached_property
    def extras(self) -> tuple[Extra, ...]:
        """What a hundred credits, a day and a staff unit more would buy."""
        return extras(self.yours, self.least, self.wordings)

    @cached_property
    def balanced(self) -> Assessment | None:
        """The plan of the frontier at which the two sides' gains balance, None where none does."""
        found = self.frontier.balanced
        return None if found is None else self.judged(found.plan(self.yours.plan, self.yours.pack))

    @property
    def known(self) -> list[Assessment]:
        """The plans of this lab that are judged already."""
        return [self.yours, self.offered, self.least.after]

    def judged(self, revised: Protocol) -> Assessment:
        """Return what is known of a revised plan in the same lab."""
        return judged(revised, self.yours, self.known)


def options_of(plan: Assessment) -> Options:
    """Return what may be done about a plan: from the Lab Manager, the planner, and the lab."""
    return Options(plan)
