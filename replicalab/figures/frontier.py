"""The frontier of a lab's plans: evidence against credits, and the plans beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import plotly.graph_objects as go

from replicalab.assessment import Assessment, Evidence
from replicalab.figures.sheet import Sheet, scale_end
from replicalab.figures.style import CAUTION, EVIDENCE, FAIL, PASS, QUIET, level, upright
from replicalab.lexicon import count_text
from replicalab.planner import Frontier, FrontierPlan, LossLine

_LOOKS: Final = (
    ("circle", EVIDENCE, "solid"),
    ("square", CAUTION, "dash"),
    ("triangle-up", PASS, "dot"),
    ("cross", FAIL, "dashdot"),
    ("hexagon", QUIET, "longdash"),
)
"""Symbol, colour and dash of the line of each fidelity loss; a larger loss has the last ones."""
_BELOW: Final = 58
"""Room below the plot in px, for the credits."""


def frontier_figure(found: Frontier, plans: Mapping[str, Assessment], title: str) -> go.Figure:
    """Return evidence against credits, a line for each fidelity loss; up is better.

    Args:
        found: the plans that nothing beats; not none.
        plans: the plans to mark, each under one of the names of `SYMBOLS`; at least one.
        title: what the chart shows.
    """
    evidence, budget = next(iter(plans.values())).evidence, found.pack.lab.budget
    scale, end = evidence.row.scale, scale_end(evidence)
    worst = end if scale.lower_is_better else 0.0
    marks = [
        (name, plan.cost, value if math.isfinite(value := plan.evidence.value) else worst)
        for name, plan in plans.items()
    ]
    bounds = {evidence.target: "target", evidence.floor: "floor"} | {evidence.target: "target"}

    drawn = [plan for line in found.lines for plan in line.plans]
    costs = [budget, *(plan.credits for plan in drawn), *(cost for _, cost, _ in marks)]
    values = [*bounds, *(plan.value for plan in drawn), *(value for _, _, value in marks)]
    pad = max(1.0, (max(costs) - min(costs)) * 0.08)
    top = min(max(values), end) * 1.06
    sheet = Sheet(
        (min(costs) - pad, max(costs) + pad), (top, 0.0) if scale.lower_is_better else (0.0, top)
    )
    labelled = []
    for place, line in enumerate(found.lines, start=1):
        # Each line's label is at another height, as lines run close.
        at = _nearest(line, place / (len(found.lines) + 1))
        _draw_line(sheet, line, at, evidence)
        labelled.append((f"loss {line.loss}", line.plans[at].credits, line.plans[at].value))
    sheet.lines += [level(value, layer="above", color=QUIET, dash="dash") for value in bounds]
    sheet.lines.append(upright(budget, layer="above", color=FAIL, width=2))
    sheet.label_beside([(at, f"{name} {evidence.amount(at)}") for at, name in bounds.items()])
    above = sheet.label_above([(budget, f"budget {budget:,.0f}")])
    sheet.mark(marks, lambda cost, _: count_text(round(cost), "credit"), labelled)
    return sheet.figure(
        title,
        (above, _BELOW),
        xaxis={"title": {"text": "credits", "standoff": 10}, "tickformat": ",", "nticks": 6},
        yaxis={"title": {"text": evidence.measure, "standoff": 14}, "tickformat": scale.ticks},
    )


def _nearest(line: LossLine, share: float) -> int:
    """Return the place of the plan that is nearest to that share of a line's rise."""
    first, last = line.plans[0].value, line.plans[-1].value
    value = first + share * (last - first)
    return min(range(len(line.plans)), key=lambda place: abs(line.plans[place].value - value))


def _draw_line(sheet: Sheet, line: LossLine, at: int, evidence: Evidence) -> None:
    """Draw one line, with its symbol at either end and where its label is."""
    symbol, colour, dash = _LOOKS[min(line.loss, len(_LOOKS) - 1)]
    shown = {0, at, len(line.plans) - 1}
    sheet.add(
        x=[plan.credits for plan in line.plans],
        y=[plan.value for plan in line.plans],
        customdata=[_hover(plan, evidence) for plan in line.plans],
        mode="lines+markers",
        line={"color": colour, "width": 2.5, "dash": dash},
        marker={
            "symbol": symbol,
            "size": [8 if place in shown else 0 for place in range(len(line.plans))],
            "color": colour,
        },
        name=f"fidelity loss {line.loss}",
        hovertemplate="%{customdata}<extra></extra>",
    )


def _hover(plan: FrontierPlan, evidence: Evidence) -> str:
    size = f"{count_text(plan.samples, 'sample')}, {count_text(plan.days, 'day')}"
    worth = f"{evidence.measure} {evidence.amount(plan.value)}"
    return f"{size}<br>{count_text(plan.credits, 'credit')}<br>{worth}"
