"""The frontier of a lab's plans: evidence against credits, and the plans beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import plotly.graph_objects as go

from replicalab.figures.placing import LABEL_SIZE, NARROW, rows, spread
from replicalab.figures.sheet import (
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
    """A plan of the frontier: credits, evidence, and what it is in words."""

    credits: float
    value: float
    text: str


class FrontierLine(NamedTuple):
    """The plans of one fidelity loss, cheapest first, at least one."""

    loss: int
    points: tuple[FrontierPoint, ...]


class PlanMark(NamedTuple):
    """A plan that is marked beside the frontier; its name is one of `SYMBOLS`."""

    name: str
    credits: float
    value: float


_LOSS_SYMBOLS: Final = ("circle", "square", "triangle-up", "cross", "hexagon")
_LOSS_COLOURS: Final = (EVIDENCE, CAUTION, PASS, FAIL, QUIET)
_LOSS_DASHES: Final = ("solid", "dash", "dot", "dashdot", "longdash")
_BELOW: Final = 58
"""Room below the plot in px, for the credits."""


def frontier_figure(
    lines: Sequence[FrontierLine],
    marks: Sequence[PlanMark],
    *,
    budget: float,
    levels: Sequence[tuple[str, float]],
    measure: Measure,
    title: str,
) -> go.Figure:
    """Return evidence against credits, a line for each fidelity loss; up is better.

    Args:
        lines: the frontier's plans, those of one fidelity loss as one line.
        marks: the plans to mark.
        budget: credits that remain, drawn as a line.
        levels: target and floor of the evidence, each with its label.
        measure: how evidence is shown.
        title: what the chart shows.
    """
    figure = Sheet()
    points = [point for line in lines for point in line.points]
    costs = [*(p.credits for p in points), *(m.credits for m in marks), budget]
    low, high = min(costs), max(costs)
    pad = max(1.0, (high - low) * 0.08)
    values = [*(m.value for m in marks), *(value for _, value in levels)]
    values += [p.value for p in points]
    bottom, top = _value_range(values, measure)
    frame = _Ranges(low - pad, high + pad, bottom, top)
    labels = _label_points(lines)
    for line, label in zip(lines, labels, strict=True):
        _draw_line(figure, line, label)
    _draw_frontier_lines(figure, budget, levels, frame)
    _draw_plan_marks(figure, marks, zip(lines, labels, strict=True), frame)
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


def _draw_line(figure: Sheet, line: FrontierLine, label: int) -> None:
    """Draw one line, with its symbol at either end and where its label is."""
    style = min(line.loss, len(_LOSS_SYMBOLS) - 1)
    shown = {0, label, len(line.points) - 1}
    figure.add_scatter(
        x=[point.credits for point in line.points],
        y=[point.value for point in line.points],
        customdata=[[point.text] for point in line.points],
        mode="lines+markers",
        line={"color": _LOSS_COLOURS[style], "width": 2.5, "dash": _LOSS_DASHES[style]},
        marker={
            "symbol": _LOSS_SYMBOLS[style],
            "size": [8 if place in shown else 0 for place in range(len(line.points))],
            "color": _LOSS_COLOURS[style],
        },
        name=f"fidelity loss {line.loss}",
        hovertemplate="%{customdata[0]}<extra></extra>",
    )


def _label_points(lines: Sequence[FrontierLine]) -> list[int]:
    """Return the point that each line's label is at: at different heights, as lines run close."""
    return [
        _nearest(line.points, place / (len(lines) + 1)) for place, line in enumerate(lines, start=1)
    ]


def _nearest(points: Sequence[FrontierPoint], share: float) -> int:
    """Return the point that is nearest to that share of a line's rise."""
    value = points[0].value + share * (points[-1].value - points[0].value)
    return min(range(len(points)), key=lambda place: abs(points[place].value - value))


def _draw_frontier_lines(
    figure: Sheet, budget: float, levels: Sequence[tuple[str, float]], frame: _Ranges
) -> None:
    wanted = [frame.y(value) for _, value in levels]
    places = spread(wanted, [ROW] * len(wanted), PLOT)
    for (label, value), want, got in zip(levels, wanted, places, strict=True):
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


def _draw_plan_marks(
    figure: Sheet,
    marks: Sequence[PlanMark],
    labelled: Iterable[tuple[FrontierLine, int]],
    frame: _Ranges,
) -> None:
    """Draw the marked plans, and label them and the lines."""
    spots: dict[tuple[float, float], list[str]] = {}
    for mark in marks:
        figure.add_scatter(
            x=[mark.credits], y=[mark.value], mode="markers", name=mark.name,
            marker={"symbol": SYMBOLS[mark.name], "size": 13, "color": PAPER,
                    "line": {"color": INK, "width": 2}},
            hovertemplate=f"{mark.name}: %{{x:,.0f}} credits<extra></extra>",
        )  # fmt: skip
        spots.setdefault((mark.credits, mark.value), []).append(mark.name)
    texts, places = [" = ".join(names) for names in spots.values()], list(spots)
    for line, label in labelled:
        texts.append(f"loss {line.loss}")
        places.append(line.points[label][:2])
    points = [(frame.x(credits), frame.y(value)) for credits, value in places]
    draw_chips(figure, places, points, texts)


def _framed_frontier(figure: Sheet, frame: _Ranges, measure: Measure, title: str) -> go.Figure:
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
