"""The other direction: what the lab would have to add, so that the plan can stay as it is.

Source: the behaviour contract, section 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from replicalab.costs import counts_of
from replicalab.lexicon import label_key
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner.asking import (
    NUMBERS,
    Ask,
    Means,
    Relief,
    granted,
    means,
    missing_items,
    needed_means,
    relief,
)
from replicalab.planner.choices import Choice, choices
from replicalab.planner.leastloss import LeastLoss, least_loss
from replicalab.planner.limits import fewest, most_looked_at
from replicalab.planner.order import TIER_RANK
from replicalab.planner.worth import Worth
from replicalab.scenarios import EvidenceTier, Pack


@dataclass(frozen=True)
class Asks:
    """What it would take.

    Attributes:
        run: to run the plan exactly as it is.
        target: to run it with the fewest samples that reach the study's evidence target, in the
            fewest days in which they count. None when no sample size reaches it.
        alone_target, alone_floor: single asks, smallest share first, each of which on its own
            lets some plan reach the target, or the floor, once the plan is adapted to the lab;
            empty when none does, or when it is reached already.
    """

    run: Relief
    target: Relief | None
    alone_target: tuple[Ask, ...]
    alone_floor: tuple[Ask, ...]


def asks(protocol: Protocol, scenario: Pack) -> Asks:
    """Return what the lab would have to add to run the plan, and to reach the evidence target."""
    search = _Alone(protocol, scenario)
    wanted = _at_target(protocol, scenario)
    return Asks(
        run=relief(protocol, scenario),
        target=relief(wanted, scenario) if wanted else None,
        alone_target=search.asks(EvidenceTier.MEETS_TARGET),
        alone_floor=search.asks(EvidenceTier.ABOVE_FLOOR),
    )


def _at_target(protocol: Protocol, scenario: Pack) -> Protocol | None:
    worth = Worth(protocol, scenario)
    as_is = Choice((), frozenset(), len(protocol.controls))
    samples = _fewest_samples(as_is, EvidenceTier.MEETS_TARGET, worth)
    if samples is None:
        return None
    return revise(protocol, sample_size=samples, duration_days=_fewest_days(samples, scenario))


def with_controls_kept(
    ask: Ask, tier: EvidenceTier, protocol: Protocol, scenario: Pack
) -> Ask | None:
    """Return how much of the same amount reaches the tier if every control of the plan stays.

    None where no amount of it alone does, and for an item.
    """
    found = _Alone(protocol, scenario).amounts(tier, controls_stay=True)
    return next((each for each in found if each.dimension is ask.dimension), None)


def _fewest_samples(choice: Choice, tier: EvidenceTier, worth: Worth) -> int | None:
    """Return the fewest samples of a wording that reach a tier, one beside the controls at least.

    None when no sample that is looked at, and that the population holds, does.
    """
    low = choice.controls + 1
    high = max(low, most_looked_at(worth.protocol, worth.scenario))
    high = min(high, worth.scenario.design.population_max or high)
    if low > high or worth.tier(choice, high) > TIER_RANK[tier]:
        return None
    return fewest(lambda n: worth.tier(choice, n) <= TIER_RANK[tier], low, high)


def _fewest_days(samples: int, scenario: Pack) -> int:
    """Return the fewest days that keep the endpoint and in which so many samples can count."""
    per_day = scenario.samples_per_day
    return max(scenario.min_days, -(-samples // per_day.value) if per_day else 1)


@dataclass(frozen=True)
class _Alone:
    """The search for single asks that are enough for a tier of evidence."""

    protocol: Protocol
    scenario: Pack
    _best: dict[tuple[Ask, ...], LeastLoss] = field(default_factory=dict)

    def asks(self, tier: EvidenceTier) -> tuple[Ask, ...]:
        """Return each ask that is enough on its own, none if the tier is reached without."""
        if self._reaches((), tier):
            return ()
        items = self._items() if self._amounts_allow(tier) else []
        items = [ask for ask in items if self._reaches((ask,), tier)]
        return tuple(sorted([*self.amounts(tier), *items], key=lambda ask: ask.share))

    def _reaches(self, added: tuple[Ask, ...], tier: EvidenceTier) -> bool:
        """Return whether a plan reaches the tier in the lab with these asks granted."""
        if added not in self._best:
            lab = granted(added, self.scenario) if added else self.scenario
            self._best[added] = least_loss(self.protocol, lab)
        best = self._best[added]
        return best.check.feasible and TIER_RANK[best.price.evidence.tier] <= TIER_RANK[tier]

    def _amounts_allow(self, tier: EvidenceTier) -> bool:
        """Return whether the lab's amounts allow the tier if items cost nothing of the effect."""
        effect = self.scenario.design.effect_planning
        worth = Worth(self.protocol, self.scenario, _seen={1.0: (effect, 1.0)})
        controls = min(c.controls for c in choices(self.protocol, self.scenario))
        need = self._need(Choice((), frozenset(), controls), tier, worth)
        return need is not None and all(
            n <= h for n, h in zip(need, means(self.scenario), strict=True)
        )

    def amounts(self, tier: EvidenceTier, *, controls_stay: bool = False) -> Iterator[Ask]:
        """Yield the least budget, days and staff that alone let some wording reach the tier.

        With ``controls_stay`` only of the wordings in which every control of the plan stays.
        """
        has = means(self.scenario)
        needed = list(self._needed(tier, controls_stay=controls_stay))
        for place, dimension in enumerate(NUMBERS):
            enough = [need[place] for need in needed if _only(place, need, has)]
            if enough:
                yield Ask(dimension, has[place], min(enough))

    def _needed(self, tier: EvidenceTier, *, controls_stay: bool) -> Iterator[Means]:
        """Yield what each wording that the lab can use needs at least to reach the tier."""
        worth = Worth(self.protocol, self.scenario)
        for choice in choices(self.protocol, self.scenario):
            if controls_stay and choice.dropped:
                continue
            need = None if choice.failing else self._need(choice, tier, worth)
            if need is not None:
                yield need

    def _need(self, choice: Choice, tier: EvidenceTier, worth: Worth) -> Means | None:
        """Return what a wording needs at least to reach the tier, None if nothing is enough."""
        samples = _fewest_samples(choice, tier, worth)
        if samples is None:
            return None
        days = _fewest_days(samples, self.scenario)
        counts = counts_of(self.protocol)._replace(
            samples=samples, days=days, controls=choice.controls
        )
        return needed_means(counts, self.scenario)

    def _items(self) -> list[Ask]:
        """Return an ask for each missing item of the plan, and for each missing alternative."""
        found = {
            label_key(ask.item or ""): ask for ask in missing_items(self.protocol, self.scenario)
        }
        originals = set(found)
        missing = {label_key(r.label): r for r in self.scenario.resources if not r.available}
        for swap in self.scenario.allowed_substitutions:
            lacking = missing.get(label_key(swap.alternative))
            if lacking is not None and label_key(swap.original) in originals:
                equipment = lacking.category.value == "equipment"
                dimension = Dimension.EQUIPMENT if equipment else Dimension.REAGENTS
                found.setdefault(label_key(lacking.label), Ask(dimension, 0, 1, lacking.label))
        return list(found.values())


def _only(place: int, need: Means, has: Means) -> bool:
    """Return whether nothing but the amount at that place is short."""
    return all(need[other] <= has[other] for other in range(len(has)) if other != place)
