"""A number that is moved by hand or key.

It is the browser's own: Streamlit's slider measures the whole page each time it is drawn.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple, TypeGuard

import streamlit as st

# Not isolated, so that the stylesheet of the panels holds in it.
_LEVER: Final = st.components.v2.component(
    "lever",
    js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


class Reach(NamedTuple):
    """The whole numbers at which a lever may stand: from ``least`` to ``most``, every ``step``."""

    least: int
    most: int
    step: int = 1

    def holds(self, number: object) -> TypeGuard[int]:
        """Return whether a lever can stand there, whatever a browser says."""
        return (
            isinstance(number, int)
            and not isinstance(number, bool)
            and self.least <= number <= self.most
        )


def draw(
    label: str,
    key: str,
    reach: Reach,
    value: int,
    moved: Callable[[int], None],
    *,
    is_named: bool = True,
) -> None:
    """Draw a lever, and what is called with the number at which it was let go.

    Its label and its number are seen where it ``is_named``, and heard in any case.
    """

    def move() -> None:
        number = getattr(st.session_state.get(key), "moved", None)
        if reach.holds(number):
            moved(number)

    shown = {"label": label, "named": is_named, "value": value, **reach._asdict()}
    _LEVER(key=key, data=shown, on_moved_change=move)
