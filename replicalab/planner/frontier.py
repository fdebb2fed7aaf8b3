"""The Pareto frontier of a lab: the plans that no other beats on cost, days, evidence and fidelity.

Of the plans of one variant in which so many samples count, one has the fewest samples and days at
once, so only that one matters. The plans of all variants are then gone through from the most
evidence to the least: one is beaten if an earlier one costs no more, takes no longer and loses no
more.
Source: docs/methods.md, Planner; Nash (1950), Econometrica 18, 155-162.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from replicalab.assessment import Assessment, Counts, Evidence, counted_of, credits_needed, tier_of
from replicalab.limits import LARGEST_PLANNED, MOST_FRONTIER_PLANS, MOST_FRONTIER_SIZES
from replicalab.models import Protocol, revise
from replicalab.notebook import Framed
from replicalab.planner.limits import CountLimits, EvidenceCurve, as_loss, fewest, most_counted
from replicalab.planner.variants import PlanVariant, PlanVariants
from replicalab.scenarios import EvidenceTier, Pack

LISTED: Final = 15
"""So many plans are listed, shared out over the lines; the balanced plan may come on top."""

# So many plans are looked at in all; above it there are fewer sizes for each variant.

_FEWEST_SIZES: Final = 10
_FEWEST_OF_A_LINE: Final = 3


class FrontierPlan(NamedTuple):
    """A Pareto-optimal plan: feasible, and no other beats it.

    Attributes:
        analysed: the samples of which its evidence is: that can count, and that dropout leaves.
        value: its evidence, in the study's measure.
        tier: where that stands to target and floor.
        loss: the fidelity that it gives up.
        variant: the original's items and controls in it.
    """

    samples: int
    analysed: int
    days: int
    credits: float
    value: float
    tier: EvidenceTier
    loss: int
    variant: PlanVariant

    def plan(self, protocol: Protocol) -> Protocol:
        """Return the whole plan, as a revision of the one that the frontier was drawn for."""
        worded = self.variant.applied_to(protocol)
        return revise(worded, sample_size=self.samples, duration_days=self.days)


@dataclass(frozen=True)
class Standing:
    """Where a plan stands to the frontier; all None when nothing beats it.

    Attributes:
        cheaper: the cheapest plan with no less evidence, no more days and no more loss.
        stronger: the plan with most evidence at no more cost, days and loss.
        gentler: where neither exists, a plan of the same cost and evidence that gives up less
            fidelity, or takes fewer days.
    """

    cheaper: FrontierPlan | None = None
    stronger: FrontierPlan | None = None
    gentler: FrontierPlan | None = None

    @property
    def unbeaten(self) -> bool:
        """Whether nothing beats the plan."""
        return self == Standing()


class LossLine(NamedTuple):
    """The plans of one fidelity loss with the most evidence for their credits, cheapest first."""

    loss: int
    plans: tuple[FrontierPlan, ...]


@dataclass(frozen=True)
class Frontier(Framed):
    """The Pareto-optimal plans, cheapest first; none when no feasible plan has evidence.

    Attributes:
        pack: the study in the lab that they are for.
        exact: whether every plan was looked at, but for sizes between those evenly spaced.
    """

    plans: tuple[FrontierPlan, ...] = field(repr=False)
    pack: Pack
    exact: bool = True

    def standing(self, plan: Assessment) -> Standing:
        """Return where a plan stands to the frontier."""
        short, cost = as_loss(plan.evidence.value, plan.pack), plan.cost
        rivals = [
            (as_loss(item.value, plan.pack), item)
            for item in self.plans
            if item.days <= plan.counts.days
            and item.credits <= cost
            and item.loss <= plan.fidelity_loss
            and as_loss(item.value, plan.pack) <= short
        ]
        if not rivals:
            return Standing()
        cheaper = min(rivals, key=lambda r: (r[1].credits, r[0]))[1]
        minimum, stronger = min(rivals, key=lambda r: (r[0], r[1].credits))
        gentler = min(rivals, key=lambda r: (r[1].loss, r[1].days))[1]
        standing = Standing(
            cheaper if cheaper.credits < cost else None, stronger if minimum < short else None
        )
        same = (gentler.loss, gentler.days) == (plan.fidelity_loss, plan.counts.days)
        return standing if not standing.unbeaten or same else Standing(gentler=gentler)

    def best_for(self, credits: float) -> FrontierPlan | None:
        """Return the plan with the most evidence for so many credits; of equals the least lost."""
        fits = [each for each in self.plans if each.credits <= credits]

        def order(each: FrontierPlan) -> tuple[float, int, float]:
            return as_loss(each.value, self.pack), each.loss, each.credits

        return min(fits, key=order, default=None)

    def as_strong(self, evidence: Evidence) -> FrontierPlan | None:
        """Return the plan that gives up least with as much evidence, at the precision shown."""
        short, text = as_loss(evidence.value, self.pack), evidence.amount(evidence.value)
        rivals = [
            each
            for each in self.plans
            if as_loss(each.value, self.pack) <= short or evidence.amount(each.value) == text
        ]
        return min(rivals, key=lambda each: (each.loss, each.credits), default=None)

    @cached_property
    def balanced(self) -> FrontierPlan | None:
        """The Nash point, None when no plan is above the floor.

        It is the plan at which the product of what each side gains is largest: for the Scientist
        the evidence above the floor, shared by 1 + the fidelity given up; for the Lab Manager the
        credits left over. Without an agreement both would gain nothing.
        """
        above = [each for each in self.plans if each.tier is not EvidenceTier.BELOW_FLOOR]
        budget, floor = self.pack.lab.budget, self.pack.design.floor

        def product(each: FrontierPlan) -> tuple[float, float]:
            gain = abs(each.value - floor) / (1 + each.loss)
            return gain * (budget - each.credits), gain

        return max(above, key=product, default=None)

    @cached_property
    def lines(self) -> tuple[LossLine, ...]:
        """One line for each fidelity loss, fit to be drawn."""
        # A plan that nothing beats only because it takes fewer days is on no line: a cheaper plan
        # of the same fidelity loss has as much evidence.
        rising: dict[int, list[FrontierPlan]] = {}
        best: dict[int, float] = {}
        pairs = ((as_loss(plan.value, self.pack), plan) for plan in self.plans)
        for short, plan in sorted(pairs, key=lambda each: (each[1].credits, each[0])):
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
    """Return at most that many of a line's plans: the first, the last, and some between them."""
    if len(plans) <= most:
        return list(plans)
    low, high = plans[0].credits, plans[-1].credits
    wanted = [low + (high - low) * step / (most - 1) for step in range(most)]
    places = [min(range(len(plans)), key=lambda at: abs(plans[at].credits - want))
              for want in wanted]  # fmt: skip
    return [plans[at] for at in dict.fromkeys(places)]


def frontier_of(plan: Assessment, variants: PlanVariants) -> Frontier:
    """Return the Pareto frontier of a plan's variants over cost, days, evidence and fidelity.

    Searched: every number of days that keeps the endpoint, variant and sample size that the lab
    affords, up to `LARGEST_PLANNED`. Of plans that are equal in all four, one is returned.
    """
    pack, absent = plan.pack, len(plan.dropped)
    usable = [variant for variant in variants.listed if not variant.failing]
    if CountLimits(pack).endpoint_lost or not usable:
        return Frontier((), pack, variants.exact)
    worth = EvidenceCurve(pack, LARGEST_PLANNED)
    sizes = max(_FEWEST_SIZES, min(MOST_FRONTIER_SIZES, MOST_FRONTIER_PLANS // len(usable)))
    points = [
        (as_loss(each.value, pack), each._replace(loss=each.loss + absent))
        for variant in usable[: MOST_FRONTIER_PLANS // _FEWEST_SIZES]
        for each in _curve(plan.counts, variant, worth, sizes)
    ]
    plans = sorted(_pareto(points), key=lambda each: (each.credits, each.days, each.loss))
    return Frontier(tuple(plans), pack, variants.exact)


def _curve(
    counts: Counts, variant: PlanVariant, worth: EvidenceCurve, sizes: int
) -> Iterator[FrontierPlan]:
    """Yield the plans of one variant that may be on the frontier, by growing sample."""
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
        able = min(minimum.samples, most_counted(minimum.days, pack))
        value, cost = worth.value(able, factor), credits_needed(minimum, pack)
        tier, counted = tier_of(pack.design, value), counted_of(pack.design, able)
        yield FrontierPlan(
            minimum.samples, counted, minimum.days, cost, value, tier, variant.loss, variant
        )


def _sizes(low: int, most: int, number: int, pack: Pack) -> Iterator[int]:
    """Yield the sample sizes to look at, the last one always."""
    # Where a sample is free, of those that take the same days and staff only the most.
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
    """Yield the Pareto-optimal plans: none with as much evidence is as good in the other three."""
    # They are gone through from the most evidence, so a plan can only be beaten by an earlier one.
    # Of these it is enough to keep, for each fidelity loss, stairs that go down: the least cost for
    # each number of days, more days for fewer credits. Each plan comes with its evidence `as_loss`.
    stairs: dict[int, tuple[list[int], list[float]]] = {}

    def order(point: tuple[float, FrontierPlan]) -> tuple[float, ...]:
        short, plan = point
        return short, plan.credits, plan.days, plan.loss, plan.samples

    for _, plan in sorted(points, key=order):
        if any(_beat(*stair, plan) for loss, stair in stairs.items() if loss <= plan.loss):
            continue
        days, credits = stairs.setdefault(plan.loss, ([], []))
        place = end = bisect_left(days, plan.days)
        while end < len(days) and credits[end] >= plan.credits:
            end += 1  # the steps that the plan beats
        days[place:end], credits[place:end] = [plan.days], [plan.credits]
        yield plan


def _beat(days: list[int], credits: list[float], plan: FrontierPlan) -> bool:
    place = bisect_right(days, plan.days) - 1
    return place >= 0 and credits[place] <= plan.credits
