"""How a plan may be worded otherwise: allowed substitutions of missing items, dropped controls.

Each item that this lab lacks may stay or give way to a usable alternative; of each droppable
control every copy may stay or go. Every combination is a `Choice`; those that another beats in
every respect are left out as they arise, so that their number stays small and nothing is lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from replicalab.agents.suggestions import SuggestionChange
from replicalab.models import Dimension, Protocol, wording_of
from replicalab.planner.drops import drops
from replicalab.planner.items import substituted
from replicalab.planner.missing import policy_failing
from replicalab.scenarios import Pack


@dataclass(frozen=True)
class Choice:
    """One way to word the plan.

    Attributes:
        changes: from the original wording to this one.
        failing: the dimensions that fail because of the wording, whatever the numbers.
        controls: how many controls stay.
        loss: the fidelity that this wording's substitutions and the drops give up.
        factor: what this wording's substitutions leave of the effect, in (0, 1].
        cut: whether there were too many ways to word the plan to look at each.
        dropped: how many controls of the plan go altogether.
    """

    changes: tuple[SuggestionChange, ...]
    failing: frozenset[Dimension]
    controls: int
    loss: int = 0
    factor: float = 1.0
    cut: bool = False
    dropped: int = 0


def choices(protocol: Protocol, scenario: Pack) -> list[Choice]:
    """Return the ways to word the plan; of those left out, one here is as good in every respect.

    The respects are the failing dimensions, the loss, the factor, the controls that stay, and how
    many changes it takes. Where `Choice.cut` says so, one may be missing.
    """
    wording = wording_of(protocol)
    stated = policy_failing((wording.technique, wording.rationale), scenario)
    return [
        Choice(
            changes=(*items.changes, *drop.changes),
            failing=stated | items.failing | drop.failing,
            controls=drop.controls,
            loss=items.loss + drop.loss,
            factor=items.factor,
            cut=items.cut,
            dropped=drop.loss,
        )
        for items in substituted(wording, scenario)
        for drop in drops(wording.controls, scenario)
    ]
