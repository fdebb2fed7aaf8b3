"""Where labels go, so that each stands at its mark or on its line: geometry in pixels.

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
_MARK: Final = 9  # Half the size of a mark, in px
_STEPS: Final = 24  # So many places are tried on each straight part of a line

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
        across = self.left < other.right and other.left < self.right
        return across and self.bottom < other.top and other.bottom < self.top

    def outside(self, width: float, height: float) -> float:
        """Return how far it stands out of a plot of that size, in px."""
        beyond = (-self.left, self.right - width, -self.bottom, self.top - height)
        return sum(max(0.0, px) for px in beyond)


class LabelPlace(NamedTuple):
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

    def box(self, width: float, half_wide: float, half_high: float) -> Box:
        """Return what stands there in a plot of that width, by half its own size."""
        x, y = self.across * width + self.right, self.height + self.up
        return Box(x - half_wide, y - half_high, x + half_wide, y + half_high)


class LabelRequest(NamedTuple):
    """A label that wants a place: its text, and the places that would do, the best one first."""

    text: str
    places: Sequence[LabelPlace]

    def boxes(self, place: LabelPlace) -> list[Box]:
        """Return about what it covers at a place, for each of `WIDTHS`."""
        return [place.box(width, width_of(self.text) / 2, LINE / 2) for width in WIDTHS]


def width_of(text: str) -> float:
    """Return about how wide a label is, in px."""
    return len(text) * LETTER + 8


def placed(
    labels: Sequence[LabelRequest], marks: Sequence[LabelPlace], height: float = PLOT
) -> list[LabelPlace]:
    """Return a place for each label, in their order: clear of labels before it, then of marks."""
    taken: list[list[Box]] = [[] for _ in WIDTHS]
    drawn = [[mark.box(width, _MARK, _MARK) for mark in marks] for width in WIDTHS]
    found = []
    for label in labels:
        best = _best(label, taken, drawn, height)
        found.append(best)
        for boxes, box in zip(taken, label.boxes(best), strict=True):
            boxes.append(box)
    return found


def _best(
    label: LabelRequest, labels: Sequence[list[Box]], marks: Sequence[list[Box]], height: float
) -> LabelPlace:
    """Return the place that covers fewest labels, is least outside, then covers fewest marks.

    Of several the first; the places after one that is clear of everything are not looked at.
    """

    def covered(boxes: Sequence[Box], others: Sequence[list[Box]]) -> int:
        pairs = zip(boxes, others, strict=True)
        return sum([box.overlaps(other) for box, there in pairs for other in there])

    best, least = label.places[0], (math.inf, math.inf, math.inf)
    for place in label.places:
        boxes = label.boxes(place)
        if (on_labels := covered(boxes, labels)) > least[0]:
            continue
        outside = sum(box.outside(width, height) for box, width in zip(boxes, WIDTHS, strict=True))
        cost = on_labels, outside, covered(boxes, marks)
        if cost < least:
            best, least = place, cost
            if not any(cost):
                break
    return best


def around(text: str, across: float, height: float) -> list[LabelPlace]:
    """Return the places for the label of a mark: at its side, above, below, and a bit further."""
    aside = width_of(text) / 2 + 12
    ways = (
        *((aside * way, up) for up in (0.0, 15.0, -15.0) for way in (1, -1)),
        *((aside * way, up) for way in (0.0, 0.6, -0.6, 1.0, -1.0) for up in (22.0, -22.0)),
        *((aside * way, up) for way in (0.0, 0.9, -0.9) for up in (42.0, -42.0)),
    )
    return [LabelPlace(across, height, right, up) for right, up in ways]


def along(text: str, line: Sequence[Point | None], height: float = PLOT) -> list[LabelPlace]:
    """Return the places for the name of a line: on it, from its end backwards.

    None where no part of the line lies in the plot.

    Args:
        text: the name.
        line: its corners, each a share of the width and a height in px; None lifts the pen.
        height: of the plot, in px.
    """
    half = width_of(text) / 2
    middles = [LabelPlace(*point) for point in reversed(list(_points(line, height)))]
    # Beside an upright line, or within the plot where a line ends at its edge, it may stand off;
    # a short one with a plan's label on it leaves room only above and below.
    ways = ((0.0, 0.0), (half + 3, 0.0), (-half - 3, 0.0), (0.0, LINE + 2), (0.0, -LINE - 2))
    ends = [place._replace(right=-half - 2) for place in middles[:1]]
    return ends + [m._replace(right=right, up=up) for right, up in ways for m in middles]


def _points(line: Sequence[Point | None], height: float) -> Iterator[Point]:
    """Yield points on a line that lie in the plot; a line may go on far beyond it."""
    for start, end in pairwise(line):
        if start is None or end is None:
            continue
        for share in (step / _STEPS for step in range(_STEPS + 1)):
            x, y = (here + share * (there - here) for here, there in zip(start, end, strict=True))
            if 0 <= x <= 1 and 0 <= y <= height:
                yield x, y
