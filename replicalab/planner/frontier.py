"""The plans that nothing beats: on cost, days, evidence and fidelity at once.

Of one wording, more samples cost more and take no fewer days, so only the fewest days for each
sample matter, and a plan of another wording is beaten only by the cheapest plan of this one with
as much evidence. Source: the behaviour contract, section 7; Nash (1950), Econometrica 18, 155-162.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from replicalab.agents.suggestions import SuggestionChange, apply_changes
from replicalab.concessions import price
from replicalab.costs import counts_of, credits_needed
from replicalab.evidence import evidence_value, planned_evidence, tier_of
from replicalab.models import Protocol, revise
from replicalab.planner.choices import Choice, choices
from replicalab.planner.limits import MOST_SAMPLES, Limits, largest
from replicalab.scenarios.models import DesignKind, EvidenceTier, NormalizedScenarioPack

MOST_SIZES: Final = 1000
"""So many sample sizes are looked at for each wording; above it they are evenly spaced."""


@dataclass(frozen=True)
class FrontierPlan:
    """A feasible plan that no other beats.

    Attributes:
        samples, days, credits: what it takes.
        value: its evidence, in the study's measure.
        tier: where that stands to target and floor.
        loss: the fidelity that it gives up.
        wording: the changes of the original's items and controls.
    """

    samples: int
    days: int
    credits: float
    value: float
    tier: EvidenceTier
    loss: int
    wording: tuple[SuggestionChange, ...]

    def plan(self, protocol: Protocol) -> Protocol:
        """Return the whole plan, as a revision of the one that the frontier was drawn for."""
        worded = apply_changes(protocol, list(self.wording))
        return revise(worded, sample_size=self.samples, duration_days=self.days)


@dataclass(frozen=True)
class Standing:
    """Where a plan stands to the frontier; both None when nothing beats it.

    Attributes:
        cheaper: the cheapest plan with no less evidence, no more days and no more loss.
        stronger: the plan with most evidence at no more cost, days and loss.
    """

    cheaper: FrontierPlan | None
    stronger: FrontierPlan | None

    @property
    def unbeaten(self) -> bool:
        """Whether the plan is on the frontier."""
        return self.cheaper is None and self.stronger is None


@dataclass(frozen=True)
class Frontier:
    """The plans that nothing beats, cheapest first; none when no feasible plan has evidence."""

    plans: tuple[FrontierPlan, ...]
    lower_is_better: bool

    def standing(self, plan: Protocol, scenario: NormalizedScenarioPack) -> Standing:
        """Return where a plan stands to the frontier."""
        priced = price(plan, scenario)
        worth = self._worth(priced.evidence.value)
        rivals = [
            each
            for each in self.plans
            if each.days <= plan.duration_days
            and each.credits <= priced.credits
            and each.loss <= priced.loss
            and self._worth(each.value) >= worth
        ]
        cheaper = min(rivals, key=self._by_cost, default=None)
        stronger = max(rivals, key=self._by_worth, default=None)
        return Standing(
            cheaper if cheaper and cheaper.credits < priced.credits else None,
            stronger if stronger and self._worth(stronger.value) > worth else None,
        )

    def _by_cost(self, each: FrontierPlan) -> tuple[float, float]:
        return each.credits, -self._worth(each.value)

    def _by_worth(self, each: FrontierPlan) -> tuple[float, float]:
        return self._worth(each.value), -each.credits

    def _worth(self, value: float) -> float:
        return round(-value if self.lower_is_better else value, 12)


def frontier(scenario: NormalizedScenarioPack, protocol: Protocol) -> Frontier:
    """Return the feasible plans that no other beats on cost, days, evidence and fidelity at once.

    Searched: every number of days, allowed substitution, droppable control and sample size that
    the lab affords, up to `planner.limits.MOST_SAMPLES`.
    """
    lower_is_better = scenario.design.kind is DesignKind.PRECISION
    curves = [
        curve
        for choice in choices(protocol, scenario)
        if not choice.failing and (curve := _curve(choice, protocol, scenario))
    ]
    found = [
        point
        for place, curve in enumerate(curves)
        for point in curve
        if not any(
            _beaten(point, other, other_place < place)
            for other_place, other in enumerate(curves)
            if other_place != place
        )
    ]
    ordered = sorted((point for _, point in found), key=lambda p: (p.credits, p.days, p.loss))
    return Frontier(tuple(ordered), lower_is_better)


_Point = tuple[float, FrontierPlan]
"""A plan with its shortfall of evidence, lower is better."""


def _curve(choice: Choice, protocol: Protocol, scenario: NormalizedScenarioPack) -> list[_Point]:
    """Return the plans of one wording by growing sample, only those that add evidence."""
    bare = apply_changes(protocol, list(choice.changes))
    limits = Limits.of(scenario)
    if limits.days[1] < scenario.min_days:
        return []
    counts = counts_of(bare)
    effect = planned_evidence(bare, scenario).effect
    loss = price(bare, scenario).loss
    curve: list[_Point] = []
    for samples in _sizes(choice, protocol, scenario):
        days = limits.fewest_days(samples)
        value = evidence_value(scenario.design, samples, effect)
        point = FrontierPlan(
            samples,
            days,
            credits_needed(counts._replace(samples=samples, days=days), scenario.cost_model),
            value,
            tier_of(scenario.design, value),
            loss,
            choice.changes,
        )
        short = round(value if scenario.design.kind is DesignKind.PRECISION else -value, 12)
        if curve and short >= curve[-1][0]:
            continue
        if curve and point.credits <= curve[-1][1].credits and days <= curve[-1][1].days:
            curve.pop()
        curve.append((short, point))
    return curve


def _sizes(choice: Choice, protocol: Protocol, scenario: NormalizedScenarioPack) -> Iterator[int]:
    limits = Limits.of(scenario)
    counts = counts_of(protocol)._replace(controls=choice.controls)
    high = min(MOST_SAMPLES, limits.most_samples(limits.days[1]))
    low = choice.controls + 1
    most = largest(lambda n: limits.at_best(counts._replace(samples=n)), low, high)
    if most is None:
        return
    step = max(1, -(-(most - low) // MOST_SIZES))
    yield from range(low, most, step)
    yield most


def _beaten(point: _Point, curve: list[_Point], before: bool) -> bool:
    """Return whether a plan of the curve is as good in all four, and better in one or earlier."""
    short, plan = point
    place = bisect_left(curve, -short, key=lambda other: -other[0])
    if place == len(curve):
        return False
    rival_short, rival = curve[place]
    mine = (plan.credits, plan.days, plan.loss, short)
    theirs = (rival.credits, rival.days, rival.loss, rival_short)
    return all(b <= a for a, b in zip(mine, theirs, strict=True)) and (before or theirs != mine)


def nash_point(found: Frontier, scenario: NormalizedScenarioPack) -> FrontierPlan | None:
    """Return the balanced plan of a frontier, None when none is above the floor.

    It is the one at which the product of what each side gains is largest: for the Scientist the
    evidence above the floor, shared by 1 + the fidelity given up; for the Lab Manager the credits
    left over. Without an agreement both would gain nothing.
    """
    above = [each for each in found.plans if each.tier is not EvidenceTier.BELOW_FLOOR]
    budget, floor = scenario.lab.budget_remaining, scenario.design.floor

    def product(each: FrontierPlan) -> tuple[float, float]:
        gain = abs(each.value - floor) / (1 + each.loss)
        return gain * (budget - each.credits), gain

    return max(above, key=product, default=None)
