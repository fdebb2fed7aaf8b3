"""The plans that nothing beats, few enough to be drawn as lines and to be read in a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from replicalab.planner import Frontier, FrontierPlan

MOST_LISTED: Final = 15
"""So many plans are listed, shared out over the lines; the balanced plan may come on top."""

_FEWEST_OF_A_LINE: Final = 3


class LossLine(NamedTuple):
    """The plans of one fidelity loss with the most evidence for their credits, cheapest first."""

    loss: int
    plans: tuple[FrontierPlan, ...]


def loss_lines(found: Frontier) -> tuple[LossLine, ...]:
    """Return one line for each fidelity loss.

    A plan that nothing beats only because it takes fewer days is on no line: a cheaper plan of
    the same fidelity loss has as much evidence.
    """
    losses = sorted({plan.loss for plan in found.plans})
    return tuple(LossLine(loss, _rising(found, loss)) for loss in losses)


def _rising(found: Frontier, loss: int) -> tuple[FrontierPlan, ...]:
    """Return the plans of that loss that have more evidence than every cheaper one."""
    sign = -1 if found.lower_is_better else 1
    ordered = sorted(
        (plan for plan in found.plans if plan.loss == loss),
        key=lambda plan: (plan.credits, -sign * plan.value),
    )
    kept: list[FrontierPlan] = []
    for plan in ordered:
        if not kept or sign * plan.value > sign * kept[-1].value:
            kept.append(plan)
    return tuple(kept)


def listed_plans(
    lines: Sequence[LossLine], balanced: FrontierPlan | None
) -> tuple[FrontierPlan, ...]:
    """Return about `MOST_LISTED` plans, line by line, each line's evenly spaced by credits."""
    each = max(_FEWEST_OF_A_LINE, MOST_LISTED // max(1, len(lines)))
    found = [plan for line in lines for plan in _spaced(line.plans, each)]
    if balanced is not None and balanced not in found:
        found.append(balanced)
    return tuple(sorted(found, key=lambda plan: (plan.loss, plan.credits)))


def _spaced(plans: Sequence[FrontierPlan], most: int) -> list[FrontierPlan]:
    """Return at most that many of a line's plans: the first, the last, and some between them."""
    if len(plans) <= most:
        return list(plans)
    low, high = plans[0].credits, plans[-1].credits
    wanted = [low + (high - low) * step / (most - 1) for step in range(most)]
    near = [min(plans, key=lambda plan: abs(plan.credits - want)) for want in wanted]
    return list(dict.fromkeys(near))
