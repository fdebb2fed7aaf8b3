"""The frontier of a lab's plans: evidence against credits, and the plans next to it."""

import math
from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from replicalab.assessment import Assessment, Evidence
from replicalab.facts.frontier import ROOM, scale_end
from replicalab.lexicon import count_text
from replicalab.planner import Frontier, FrontierPlan, LossLine
from replicalab.render.figures.sheet import ChartLine, Mark, Path, Sheet, Spot, evidence_sheet
from replicalab.scenarios import Lab

LOOKS: Final = (
    ("#0072B2", "solid"),
    ("#806600", "dash"),
    ("#00795A", "dot"),
    ("#B5407E", "dashdot"),
    ("#5E6B78", "longdash"),
)
"""Colour and dash of the line of each fidelity loss; a larger loss has the last ones."""
_BUDGET: Final = "#B84E00"
# So many plans of a line can be pointed at; with more, evenly spaced ones.
_LABELLED_OF_A_LINE: Final = 40


def frontier_figure(
    found: Frontier, marks: Sequence[Mark], title: tuple[str, str] | None
) -> go.Figure:
    """Return evidence against credits, a line for each fidelity loss; up is better."""
    evidence, lab, budget = marks[0].plan.evidence, found.pack.lab, found.pack.lab.budget
    scale, end = evidence.row.scale, scale_end(evidence)
    worst = end if scale.lower_is_better else 0.0

    def place(plan: Assessment) -> Spot:
        value = plan.evidence.value
        return plan.cost, value if math.isfinite(value) else worst

    spots = [place(mark.plan) for mark in marks]
    drawn = [plan for line in found.lines for plan in line.plans]
    costs = [budget, *(plan.credits for plan in drawn), *(cost for cost, _ in spots)]
    values = [
        evidence.target,
        evidence.floor,
        *(plan.value for plan in drawn),
        *(value for _, value in spots),
    ]
    pad = max(1.0, (max(costs) - min(costs)) * 0.08)
    top = min(max(values), end) * ROOM
    rest, right = min(costs) - pad, max(costs) + pad
    sheet = evidence_sheet((rest, right), evidence, top)
    upright: Path = [(budget, sheet.y[0]), (budget, sheet.y[1])]
    sheet.draw(
        [*reversed(sheet.bounds(evidence)), ChartLine(f"budget {budget:,.0f}", upright, _BUDGET)]
    )
    for line in found.lines:
        _draw_line(sheet, line, evidence, lab)
    sheet.mark(marks, place, lambda cost, _: lab.money(round(cost)))
    xaxis = {"title": lab.currency, "tickformat": ",", "nticks": 6}
    return sheet.evidence_figure(title, evidence, xaxis)


def _draw_line(sheet: Sheet, line: LossLine, evidence: Evidence, lab: Lab) -> None:
    """Draw one line, whose plans can be pointed at."""
    colour, dash = LOOKS[min(line.loss, len(LOOKS) - 1)]
    plans = _spaced(line.plans)
    path: Path = [(plan.credits, plan.value) for plan in plans]
    sheet.add(
        x=[plan.credits for plan in plans],
        y=[plan.value for plan in plans],
        customdata=[
            f"{count_text(plan.samples, 'sample')}, {count_text(plan.days, 'day')}"
            f"<br>{lab.money(plan.credits)}"
            f"<br>{evidence.text_of(evidence.amount(plan.value))}"
            for plan in plans
        ],
        mode="lines" if len(plans) > 1 else "markers",
        line={"color": colour, "width": 3, "dash": dash},
        marker={"color": colour, "size": 8},
        name=f"fidelity loss {line.loss}",
        hovertemplate="%{customdata}<extra></extra>",
    )
    sheet.name_line(f"loss {line.loss}", path if len(path) > 1 else path * 2, colour)


def _spaced(plans: Sequence[FrontierPlan]) -> list[FrontierPlan]:
    """Return some of a line's plans, the first and the last among them."""
    steps = min(len(plans), _LABELLED_OF_A_LINE) - 1
    return [plans[round(step * (len(plans) - 1) / max(1, steps))] for step in range(steps + 1)]
