"""What a sample of each wording is worth, without building the plan: evidence, tier, shortfall."""

from __future__ import annotations

from dataclasses import dataclass, field

from replicalab.agents.suggestions import apply_changes
from replicalab.evidence import evidence_value, planned_evidence, tier_of
from replicalab.models import Protocol
from replicalab.planner.choices import Choice
from replicalab.planner.limits import Limits
from replicalab.planner.order import TIER_RANK, shortfall
from replicalab.scenarios import Pack


@dataclass(frozen=True)
class Worth:
    """The evidence of a plan's wordings at samples that all count, in days that keep the endpoint.

    Where the lab gives too few days for the endpoint, and ``void`` says so, every plan is worth
    the same: nothing.
    """

    protocol: Protocol
    scenario: Pack
    void: bool = False
    _seen: dict[float, tuple[float | None, float]] = field(default_factory=dict)

    @classmethod
    def in_lab(cls, protocol: Protocol, scenario: Pack) -> Worth:
        """Return what the plan's wordings are worth in as many days as the lab gives."""
        return cls(protocol, scenario, Limits.of(scenario).endpoint_lost)

    def seen(self, choice: Choice) -> tuple[float | None, float]:
        """Return the effect that is seen with a wording, and what is left of every effect."""
        if choice.factor not in self._seen:
            worded = apply_changes(self.protocol, list(choice.changes))
            found = planned_evidence(worded, self.scenario)
            self._seen[choice.factor] = found.effect, found.factor
        return self._seen[choice.factor]

    def value(self, choice: Choice, samples: int) -> float:
        """Return the evidence of so many samples."""
        counted = 0 if self.void else samples
        return evidence_value(self.scenario.design, counted, *self.seen(choice))

    def tier(self, choice: Choice, samples: int) -> int:
        """Return the tier of so many samples: 0 meets the target, 1 is above the floor, 2 below."""
        if self.void:
            return len(TIER_RANK) - 1
        return TIER_RANK[tier_of(self.scenario.design, self.value(choice, samples))]

    def shortfall(self, choice: Choice, samples: int) -> float:
        """Return the evidence of so many samples, lower is better."""
        return shortfall(self.value(choice, samples), self.scenario.design)
