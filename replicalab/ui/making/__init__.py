"""Make a study: a form in place of a file, which it writes and reads."""

from replicalab.ui.making.checking import ADVANCED
from replicalab.ui.making.page import FIRST, PARTS, PARTS_KEY, draw, show

__all__ = ["ADVANCED", "FIRST", "PARTS", "PARTS_KEY", "draw", "show"]
