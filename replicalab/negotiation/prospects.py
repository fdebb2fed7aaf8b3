"""What a lab could run at best: the plan above the floor that exists, or the proof that none does.

The planner searches the days, the samples, the allowed substitutions and the droppable controls of
a plan; the technique and the items stay. So what is proven is proven of plans "with this method".
It is asked for the plan on the table first, and where that leads nowhere for the study's own.
"""

from __future__ import annotations

from typing import NamedTuple

from replicalab.lexicon import count_text
from replicalab.models import Protocol
from replicalab.negotiation.wording import fails_text, floor_text
from replicalab.planner import LeastLoss, least_loss
from replicalab.scenarios import Pack

_COMPARED = 4
"""The first terms of a rank: failing, tier, loss and evidence, which do not depend on the base."""


class Prospect(NamedTuple):
    """The best that a lab allows.

    Attributes:
        base: the plan that was revised: the one on the table, or the reference protocol.
        best: the revision that gives up the least.
    """

    base: Protocol
    best: LeastLoss

    @property
    def exists(self) -> bool:
        """Whether some plan that the lab can run is above the study's floor."""
        return not self.best.none_above_floor


def prospect(plan: Protocol | None, scenario: Pack) -> Prospect:
    """Return what the lab could run at best of a plan, or else of the reference protocol.

    Args:
        plan: the plan on the table; None where there is none.
        scenario: the study in its lab.
    """
    reference = scenario.reference_protocol
    first = Prospect(plan or reference, least_loss(plan or reference, scenario))
    if first.exists or first.base == reference:
        return first
    second = Prospect(reference, least_loss(reference, scenario))
    return min(first, second, key=lambda found: found.best.rank[:_COMPARED])


def none_exists_text(found: Prospect, scenario: Pack) -> str:
    """Return in words that no plan above the floor exists, and what the best comes to.

    Only true where ``found.exists`` is False.
    """
    best = found.best
    if best.none_feasible:
        failing = fails_text([dimension.value for dimension in best.check.failing])
        return f"no plan with this method passes in this lab: at best {failing}"
    evidence = best.price.evidence
    none = f"no plan {floor_text(evidence)} exists in this lab with this method"
    if not evidence.void:
        return f"{none}: the best has {evidence.text}"
    needed, given = count_text(scenario.min_days, "day"), scenario.lab.days
    return f"{none}: the study's endpoint needs {needed}, and this lab has {given}"
