"""The frontier of a lab's plans: evidence against credits, and the plans beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import plotly.graph_objects as go

from replicalab.figures.placing import LABEL_SIZE, NARROW, rows, spread
from replicalab.figures.sheet import (
    BOTTOM,
    INK,
    PAPER,
    PLOT,
    RIGHT,
    ROW,
    SYMBOLS,
    TITLE,
    Measure,
    Sheet,
    draw_chips,
)
from replicalab.figures.style import CAUTION, EVIDENCE, FAIL, PASS, QUIET, TITLE_SIZE


class FrontierPoint(NamedTuple):
    """A plan of the frontier: credits, evidence, fidelity given up, and what it is in words."""

    credits: float
    value: float
    loss: int
    text: str


class PlanMark(NamedTuple):
    """A plan that is marked beside the frontier; its name is one of `SYMBOLS`."""

    name: str
    credits: float
    value: float


_LOSS_SYMBOLS: Final = ("circle", "square", "triangle-up", "cross", "hexagon")
_LOSS_COLOURS: Final = (EVIDENCE, CAUTION, PASS, FAIL, QUIET)


def frontier_figure(
    points: Sequence[FrontierPoint],
    marks: Sequence[PlanMark],
    *,
    budget: float,
    levels: Sequence[tuple[str, float]],
    measure: Measure,
    title: str,
) -> go.Figure:
    """Return evidence against credits for the plans that nothing beats; up is better.

    Args:
        points: the frontier's plans.
        marks: the plans to mark.
        budget: credits that remain, drawn as a line.
        levels: target and floor of the evidence, each with its label.
        measure: how evidence is shown.
        title: what the chart shows.
    """
    figure = Sheet()
    for loss in sorted({point.loss for point in points}):
        _draw_frontier(figure, [point for point in points if point.loss == loss], loss, measure)
    costs = [*(p.credits for p in points), *(m.credits for m in marks), budget]
    low, high = min(costs), max(costs)
    pad = max(1.0, (high - low) * 0.08)
    values = [*(m.value for m in marks), *(value for _, value in levels)]
    values += [p.value for p in points]
    bottom, top = _value_range(values, measure)
    frame = _Ranges(low - pad, high + pad, bottom, top)
    _draw_frontier_lines(figure, budget, levels, frame)
    _draw_plan_marks(figure, marks, frame)
    return _framed_frontier(figure, frame, measure, title)


class _Ranges(NamedTuple):
    left: float
    right: float
    bottom: float
    top: float

    def x(self, credits: float) -> float:
        return (credits - self.left) / (self.right - self.left) * NARROW

    def y(self, value: float) -> float:
        return (value - self.bottom) / (self.top - self.bottom) * PLOT


def _value_range(values: Sequence[float], measure: Measure) -> tuple[float, float]:
    """Return the values at the bottom and the top of the axis; better is up."""
    if not measure.lower_is_better:
        return 0.0, min(max(values), measure.highest) * 1.06
    return min(max(values), measure.highest) * 1.06, 0.0


def _draw_frontier(
    figure: Sheet, points: Sequence[FrontierPoint], loss: int, measure: Measure
) -> None:
    place = min(loss, len(_LOSS_SYMBOLS) - 1)
    figure.add_scatter(
        x=[point.credits for point in points],
        y=[point.value for point in points],
        customdata=[[point.text] for point in points],
        mode="markers",
        marker={
            "symbol": _LOSS_SYMBOLS[place],
            "size": 7,
            "color": _LOSS_COLOURS[place],
        },
        name=f"fidelity loss {loss}",
        hovertemplate="%{customdata[0]}<extra></extra>",
    )


def _draw_frontier_lines(
    figure: Sheet, budget: float, levels: Sequence[tuple[str, float]], frame: _Ranges
) -> None:
    wanted = [frame.y(value) for _, value in levels]
    for (label, value), want, got in zip(levels, wanted, spread(wanted, 13, PLOT), strict=True):
        figure.add_level(value, {"color": QUIET, "width": 1.5, "dash": "dash"})
        figure.add_annotation(
            x=1, xref="paper", xanchor="left", xshift=4,
            y=value, yanchor="middle", yshift=got - want,
            text=label, showarrow=False, font={"size": LABEL_SIZE},
        )  # fmt: skip
    figure.add_upright(budget, {"color": FAIL, "width": 2})
    text = f"budget {budget:,.0f}"
    [place] = rows([frame.x(budget)], [text], overhang=38)
    figure.add_annotation(
        x=budget, xanchor="center", xshift=place.shift, y=1, yref="paper", yanchor="bottom",
        text=text, showarrow=False, font={"size": LABEL_SIZE},
    )  # fmt: skip


def _draw_plan_marks(figure: Sheet, marks: Sequence[PlanMark], frame: _Ranges) -> None:
    spots: dict[tuple[float, float], list[str]] = {}
    for mark in marks:
        figure.add_scatter(
            x=[mark.credits], y=[mark.value], mode="markers", name=mark.name, showlegend=False,
            marker={"symbol": SYMBOLS[mark.name], "size": 13, "color": PAPER,
                    "line": {"color": INK, "width": 2}},
            hovertemplate=f"{mark.name}: %{{x:,.0f}} credits<extra></extra>",
        )  # fmt: skip
        spots.setdefault((mark.credits, mark.value), []).append(mark.name)
    points = [(frame.x(credits), frame.y(value)) for credits, value in spots]
    draw_chips(figure, list(spots), points, [" = ".join(names) for names in spots.values()])


def _framed_frontier(figure: Sheet, frame: _Ranges, measure: Measure, title: str) -> go.Figure:
    return figure.figure({
        "title": {"text": title, "font": {"size": TITLE_SIZE}, "y": 0.98, "yanchor": "top"},
        "height": TITLE + ROW + PLOT + BOTTOM,
        "margin": {"l": 8, "r": RIGHT, "t": TITLE + ROW, "b": BOTTOM},
        "showlegend": True,
        "legend": {"orientation": "h", "y": -0.17, "yanchor": "top", "x": 0,
                "font": {"size": LABEL_SIZE}},
        "hovermode": "closest",
        "dragmode": False,
        "xaxis": {"title": {"text": "credits", "standoff": 4}, "range": [frame.left, frame.right],
               "tickformat": ",", "zeroline": False, "nticks": 6},
        "yaxis": {"title": {"text": measure.name, "standoff": 6}, "zeroline": False,
               "range": [frame.bottom, frame.top], "tickformat": measure.tick_format,
               "automargin": True},
    })  # fmt: skip
