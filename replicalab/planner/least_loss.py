"""The plan for the same lab that gives up the least, found exactly.

**The order** of all plans is `Rank`: fewest failing dimensions, best evidence tier, fewest of the
study's wishes broken, least fidelity lost, least that is missing to the target, fewest changes,
fewest days short of the endpoint, lowest cost. So a plan that meets the target is not made dearer
for more evidence, unless the study wishes it.

**What is searched**: every number of days from the study's fewest to the lab's most (all of them
where the lab gives fewer than the endpoint needs), every variant (see `variants`), and every number
of samples, those that cannot count too: they may leave room beside the controls, or be what the
study's own constraints ask for.

**How**. A dimension may fail because of the variant, or because a limit is *given up*: the budget,
the staff, or what makes a plan sound on paper. So every pair of a variant and a set of limits given
up is a *candidate*, and how many dimensions it fails is known before any number is. What a plan
shows depends on how many of its samples count alone, and of the plans in which so many count one
has the fewest samples and days. Cost and staff never fall with these, and evidence never shrinks
with the samples that count, so bisection finds the most that fit the remaining limits. Then the
order is applied term by term: each step keeps the candidates that are best so far. Where the study
has wishes, each candidate is then searched in every box in which as few are broken (see `wishes`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, groupby
from typing import Final, NamedTuple, TypeVar

from replicalab.agents.suggestions import Offer, SuggestionChange, reference_offer
from replicalab.assessment import Assessment, Counts, credits_needed
from replicalab.models import Dimension, Protocol, revise
from replicalab.notebook import Shown
from replicalab.planner.limits import (
    ANYWHERE,
    BELOW_FLOOR,
    TIER_RANK,
    CountBox,
    CountLimits,
    EvidenceCurve,
    fewest,
    most_looked_at,
    shortfall,
)
from replicalab.planner.reasons import number_changes, with_reasons, with_wishes
from replicalab.planner.steps import changed_values, judged
from replicalab.planner.variants import PlanVariant, PlanVariants, variants_of
from replicalab.planner.wishes import Wishes
from replicalab.scenarios import Pack

# The dimensions that a number of the plan decides, apart from the days, which always fit.
_BY_NUMBERS: Final = (Dimension.BUDGET, Dimension.STAFF, Dimension.PROTOCOL)

# Every set of them, the smallest first.
_GIVEN_UP: Final = [
    frozenset(some)
    for size in range(len(_BY_NUMBERS) + 1)
    for some in combinations(_BY_NUMBERS, size)
]

GivenUp = tuple[int, int, int, int, float]
"""The terms of a rank that do not depend on the plan that was revised."""

# Limits that are given up, and the box in which the numbers lie.
_Kept = tuple[frozenset[Dimension], CountBox]

_Changes = Callable[[], Sequence[SuggestionChange]]
_Gentler = Callable[[], PlanVariant | None]

T = TypeVar("T")


class Rank(NamedTuple):
    """What a plan gives up, the worst first; the smaller rank is the better plan.

    Attributes:
        tier: 0 meets the target, 1 is above the floor, 2 is below it.
        wishes: how many of the study's own soft constraints on its numbers are broken.
        loss: fidelity given up; each substitution counts 0 to 3, each dropped control 1.
        shortfall: what the evidence lacks of the target, 0 once it is met.
        changes: how many values of the original plan differ.
        days_short: how many days the study's endpoint is short of, 0 where it is kept.
    """

    failing: int
    tier: int
    wishes: int
    loss: int
    shortfall: float
    changes: int
    days_short: int
    credits: float

    @property
    def given_up(self) -> GivenUp:
        """The terms that do not depend on the plan that was revised."""
        return self[:5]


def rank(plan: Assessment, original: Protocol) -> Rank:
    """Return the rank of a plan as a revision of the original."""
    return Rank(
        len(plan.failing),
        TIER_RANK[plan.evidence.tier],
        len(plan.broken_wishes),
        plan.fidelity_loss,
        shortfall(plan.evidence.value, plan.pack),
        changed_values(original, plan.plan),
        days_short(plan.counts.days, plan.pack),
        plan.cost,
    )


def days_short(days: int, pack: Pack) -> int:
    """Return how many days more the study's endpoint needs."""
    return max(0, pack.min_days - days)


@dataclass(frozen=True)
class LeastLoss(Shown):
    """The plan that gives up the least, and what is proven by having found it.

    Attributes:
        before: the original.
        after: the plan; the original itself when nothing else gives up less.
        rank: what it gives up.
        exact: whether every plan was searched; False only for plans with so many items and
            controls to choose from that not all their combinations could be.
    """

    before: Assessment
    after: Assessment
    rank: Rank
    exact: bool = True
    _changes: _Changes = field(default=tuple, repr=False, compare=False)
    _gentler: _Gentler | None = field(default=None, repr=False, compare=False)

    @cached_property
    def changes(self) -> tuple[SuggestionChange, ...]:
        """The changes from the original to it, each with its reason and what is lost."""
        # A search for what binds compares dozens of such plans, and reads the changes of few.
        found = with_reasons(self._changes(), self.after)
        gentler = self._gentler() if self._gentler else None
        return with_wishes(found, self.after, gentler, exact=self.exact) if gentler else found

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
    plan: Assessment, offer: Offer | None = None, variants: PlanVariants | None = None
) -> LeastLoss:
    """Return the plan for this lab that gives up the least of the study.

    It is never worse than the plan itself, nor than what the Lab Manager's fixes lead to: its
    offer, which may be known already, as may the plan's variants.
    """
    variants = variants or variants_of(plan)

    def made(
        after: Assessment, changes: _Changes = tuple, gentler: _Gentler | None = None
    ) -> LeastLoss:
        return LeastLoss(plan, after, rank(after, plan.plan), variants.exact, changes, gentler)

    found = [made(plan)]
    if offered := offer or reference_offer(plan):
        found.append(made(offered.after, lambda: offered.changes))
    search = _Search(plan, variants)
    if best := search.best():
        worded = best.variant.applied_to(plan.plan)
        sized = revise(worded, sample_size=best.samples, duration_days=best.days)
        after = judged(sized, plan, [each.after for each in found])

        def changes() -> Sequence[SuggestionChange]:
            return best.variant.changes(plan.pack) + number_changes(worded, best, plan.pack)

        wished = (lambda: search.gentler_than(best)) if search.wishes.all else None
        found.insert(0, made(after, changes, wished))
    return min(found, key=lambda each: each.rank)


def least_loss_offer(plan: Assessment, least: LeastLoss) -> Offer | None:
    """Return the plan's least-loss plan as the Lab Manager's offer, None if it is feasible."""
    return None if plan.feasible else Offer(plan, least.after, least.changes)


# --- the search -----------------------------------------------------------------------------


class Candidate(NamedTuple):
    """A variant with the limits that its numbers may exceed, and its numbers.

    Attributes:
        fewest: the fewest samples that must count.
        most: the most samples that count and fit the other limits, or more than the target takes.
        most_as_good: the most of them with which no more wishes are broken than need be.
        most_at_all: the most of them whatever the wishes.
        box: in which its numbers lie.
        samples, days: 0 until they are chosen.
    """

    variant: PlanVariant
    given_up: frozenset[Dimension]
    fewest: int
    most: int
    most_as_good: int
    most_at_all: int
    box: CountBox = ANYWHERE
    samples: int = 0
    days: int = 0


def _least_of(found: Iterable[T], key: Callable[[T], float]) -> list[T]:
    keyed = [(key(one), one) for one in found]
    least = min((value for value, _ in keyed), default=0)
    return [one for value, one in keyed if value == least]


@dataclass(frozen=True)
class _Search:
    """The search for one plan in one lab.

    Attributes:
        wished: whether the study's wishes count.
    """

    plan: Assessment
    variants: PlanVariants
    wished: bool = True
    _kept: dict[_Kept, CountLimits] = field(default_factory=dict)
    _most: dict[tuple[Counts, _Kept], int | None] = field(default_factory=dict)
    _broken: dict[tuple[object, ...], int] = field(default_factory=dict)

    def _limits(self, given_up: frozenset[Dimension], box: CountBox = ANYWHERE) -> CountLimits:
        """Return the limits that are left when some are given up, in a box."""
        if (given_up, box) not in self._kept:
            self._kept[given_up, box] = CountLimits(self.plan.pack, given_up, box)
        return self._kept[given_up, box]

    @cached_property
    def worth(self) -> EvidenceCurve:
        most = most_looked_at(self.plan.plan)
        return EvidenceCurve(self.plan.pack, most, CountLimits(self.plan.pack).endpoint_lost)

    @cached_property
    def wishes(self) -> Wishes:
        return Wishes(self.plan, self.worth)

    def best(self) -> Candidate | None:
        """Return the best of all plans, None where the lab gives no day at all."""
        # Each step applies a term of the order and keeps the candidates that are best by it. Tier
        # and shortfall are judged by the most samples that count, for they only get better with
        # more; how many of them are taken is left until these are settled.
        worth = self.worth
        found = self._fewest_failing()
        found = _least_of(found, lambda one: worth.tier(one.most, one.variant.factor))
        if self.wished and self.wishes.all:
            found = [*self._as_wished(found)]
        else:
            found = _least_of(found, lambda one: one.variant.loss)
        found = _least_of(found, lambda one: worth.shortfall(one.most, one.variant.factor))
        settled = (each for one in found for each in self._settled(one))
        return min(settled, key=self._leftover, default=None)

    def gentler_than(self, best: Candidate) -> PlanVariant | None:
        """Return how the best plan is worded if no wish counts, None where it loses no less."""
        if not best.variant.loss:
            return None
        found = replace(self, wished=False).best()
        return found.variant if found and found.variant.loss < best.variant.loss else None

    def _fewest_failing(self) -> list[Candidate]:
        """Return, of all variants and limits given up, those that fit with the fewest failing."""
        pairs = [(len(w.failing | up), w, up) for w in self.variants.listed for up in _GIVEN_UP]
        for _, tied in groupby(sorted(pairs, key=lambda pair: pair[0]), lambda pair: pair[0]):
            found = [
                Candidate(variant, given_up, fewest, most, most, most)
                for _, variant, given_up in tied
                if (fewest := self._fewest(variant, given_up)) is not None
                and (most := self._most_that_count(variant, given_up)) is not None
                and fewest <= most
            ]
            if found:
                return found
        return []

    def _most_that_count(
        self, variant: PlanVariant, given_up: frozenset[Dimension], box: CountBox = ANYWHERE
    ) -> int | None:
        """Return the most samples that count and fit, None if no plan fits."""
        counts, kept = self._counts(variant, given_up), (given_up, box)
        key = counts, kept  # thousands of variants have a few numbers of controls and prices
        if key not in self._most:
            self._most[key] = self._limits(*kept).most_that_count(counts, self.worth.most)
        return self._most[key]

    def _counts(self, variant: PlanVariant, given_up: frozenset[Dimension]) -> Counts:
        """Return what of a variant decides which numbers fit."""
        counts = variant.counts(self.plan.counts)
        return counts._replace(own_prices=0.0) if Dimension.BUDGET in given_up else counts

    def _as_wished(self, found: list[Candidate]) -> Iterator[Candidate]:
        """Yield those that break the fewest wishes and then lose the least, each in every box."""
        keyed = [(self._fewest_broken(one), one) for one in found]
        broken = min((number for number, _ in keyed), default=0)
        kept = [one for number, one in keyed if number == broken]
        for one in _least_of(kept, lambda one: one.variant.loss):
            boxed = [*self._boxed(one, broken)]
            most = max(each.most for each in boxed)
            for each in boxed:
                yield each._replace(most_as_good=most)

    def _fewest_broken(self, one: Candidate) -> int:
        """Return how many wishes its plans of the best tier break at least."""
        counts, low = self._counts(one.variant, one.given_up), self._reaching(one)
        levels = self.wishes.levels(one.variant.factor)
        key = counts, one.given_up, low, levels
        if key not in self._broken:
            limits = self._limits(one.given_up)
            self._broken[key] = self.wishes.fewest_broken(limits, counts, low, levels)
        return self._broken[key]

    def _reaching(self, one: Candidate) -> int:
        """Return how many samples must count for its tier, as many as must at least."""
        factor = one.variant.factor
        return max(one.fewest, self.worth.needed(self.worth.tier(one.most, factor), factor) or 0)

    def _boxed(self, one: Candidate, broken: int) -> Iterator[Candidate]:
        """Yield it in each box in which so few wishes are broken and a plan of its tier fits."""
        counts, limits = self._counts(one.variant, one.given_up), self._limits(one.given_up)
        low, levels = self._reaching(one), self.wishes.levels(one.variant.factor)
        for box, counting in self.wishes.boxes(limits, counts, low, levels, broken):
            most = self._most_that_count(one.variant, one.given_up, box)
            if most is not None:
                yield one._replace(fewest=counting, most=most, box=box)

    def _fewest(self, variant: PlanVariant, given_up: frozenset[Dimension]) -> int | None:
        """Return the fewest samples that must count, None where no number of them will do."""
        return 0 if Dimension.PROTOCOL in given_up else self.worth.allowed(variant.factor)

    def _settled(self, one: Candidate) -> Iterator[Candidate]:
        """Yield it with every days and samples that may be the least change or cost."""
        # They are the original's, and the fewest in which so many samples count that no less is
        # missing to the target; of days the most where the endpoint is lost anyway.
        worth, factor, limits = self.worth, one.variant.factor, self._limits(one.given_up, one.box)
        same = worth.shortfall(one.most, factor)
        counting = fewest(lambda n: worth.shortfall(n, factor) == same, one.fewest, one.most)
        before = self.plan.counts
        least = limits.fewest(one.variant.counts(before), counting)
        for samples in {least.samples, max(least.samples, before.samples)}:
            planned = least._replace(samples=samples)
            if limits.allows(planned):
                for days in {limits.best_days(planned), max(least.days, before.days)}:
                    if limits.allows(planned._replace(days=days)):
                        yield one._replace(samples=samples, days=days)

    def _leftover(self, one: Candidate) -> tuple[int, int, float]:
        """Return the last terms of the order: changes, days short of the endpoint, cost."""
        before, pack = self.plan.counts, self.plan.pack
        counts = one.variant.counts(before)._replace(samples=one.samples, days=one.days)
        changed = (one.samples != before.samples) + (one.days != before.days)
        cost = credits_needed(counts, pack)
        return one.variant.changed + changed, days_short(one.days, pack), cost
