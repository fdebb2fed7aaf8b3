"""The feasible region over days and samples: evidence as a map, its limits, the plans in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
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
from replicalab.figures.style import FAIL, QUIET, TITLE_SIZE
from replicalab.regions import Edge, Region
from replicalab.tradeoffs import Constraint

_DASHES: Final = {
    Constraint.BUDGET: "solid",
    Constraint.SCHEDULE: "solid",
    Constraint.STAFF: "dash",
    Constraint.THROUGHPUT: "dot",
    Constraint.POPULATION: "longdash",
    Constraint.ENDPOINT: "dashdot",
}
_VEIL: Final = "rgba(150, 150, 150, 0.5)"
_COLUMNS: Final = 24
_ROWS: Final = 30
"""How many points, at most, can be clicked each way."""


class Mark(NamedTuple):
    """A plan that is marked in the region; its name is one of `SYMBOLS`."""

    name: str
    days: int
    samples: int


class Level(NamedTuple):
    """A line of equal evidence: the fewest samples that reach it."""

    label: str
    samples: int


def region_figure(
    region: Region,
    marks: Sequence[Mark],
    *,
    limits: Mapping[Constraint, str],
    levels: Sequence[Level],
    measure: Measure,
    title: str,
) -> go.Figure:
    """Return the region as a map: evidence in blue, what does not fit hatched, limits labelled.

    Args:
        region: the plans over the grid.
        marks: the plans to mark; those of the same numbers share one label.
        limits: each constraint's label.
        levels: the lines of equal evidence.
        measure: how evidence is shown.
        title: what the chart shows.
    """
    frame = _Frame(region)
    figure = Sheet()
    _draw_evidence(figure, region, measure)
    _draw_bands(figure, region, frame)
    _draw_levels(figure, levels, region, frame)
    for edge in region.edges:
        _draw_edge(figure, edge, frame)
    _draw_points(figure, region, measure)
    _draw_marks(figure, marks, frame)
    above = _label_edges(figure, region.edges, limits, levels, frame)
    return _framed(figure, region, frame, title, max(2, above))


class _Frame:
    """The borders of the plot, and where a value lies in it on a phone, in px."""

    def __init__(self, region: Region) -> None:
        self.days, self.samples = region.days, region.samples
        self.half = float(region.days[1] - region.days[0]) / 2
        self.left = float(region.days[0]) - self.half
        self.right = float(region.days[-1]) + self.half
        self.top = float(region.samples[-1])

    def x(self, days: float) -> float:
        return (days - self.left) / (self.right - self.left) * NARROW

    def y(self, samples: float) -> float:
        return samples / self.top * PLOT

    def holds(self, days: float, samples: float) -> bool:
        return self.left <= days <= self.right and 0 <= samples <= self.top


def _draw_evidence(figure: Sheet, region: Region, measure: Measure) -> None:
    figure.add_heatmap(
        x=region.days,
        y=region.samples,
        z=[[None if np.isnan(v) else round(float(v), 4) for v in row] for row in region.evidence],
        zmin=measure.lowest,
        zmax=measure.highest,
        reversescale=measure.lower_is_better,
        hoverinfo="skip",
        name=measure.name,
        colorbar={
            "orientation": "h",
            "title": {"text": measure.name, "side": "top", "font": {"size": LABEL_SIZE}},
            "thickness": 8,
            "len": 1.0,
            "y": -0.17,
            "yanchor": "top",
            "ypad": 0,
            "tickformat": measure.tick_format,
            "tickfont": {"size": LABEL_SIZE},
            "outlinewidth": 0,
        },
    )


# --- what does not fit ----------------------------------------------------------------------


def _draw_bands(figure: Sheet, region: Region, frame: _Frame) -> None:
    """Hatch what is not feasible; dot what is, but whose samples or endpoint are lost."""
    most, useful = region.most_feasible, region.most_useful
    ceiling = np.full(most.shape, frame.top)
    floor = np.where(most < 0, 0.0, np.minimum(most + 0.5, ceiling))
    least = np.where(most < 0, 0.0, region.least - 0.5)
    start = np.where(useful < 0, least, np.minimum(useful + 0.5, ceiling))
    _draw_band(figure, frame, [(floor, ceiling), (0 * least, least)], "does not fit", "/")
    _draw_band(figure, frame, [(start, floor)], "fits, but lost", ".")


def _draw_band(
    figure: Sheet, frame: _Frame, bands: Sequence[tuple[Any, Any]], name: str, shape: str
) -> None:
    path = [point for lower, upper in bands for point in _outline(frame, lower, upper)]
    figure.add_scatter(
        x=[x for x, _ in path],
        y=[y for _, y in path],
        mode="none",
        fill="toself",
        fillcolor=_VEIL,
        fillpattern={
            "shape": shape,
            "bgcolor": _VEIL,
            "fgcolor": QUIET,
            "size": 7,
            "solidity": 0.25,
            "fillmode": "replace",
        },
        hoverinfo="skip",
        name=name,
    )


_Path = list[tuple[float | None, float | None]]


def _outline(frame: _Frame, lower: Any, upper: Any) -> _Path:
    """Return the outlines of the area between two staircases, one for each run of columns."""
    path: _Path = []
    for run in _runs(upper > lower):
        there = [p for j in run for p in _step(frame, j, float(upper[j]))]
        back = [p for j in reversed(run) for p in reversed(_step(frame, j, float(lower[j])))]
        path += [*there, *back, there[0], (None, None)]
    return path


def _runs(flags: Any) -> Iterator[list[int]]:
    run: list[int] = []
    for place, flag in enumerate([*flags, False]):
        if flag:
            run.append(place)
        elif run:
            yield run
            run = []


def _step(frame: _Frame, column: int, height: float) -> _Path:
    middle = float(frame.days[column])
    return [(middle - frame.half, height), (middle + frame.half, height)]


# --- lines ----------------------------------------------------------------------------------


def _draw_edge(figure: Sheet, edge: Edge, frame: _Frame) -> None:
    path = _edge_path(edge, frame)
    if path:
        figure.add_scatter(
            x=[x for x, _ in path],
            y=[y for _, y in path],
            mode="lines",
            line={"color": FAIL, "width": 2, "dash": _DASHES[edge.constraint]},
            hoverinfo="skip",
            name=edge.constraint.value,
        )


def _heights(edge: Edge, frame: _Frame) -> list[float]:
    """Return the line's height over each column: 0 where it allows nothing, the top if all."""
    return [0.0 if n < 0 else min(float(n) + 0.5, frame.top) for n in edge.most]


def _edge_path(edge: Edge, frame: _Frame) -> _Path:
    heights, path = _heights(edge, frame), _Path()
    for column, height in enumerate(heights):
        path += _step(frame, column, height) if 0 < height < frame.top else [(None, None)]
        if column + 1 < len(heights) and heights[column + 1] != height:
            right = float(frame.days[column]) + frame.half
            path += [(right, height), (right, heights[column + 1])]
    return path if any(x is not None for x, _ in path) else []


def _draw_levels(figure: Sheet, levels: Sequence[Level], region: Region, frame: _Frame) -> None:
    """Draw where the evidence reaches each level, from the first day on which it can."""
    for level, dash in zip(levels, ("solid", "dash"), strict=False):
        reached = _first_column(level, region)
        if reached is None or level.samples > frame.top:
            continue
        ends = [float(region.days[reached]) - frame.half, frame.right]
        for colour, width, style in ((PAPER, 5, "solid"), (INK, 2, dash)):
            figure.add_scatter(
                x=ends,
                y=[level.samples - 0.5] * 2,
                mode="lines",
                line={"color": colour, "width": width, "dash": style},
                hoverinfo="skip",
                name=level.label,
            )


def _first_column(level: Level, region: Region) -> int | None:
    """Return the first column in which so many samples can count, the endpoint kept."""
    caps = [
        edge.most
        for edge in region.edges
        if edge.constraint in (Constraint.THROUGHPUT, Constraint.POPULATION, Constraint.ENDPOINT)
    ]
    enough = np.min([*caps, np.full(region.days.shape, level.samples)], axis=0) >= level.samples
    return int(np.argmax(enough)) if enough.any() else None


class _Label(NamedTuple):
    text: str
    at: float


def _label_edges(
    figure: Sheet,
    edges: Sequence[Edge],
    limits: Mapping[Constraint, str],
    levels: Sequence[Level],
    frame: _Frame,
) -> int:
    """Label each line where it ends, beside the plot or above it; return the rows needed there."""
    beside_: list[_Label] = []
    above: list[_Label] = []
    for edge in edges:
        where = _end_of(edge, frame)
        if where is not None:
            (above if where[0] else beside_).append(_Label(limits[edge.constraint], where[1]))
    beside_ += [_Label(lv.label, lv.samples - 0.5) for lv in levels if lv.samples <= frame.top]
    _label_beside(figure, beside_, frame)
    return _label_above(figure, above, frame)


def _end_of(edge: Edge, frame: _Frame) -> tuple[bool, float] | None:
    """Return whether a line is labelled above the plot, and its x there or its y at the right."""
    heights = _heights(edge, frame)
    if 0 < heights[-1] < frame.top:
        return False, heights[-1]
    for column in reversed(range(len(heights) - 1)):
        if heights[column] != heights[column + 1]:
            return True, float(frame.days[column]) + frame.half
    return None


def _label_beside(figure: Sheet, labels: Sequence[_Label], frame: _Frame) -> None:
    wanted = [frame.y(label.at) for label in labels]
    for label, want, got in zip(labels, wanted, spread(wanted, 13, PLOT), strict=True):
        figure.add_annotation(
            x=1, xref="paper", xanchor="left", xshift=4,
            y=label.at, yanchor="middle", yshift=got - want,
            text=label.text, showarrow=False, font={"size": LABEL_SIZE},
        )  # fmt: skip


def _label_above(figure: Sheet, labels: Sequence[_Label], frame: _Frame) -> int:
    ordered = sorted(labels, key=lambda label: label.at)
    centres = [frame.x(label.at) for label in ordered]
    places = rows(centres, [label.text for label in ordered], overhang=38)
    for label, place in zip(ordered, places, strict=True):
        figure.add_annotation(
            x=label.at, xanchor="center", xshift=place.shift,
            y=1, yref="paper", yanchor="bottom", yshift=1 + place.row * ROW,
            text=label.text, showarrow=False, font={"size": LABEL_SIZE},
        )  # fmt: skip
    return 1 + max((place.row for place in places), default=0)


# --- points ---------------------------------------------------------------------------------


def _draw_points(figure: Sheet, region: Region, measure: Measure) -> None:
    """Add points that are not seen but can be pointed at and clicked."""
    columns = range(0, len(region.days), -(-len(region.days) // _COLUMNS))
    lines = range(0, len(region.samples), -(-len(region.samples) // _ROWS))
    places = [(row, column) for row in lines for column in columns]
    figure.add_scatter(
        x=[int(region.days[column]) for _, column in places],
        y=[int(region.samples[row]) for row, _ in places],
        customdata=[[_point_text(region, place, measure)] for place in places],
        mode="markers",
        marker={"size": 12, "opacity": 0, "color": QUIET},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        hovertemplate="%{y} samples, %{x} days<br>%{customdata[0]}<extra></extra>",
        name="points",
    )


def _point_text(region: Region, place: tuple[int, int], measure: Measure) -> str:
    value = float(region.evidence[place])
    worth = "no evidence" if np.isnan(value) else f"{measure.name} {measure.amount(value)}"
    fits = "fits" if region.feasible[place] else "does not fit"
    return f"{worth}<br>{region.fits.credits[place]:,.0f} credits, {fits}"


def _draw_marks(figure: Sheet, marks: Sequence[Mark], frame: _Frame) -> None:
    seen = [mark for mark in marks if frame.holds(mark.days, mark.samples)]
    for mark in seen:
        figure.add_scatter(
            x=[mark.days], y=[mark.samples], mode="markers", name=mark.name,
            marker={"symbol": SYMBOLS[mark.name], "size": 13, "color": PAPER,
                    "line": {"color": INK, "width": 2}},
            unselected={"marker": {"opacity": 1}},
            hovertemplate=f"{mark.name}: %{{y}} samples, %{{x}} days<extra></extra>",
        )  # fmt: skip
    spots: dict[tuple[float, float], list[str]] = {}
    for mark in seen:
        spots.setdefault((mark.days, mark.samples), []).append(mark.name)
    points = [(frame.x(days), frame.y(samples)) for days, samples in spots]
    draw_chips(figure, list(spots), points, [" = ".join(names) for names in spots.values()])


def _framed(figure: Sheet, region: Region, frame: _Frame, title: str, above: int) -> go.Figure:
    top = TITLE + ROW * above
    return figure.figure(
        {
            "title": {"text": title, "font": {"size": TITLE_SIZE}, "y": 0.98, "yanchor": "top"},
            "height": top + PLOT + BOTTOM,
            "margin": {"l": 8, "r": RIGHT, "t": top, "b": BOTTOM},
            "showlegend": False,
            "hovermode": "closest",
            "clickmode": "event+select",
            "dragmode": False,
            "xaxis": {
                "title": {"text": "days", "standoff": 4},
                "range": [frame.left, frame.right],
                "dtick": max(1, -(-len(region.days) * int(frame.half * 2) // 10)),
                "tickformat": "d",
                "showgrid": False,
                "zeroline": False,
            },
            "yaxis": {
                "title": {"text": "samples", "standoff": 6},
                "range": [0, frame.top],
                "tickformat": ",d",
                "showgrid": False,
                "zeroline": False,
                "automargin": True,
            },
        }
    )
