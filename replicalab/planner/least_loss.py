"""The plan for the same lab that is closest to the study, and its named relatives."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from replicalab.agents.suggestions import Offer, reference_offer
from replicalab.assessment import Assessment
from replicalab.assessment.fixes import SuggestionChange
from replicalab.models import Protocol
from replicalab.notebook import Shown
from replicalab.planner.limits import (
    BELOW_FLOOR,
)
from replicalab.planner.order import Rank, rank
from replicalab.planner.reasons import Reasons
from replicalab.planner.search import PlanSearch
from replicalab.planner.steps import judged
from replicalab.planner.variants import PlanVariants, variants_of

_Changes = Callable[[], Sequence[SuggestionChange]]


@dataclass(frozen=True)
class LeastLoss(Shown):
    """The plan closest to the study, and what is proven by having found it.

    Attributes:
        before: the original.
        after: the plan; the original itself if no other ranks above it.
        rank: its place in the order.
        exact: whether every plan was searched; False only for plans with so many items and
            controls to choose from that not all their combinations could be.
    """

    before: Assessment
    after: Assessment
    rank: Rank
    exact: bool = True
    _changes: _Changes = field(default=tuple, repr=False, compare=False)

    @cached_property
    def changes(self) -> tuple[SuggestionChange, ...]:
        """The changes from the original to it, each with its reason and what is lost."""
        # A search for what binds compares dozens of such plans, and reads the changes of few.
        return tuple(self._changes())

    @property
    def plan(self) -> Protocol:
        """The plan."""
        return self.after.plan

    @property
    def none_feasible(self) -> bool:
        """Whether it is proven that no plan that was searched passes all seven dimensions."""
        return self.exact and not self.after.feasible

    @property
    def none_above_floor(self) -> bool:
        """Whether it is proven that no plan that passes reaches the study's floor."""
        return self.exact and (self.rank.tier == BELOW_FLOOR or not self.after.feasible)


def gives_up_less(one: LeastLoss, now: LeastLoss) -> bool:
    """Return whether a plan gives up less; one that shows nothing has bought nothing."""
    return one.rank.given_up < now.rank.given_up and not one.after.evidence.void_reason


def least_loss_of(
    plan: Assessment,
    offer: Offer | None = None,
    variants: PlanVariants | None = None,
    known: list[Assessment] | None = None,
) -> LeastLoss:
    """Return the first plan in the order for this lab.

    It never ranks below the plan itself, nor below the Lab Manager's offer, which may be known
    already, as may the plan's variants. ``known`` are judged plans of this lab; it grows.
    """
    known = [plan] if known is None else known
    study = judged(plan.pack.reference_protocol, plan, known)
    search = PlanSearch(plan, variants or variants_of(plan), study)

    def ranked(after: Assessment, changes: _Changes = tuple) -> LeastLoss:
        place = rank(after, plan.plan, study)
        return LeastLoss(plan, after, place, search.variants.exact, changes)

    plans = [ranked(plan)]
    if offered := offer or reference_offer(plan):
        plans.append(ranked(offered.after, lambda: offered.changes))
    if best := search.closest():
        known += [each.after for each in plans if each.after not in known]
        after = judged(best.plan(plan.plan), plan, known)

        def changes() -> Sequence[SuggestionChange]:
            reasons = Reasons(plan, after, study, known)
            return *reasons.of_words(best.variant.changes(plan.pack)), *reasons.of_numbers()

        plans.insert(0, ranked(after, changes))
    return min(plans, key=lambda each: each.rank)


def least_loss_offer(plan: Assessment, least: LeastLoss) -> Offer | None:
    """Return the plan's least-loss plan as the Lab Manager's offer, None if it is feasible."""
    return None if plan.feasible else Offer(plan, least.after, least.changes)


def cheapest_of(least: LeastLoss, search: PlanSearch, known: list[Assessment]) -> Assessment | None:
    """Return the cheapest plan that gives up no more than the least-loss plan but evidence.

    None if that plan fails or is below the floor. ``known`` are judged plans of the lab; it grows.
    """
    if not least.after.feasible or least.rank.tier == BELOW_FLOOR:
        return None
    pack = search.plan.pack
    budget = search.lowest_cost() or sys.float_info.min  # a budget is above zero
    there = pack.in_lab(pack.lab.with_means(budget=budget))
    in_lab = replace(search, plan=search.plan.in_lab(there), _limits={}, _most={})
    best = in_lab.closest()
    return judged(best.plan(search.plan.plan), search.plan, known) if best else None


def strongest_of(
    least: LeastLoss, search: PlanSearch, known: list[Assessment]
) -> Assessment | None:
    """Return the passing plan with the most evidence, None if no plan passes.

    It misses no more soft constraints than the least-loss plan, and loses no more fidelity.
    """
    loss = least.rank.loss - len(search.plan.dropped)
    best = search.strongest(least.rank.wishes, loss) if least.after.feasible else None
    return judged(best.plan(search.plan.plan), search.plan, known) if best else None
