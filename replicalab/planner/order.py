"""Which of two plans gives up less: the one order by which all plans are compared.

Source: the behaviour contract, section 7.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

from replicalab.agents import FeasibilityCheckResult
from replicalab.concessions import price
from replicalab.lexicon import label_key
from replicalab.measures import KINDS
from replicalab.models import PROTOCOL_FIELDS, Protocol
from replicalab.planner.limits import Limits
from replicalab.scenarios import Design, EvidenceTier, Pack

TIER_RANK: Final = {tier: place for place, tier in enumerate(EvidenceTier)}
_DIGITS: Final = 12


class Rank(NamedTuple):
    """What a plan gives up, the worst first; the smaller rank is the better plan.

    Attributes:
        failing: the dimensions that fail, and 1 more if samples are planned that cannot count.
        tier: 0 meets the target, 1 is above the floor, 2 is below it.
        loss: fidelity given up; each substitution counts 0 to 3, each dropped control 1.
        shortfall: the evidence, lower is better (a power counts negative).
        changes: how many values of the original plan differ.
        days_short: how many days the study's endpoint is short of, 0 where it is kept.
        credits: what the plan costs.
    """

    failing: int
    tier: int
    loss: int
    shortfall: float
    changes: int
    days_short: int
    credits: float


def rank(
    plan: Protocol,
    check: FeasibilityCheckResult,
    original: Protocol,
    scenario: Pack,
) -> Rank:
    """Return the rank of a checked plan as a revision of the original."""
    priced = price(plan, scenario)
    wasted = plan.sample_size > Limits.of(scenario).most_samples(plan.duration_days)
    return Rank(
        len(check.failing) + wasted,
        TIER_RANK[priced.evidence.tier],
        priced.loss,
        shortfall(priced.evidence.value, scenario.design),
        changed_values(original, plan),
        days_short(plan.duration_days, scenario),
        priced.credits,
    )


def shortfall(value: float, design: Design) -> float:
    """Return an evidence so that less is better; equal to a rounding error counts as equal."""
    lower_is_better = KINDS[design.kind].scale.lower_is_better
    return round(value if lower_is_better else -value, _DIGITS)


def days_short(days: int, scenario: Pack) -> int:
    """Return how many days more the study's endpoint needs."""
    return max(0, scenario.min_days - days)


def changed_values(original: Protocol, plan: Protocol) -> int:
    """Return how many values differ: each number, text and listed label counts once."""
    return sum(
        _changed_labels(old, new) if isinstance(old, list) else old != new
        for old, new in ((getattr(original, f), getattr(plan, f)) for f in PROTOCOL_FIELDS)
    )


def _changed_labels(old: list[str], new: list[str]) -> int:
    before, after = Counter(map(label_key, old)), Counter(map(label_key, new))
    return max((before - after).total(), (after - before).total())
