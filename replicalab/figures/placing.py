"""Where labels go, so that each stands at its mark and none covers another: geometry in pixels.

The same figure is shown on a projector and on a phone, and nobody knows beforehand on which. So a
place is a share of the plot's width and a distance in px from there, and is tried at three widths.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

LETTER: Final = 6.8
"""Width of a letter of a label in px, on average and rather more than less."""
LINE: Final = 19.0
"""Height of a label in px."""
WIDTHS: Final = (285.0, 610.0, 1000.0)
"""Width of the plot on a phone, a projector and a large screen, in px."""
PLOT: Final = 330
"""Height of the plot on a page, in px."""
_MARK: Final = 9
"""Half the size of a mark, in px."""
_ALONG: Final = 24.0
"""How far apart, at most, the places along a line are on a phone, in px."""


Point = tuple[float, float]
"""A share of the plot's width, and a height in px."""


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

    def outside(self, width: float, height: float) -> float:
        """Return how far it stands out of a plot of that size, in px."""
        across = max(0.0, -self.left) + max(0.0, self.right - width)
        return across + max(0.0, -self.bottom) + max(0.0, self.top - height)


class Place(NamedTuple):
    """A place for a label's middle: a point of the plot, and how far from it in px.

    Attributes:
        across: the point's share of the plot's width.
        height: the point's height in px.
        right, up: from the point to the label's middle.
    """

    across: float
    height: float
    right: float = 0.0
    up: float = 0.0

    def box(self, text: str, width: float) -> Box:
        """Return about what a label there covers in a plot of that width."""
        x, y, half = self.across * width + self.right, self.height + self.up, width_of(text) / 2
        return Box(x - half, y - LINE / 2, x + half, y + LINE / 2)


class Wanted(NamedTuple):
    """A label that wants a place: its text, and the places that would do, the best one first."""

    text: str
    places: Sequence[Place]


def width_of(text: str) -> float:
    """Return about how wide a label is, in px."""
    return len(text) * LETTER + 8


def placed(labels: Sequence[Wanted], marks: Sequence[Place], height: float = PLOT) -> list[Place]:
    """Return a place for each label, in their order: clear of labels before it, then of marks.

    Args:
        labels: what wants a place.
        marks: where the marks are.
        height: of the plot, in px.
    """
    taken: list[list[Box]] = [[] for _ in WIDTHS]
    drawn = [[_mark(mark, width) for mark in marks] for width in WIDTHS]
    found = []
    for text, places in labels:
        best, least = places[0], (math.inf, 0.0, 0)
        for place in places:
            cost = _cost([place.box(text, width) for width in WIDTHS], taken, drawn, height)
            if cost < least:
                best, least = place, cost
            if not any(cost):
                break
        found.append(best)
        for boxes, width in zip(taken, WIDTHS, strict=True):
            boxes.append(best.box(text, width))
    return found


def _cost(
    boxes: Sequence[Box],
    labels: Sequence[Sequence[Box]],
    marks: Sequence[Sequence[Box]],
    height: float,
) -> tuple[float, float, int]:
    """Return how bad a place is, over all widths: labels covered, px outside, marks covered."""
    outside = sum(box.outside(width, height) for box, width in zip(boxes, WIDTHS, strict=True))
    return _covered(boxes, labels), outside, _covered(boxes, marks)


def _covered(boxes: Sequence[Box], others: Sequence[Sequence[Box]]) -> int:
    pairs = zip(boxes, others, strict=True)
    return sum(box.overlaps(other) for box, there in pairs for other in there)


def _mark(place: Place, width: float) -> Box:
    x, y = place.across * width, place.height
    return Box(x - _MARK, y - _MARK, x + _MARK, y + _MARK)


def around(text: str, across: float, height: float) -> list[Place]:
    """Return the places for the label of a mark: beside, above, below, and a little further."""
    aside = width_of(text) / 2 + 12
    ways = (
        *((aside * way, up) for up in (0.0, 15.0, -15.0) for way in (1, -1)),
        *((aside * way, up) for way in (0.0, 0.6, -0.6, 1.0, -1.0) for up in (22.0, -22.0)),
        *((aside * way, up) for way in (0.0, 0.9, -0.9) for up in (42.0, -42.0)),
    )
    return [Place(across, height, right, up) for right, up in ways]


def along(text: str, line: Sequence[Point | None], height: float = PLOT) -> list[Place]:
    """Return the places for the name of a line: on it, from its end backwards.

    None where no part of the line lies in the plot.

    Args:
        text: the name.
        line: its corners, each a share of the width and a height in px; None lifts the pen.
        height: of the plot, in px.
    """
    half = width_of(text) / 2
    middles = [Place(*point) for point in reversed(list(_points(line, height)))]
    # Beside an upright line, or within the plot where a line ends at its edge, it may stand off;
    # a short one with a plan's label on it leaves room only above and below.
    return [
        *(place._replace(right=-half - 2) for place in middles[:1]),
        *middles,
        *(place._replace(right=way * (half + 3)) for place in middles for way in (1, -1)),
        *(place._replace(up=way * (LINE + 2)) for place in middles for way in (1, -1)),
    ]


def _points(line: Sequence[Point | None], height: float) -> Iterator[Point]:
    """Yield points on a line, near enough to each other; only of what lies in the plot."""
    pairs = ((start, end) for start, end in pairwise(line) if start and end)
    parts = (_within(start, end, height) for start, end in pairs)
    for start, end in filter(None, parts):
        length = max(abs(end[0] - start[0]) * WIDTHS[0], abs(end[1] - start[1]))
        steps = max(1, round(length / _ALONG))
        for step in range(steps + 1):
            share = step / steps
            yield (
                start[0] + share * (end[0] - start[0]),
                start[1] + share * (end[1] - start[1]),
            )


def _within(start: Point, end: Point, height: float) -> tuple[Point, Point] | None:
    """Return the part of a straight line that lies in a plot of that height, None where none does.

    A line may go on far beyond: the floor of an interval that a study cannot come near, say.
    Source: Liang & Barsky (1984), ACM Transactions on Graphics 3, 1-22.
    """
    first, last = 0.0, 1.0
    for here, there, most in zip(start, end, (1.0, height), strict=True):
        way = there - here
        if not math.isfinite(way):
            return None
        if way:
            enters, leaves = sorted((-here / way, (most - here) / way))
            first, last = max(first, enters), min(last, leaves)
        elif not 0 <= here <= most:
            return None
    if first > last:
        return None
    return _at(first, start, end, height), _at(last, start, end, height)


def _at(share: float, start: Point, end: Point, height: float) -> Point:
    """Return a point of the plot that lies so far on the way from one point to another."""
    x, y = (here + share * (there - here) for here, there in zip(start, end, strict=True))
    return min(max(x, 0.0), 1.0), min(max(y, 0.0), height)
