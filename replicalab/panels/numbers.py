"""The look of the editor of a study file: a fixed-width font, and a number before each line."""

from __future__ import annotations

from typing import Final

from replicalab.panels.drawing import drawn

_MORE: Final = 50
"""So many lines are numbered beyond the last one, for those that are typed."""
_MOST: Final = 2000
"""No more lines are numbered; a shipped study has some 250."""
_LINE_PX: Final = 20


def numbers_style(key: str, text: str) -> str:
    """Return the look of the editor with that key.

    The numbers are a picture that scrolls with the text, for a field for text has no lines that
    could be counted in it.
    """
    lines = min(text.count("\n") + 1 + _MORE, _MOST)
    return drawn("numbers", key=key, lines=lines, line=_LINE_PX, left=len(str(lines)))
