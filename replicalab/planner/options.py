"""What may be done about a plan in its lab, worked out once and handed to whatever shows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from replicalab.agents.suggestions import (
    Offer,
    SuggestionChange,
    apply_changes,
    reference_offer,
)
from replicalab.assessment import DIMENSION_ROWS, Assessment, assess
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner.asks import Asks, asks_of
from replicalab.planner.binding import Extra, extras, unlimited
from replicalab.planner.frontier import Frontier, frontier_of
from replicalab.planner.least_loss import LeastLoss, gives_up_less, least_loss_of
from replicalab.planner.steps import NUMBERS, judged
from replicalab.planner.wordings import Wordings, wordings
from replicalab.scenarios import Pack

_ITEM_FIELDS: Final = ("required_equipment", "required_reagents")


@dataclass(frozen=True)
class Options:
    """What may be done about a plan, *yours*; each is worked out when it is first asked for."""

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
    def _unlimited(self) -> dict[Dimension, LeastLoss]:
        return unlimited(self.yours, self.least, self.wordings)

    @property
    def relieved(self) -> dict[Dimension, LeastLoss]:
        """For each lab limit whose relief alone buys something, the least-loss plan without it."""
        without = self._unlimited
        return {d: each for d, each in without.items() if gives_up_less(each, self.least)}

    @property
    def binding(self) -> Dimension | None:
        """The limit whose relief buys most, the first of them; None where none buys anything."""
        without = self.relieved
        return min(without, key=lambda limit: without[limit].rank.given_up, default=None)

    @cached_property
    def extras(self) -> tuple[Extra, ...]:
        """The smallest addition of each amount of which more buys something, and what it buys."""
        return extras(self.yours, self.least, self.wordings, self._unlimited)

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


def least_loss(protocol: Protocol, scenario: Pack) -> LeastLoss:
    """Return the plan for this lab that gives up the least of the study."""
    return Options(assess(protocol, scenario)).least


def asks(protocol: Protocol, scenario: Pack) -> Asks:
    """Return what the lab would have to add to run the plan, and to reach the evidence target."""
    return Options(assess(protocol, scenario)).asks


def frontier(scenario: Pack, protocol: Protocol) -> Frontier:
    """Return the feasible plans that no other beats on cost, days, evidence and fidelity."""
    return Options(assess(protocol, scenario)).frontier


# --- the plan that days and samples decide about ---------------------------------------------


@dataclass(frozen=True)
class Worded:
    """A plan whose region over days and samples is worth drawing, and the changes that led to it.

    Substitutions are made where they let some days and samples fit.
    """

    plan: Assessment
    changes: tuple[SuggestionChange, ...] = ()

    @property
    def failing(self) -> tuple[Dimension, ...]:
        """What fails whatever the days and samples: items and restrictions."""
        return tuple(
            dimension for dimension in self.plan.failing if DIMENSION_ROWS[dimension].by_wording
        )

    def holds(self, other: Assessment) -> bool:
        """Return whether another plan differs in nothing but the days and samples."""
        now, own = self.plan.plan, other.plan
        numbers = {name: getattr(now, name) for name in NUMBERS}
        return revise(own, **numbers) == now

    def at(self, days: int, samples: int) -> Assessment:
        """Return the plan with other numbers."""
        plan = self.plan
        return assess(revise(plan.plan, sample_size=samples, duration_days=days), plan.pack)


def worded(options: Options) -> Worded:
    """Return the plan with the Lab Manager's substitutions if they repair it, else the planner's.

    The plan itself is returned when nothing fails whatever the numbers, or nothing repairs that.
    """
    yours = Worded(options.yours)
    if not yours.failing:
        return yours
    repairs: tuple[Iterable[SuggestionChange], ...] = (
        options.offer.changes if options.offer else (),
        options.least.changes,
    )
    for changes in repairs:
        items = tuple(change for change in changes if change.field in _ITEM_FIELDS)
        found = Worded(options.judged(apply_changes(options.yours.plan, items)), items)
        if not found.failing:
            return found
    return yours


def least_worded(options: Options, drawn: Worded) -> Worded | None:
    """Return the least-loss plan as one whose region may be drawn.

    None if it is worded as the plan that is drawn, or if it does not fit either.
    """
    least, now = options.least, drawn.plan.plan
    plan = revise(least.plan, **{name: getattr(now, name) for name in NUMBERS})
    if plan == now or not least.after.feasible:
        return None
    changes = tuple(change for change in least.changes if change.field not in NUMBERS)
    return Worded(options.judged(plan), changes)
