"""The feasible region over days and samples: a map of evidence with limits and plans."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any, Final, NamedTuple

import numpy as np
import plotly.graph_objects as go

from replicalab.assessment import Assessment
from replicalab.facts import blocks, frontier_facts, region_facts
from replicalab.lexicon import count_text
from replicalab.models import Dimension
from replicalab.planner import PlanToDraw, RegionLimit
from replicalab.planner.region import Region
from replicalab.render.figures import sheet as sheets
from replicalab.render.figures.placing import PLOT

_COLUMNS: Final = 24
# Largest number of clickable points each way: a finger apart.
_ROWS: Final = 20

# From no evidence to the most; equal in both themes, so darker is always more.
_SHADES: Final = ("#D7E8F2", "#A9CFE3", "#59A2C8", "#0072B2", "#004C79", "#00395B")
_VEIL: Final = "rgba(150, 150, 150, 0.5)"
# Dark enough for white letters, light enough for the dark theme.
COLOURS: Final[dict[str, str]] = {
    RegionLimit.BUDGET: "#B84E00",
    RegionLimit.SCHEDULE: "#8C4FB3",
    RegionLimit.STAFF: "#B5407E",
    RegionLimit.STUDY: "#5E6B78",
    RegionLimit.ENDPOINT: "#7A6A00",
    RegionLimit.THROUGHPUT: "#007A80",
    RegionLimit.POPULATION: "#4A7A1E",
}
_OTHER: Final = "#4E5D94"  # for a limit that is registered later
# Limits of the samples that can count, not of the runnable ones.
CAPS: Final = (RegionLimit.THROUGHPUT, RegionLimit.POPULATION)


class RegionChart(NamedTuple):
    """The region's chart, and labels to lay over it: plotly is slow to draw them."""

    figure: go.Figure
    tags: Sequence[sheets.Tag]
    room: Mapping[str, int]  # the plot's height, and the margins left, right and below, in px


def region_figure(
    region: Region,
    marks: Sequence[sheets.Mark],
    limits: Mapping[str, str],
    title: tuple[str, str] | None,
    *,
    lost: bool = False,
    labelled: bool = True,
) -> RegionChart:
    """Return the region as a map: evidence in blue, misfits hatched, limits by their names.

    ``lost`` adds the samples that cannot count, and their limits. The tags are for a chart that is
    not ``labelled``.
    """
    sheet = _Map(region)
    sheet.draw_evidence()
    sheet.draw_misfits()
    if lost:
        sheet.draw_lost()
    sheet.draw_lines({name: text for name, text in limits.items() if lost or name not in CAPS})
    sheet.draw_points()
    sheet.mark(marks, _place, _size)
    margin = sheets.room_at_the_left(f"{region.samples[-1]:,}")
    every = max(1, -(-len(sheet.days) * int(sheet.half * 2) // 10))
    figure = sheet.figure(
        title,
        margin,
        xaxis={"title": "days", "dtick": every, "tickformat": ",d"},
        yaxis={"title": "samples", "tickformat": ",d", "showgrid": False},
        labelled=labelled,
        clickmode="event+select",
        hoverdistance=-1,  # wherever one points, the nearest point is meant
    )
    room = {"left": margin, "right": sheets.RIGHT, "below": sheets.BELOW, "height": PLOT}
    return RegionChart(figure, () if labelled else sheet.tags(), room)


def over_panel(chart: RegionChart, spot: sheets.Spot | None) -> blocks.Panel:
    """Return labels and the cross at the chosen point, to lay over the chart."""
    return blocks.panel("over", tags=chart.tags, room=chart.room, spot=spot)


def region_marks(
    plans: Mapping[str, Assessment], drawn: PlanToDraw, effect: float | None = None
) -> list[sheets.Mark]:
    """Return the marks of the plans in a region; a star: its own items give other evidence."""
    yours = plans[region_facts.YOUR_PLAN]
    noted = region_facts.keeps_own_items(drawn, yours, effect)
    marks = []
    for name, plan in region_facts.points_of(plans, drawn).items():
        title = f"{name}*" if noted and plan is yours else name
        marks.append(sheets.Mark(name, plan, title, plan.evidence_at(effect).number))
    return marks


def spot_of(region: Region, days: int, samples: int) -> sheets.Spot | None:
    """Return a point as shares of the plot, None if outside."""
    sheet = _Map(region)
    return sheet.shares(days, samples) if sheet.holds(days, samples) else None


def _place(plan: Assessment) -> sheets.Spot:
    return plan.counts.days, plan.counts.samples


def _size(days: float, samples: float) -> str:
    return f"{count_text(samples, 'sample')}, {count_text(days, 'day')}"


class _Map(sheets.Sheet):
    """The chart of a region; each day is a column, ``half`` a step wide on either side."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.days = [float(day) for day in region.days]
        self.half = (self.days[1] - self.days[0]) / 2
        self.top = float(region.samples[-1])
        across = self.days[0] - self.half, self.days[-1] + self.half
        super().__init__(across, (0, self.top))

    def draw_evidence(self) -> None:
        evidence, worth = self.region.plan.evidence, self.region.evidence.round(4).tolist()
        self.add(
            type="heatmap",
            x=self.region.days.tolist(),
            y=self.region.samples.tolist(),
            z=[[None if math.isnan(value) else value for value in row] for row in worth],
            zmin=0.0,
            zmax=frontier_facts.scale_end(evidence),
            colorscale=[[n / (len(_SHADES) - 1), shade] for n, shade in enumerate(_SHADES)],
            reversescale=evidence.row.scale.lower_is_better,
            showscale=False,
            hoverinfo="skip",
            name=evidence.measure,
        )

    def draw_points(self) -> None:
        region, evidence = self.region, self.region.plan.evidence
        columns = range(0, len(region.days), -(-len(region.days) // _COLUMNS))
        lines = range(0, len(region.samples), -(-len(region.samples) // _ROWS))
        places = [(row, column) for row in lines for column in columns]
        days, samples = region.days.tolist(), region.samples.tolist()
        currency = region.plan.pack.lab.currency
        credits, feasible = region.checks.needs[Dimension.BUDGET].tolist(), region.feasible.tolist()

        @cache
        def worth(value: float) -> str:
            return evidence.text_of(evidence.format(value))

        def text(row: int, column: int) -> str:
            value = float(region.evidence[row, column])
            evidence = "no evidence" if math.isnan(value) else worth(value)
            fits = "fits" if feasible[row][column] else "does not fit"
            return f"{evidence}<br>{credits[row][column]:,.0f} {currency}, {fits}"

        self.add(
            x=[days[column] for _, column in places],
            y=[samples[row] for row, _ in places],
            customdata=[text(*place) for place in places],
            mode="markers",
            # Plotly finds a point under the cursor whether it is drawn or not.
            marker={"size": 12, "opacity": 0, "color": sheets.QUIET, "maxdisplayed": 1},
            selected={"marker": {"opacity": 0}},
            unselected={"marker": {"opacity": 0}},
            hovertemplate="samples %{y:,d}, days %{x:,d}<br>%{customdata}<extra></extra>",
            name="points",
        )

    def draw_misfits(self) -> None:
        values = self.region.most_feasible
        ceiling, minimum = np.full(values.shape, self.top), self._least(values)
        above = self._outline(self._heights(values), ceiling)
        self._draw_band(above + self._outline(0 * minimum, minimum), "does not fit", "/")

    def draw_lost(self) -> None:
        values, useful = self.region.most_feasible, self.region.most_useful
        start = np.where(useful < 0, self._least(values), self._heights(useful))
        self._draw_band(self._outline(start, self._heights(values)), "fits, but lost", ".")

    def _least(self, most: Any) -> Any:
        return np.where(most < 0, 0.0, self.region.least - 0.5)

    def _heights(self, most: Any) -> Any:
        # Between two whole samples, so that the last one that fits lies below the line.
        return np.where(most < 0, 0.0, np.minimum(most + 0.5, self.top))

    def _step(self, column: int, height: float) -> list[sheets.Spot]:
        middle = self.days[column]
        return [(middle - self.half, height), (middle + self.half, height)]

    def _outline(self, lower: Any, upper: Any) -> sheets.Path:
        path: sheets.Path = []
        for inside, run in groupby(range(len(upper)), key=lambda j: upper[j] > lower[j]):
            if inside:
                columns = list(run)
                pairs = [p for j in columns for p in self._step(j, float(upper[j]))]
                back = [p for j in columns for p in self._step(j, float(lower[j]))][::-1]
                path += [*pairs, *back, pairs[0], None]
        return path

    def _draw_band(self, path: sheets.Path, name: str, shape: str) -> None:
        marks = {"shape": shape, "size": 7, "solidity": 0.25, "fgcolor": sheets.QUIET}
        pattern = {**marks, "bgcolor": _VEIL, "fillmode": "replace"}
        look = {"fill": "toself", "fillcolor": _VEIL, "fillpattern": pattern}
        self.add_path(name, path, mode="none", **look)

    def draw_lines(self, limits: Mapping[str, str]) -> None:
        region, caps = self.region, (*CAPS, RegionLimit.ENDPOINT)
        count = np.min([line for name, line in region.lines.items() if name in caps], axis=0)
        lines = []
        for level, dash in zip(region.levels, ("solid", "dash"), strict=False):
            reached = np.flatnonzero(count >= level.samples)
            if reached.size and level.samples <= self.top:
                ends = self.days[reached[0]] - self.half, self.x[1]
                flat: sheets.Path = [(x, level.samples - 0.5) for x in ends]
                lines.append(sheets.ChartLine(level.label, flat, sheets.INK, dash))
        for limit, values in region.lines.items():
            if limit in limits and (path := self._staircase(values)):
                colour, dash = COLOURS.get(limit, _OTHER), "dot" if limit in CAPS else "solid"
                lines.append(sheets.ChartLine(limits[limit], path, colour, dash))
        self.draw(lines)

    def _staircase(self, most: Any) -> sheets.Path:
        heights, path = self._heights(most).tolist(), sheets.Path()
        for column, height in enumerate(heights):
            path += self._step(column, height) if 0 < height < self.top else [None]
            if column + 1 < len(heights) and heights[column + 1] != height:
                right = self.days[column] + self.half
                path += [(right, height), (right, heights[column + 1])]
        return path if any(path) else []
