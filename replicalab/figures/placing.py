"""Where labels go, so that none covers another: pure geometry in pixels.

The same figure is shown on a projector and on a phone, and nobody knows beforehand on which. So
labels are placed for the phone's width: on a wider screen points move apart and labels do not
grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

LETTER: Final = 6.4
"""Width of a letter of a label in px, on average and rather more than less."""
LINE: Final = 15.0
"""Height of a line of labels in px."""
NARROW: Final = 215.0
"""Width of the plot on the narrowest screen, in px."""
PLOT: Final = 272
"""Height of the plot, in px."""
OVERHANG: Final = 38
"""How far a label above the plot may stand out of it on either side, in px."""


class Box(NamedTuple):
    """A rectangle in px, from the plot's lower left corner, y upwards."""

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


def box_of(text: str, x: float, y: float) -> Box:
    """Return about what a label with its middle there covers."""
    half = width_of(text) / 2
    return Box(x - half, y - LINE / 2, x + half, y + LINE / 2)


def width_of(text: str) -> float:
    """Return about how wide a label is, in px."""
    return len(text) * LETTER + 6


def spread(positions: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Return positions in the order given, labels of those heights apart and within the plot.

    Args:
        positions: where the labels' middles would best be, in px.
        heights: how tall they are; one of several lines stays below the top as a whole.
    """
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    found = [positions[i] for i in order]
    gaps = [(heights[a] + heights[b]) / 2 for a, b in pairwise(order)]
    for after, gap in enumerate(gaps, start=1):
        found[after] = max(found[after], found[after - 1] + gap)
    ceiling = PLOT - (heights[order[-1]] - min(heights)) / 2 if order else PLOT
    for place in reversed(range(len(found))):
        found[place] = min(found[place], ceiling)
        ceiling = found[place] - (gaps[place - 1] if place else 0)
    placed = dict(zip(order, found, strict=True))
    return [placed[i] for i in range(len(positions))]


def rows(centres: Sequence[float], texts: Sequence[str]) -> list[tuple[float, int]]:
    """Return places above the plot for labels of marks at those x (px), in as few rows as fit.

    Each is how far the label's middle is from its mark, in px, and its row, counted from 0.
    """
    taken: list[Box] = []
    found = []
    for centre, text in zip(centres, texts, strict=True):
        half = width_of(text) / 2
        middle = min(max(centre, half - OVERHANG), NARROW + OVERHANG - half)
        row = 0
        while any(box_of(text, middle, row * LINE).overlaps(box) for box in taken):
            row += 1
        taken.append(box_of(text, middle, row * LINE))
        found.append((middle - centre, row))
    return found


def beside(
    points: Sequence[tuple[float, float]], texts: Sequence[str]
) -> list[tuple[float, float]]:
    """Return a place for each point's label, clear of the points and of each other.

    Each is how far the label's middle is from its point, in px: to the right, and up.
    """
    marks = [Box(x - 8, y - 8, x + 8, y + 8) for x, y in points]
    labels: list[Box] = []
    found = []
    for (x, y), text in zip(points, texts, strict=True):
        places = {(right, up): box_of(text, x + right, y + up) for right, up in _around(text)}
        # A label with no room beside its point goes to one of the rows of the plot.
        for row in range(int(PLOT / LINE)):
            right, up = NARROW / 2 - x, row * LINE + LINE / 2 - y
            places.setdefault((right, up), box_of(text, x + right, y + up))
        best = min(places, key=lambda place: _cost(places[place], labels, marks))
        labels.append(places[best])
        found.append(best)
    return found


def _around(text: str) -> list[tuple[float, float]]:
    aside = width_of(text) / 2 + 11
    return [
        *((aside * way, up) for up in (0.0, 14.0, -14.0) for way in (1, -1)),
        *((aside * way, up) for way in (0, 0.6, -0.6) for up in (19.0, -19.0)),
        *((aside * way, up) for way in (0, 0.9, -0.9) for up in (36.0, -36.0, 54.0, -54.0)),
    ]


def _cost(box: Box, labels: Sequence[Box], marks: Sequence[Box]) -> tuple[int, int, float]:
    """Return how bad a place is: labels covered first, then marks, then px outside the plot."""
    outside = (
        max(0.0, -box.left)
        + max(0.0, box.right - NARROW)
        + max(0.0, -box.bottom)
        + max(0.0, box.top - PLOT)
    )
    covered = sum(box.overlaps(other) for other in marks)
    return sum(box.overlaps(other) for other in labels), covered + (outside > 0), outside
