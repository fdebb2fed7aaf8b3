"""The feasible region over days and samples: evidence as a map, its limits, the plans in it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from replicalab.assessment import Assessment
from replicalab.figures.placing import LABEL_SIZE, NARROW, rows, spread
from replicalab.figures.sheet import (
    BOTTOM,
    INK,
    PAPER,
    PLOT,
    RIGHT,
    ROW,
    TITLE,
    Measure,
    Sheet,
    draw_marks,
    measure_of,
)
from replicalab.figures.style import FAIL, QUIET, TITLE_SIZE
from replicalab.planner import Constraint
from replicalab.planner.region import Level, Region

_COLUMNS: Final = 24
_ROWS: Final = 30
"""How many points, at most, can be clicked each way."""

_VEIL: Final = "rgba(150, 150, 150, 0.5)"
_DASHES: Final = {
    Constraint.BUDGET: "solid",
    Constraint.SCHEDULE: "solid",
    Constraint.STAFF: "dash",
    Constraint.THROUGHPUT: "dot",
    Constraint.POPULATION: "longdash",
    Constraint.ENDPOINT: "dashdot",
    Constraint.STUDY: "longdashdot",
}
_CASING: Final = {"color": PAPER, "width": 5, "dash": "solid"}
_WIDEST_BESIDE: Final = 15
"""So many letters of a label fit beside the plot; a longer one is broken into lines."""

_LABEL_ROW: Final = 13.0
"""Height of a line of a label beside the plot, in px."""

Path = list[tuple[float | None, float | None]]
"""Corners of a line or an outline; None lifts the pen."""


def region_figure(
    region: Region,
    plans: Mapping[str, Assessment],
    limits: Mapping[Constraint, str],
    title: str,
) -> go.Figure:
    """Return the region as a map: evidence in blue, what does not fit hatched, limits labelled.

    Args:
        region: the plans over the grid.
        plans: the plans to mark, each under one of the names of `SYMBOLS`.
        limits: each constraint's label.
        title: what the chart shows.
    """
    frame, figure, measure = _Frame(region), Sheet(), measure_of(region.plan)
    _draw_evidence(figure, region, measure)
    _draw_bands(figure, region, frame)
    _draw_lines(figure, region, frame)
    _draw_points(figure, region, measure)
    spots = [(name, plan.counts.days, plan.counts.samples) for name, plan in plans.items()]
    seen = [spot for spot in spots if frame.holds(spot[1], spot[2])]
    draw_marks(figure, seen, frame.place, "%{y} samples, %{x} days")
    above = _label_lines(figure, region, limits, frame)
    return _framed(figure, region, frame, title, max(2, above))


class _Frame:
    """The borders of the plot, and where a value lies in it on a phone, in px."""

    def __init__(self, region: Region) -> None:
        self.days = region.days
        self.half = float(region.days[1] - region.days[0]) / 2
        self.left = float(region.days[0]) - self.half
        self.right = float(region.days[-1]) + self.half
        self.top = float(region.samples[-1])

    def place(self, days: float, samples: float) -> tuple[float, float]:
        """Return how far from the left, and from the bottom, a plan of these numbers is."""
        across = (days - self.left) / (self.right - self.left)
        return across * NARROW, samples / self.top * PLOT

    def holds(self, days: float, samples: float) -> bool:
        """Return whether a plan of these numbers lies inside."""
        return self.left <= days <= self.right and 0 <= samples <= self.top

    def step(self, column: int, height: float) -> Path:
        """Return the two ends of a level line over one column."""
        middle = float(self.days[column])
        return [(middle - self.half, height), (middle + self.half, height)]

    def heights(self, most: Any) -> list[float]:
        """Return a line's height over each column: 0 where it allows nothing, the top if all."""
        return [0.0 if n < 0 else min(float(n) + 0.5, self.top) for n in most]


def _draw_evidence(figure: Sheet, region: Region, measure: Measure) -> None:
    worth = region.evidence.round(4).tolist()
    figure.add_heatmap(
        x=region.days,
        y=region.samples,
        z=[[None if math.isnan(value) else value for value in row] for row in worth],
        zmin=0.0,
        zmax=measure.highest,
        reversescale=measure.lower_is_better,
        hoverinfo="skip",
        name=measure.name,
        colorbar={
            "orientation": "h",
            "title": {"text": measure.name, "side": "top", "font": {"size": LABEL_SIZE}},
            "thickness": 8,
            "len": 1.0,
            "y": -0.235,
            "yanchor": "top",
            "ypad": 0,
            "tickformat": measure.tick_format,
            "tickfont": {"size": LABEL_SIZE},
            "outlinewidth": 0,
        },
    )


def _draw_points(figure: Sheet, region: Region, measure: Measure) -> None:
    """Add points that are not seen but can be pointed at and clicked."""
    columns = range(0, len(region.days), -(-len(region.days) // _COLUMNS))
    lines = range(0, len(region.samples), -(-len(region.samples) // _ROWS))
    places = [(row, column) for row in lines for column in columns]
    feasible = region.feasible

    def text(place: tuple[int, int]) -> str:
        value = float(region.evidence[place])
        worth = "no evidence" if np.isnan(value) else f"{measure.name} {measure.amount(value)}"
        fits = "fits" if feasible[place] else "does not fit"
        return f"{worth}<br>{region.fits.credits[place]:,.0f} credits, {fits}"

    figure.add_scatter(
        x=[int(region.days[column]) for _, column in places],
        y=[int(region.samples[row]) for row, _ in places],
        customdata=[text(place) for place in places],
        mode="markers",
        marker={"size": 12, "opacity": 0, "color": QUIET},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        hovertemplate="%{y} samples, %{x} days<br>%{customdata}<extra></extra>",
        name="points",
    )


# --- areas: what does not fit is hatched, what fits but is lost is dotted ---------------------


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


def _outline(frame: _Frame, lower: Any, upper: Any) -> Path:
    """Return the outlines of the area between two staircases, one for each run of columns."""
    path: Path = []
    for run in _runs(upper > lower):
        there = [p for j in run for p in frame.step(j, float(upper[j]))]
        back = [p for j in reversed(run) for p in reversed(frame.step(j, float(lower[j])))]
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


# --- lines: of the limits, and of equal evidence ----------------------------------------------


def _draw_lines(figure: Sheet, region: Region, frame: _Frame) -> None:
    """Draw the limits and the levels of evidence, all cased in paper, so that none is lost."""
    paths = {limit: _line_path(most, frame) for limit, most in region.lines.items()}
    drawn = {limit: path for limit, path in paths.items() if path}
    for limit, path in drawn.items():
        _draw_path(figure, path, f"{limit.value} casing", _CASING)
    for level, dash in zip(region.levels, ("solid", "dash"), strict=False):
        reached = _first_column(level, region)
        if reached is not None and level.samples <= frame.top:
            ends = [float(region.days[reached]) - frame.half, frame.right]
            path = [(x, level.samples - 0.5) for x in ends]
            _draw_path(figure, path, f"{level.label} casing", _CASING)
            _draw_path(figure, path, level.label, {"color": INK, "width": 2, "dash": dash})
    for limit, path in drawn.items():
        line = {"color": FAIL, "width": 2, "dash": _DASHES[limit]}
        _draw_path(figure, path, limit.value, line)


def _draw_path(figure: Sheet, path: Path, name: str, line: Mapping[str, object]) -> None:
    figure.add_scatter(
        x=[x for x, _ in path],
        y=[y for _, y in path],
        mode="lines",
        line=dict(line),
        hoverinfo="skip",
        name=name,
    )


def _line_path(most: Any, frame: _Frame) -> Path:
    heights, path = frame.heights(most), Path()
    for column, height in enumerate(heights):
        path += frame.step(column, height) if 0 < height < frame.top else [(None, None)]
        if column + 1 < len(heights) and heights[column + 1] != height:
            right = float(frame.days[column]) + frame.half
            path += [(right, height), (right, heights[column + 1])]
    return path if any(x is not None for x, _ in path) else []


def _first_column(level: Level, region: Region) -> int | None:
    """Return the first column in which so many samples can count, the endpoint kept."""
    limits = (Constraint.THROUGHPUT, Constraint.POPULATION, Constraint.ENDPOINT)
    caps = [region.lines[limit] for limit in limits if limit in region.lines]
    enough = np.min(caps, axis=0) >= level.samples
    return int(np.argmax(enough)) if enough.any() else None


def _label_lines(
    figure: Sheet, region: Region, limits: Mapping[Constraint, str], frame: _Frame
) -> int:
    """Label each line where it ends, beside the plot or above it; return the rows needed there."""
    beside: list[tuple[float, str]] = []
    above: list[tuple[float, str]] = []
    for limit, most in region.lines.items():
        where = _end_of(frame.heights(most), frame)
        if where is not None:
            (above if where[0] else beside).append((where[1], limits[limit]))
    beside += [(n - 0.5, label) for label, n in region.levels if n <= frame.top]
    _label_beside(figure, beside, frame)
    return _label_above(figure, sorted(above), frame)


def _end_of(heights: Sequence[float], frame: _Frame) -> tuple[bool, float] | None:
    """Return whether a line is labelled above the plot, and its x there or its y at the right."""
    if 0 < heights[-1] < frame.top:
        return False, heights[-1]
    for column in reversed(range(len(heights) - 1)):
        if heights[column] != heights[column + 1]:
            return True, float(frame.days[column]) + frame.half
    return None


def _label_beside(figure: Sheet, labels: Sequence[tuple[float, str]], frame: _Frame) -> None:
    wanted = [frame.place(0, at)[1] for at, _ in labels]
    texts = [wrap(text, _WIDEST_BESIDE) for _, text in labels]
    places = spread(wanted, [_LABEL_ROW * len(lines) for lines in texts], PLOT)
    for (at, _), lines, want, got in zip(labels, texts, wanted, places, strict=True):
        figure.label_beside(at, "<br>".join(lines), got - want, align="left")


def _label_above(figure: Sheet, labels: Sequence[tuple[float, str]], frame: _Frame) -> int:
    centres = [frame.place(at, 0)[0] for at, _ in labels]
    places = rows(centres, [text for _, text in labels], overhang=38)
    for (at, text), place in zip(labels, places, strict=True):
        figure.label_above(at, text, place)
    return 1 + max((place.row for place in places), default=0)


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
                "title": {"text": "days", "standoff": 10},
                "range": [frame.left, frame.right],
                "dtick": max(1, -(-len(region.days) * int(frame.half * 2) // 10)),
                "tickformat": "d",
                "showgrid": False,
                "zeroline": False,
            },
            "yaxis": {
                "title": {"text": "samples", "standoff": 14},
                "range": [0, frame.top],
                "tickformat": ",d",
                "showgrid": False,
                "zeroline": False,
                "automargin": True,
            },
        }
    )
