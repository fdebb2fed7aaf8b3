"""The frontier of a lab's plans: evidence against credits, and the plans beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import plotly.graph_objects as go

from replicalab.assessment import Assessment
from replicalab.figures.placing import NARROW, rows, spread
from replicalab.figures.sheet import (
    PLOT,
    RIGHT,
    ROW,
    TITLE,
    Measure,
    Sheet,
    draw_marks,
    measure_of,
)
from replicalab.figures.style import CAUTION, EVIDENCE, FAIL, PASS, QUIET, TITLE_SIZE
from replicalab.lexicon import amount_text, count_text
from replicalab.planner import Frontier, FrontierPlan, LossLine

_LOSS_SYMBOLS: Final = ("circle", "square", "triangle-up", "cross", "hexagon")
_LOSS_COLOURS: Final = (EVIDENCE, CAUTION, PASS, FAIL, QUIET)
_LOSS_DASHES: Final = ("solid", "dash", "dot", "dashdot", "longdash")
_BELOW: Final = 58
"""Room below the plot in px, for the credits."""


def frontier_figure(found: Frontier, plans: Mapping[str, Assessment], title: str) -> go.Figure:
    """Return evidence against credits, a line for each fidelity loss; up is better.

    Args:
        found: the plans that nothing beats; not none.
        plans: the plans to mark, each under one of the names of `SYMBOLS`; at least one.
        title: what the chart shows.
    """
    yours = next(iter(plans.values()))
    evidence, measure, budget = yours.evidence, measure_of(yours), found.pack.lab.budget
    bounds = {evidence.target: "target", evidence.floor: "floor"} | {evidence.target: "target"}
    worth = [(name, plan.cost, plan.evidence.value) for name, plan in plans.items()]
    marks = [(n, cost, v if math.isfinite(v) else measure.worst) for n, cost, v in worth]
    points = [(plan.credits, plan.value) for line in found.lines for plan in line.plans]
    points += [(cost, value) for _, cost, value in marks]
    frame = _frame([*(x for x, _ in points), budget], [*(y for _, y in points), *bounds], measure)
    figure = Sheet()
    labelled = []
    for place, line in enumerate(found.lines, start=1):
        # Each line's label is at another height, as lines run close.
        label = _nearest(line.plans, place / (len(found.lines) + 1))
        _draw_line(figure, line, label, measure)
        plan = line.plans[label]
        labelled.append((f"loss {line.loss}", plan.credits, plan.value))
    levels = [(value, f"{name} {evidence.amount(value)}") for value, name in bounds.items()]
    _draw_limits(figure, budget, levels, frame)
    draw_marks(figure, marks, frame.place, "%{x:,.0f} credits", labelled)
    return _framed(figure, frame, measure, title)


class _Frame(NamedTuple):
    left: float
    right: float
    bottom: float
    top: float

    def place(self, credits: float, value: float) -> tuple[float, float]:
        """Return how far from the left, and from the bottom, a plan lies on a phone, in px."""
        across = (credits - self.left) / (self.right - self.left)
        return across * NARROW, (value - self.bottom) / (self.top - self.bottom) * PLOT


def _frame(costs: Sequence[float], values: Sequence[float], measure: Measure) -> _Frame:
    """Return the ends of both axes; better is up."""
    low, high = min(costs), max(costs)
    pad = max(1.0, (high - low) * 0.08)
    ends = 0.0, min(max(values), measure.highest) * 1.06
    return _Frame(low - pad, high + pad, *(ends[::-1] if measure.lower_is_better else ends))


def _nearest(plans: Sequence[FrontierPlan], share: float) -> int:
    """Return the plan that is nearest to that share of a line's rise."""
    value = plans[0].value + share * (plans[-1].value - plans[0].value)
    return min(range(len(plans)), key=lambda place: abs(plans[place].value - value))


def _draw_line(figure: Sheet, line: LossLine, label: int, measure: Measure) -> None:
    """Draw one line, with its symbol at either end and where its label is."""
    style = min(line.loss, len(_LOSS_SYMBOLS) - 1)
    shown = {0, label, len(line.plans) - 1}
    figure.add_scatter(
        x=[plan.credits for plan in line.plans],
        y=[plan.value for plan in line.plans],
        customdata=[_hover(plan, measure) for plan in line.plans],
        mode="lines+markers",
        line={"color": _LOSS_COLOURS[style], "width": 2.5, "dash": _LOSS_DASHES[style]},
        marker={
            "symbol": _LOSS_SYMBOLS[style],
            "size": [8 if place in shown else 0 for place in range(len(line.plans))],
            "color": _LOSS_COLOURS[style],
        },
        name=f"fidelity loss {line.loss}",
        hovertemplate="%{customdata}<extra></extra>",
    )


def _hover(plan: FrontierPlan, measure: Measure) -> str:
    size = f"{amount_text(plan.samples)} samples, {count_text(plan.days, 'day')}"
    return (
        f"{size}<br>{amount_text(plan.credits)} credits<br>"
        f"{measure.name} {measure.amount(plan.value)}"
    )


def _draw_limits(
    figure: Sheet, budget: float, levels: Sequence[tuple[float, str]], frame: _Frame
) -> None:
    wanted = [frame.place(0, value)[1] for value, _ in levels]
    places = spread(wanted, [ROW] * len(wanted), PLOT)
    for (value, label), want, got in zip(levels, wanted, places, strict=True):
        figure.add_level(value, {"color": QUIET, "width": 1.5, "dash": "dash"})
        figure.label_beside(value, label, got - want)
    figure.add_upright(budget, {"color": FAIL, "width": 2})
    text = f"budget {budget:,.0f}"
    [place] = rows([frame.place(budget, 0)[0]], [text], overhang=38)
    figure.label_above(budget, text, place)


def _framed(figure: Sheet, frame: _Frame, measure: Measure, title: str) -> go.Figure:
    return figure.figure({
        "title": {"text": title, "font": {"size": TITLE_SIZE}, "y": 0.98, "yanchor": "top"},
        "height": TITLE + ROW + PLOT + _BELOW,
        "margin": {"l": 8, "r": RIGHT, "t": TITLE + ROW, "b": _BELOW},
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": False,
        "xaxis": {"title": {"text": "credits", "standoff": 10}, "range": [frame.left, frame.right],
               "tickformat": ",", "zeroline": False, "nticks": 6},
        "yaxis": {"title": {"text": measure.name, "standoff": 14}, "zeroline": False,
               "range": [frame.bottom, frame.top], "tickformat": measure.tick_format,
               "automargin": True},
    })  # fmt: skip
