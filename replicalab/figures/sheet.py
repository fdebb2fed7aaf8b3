"""What the charts of trade-offs share: how plans are marked, how evidence is shown, the layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import plotly.graph_objects as go

from replicalab.assessment import Assessment
from replicalab.figures.placing import LABEL_SIZE, Placed, beside

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
    """How a study's evidence is shown.

    Attributes:
        name: what is measured.
        amount: a value as text.
        highest: the upper end of the scale; the lower one is 0.
        lower_is_better: whether the lower end is the better one.
        tick_format: of the axis.
    """

    name: str
    amount: Callable[[float], str]
    highest: float
    lower_is_better: bool
    tick_format: str

    @property
    def worst(self) -> float:
        """The worse end of the scale."""
        return self.highest if self.lower_is_better else 0.0


def measure_of(plan: Assessment) -> Measure:
    """Return how the evidence of a plan's study is shown."""
    evidence, lower_is_better = plan.evidence, plan.pack.design.lower_is_better
    return Measure(
        evidence.measure,
        evidence.amount,
        2 * evidence.floor if lower_is_better else 1.0,
        lower_is_better,
        evidence.row.scale.ticks,
    )


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

    def add_label(self, text: str, **label: Any) -> None:
        """Add a label."""
        font = {"size": LABEL_SIZE}
        self.labels.append({"text": text, "showarrow": False, "font": font, **label})

    def label_beside(self, height: float, text: str, shift: float, **label: Any) -> None:
        """Label a height at the right of the plot, so many px above it."""
        self.add_label(
            text, x=1, xref="paper", xanchor="left", xshift=4,
            y=height, yanchor="middle", yshift=shift, **label,
        )  # fmt: skip

    def label_above(self, place: float, text: str, placed: Placed) -> None:
        """Label a place across above the plot."""
        self.add_label(
            text, x=place, xanchor="center", xshift=placed.shift,
            y=1, yref="paper", yanchor="bottom", yshift=1 + placed.row * ROW,
        )  # fmt: skip

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


Spot = tuple[str, float, float]
"""A text, and the place that it is about: across, up."""


def draw_marks(
    figure: Sheet,
    marks: Sequence[Spot],
    place: Callable[[float, float], tuple[float, float]],
    hover: str,
    others: Sequence[Spot] = (),
) -> None:
    """Draw plans with their symbols, and label them; those at one place share a label.

    The labels are chips of paper, readable on any ground.

    Args:
        figure: where they are drawn.
        marks: the plans, each named by one of `SYMBOLS`.
        place: where a place is on a phone, in px.
        hover: what is said of a plan when it is pointed at.
        others: what else is labelled so.
    """
    spots: dict[tuple[float, float], list[str]] = {}
    for name, x, y in marks:
        figure.add_scatter(
            x=[x], y=[y], mode="markers", name=name,
            marker={"symbol": SYMBOLS[name], "size": 13, "color": PAPER,
                    "line": {"color": INK, "width": 2}},
            unselected={"marker": {"opacity": 1}},
            hovertemplate=f"{name}: {hover}<extra></extra>",
        )  # fmt: skip
        spots.setdefault((x, y), []).append(name)
    texts = [*(" = ".join(names) for names in spots.values()), *(text for text, _, _ in others)]
    places = [*spots, *((x, y) for _, x, y in others)]
    chips = beside([place(x, y) for x, y in places], texts, PLOT)
    for (x, y), text, chip in zip(places, texts, chips, strict=True):
        figure.add_label(
            text, x=x, y=y, xshift=chip.right, yshift=chip.up, xanchor="center", yanchor="middle",
            font={"size": LABEL_SIZE, "color": INK}, bgcolor=PAPER, opacity=0.92, borderpad=1,
        )  # fmt: skip
