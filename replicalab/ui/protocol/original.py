"""What the original found, and what each effect to plan with takes: a part of the assumptions."""

from replicalab.planner.curves import Curves
from replicalab.ui import panel
from replicalab.views.original import original_blocks


def fits(lines: Curves) -> bool:
    """Return whether the original of the study is known in numbers."""
    return bool(lines.written and lines.written.original)


def draw(lines: Curves) -> None:
    """Draw the original's numbers, and one row for each effect to plan with."""
    panel.draw(*original_blocks(lines))
