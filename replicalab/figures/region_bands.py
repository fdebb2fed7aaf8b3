"""The areas of the region's plot: what does not fit is hatched, what fits but is lost is dotted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from replicalab.figures.region_frame import Frame, Path, step
from replicalab.figures.sheet import Sheet
from replicalab.figures.style import QUIET
from replicalab.regions import Region

_VEIL: Final = "rgba(150, 150, 150, 0.5)"


def draw_bands(figure: Sheet, region: Region, frame: Frame) -> None:
    """Hatch what is not feasible; dot what is, but whose samples or endpoint are lost."""
    most, useful = region.most_feasible, region.most_useful
    ceiling = np.full(most.shape, frame.top)
    floor = np.where(most < 0, 0.0, np.minimum(most + 0.5, ceiling))
    least = np.where(most < 0, 0.0, region.least - 0.5)
    start = np.where(useful < 0, least, np.minimum(useful + 0.5, ceiling))
    _draw_band(figure, frame, [(floor, ceiling), (0 * least, least)], "does not fit", "/")
    _draw_band(figure, frame, [(start, floor)], "fits, but lost", ".")


def _draw_band(
    figure: Sheet, frame: Frame, bands: Sequence[tuple[Any, Any]], name: str, shape: str
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


def _outline(frame: Frame, lower: Any, upper: Any) -> Path:
    """Return the outlines of the area between two staircases, one for each run of columns."""
    path: Path = []
    for run in _runs(upper > lower):
        there = [p for j in run for p in step(frame, j, float(upper[j]))]
        back = [p for j in reversed(run) for p in reversed(step(frame, j, float(lower[j])))]
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
