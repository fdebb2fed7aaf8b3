"""Which of the lab's limits binds, and the smallest step beyond one that buys something.

Taking a limit away alone *buys* something where the least-loss plan then gives up less, and shows
something; the *binding* limit is the one whose relief buys most. What a plan uses of a limit is no
measure of that: a budget that is nearly spent costs nothing where more of it would not be used,
and a missing item uses no share of anything.

More of an amount may buy no more: it may let a plan pass that shows nothing, which then is the
least-loss plan, since passing comes first. But of the plans that show something the best never gets
worse with more, and whatever comes before it gives up less. So bisection finds an addition with
which less is given up, the smallest that buys or a smaller; and wherever a plan that shows nothing
comes before there, the rest is searched, except between two additions at which, and so between
which, the same comes before.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

from replicalab.assessment import DIMENSION_ROWS, Assessment, amounts, assess
from replicalab.limits import LARGEST_COUNT
from replicalab.models import Dimension, revise
from replicalab.planner.least_loss import GivenUp, LeastLoss, least_loss_of
from replicalab.planner.limits import CountLimits, EvidenceCurve, fewest, most_looked_at, step_of
from replicalab.planner.shortfalls import Addition, missing_items, with_additions
from replicalab.planner.variants import PlanVariants, price_range


class SmallestAddition(NamedTuple):
    """The smallest addition of an amount that buys something, and the least-loss plan with it."""

    ask: Addition
    before: LeastLoss
    after: LeastLoss


def unlimited(plan: Assessment, variants: PlanVariants) -> dict[str, LeastLoss]:
    """Return, for each limit of which a plan could use more, the least-loss plan without it.

    The variants are those of the lab as it is, which amounts leave alone.
    """
    return {
        key: least_loss_of(existing, variants=variants if row.is_amount else None)
        for key, row in DIMENSION_ROWS.items()
        if row.is_granted and (existing := _without(key, plan)) is not None
    }


def _without(dimension: str, plan: Assessment) -> Assessment | None:
    """Return the plan in a lab without a limit; None where no plan could use more than it has."""
    asks = list(_all_that_is_missing(dimension, plan))
    return plan.in_lab(with_additions(asks, plan.pack)) if asks else None


def _all_that_is_missing(dimension: str, plan: Assessment) -> Iterator[Addition]:
    """Yield every missing item of a dimension, or what no plan can use up of an amount."""
    lab, has = plan.pack.lab, plan.slack[dimension].limit
    counts = plan.counts._replace(
        samples=most_looked_at(plan.plan),
        days=max(plan.counts.days, lab.days_left),
        own_prices=plan.counts.own_prices + price_range(plan)[1],
    )
    if amount := DIMENSION_ROWS[dimension].amount:
        on_days = dimension == Dimension.SCHEDULE
        limit = LARGEST_COUNT if on_days else amount.needed(counts, plan.pack)
        if limit > has:
            yield Addition(dimension, has, limit, currency=lab.currency)
    yield from (ask for ask in missing_items(plan.pack) if ask.dimension == dimension)


def extras(
    plan: Assessment,
    least: LeastLoss,
    variants: PlanVariants,
    study: Assessment,
    without: dict[str, LeastLoss],
) -> tuple[SmallestAddition, ...]:
    """Return the smallest addition of each amount that buys something that shows.

    Args:
        plan: in the lab as it is.
        least: its least-loss plan there.
        variants: the ways to word it there.
        study: the study's own protocol there.
        without: what `unlimited` returned.
    """
    steps = (_Steps(plan, least, variants, study, d, without[d]) for d in amounts() if d in without)
    return tuple(extra for step in steps if (extra := step.smallest()) is not None)


@dataclass(frozen=True)
class _Steps:
    """The additions of one amount, in whole credits, days or staff units.

    Attributes:
        without: the least-loss plan where the amount is not limited at all.
    """

    plan: Assessment
    least: LeastLoss
    variants: PlanVariants
    study: Assessment
    dimension: str
    without: LeastLoss
    _found: dict[int, LeastLoss] = field(default_factory=dict)

    def smallest(self) -> SmallestAddition | None:
        """Return the smallest addition that buys something, None where none does."""
        self._found[self._top] = self.without
        number = None
        if self._gains_by(self.without):
            number = self._first_to_buy(self._first_gain(), self._top)
        if number is None:
            return None
        return SmallestAddition(self._ask(number), self.least, self._least(number))

    def _gains(self, given_up: GivenUp, shown: str) -> bool:
        now = self.least.rank.given_up
        same = given_up[:-1] == now[:-1] and shown == self.least.after.evidence.number
        return given_up < now and not same

    def _gains_by(self, least: LeastLoss) -> bool:
        return self._gains(least.rank.given_up, least.after.evidence.number)

    def _first_gain(self) -> int:
        """Return an addition with which less is given up, the smallest that buys or a smaller."""
        # Most often it is what the best of all needs once its sample is cut to the fewest that gain
        # something. Two plans prove that; else all is searched.
        extra = self._needed_by_fewest()
        minimum = self._least_useful
        low = minimum if extra > minimum and self._gains_with(extra - 1) else max(minimum, extra)
        return fewest(self._gains_with, low, self._top)

    @property
    def _least_useful(self) -> int:
        """The smallest addition that may buy something: with fewer days the endpoint is lost."""
        pack = self.plan.pack
        on_days = self.dimension == Dimension.SCHEDULE
        return max(1, pack.min_days - pack.lab.days_left) if on_days else 1

    def _gains_with(self, more: int) -> bool:
        return self._gains_by(self._least(more))

    def _needed_by_fewest(self) -> int:
        """Return how much more a plan needs with the fewest samples that still gain something."""
        after, rank, factor = (
            self.without.after,
            self.without.rank,
            self.without.after.evidence_factor,
        )
        worth = EvidenceCurve(after.pack, after.evidence.able)
        study = step_of(self.study.evidence, after.pack.design)

        def gains(samples: int) -> bool:
            evidence = max(study, worth.step(samples, factor))
            reached = rank._replace(tier=worth.tier(samples, factor), evidence=evidence)
            text = after.evidence.amount(worth.value(samples, factor))
            return self._gains(reached.given_up, text)

        counting = fewest(gains, 0, after.evidence.able)
        cut = CountLimits(after.pack).fewest(after.counts, counting)
        sized = revise(after.plan, sample_size=cut.samples, duration_days=cut.days)
        slack = assess(sized, after.pack).slack[self.dimension]
        return max(1, ceil(slack.used - self.plan.slack[self.dimension].limit))

    def _buys(self, more: int) -> bool:
        return self._gains_with(more) and not self._least(more).after.evidence.void_reason

    def _first_to_buy(self, low: int, high: int) -> int | None:
        """Return the smallest of these additions that buys something, None where none does."""
        if self._buys(low):
            return low
        # What comes before at both ends does so between them, unless it is there at the lower end
        # only: an offer of the Lab Manager's in fewer days than the endpoint needs, whose sample is
        # halved as often as it must be.
        at_low, at_high = self._least(low), self._least(high)
        stays = at_low.plan == at_high.plan or not at_low.rank.endpoint_lost
        same = at_low.rank.given_up <= at_high.rank.given_up
        if stays and same and not self._buys(high):
            return None
        # In doubled steps first: most often no more than a little is needed.
        middle = min((low + high) // 2, 2 * low)
        first = self._first_to_buy(low, middle)
        return self._first_to_buy(middle + 1, high) if first is None else first

    @property
    def _top(self) -> int:
        """An addition beyond which no plan could use any more."""
        [ask] = _all_that_is_missing(self.dimension, self.plan)
        return ceil(ask.more)

    def _ask(self, more: int) -> Addition:
        has = self.plan.slack[self.dimension].limit
        currency = self.plan.pack.lab.currency
        return Addition(self.dimension, has, has + more, currency=currency)

    def _least(self, more: int) -> LeastLoss:
        if more not in self._found:
            plan = self.plan.in_lab(with_additions([self._ask(more)], self.plan.pack))
            self._found[more] = least_loss_of(plan, variants=self.variants)
        return self._found[more]
