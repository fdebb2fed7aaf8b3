"""Every smallest combination of means with which a lab reaches a goal: what it would take, whole.

There are five means: more credits, more days, more staff units, a later start, by which booked
items come free, and items that are released or restocked. A combination is *smaller* than another
where it asks no more of any mean and less of one. Those are found that reach the goal and of which
no smaller one does.

**How**. Which items are free decides how a plan can be worded, and of each wording one plan needs
the least of all three amounts at once: the fewest samples that reach a tier of evidence, in the
fewest days in which they count. So for every set of the items that the lab lacks, each wording in a
lab that has them free says what it needs, and which of the lacking items it lists. These are
released, or free by a later start, from which the days are counted then. Every smallest combination
is one of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import chain, islice
from itertools import combinations as sets_of
from typing import Final, NamedTuple

from replicalab.assessment import AMOUNTS, Assessment
from replicalab.lexicon import label_key
from replicalab.models import Dimension, Protocol, Record, revise
from replicalab.planner.least_loss import least_loss_of
from replicalab.planner.limits import TIER_RANK
from replicalab.planner.shortfalls import Addition, AdditionSearch, Means, with_additions
from replicalab.planner.variants import PlanVariant, variants_of
from replicalab.scenarios import EvidenceTier, Pack
from replicalab.scenarios.fields import Rate

MOST_SETS: Final = 256
"""So many sets of items are tried, all of those of eight items; of more items the smallest sets."""
MOST_WORDINGS: Final = 10_000
"""So many wordings are asked what they need; no further set is tried then."""


class Goal(StrEnum):
    """What is to be reached: the study's target, its floor, or the plan exactly as it is."""

    TARGET = "target"
    FLOOR = "floor"
    PLAN = "plan"


_TIERS: Final = {
    Goal.TARGET: TIER_RANK[EvidenceTier.MEETS_TARGET],
    Goal.FLOOR: TIER_RANK[EvidenceTier.ABOVE_FLOOR],
}


class MeansPrices(Record):
    """What means other than credits are worth to whoever asks, in credits; None where nobody says.

    Attributes:
        day: of one more day.
        staff: of one more staff unit.
        item: of each item that is released or restocked.
    """

    day: Rate | None = None
    staff: Rate | None = None
    item: Rate | None = None

    @property
    def given(self) -> bool:
        """Whether any is."""
        return any(price is not None for price in vars(self).values())


class Aim(NamedTuple):
    """A goal, and the prices by which the combinations that reach it are ranked."""

    goal: Goal
    prices: MeansPrices = MeansPrices()


@dataclass(frozen=True)
class Combination:
    """A combination of means that reaches a goal, and of which no smaller one does.

    Attributes:
        goal: that it reaches.
        start_day: on which work begins; the lab's own where nobody waits.
        asks: what is added: amounts, the days counted from that day, then items.
    """

    goal: Goal
    start_day: int
    asks: tuple[Addition, ...]
    _yours: Assessment = field(repr=False, compare=False)
    _smallest: Protocol = field(repr=False, compare=False)

    @property
    def waits(self) -> int:
        """How many days later work begins than the lab begins now."""
        return self.start_day - self._yours.pack.lab.start_day

    @property
    def kinds(self) -> int:
        """How many kinds of means it takes: amounts, a later start, items."""
        amounts = sum(ask.item is None for ask in self.asks)
        return amounts + bool(self.items) + (self.waits > 0)

    def more(self, dimension: Dimension) -> float:
        """Return how much more of an amount it takes."""
        return sum(ask.more for ask in self.asks if ask.dimension is dimension)

    @property
    def items(self) -> tuple[str, ...]:
        """The items that are released or restocked."""
        return tuple(ask.item for ask in self.asks if ask.item is not None)

    def price(self, prices: MeansPrices) -> float | None:
        """Return what it is worth in credits, a later start at nothing; None if a price lacks."""
        terms = (
            (self.more(Dimension.BUDGET), 1.0),
            (self.more(Dimension.SCHEDULE), prices.day),
            (self.more(Dimension.STAFF), prices.staff),
            (len(self.items), prices.item),
        )
        priced = [(number, each) for number, each in terms if number]
        if any(each is None for _, each in priced):
            return None
        return sum(number * (each or 0.0) for number, each in priced)

    @cached_property
    def pack(self) -> Pack:
        """The study in the lab with it."""
        return with_additions(self.asks, _starting(self._yours.pack, self.start_day))

    @cached_property
    def plan(self) -> Assessment:
        """The plan that it buys, in that lab: the one that gives up the least and reaches the goal.

        Of the goal ``PLAN`` the plan itself.
        """
        there = self._yours.in_lab(self.pack)
        if self.goal is Goal.PLAN:
            return there
        least = least_loss_of(there).after
        # Where a search was cut short its best may miss a goal that is known to be reached.
        return least if _reaches(least, self.goal) else there.revised(self._smallest)

    @property
    def free(self) -> tuple[str, ...]:
        """The items of that plan that are booked now and free by then."""
        now, labels = self._yours.pack.inventory, {i.key: i.label for i in self.plan.items}
        ends = ((label, now.booked_until(key)) for key, label in labels.items())
        return tuple(label for label, day in ends if day is not None and day < self.start_day)

    def order(self, prices: MeansPrices) -> tuple[object, ...]:
        """Return what combinations are ranked by: price where it is known, kinds of means, credits.

        Those of which no price is known come after all others.
        """
        price = self.price(prices) if prices.given else None
        amounts = [self.more(dimension) for dimension in AMOUNTS]
        ties = len(self.items), self.waits, self.items
        return price is None, price or 0.0, self.kinds, *amounts, *ties


@dataclass(frozen=True)
class Combinations:
    """The combinations that reach a goal.

    Attributes:
        found: all that are the smallest, by kinds of means, then credits; one that asks for nothing
            where the goal is reached already, none where no means reach it.
        exact: whether all were searched; else these are the smallest of those that were.
    """

    goal: Goal
    found: tuple[Combination, ...]
    exact: bool = True

    @property
    def reached(self) -> bool:
        """Whether the lab reaches the goal as it is."""
        return any(not each.kinds for each in self.found)

    @property
    def by_money(self) -> Combination | None:
        """The one that asks for credits alone; None where no credits alone are enough."""
        budget = (Dimension.BUDGET,)
        found = (
            c for c in self.found if not c.waits and tuple(a.dimension for a in c.asks) == budget
        )
        return next(found, None)

    def ranked(self, prices: MeansPrices) -> list[Combination]:
        """Return them by price, where prices are given; else as they are."""
        return sorted(self.found, key=lambda each: each.order(prices))


def combinations_of(additions: AdditionSearch, goal: Goal) -> Combinations:
    """Return every smallest combination with which a plan, adapted to its lab, reaches a goal."""
    search = _Search(additions, goal)
    if goal is Goal.PLAN:
        reached, exact = [*search.as_it_is()], True
    else:
        reached, exact = search.worded()
    found = sorted(search.smallest(reached), key=lambda each: each.order(MeansPrices()))
    return Combinations(goal, tuple(found), exact)


def _reaches(plan: Assessment, goal: Goal) -> bool:
    return plan.feasible and TIER_RANK[plan.evidence.tier] <= _TIERS[goal]


def _starting(pack: Pack, day: int) -> Pack:
    return pack if day == pack.lab.start_day else pack.in_lab(pack.lab.with_means(start_day=day))


# --- the search -----------------------------------------------------------------------------


class _Reached(NamedTuple):
    """A plan that reaches the goal: what it needs of the amounts, and of the lacking items."""

    needs: Means
    items: frozenset[str]
    variant: PlanVariant | None


class _Asked(NamedTuple):
    """What a combination asks for: more of each amount, a start, and the keys of items."""

    amounts: Means
    start: int
    items: frozenset[str]

    def no_more_than(self, other: _Asked) -> bool:
        """Return whether it asks no more of any mean."""
        return (
            self.start <= other.start
            and self.items <= other.items
            and all(one <= two for one, two in zip(self.amounts, other.amounts, strict=True))
        )


@dataclass(frozen=True)
class _Search:
    """The search for the combinations of one plan and one goal."""

    additions: AdditionSearch
    goal: Goal

    @property
    def plan(self) -> Assessment:
        return self.additions.plan

    @cached_property
    def lacking(self) -> dict[str, Addition]:
        """An ask for each item that the plan could use and the lab lacks, by key."""
        return {label_key(ask.item or ""): ask for ask in self.additions.items}

    @cached_property
    def until(self) -> dict[str, int]:
        """The last day on which each of them is booked, of those that are."""
        booked = {key: self.plan.pack.inventory.booked_until(key) for key in self.lacking}
        return {key: day for key, day in booked.items() if day is not None}

    # --- what reaches the goal --------------------------------------------------------------

    def as_it_is(self) -> Iterator[_Reached]:
        """Yield the plan itself, where means make it feasible."""
        items = frozenset(item.key for item in self.plan.items if item.key in self.lacking)
        needs = self.plan.cost, self.plan.counts.days, self.plan.staff
        amounts = self._amounts(self.additions.has, needs)
        asks = (*amounts, *(self.lacking[key] for key in items))
        if self.plan.in_lab(with_additions(asks, self.plan.pack)).feasible:
            yield _Reached(needs, items, None)

    def worded(self) -> tuple[list[_Reached], bool]:
        """Return each wording with what it needs to reach the goal; and whether these are all."""
        tier = [*EvidenceTier][_TIERS[self.goal]]
        found: dict[tuple[Means, frozenset[str]], _Reached] = {}
        exact, left = 2 ** len(self.lacking) <= MOST_SETS, MOST_WORDINGS
        for free in islice(self._sets(), MOST_SETS):
            if left <= 0:
                return [*found.values()], False
            pack = with_additions((self.lacking[key] for key in free), self.plan.pack)
            variants = variants_of(self.plan.in_lab(pack))
            exact, left = exact and variants.exact, left - len(variants.listed)
            for variant in variants.listed:
                if not variant.failing and (needs := self.additions.needs(variant, tier)):
                    items = self._listed(variant).intersection(self.lacking)
                    found.setdefault((needs, items), _Reached(needs, items, variant))
        return [*found.values()], exact

    def _sets(self) -> Iterator[frozenset[str]]:
        """Yield the sets of lacking items, each once: the plan's own, all, then the smallest."""
        own = frozenset(item.key for item in self.plan.items if item.key in self.lacking)
        first = dict.fromkeys((frozenset[str](), own, frozenset(self.lacking)))
        sizes = range(1, len(self.lacking))
        others = chain.from_iterable(sets_of(self.lacking, size) for size in sizes)
        yield from first
        yield from (one for one in map(frozenset, others) if one not in first)

    def _listed(self, variant: PlanVariant) -> frozenset[str]:
        """Return the keys of the items that the plan lists when it is worded so."""
        gone = {(swap.item.field, swap.item.label) for swap in variant.swaps}
        stay = (i.label for i in self.plan.items if (i.field, i.label) not in gone)
        return frozenset(map(label_key, chain(stay, (swap.alternative for swap in variant.swaps))))

    # --- the smallest -----------------------------------------------------------------------

    def smallest(self, reached: Iterable[_Reached]) -> Iterator[Combination]:
        """Yield the combinations of which no smaller one reaches the goal."""
        asked: dict[_Asked, _Reached] = {}
        for each in reached:
            for start in self._starts(each.items):
                asked.setdefault(self._asked(each, start), each)
        found: list[_Asked] = []
        # One that asks for less comes first, so none that is kept has to go again.
        for one in sorted(asked, key=lambda each: (each.amounts, each.start, len(each.items))):
            if not any(other.no_more_than(one) for other in found):
                found.append(one)
                yield self._combination(one, asked[one])

    def _starts(self, items: frozenset[str]) -> list[int]:
        """Return the lab's start day, and the days after one of these items' bookings ends."""
        ends = {self.until[key] + 1 for key in items if key in self.until}
        return [self.plan.pack.lab.start_day, *ends]

    def _asked(self, each: _Reached, start: int) -> _Asked:
        short = zip(each.needs, self._has(start), strict=True)
        amounts = tuple(max(0.0, need - has) for need, has in short)
        return _Asked(amounts, start, each.items - self._free(start))

    def _has(self, start: int) -> Means:
        """Return what the lab has of the amounts; days below 0 where it ends before that day."""
        budget, days, people = self.additions.has
        return budget, days - (start - self.plan.pack.lab.start_day), people

    def _free(self, start: int) -> frozenset[str]:
        """Return the keys of the items that are booked now and free from that day on."""
        return frozenset(key for key, until in self.until.items() if until < start)

    def _combination(self, asked: _Asked, each: _Reached) -> Combination:
        amounts = self._amounts(self._has(asked.start), each.needs)
        items = [ask for key, ask in self.lacking.items() if key in asked.items]
        smallest = self._smallest_plan(each.variant)
        return Combination(self.goal, asked.start, (*amounts, *items), self.plan, smallest)

    def _amounts(self, has: Means, needs: Means) -> list[Addition]:
        """Return an ask for each amount of which more is needed than there is."""
        currency, rows = self.plan.pack.lab.currency, zip(AMOUNTS, has, needs, strict=True)
        return [
            Addition(each, there, need, currency=currency)
            for each, there, need in rows
            if need > there
        ]

    def _smallest_plan(self, variant: PlanVariant | None) -> Protocol:
        """Return the plan that needs the least when it is worded so."""
        counts = variant and self.additions.counts(variant, [*EvidenceTier][_TIERS[self.goal]])
        if not variant or not counts:
            return self.plan.plan
        worded = variant.applied_to(self.plan.plan)
        return revise(worded, sample_size=counts.samples, duration_days=counts.days)
