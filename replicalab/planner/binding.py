"""Which of the lab's limits binds, and the smallest step beyond one that buys something.

Taking a limit away alone *buys* something where the least-loss plan then gives up less, and shows
something; the *binding* limit is the one whose relief buys most. What a plan uses of a limit is no
measure of that: a budget that is nearly spent costs nothing where more of it would not be used,
and a missing item uses no share of anything.

More of an amount never means that more has to be given up, so the smallest addition that buys
something is found by bisection, below what the plan without the limit uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

from replicalab.assessment import (
    AMOUNTS,
    DIMENSION_ROWS,
    Assessment,
    assess,
    credits_needed,
    staff,
)
from replicalab.models import LAB_DIMENSIONS, LARGEST_COUNT, Dimension, revise
from replicalab.planner.asks import Ask, granted
from replicalab.planner.least_loss import (
    GivenUp,
    LeastLoss,
    gives_up_less,
    least_loss_of,
)
from replicalab.planner.limits import Limits, Worth, asked_samples, fewest, most_looked_at
from replicalab.planner.wordings import ITEM_DIMENSIONS, Wordings, price_range


class Extra(NamedTuple):
    """The smallest addition of an amount that buys something, and the least-loss plan with it."""

    ask: Ask
    before: LeastLoss
    after: LeastLoss


def relieved(plan: Assessment, least: LeastLoss, found: Wordings) -> dict[Dimension, LeastLoss]:
    """Return, for each limit whose relief alone buys something, the least-loss plan without it.

    Given are the least-loss plan in the lab as it is, and the wordings, which amounts leave alone.
    """
    if _gives_up_nothing(plan, least):
        return {}
    without = {
        dimension: least_loss_of(there, found=found if dimension in AMOUNTS else None)
        for dimension in LAB_DIMENSIONS
        if (there := _without(dimension, plan)) is not None
    }
    return {d: each for d, each in without.items() if gives_up_less(each, least)}


def _gives_up_nothing(plan: Assessment, least: LeastLoss) -> bool:
    """Return whether a plan passes as it is, meets the target, and has all that is asked for."""
    return (
        least.plan == plan.plan
        and least.rank[:3] == (0, 0, 0)
        and plan.counts.samples >= asked_samples(plan.plan, plan.pack)
    )


def _without(dimension: Dimension, plan: Assessment) -> Assessment | None:
    """Return the plan in a lab without a limit; None where no plan could use more than it has."""
    asks = list(_all_that_is_missing(dimension, plan))
    return plan.in_lab(granted(asks, plan.pack)) if asks else None


def _all_that_is_missing(dimension: Dimension, plan: Assessment) -> Iterator[Ask]:
    """Yield every missing item of a dimension, or what no plan can use up of an amount."""
    lab, has = plan.pack.lab, DIMENSION_ROWS[dimension].limit(plan)
    counts = plan.counts._replace(
        samples=most_looked_at(plan.plan, plan.pack),
        days=max(plan.counts.days, lab.days_left),
        own_prices=plan.counts.own_prices + price_range(plan)[1],
    )
    most = {
        Dimension.BUDGET: credits_needed(counts, lab.cost_model),
        Dimension.SCHEDULE: LARGEST_COUNT,
        Dimension.STAFF: staff(counts, lab.staff_model),
    }
    if dimension in AMOUNTS and most[dimension] > has:
        yield Ask(dimension, has, most[dimension])
    for lacking in plan.pack.resources:
        if not lacking.available and ITEM_DIMENSIONS[lacking.category.value] is dimension:
            yield Ask(dimension, 0, 1, lacking.label)


def extras(
    plan: Assessment, least: LeastLoss, found: Wordings, without: dict[Dimension, LeastLoss]
) -> tuple[Extra, ...]:
    """Return the smallest addition of each amount that buys something that shows.

    Given are, beside what `relieved` is given, the plans that it returned.
    """
    steps = (_Steps(plan, least, found, d, without[d]) for d in AMOUNTS if d in without)
    return tuple(each.smallest() for each in steps if each.shows(each.without.rank.given_up))


@dataclass(frozen=True)
class _Steps:
    """The additions of one amount, in whole credits, days or staff units.

    Attributes:
        without: the least-loss plan where the amount is not limited at all.
    """

    plan: Assessment
    least: LeastLoss
    wordings: Wordings
    dimension: Dimension
    without: LeastLoss
    _found: dict[int, LeastLoss] = field(default_factory=dict)

    def shows(self, given_up: GivenUp, now: GivenUp | None = None) -> bool:
        """Return whether less is given up, at the precision at which evidence is shown."""
        now = now or self.least.rank.given_up
        if given_up[:3] != now[:3]:
            return given_up < now
        return given_up < now and self._shown(given_up) != self._shown(now)

    def _shown(self, given_up: GivenUp) -> str:
        evidence, shortfall = self.plan.evidence, given_up[-1]
        return evidence.amount(shortfall if evidence.row.scale.lower_is_better else -shortfall)

    def smallest(self) -> Extra:
        """Return the smallest addition that buys something.

        Most often it is what the plan with enough of it needs once its sample is cut to the fewest
        that show something. Two plans prove that; else all is searched.
        """
        enough = self._enough()
        more = min(enough, self._needed_by(self._least(enough)))
        if not self._buys(more):
            more = fewest(self._buys, more + 1, enough)
        elif more > 1 and self._buys(more - 1):
            more = fewest(self._buys, 1, more - 1)
        return Extra(self._ask(more), self.least, self._least(more))

    def _needed_by(self, least: LeastLoss) -> int:
        """Return how much more a plan needs with the fewest samples that still buy something."""
        after = least.after
        limits, factor = Limits(after.pack), after.evidence_factor
        worth = Worth(after.pack, after.counts.samples, limits.endpoint_lost)

        def shows(samples: int) -> bool:
            tier, lost = worth.tier(samples, factor), worth.shortfall(samples, factor)
            return self.shows((least.rank.failing, tier, least.rank.loss, lost))

        low = min(limits.fewest_samples(after.counts.controls), after.counts.samples)
        samples = fewest(shows, low, after.counts.samples)
        days = limits.fewest_days(samples)
        cut = assess(revise(after.plan, sample_size=samples, duration_days=days), after.pack)
        row = DIMENSION_ROWS[self.dimension]
        return max(1, ceil(row.used(cut) - row.limit(self.plan)))

    def _enough(self) -> int:
        """Return an addition that buys something: what the plan without the limit uses more."""
        row = DIMENSION_ROWS[self.dimension]
        more = max(1, ceil(row.used(self.without.after) - row.limit(self.plan)))
        while not self._buys(more):
            more *= 2
        return more

    def _ask(self, more: int) -> Ask:
        has = DIMENSION_ROWS[self.dimension].limit(self.plan)
        return Ask(self.dimension, has, has + more)

    def _there(self, ask: Ask) -> Assessment:
        return self.plan.in_lab(granted([ask], self.plan.pack))

    def _least(self, more: int) -> LeastLoss:
        if more not in self._found:
            there = self._there(self._ask(more))
            self._found[more] = least_loss_of(there, found=self.wordings)
        return self._found[more]

    def _buys(self, more: int) -> bool:
        least = self._least(more)
        return gives_up_less(least, self.least) and self.shows(least.rank.given_up)
