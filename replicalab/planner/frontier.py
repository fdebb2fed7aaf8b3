"""The Pareto frontier of a lab; source: docs/methods.md; Nash (1950), Econometrica 18, 155-162."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from replicalab.assessment import Assessment, Counts, Evidence, counted_of, credits_needed, tier_of
from replicalab.limits import LARGEST_PLANNED, MOST_FRONTIER_PLANS, MOST_FRONTIER_SIZES
from replicalab.models import NotebookTable, Protocol
from replicalab.planner.sample_limits import (
    CountLimits,
    EvidenceCurve,
    as_loss,
    fewest,
    most_counted,
)
from replicalab.planner.variants import PlanVariant, PlanVariants
from replicalab.scenarios import EvidenceTier, Pack

LISTED: Final = 15  # plans, shared out over the lines; the balanced plan may come on top
_FEWEST_SIZES: Final = 10  # per variant, if there are too many plans to look at
_FEWEST_OF_A_LINE: Final = 3


class FrontierPlan(NamedTuple):
    """A Pareto-optimal plan: feasible, and beaten by no other."""

    samples: int
    analysed: int  # the samples that count after dropout
    days: int
    credits: float
    value: float  # its evidence, in the study's measure
    tier: EvidenceTier
    loss: int  # the fidelity that it gives up
    variant: PlanVariant  # the items and controls that it changes

    def plan(self, protocol: Protocol) -> Protocol:
        return self.variant.applied_to(protocol, sample_size=self.samples, duration_days=self.days)


@dataclass(frozen=True)
class BetterPlans:
    """The plans that beat a plan; all None if it is Pareto-optimal."""

    cheaper: FrontierPlan | None = None  # no less evidence, no more days and loss
    stronger: FrontierPlan | None = None  # most evidence at no more cost, days and loss
    gentler: FrontierPlan | None = None  # if neither exists: equal, with less loss or days


class LossLine(NamedTuple):
    """The plans of one fidelity loss with the most evidence for their credits, cheapest first."""

    loss: int
    plans: tuple[FrontierPlan, ...]


@dataclass(frozen=True)
class Frontier(NotebookTable):
    """The Pareto-optimal plans, cheapest first; empty if no feasible plan has evidence."""

    plans: tuple[FrontierPlan, ...] = field(repr=False)
    pack: Pack
    exact: bool = True  # whether all plans were searched, except sizes between even steps

    def standing(self, plan: Assessment) -> BetterPlans:
        short, cost = as_loss(plan.evidence.value, plan.pack), plan.cost
        days, loss = plan.counts.days, plan.fidelity_loss
        rivals = [
            (lacking, item)
            for item in self.plans
            if item.days <= days and item.credits <= cost and item.loss <= loss
            if (lacking := as_loss(item.value, plan.pack)) <= short
        ]
        if not rivals:
            return BetterPlans()
        cheaper = min(rivals, key=lambda r: (r[1].credits, r[0]))[1]
        minimum, stronger = min(rivals, key=lambda r: (r[0], r[1].credits))
        gentler = min(rivals, key=lambda r: (r[1].loss, r[1].days))[1]
        standing = BetterPlans(
            cheaper if cheaper.credits < cost else None, stronger if minimum < short else None
        )
        same = (gentler.loss, gentler.days) == (loss, days)
        return standing if standing != BetterPlans() or same else BetterPlans(gentler=gentler)

    def as_strong(self, evidence: Evidence) -> FrontierPlan | None:
        """Return the gentlest plan with as much evidence, at the precision shown."""
        short, text = as_loss(evidence.value, self.pack), evidence.format(evidence.value)
        rivals = (
            plan
            for plan in self.plans
            if as_loss(plan.value, self.pack) <= short or evidence.format(plan.value) == text
        )
        return min(rivals, key=lambda plan: (plan.loss, plan.credits), default=None)

    @cached_property
    def balanced(self) -> FrontierPlan | None:
        """The Nash point, or None if no plan is above the floor.

        It maximises the product of both gains: for the Scientist the evidence above the floor over
        1 + the fidelity given up, for the Lab Manager the credits left. No agreement gains nothing.
        """
        above = [plan for plan in self.plans if plan.tier is not EvidenceTier.BELOW_FLOOR]
        budget, floor = self.pack.lab.budget, self.pack.design.floor

        def product(plan: FrontierPlan) -> tuple[float, float]:
            gain = abs(plan.value - floor) / (1 + plan.loss)
            return gain * (budget - plan.credits), gain

        return max(above, key=product, default=None)

    @cached_property
    def lines(self) -> tuple[LossLine, ...]:
        """One line for each fidelity loss, without plans that are optimal only by fewer days."""
        rising: dict[int, list[FrontierPlan]] = {}
        best: dict[int, float] = {}
        pairs = ((as_loss(plan.value, self.pack), plan) for plan in self.plans)
        for short, plan in sorted(pairs, key=lambda pair: (pair[1].credits, pair[0])):
            if plan.loss not in best or short < best[plan.loss]:
                best[plan.loss] = short
                rising.setdefault(plan.loss, []).append(plan)
        return tuple(LossLine(loss, tuple(rising[loss])) for loss in sorted(rising))

    @cached_property
    def listed(self) -> tuple[FrontierPlan, ...]:
        """About `LISTED` plans, line by line, each line's evenly spaced by credits."""
        lines, balanced = self.lines, self.balanced
        number = max(_FEWEST_OF_A_LINE, LISTED // max(1, len(lines)))
        plans = [plan for line in lines for plan in _spaced(line.plans, number)]
        if balanced is not None and balanced not in plans:
            plans.append(balanced)
        return tuple(sorted(plans, key=lambda plan: (plan.loss, plan.credits)))


def _spaced(plans: Sequence[FrontierPlan], most: int) -> list[FrontierPlan]:
    if len(plans) <= most:
        return list(plans)
    low, high = plans[0].credits, plans[-1].credits
    wanted = [low + (high - low) * step / (most - 1) for step in range(most)]
    nearest = [min(plans, key=lambda plan: abs(plan.credits - want)) for want in wanted]
    return list(dict.fromkeys(nearest))


def frontier_of(plan: Assessment, variants: PlanVariants) -> Frontier:
    """Return the Pareto frontier of a plan's variants; of plans equal in all four, one."""
    pack, absent = plan.pack, len(plan.dropped)
    usable = [variant for variant in variants.listed if not variant.failing]
    if CountLimits(pack).endpoint_lost or not usable:
        return Frontier((), pack, variants.exact)
    worth = EvidenceCurve(pack, LARGEST_PLANNED)
    sizes = max(_FEWEST_SIZES, min(MOST_FRONTIER_SIZES, MOST_FRONTIER_PLANS // len(usable)))
    points = [
        (as_loss(point.value, pack), point._replace(loss=point.loss + absent))
        for variant in usable[: MOST_FRONTIER_PLANS // _FEWEST_SIZES]
        for point in _curve(plan.counts, variant, worth, sizes)
    ]
    plans = sorted(_pareto(points), key=lambda point: (point.credits, point.days, point.loss))
    return Frontier(tuple(plans), pack, variants.exact)


def _curve(
    counts: Counts, variant: PlanVariant, worth: EvidenceCurve, sizes: int
) -> Iterator[FrontierPlan]:
    pack, factor = worth.pack, variant.factor
    limits, counts = CountLimits(pack), variant.counts(counts)
    allowed, limit = worth.allowed(factor), limits.most_that_count(counts, worth.most)
    if limit is None or allowed is None or max(1, allowed) > limit:
        return
    if not counted_of(pack.design, limit):
        return
    low = fewest(lambda n: counted_of(pack.design, n) > 0, max(1, allowed), limit)
    best = as_loss(worth.value(limit, factor), pack)
    enough = fewest(lambda n: as_loss(worth.value(n, factor), pack) == best, low, limit)
    for counting in _sizes(low, enough, sizes, pack):
        minimum = limits.fewest(counts, counting)
        usable = min(minimum.samples, most_counted(minimum.days, pack))
        value, cost = worth.value(usable, factor), credits_needed(minimum, pack)
        tier, counted = tier_of(pack.design, value), counted_of(pack.design, usable)
        yield FrontierPlan(
            minimum.samples, counted, minimum.days, cost, value, tier, variant.loss, variant
        )


def _sizes(low: int, most: int, number: int, pack: Pack) -> Iterator[int]:
    # If a sample is free, only the most of those that take the same days and staff.
    unit, ends = 1, {most}
    if not pack.cost_model.per_sample:
        rate, threshold = pack.samples_per_day, pack.staff_model.sample_threshold
        if pack.cost_model.per_staff_day and low <= threshold < most:
            ends.add(threshold)
        unit = rate.value if rate else most
        low = min(most, max(-(-low // unit), CountLimits(pack).days[0]) * unit)
    step = unit * max(1, -(-(most - low) // (unit * number)))
    yield from sorted(ends.union(range(low, most, step)))


def _pareto(points: Iterable[tuple[float, FrontierPlan]]) -> Iterator[FrontierPlan]:
    # From the most evidence on, so a plan can only be beaten by an earlier one. Of these each
    # fidelity loss keeps stairs that go down: more days for fewer credits.
    stairs: dict[int, tuple[list[int], list[float]]] = {}

    def order(point: tuple[float, FrontierPlan]) -> tuple[float, ...]:
        short, plan = point
        return short, plan.credits, plan.days, plan.loss, plan.samples

    for _, plan in sorted(points, key=order):
        gentler = (stair for loss, stair in stairs.items() if loss <= plan.loss)
        steps = ((bisect_right(days, plan.days) - 1, credits) for days, credits in gentler)
        if any(at >= 0 and credits[at] <= plan.credits for at, credits in steps):
            continue
        days, credits = stairs.setdefault(plan.loss, ([], []))
        place = end = bisect_left(days, plan.days)
        while end < len(days) and credits[end] >= plan.credits:
            end += 1  # the steps that the plan beats
        days[place:end], credits[place:end] = [plan.days], [plan.credits]
        yield plan
