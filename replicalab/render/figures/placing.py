"""Places of labels at their marks or on their lines, in pixels.

One figure serves projector and phone. So a place is a share of the plot's width and a distance in
px from there, and is tried at three widths.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.float64]

LETTER: Final = 6.8  # width of a letter in px, on average, rounded up
LINE: Final = 19.0  # Height of a label in px
WIDTHS: Final = (285.0, 610.0, 1000.0)  # of the plot on phone, projector and large screen, px
PLOT: Final = 330  # Height of the plot on a page, in px
_MARK: Final = 9  # Half the size of a mark, in px
_POINTS_TRIED: Final = 2400  # about, on a whole line
_STEPS: Final = 24  # of them on each straight part
_AVOIDED: Final = 150  # points of lines, about, from which labels keep off

Point = tuple[float, float]  # A share of the plot's width, and a height in px


class Box(NamedTuple):
    """A rectangle in px, from the plot's lower left corner, y upwards."""

    left: float
    bottom: float
    right: float
    top: float


class LabelPlace(NamedTuple):
    """A place for a label's middle: a point of the plot, and the distance from it in px."""

    across: float  # a share of the plot's width; all else is in px
    height: float
    right: float = 0.0
    up: float = 0.0

    def box(self, width: float, half_wide: float, half_high: float) -> Box:
        """Return the box of a label by its half size, in a plot of this width."""
        x, y = self.across * width + self.right, self.height + self.up
        return Box(x - half_wide, y - half_high, x + half_wide, y + half_high)


class LabelRequest(NamedTuple):
    """A label's text, and its possible places, one `LabelPlace` a row, the best first."""

    text: str
    places: ArrayLike
    keeps_off: bool = False  # whether lines are avoided; the name of a line is written on it

    def boxes(self, place: LabelPlace) -> list[Box]:
        """Return its box at a place, for each of `WIDTHS`."""
        return [place.box(width, width_of(self.text) / 2, LINE / 2) for width in WIDTHS]


def width_of(text: str) -> float:
    """Return the approximate width of a label in px."""
    return len(text) * LETTER + 8


def arrange(
    labels: Sequence[LabelRequest], marks: Sequence[LabelPlace], lines: Sequence[Point | None] = ()
) -> list[LabelPlace]:
    """Return a place for each label, clear of earlier labels first, then of marks and lines."""
    points = _points(lines)
    avoided = [LabelPlace(*point) for point in points[:: 1 + len(points) // _AVOIDED].tolist()]
    crossed = [[point.box(width, 2, 2) for point in avoided] for width in WIDTHS]
    taken: list[list[Box]] = [[] for _ in WIDTHS]
    drawn = [[mark.box(width, _MARK, _MARK) for mark in marks] for width in WIDTHS]
    places = []
    for label in labels:
        best = _best(label, taken, drawn, crossed if label.keeps_off else [[]])
        places.append(best)
        for boxes, box in zip(taken, label.boxes(best), strict=True):
            boxes.append(box)
    return places


def _best(
    label: LabelRequest,
    labels: Sequence[list[Box]],
    marks: Sequence[list[Box]],
    lines: Sequence[list[Box]],
) -> LabelPlace:
    places = np.asarray(label.places, dtype=float)
    across, up, right, above = places.T[:, :, None]
    widths = np.array(WIDTHS)
    x, half_wide = across * widths + right, width_of(label.text) / 2
    y, half_high = np.broadcast_to(up + above, x.shape), LINE / 2
    # By place and width: left, bottom, right, top.
    boxes = np.stack([x - half_wide, y - half_high, x + half_wide, y + half_high])
    beyond = -boxes[0], boxes[2] - widths, -boxes[1], boxes[3] - PLOT
    outside = sum(np.maximum(0.0, px) for px in beyond).sum(axis=1)
    # The last counts most. A place further away is for many points of lines.
    near = _covered(boxes, lines) + np.arange(len(places)) // 2 * bool(lines[0])
    order = near, outside, _covered(boxes, marks), _covered(boxes, labels)
    return LabelPlace(*places[np.lexsort(order)[0]].tolist())


def _covered(boxes: Numbers, others: Sequence[list[Box]]) -> NDArray[np.int_]:
    if not others[0]:
        return np.zeros(boxes.shape[1], dtype=int)
    rest, bottom, right, top = boxes[..., None]
    values = np.moveaxis(np.array(others), 2, 0)
    across = (rest < values[2]) & (values[0] < right)
    covered: NDArray[np.int_] = (across & (bottom < values[3]) & (values[1] < top)).sum(axis=(1, 2))
    return covered


def around(text: str, across: float, height: float) -> list[LabelPlace]:
    """Return the places for the label of a mark: at its side, above, below, then further away."""
    aside = width_of(text) / 2 + 12
    ways = (
        *((aside * way, up) for up in (0.0, 15.0, -15.0) for way in (1, -1)),
        *((aside * way, up) for way in (0.0, 0.6, -0.6, 1.0, -1.0) for up in (22.0, -22.0)),
        *((aside * way, up) for way in (0.0, 0.9, -0.9) for up in (42.0, -42.0)),
    )
    return [LabelPlace(across, height, right, up) for right, up in ways]


def along(text: str, line: Sequence[Point | None]) -> Numbers:
    """Return the places for the name of a line, one a row, from its end; None lifts the pen."""
    half = width_of(text) / 2
    middles = _points(line)[::-1]
    # It may be next to an upright line, or away from a line that ends at the edge of the plot; a
    # short line under a plan's label leaves room only above and below.
    ways = ((0.0, 0.0), (half + 3, 0.0), (-half - 3, 0.0), (0.0, LINE + 2), (0.0, -LINE - 2))
    tried = ((middles[:1], (-half - 2, 0.0)), *((middles, way) for way in ways))
    return np.concatenate([np.column_stack((at, np.full_like(at, way))) for at, way in tried])


def _points(line: Sequence[Point | None]) -> Numbers:
    pairs = ((start, end) for start, end in pairwise(line) if start and end)
    pieces = np.array([pair for pair in pairs if np.isfinite(pair).all()])
    if not len(pieces):
        return np.empty((0, 2))
    starts, ends = np.swapaxes(pieces, 0, 1)[:, :, None]
    steps = max(1, min(_STEPS, _POINTS_TRIED // len(pieces)))
    shares = np.arange(steps + 1)[:, None] / steps
    points: Numbers = (starts + shares * (ends - starts)).reshape(-1, 2)
    inside = (points >= 0).all(axis=1) & (points <= (1, PLOT)).all(axis=1)
    values: Numbers = points[inside]
    return values
