"""The lines of the region's plot, of the limits and of equal evidence, each with its label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Final, NamedTuple

import numpy as np

from replicalab.figures.placing import LABEL_SIZE, rows, spread
from replicalab.figures.region_frame import Frame, Path, step
from replicalab.figures.sheet import INK, PAPER, PLOT, ROW, Sheet
from replicalab.figures.style import FAIL
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
_CASING: Final = {"color": PAPER, "width": 5, "dash": "solid"}
_WIDEST_BESIDE: Final = 15
"""So many letters of a label fit beside the plot; a longer one is broken into lines."""

_LABEL_ROW: Final = 13.0
"""Height of a line of a label beside the plot, in px."""


class Level(NamedTuple):
    """A line of equal evidence: the fewest samples that reach it."""

    label: str
    samples: int


def draw_lines(figure: Sheet, region: Region, levels: Sequence[Level], frame: Frame) -> None:
    """Draw the limits and the levels of evidence, all cased in paper, so that none is lost."""
    paths = [(edge, path) for edge in region.edges if (path := _edge_path(edge, frame))]
    for edge, path in paths:
        _draw_path(figure, path, f"{edge.constraint.value} casing", _CASING)
    _draw_levels(figure, levels, region, frame)
    for edge, path in paths:
        line = {"color": FAIL, "width": 2, "dash": _DASHES[edge.constraint]}
        _draw_path(figure, path, edge.constraint.value, line)


def _draw_path(figure: Sheet, path: Path, name: str, line: Mapping[str, object]) -> None:
    figure.add_scatter(
        x=[x for x, _ in path],
        y=[y for _, y in path],
        mode="lines",
        line=dict(line),
        hoverinfo="skip",
        name=name,
    )


def _heights(edge: Edge, frame: Frame) -> list[float]:
    """Return the line's height over each column: 0 where it allows nothing, the top if all."""
    return [0.0 if n < 0 else min(float(n) + 0.5, frame.top) for n in edge.most]


def _edge_path(edge: Edge, frame: Frame) -> Path:
    heights, path = _heights(edge, frame), Path()
    for column, height in enumerate(heights):
        path += step(frame, column, height) if 0 < height < frame.top else [(None, None)]
        if column + 1 < len(heights) and heights[column + 1] != height:
            right = float(frame.days[column]) + frame.half
            path += [(right, height), (right, heights[column + 1])]
    return path if any(x is not None for x, _ in path) else []


def _draw_levels(figure: Sheet, levels: Sequence[Level], region: Region, frame: Frame) -> None:
    """Draw where the evidence reaches each level, from the first day on which it can."""
    for level, dash in zip(levels, ("solid", "dash"), strict=False):
        reached = _first_column(level, region)
        if reached is None or level.samples > frame.top:
            continue
        ends = [float(region.days[reached]) - frame.half, frame.right]
        path: Path = [(x, level.samples - 0.5) for x in ends]
        _draw_path(figure, path, f"{level.label} casing", _CASING)
        _draw_path(figure, path, level.label, {"color": INK, "width": 2, "dash": dash})


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


def label_edges(
    figure: Sheet,
    edges: Sequence[Edge],
    limits: Mapping[Constraint, str],
    levels: Sequence[Level],
    frame: Frame,
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


def _end_of(edge: Edge, frame: Frame) -> tuple[bool, float] | None:
    """Return whether a line is labelled above the plot, and its x there or its y at the right."""
    heights = _heights(edge, frame)
    if 0 < heights[-1] < frame.top:
        return False, heights[-1]
    for column in reversed(range(len(heights) - 1)):
        if heights[column] != heights[column + 1]:
            return True, float(frame.days[column]) + frame.half
    return None


def _label_beside(figure: Sheet, labels: Sequence[_Label], frame: Frame) -> None:
    wanted = [frame.y(label.at) for label in labels]
    texts = [wrap(label.text, _WIDEST_BESIDE) for label in labels]
    heights = [_LABEL_ROW * len(lines) for lines in texts]
    places = spread(wanted, heights, PLOT)
    for label, lines, want, got in zip(labels, texts, wanted, places, strict=True):
        figure.add_annotation(
            x=1, xref="paper", xanchor="left", xshift=4, align="left",
            y=label.at, yanchor="middle", yshift=got - want,
            text="<br>".join(lines), showarrow=False, font={"size": LABEL_SIZE},
        )  # fmt: skip


def _label_above(figure: Sheet, labels: Sequence[_Label], frame: Frame) -> int:
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
