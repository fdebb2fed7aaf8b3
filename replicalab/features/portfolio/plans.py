"""The undominated plans of a study, as options of a portfolio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import isfinite
from typing import Final, NamedTuple

from replicalab.assessment import Assessment, assess
from replicalab.errors import PortfolioError
from replicalab.features.portfolio.programme import PlanOption, undominated
from replicalab.lexicon import label_key, shortened
from replicalab.models import Dimension, revise
from replicalab.planner.limits import TIER_RANK, CountLimits, EvidenceCurve, most_looked_at
from replicalab.planner.variants import variants_of
from replicalab.scenarios import MOST, EvidenceTier, Pack

UNIT: Final = 1_000_000  # credits and worth are counted in whole millionths


@dataclass(frozen=True)
class PortfolioStudy:
    """A study in the lab, with the worth of its target and the share for only its floor."""

    pack: Pack
    worth: float = 1.0
    floor_share: float = 0.0

    def __post_init__(self) -> None:
        name = f"'{shortened(self.pack.paper.name)}'"
        for label, number, limit, example in (
            ("worth of", self.worth, MOST, 2),
            ("share at the floor of", self.floor_share, 1, 0.5),
        ):
            if not (isfinite(number) and 0 <= number <= limit):
                raise PortfolioError(
                    f"{label} {name}: {number:g} is no number from 0 to {limit:,}; write one such "
                    f"as {example}, and 0 for what does not count"
                )

    def counts(self, tier: EvidenceTier) -> float:
        """Return the worth of a plan with that evidence."""
        shares = {EvidenceTier.MEETS_TARGET: 1.0, EvidenceTier.ABOVE_FLOOR: self.floor_share}
        return self.worth * shares.get(tier, 0.0)


class LabPlans(NamedTuple):
    """The plans of a study; ``exact`` is False if some may be missing."""

    plans: Mapping[PlanOption, Assessment]
    exact: bool


def plans_of(candidate: PortfolioStudy) -> LabPlans:
    """Return the undominated plans of a study, whatever they cost.

    For each variant of the study's protocol these are the plans that reach the target, or the
    floor, with the fewest samples and days, on the first day or after a booking ends.
    """
    plans, exact = dict[PlanOption, Assessment](), True
    tiers = [tier for tier in EvidenceTier if whole(candidate.counts(tier))]
    for pack in _labs(candidate.pack) if tiers else ():
        limits = CountLimits(pack, frozenset({Dimension.BUDGET}))
        if limits.endpoint_lost:
            break
        reference = assess(pack.reference_protocol, pack)
        variants = variants_of(reference, by_instruments=True)
        exact = exact and variants.exact
        curve = EvidenceCurve(pack, most_looked_at(reference.plan))
        for variant, tier in product(variants.listed, tiers):
            allowed = curve.allowed(variant.factor)
            needed = curve.needed(TIER_RANK[tier], variant.factor)
            if variant.failing or allowed is None or needed is None:
                continue
            counts = limits.fewest(variant.counts(reference.counts), max(needed, allowed))
            if not limits.allows(counts):
                continue
            numbers = {"sample_size": int(counts.samples), "duration_days": int(counts.days)}
            plan = assess(revise(variant.applied_to(reference.plan), **numbers), pack)
            if not {*plan.failing} - {Dimension.BUDGET}:
                plans.setdefault(_option(plan, candidate), plan)
    return LabPlans({option: plans[option] for option in undominated(plans)}, exact)


def _labs(pack: Pack) -> Iterator[Pack]:
    """Yield the study in the lab as it is, and from each day after a booking ends."""
    lab = pack.lab
    ends = {pack.inventory.booked_until(item) for item in pack.known_items}
    later = {until + 1 for until in ends if until is not None and until < lab.days}
    for first in sorted({lab.start_day, *later}):
        yield pack.in_lab(lab.with_means(start_day=first))


def _option(plan: Assessment, candidate: PortfolioStudy) -> PlanOption:
    return PlanOption(
        whole(candidate.counts(plan.evidence.tier)),
        plan.fidelity_loss,
        whole(plan.cost),
        plan.counts.days,
        plan.staff,
        frozenset(map(label_key, plan.plan.required_equipment)),
        plan.pack.lab.start_day,
    )


def whole(amount: float) -> int:
    """Return an amount in whole millionths."""
    return round(amount * UNIT)
