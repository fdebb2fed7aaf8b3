"""The check of a plan: the seven dimensions, its evidence, and its cost against the budget."""

from __future__ import annotations

from replicalab.assessment import Assessment
from replicalab.panels import check_panel, cost_panel, evidence_panel
from replicalab.planner import Options
from replicalab.ui import panel
from replicalab.ui.protocol.changes import Ticked


def draw(options: Options, found: Ticked) -> None:
    """Draw what the plan needs of what the lab has, what it is worth, and what it costs."""
    yours = options.yours
    panel.draw(
        check_panel(yours, options.binding),
        panel.beside(evidence_panel(_compared(options, found)), cost_panel(yours, found.result)),
    )


def _compared(options: Options, found: Ticked) -> dict[str, Assessment]:
    """Return your plan and the two revisions, where they are other plans."""
    yours, least = options.yours, options.least.after
    compared = {"Your plan": yours}
    if found.result.plan != yours.plan:
        compared["As ticked"] = found.result
    if not least.evidence.void and least.plan not in (yours.plan, found.result.plan):
        compared["Least loss"] = least
    return compared
