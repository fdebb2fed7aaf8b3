"""The feasible region over days and samples: evidence as a map, its limits, the plans in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import groupby
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from replicalab.assessment import Assessment
from replicalab.figures.sheet import INK, PAPER, Sheet, scale_end
from replicalab.figures.style import FAIL, LABEL_SIZE, QUIET
from replicalab.lexicon import count_text
from replicalab.planner import Constraint
from replicalab.planner.region import Region

_COLUMNS: Final = 24
_ROWS: Final = 30
"""How many points, at most, can be clicked each way."""
_BELOW: Final = 104
"""Room below the plot in px, for the days and the scale."""

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
_CAPS: Final = (Constraint.THROUGHPUT, Constraint.POPULATION, Constraint.ENDPOINT)
"""What keeps samples from counting."""

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
    sheet = _Map(region)
    sheet.draw_evidence()
    sheet.draw_bands()
    sheet.draw_lines()
    sheet.draw_points()
    (left, right), (bottom, top) = sheet.x, sheet.y
    spots = [(name, plan.counts.days, plan.counts.samples) for name, plan in plans.items()]
    seen = [spot for spot in spots if left <= spot[1] <= right and bottom <= spot[2] <= top]
    sheet.mark(seen, _size)
    above = sheet.label_lines(limits)
    every = max(1, -(-len(region.days) * int(sheet.half * 2) // 10))
    return sheet.figure(
        title,
        (max(2, above), _BELOW),
        xaxis={
            "title": {"text": "days", "standoff": 10},
            "dtick": every,
            "tickformat": "d",
            "showgrid": False,
        },
        yaxis={
            "title": {"text": "samples", "standoff": 14},
            "tickformat": ",d",
            "showgrid": False,
        },
        clickmode="event+select",
    )


def _size(days: float, samples: float) -> str:
    return f"{count_text(samples, 'sample')}, {count_text(days, 'day')}"


class _Map(Sheet):
    """The chart of a region; each day is a column, ``half`` a step wide on either side."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.days = [float(day) for day in region.days]
        self.half = (self.days[1] - self.days[0]) / 2
        self.top = float(region.samples[-1])
        super().__init__((self.days[0] - self.half, self.days[-1] + self.half), (0, self.top))

    def step(self, column: int, height: float) -> Path:
        """Return the two ends of a level line over one column."""
        middle = self.days[column]
        return [(middle - self.half, height), (middle + self.half, height)]

    def heights(self, most: Any) -> list[float]:
        """Return a line's height over each column: 0 where it allows nothing, the top if all."""
        return [0.0 if n < 0 else min(float(n) + 0.5, self.top) for n in most]

    def draw_evidence(self) -> None:
        """Draw the evidence of each plan as a shade of blue."""
        evidence, worth = self.region.plan.evidence, self.region.evidence.round(4).tolist()
        scale = evidence.row.scale
        self.add(
            type="heatmap",
            x=self.region.days,
            y=self.region.samples,
            z=[[None if math.isnan(value) else value for value in row] for row in worth],
            zmin=0.0,
            zmax=scale_end(evidence),
            reversescale=scale.lower_is_better,
            hoverinfo="skip",
            name=evidence.measure,
            colorbar={
                "orientation": "h",
                "title": {"text": evidence.measure, "side": "top", "font": {"size": LABEL_SIZE}},
                "thickness": 8,
                "len": 1.0,
                "y": -0.235,
                "yanchor": "top",
                "ypad": 0,
                "tickformat": scale.ticks,
                "tickfont": {"size": LABEL_SIZE},
                "outlinewidth": 0,
            },
        )

    def draw_points(self) -> None:
        """Add points that are not seen but can be pointed at and clicked."""
        region, evidence = self.region, self.region.plan.evidence
        columns = range(0, len(region.days), -(-len(region.days) // _COLUMNS))
        lines = range(0, len(region.samples), -(-len(region.samples) // _ROWS))
        places = [(row, column) for row in lines for column in columns]
        feasible = region.feasible

        def text(place: tuple[int, int]) -> str:
            value = float(region.evidence[place])
            worth = f"{evidence.measure} {evidence.amount(value)}"
            worth = "no evidence" if math.isnan(value) else worth
            fits = "fits" if feasible[place] else "does not fit"
            size = _size(int(region.days[place[1]]), int(region.samples[place[0]]))
            return f"{size}<br>{worth}<br>{region.fits.credits[place]:,.0f} credits, {fits}"

        self.add(
            x=[int(region.days[column]) for _, column in places],
            y=[int(region.samples[row]) for row, _ in places],
            customdata=[text(place) for place in places],
            mode="markers",
            marker={"size": 12, "opacity": 0, "color": QUIET},
            selected={"marker": {"opacity": 0}},
            unselected={"marker": {"opacity": 0}},
            hovertemplate="%{customdata}<extra></extra>",
            name="points",
        )

    # --- areas ------------------------------------------------------------------------------

    def draw_bands(self) -> None:
        """Hatch what is not feasible; dot what is, but whose samples or endpoint are lost."""
        most, useful = self.region.most_feasible, self.region.most_useful
        ceiling = np.full(most.shape, self.top)
        floor = np.where(most < 0, 0.0, np.minimum(most + 0.5, ceiling))
        least = np.where(most < 0, 0.0, self.region.least - 0.5)
        start = np.where(useful < 0, least, np.minimum(useful + 0.5, ceiling))
        above, below = self._outline(floor, ceiling), self._outline(0 * least, least)
        self._draw_band(above + below, "does not fit", "/")
        self._draw_band(self._outline(start, floor), "fits, but lost", ".")

    def _outline(self, lower: Any, upper: Any) -> Path:
        """Return the outlines of the area between two staircases, one for each run of columns."""
        path: Path = []
        for inside, run in groupby(range(len(upper)), key=lambda j: upper[j] > lower[j]):
            if inside:
                columns = list(run)
                there = [p for j in columns for p in self.step(j, float(upper[j]))]
                back = [p for j in columns for p in self.step(j, float(lower[j]))][::-1]
                path += [*there, *back, there[0], (None, None)]
        return path

    def _draw_band(self, path: Path, name: str, shape: str) -> None:
        self.add(
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

    # --- lines ------------------------------------------------------------------------------

    def draw_lines(self) -> None:
        """Draw the limits and the levels of evidence, all cased in paper, so that none is lost."""
        region = self.region
        paths = {limit: self._line_path(most) for limit, most in region.lines.items()}
        drawn = {limit: path for limit, path in paths.items() if path}
        for limit, path in drawn.items():
            self._draw_casing(path, limit.value)
        count = np.min([region.lines[limit] for limit in _CAPS if limit in region.lines], axis=0)
        for level, dash in zip(region.levels, ("solid", "dash"), strict=False):
            reached = np.flatnonzero(count >= level.samples)
            if reached.size and level.samples <= self.top:
                ends = self.days[reached[0]] - self.half, self.x[1]
                path = [(x, level.samples - 0.5) for x in ends]
                self._draw_casing(path, level.label)
                self._draw_path(path, level.label, color=INK, width=2, dash=dash)
        for limit, path in drawn.items():
            self._draw_path(path, limit.value, color=FAIL, width=2, dash=_DASHES[limit])

    def _draw_casing(self, path: Path, name: str) -> None:
        self._draw_path(path, f"{name} casing", color=PAPER, width=5, dash="solid")

    def _draw_path(self, path: Path, name: str, **line: object) -> None:
        self.add(
            x=[x for x, _ in path],
            y=[y for _, y in path],
            mode="lines",
            line=line,
            hoverinfo="skip",
            name=name,
        )

    def _line_path(self, most: Any) -> Path:
        """Return a limit as a staircase, which is not drawn along the edges of the plot."""
        heights, path = self.heights(most), Path()
        for column, height in enumerate(heights):
            path += self.step(column, height) if 0 < height < self.top else [(None, None)]
            if column + 1 < len(heights) and heights[column + 1] != height:
                right = self.days[column] + self.half
                path += [(right, height), (right, heights[column + 1])]
        return path if any(x is not None for x, _ in path) else []

    def label_lines(self, limits: Mapping[Constraint, str]) -> int:
        """Label each line where it ends, beside the plot or above it; return the rows there."""
        beside: list[tuple[float, str]] = []
        above: list[tuple[float, str]] = []
        for limit, most in self.region.lines.items():
            heights = self.heights(most)
            falls = [j for j in range(len(heights) - 1) if heights[j] != heights[j + 1]]
            if 0 < heights[-1] < self.top:
                beside.append((heights[-1], limits[limit]))
            elif falls:
                above.append((self.days[falls[-1]] + self.half, limits[limit]))
        beside += [(n - 0.5, label) for label, n in self.region.levels if n <= self.top]
        self.label_beside(beside)
        return self.label_above(sorted(above))
