"""The borders of the region's plot, and the steps along which its lines and areas run."""

from __future__ import annotations

from replicalab.figures.placing import NARROW
from replicalab.figures.sheet import PLOT
from replicalab.regions import Region

Path = list[tuple[float | None, float | None]]
"""Corners of a line or an outline; None lifts the pen."""


class Frame:
    """The borders of the plot, and where a value lies in it on a phone, in px."""

    def __init__(self, region: Region) -> None:
        self.days, self.samples = region.days, region.samples
        self.half = float(region.days[1] - region.days[0]) / 2
        self.left = float(region.days[0]) - self.half
        self.right = float(region.days[-1]) + self.half
        self.top = float(region.samples[-1])

    def x(self, days: float) -> float:
        """Return how far from the left those days are."""
        return (days - self.left) / (self.right - self.left) * NARROW

    def y(self, samples: float) -> float:
        """Return how far from the bottom those samples are."""
        return samples / self.top * PLOT

    def holds(self, days: float, samples: float) -> bool:
        """Return whether a plan of these numbers lies inside."""
        return self.left <= days <= self.right and 0 <= samples <= self.top


def step(frame: Frame, column: int, height: float) -> Path:
    """Return the two ends of a level line over one column."""
    middle = float(frame.days[column])
    return [(middle - frame.half, height), (middle + frame.half, height)]
