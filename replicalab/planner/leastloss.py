"""The plan for the same lab that gives up the least, found exactly.

Source: the behaviour contract, section 7; what is searched is said in `planner.search`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from replicalab.agents import (
    AlternativeSuggestion,
    FeasibilityCheckResult,
    check_feasibility,
    suggest_alternative,
)
from replicalab.agents.suggestions import SuggestionChange, apply_changes
from replicalab.concessions import PlanPrice, price
from replicalab.models import Protocol
from replicalab.planner.changes import number_changes
from replicalab.planner.dropping import with_reasons
from replicalab.planner.order import Rank, rank
from replicalab.planner.search import Found, the_least
from replicalab.scenarios import EvidenceTier, Pack


@dataclass(frozen=True)
class LeastLoss:
    """The plan that gives up the least, and what is proven by having found it.

    Attributes:
        plan: the plan; the original itself when nothing else gives up less.
        check: of that plan.
        price: what it costs, buys and gives up.
        changes: from the original to it, each with its reason and what is lost.
        rank: where it stands in the order of all plans.
        exact: whether every plan was searched; False only for a plan of so many missing items
            that share alternatives that not all of their combinations could be (`planner.items`).
    """

    plan: Protocol
    check: FeasibilityCheckResult
    price: PlanPrice
    changes: tuple[SuggestionChange, ...]
    rank: Rank
    exact: bool = True

    @property
    def none_feasible(self) -> bool:
        """Whether it is proven that no plan passes all seven dimensions in this lab.

        Plans that lose an endpoint which the lab has the days for, and plans of more samples than
        can count, are no plans here.
        """
        return self.exact and not self.check.feasible

    @property
    def none_above_floor(self) -> bool:
        """Whether it is proven that no feasible plan reaches the study's floor in this lab."""
        below = self.price.evidence.tier is EvidenceTier.BELOW_FLOOR
        return self.exact and (below or not self.check.feasible)


def least_loss(protocol: Protocol, scenario: Pack) -> LeastLoss:
    """Return the plan for this lab that gives up the least of the study.

    By order: fewest failing dimensions, best evidence tier, least fidelity given up, most
    evidence, fewest changes, lowest cost.
    """
    best = the_least(protocol, scenario)
    found = min(_contenders(protocol, best, scenario), key=lambda found: found.rank)
    return replace(found, exact=best is None or not best.choice.cut)


def _contenders(protocol: Protocol, best: Found | None, scenario: Pack) -> Iterator[LeastLoss]:
    """Yield the plan that the search found, then the two that it must never be worse than."""
    if best is not None:
        worded = list(best.choice.changes)
        numbers = number_changes(apply_changes(protocol, worded), best, scenario)
        yield _revision(protocol, [*worded, *numbers], scenario)
    unchanged = _revision(protocol, [], scenario)
    yield unchanged
    suggestion = suggest_alternative(protocol, unchanged.check, scenario)
    if suggestion is not None:
        yield _revision(protocol, suggestion.applied_changes, scenario)


def _revision(protocol: Protocol, changes: list[SuggestionChange], scenario: Pack) -> LeastLoss:
    plan = apply_changes(protocol, changes)
    check = check_feasibility(plan, scenario)
    return LeastLoss(
        plan=plan,
        check=check,
        price=price(plan, scenario),
        changes=with_reasons(tuple(changes), plan, check, scenario),
        rank=rank(plan, check, protocol, scenario),
    )


def suggest_least_loss(
    protocol: Protocol, check_result: FeasibilityCheckResult, scenario: Pack
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
