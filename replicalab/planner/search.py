"""The search for the plan that gives up the least, exact.

Searched: every number of days from the study's fewest to the lab's most (all of them where the
lab gives fewer than the endpoint needs), every allowed substitution of a missing item, every set
of droppable controls, and every number of samples that can count: up to what the plan or the
study asks for, or as many as leave room beside the controls, or further where that reaches a
better tier. Cost and staff never fall and evidence never shrinks with the sample, so of all
samples that fit only the largest matters, and it is found by bisection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Final, TypeVar

from replicalab.costs import Counts, counts_of, credits_needed
from replicalab.models import Dimension, Protocol
from replicalab.planner.choices import Choice, choices
from replicalab.planner.limits import Limits, asked_samples, fewest, largest, most_looked_at
from replicalab.planner.order import days_short
from replicalab.planner.worth import Worth
from replicalab.scenarios import Pack

_GIVEN_UP: Final = (Dimension.BUDGET, Dimension.STAFF, Dimension.PROTOCOL)
"""The dimensions that a number of the plan decides, apart from the days, which always fit."""

T = TypeVar("T")


@dataclass(frozen=True)
class Found:
    """A wording with its numbers.

    Attributes:
        choice: the wording.
        given_up: the limits that its numbers may exceed.
        most: the most samples that fit the others.
        samples, days: the plan's numbers.
    """

    choice: Choice
    given_up: frozenset[Dimension]
    most: int
    samples: int = 0
    days: int = 0

    @property
    def failing(self) -> frozenset[Dimension]:
        """The dimensions that fail or may fail."""
        return self.choice.failing | self.given_up


def the_least(protocol: Protocol, scenario: Pack) -> Found | None:
    """Return the plan that gives up the least, None where the lab gives no day at all."""
    search = _Search(protocol, scenario)
    found = search.fewest_failing()
    found = _least_of(found, lambda one: search.worth.tier(one.choice, one.most))
    found = _least_of(found, lambda one: one.choice.loss)
    found = [replace(one, samples=search.samples(one)) for one in found]
    found = _least_of(found, lambda one: search.worth.shortfall(one.choice, one.samples))
    settled = (each for one in found for each in search.settled(one))
    return min(settled, key=search.leftover, default=None)


def _least_of(found: Iterable[T], key: Callable[[T], float]) -> list[T]:
    keyed = [(key(one), one) for one in found]
    least = min((value for value, _ in keyed), default=0)
    return [one for value, one in keyed if value == least]


@dataclass(frozen=True)
class _Search:
    """The search for one plan in one lab."""

    protocol: Protocol
    scenario: Pack
    _most: dict[tuple[int, frozenset[Dimension]], int | None] = field(default_factory=dict)

    @cached_property
    def worth(self) -> Worth:
        return Worth.in_lab(self.protocol, self.scenario)

    def fewest_failing(self) -> list[Found]:
        """Return, of all wordings and limits given up, those that fit with the fewest failing."""
        by_number: dict[int, list[tuple[Choice, frozenset[Dimension]]]] = {}
        for choice in choices(self.protocol, self.scenario):
            for given_up in _subsets(_GIVEN_UP):
                number = len(choice.failing | given_up)
                by_number.setdefault(number, []).append((choice, given_up))
        for number in sorted(by_number):
            fits = [(each, self._most_that_fit(*each)) for each in by_number[number]]
            if found := [Found(*each, most) for each, most in fits if most is not None]:
                return found
        return []

    def _most_that_fit(self, choice: Choice, given_up: frozenset[Dimension]) -> int | None:
        """Return the largest sample that fits some number of days, None if none does."""
        key = choice.controls, given_up
        if key not in self._most:
            limits, counts = self._limits(given_up), self._counts(choice)
            high = min(
                most_looked_at(self.protocol, self.scenario), limits.most_samples(limits.days[1])
            )
            self._most[key] = largest(
                lambda n: limits.at_best(counts._replace(samples=n)),
                _low(choice, given_up),
                high,
            )
        return self._most[key]

    def _limits(self, given_up: frozenset[Dimension]) -> Limits:
        return Limits(self.scenario, Dimension.BUDGET in given_up, Dimension.STAFF in given_up)

    def _counts(self, choice: Choice) -> Counts:
        return counts_of(self.protocol)._replace(controls=choice.controls)

    def samples(self, one: Found) -> int:
        """Return the samples asked for if so many fit, or the fewest of a better tier."""
        asked = max(asked_samples(self.protocol, self.scenario), _low(one.choice, one.given_up))
        if one.most <= asked:
            return one.most
        best = self.worth.tier(one.choice, one.most)
        if self.worth.tier(one.choice, asked) == best:
            return asked
        return fewest(lambda n: self.worth.tier(one.choice, n) == best, asked, one.most)

    def settled(self, one: Found) -> Iterator[Found]:
        """Yield it with every days and samples that may be the least change or cost."""
        counts, limits = self._counts(one.choice), self._limits(one.given_up)
        for samples in self._equal_samples(one):
            planned = counts._replace(samples=samples)
            for days in (self.protocol.duration_days, limits.best_days(planned)):
                if limits.allows(planned._replace(days=days)):
                    yield replace(one, samples=samples, days=days)

    def _equal_samples(self, one: Found) -> list[int]:
        """Return the samples, the fewest that are worth as much, and the original if they are."""
        worth = self.worth.shortfall(one.choice, one.samples)
        least = fewest(
            lambda n: self.worth.shortfall(one.choice, n) == worth,
            _low(one.choice, one.given_up),
            one.samples,
        )
        original = self.protocol.sample_size
        kept = [original] if least <= original <= one.samples else []
        return [*kept, one.samples, least]

    def leftover(self, one: Found) -> tuple[int, int, float]:
        """Return the last terms of the order: changes, days short of the endpoint, cost."""
        counts = self._counts(one.choice)._replace(samples=one.samples, days=one.days)
        changed = (one.samples != self.protocol.sample_size) + (
            one.days != self.protocol.duration_days
        )
        return (
            len(one.choice.changes) + changed,
            days_short(one.days, self.scenario),
            credits_needed(counts, self.scenario.cost_model),
        )


def _low(choice: Choice, given_up: frozenset[Dimension]) -> int:
    """Return the fewest samples to plan: one beside the controls, unless that is given up."""
    return 1 if Dimension.PROTOCOL in given_up else choice.controls + 1


def _subsets(dimensions: tuple[Dimension, ...]) -> Iterator[frozenset[Dimension]]:
    for size in range(len(dimensions) + 1):
        yield from map(frozenset, combinations(dimensions, size))
