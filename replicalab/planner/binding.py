"""Which of the lab's limits binds, and the smallest step beyond one that buys something.

Taking a limit away alone *buys* something where the least-loss plan then gives up less, and shows
something; the *binding* limit is the one whose relief buys most. What a plan uses of a limit is no
measure of that: a budget that is nearly spent costs nothing where more of it would not be used,
and a missing item uses no share of anything.

More of an amount may buy no more: it may let a plan pass that shows nothing, which then is the
least-loss plan, since passing comes first. But of the plans that show something the best never gets
worse with more, nor does the best of the others. So bisection finds the smallest addition with
which a plan that shows something gives up less than now; and wherever one that shows nothing comes
before it, the rest is searched, except between two additions at which the same comes before.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

from replicalab.assessment import (
    AMOUNTS,
    ITEM_DIMENSIONS,
    Assessment,
    assess,
    credits_needed,
    staff,
)
from replicalab.models import LAB_DIMENSIONS, LARGEST_COUNT, Dimension, revise
from replicalab.planner.least_loss import GivenUp, LeastLoss, least_loss_of, least_that_shows
from replicalab.planner.limits import CountLimits, EvidenceCurve, fewest, most_looked_at
from replicalab.planner.shortfalls import Addition, with_additions
from replicalab.planner.variants import PlanVariants, price_range
from replicalab.planner.wishes import Wishes


class SmallestAddition(NamedTuple):
    """The smallest addition of an amount that buys something, and the least-loss plan with it."""

    ask: Addition
    before: LeastLoss
    after: LeastLoss


def unlimited(
    plan: Assessment, least: LeastLoss, variants: PlanVariants
) -> dict[Dimension, LeastLoss]:
    """Return, for each limit of which a plan could use more, the least-loss plan without it.

    Given are the least-loss plan in the lab as it is, and the variants, which amounts leave alone.
    None are returned where that plan gives up nothing.
    """
    if not any(least.rank.given_up):
        return {}
    return {
        dimension: least_loss_of(there, variants=variants if dimension in AMOUNTS else None)
        for dimension in LAB_DIMENSIONS
        if (there := _without(dimension, plan)) is not None
    }


def _without(dimension: Dimension, plan: Assessment) -> Assessment | None:
    """Return the plan in a lab without a limit; None where no plan could use more than it has."""
    asks = list(_all_that_is_missing(dimension, plan))
    return plan.in_lab(with_additions(asks, plan.pack)) if asks else None


def _all_that_is_missing(dimension: Dimension, plan: Assessment) -> Iterator[Addition]:
    """Yield every missing item of a dimension, or what no plan can use up of an amount."""
    lab, has = plan.pack.lab, plan.slack[dimension].limit
    counts = plan.counts._replace(
        samples=most_looked_at(plan.plan, plan.pack),
        days=max(plan.counts.days, lab.days_left),
        own_prices=plan.counts.own_prices + price_range(plan)[1],
    )
    most = {
        Dimension.BUDGET: credits_needed(counts, plan.pack),
        Dimension.SCHEDULE: LARGEST_COUNT,
        Dimension.STAFF: staff(counts, lab.staff_model),
    }
    if dimension in AMOUNTS and most[dimension] > has:
        yield Addition(dimension, has, most[dimension], currency=lab.currency)
    for lacking in plan.pack.resources:
        if not lacking.available and ITEM_DIMENSIONS[lacking.category.value] is dimension:
            yield Addition(dimension, 0, 1, lacking.label)


def extras(
    plan: Assessment, least: LeastLoss, variants: PlanVariants, without: dict[Dimension, LeastLoss]
) -> tuple[SmallestAddition, ...]:
    """Return the smallest addition of each amount that buys something that shows.

    Given are what `unlimited` is given, and the plans that it returned.
    """
    steps = (_Steps(plan, least, variants, d, without[d]) for d in AMOUNTS if d in without)
    return tuple(extra for each in steps if (extra := each.smallest()) is not None)


@dataclass(frozen=True)
class _Steps:
    """The additions of one amount, in whole credits, days or staff units.

    Attributes:
        without: the least-loss plan where the amount is not limited at all.
    """

    plan: Assessment
    least: LeastLoss
    variants: PlanVariants
    dimension: Dimension
    without: LeastLoss
    _found: dict[int, LeastLoss] = field(default_factory=dict)
    _shown: dict[int, LeastLoss | None] = field(default_factory=dict)

    def smallest(self) -> SmallestAddition | None:
        """Return the smallest addition that buys something, None where none does."""
        self._found[self._top] = self.without
        best = self._that_shows(self._top)
        if best is None or not self._gains(best.rank.given_up):
            return None
        enough = self._lacks(best.after)
        more = self._first_gain(enough)
        while (found := self._first_that_shows(more, enough)) is None:
            if enough >= self._top:
                return None
            more, enough = enough + 1, self._top
        return SmallestAddition(self._ask(found), self.least, self._least(found))

    def _gains(self, given_up: GivenUp) -> bool:
        """Return whether less is given up than now, at the precision at which evidence is shown."""
        now = self.least.rank.given_up
        if given_up[:-1] != now[:-1]:
            return given_up < now
        return given_up < now and self._text(given_up) != self._text(now)

    def _text(self, given_up: GivenUp) -> str:
        evidence, lacks = self.plan.evidence, given_up[-1]
        lower = evidence.row.scale.lower_is_better
        return evidence.amount(evidence.target + (lacks if lower else -lacks))

    def _first_gain(self, enough: int) -> int:
        """Return the smallest addition with which a plan that shows something gives up less."""
        # Most often it is what the plan with enough of it needs once its sample is cut to the
        # fewest that show something. Two plans prove that; else all is searched.
        more = min(enough, self._needed_by(enough))
        if not self._buys(more):
            return fewest(self._buys, more + 1, enough)
        return fewest(self._buys, 1, more - 1) if more > 1 and self._buys(more - 1) else more

    def _buys(self, more: int) -> bool:
        """Return whether with so much more a plan that shows something gives up less than now."""
        found = self._that_shows(more)
        return found is not None and self._gains(found.rank.given_up)

    def _needed_by(self, enough: int) -> int:
        """Return how much more a plan needs with the fewest samples that still buy something."""
        least = self._that_shows(enough)
        if least is None:
            return enough
        after, rank = least.after, least.rank
        factor, worth = (
            after.evidence_factor,
            EvidenceCurve(after.pack, max(1, after.evidence.able)),
        )
        wishes = Wishes(after, worth)
        limits, levels = CountLimits(after.pack, box=wishes.around(after)), wishes.levels(factor)

        def missed(samples: int) -> int:
            return sum(level > samples for level in levels)

        def gains(samples: int) -> bool:
            tier, lacks = worth.tier(samples, factor), worth.shortfall(samples, factor)
            broken = rank.wishes - missed(after.evidence.able) + missed(samples)
            return self._gains((rank.failing, tier, broken, rank.loss, lacks))

        counting = fewest(gains, 0, after.evidence.able)
        cut = limits.fewest(after.counts, counting)
        sized = revise(after.plan, sample_size=cut.samples, duration_days=cut.days)
        return self._lacks(assess(sized, after.pack))

    def _lacks(self, plan: Assessment) -> int:
        """Return how much more a plan takes than there is, 1 at least."""
        has = self.plan.slack[self.dimension].limit
        return max(1, ceil(plan.slack[self.dimension].used - has))

    def _first_that_shows(self, low: int, high: int) -> int | None:
        """Return the smallest of these additions whose least-loss plan shows something; or None."""
        # One that shows something never gets worse with more, so where one that shows nothing comes
        # before it at both ends, and gives up no less at the upper one, there is none between.
        at_low, at_high = self._least(low), self._least(high)
        if not at_low.after.evidence.void_reason:
            return low
        same = at_low.rank.given_up <= at_high.rank.given_up
        if low == high or (at_high.after.evidence.void_reason and same):
            return None
        middle = (low + high) // 2
        first = self._first_that_shows(low, middle)
        return self._first_that_shows(middle + 1, high) if first is None else first

    @property
    def _top(self) -> int:
        """An addition beyond which no plan could use any more."""
        [ask] = _all_that_is_missing(self.dimension, self.plan)
        return ceil(ask.more)

    def _ask(self, more: int) -> Addition:
        has = self.plan.slack[self.dimension].limit
        currency = self.plan.pack.lab.currency
        return Addition(self.dimension, has, has + more, currency=currency)

    def _there(self, more: int) -> Assessment:
        return self.plan.in_lab(with_additions([self._ask(more)], self.plan.pack))

    def _least(self, more: int) -> LeastLoss:
        if more not in self._found:
            there = self._there(more)
            self._found[more] = least_loss_of(there, variants=self.variants)
        return self._found[more]

    def _that_shows(self, more: int) -> LeastLoss | None:
        """Return the one that gives up the least of those that show something."""
        if more not in self._shown:
            best = self._least(more)
            void = best.after.evidence.void_reason
            self._shown[more] = least_that_shows(self._there(more), self.variants) if void else best
        return self._shown[more]
