"""Where labels go, so that none covers another: pure geometry in pixels.

The same figure is shown on a projector and on a phone, and nobody knows beforehand on which. So
labels are placed for the phone's width: on a wider screen points move apart and labels do not
grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

LABEL_SIZE: Final = 11
LETTER: Final = 6.4
"""Width of a letter of that size in px, on average and rather more than less."""

LINE: Final = 15.0
"""Height of a line of labels in px."""

NARROW: Final = 215.0
"""Width of the plot on the narrowest screen, in px."""


class Box(NamedTuple):
    """A rectangle in px, y upwards."""

    left: float
    bottom: float
    right: float
    top: float

    def overlaps(self, other: Box) -> bool:
        """Return whether they have an area in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )


def width_of(text: str) -> float:
    """Return about how wide a label is, in px."""
    return len(text) * LETTER + 6


def spread(positions: Sequence[float], heights: Sequence[float], high: float) -> list[float]:
    """Return positions in the order given, labels of those heights apart and below ``high``.

    Args:
        positions: where the labels' middles would best be, in px.
        heights: how tall the labels are.
        high: where the highest may be; a label of several lines stays below it as a whole.
    """
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    found = [positions[i] for i in order]
    gaps = [(heights[a] + heights[b]) / 2 for a, b in pairwise(order)]
    for after, gap in enumerate(gaps, start=1):
        found[after] = max(found[after], found[after - 1] + gap)
    ceiling = high - (heights[order[-1]] - min(heights)) / 2 if order else high
    for place in reversed(range(len(found))):
        found[place] = min(found[place], ceiling)
        ceiling = found[place] - (gaps[place - 1] if place else 0)
    placed = dict(zip(order, found, strict=True))
    return [placed[i] for i in range(len(positions))]


class Placed(NamedTuple):
    """A label above the plot: how far its middle is from its mark (px), and in which row."""

    shift: float
    row: int


def rows(centres: Sequence[float], texts: Sequence[str], overhang: float) -> list[Placed]:
    """Return places above the plot for labels of marks at those x (px), in as few rows as fit.

    Args:
        centres: where the marks are, from the plot's left edge.
        texts: their labels.
        overhang: how far a label may stand out of the plot on either side, in px.
    """
    taken: list[Box] = []
    found = []
    for centre, text in zip(centres, texts, strict=True):
        half = width_of(text) / 2
        middle = min(max(centre, half - overhang), NARROW + overhang - half)
        row = 0
        while any(_in_row(middle, half, row).overlaps(box) for box in taken):
            row += 1
        taken.append(_in_row(middle, half, row))
        found.append(Placed(middle - centre, row))
    return found


def _in_row(middle: float, half: float, row: int) -> Box:
    return Box(middle - half, row * LINE, middle + half, (row + 1) * LINE)


class Chip(NamedTuple):
    """A label beside its point: how far its middle is from the point, in px, y upwards."""

    right: float
    up: float


def beside(
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    height: float,
    taken: Sequence[Box] = (),
) -> list[Chip]:
    """Return a place for each point's label, clear of the points and of each other.

    Args:
        points: where they are, from the plot's lower left corner, in px.
        texts: their labels.
        height: the plot's, in px.
        taken: what else must stay free.
    """
    marks = [*taken, *(Box(x - 8, y - 8, x + 8, y + 8) for x, y in points)]
    labels: list[Box] = []
    found = []
    for (x, y), text in zip(points, texts, strict=True):
        places = [*_around(text), *_anywhere(x, y, height)]
        boxes = [_box_at(x, y, chip, text) for chip in places]
        best = min(range(len(places)), key=lambda i: _cost(boxes[i], labels, marks, height))
        labels.append(boxes[best])
        found.append(places[best])
    return found


def _around(text: str) -> list[Chip]:
    aside = width_of(text) / 2 + 11
    return [
        *(Chip(aside * way, up) for up in (0.0, 14.0, -14.0) for way in (1, -1)),
        *(Chip(aside * way, up) for way in (0, 0.6, -0.6) for up in (19.0, -19.0)),
        *(Chip(aside * way, up) for way in (0, 0.9, -0.9) for up in (36.0, -36.0, 54.0, -54.0)),
    ]


def _anywhere(x: float, y: float, height: float) -> list[Chip]:
    """Return the rows of the plot, for a label with no room beside its point."""
    return [Chip(NARROW / 2 - x, row * LINE + LINE / 2 - y) for row in range(int(height / LINE))]


def _box_at(x: float, y: float, chip: Chip, text: str) -> Box:
    half = width_of(text) / 2
    left, middle = x + chip.right - half, y + chip.up
    return Box(left, middle - LINE / 2, left + 2 * half, middle + LINE / 2)


def _cost(
    box: Box, labels: Sequence[Box], marks: Sequence[Box], height: float
) -> tuple[int, int, float]:
    """Return how bad a place is: labels covered first, then marks, then px outside the plot."""
    outside = (
        max(0.0, -box.left)
        + max(0.0, box.right - NARROW)
        + max(0.0, -box.bottom)
        + max(0.0, box.top - height)
    )
    covered = sum(box.overlaps(other) for other in marks)
    return sum(box.overlaps(other) for other in labels), covered + (outside > 0), outside
