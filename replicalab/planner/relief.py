"""The other direction: what the lab would have to add, so that the plan can stay as it is.

Source: the behaviour contract, section 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from replicalab.agents import check_feasibility
from replicalab.agents.feasibility import needs
from replicalab.agents.suggestions import apply_changes
from replicalab.costs import amount_text, counts_of, credits_needed, staff
from replicalab.evidence import planned_evidence
from replicalab.labels import label_key
from replicalab.models import Dimension, Protocol, revise, wording_of
from replicalab.planner.choices import choices
from replicalab.planner.leastloss import least_loss
from replicalab.planner.limits import MOST_SAMPLES, Limits, fewest
from replicalab.planner.order import TIER_RANK
from replicalab.scenarios.inventory import ItemStatus
from replicalab.scenarios.levers import with_means
from replicalab.scenarios.models import EvidenceTier, NormalizedScenarioPack

_NUMBERS = (Dimension.BUDGET, Dimension.SCHEDULE, Dimension.STAFF)


@dataclass(frozen=True)
class Ask:
    """One thing that the lab would have to add.

    Attributes:
        dimension: budget, schedule, staff, equipment or reagents.
        has, needs: credits, days or staff units; for an item 0 and 1.
        item: the item to release or to restock, None for the three amounts.
    """

    dimension: Dimension
    has: float
    needs: float
    item: str | None = None

    @property
    def more(self) -> float:
        """How much more than the lab has."""
        return self.needs - self.has

    @property
    def share(self) -> float:
        """How much more, as a share of what the lab has; 1 for an item."""
        return self.more / self.has if self.has else 1.0

    @property
    def text(self) -> str:
        """The ask in words: ``10 more credits``, ``1 more staff unit``, ``'flume' released``."""
        if self.item is not None:
            verb = "released" if self.dimension is Dimension.EQUIPMENT else "restocked"
            return f"'{self.item}' {verb}"
        noun = {Dimension.BUDGET: "credit", Dimension.SCHEDULE: "day"}.get(
            self.dimension, "staff unit"
        )
        return f"{amount_text(self.more)} more {noun}{'' if self.more == 1 else 's'}"


@dataclass(frozen=True)
class Relief:
    """Everything that a lab would have to add so that one plan is feasible in it.

    Attributes:
        plan: the plan that becomes feasible.
        asks: one by one; each is the smallest that will do, and together they are enough.
        left: the dimensions that fail whatever the lab adds.
    """

    plan: Protocol
    asks: tuple[Ask, ...]
    left: tuple[Dimension, ...]

    @property
    def possible(self) -> bool:
        """Whether the asks are enough."""
        return not self.left

    def granted(self, scenario: NormalizedScenarioPack) -> NormalizedScenarioPack:
        """Return the study in a lab that has added everything asked for."""
        return granted(self.asks, scenario)


@dataclass(frozen=True)
class Asks:
    """What it would take.

    Attributes:
        run: to run the plan exactly as it is.
        target: to run it with the fewest samples (and days for them) that reach the study's
            evidence target; None when no sample size does.
        alone_target, alone_floor: single asks, smallest share first, each of which on its own
            lets some plan reach the target, or the floor, once the plan is adapted to the lab;
            empty when none does, or when it is reached already.
    """

    run: Relief
    target: Relief | None
    alone_target: tuple[Ask, ...]
    alone_floor: tuple[Ask, ...]


def asks(protocol: Protocol, scenario: NormalizedScenarioPack) -> Asks:
    """Return what the lab would have to add to run the plan, and to reach the evidence target."""
    wanted = _at_target(protocol, scenario)
    tier = least_loss(protocol, scenario)
    reached = TIER_RANK[tier.price.evidence.tier] if tier.check.feasible else len(TIER_RANK)
    return Asks(
        run=relief(protocol, scenario),
        target=relief(wanted, scenario) if wanted else None,
        alone_target=_alone(protocol, EvidenceTier.MEETS_TARGET, reached, scenario),
        alone_floor=_alone(protocol, EvidenceTier.ABOVE_FLOOR, reached, scenario),
    )


def relief(protocol: Protocol, scenario: NormalizedScenarioPack) -> Relief:
    """Return the smallest additions with which the lab can run exactly this plan."""
    found = (*_amounts(protocol, scenario), *_items(protocol, scenario))
    check = check_feasibility(protocol, granted(found, scenario)) if found else (
        check_feasibility(protocol, scenario)
    )  # fmt: skip
    return Relief(protocol, found, tuple(check.failing))


def granted(found: tuple[Ask, ...], scenario: NormalizedScenarioPack) -> NormalizedScenarioPack:
    """Return the study in a lab that has added these asks."""
    amounts = {ask.dimension: ask.needs for ask in found if ask.item is None}
    days, people = amounts.get(Dimension.SCHEDULE), amounts.get(Dimension.STAFF)
    return with_means(
        scenario,
        budget=amounts.get(Dimension.BUDGET),
        days=None if days is None else int(days),
        staff=None if people is None else int(people),
        released=[ask.item for ask in found if ask.item is not None],
    )


def _amounts(protocol: Protocol, scenario: NormalizedScenarioPack) -> Iterator[Ask]:
    for dimension, has, need in zip(
        _NUMBERS, _means(scenario), _needed(protocol, scenario), strict=True
    ):
        if need > has:
            yield Ask(dimension, has, need)


def _means(scenario: NormalizedScenarioPack) -> tuple[float, int, int]:
    lab = scenario.lab
    return lab.budget_remaining, lab.time_limit_days, lab.staff_count


def _needed(protocol: Protocol, scenario: NormalizedScenarioPack) -> tuple[float, int, int]:
    counts = counts_of(protocol)
    return (
        credits_needed(counts, scenario.cost_model),
        counts.days,
        int(staff(counts, scenario.staff_model)),
    )


def _items(protocol: Protocol, scenario: NormalizedScenarioPack) -> Iterator[Ask]:
    seen = set()
    for _, category, label in needs(wording_of(protocol)):
        status = scenario.inventory.status(label, category)
        missing = status in (ItemStatus.BOOKED, ItemStatus.OUT_OF_STOCK)
        if missing and label_key(label) not in seen:
            seen.add(label_key(label))
            dimension = Dimension.EQUIPMENT if category == "equipment" else Dimension.REAGENTS
            yield Ask(dimension, 0, 1, label)


def _at_target(
    protocol: Protocol,
    scenario: NormalizedScenarioPack,
    tier: EvidenceTier = EvidenceTier.MEETS_TARGET,
) -> Protocol | None:
    """Return the plan with the fewest samples, and days for them, that reach a tier.

    Never fewer than its controls leave room for; None when no sample size reaches the tier.
    """
    limits = Limits.of(scenario)

    def sized(samples: int) -> Protocol:
        per_day = scenario.samples_per_day
        days = max(scenario.min_days, -(-samples // per_day.value) if per_day else 1)
        return revise(protocol, sample_size=samples, duration_days=days)

    def reaches(samples: int) -> bool:
        return TIER_RANK[planned_evidence(sized(samples), scenario).tier] <= TIER_RANK[tier]

    low = len(protocol.controls) + 1
    high = max(low, min(MOST_SAMPLES, scenario.design.population_max or MOST_SAMPLES))
    if not reaches(high):
        return None
    found = sized(fewest(reaches, low, high))
    days = max(found.duration_days, min(protocol.duration_days, limits.days[1]))
    return revise(found, duration_days=days)


def _alone(
    protocol: Protocol, tier: EvidenceTier, reached: int, scenario: NormalizedScenarioPack
) -> tuple[Ask, ...]:
    if reached <= TIER_RANK[tier]:
        return ()
    found = [*_single_amounts(protocol, tier, scenario), *_single_items(protocol, tier, scenario)]
    return tuple(sorted(found, key=lambda ask: ask.share))


def _single_amounts(
    protocol: Protocol, tier: EvidenceTier, scenario: NormalizedScenarioPack
) -> Iterator[Ask]:
    """Yield the least budget, days and staff that alone let some wording reach the tier."""
    has = _means(scenario)
    needed = [_needed(plan, scenario) for plan in _plans_at(protocol, tier, scenario)]
    for place, dimension in enumerate(_NUMBERS):
        enough = [need[place] for need in needed if _only(place, need, has)]
        if enough:
            yield Ask(dimension, has[place], min(enough))


def _plans_at(
    protocol: Protocol, tier: EvidenceTier, scenario: NormalizedScenarioPack
) -> Iterator[Protocol]:
    """Yield, for each wording that the lab can use, the smallest plan that reaches the tier."""
    for choice in choices(protocol, scenario):
        worded = revise(apply_changes(protocol, list(choice.changes)), duration_days=0)
        plan = _at_target(worded, scenario, tier)
        if plan is not None and not choice.failing:
            yield plan


def _only(place: int, need: tuple[float, int, int], has: tuple[float, int, int]) -> bool:
    """Return whether nothing but the amount at that place is short."""
    return all(need[other] <= has[other] for other in range(len(has)) if other != place)


def _single_items(
    protocol: Protocol, tier: EvidenceTier, scenario: NormalizedScenarioPack
) -> Iterator[Ask]:
    for ask in _items(protocol, scenario):
        best = least_loss(protocol, granted((ask,), scenario))
        if best.check.feasible and TIER_RANK[best.price.evidence.tier] <= TIER_RANK[tier]:
            yield ask


def asks_text(found: tuple[Ask, ...]) -> str:
    """Return asks in words: ``10 more credits, 1 more day and 'flume' released``."""
    texts = [ask.text for ask in found]
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else "".join(texts)
