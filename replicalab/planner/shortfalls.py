"""Additions to a lab: those that a plan needs, single ones that suffice, and the binding limit.

The best plan with evidence never gets worse with more of an amount, so bisection finds the smallest
addition. The *binding* limit is the one whose relief helps most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from typing import Any, Final, NamedTuple

from replicalab import assessment
from replicalab.lexicon import CREDITS, joined, label_key
from replicalab.limits import LARGEST_COUNT, MOST_ITEMS_TRIED
from replicalab.models import Dimension, NotebookView, Protocol, revise
from replicalab.planner import sample_limits
from replicalab.planner.least_loss import GivenUp, LeastLoss, PlanStep, gives_up_less, least_loss_of
from replicalab.planner.variants import PlanVariant, PlanVariants, price_range
from replicalab.scenarios import MISSING, Control, EvidenceTier, Item, Pack

_DIGITS: Final = 6


@dataclass(frozen=True)
class Addition:
    """An addition to the lab: credits, days, staff units, or an item (``has`` 0, ``needs`` 1)."""

    dimension: str
    has: float
    needs: float
    item: str | None = None
    currency: str = CREDITS

    @property
    def more(self) -> float:
        """The missing amount; credits to a millionth."""
        return round(self.needs - self.has, _DIGITS)

    @property
    def share(self) -> float:
        return self.more / self.has if self.has else 1.0

    @property
    def text(self) -> str:
        """The addition in words: ``10 more credits``, ``'flume' released``."""
        if self.item is not None:
            return f"'{self.item}' {assessment.DIMENSION_ROWS[self.dimension].granted}"
        return self.amount_text("more")

    def amount_text(self, word: str = "") -> str:
        return assessment.DIMENSION_ROWS[self.dimension].amount_text(self.more, self.currency, word)


def additions_text(additions: Iterable[Addition]) -> str:
    return joined([ask.text for ask in additions])


@dataclass(frozen=True)
class Shortfall:
    """The smallest additions with which one plan is feasible in a lab."""

    judged: assessment.Assessment  # the plan, in the lab as it is
    asks: tuple[Addition, ...]  # the additions, which together are enough
    failing: tuple[str, ...]  # the dimensions that fail whatever the lab adds

    @property
    def plan(self) -> Protocol:
        return self.judged.plan

    @property
    def possible(self) -> bool:
        return not self.failing


class SingleAddition(NamedTuple):
    """A single addition that is enough for a tier of evidence once the plan is adapted."""

    ask: Addition
    tier: EvidenceTier
    least: LeastLoss  # the least-loss plan in the lab with it
    dropped: tuple[Control, ...] = ()  # the controls that this plan drops
    to_keep: Addition | None = None  # the addition that keeps them, if any suffices


class LaterStart(NamedTuple):
    """A later start, by which booked ``items`` are free, with its least-loss plan."""

    start_day: int
    items: tuple[str, ...]
    least: LeastLoss


@dataclass(frozen=True)
class Shortfalls(NotebookView):
    """The additions that a plan needs to run and to reach its target."""

    plan: assessment.Assessment
    least: LeastLoss = field(repr=False)
    variants: PlanVariants = field(repr=False)

    @cached_property
    def run(self) -> Shortfall:
        return shortfall_of(self.plan)

    @cached_property
    def target(self) -> Shortfall | None:
        """The additions for the target with the plan's items and controls, if reachable."""
        as_is = PlanVariant(controls=self.plan.counts.controls, factor=self.plan.evidence_factor)
        counts = self._counts(as_is, EvidenceTier.MEETS_TARGET)
        if counts is None:
            return None
        sized = revise(self.plan.plan, sample_size=counts.samples, duration_days=counts.days)
        return shortfall_of(assessment.assess(sized, self.plan.pack))

    @cached_property
    def alone_target(self) -> tuple[SingleAddition, ...]:
        """The single additions that suffice for the target, smallest share first."""
        return tuple(self._singles_for(EvidenceTier.MEETS_TARGET))

    @cached_property
    def alone_floor(self) -> tuple[SingleAddition, ...]:
        return tuple(self._singles_for(EvidenceTier.ABOVE_FLOOR))

    @property
    def singles(self) -> tuple[SingleAddition, ...]:
        """The single additions for the target, then those for the floor only."""
        enough = {single.ask for single in self.alone_target}
        return (*self.alone_target, *(s for s in self.alone_floor if s.ask not in enough))

    @cached_property
    def waits(self) -> tuple[LaterStart, ...]:
        """Each later start with a better plan than all earlier ones, best first."""
        # Only the end of a booking makes anything free.
        pack, best, starts = self.plan.pack, self.least, list[LaterStart]()
        labels = [ask.item or "" for ask in self._items]
        booked = {label: pack.inventory.booked_until(label) or pack.lab.days for label in labels}
        ends = sorted({until for until in booked.values() if until < pack.lab.days})
        for last in ends[:MOST_ITEMS_TRIED]:
            later = pack.in_lab(pack.lab.with_means(start_day=last + 1))
            loss = least_loss_of(self.plan.in_lab(later))
            if gives_up_less(loss, best):
                free = tuple(label for label, until in booked.items() if until <= last)
                starts.append(LaterStart(last + 1, free, loss))
                best = loss
        return tuple(reversed(starts))

    @cached_property
    def _curve(self) -> sample_limits.EvidenceCurve:
        return sample_limits.EvidenceCurve(
            self.plan.pack, sample_limits.most_looked_at(self.plan.plan)
        )

    @cached_property
    def _limits(self) -> sample_limits.CountLimits:
        return sample_limits.CountLimits(self.plan.pack, frozenset({Dimension.SCHEDULE}))

    def _counts(self, variant: PlanVariant, tier: EvidenceTier) -> assessment.Counts | None:
        needed = self._curve.needed(sample_limits.TIER_RANK[tier], variant.factor)
        allowed = self._curve.allowed(variant.factor)
        if needed is None or allowed is None:
            return None
        counts = self._limits.fewest(variant.counts(self.plan.counts), max(needed, allowed))
        return counts if self._limits.within(counts) else None

    def _singles_for(self, tier: EvidenceTier) -> Iterator[SingleAddition]:
        if self._reaches(self.least, tier):
            return
        pairs = [(ask, self._least_with(ask, self.variants)) for ask in self._sufficient(tier)]
        if self._amounts_allow(tier):
            pairs += [pair for pair in self._with_items if self._reaches(pair[1], tier)]
        for ask, loss in sorted(pairs, key=lambda pair: pair[0].share):
            dropped, addition = tuple(PlanStep(self.plan, loss.after).newly_dropped), None
            if dropped and ask.item is None:
                enough = self._sufficient(tier, controls_stay=True)
                addition = next((a for a in enough if a.dimension is ask.dimension), None)
            yield SingleAddition(ask, tier, loss, dropped, addition)

    def _reaches(self, least: LeastLoss, tier: EvidenceTier) -> bool:
        return least.after.feasible and least.rank.tier <= sample_limits.TIER_RANK[tier]

    def _least_with(self, ask: Addition, variants: PlanVariants | None = None) -> LeastLoss:
        pack = with_additions([ask], self.plan.pack)
        return least_loss_of(self.plan.in_lab(pack), variants=variants)

    def _sufficient(self, tier: EvidenceTier, *, controls_stay: bool = False) -> Iterator[Addition]:
        # One addition is enough if no other amount is short for the fewest samples and days.
        usable = [
            self._needs(variant, tier)
            for variant in self.variants.listed
            if not variant.failing and not (controls_stay and variant.dropped)
        ]
        for place, (dimension, limit) in enumerate(assessment.lab_limits().items()):
            alone = limit.grant and [
                needs[place] for needs in usable if needs and self._lacking(needs) == [place]
            ]
            if alone:
                currency = self.plan.pack.lab.currency
                yield Addition(dimension, self._available[place], min(alone), currency=currency)

    def _needs(self, variant: PlanVariant, tier: EvidenceTier) -> list[float] | None:
        counts, limits = self._counts(variant, tier), assessment.lab_limits().values()
        return counts and [limit.needed(counts, self.plan.pack) for limit in limits]

    @cached_property
    def _available(self) -> list[float]:
        return [limit.has(self.plan.pack.lab) for limit in assessment.lab_limits().values()]

    def _lacking(self, needs: list[float]) -> list[int]:
        return [place for place, need in enumerate(needs) if need > self._available[place]]

    @cached_property
    def _items(self) -> list[Addition]:
        return missing_items(self.plan)

    @cached_property
    def _with_items(self) -> list[tuple[Addition, LeastLoss]]:
        return [(ask, self._least_with(ask)) for ask in self._items[:MOST_ITEMS_TRIED]]

    def _amounts_allow(self, tier: EvidenceTier) -> bool:
        # If the amounts do not suffice with the fewest controls and the cheapest replacements, no
        # item can be enough.
        fewest = min(variant.controls for variant in self.variants.listed)
        needs = self._needs(PlanVariant(controls=fewest, price=price_range(self.plan)[0]), tier)
        return needs is not None and not self._lacking(needs)


def shortfall_of(plan: assessment.Assessment) -> Shortfall:
    lacks = [plan.slack[key] for key, limit in assessment.lab_limits().items() if limit.grant]
    currency = plan.pack.lab.currency
    additions = [
        Addition(lack.dimension, lack.limit, lack.used, currency=currency)
        for lack in lacks
        if lack.slack < 0
    ] + _missing(plan.items)
    failing = plan.in_lab(with_additions(additions, plan.pack)).failing
    return Shortfall(plan, tuple(additions), tuple(failing))


def _missing(items: Iterable[Item]) -> list[Addition]:
    additions: dict[str, Addition] = {}
    for item in items:
        if item.status in MISSING:
            dimension = assessment.ITEM_DIMENSIONS[item.category]
            additions.setdefault(item.key, Addition(dimension, 0, 1, item.label))
    return list(additions.values())


def missing_items(plan: assessment.Assessment) -> list[Addition]:
    """Return the missing items that the plan lists, then those that may replace one."""
    useful = {item.key for item in plan.items}
    rows = plan.pack.allowed_substitutions
    useful |= {label_key(row.alternative) for row in rows if label_key(row.original) in useful}
    others = [item for item in plan.pack.inventory.listed if item.key in useful]
    return _missing([*plan.items, *others])


def with_additions(additions: Iterable[Addition], pack: Pack) -> Pack:
    means, released = dict[str, Any](), list[str]()
    for ask in additions:
        limit = assessment.DIMENSION_ROWS[ask.dimension].lab_limit
        if ask.item is not None:
            released.append(ask.item)
        elif limit and limit.grant:
            means.update(limit.grant(pack.lab, ask.needs))
    return pack.in_lab(pack.lab.with_means(**means, released=released))


class SmallestAddition(NamedTuple):
    """The smallest addition of an amount that buys something, and the least-loss plan with it."""

    ask: Addition
    before: LeastLoss
    after: LeastLoss


def unlimited(
    least: LeastLoss, variants: PlanVariants, study: assessment.Assessment
) -> dict[str, LeastLoss]:
    """Return by limit the least-loss plan without it; empty if nothing is given up."""
    plan = least.before
    best = (0, 0, 0, 0, 0, sample_limits.step_of(study.evidence, plan.pack.design))
    if least.rank.given_up == best:
        return {}
    plans = {}
    for key, row in assessment.DIMENSION_ROWS.items():
        if row.is_addable and (asks := _all_that_is_missing(key, plan)):
            lab = plan.in_lab(with_additions(asks, plan.pack))
            plans[key] = least_loss_of(lab, variants=variants if row.lab_limit else None)
    return plans


def _all_that_is_missing(dimension: str, plan: assessment.Assessment) -> list[Addition]:
    lab, limit = plan.pack.lab, assessment.DIMENSION_ROWS[dimension].lab_limit
    if limit is None:
        return [ask for ask in missing_items(plan) if ask.dimension == dimension]
    counts = plan.counts._replace(
        samples=sample_limits.most_looked_at(plan.plan),
        days=max(plan.counts.days, lab.days_left),
        own_prices=plan.counts.own_prices + price_range(plan)[1],
    )
    on_days = dimension == Dimension.SCHEDULE
    has, most = limit.has(lab), LARGEST_COUNT if on_days else limit.needed(counts, plan.pack)
    return [Addition(dimension, has, most, currency=lab.currency)] if most > has else []


def extras(
    least: LeastLoss,
    variants: PlanVariants,
    study: assessment.Assessment,
    unlimited_plans: dict[str, LeastLoss],
) -> tuple[SmallestAddition, ...]:
    """Return the smallest addition of each amount that buys something; see `unlimited`."""
    keys = [key for key in assessment.lab_limits() if key in unlimited_plans]
    steps = (_AdditionSearch(least, variants, study, key, unlimited_plans[key]) for key in keys)
    return tuple(extra for step in steps if (extra := step.smallest()) is not None)


@dataclass(frozen=True)
class _AdditionSearch:
    least: LeastLoss
    variants: PlanVariants
    study: assessment.Assessment
    dimension: str
    unlimited: LeastLoss
    _least_by_size: dict[int, LeastLoss] = field(default_factory=dict)

    @property
    def plan(self) -> assessment.Assessment:
        return self.least.before

    def smallest(self) -> SmallestAddition | None:
        self._least_by_size[self._top] = self.unlimited
        if not self._gains_with(self._top):
            return None
        if (number := self._first_to_buy(self._first_gain(), self._top)) is None:
            return None
        return SmallestAddition(self._ask(number), self.least, self._least(number))

    def _gains(self, given_up: GivenUp, shown: str) -> bool:
        now = self.least.rank.given_up
        same = given_up[:-1] == now[:-1] and shown == self.least.after.evidence.number
        return given_up < now and not same

    def _gains_with(self, more: int) -> bool:
        least = self._least(more)
        return self._gains(least.rank.given_up, least.after.evidence.number)

    def _first_gain(self) -> int:
        # Try the need of the unlimited plan at its fewest samples with a gain. If one less gains
        # too, search from the minimum. Too few days lose the endpoint.
        needed, pack = self._needed_by_fewest(), self.plan.pack
        on_days = self.dimension == Dimension.SCHEDULE
        minimum = max(1, pack.min_days - pack.lab.days_left) if on_days else 1
        low = minimum if needed > minimum and self._gains_with(needed - 1) else max(minimum, needed)
        return sample_limits.fewest(self._gains_with, low, self._top)

    def _needed_by_fewest(self) -> int:
        after, rank = self.unlimited.after, self.unlimited.rank
        factor = after.evidence_factor
        worth = sample_limits.EvidenceCurve(after.pack, after.evidence.usable)
        study_step = sample_limits.step_of(self.study.evidence, after.pack.design)

        def gains(samples: int) -> bool:
            evidence = max(study_step, worth.step(samples, factor))
            reached = rank._replace(tier=worth.tier(samples, factor), evidence=evidence)
            text = after.evidence.format(worth.value(samples, factor))
            return self._gains(reached.given_up, text)

        counting = sample_limits.fewest(gains, 0, after.evidence.usable)
        cut = sample_limits.CountLimits(after.pack).fewest(after.counts, counting)
        sized = revise(after.plan, sample_size=cut.samples, duration_days=cut.days)
        slack = assessment.assess(sized, after.pack).slack[self.dimension]
        return max(1, ceil(slack.used - self.plan.slack[self.dimension].limit))

    def _buys(self, more: int) -> bool:
        return self._gains_with(more) and not self._least(more).after.evidence.void_reason

    def _first_to_buy(self, low: int, high: int) -> int | None:
        if self._buys(low):
            return low
        # If one plan ranks first at both ends, it also does between. Exception: an offer of the
        # Lab Manager in too few days for the endpoint may be possible at the lower end only.
        at_low, at_high = self._least(low), self._least(high)
        stays = at_low.plan == at_high.plan or not at_low.rank.endpoint_lost
        same = at_low.rank.given_up <= at_high.rank.given_up
        if stays and same and not self._buys(high):
            return None
        # In doubled steps first: usually little is needed.
        middle = min((low + high) // 2, 2 * low)
        first = self._first_to_buy(low, middle)
        return self._first_to_buy(middle + 1, high) if first is None else first

    @property
    def _top(self) -> int:
        [ask] = _all_that_is_missing(self.dimension, self.plan)
        return ceil(ask.more)

    def _ask(self, more: int) -> Addition:
        has, currency = self.plan.slack[self.dimension].limit, self.plan.pack.lab.currency
        return Addition(self.dimension, has, has + more, currency=currency)

    def _least(self, more: int) -> LeastLoss:
        if more not in self._least_by_size:
            plan = self.plan.in_lab(with_additions([self._ask(more)], self.plan.pack))
            self._least_by_size[more] = least_loss_of(plan, variants=self.variants)
        return self._least_by_size[more]
