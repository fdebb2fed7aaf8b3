"""A study in a lab at a glance: its best plan there, and how good that is beside other studies'."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from replicalab.assessment import Assessment, assess
from replicalab.models import Dimension
from replicalab.planner.least_loss import LeastLoss
from replicalab.planner.limits import TIER_RANK
from replicalab.planner.options import Options
from replicalab.scenarios import Pack


class Merit(NamedTuple):
    """How good a study's best plan is beside another study's; the smaller is the better.

    Attributes:
        failing: how many dimensions it fails.
        tier: 0 meets the study's target, 1 is above its floor, 2 below it.
        missing: the share of the target that it does not reach.
        loss: the fidelity that it gives up.
    """

    failing: int
    tier: int
    missing: float
    loss: int
    credits: float


@dataclass(frozen=True)
class Surveyed:
    """A study in a lab.

    Attributes:
        reference: the plan that would do the study justice.
        least: the plan that gives up the least of it there.
        binding: the limit whose relief would buy most, None where none buys anything.
    """

    reference: Assessment
    least: LeastLoss
    binding: Dimension | None

    @property
    def pack(self) -> Pack:
        """The study in the lab."""
        return self.reference.pack

    @property
    def best(self) -> Assessment:
        """The least-loss plan."""
        return self.least.after

    @cached_property
    def share(self) -> float:
        """How much of the study's target the best plan reaches, at most 1."""
        evidence = self.best.evidence
        return evidence.row.scale.attained(evidence.value, evidence.target)

    @cached_property
    def merit(self) -> Merit:
        """What the order of studies goes by."""
        best = self.best
        return Merit(
            len(best.failing),
            TIER_RANK[best.evidence.tier],
            1 - self.share,
            best.fidelity_loss,
            best.cost,
        )


def surveyed(pack: Pack) -> Surveyed:
    """Return the best that a lab can do about a study's reference protocol."""
    options = Options(assess(pack.reference_protocol, pack))
    return Surveyed(options.yours, options.least, options.binding)
