"""How far long work is, on standard error: a bar in a terminal, else a line for each tenth."""

import shutil
import time
from collections.abc import Callable
from typing import Final

from replicalab.cli.printing import is_watched, say
from replicalab.lexicon import amount_text, count_text

_WIDTH: Final = 24  # Characters of the bar, where the terminal has room for them
_LEAST: Final = 1.0  # Before so many seconds what is left is a guess
_TENTHS, _PICTURES = 10, 200
_LONG: Final = 100  # Of such and longer times, in a unit, the next larger one is told


class ProgressBar:
    """How many of a number of things came, and how long the rest will take."""

    def __init__(self, number: int, noun: str, now: Callable[[], float] = time.monotonic) -> None:
        self._number, self._noun, self._now = number, noun, now
        self._terminal, self._began, self._last = is_watched(), now(), 0
        self._step = max(1, number // (_PICTURES if self._terminal else _TENTHS))
        self._longest = 0

    def show(self, came: int) -> None:
        """Tell how many came, if that is worth a line."""
        if came < self._number and came - self._last < self._step:
            return
        self._last = came
        line = f"{amount_text(came)} of {count_text(self._number, self._noun)}"
        if not self._terminal:
            say(line)
            return
        line = f"{line}{self._left(came)}"
        # A line that breaks could not be written over.
        if (width := min(_WIDTH, shutil.get_terminal_size().columns - len(line) - 4)) > 0:
            full = width * came // self._number
            line = f"[{'#' * full}{'.' * (width - full)}] {line}"
        self._longest = max(self._longest, len(line))
        say(f"\r{line:<{self._longest}}", "\n" if came == self._number else "")

    def _left(self, came: int) -> str:
        spent = self._now() - self._began
        if came == self._number or spent < _LEAST:
            return ""
        return f", about {time_text(spent / came * (self._number - came))} left"


def time_text(seconds: float) -> str:
    """Return a time in the unit that people would tell it in: ``40 s``, ``3 min``, ``2 h``."""
    for unit, size in (("s", 1), ("min", 60)):
        if (told := round(seconds / size)) < _LONG:
            return f"{max(1, told)} {unit}"
    return f"{amount_text(round(seconds / 3600))} h"
