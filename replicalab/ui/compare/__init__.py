"""The Compare page: a few side by side, and many negotiations at once; one is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from replicalab.planner import PlanAnalysis
from replicalab.ui.compare import many, page

TABS: Final = "compare_part"
BESIDE: Final = "Side by side"
MANY: Final = "Many negotiations"
PARTS: Final[dict[str, Callable[[PlanAnalysis], None]]] = {
    BESIDE: page.draw,
    MANY: many.draw,
}


def draw(here: PlanAnalysis) -> None:
    """Draw the part that is open; whoever comes back to a batch under way finds that one open."""
    if TABS not in st.session_state and many.is_under_way():
        st.session_state[TABS] = MANY
    parts = st.tabs(list(PARTS), key=TABS, on_change="rerun")
    for part, draw_part in zip(parts, PARTS.values(), strict=True):
        if part.open:
            with part:
                draw_part(here)
