"""What the charts of trade-offs share: how plans are marked, where labels go, the layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from typing import Any, Final

import plotly.graph_objects as go

from replicalab.assessment import Evidence
from replicalab.figures.placing import NARROW, PLOT, beside, rows, spread
from replicalab.figures.style import LABEL_SIZE, label, titled

INK: Final = "#101418"
PAPER: Final = "#FCFBF8"
YOUR_PLAN, OFFER, LEAST_LOSS = "your plan", "Lab Manager's offer", "least loss"
POINT, BALANCED = "point", "balanced"
SYMBOLS: Final = {
    YOUR_PLAN: "circle",
    OFFER: "square",
    LEAST_LOSS: "diamond",
    POINT: "x",
    BALANCED: "star",
}
"""What each plan is marked with; they differ in greyscale too."""

_TITLE: Final = 36
_RIGHT: Final = 92
"""Room around the plot in px: for the title above, for labels at the right."""
_ROW: Final = 13
"""Height of a line of a label beside or above the plot, in px."""
_WIDEST_BESIDE: Final = 15
"""So many letters of a label fit beside the plot; a longer one is broken into lines."""

Spot = tuple[str, float, float]
"""A text, and the place that it is about: across, up."""


def scale_end(evidence: Evidence) -> float:
    """Return the upper end of the scale that a study's evidence is shown on; the lower one is 0."""
    return 2 * evidence.floor if evidence.row.scale.lower_is_better else 1.0


class Sheet:
    """A chart in the making, on which plans are marked and lines labelled.

    Attributes:
        x, y: the ends of its axes: left and right, bottom and top.
        traces, labels, lines: what is drawn, each a part of plotly's figure.
    """

    def __init__(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        self.x, self.y = x, y
        self.traces: list[dict[str, Any]] = []
        self.labels: list[dict[str, Any]] = []
        self.lines: list[dict[str, Any]] = []

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return how far from the left, and from the bottom, a place lies on a phone, in px."""
        (left, right), (bottom, top) = self.x, self.y
        return (x - left) / (right - left) * NARROW, (y - bottom) / (top - bottom) * PLOT

    def add(self, **trace: Any) -> None:
        """Add points, a line or an area."""
        self.traces.append({"type": "scatter", **trace})

    def mark(
        self,
        plans: Sequence[Spot],
        hover: Callable[[float, float], str],
        others: Sequence[Spot] = (),
    ) -> None:
        """Mark plans with their symbols, and label them; those at one place share a label.

        The labels are chips of paper, readable on any ground.

        Args:
            plans: the plans, each named by one of `SYMBOLS`.
            hover: says of a plan's place what is shown when it is pointed at.
            others: what else is labelled so.
        """
        spots: dict[tuple[float, float], list[str]] = {}
        for name, x, y in plans:
            self.add(
                x=[x], y=[y], mode="markers", name=name,
                marker={"symbol": SYMBOLS[name], "size": 13, "color": PAPER,
                        "line": {"color": INK, "width": 2}},
                unselected={"marker": {"opacity": 1}},
                hovertemplate=f"{name}: {hover(x, y)}<extra></extra>",
            )  # fmt: skip
            spots.setdefault((x, y), []).append(name)
        named = [(" = ".join(names), x, y) for (x, y), names in spots.items()] + [*others]
        chips = beside([self.place(x, y) for _, x, y in named], [text for text, _, _ in named])
        for (text, x, y), (right, up) in zip(named, chips, strict=True):
            self.labels.append(label(
                text, x=x, y=y, xshift=right, yshift=up, xanchor="center", yanchor="middle",
                font={"size": LABEL_SIZE, "color": INK}, bgcolor=PAPER, opacity=0.92, borderpad=1,
            ))  # fmt: skip

    def label_beside(self, heights: Sequence[tuple[float, str]]) -> None:
        """Label heights at the right of the plot."""
        wanted = [self.place(0, at)[1] for at, _ in heights]
        texts = [wrap(text, _WIDEST_BESIDE) for _, text in heights]
        places = spread(wanted, [_ROW * len(lines) for lines in texts])
        for (at, _), lines, want, got in zip(heights, texts, wanted, places, strict=True):
            self.labels.append(label(
                "<br>".join(lines), x=1, xref="paper", xanchor="left", xshift=4, align="left",
                y=at, yanchor="middle", yshift=got - want,
            ))  # fmt: skip

    def label_above(self, places: Sequence[tuple[float, str]]) -> int:
        """Label places across above the plot; return how many rows that takes."""
        placed = rows([self.place(at, 0)[0] for at, _ in places], [text for _, text in places])
        for (at, text), (shift, row) in zip(places, placed, strict=True):
            self.labels.append(label(
                text, x=at, xanchor="center", xshift=shift,
                y=1, yref="paper", yanchor="bottom", yshift=1 + row * _ROW,
            ))  # fmt: skip
        return 1 + max((row for _, row in placed), default=0)

    def figure(
        self,
        title: str,
        room: tuple[int, int],
        xaxis: Mapping[str, object],
        yaxis: Mapping[str, object],
        **layout: Any,
    ) -> go.Figure:
        """Return the figure.

        Args:
            title: what it shows.
            room: rows of labels above the plot, and px below it.
            xaxis: what is particular to the axis, as for ``yaxis``.
            yaxis: see ``xaxis``.
            layout: what else is particular to the figure.
        """
        top, below = _TITLE + _ROW * room[0], room[1]
        return go.Figure({"data": self.traces, "layout": {
            "title": titled(title, y=0.98, yanchor="top"),
            "height": top + PLOT + below,
            "margin": {"l": 8, "r": _RIGHT, "t": top, "b": below},
            "showlegend": False,
            "hovermode": "closest",
            "dragmode": False,
            "xaxis": {"range": self.x, "zeroline": False, **xaxis},
            "yaxis": {"range": self.y, "zeroline": False, "automargin": True, **yaxis},
            "annotations": self.labels,
            "shapes": self.lines,
            **layout,
        }})  # fmt: skip
