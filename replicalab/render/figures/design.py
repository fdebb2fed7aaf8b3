"""A design as a still picture: arms and units above, below them the days.

It is drawn narrow, so that its letters can be read on a phone too. Each text has a line of its own;
what is booked is hatched, so that it differs from the plan without colours.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

from replicalab.characters import on_one_line
from replicalab.render.figures.drawing import Area, Drawing, Spot, Stroke, Text, ring
from replicalab.views.design import Arm, DaySpan, DesignFacts

WIDTH: Final = 340.0
_EDGE: Final = 10.0
_ROOM: Final = WIDTH - 2 * _EDGE
_SIZE: Final = 12.5
_LINE: Final = 18.0
_GAP: Final = 8.0
_BAR: Final = 11.0
_TICK: Final = 5.0
_INK: Final = "#101418"
_QUIET: Final = "#5A5750"
_PAPER: Final = "#FFFFFF"
_PLAN: Final = "#3B424A"
_ARMS: Final = ("#0072B2", "#B84E00", "#007A80", "#7A4B9A", "#5A6B00", "#8A3324")
_LAB: Final = "#9F4600"
_BOOKED: Final = "#5A5750"
# A unit is a box of dots, one for each sample, while so many boxes and rows of dots are legible.
_MOST_BOXES: Final = 24
_BOX: Final = 40.0
_BETWEEN: Final = 3.0
_DOT: Final = 4.5
_MOST_ROWS: Final = 6
_MOST_TICKS: Final = 5
_MOST_LINES: Final = 2
# Widths of letters, as shares of the size: an estimate from above for the fonts that draw it.
_WIDE: Final = frozenset("WMmw@%—…")
_NARROW: Final = frozenset(" iljft.,:;'|()-!")
_WIDEST, _WIDER, _UPPER, _USUAL, _NARROWEST = 1.05, 1.0, 0.74, 0.58, 0.36


def design_drawing(facts: DesignFacts) -> Drawing:
    """Return the picture of a design."""
    sheet = _Sheet(facts.last_day)
    sheet.write(facts.size, bold=True)
    largest = max([arm.samples for arm in facts.arms], default=0)
    for arm, colour in zip(facts.arms, _ARMS, strict=False):
        sheet.write(arm.text)
        sheet.draw(*_arm(arm, largest, colour, sheet.at))
    sheet.write(facts.more_arms, _QUIET)
    sheet.at += _GAP
    if facts.plan:
        sheet.write(facts.plan.text)
        sheet.bar(facts.plan, facts.lab.last)
    for booked in facts.bookings:
        sheet.write(booked.text)
        sheet.bar(booked, facts.lab.last, hatched=True)
    if facts.more_items:
        sheet.write(f"Missing: {facts.more_items}")
    sheet.write(facts.lab.text, _LAB)
    sheet.outline(facts.lab)
    sheet.axis(facts.dates)
    found = Drawing(WIDTH, sheet.at + _EDGE)
    found.add(*sheet.shapes, *sheet.above)
    return found


class _Sheet:
    """A picture in the making: what is added stands below what is there.

    The first day begins at the left edge, the last one that is drawn ends at the right one.
    """

    def __init__(self, last: int) -> None:
        self.last, self.at = last, _EDGE
        self.shapes: list[Area | Stroke | Text] = []
        self.above: list[Area | Stroke | Text] = []

    def write(self, text: str, colour: str = _INK, *, bold: bool = False) -> None:
        """Add a text, in as many lines as it needs, two at most."""
        for line in _lines(text):
            place = self.at + _LINE / 2
            self.shapes.append(Text(line, _EDGE, place, _SIZE, colour, bold=bold))
            self.at += _LINE

    def draw(self, shapes: Iterable[Area | Stroke], height: float) -> None:
        """Add shapes that are so high."""
        self.shapes += shapes
        self.at += height + _GAP / 2

    # --- days -------------------------------------------------------------------------------

    def start_of(self, day: int) -> float:
        """Return where a day begins, in px."""
        return _EDGE + _ROOM * (min(day, self.last + 1) - 1) / self.last

    def end_of(self, day: int) -> float:
        """Return where a day ends, in px."""
        return self.start_of(day + 1)

    def bar(self, span: DaySpan, lab_ends: int, *, hatched: bool = False) -> None:
        """Add some days as a bar; one that goes on beyond the picture has no end.

        Where the lab's days end is marked on it.
        """
        outline = self._box(span)
        if hatched:
            right, left, below_left, below_right = (outline[at] for at in (1, 0, 3, 2))
            edge = [right, left, below_left, below_right]
            goes_on = span.last > self.last
            self.shapes.append(Area([outline], _BOOKED, hatching="/"))
            self.shapes.append(Stroke(edge if goes_on else [*edge, right], _BOOKED, 1.2))
        else:
            self.shapes.append(Area([outline], _PLAN))
        if span.last > lab_ends:
            x, over = self.end_of(lab_ends), _BETWEEN
            self.above.append(Stroke([(x, self.at - over), (x, self.at + _BAR + over)], _LAB, 2.5))
        self.at += _BAR + _GAP / 2

    def outline(self, span: DaySpan) -> None:
        """Add some days as an empty bar."""
        corners = self._box(span)
        self.shapes.append(Stroke([*corners, corners[0]], _LAB, 1.5))
        self.at += _BAR + _GAP

    def _box(self, span: DaySpan) -> list[Spot]:
        left, right = self.start_of(span.first), self.end_of(span.last)
        return _box(left, self.at, right - left, _BAR)

    def axis(self, dates: tuple[str, str]) -> None:
        """Add the axis with the numbers of some days, and the dates of its ends."""
        self.shapes.append(Stroke([(_EDGE, self.at), (WIDTH - _EDGE, self.at)], _INK))
        for day in self._ticks():
            x = (self.start_of(day) + self.end_of(day)) / 2
            self.shapes.append(Stroke([(x, self.at), (x, self.at + _TICK)], _INK))
            name = f"day {day:,}" if day == 1 else f"{day:,}"
            half = _wide(name) / 2
            x = min(max(x, _EDGE + half), WIDTH - _EDGE - half)
            y = self.at + _TICK + _LINE / 2
            self.shapes.append(Text(name, x, y, _SIZE, _INK, "middle"))
        self.at += _TICK + _LINE
        if any(dates):
            y, (first, last) = self.at + _LINE / 2, dates
            self.shapes.append(Text(first, _EDGE, y, _SIZE, _QUIET))
            self.shapes.append(Text(last, WIDTH - _EDGE, y, _SIZE, _QUIET, "end"))
            self.at += _LINE

    def _ticks(self) -> list[int]:
        step = max(1, -(-(self.last - 1) // _MOST_TICKS))
        inner = range(1 + step, self.last - step // 2, step)
        return [1, *inner, self.last] if self.last > 1 else [1]


def _lines(text: str) -> list[str]:
    """Return a text in lines that fit, two at most, cut with a mark where it needs more."""
    lines = [""]
    for word in on_one_line(text).split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and _wide(longer) > _ROOM:
            lines.append(word)
        else:
            lines[-1] = longer
    kept = [_cut(line) for line in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        kept[-1] = _cut(f"{kept[-1].rstrip('…')} …")
    return [line for line in kept if line]


def _cut(line: str) -> str:
    if _wide(line) <= _ROOM:
        return line
    end = len(line)
    while end and _wide(f"{line[:end]}…") > _ROOM:
        end -= 1
    return f"{line[:end].rstrip()}…"


def _wide(text: str) -> float:
    """Return how wide a text is at most, in px."""
    return _SIZE * sum(map(_width, text))


def _width(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return _WIDEST
    if letter in _WIDE:
        return _WIDER
    if letter in _NARROW:
        return _NARROWEST
    return _UPPER if letter.isupper() else _USUAL


# --- arms -------------------------------------------------------------------------------------


def _arm(arm: Arm, largest: int, colour: str, top: float) -> tuple[list[Area | Stroke], float]:
    """Return an arm as boxes of dots or as a bar, and how high that is."""
    boxes = _boxes(arm, colour, top) if 0 < arm.units <= _MOST_BOXES else None
    if boxes:
        return boxes
    width = _ROOM * arm.samples / largest if largest else 0.0
    return [Area([_box(_EDGE, top, width, _BAR)], colour)] if width else [], _BAR


def _boxes(arm: Arm, colour: str, top: float) -> tuple[list[Area | Stroke], float] | None:
    """Return a box for each unit with a dot for each sample; None where they would be too many."""
    wide = min(_BOX, _ROOM / arm.units - _BETWEEN)
    across = int((wide - _BETWEEN) // _DOT)
    fullest = -(-arm.samples // arm.units)
    rows = -(-fullest // across) if across else _MOST_ROWS + 1
    if rows > _MOST_ROWS:
        return None
    high, shapes = rows * _DOT + _BETWEEN, list[Area | Stroke]()
    for at in range(arm.units):
        left = _EDGE + at * (wide + _BETWEEN)
        corners = _box(left, top, wide, high)
        shapes.append(Stroke([*corners, corners[0]], colour, 1.2))
        # The last unit may be filled in part.
        held = min(fullest, arm.samples - at * fullest)
        shapes += [
            Area([ring(*_dot(left, top, dot, across), 1.4, 8)], colour) for dot in range(held)
        ]
    return shapes, high


def _dot(left: float, top: float, number: int, across: int) -> Spot:
    row, column = divmod(number, across)
    return (
        left + _BETWEEN / 2 + (column + 0.5) * _DOT,
        top + _BETWEEN / 2 + (row + 0.5) * _DOT,
    )


def _box(left: float, top: float, width: float, height: float) -> list[Spot]:
    right, below = left + width, top + height
    return [(left, top), (right, top), (right, below), (left, below)]
