"""The plan for the same lab that gives up the least, found exactly.

Searched: every number of days from the study's fewest to the lab's most, every allowed
substitution of a missing item, every set of droppable controls, and every sample size up to what
the plan or the study asks for, or further where that reaches a better tier. Cost and staff never
fall and evidence never shrinks with the sample, so of all samples that fit only the largest
matters, and it is found by bisection. Source: the behaviour contract, section 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from replicalab.agents import (
    AlternativeSuggestion,
    FeasibilityCheckResult,
    check_feasibility,
    suggest_alternative,
)
from replicalab.agents.suggestions import SuggestionChange, apply_changes
from replicalab.concessions import PlanPrice, price
from replicalab.costs import Counts, counts_of, credits_needed
from replicalab.evidence import Evidence, planned_evidence
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner.changes import number_changes
from replicalab.planner.choices import Choice, choices
from replicalab.planner.limits import MOST_SAMPLES, Limits, fewest, largest
from replicalab.planner.order import TIER_RANK, Rank, changed_values, rank, shortfall
from replicalab.scenarios.models import EvidenceTier, NormalizedScenarioPack

_GIVEN_UP: Final = (Dimension.BUDGET, Dimension.STAFF, Dimension.PROTOCOL)
"""The dimensions that a number of the plan decides, apart from the days, which always fit."""


@dataclass(frozen=True)
class LeastLoss:
    """The plan that gives up the least, and what is proven by having found it.

    Attributes:
        plan: the plan; the original itself when nothing else gives up less.
        check: of that plan.
        price: what it costs, buys and gives up.
        changes: from the original to it, each with its reason and what is lost.
        rank: where it stands in the order of all plans.
    """

    plan: Protocol
    check: FeasibilityCheckResult
    price: PlanPrice
    changes: tuple[SuggestionChange, ...]
    rank: Rank

    @property
    def none_feasible(self) -> bool:
        """Whether it is proven that no plan passes all seven dimensions in this lab."""
        return not self.check.feasible

    @property
    def none_above_floor(self) -> bool:
        """Whether it is proven that no feasible plan reaches the study's floor in this lab."""
        return self.none_feasible or self.price.evidence.tier is EvidenceTier.BELOW_FLOOR


def least_loss(protocol: Protocol, scenario: NormalizedScenarioPack) -> LeastLoss:
    """Return the plan for this lab that gives up the least of the study.

    By order: fewest failing dimensions, best evidence tier, least fidelity given up, most
    evidence, fewest changes, lowest cost.
    """
    return min(_contenders(protocol, scenario), key=lambda found: found.rank)


def _contenders(protocol: Protocol, scenario: NormalizedScenarioPack) -> Iterator[LeastLoss]:
    """Yield the plan that the search found, then the two that it must never be worse than."""
    best = _the_least(protocol, scenario)
    worded = list(best.choice.changes)
    numbers = number_changes(best.bare, best.samples, best.days, scenario)
    yield _revision(protocol, [*worded, *numbers], scenario)
    yield _revision(protocol, [], scenario)
    check = check_feasibility(protocol, scenario)
    suggestion = suggest_alternative(protocol, check, scenario)
    if suggestion is not None:
        yield _revision(protocol, suggestion.applied_changes, scenario)


def _revision(
    protocol: Protocol, changes: list[SuggestionChange], scenario: NormalizedScenarioPack
) -> LeastLoss:
    plan = apply_changes(protocol, changes)
    check = check_feasibility(plan, scenario)
    return LeastLoss(
        plan=plan,
        check=check,
        price=price(plan, scenario),
        changes=tuple(changes),
        rank=rank(plan, check, protocol, scenario),
    )


def suggest_least_loss(
    protocol: Protocol, check_result: FeasibilityCheckResult, scenario: NormalizedScenarioPack
) -> AlternativeSuggestion | None:
    """Return the least-loss plan in the form of the Lab Manager's suggestion, None if feasible."""
    if check_result.feasible:
        return None
    found = least_loss(protocol, scenario)
    failing = set(found.check.failing)
    return AlternativeSuggestion(
        revised_protocol=found.plan,
        applied_changes=list(found.changes),
        remaining_failures=[dimension.value for dimension in found.check.failing],
        improved=failing < set(check_result.failing),
        pre_check=check_result,
        post_check=found.check,
    )


@dataclass(frozen=True)
class _Candidate:
    """A wording with the largest sample that fits it, and what that is worth so far."""

    choice: Choice
    limits: Limits
    bare: Protocol
    samples: int
    tier: int
    shortfall: float
    days: int = 0

    @property
    def worth(self) -> tuple[int, int, float]:
        return self.tier, self.choice.loss, self.shortfall


def _the_least(protocol: Protocol, scenario: NormalizedScenarioPack) -> _Candidate:
    search = _Search(protocol, scenario)
    candidates = list(search.candidates())
    best = min(candidate.worth for candidate in candidates)
    tied = (each for candidate in candidates if candidate.worth == best
            for each in search.settled(candidate))  # fmt: skip
    return min(tied, key=search.leftover)


@dataclass(frozen=True)
class _Search:
    """The search for one plan in one lab."""

    protocol: Protocol
    scenario: NormalizedScenarioPack

    def candidates(self) -> Iterator[_Candidate]:
        """Yield, of all wordings with the fewest failing dimensions, each at its best sample."""
        found = [
            (choice.failing | given_up, choice, given_up)
            for choice in choices(self.protocol, self.scenario)
            for given_up in _subsets(_GIVEN_UP)
            if self._most(choice, given_up) is not None
        ]
        fewest = min(len(failing) for failing, _, _ in found)
        for failing, choice, given_up in found:
            if len(failing) == fewest:
                yield self._at_its_best(choice, given_up)

    def _most(self, choice: Choice, given_up: frozenset[Dimension]) -> int | None:
        """Return the largest sample that fits some number of days."""
        counts = self._counts(choice)
        low = 1 if Dimension.PROTOCOL in given_up else choice.controls + 1
        limits = self._limits(given_up)
        high = max(1, min(max(MOST_SAMPLES, self._asked), limits.most_samples(limits.days[1])))
        return largest(lambda n: limits.at_best(counts._replace(samples=n)), low, high)

    @property
    def _asked(self) -> int:
        return max(self.protocol.sample_size, self.scenario.reference_protocol.sample_size)

    def _limits(self, given_up: frozenset[Dimension]) -> Limits:
        return Limits(self.scenario, Dimension.BUDGET in given_up, Dimension.STAFF in given_up)

    def _counts(self, choice: Choice) -> Counts:
        return counts_of(self.protocol)._replace(controls=choice.controls)

    def _at_its_best(self, choice: Choice, given_up: frozenset[Dimension]) -> _Candidate:
        limits = self._limits(given_up)
        bare = apply_changes(self.protocol, list(choice.changes))
        low = 1 if Dimension.PROTOCOL in given_up else choice.controls + 1
        most = self._most(choice, given_up) or low
        samples = min(most, max(self._asked, low))
        if samples < most:
            samples = self._better_tier(bare, limits, samples, most)
        evidence = self._evidence(bare, limits, samples)
        worth = TIER_RANK[evidence.tier], shortfall(evidence, self.scenario)
        return _Candidate(choice, limits, bare, samples, *worth)

    def _better_tier(self, bare: Protocol, limits: Limits, asked: int, most: int) -> int:
        """Return the fewest samples of a better tier than those asked for, if any reach one."""
        best = self._evidence(bare, limits, most).tier
        if best is self._evidence(bare, limits, asked).tier:
            return asked
        return fewest(lambda n: self._evidence(bare, limits, n).tier is best, asked, most)

    def _evidence(self, bare: Protocol, limits: Limits, samples: int) -> Evidence:
        days = limits.fewest_days(samples)
        return planned_evidence(
            revise(bare, sample_size=samples, duration_days=days), self.scenario
        )

    def settled(self, candidate: _Candidate) -> Iterator[_Candidate]:
        """Yield the candidate with every days and samples that may be the least change or cost."""
        counts = self._counts(candidate.choice)
        for samples in self._equal_samples(candidate):
            planned = counts._replace(samples=samples)
            for days in (self.protocol.duration_days, candidate.limits.best_days(planned)):
                if candidate.limits.allows(planned._replace(days=days)):
                    yield replace(candidate, samples=samples, days=days)

    def _equal_samples(self, candidate: _Candidate) -> set[int]:
        """Return the sample, the fewest that are worth as much, and the original if it is."""

        def is_equal(samples: int) -> bool:
            evidence = self._evidence(candidate.bare, candidate.limits, samples)
            return shortfall(evidence, self.scenario) == candidate.shortfall

        low = min(candidate.choice.controls + 1, candidate.samples)
        least = fewest(is_equal, low, candidate.samples)
        original = self.protocol.sample_size
        return {candidate.samples, least} | (
            {original} if least <= original <= candidate.samples else set()
        )

    def leftover(self, candidate: _Candidate) -> tuple[int, float]:
        """Return the last two terms of the order: changes, then cost."""
        plan = revise(candidate.bare, sample_size=candidate.samples, duration_days=candidate.days)
        credits = credits_needed(counts_of(plan), self.scenario.cost_model)
        return changed_values(self.protocol, plan), credits


def _subsets(dimensions: tuple[Dimension, ...]) -> Iterator[frozenset[Dimension]]:
    for size in range(len(dimensions) + 1):
        yield from map(frozenset, combinations(dimensions, size))
