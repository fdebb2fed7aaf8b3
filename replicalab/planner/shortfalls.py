"""The other direction: what the lab would have to add, so that less, or nothing, is given up.

A plan as it is lacks so many credits, days, staff units and items; granted all of it, the lab can
run it, or it fails whatever the lab adds. A *single* addition may do as well once the plan is
adapted. Of the amounts, each variant needs a known least for a tier: the fewest samples that reach
it, in the fewest days in which they count; if only one amount falls short of that, so much more of
it is enough. A missing item is granted, and the plan that gives up the least is searched again;
so it is where the lab begins on the day after a booking ends, with fewer days left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from replicalab import assessment
from replicalab.lexicon import CREDITS, joined, label_key
from replicalab.limits import MOST_ITEMS_TRIED
from replicalab.models import Dimension, Protocol, revise
from replicalab.notebook import Shown
from replicalab.planner.least_loss import LeastLoss, gives_up_less, least_loss_of
from replicalab.planner.limits import TIER_RANK, CountLimits, EvidenceCurve, most_looked_at
from replicalab.planner.steps import PlanStep
from replicalab.planner.variants import PlanVariant, PlanVariants, price_range
from replicalab.scenarios import MISSING, Control, EvidenceTier, Pack

Means = tuple[float, ...]
"""An amount of each of `amounts`: credits, days, staff units."""

_DIGITS: Final = 6


@dataclass(frozen=True)
class Addition:
    """One thing that the lab would have to add: credits, days, staff units, or an item.

    Attributes:
        dimension: that it is needed for.
        has, needs: how much; for an item 0 and 1.
        item: the item to release or to supply, None for the three amounts.
        currency: of the lab.
    """

    dimension: str
    has: float
    needs: float
    item: str | None = None
    currency: str = CREDITS

    @property
    def more(self) -> float:
        """How much more than the lab has; credits to a millionth."""
        return round(self.needs - self.has, _DIGITS)

    @property
    def share(self) -> float:
        """How much more, as a share of what the lab has; 1 for an item."""
        return self.more / self.has if self.has else 1.0

    @property
    def text(self) -> str:
        """The ask in words: ``10 more credits``, ``1 more staff unit``, ``'flume' released``."""
        if self.item is not None:
            return f"'{self.item}' {assessment.DIMENSION_ROWS[self.dimension].granted}"
        return self.amount_text("more")

    def amount_text(self, word: str = "") -> str:
        """Return how much of an amount it is: ``10 credits``, with a word ``10 more credits``."""
        return assessment.DIMENSION_ROWS[self.dimension].amount_text(self.more, self.currency, word)


def additions_text(found: Iterable[Addition]) -> str:
    """Return asks in words: ``10 more credits, 1 more day and 'flume' released``."""
    return joined([ask.text for ask in found])


@dataclass(frozen=True)
class Shortfall:
    """Everything that a lab would have to add so that one plan is feasible in it.

    Attributes:
        judged: the plan that becomes feasible, in the lab as it is.
        asks: one by one; each is the smallest that will do, and together they are enough.
        left: the dimensions that fail whatever the lab adds.
    """

    judged: assessment.Assessment
    asks: tuple[Addition, ...]
    left: tuple[str, ...]

    @property
    def plan(self) -> Protocol:
        """The plan that becomes feasible."""
        return self.judged.plan

    @property
    def possible(self) -> bool:
        """Whether the asks are enough."""
        return not self.left


class SingleAddition(NamedTuple):
    """A single addition that is enough for a tier of evidence once the plan is adapted.

    Attributes:
        least: the plan that gives up the least in the lab with it.
        dropped: the controls of the plan that this one does without.
        kept: the same amount if no control is to go; None where no amount is enough then, for
            an item, and where no control goes anyway.
    """

    ask: Addition
    tier: EvidenceTier
    least: LeastLoss
    dropped: tuple[Control, ...] = ()
    kept: Addition | None = None


class LaterStart(NamedTuple):
    """A later start, by which items are free that are booked now, and fewer days are left.

    Attributes:
        items: that the plan could use and that are free by then.
        least: the plan that gives up the least in the lab that starts so late.
    """

    start_day: int
    items: tuple[str, ...]
    days_left: int
    least: LeastLoss


@dataclass(frozen=True)
class Shortfalls(Shown):
    """What it would take.

    Attributes:
        run: to run the plan exactly as it is.
        target: to run it with the fewest samples that reach the study's evidence target, in the
            fewest days in which they count. None when no sample size reaches it.
        alone_target, alone_floor: single additions, smallest share first, each of which on its own
            lets some plan reach the target, or the floor, once the plan is adapted to the lab;
            empty when none does, or when it is reached already.
        untried: how many missing items were not tried on their own.
        search: the search that found them.
    """

    run: Shortfall
    target: Shortfall | None
    alone_target: tuple[SingleAddition, ...]
    alone_floor: tuple[SingleAddition, ...]
    untried: int
    search: AdditionSearch = field(repr=False, compare=False)

    @cached_property
    def waits(self) -> tuple[LaterStart, ...]:
        """The later starts that buy something, and more than any earlier one; the best first."""
        return tuple(self.search.waits())

    @property
    def singles(self) -> tuple[SingleAddition, ...]:
        """What is enough for the target, then what is enough for the floor only."""
        enough = {single.ask for single in self.alone_target}
        return (*self.alone_target, *(s for s in self.alone_floor if s.ask not in enough))


def shortfalls_of(search: AdditionSearch) -> Shortfalls:
    """Return what it would take to run a plan, and to reach the evidence target."""
    return Shortfalls(
        run=_relief(search.plan),
        target=search.at_target(),
        alone_target=tuple(search.alone(EvidenceTier.MEETS_TARGET)),
        alone_floor=tuple(search.alone(EvidenceTier.ABOVE_FLOOR)),
        untried=max(0, len(search.items) - MOST_ITEMS_TRIED),
        search=search,
    )


# --- one plan as it is ----------------------------------------------------------------------


def _relief(plan: assessment.Assessment) -> Shortfall:
    """Return the smallest additions with which the lab can run a plan, and what they leave."""
    # What is left is what the check says of the lab that has added them all.
    lacks = [
        plan.slack[dimension] for dimension, amount in assessment.amounts().items() if amount.grant
    ]
    currency = plan.pack.lab.currency
    additions = [
        Addition(lack.dimension, lack.limit, lack.used, currency=currency)
        for lack in lacks
        if lack.slack < 0
    ]
    result = (*additions, *_missing(plan).values())
    return Shortfall(plan, result, tuple(plan.in_lab(with_additions(result, plan.pack)).failing))


def _missing(plan: assessment.Assessment) -> dict[str, Addition]:
    additions: dict[str, Addition] = {}
    for item in plan.items:
        if item.status in MISSING:
            additions.setdefault(label_key(item.label), _item_ask(item.label, item.category))
    return additions


def missing_items(pack: Pack) -> list[Addition]:
    """Return an ask for each item that the lab has booked or out of stock."""
    return [_item_ask(r.label, r.category.value) for r in pack.resources if not r.available]


def _item_ask(label: str, category: str) -> Addition:
    return Addition(assessment.ITEM_DIMENSIONS[category], 0, 1, label)


def with_additions(found: Iterable[Addition], pack: Pack) -> Pack:
    """Return the study in a lab that has added these asks."""
    means, released = dict[str, Any](), list[str]()
    for ask in found:
        amount = assessment.DIMENSION_ROWS[ask.dimension].amount
        if ask.item is not None:
            released.append(ask.item)
        elif amount and amount.grant:
            means.update(amount.grant(pack.lab, ask.needs))
    return pack.in_lab(pack.lab.with_means(**means, released=released))


# --- one addition alone ---------------------------------------------------------------------


@dataclass(frozen=True)
class AdditionSearch:
    """The search for single additions that are enough for a tier of evidence.

    Attributes:
        least: the least-loss plan in the lab as it is.
        variants: the ways to word the plan there.
    """

    plan: assessment.Assessment
    least: LeastLoss
    variants: PlanVariants

    @property
    def pack(self) -> Pack:
        """The study in the lab."""
        return self.plan.pack

    @cached_property
    def _worth(self) -> EvidenceCurve:
        return EvidenceCurve(self.pack, most_looked_at(self.plan.plan))

    @cached_property
    def _limits(self) -> CountLimits:
        return CountLimits(self.pack, frozenset({Dimension.SCHEDULE}))

    def at_target(self) -> Shortfall | None:
        """Return what it takes to reach the target with the plan's own items and controls."""
        as_is = PlanVariant(controls=self.plan.counts.controls, factor=self.plan.evidence_factor)
        counts = self.counts(as_is, EvidenceTier.MEETS_TARGET)
        if counts is None:
            return None
        sized = revise(self.plan.plan, sample_size=counts.samples, duration_days=counts.days)
        return _relief(assessment.assess(sized, self.pack))

    def counts(self, variant: PlanVariant, tier: EvidenceTier) -> assessment.Counts | None:
        """Return the fewest samples and days of a variant that reach a tier, None if none do."""
        needed = self._worth.needed(TIER_RANK[tier], variant.factor)
        allowed = self._worth.allowed(variant.factor)
        if needed is None or allowed is None:
            return None
        counts = self._limits.fewest(variant.counts(self.plan.counts), max(needed, allowed))
        return counts if self._limits.within(counts) else None

    def alone(self, tier: EvidenceTier) -> Iterator[SingleAddition]:
        """Yield what each addition that is enough for a tier opens; none if it is reached now."""
        if self._reaches(self.least, tier):
            return
        pairs = [(ask, self._with(ask, self.variants)) for ask in self._enough(tier)]
        if self._amounts_allow(tier):
            pairs += [each for each in self._with_items if self._reaches(each[1], tier)]
        for ask, loss in sorted(pairs, key=lambda each: each[0].share):
            dropped, addition = tuple(PlanStep(self.plan, loss.after).newly_dropped), None
            if dropped and ask.item is None:
                enough = self._enough(tier, controls_stay=True)
                addition = next((each for each in enough if each.dimension is ask.dimension), None)
            yield SingleAddition(ask, tier, loss, dropped, addition)

    def _reaches(self, least: LeastLoss, tier: EvidenceTier) -> bool:
        return least.after.feasible and least.rank.tier <= TIER_RANK[tier]

    def _with(self, ask: Addition, variants: PlanVariants | None = None) -> LeastLoss:
        return least_loss_of(self.plan.in_lab(with_additions([ask], self.pack)), variants=variants)

    def _enough(self, tier: EvidenceTier, *, controls_stay: bool = False) -> Iterator[Addition]:
        """Yield the least of each amount that alone is enough for some variant that can be used.

        With ``controls_stay`` only for the variants in which every control of the plan stays.
        """
        usable = [
            self.needs(variant, tier)
            for variant in self.variants.listed
            if not variant.failing and not (controls_stay and variant.dropped)
        ]
        for place, (dimension, amount) in enumerate(assessment.amounts().items()):
            alone = amount.grant and [
                needs[place] for needs in usable if needs and self._short(needs) == [place]
            ]
            if alone:
                currency = self.pack.lab.currency
                yield Addition(dimension, self.has[place], min(alone), currency=currency)

    def needs(self, variant: PlanVariant, tier: EvidenceTier) -> Means | None:
        """Return what a variant needs at least of the amounts to reach a tier."""
        counts = self.counts(variant, tier)
        if counts is None:
            return None
        return tuple(amount.needed(counts, self.pack) for amount in assessment.amounts().values())

    @cached_property
    def has(self) -> Means:
        """What the lab has of the amounts."""
        return tuple(amount.has(self.pack.lab) for amount in assessment.amounts().values())

    def _short(self, needs: Means) -> list[int]:
        """Return the places of the amounts that the lab has too little of."""
        return [place for place, need in enumerate(needs) if need > self.has[place]]

    @cached_property
    def items(self) -> list[Addition]:
        """An ask for each missing item that the plan lists, then for each that may replace one."""
        useful = {label_key(item.label) for item in self.plan.items}
        rows = self.pack.allowed_substitutions
        useful |= {label_key(r.alternative) for r in rows if label_key(r.original) in useful}
        additions = _missing(self.plan)
        for ask in missing_items(self.pack):
            if (key := label_key(ask.item or "")) in useful:
                additions.setdefault(key, ask)
        return list(additions.values())

    @cached_property
    def _with_items(self) -> list[tuple[Addition, LeastLoss]]:
        return [(ask, self._with(ask)) for ask in self.items[:MOST_ITEMS_TRIED]]

    def _amounts_allow(self, tier: EvidenceTier) -> bool:
        """Return whether the lab's amounts allow a tier if items cost nothing of the effect."""
        # If they do not with the fewest controls and the cheapest of all replacements, no item can
        # be enough, and none need be tried.
        fewest = min(variant.controls for variant in self.variants.listed)
        needs = self.needs(PlanVariant(controls=fewest, price=price_range(self.plan)[0]), tier)
        return needs is not None and not self._short(needs)

    # --- a later start ----------------------------------------------------------------------

    def waits(self) -> list[LaterStart]:
        """Return the later starts that buy something, and more than any earlier one; best first."""
        # Between two days on which a booking ends nothing is free that was not before.
        inventory, lab = self.pack.inventory, self.pack.lab
        booked = [(inventory.booked_until(ask.item or ""), ask.item or "") for ask in self.items]
        ends = sorted({until for until, _ in booked if until is not None and until < lab.days})
        starts, best = list[LaterStart](), self.least
        for last in ends[:MOST_ITEMS_TRIED]:
            pack = self.pack.in_lab(lab.with_means(start_day=last + 1))
            loss = least_loss_of(self.plan.in_lab(pack))
            if gives_up_less(loss, best):
                free = tuple(item for until, item in booked if until is not None and until <= last)
                starts.append(LaterStart(last + 1, free, pack.lab.days_left, loss))
                best = loss
        return starts[::-1]
