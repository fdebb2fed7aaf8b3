"""The options of a plan in its lab, each computed once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from replicalab.agents.lab_manager_policy import Offer, answer_type_to, reference_offer
from replicalab.assessment import DIMENSION_ROWS, Assessment, assess
from replicalab.assessment.dimensions import SuggestionChange, apply_changes
from replicalab.models import NUMBER_FIELDS, LabManagerActionType, Protocol, revise
from replicalab.planner.frontier import Frontier, frontier_of
from replicalab.planner.least_loss import LeastLoss, PlanStep, gives_up_less, least_loss_of
from replicalab.planner.sample_limits import BELOW_FLOOR, TIER_RANK, largest
from replicalab.planner.search import PlanSearch
from replicalab.planner.shortfalls import Shortfalls, SmallestAddition, extras, unlimited
from replicalab.planner.variants import PlanVariants, control_variants, variants_of
from replicalab.scenarios import Pack

_ITEM_FIELDS: Final = ("required_equipment", "required_reagents")


@dataclass(frozen=True)
class PlanAnalysis:
    """The options of a plan, *yours*; each is computed when first read."""

    yours: Assessment

    @cached_property
    def study(self) -> Assessment:
        return self.yours.revised(self.yours.pack.reference_protocol)

    @cached_property
    def offer(self) -> Offer | None:
        return reference_offer(self.yours)

    @property
    def answer(self) -> LabManagerActionType:
        """The kind of the Lab Manager's answer."""
        return answer_type_to(self.yours, self.offer)

    @property
    def offered(self) -> Assessment:
        return self.offer.after if self.offer else self.yours

    @cached_property
    def variants(self) -> PlanVariants:
        return variants_of(self.yours)

    @cached_property
    def least(self) -> LeastLoss:
        return least_loss_of(self.yours, self.offer, self.variants)

    @cached_property
    def _search(self) -> PlanSearch:
        return PlanSearch(self.yours, self.variants, self.study)

    @cached_property
    def cheapest(self) -> Assessment | None:
        """The cheapest plan in the tier of the least-loss plan that gives up nothing else."""
        least = self.least
        if not least.after.feasible or least.rank.tier == BELOW_FLOOR:
            return None
        best = self._search.cheapest()
        return self.yours.revised(best.plan(self.yours.plan)) if best else None

    @cached_property
    def most_evidence(self) -> Assessment | None:
        """The passing plan with the most evidence that gives up nothing else."""
        least, dropped = self.least.rank, len(self.yours.dropped)
        if not self.least.after.feasible:
            return None
        best = self._search.strongest(least.wishes, least.fidelity - dropped)
        return self.yours.revised(best.plan(self.yours.plan)) if best else None

    @property
    def ends(self) -> dict[str, Assessment]:
        """The cheapest plan and the one with most evidence, if they are other plans."""
        ends = {"Cheapest": self.cheapest, "Most evidence": self.most_evidence}
        shown_plans = self.yours.plan, self.least.plan
        plans = {name: plan for name, plan in ends.items() if plan and plan.plan not in shown_plans}
        return {name: plan for name, plan in plans.items() if not plan.evidence.void_reason}

    @cached_property
    def asks(self) -> Shortfalls:
        return Shortfalls(self.yours, self.least, self.variants)

    @cached_property
    def frontier(self) -> Frontier:
        return frontier_of(self.yours, self.variants)

    @cached_property
    def _unlimited(self) -> dict[str, LeastLoss]:
        return unlimited(self.least, self.variants, self.study)

    @property
    def binding(self) -> str | None:
        """The limit whose relief buys most, or None."""
        without, least = self._unlimited, self.least
        buying = [limit for limit, loss in without.items() if gives_up_less(loss, least)]
        return min(buying, key=lambda limit: without[limit].rank.given_up, default=None)

    @cached_property
    def extras(self) -> tuple[SmallestAddition, ...]:
        return extras(self.least, self.variants, self.study, self._unlimited)

    @cached_property
    def balanced(self) -> Assessment | None:
        plan = self.frontier.balanced
        return None if plan is None else self.yours.revised(plan.plan(self.yours.plan))

    @cached_property
    def repairs(self) -> dict[str, PlanStep]:
        """For each failing dimension its smallest repair; another may fail then."""
        changes = [self.least.changes, *([self.offer.changes] if self.offer else [])]
        fixes = {cause: fix_of(self.yours, cause, changes) for cause in self.yours.causes}
        return {text: PlanStep(self.yours, after) for text, after in fixes.items() if after}


@dataclass(frozen=True)
class PlanToDraw:
    """A plan whose region is drawn, and the substitutions that let some numbers fit."""

    plan: Assessment
    changes: tuple[SuggestionChange, ...] = ()

    @property
    def failing(self) -> tuple[str, ...]:
        """The dimensions that fail whatever the days and samples."""
        return tuple(key for key in self.plan.failing if DIMENSION_ROWS[key].by_wording)

    def holds(self, other: Assessment) -> bool:
        """Return whether another plan differs only in days and samples."""
        return _with_numbers_of(self.plan.plan, other.plan) == self.plan.plan

    def at(self, days: int, samples: int) -> Assessment:
        plan = self.plan
        return assess(revise(plan.plan, sample_size=samples, duration_days=days), plan.pack)


def _with_numbers_of(plan: Protocol, worded: Protocol) -> Protocol:
    return revise(worded, **{name: getattr(plan, name) for name in NUMBER_FIELDS})


def plan_to_draw(analysis: PlanAnalysis) -> PlanToDraw:
    """Return the plan with the Lab Manager's or else the planner's substitutions, if needed."""
    yours = PlanToDraw(analysis.yours)
    if not yours.failing:
        return yours
    for changes in (analysis.offer.changes if analysis.offer else (), analysis.least.changes):
        items = tuple(change for change in changes if change.field in _ITEM_FIELDS)
        draw = PlanToDraw(analysis.yours.revised(apply_changes(analysis.yours.plan, items)), items)
        if not draw.failing:
            return draw
    return yours


def least_to_draw(analysis: PlanAnalysis, drawn: PlanToDraw) -> PlanToDraw | None:
    """Return the least-loss plan as one to draw; None if infeasible or worded the same."""
    loss, now = analysis.least, drawn.plan.plan
    plan = _with_numbers_of(now, loss.plan)
    if plan == now or not loss.after.feasible:
        return None
    changes = tuple(change for change in loss.changes if change.field not in NUMBER_FIELDS)
    return PlanToDraw(analysis.yours.revised(plan), changes)


@dataclass(frozen=True)
class SurveyedStudy:
    """A study's reference protocol in a lab, its least-loss plan, and the binding limit."""

    reference: Assessment
    least: LeastLoss
    binding: str | None

    @property
    def pack(self) -> Pack:
        return self.reference.pack

    @property
    def best(self) -> Assessment:
        return self.least.after

    @cached_property
    def share(self) -> float:
        evidence = self.best.evidence
        return evidence.row.scale.attained(evidence.value, evidence.target)

    @cached_property
    def rank(self) -> tuple[float, ...]:
        """The order of studies by their best plans; the smaller the better."""
        best = self.best
        return (
            len(best.failing),
            TIER_RANK[best.evidence.tier],
            len(best.broken_wishes),
            1 - self.share,
            best.fidelity_loss,
            best.cost,
        )


def surveyed(pack: Pack) -> SurveyedStudy:
    options = PlanAnalysis(assess(pack.reference_protocol, pack))
    return SurveyedStudy(options.yours, options.least, options.binding)


def fix_of(
    plan: Assessment, dimension: str, changes: Sequence[Sequence[SuggestionChange]]
) -> Assessment | None:
    """Return the plan with a dimension repaired by its smallest change, or None."""
    limit = DIMENSION_ROWS[dimension].lab_limit
    if limit:
        revised = (one for name in limit.smaller for one in _smaller(plan, dimension, name))
    else:
        revised = (_needed(plan, dimension, some) for some in changes)
    tried = map(plan.revised, revised)
    return next((after for after in tried if dimension not in after.failing), None)


def _smaller(plan: Assessment, dimension: str, name: str) -> Iterator[Protocol]:
    if name == "controls":
        yield from (variant.applied_to(plan.plan) for variant in control_variants(plan))
        return

    def at(number: int) -> Protocol:
        return revise(plan.plan, **{name: number})

    def fits(number: int) -> bool:
        used, limit = DIMENSION_ROWS[dimension].measured(plan.revised(at(number)))
        return used <= limit

    if maximum := largest(fits, 1, getattr(plan.plan, name) - 1):
        yield at(maximum)


def _needed(plan: Assessment, dimension: str, changes: Sequence[SuggestionChange]) -> Protocol:
    needed = list(changes)
    for change in changes:
        rest = [item for item in needed if item is not change]
        if dimension not in plan.revised(apply_changes(plan.plan, rest)).failing:
            needed = rest
    return apply_changes(plan.plan, needed)
