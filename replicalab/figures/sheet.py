"""What the charts of trade-offs share: how plans are marked, how evidence is shown, the layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import plotly.graph_objects as go

from replicalab.figures.placing import LABEL_SIZE, beside

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

PLOT: Final = 272
"""Height of the plot itself in px."""
TITLE: Final = 36
BOTTOM: Final = 104
RIGHT: Final = 92
"""Room around the plot in px: for the title above, the scale below, labels at the right."""
ROW: Final = 13
"""Height of a row of labels above the plot in px."""


class Measure(NamedTuple):
    """How evidence is shown: its name, as text, and the values at the ends of the scale."""

    name: str
    amount: Callable[[float], str]
    lowest: float
    highest: float
    lower_is_better: bool = False
    tick_format: str = ".1f"


class Sheet:
    """Traces, labels and lines of a figure: built at once, it takes a third of the time."""

    def __init__(self) -> None:
        self.traces: list[dict[str, Any]] = []
        self.labels: list[dict[str, Any]] = []
        self.lines: list[dict[str, Any]] = []

    def add_heatmap(self, **trace: Any) -> None:
        """Add a map of values."""
        self.traces.append({"type": "heatmap", **trace})

    def add_scatter(self, **trace: Any) -> None:
        """Add points, a line or an area."""
        self.traces.append({"type": "scatter", **trace})

    def add_annotation(self, **label: Any) -> None:
        """Add a label."""
        self.labels.append(label)

    def add_level(self, height: float, line: dict[str, Any]) -> None:
        """Add a level line across the plot."""
        ends = {"x0": 0, "x1": 1, "xref": "x domain", "y0": height, "y1": height}
        self.lines.append({"type": "line", **ends, "line": line})

    def add_upright(self, place: float, line: dict[str, Any]) -> None:
        """Add an upright line across the plot."""
        ends = {"y0": 0, "y1": 1, "yref": "y domain", "x0": place, "x1": place}
        self.lines.append({"type": "line", **ends, "line": line})

    def figure(self, layout: dict[str, Any]) -> go.Figure:
        """Return the figure with this layout."""
        drawn = {**layout, "annotations": self.labels, "shapes": self.lines}
        return go.Figure({"data": self.traces, "layout": drawn})


def draw_chips(
    figure: Sheet,
    places: Sequence[tuple[float, float]],
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
) -> None:
    """Label points with chips of paper, readable on any ground."""
    for (x, y), text, chip in zip(places, texts, beside(points, texts, PLOT), strict=True):
        figure.add_annotation(
            x=x, y=y, xshift=chip.right, yshift=chip.up, xanchor="center", yanchor="middle",
            text=text, showarrow=False, font={"size": LABEL_SIZE, "color": INK},
            bgcolor=PAPER, opacity=0.92, borderpad=1,
        )  # fmt: skip
