"""The plans that nothing beats, where another plan stands to them, and the balanced one of them.

Source: the behaviour contract, section 7; Nash (1950), Econometrica 18, 155-162.
"""

from __future__ import annotations

from dataclasses import dataclass

from replicalab.concessions import price
from replicalab.measures import KINDS
from replicalab.models import Protocol
from replicalab.planner.curves import FrontierPlan, unbeaten_plans
from replicalab.planner.order import shortfall
from replicalab.scenarios import EvidenceTier, Pack


@dataclass(frozen=True)
class Standing:
    """Where a plan stands to the frontier; all None when nothing beats it.

    Attributes:
        cheaper: the cheapest plan with no less evidence, no more days and no more loss.
        stronger: the plan with most evidence at no more cost, days and loss.
        gentler: where neither exists, a plan of the same cost and evidence that gives up less
            fidelity, or takes fewer days.
    """

    cheaper: FrontierPlan | None
    stronger: FrontierPlan | None
    gentler: FrontierPlan | None = None

    @property
    def unbeaten(self) -> bool:
        """Whether nothing beats the plan."""
        return self.cheaper is None and self.stronger is None and self.gentler is None


@dataclass(frozen=True)
class Frontier:
    """The plans that nothing beats, cheapest first; none when no feasible plan has evidence."""

    plans: tuple[FrontierPlan, ...]
    lower_is_better: bool

    def standing(self, plan: Protocol, scenario: Pack) -> Standing:
        """Return where a plan stands to the frontier."""
        priced = price(plan, scenario)
        short = shortfall(priced.evidence.value, scenario.design)
        rivals = [
            (shortfall(each.value, scenario.design), each)
            for each in self.plans
            if each.days <= plan.duration_days
            and each.credits <= priced.credits
            and each.loss <= priced.loss
            and shortfall(each.value, scenario.design) <= short
        ]
        cheaper = min(rivals, key=lambda r: (r[1].credits, r[0]), default=None)
        stronger = min(rivals, key=lambda r: (r[0], r[1].credits), default=None)
        gentler = min(rivals, key=lambda r: (r[1].loss, r[1].days), default=None)
        found = Standing(
            cheaper[1] if cheaper and cheaper[1].credits < priced.credits else None,
            stronger[1] if stronger and stronger[0] < short else None,
        )
        if gentler is None or not found.unbeaten:
            return found
        same = (gentler[1].loss, gentler[1].days) == (priced.loss, plan.duration_days)
        return found if same else Standing(None, None, gentler[1])


def frontier(scenario: Pack, protocol: Protocol) -> Frontier:
    """Return the feasible plans that no other beats on cost, days, evidence and fidelity at once.

    Searched: every number of days that keeps the endpoint, allowed substitution, droppable control
    and sample size that the lab affords, up to `planner.limits.MOST_SAMPLES`. Of plans that are
    equal in all four, one is returned.
    """
    lower_is_better = KINDS[scenario.design.kind].scale.lower_is_better
    return Frontier(unbeaten_plans(protocol, scenario), lower_is_better)


def nash_point(found: Frontier, scenario: Pack) -> FrontierPlan | None:
    """Return the balanced plan of a frontier, None when none is above the floor.

    It is the one at which the product of what each side gains is largest: for the Scientist the
    evidence above the floor, shared by 1 + the fidelity given up; for the Lab Manager the credits
    left over. Without an agreement both would gain nothing.
    """
    above = [each for each in found.plans if each.tier is not EvidenceTier.BELOW_FLOOR]
    budget, floor = scenario.lab.budget, scenario.design.floor

    def product(each: FrontierPlan) -> tuple[float, float]:
        gain = abs(each.value - floor) / (1 + each.loss)
        return gain * (budget - each.credits), gain

    return max(above, key=product, default=None)
