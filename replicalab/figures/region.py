"""The feasible region over days and samples: evidence as a map, its limits, the plans in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import plotly.graph_objects as go

from replicalab.figures.placing import LABEL_SIZE
from replicalab.figures.region_bands import draw_bands
from replicalab.figures.region_frame import Frame
from replicalab.figures.region_lines import Level, draw_lines, label_edges
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
from replicalab.figures.style import QUIET, TITLE_SIZE
from replicalab.regions import Region
from replicalab.tradeoffs import Constraint

_COLUMNS: Final = 24
_ROWS: Final = 30
"""How many points, at most, can be clicked each way."""


class Mark(NamedTuple):
    """A plan that is marked in the region; its name is one of `SYMBOLS`."""

    name: str
    days: int
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
    frame = Frame(region)
    figure = Sheet()
    _draw_evidence(figure, region, measure)
    draw_bands(figure, region, frame)
    draw_lines(figure, region, levels, frame)
    _draw_points(figure, region, measure)
    _draw_marks(figure, marks, frame)
    above = label_edges(figure, region.edges, limits, levels, frame)
    return _framed(figure, region, frame, title, max(2, above))


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
            "y": -0.235,
            "yanchor": "top",
            "ypad": 0,
            "tickformat": measure.tick_format,
            "tickfont": {"size": LABEL_SIZE},
            "outlinewidth": 0,
        },
    )


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


def _draw_marks(figure: Sheet, marks: Sequence[Mark], frame: Frame) -> None:
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


def _framed(figure: Sheet, region: Region, frame: Frame, title: str, above: int) -> go.Figure:
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
