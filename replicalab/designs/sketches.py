"""A sketch of what each kind of design compares: dots and boxes, placed in percent."""

from collections.abc import Iterable
from typing import Final, NamedTuple


class Shape(NamedTuple):
    """A dot, or a box where it has a width; all in percent of the sketch, from its lower left.

    The colours ``one``, ``two`` and ``three`` are groups, ``quiet`` is what they stand against.
    """

    x: float
    y: float
    colour: str = "one"
    w: float = 0.0
    h: float = 0.0


_THIN: Final = 3
# Where the dots of a group lie around its middle.
_SPREAD: Final = ((-5, -14), (3, -8), (-2, -2), (5, 4), (-4, 9), (2, 16))


def _group(x: float, y: float, colour: str) -> list[Shape]:
    """Return the dots of a group, and the line of its average."""
    dots = [Shape(x + right, y + up, colour) for right, up in _SPREAD]
    return [*dots, Shape(x - 10, y, colour, 20, _THIN)]


def _whisker(x: float, half: float) -> list[Shape]:
    """Return an average with its interval."""
    ends = [Shape(at, 38, "one", 1, 24) for at in (x - half, x + half)]
    return [Shape(x - half, 49, "one", 2 * half, _THIN), *ends, Shape(x, 50, "one")]


def _field(of: Iterable[tuple[int, str]]) -> list[Shape]:
    """Return a field of forty units, some of them in another colour."""
    colours = dict(of)
    return [
        Shape(9 + 9 * (place % 10), 20 + 20 * (place // 10), colours.get(place, "quiet"))
        for place in range(40)
    ]


def _share(x: float, share: float, colour: str) -> list[Shape]:
    return [Shape(x, 12, "quiet", 16, 76), Shape(x, 12, colour, 16, 76 * share)]


def _stairs(fall: float, colour: str) -> list[Shape]:
    """Return a curve of those who have had no event yet."""
    levels = [88 - fall * step for step in range(6)]
    flat = [Shape(8 + 14 * step, y, colour, 14, _THIN) for step, y in enumerate(levels)]
    down = [Shape(22 + 14 * n, y, colour, 1, fall + _THIN) for n, y in enumerate(levels[1:])]
    return flat + down


# --- the sketches, one a kind ---

TWO_GROUP: Final = (*_group(32, 40, "one"), *_group(68, 62, "two"))
PAIRED: Final = tuple(
    [
        shape
        for x, low, high in ((14, 22, 48), (32, 34, 70), (50, 26, 58), (68, 44, 80), (86, 30, 62))
        for shape in (
            Shape(x - 0.5, low, "quiet", 1, high - low),
            Shape(x, low, "one"),
            Shape(x, high, "two"),
        )
    ]
)
ONE_SAMPLE: Final = (Shape(10, 26, "quiet", 80, _THIN), *_group(50, 58, "one"))
CORRELATION: Final = tuple(
    [Shape(8 + 7 * n, 14 + 5.4 * n + (9, -7, 3, -3)[n % 4]) for n in range(13)]
)
TWO_PROPORTIONS: Final = (*_share(26, 0.3, "one"), *_share(58, 0.6, "two"))
AUDIT: Final = tuple(_field([(13, "two"), (27, "two")]))
COVERAGE: Final = tuple(_field((n, "one") for n in range(40) if n % 10 < 6))
PRECISION: Final = tuple(_whisker(50, 24))
ANOVA: Final = (*_group(20, 36, "one"), *_group(50, 48, "two"), *_group(80, 66, "three"))
EQUIVALENCE: Final = (
    Shape(22, 0, "quiet", 56, 100),
    Shape(49.5, 0, "paper", 1, 100),
    *_whisker(56, 14),
)
SURVIVAL: Final = (*_stairs(14, "one"), *_stairs(8, "two"))
